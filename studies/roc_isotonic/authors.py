"""The experiment of the paper as its published code runs it: a grid, rows that do not sum to one, the nearest point.

The regions are grown by the library's `MulticlassRecursivePartitioning`. What differs is done here: the first split compares
smoothed means with an unsmoothed one; values are (mean + lambda) / (1 + lambda), a constant times a mixture of mean and uniform
vector; a prediction takes the value of the nearest point of the grid; and a point of the grid for which the arg max is a tie is
in several regions, of which the last split has it.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from calibrant.binning import SplitTree
from calibrant.binning.cells import simplex_grid
from calibrant.calibrators import GridPoints, Mixture, MulticlassRecursivePartitioning
from calibrant.fit.trees import Candidates, Measured, Rows
from calibrant.metrics import volume_under_surface_score
from studies.claims import data_dir, table

# Forecasts of Covertype: those of the paper on ROC-regularised isotonic regression, and of other parts of the data.
#
# The paper's (Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024): a logistic
# regression of the first classes, 4500 rows to train, 500 to calibrate, 1000 to test.


N_TRAIN, N_FIT, N_TEST = 4500, 500, 1000

FILES = ("covertype2.npz", "covertype3.npz", "covertype4.npz", "covertype_small.csv.gz")

MODELS = {
    "logistic regression": lambda: LogisticRegression(random_state=1),
    "naive Bayes": lambda: GaussianNB(var_smoothing=1e-6),
    "random forest": lambda: RandomForestClassifier(60, random_state=1),
}


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Forecasts and labels of the rows to fit a calibrator on, and of those to test it on."""

    p: np.ndarray
    y: np.ndarray
    p_test: np.ndarray
    y_test: np.ndarray

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return self.p.shape[1]


@cache
def of_paper(n_classes: int) -> Forecasts:
    """The predictions behind Figures 2, 4 and 5, as the published script makes them."""
    with np.load(data_dir() / f"covertype{n_classes}.npz") as data:
        return Forecasts(data["P_cal"], data["y_cal"].astype(int), data["P_test"], data["y_test"].astype(int))


@cache
def covertype(
    n_classes: int,
    seed: int,
    *,
    model: str = "logistic regression",
    n_train: int = N_TRAIN,
    n_fit: int = N_FIT,
    n_test: int | None = N_TEST,
) -> Forecasts:
    """Shuffle the rows of the first classes, train, and predict; None tests on all rows that are left."""
    table = _table()
    table = table[table[:, -1] <= n_classes]
    # RandomState, the old stream, shuffles as the published script does.
    table = table[np.random.RandomState(seed).permutation(len(table))]
    features, label = table[:, 1:-1], table[:, -1].astype(int) - 1
    end = None if n_test is None else n_train + n_fit + n_test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the published script stops where this one does
        fitted = MODELS[model]().fit(features[:n_train], label[:n_train])
    prob = fitted.predict_proba(features[n_train:end])
    label = label[n_train:end]
    return Forecasts(prob[:n_fit], label[:n_fit], prob[n_fit:], label[n_fit:])


@cache
def _table() -> np.ndarray:
    return np.loadtxt(data_dir() / "covertype_small.csv.gz", delimiter=",", skiprows=1)


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

    def of_simplex(self, rows: Rows) -> Measured:
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


@dataclass(frozen=True)
class PublishedPoints(GridPoints):
    """The grid with the first split of the published code."""

    def settled(self) -> Callable[[int], Candidates]:
        """Return what makes the points, given the number of classes."""
        return lambda n_classes: FirstAgainstUnsmoothed(simplex_grid(n_classes, self.steps))


