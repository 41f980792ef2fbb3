"""Points of the ROC surface: how much of each class a threshold gamma puts on its own side (Berta, Bach, Jordan 2024)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse
from calibrant._core.problem import BoolArray, IntArray, SimplexProblem
from calibrant._core.warnings import warn

FAR = 4.0
"""A threshold so far beyond the simplex parts no rows any more."""

GRIDS = {2: (1000, 1), 3: (100, 51), 4: (30, 15)}
"""Steps of the grids of the paper's figures, and how many of them reach beyond the simplex on each side."""

MOST_ON_GRID = 10_000_000
"""Combinations of steps that a grid is made of, at most."""

AT_ONCE = 60_000_000
"""Comparisons that a kernel makes before it returns: within a second, so that it can be interrupted."""


@dataclass(frozen=True, eq=False)
class SurfaceRows:
    """Rows with equal ones joined, in a fixed order: results depend on neither the order of rows nor their repetition.

    Attributes
    ----------
    prob : ndarray of shape (n, K)
        Forecasts.
    label : ndarray of shape (n,)
        True classes.
    weight : ndarray of shape (n,)
        Weights of equal rows, added up.
    variance_weight : ndarray of shape (n,)
        Weights of their variance, added up: the weights themselves where they are numbers of rows, else their squares.
    """

    prob: FloatArray
    label: IntArray
    weight: FloatArray
    variance_weight: FloatArray

    @classmethod
    def of(cls, problem: SimplexProblem) -> SurfaceRows:
        """Join the rows of a problem."""
        weight, squares = problem.weight, problem.weights.of_variance
        # Equal rows are sorted by their weights, so that the sums do not depend on the order either.
        order = np.lexsort([weight, *problem.prob.T[::-1], problem.label])
        prob, label = problem.prob[order], problem.label[order]
        new = np.append(True, (prob[1:] != prob[:-1]).any(axis=1) | (label[1:] != label[:-1]))
        starts = np.flatnonzero(new)
        return cls(
            np.ascontiguousarray(prob[starts]),
            label[starts].astype(np.int64),
            np.add.reduceat(weight[order], starts),
            np.add.reduceat(squares[order], starts),
        )

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.prob.shape[1])

    @property
    def class_weight(self) -> FloatArray:
        """Weight of each class, shape (K,)."""
        return np.bincount(self.label, self.weight, self.n_classes).astype(np.float64, copy=False)

    @property
    def share(self) -> FloatArray:
        """Weight of each row over that of its class, shape (n,)."""
        shares: FloatArray = self.weight / self.class_weight[self.label]
        return shares

    @property
    def has_all_classes(self) -> bool:
        """Whether each class occurs: one that does not has no share on its side."""
        return bool((self.class_weight > 0).all())

    def at(self, kept: BoolArray | IntArray) -> SurfaceRows:
        """Return some of the rows."""
        return SurfaceRows(self.prob[kept], self.label[kept], self.weight[kept], self.variance_weight[kept])


def warn_of_absent(rows: SurfaceRows, what: str) -> None:
    """Warn that a class never occurs."""
    absent = np.flatnonzero(rows.class_weight == 0).tolist()
    warn(
        f"{what} must have rows of each class; got none of the columns {absent}, and it is set to nan. "
        "Pass such rows, or the other columns alone with rows='normalize'."
    )


def surface_points(rows: SurfaceRows, gamma: FloatArray) -> FloatArray:
    """Return the point of each threshold, shape (m, K); each class must occur."""
    from calibrant._kernels.roc_surface import weights_on_own_side

    points = np.empty(gamma.shape)
    if rows.n_classes == 2:
        return _binary_points(rows, gamma[:, 1])
    gamma = np.ascontiguousarray(gamma)
    for part in in_parts(len(gamma), rows.prob.size):
        weights_on_own_side(rows.prob, rows.label, rows.weight, gamma[part], points[part])
    points /= rows.class_weight
    np.minimum(points, 1.0, out=points)
    return points


def _binary_points(rows: SurfaceRows, threshold: FloatArray) -> FloatArray:
    """Return the points of two classes: the second is told where its probability is above the threshold."""
    points = np.empty((threshold.size, 2))
    for k in (0, 1):
        own = rows.at(rows.label == k)
        order = np.argsort(own.prob[:, 1], kind="stable")
        below = np.append(0.0, np.cumsum(own.weight[order])) / own.weight.sum()
        points[:, k] = below[np.searchsorted(own.prob[order, 1], threshold, side="right")]
    points[:, 1] = 1.0 - points[:, 1]
    np.clip(points, 0.0, 1.0, out=points)
    return points


def own_side_sums(rows: SurfaceRows, gamma: FloatArray, pull: FloatArray) -> FloatArray:
    """Return for each row the sum of the pulls of its class over the thresholds that put it on its side, shape (n,)."""
    from calibrant._kernels.roc_surface import sums_on_own_side

    total = np.zeros(rows.label.size)
    if rows.n_classes == 2:
        for g, parts in zip(gamma, pull, strict=True):
            told = (rows.prob[:, 1] > g[1]).astype(np.intp)
            total += np.where(told == rows.label, parts[rows.label], 0.0)
        return total
    gamma, pull = np.ascontiguousarray(gamma), np.ascontiguousarray(pull)
    for part in in_parts(rows.label.size, gamma.size):
        sums_on_own_side(rows.prob[part], rows.label[part], gamma, pull, total[part])
    return total


def in_parts(n: int, cost: int) -> Iterator[slice]:
    """Cut n steps of so many comparisons each into parts after which a kernel returns."""
    size = max(1, AT_ONCE // max(1, cost))
    return (slice(start, start + size) for start in range(0, n, size))


def grid_thresholds(n_classes: int, steps: int | None = None, beyond: int | None = None) -> FloatArray:
    """Return the points of a grid of step 1 / steps on the plane of sum one, up to so many steps beyond the simplex.

    By default the grids of the paper's figures, which are known for two to four classes; of another number of steps half of
    it and one reach beyond, so that each class can be told alone.
    """
    usual = GRIDS.get(n_classes, (10, 5))
    steps = usual[0] if steps is None else steps
    if beyond is None:
        beyond = usual[1] if steps == usual[0] else steps // 2 + 1
    if (size := (steps + 2 * beyond + 1) ** (n_classes - 1)) > MOST_ON_GRID:
        refuse(
            f"thresholds must make a grid of at most {MOST_ON_GRID} combinations of steps",
            got=f"{steps} steps for {n_classes} classes, which make {size:.3g}",
            hint='Pass fewer, or "data" for thresholds that the rows give',
        )
    whole = np.arange(-beyond, steps + beyond + 1)
    free = np.stack(np.meshgrid(*[whole] * (n_classes - 1), indexing="ij"), axis=-1).reshape(-1, n_classes - 1)
    last = steps - free.sum(axis=1)
    inside = (last >= -beyond) & (last <= steps + beyond)
    grid: FloatArray = np.column_stack([free, last])[inside] / steps
    return grid


def corner_thresholds(n_classes: int) -> FloatArray:
    """Return a threshold for each class that puts every row on its side, shape (K, K)."""
    return of_sum_one(np.full((n_classes, n_classes), FAR) - 2.0 * FAR * np.eye(n_classes))


def of_sum_one(gamma: FloatArray) -> FloatArray:
    """Return the same thresholds on the plane of sum one: only differences of their parts matter."""
    moved: FloatArray = gamma + (1.0 - gamma.sum(axis=1, keepdims=True)) / gamma.shape[1]
    return moved
