"""The experiment of the paper as its published code runs it: a grid, rows that do not sum to one, the nearest point.

The regions are grown by the library's `MulticlassRecursivePartitioning`. What differs is done here: the first split compares
smoothed means with an unsmoothed one; values are (mean + lambda) / (1 + lambda), a constant times a mixture of mean and uniform
vector; a prediction takes the value of the nearest point of the grid; and a point of the grid for which the arg max is a tie is
in several regions, of which the last split has it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from calibrant.binning import SplitTree
from calibrant.binning.cells import simplex_grid
from calibrant.calibrators import MulticlassRecursivePartitioning
from calibrant.calibrators.linear import Mixture
from calibrant.fit.simplex_tree import Candidates, Measured, Rows
from calibrant.metrics import volume_under_surface_score
from studies.roc_isotonic.forecasts import Forecasts, of_paper

SMOOTHING = 0.05
STEPS = {2: 1000, 3: 100, 4: 50}
"""Steps of the grid whose points are tried."""

SURFACE_STEPS = {2: 1000, 3: 100, 4: 30}
"""Steps of the grid of thresholds whose points make the ROC surface."""

N_BASELINE = 1 + 3 + 9 + 27
"""Regions that the baseline takes from its queue, however many classes there are."""

EPS = float(np.finfo(float).eps)
ENOUGH = 0.5
"""A point of the grid whose values sum to less is in no region with rows."""


@dataclass(frozen=True)
class Figures:
    """What the figures of the paper show, of fitted and of test rows; and the test cross-entropy of proper vectors."""

    n_regions: int
    loss: float
    test_loss: float
    volume: float
    test_volume: float
    normalised: float
    walked: float


@dataclass(frozen=True)
class Path:
    """The figures before calibration, where ``n_regions`` is 0, and at each stage; and the tree."""

    before: Figures
    stages: tuple[Figures, ...]
    tree: SplitTree


def total(n_classes: int) -> float:
    """What the rows of the authors' vectors sum to."""
    return (1.0 + n_classes * SMOOTHING) / (1.0 + SMOOTHING)


def mixture(n_classes: int) -> float:
    """Part of the uniform vector in the authors' vectors divided by their sums."""
    return n_classes * SMOOTHING / (1.0 + n_classes * SMOOTHING)


def cross_entropy(r: np.ndarray, y: np.ndarray) -> float:
    """The mean over rows of -log(r_y + eps)."""
    return float(-np.log(r[np.arange(y.size), y] + EPS).mean())


def regularised(r: np.ndarray, y: np.ndarray) -> float:
    """What is called the regularised cross-entropy: less lambda times the sum of all logarithms of a row."""
    return cross_entropy(r, y) - SMOOTHING * float(np.log(r + EPS).sum(axis=1).mean())


def volume(y: np.ndarray, prob: np.ndarray) -> float:
    """Volume under the convex hull of the ROC surface over the grid of the published code."""
    return float(volume_under_surface_score(y, prob, thresholds=SURFACE_STEPS[prob.shape[1]]))