def partitioning(n_classes: int, *, printed: bool = False, steps: int | None = None) -> MulticlassRecursivePartitioning:
    """The authors' grid and smoothing, with rows that sum to one: as published, or Algorithm 2 as printed."""
    make = GridPoints if printed else PublishedPoints
    grid, uniform = make(steps or STEPS[n_classes]), Mixture(mixture(n_classes), "uniform")
    return MulticlassRecursivePartitioning(
        candidates=grid, max_regions=None, smoothing=0.0, softening=0.0, mixture=uniform
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
    return Figures(0, regularised(of.p, of.y), loss, volume(of.y, of.p), volume(of.y_test, of.p_test), loss)


def _stages(of: Forecasts, tree: SplitTree) -> Iterator[Figures]:
    """The figures after each split."""
    c = total(of.n_classes)
    node, value = node_values(of, tree)
    for n_regions, at, nearest in zip(tree.n_regions, node, _nearest(of, tree, value), strict=True):
        test_loss = cross_entropy(c * nearest, of.y_test)
        volumes = volume(of.y, value[at]), volume(of.y_test, nearest)
        fitted_loss, normalised = regularised(c * value[at], of.y), test_loss + float(np.log(c))
        yield Figures(int(n_regions), fitted_loss, test_loss, *volumes, normalised)


def node_values(of: Forecasts, tree: SplitTree) -> tuple[np.ndarray, np.ndarray]:
    """The node of each fitted row at each stage, and the vector of each node, which sums to one."""
    k, part = of.n_classes, mixture(of.n_classes)
    node = np.array(list(tree.stages(of.p)))
    sums = np.zeros((tree.split.size, k))
    for at in node:  # a node keeps the rows that it had when it was made
        sums[np.unique(at)] = 0.0
        np.add.at(sums, (at, of.y), 1.0)
    return node, (1.0 - part) * sums / sums.sum(axis=1, keepdims=True) + part / k


def walked(of: Forecasts, tree: SplitTree) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Vectors of the fitted and of the test rows at each stage, which sum to one; each row walks down the tree."""
    nodes, value = node_values(of, tree)
    return ((value[own], value[node]) for own, node in zip(nodes, tree.stages(of.p_test), strict=True))


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


# Figures of the paper's experiment that independent ports of the published code gave, and those found here.


FIGURE = {2: "Fig. 2", 3: "Fig. 4", 4: "Fig. 5"}
"""The figure of so many classes."""

VOLUME_OF_FOUR = 5e-4
"""Volumes of four classes hang on the grid of thresholds: grids of 20 to 60 steps differ by this much."""

WORDS = {
    "n_regions": "number of regions",
    "loss": "regularised cross-entropy, fitted rows",
    "test_loss": "cross-entropy, test rows",
    "normalised": "the same of rows divided by their sums",
    "volume": "volume, fitted rows",
    "test_volume": "volume, test rows",
}

AT_THE_BEGINNING: dict[int, dict[str, float]] = {
    2: {"loss": 0.565000, "test_loss": 0.522089, "volume": 0.872809},
    3: {"loss": 1.006905, "test_loss": 0.594621, "volume": 0.760733, "test_volume": 0.730387},
    4: {"test_loss": 0.6874},
}
AT_THE_END: dict[int, dict[str, float]] = {
    2: {"loss": 0.489725, "test_loss": 0.493222, "normalised": 0.539742, "test_volume": 0.810613, "n_regions": 16},
    3: {
        "loss": 0.711578,
        "test_loss": 0.545919,
        "normalised": 0.636891,
        "volume": 0.756642,
        "test_volume": 0.712374,
        "n_regions": 16,
    },
    4: {"test_loss": 0.6341, "normalised": 0.7677, "volume": 0.6734, "test_volume": 0.5758, "n_regions": 23},
}
DIGITS = {2: 6, 3: 6, 4: 4}


@dataclass(frozen=True)
class Target:
    """A figure that a port gave, and the one found here."""

    what: str
    target: float
    found: float
    digits: int
    tolerance: float
    follows: bool = False
    """Whether it cannot differ where the others agree, so that it does not count."""

    @property
    def agrees(self) -> bool:
        """Whether they are the same, as far as the target is known."""
        return abs(self.found - self.target) <= self.tolerance


def targets(n_classes: int) -> list[Target]:
    """All of a figure of the paper."""
    path, found = irp(n_classes), []
    for when, of, wanted in (
        ("before", path.before, AT_THE_BEGINNING[n_classes]),
        ("at the end", path.stages[-1], AT_THE_END[n_classes]),
    ):
        for name, target in wanted.items():
            value = float(getattr(of, name))
            follows = name == "normalised"
            found.append(Target(f"{WORDS[name]}, {when}", target, value, *_precision(n_classes, name), follows))
    return found + _path_targets(path, n_classes)


def _precision(n_classes: int, name: str) -> tuple[int, float]:
    if name == "n_regions":
        return 0, 0.0
    digits = DIGITS[n_classes]
    tolerance = VOLUME_OF_FOUR if n_classes == 4 and "volume" in name else 0.5 * 10.0**-digits
    return digits, tolerance


REGIONS = {3: [1, 3, 5, 7, 9, 10, 11, 12, 13, 14, 15, 16]}
FIRST_SPLITS = {
    2: [[0.453], [0.715], [0.249], [0.849], [0.392]],
    3: [[0.29, 0.37, 0.34], [0.20, 0.70, 0.10], [0.00, 0.08, 0.92], [0.73, 0.27, 0.00]],
}
"""Of two classes the first coordinate."""


def _path_targets(path: Path, n_classes: int) -> list[Target]:
    """The coordinates of the first splits, and the regions at each stage."""
    # Coordinates sum to one, the first stage has one region, the last all of them, and of two classes each has one more.
    found = [
        Target(f"split {s + 1}, coordinate {k + 1}", coordinate, float(path.tree.gamma[s, k]), 3, 1e-9, k == 2)
        for s, gamma in enumerate(FIRST_SPLITS.get(n_classes, []))
        for k, coordinate in enumerate(gamma)
    ]
    regions = REGIONS.get(n_classes, [])
    stages = zip(regions, path.stages, strict=bool(regions))
    return [
        *found,
        *(
            Target(f"regions at stage {s + 1}", n, one.n_regions, 0, 0.0, s in {0, len(regions) - 1})
            for s, (n, one) in enumerate(stages)
        ),
    ]


def target_table(n_classes: int) -> str:
    """The figures before and at the end."""
    body = []
    for one in targets(n_classes):
        if not one.what.startswith("regions at stage"):
            agrees = ("yes" if one.agrees else "**no**") + ", follows" * one.follows
            body.append([one.what, *(f"{of:.{one.digits}f}" for of in (one.target, one.found)), agrees])
    return table([f"{FIGURE[n_classes]}, K = {n_classes}", "target", "here", "agrees"], body)
