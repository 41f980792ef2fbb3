"""Algorithm 2 of Berta, Bach and Jordan (AISTATS 2024) from its definition: NumPy, with loops over splitting points and checks.

Candidates are the points of the simplex whose coordinates are multiples of 1 / ``steps``. One on a border counts for all
regions that meet there. Every round looks at every candidate of every region, as the algorithm says. What is spared is to
compute the quality of a split twice, and to check one that would not be the best.
"""

import itertools
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.fitting import Method

ON_BORDER, EQUAL = 1e-9, 1e-12


class Tree(NamedTuple):
    """Splitting points in their order, the region that each splits, the regions of its sides, and the value of each region."""

    gamma: list[np.ndarray]
    parent: list[int]
    child: list[dict[int, int]]
    value: list[np.ndarray]


class Region(NamedTuple):
    """A region that is not split: its number, its rows, the candidates in it, and how good a split around each would be."""

    number: int
    rows: np.ndarray
    points: np.ndarray
    quality: list[float]


def irp(y: np.ndarray, prob: np.ndarray, steps: int) -> Method:
    return Method(lambda: grown(y, prob, grid(prob.shape[1], steps)), calibrated)


irp_50, irp_100 = partial(irp, steps=50), partial(irp, steps=100)


def grid(n_classes: int, steps: int) -> np.ndarray:
    """Points of the simplex whose coordinates are multiples of 1 / steps."""
    first = itertools.product(range(steps + 1), repeat=n_classes - 1)
    return np.array([(*point, steps - sum(point)) for point in first if sum(point) <= steps]) / steps


def grown(y: np.ndarray, prob: np.ndarray, points: np.ndarray) -> Tree:
    """Split the region and the point of the greatest quality that leave the map monotone, until there is none."""
    occurred = np.eye(prob.shape[1])[y]
    tree = Tree([], [], [], [occurred.mean(axis=0)])
    regions = [_region(0, np.arange(len(y)), points, prob, occurred)]
    value = np.tile(tree.value[0], (len(y), 1))
    while True:
        best, most, best_value = None, 0.0, value
        for region in regions:
            for gamma, quality in zip(region.points, region.quality, strict=True):
                if quality > most + EQUAL * len(y):
                    split = _split(value, region.rows, gamma, prob, occurred)
                    if all(_monotone(prob, split, point) for point in [*tree.gamma, gamma]):
                        best, most, best_value = (region, gamma), quality, split
        if best is None:
            return tree
        region, gamma = best
        value = best_value
        regions.remove(region)
        regions += _sides(region, gamma, tree, prob, occurred)


def _region(number: int, rows: np.ndarray, points: np.ndarray, prob: np.ndarray, occurred: np.ndarray) -> Region:
    return Region(number, rows, points, [_quality(rows, gamma, prob, occurred) for gamma in points])


def _quality(rows: np.ndarray, gamma: np.ndarray, prob: np.ndarray, occurred: np.ndarray) -> float:
    """How far the class rates of the sides are from those of the region, in rows."""
    side, mean = (prob[rows] - gamma).argmax(axis=1), occurred[rows].mean(axis=0)
    total = 0.0
    for k in range(len(gamma)):
        of_side = occurred[rows[side == k]]
        if len(of_side):
            total += len(of_side) * np.abs(mean - of_side.mean(axis=0)).sum()
    return total


def _split(
    value: np.ndarray, rows: np.ndarray, gamma: np.ndarray, prob: np.ndarray, occurred: np.ndarray
) -> np.ndarray:
    """The map after a split: each side takes its class rates."""
    side, new = (prob[rows] - gamma).argmax(axis=1), value.copy()
    for k in range(len(gamma)):
        of_side = rows[side == k]
        if len(of_side):
            new[of_side] = occurred[of_side].mean(axis=0)
    return new


def _monotone(prob: np.ndarray, value: np.ndarray, gamma: np.ndarray) -> bool:
    """Whether for any two sides of a point a threshold on the difference of the two values parts the rows of both."""
    side = (prob - gamma).argmax(axis=1)
    for i, j in itertools.combinations(range(len(gamma)), 2):
        difference = value[:, i] - value[:, j]
        above, below = difference[side == i], difference[side == j]
        if len(above) and len(below) and above.min() < below.max() - EQUAL:
            return False
    return True


def _sides(region: Region, gamma: np.ndarray, tree: Tree, prob: np.ndarray, occurred: np.ndarray) -> list[Region]:
    """The regions that a split makes, which are noted in the tree."""
    side, over = (prob[region.rows] - gamma).argmax(axis=1), region.points - gamma
    tree.gamma.append(gamma)
    tree.parent.append(region.number)
    tree.child.append({})
    made = []
    for k in range(len(gamma)):
        rows = region.rows[side == k]
        if len(rows):
            tree.child[-1][k] = len(tree.value)
            inside = over[:, k] >= over.max(axis=1) - ON_BORDER
            made.append(_region(len(tree.value), rows, region.points[inside], prob, occurred))
            tree.value.append(occurred[rows].mean(axis=0))
    return made


def calibrated(tree: Tree, prob: np.ndarray) -> np.ndarray:
    """The value of the region of each row; where a side has no region, the next side by the difference has it."""
    at = np.zeros(len(prob), dtype=int)
    for gamma, parent, child in zip(tree.gamma, tree.parent, tree.child, strict=True):
        here = np.flatnonzero(at == parent)
        sides = np.array(list(child))
        at[here] = np.array(list(child.values()))[(prob[here] - gamma)[:, sides].argmax(axis=1)]
    return np.array(tree.value)[at]