class FirstAgainstUnsmoothed(Candidates):
    """The grid of the published code, which smooths the means of the sides but not that of the simplex at the first split.

    At later splits both are smoothed, and the quality is the printed one times a constant.
    """

    def of_simplex(self, rows: Rows, least: float) -> Measured:
        """Return all points, with the quality that the published code gives them as the first split."""
        label = np.eye(rows.prob.shape[1])[rows.label] * rows.weight[:, None]
        mean, gain = label.sum(axis=0) / rows.weight.sum(), np.zeros(len(self.gamma))
        for at in np.array_split(np.arange(len(self.gamma)), 1 + len(self.gamma) // 1000):
            side = (rows.prob[None] - self.gamma[at, None]).argmax(axis=2)
            for k in range(label.shape[1]):
                of_side = (side == k).astype(np.float64)
                n_rows, events = of_side @ rows.weight, of_side @ label
                smoothed = (events / np.maximum(n_rows, 1.0)[:, None] + SMOOTHING) / (1.0 + SMOOTHING)
                gain[at] += n_rows * np.abs(smoothed - mean).sum(axis=1)
        return Measured(self.gamma, gain)


class PublishedPartitioning(MulticlassRecursivePartitioning):
    """Algorithm 2 with the first split of the published code."""

    def _candidates(self) -> Callable[[int], Candidates]:
        return lambda n_classes: FirstAgainstUnsmoothed(simplex_grid(n_classes, int(self.candidates)))


def partitioning(n_classes: int, *, printed: bool = False) -> MulticlassRecursivePartitioning:
    """The authors' grid and smoothing, with rows that sum to one: as published, or Algorithm 2 as printed."""
    make = MulticlassRecursivePartitioning if printed else PublishedPartitioning
    return make(
        candidates=STEPS[n_classes],
        max_regions=None,
        smoothing=0.0,
        softening=0.0,
        mixture=Mixture(mixture(n_classes), "uniform"),
    )


@cache
def irp(n_classes: int, *, printed: bool = False) -> Path:
    """The authors' algorithm: as published, or Algorithm 2 as printed, whose means are all smoothed alike."""
    of = of_paper(n_classes)
    return _path(of, partitioning(n_classes, printed=printed).fit(of.p, of.y).tree_)


@cache
def baseline(n_classes: int) -> Path:
    """The recursive binning that it is compared with."""
    of = of_paper(n_classes)
    return _path(of, recursive_binning(of.p, simplex_grid(n_classes, STEPS[n_classes])))


def recursive_binning(p: np.ndarray, grid: np.ndarray) -> SplitTree:
    """Split regions at the mean of their points of the grid, first come, first served; a side without rows is dropped.

    `RecursiveSplit` does the same, but that a split after which all rows are on one side is none.
    """
    gamma, child, split = [], [], [-1]
    waiting = deque([(0, p, grid)])
    for number in range(N_BASELINE):
        node, rows, points = waiting.popleft()
        centre = points.mean(axis=0)
        of_row, of_point = on_sides(rows - centre), on_sides(points - centre)
        nodes = np.full(p.shape[1], -1)
        for k in np.flatnonzero(of_row.any(axis=0)):
            nodes[k] = len(split)
            split.append(-1)
            waiting.append((int(nodes[k]), rows[of_row[:, k]], points[of_point[:, k]]))
        split[node] = number
        gamma.append(centre)
        child.append(nodes)
    return SplitTree(np.array(gamma), np.array(child), np.array(split))


def on_sides(over: np.ndarray) -> np.ndarray:
    """On which sides each row is: on several where the largest entries are equal to the last bit."""
    return np.asarray(over == over.max(axis=1, keepdims=True))


def _path(of: Forecasts, tree: SplitTree) -> Path:
    return Path(_before(of), tuple(_stages(of, tree)), tree)


def _before(of: Forecasts) -> Figures:
    loss = cross_entropy(of.p_test, of.y_test)
    return Figures(
        n_regions=0,
        loss=regularised(of.p, of.y),
        test_loss=loss,
        volume=volume(of.y, of.p),
        test_volume=volume(of.y_test, of.p_test),
        normalised=loss,
        walked=loss,
    )


def _stages(of: Forecasts, tree: SplitTree) -> Iterator[Figures]:
    """The figures after each split."""
    c = total(of.n_classes)
    node, value = node_values(of, tree)
    walks = tree.stages(of.p_test)
    for n_regions, at, nearest, walked in zip(tree.n_regions, node, _nearest(of, tree, value), walks, strict=True):
        test_loss = cross_entropy(c * nearest, of.y_test)
        yield Figures(
            n_regions=int(n_regions),
            loss=regularised(c * value[at], of.y),
            test_loss=test_loss,
            volume=volume(of.y, value[at]),
            test_volume=volume(of.y_test, nearest),
            normalised=test_loss + float(np.log(c)),
            walked=cross_entropy(value[walked], of.y_test),
        )


def node_values(of: Forecasts, tree: SplitTree) -> tuple[np.ndarray, np.ndarray]:
    """The node of each fitted row at each stage, and the vector of each node, which sums to one."""
    k, part = of.n_classes, mixture(of.n_classes)
    node = np.array(list(tree.stages(of.p)))
    sums = np.zeros((tree.split.size, k))
    for at in node:  # a node keeps the rows that it had when it was made
        sums[np.unique(at)] = 0.0
        np.add.at(sums, (at, of.y), 1.0)
    return node, (1.0 - part) * sums / sums.sum(axis=1, keepdims=True) + part / k


def walked_losses(of: Forecasts, tree: SplitTree) -> list[float]:
    """Test cross-entropy at each stage, of vectors that sum to one, where each row walks down the tree."""
    _, value = node_values(of, tree)
    return [cross_entropy(value[node], of.y_test) for node in tree.stages(of.p_test)]


def _nearest(of: Forecasts, tree: SplitTree, value: np.ndarray) -> Iterator[np.ndarray]:
    """Values of the test rows at each stage: those of the nearest points of the grid that are in a region with rows."""
    grid = simplex_grid(of.n_classes, STEPS[of.n_classes])
    given = np.tile(value[0], (len(grid), 1))
    own = {0: np.arange(len(grid))}
    yield given[_places(of.p_test, grid)]
    for parent, child, gamma in zip(tree.parent, tree.child, tree.gamma, strict=True):
        points = own.pop(int(parent))
        sides, new = on_sides(grid[points] - gamma), np.zeros((points.size, of.n_classes))
        for k in np.flatnonzero(child >= 0):
            new[sides[:, k]] = value[child[k]]
            own[int(child[k])] = points[sides[:, k]]
        given[points] = new
        held = np.flatnonzero(given.sum(axis=1) > ENOUGH)
        yield given[held[_places(of.p_test, grid[held])]]


def _places(p: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """The nearest point of a grid to each forecast, the first of equally near ones."""
    return np.array([((grid - row) ** 2).sum(axis=1).argmin() for row in p])
