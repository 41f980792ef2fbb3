"""Regions split at their centre again and again, whatever the labels: what a partition that adapts is compared with."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import count
from math import comb
from typing import ClassVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import whole
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant._core.registry import declare
from calibrant.binning.partition import Partition
from calibrant.binning.simplex.base import SimplexBinning
from calibrant.binning.simplex.lattice import simplex_grid
from calibrant.binning.simplex.split_tree import SplitTree

STEPS = {2: 1000, 3: 100, 4: 50}
"""Steps of the grid, by number of classes, where they are not given. With more classes there are as many as fit `POINTS`."""

POINTS = 25_000
MARGIN = 1e-12
"""Differences p - gamma that agree to this are equal, as where rows go down a tree."""

BORDER = 1e-9
"""So near to a border a point of the grid lies on it."""


@declare("simplex-binning", "recursive-split", symbol="RS", source="Berta, Bach and Jordan 2024")
@dataclass(frozen=True)
class RecursiveSplit(SimplexBinning):
    """Regions split around their centre, one after the other in the order in which they were made (recursive binning).

    The labels have no say in it: it is the baseline that isotonic recursive partitioning is compared with. With two classes
    scores are cut at 1/2, at 1/4 and 3/4, and so on. ``CanonicalBinning(RecursiveSplit(20))`` calibrates with it.

    Parameters
    ----------
    n_splits : int, default=40
        Number of splits, at least 0. A split makes up to as many regions of one as there are classes. There are fewer splits
        where no region is left that the grid can split.
    steps : int, optional
        The grid holds the forecasts that are multiples of 1 / ``steps``. By default 1000 for two classes, 100 for three, 50 for
        four; for more classes as many as make at most 25,000 points.

    Raises
    ------
    ValueError, TypeError
        If a parameter is no whole number or too low; or if it is called on a problem with so many classes that the grid would
        hold more than 2e7 numbers.

    Notes
    -----
    A split around gamma parts a region into the sides where p_k - gamma_k is the largest of all classes k. The centre of a
    region is the mean of the points of the grid in it, where a point on a border is in all regions that it borders. A
    region without rows is not kept. Where all rows lie on one side that side is looked at again in its turn, and nothing was
    split. A region that holds one point of the grid or none stays as it is: with many classes, where the grid has few steps,
    that is soon.

    References
    ----------
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.

    Examples
    --------
    >>> from calibrant.binning import RecursiveSplit
    >>> from calibrant.metrics import canonical_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.3, 0.3, 0.4]]
    >>> round(canonical_calibration_error([0, 1, 2], P, binning=RecursiveSplit(1)), 3)
    0.467
    """

    cells: ClassVar[type[Partition]] = SplitTree

    n_splits: int = 40
    steps: int | None = None

    def __post_init__(self) -> None:
        whole("n_splits", self.n_splits, least=0, hint="20 makes some twenty to forty cells of three classes")
        if self.steps is not None:
            whole("steps", self.steps, least=1, hint="100 makes 5151 points for three classes, None as many as suit")

    def partition(self, problem: SimplexProblem) -> Partition:
        """Split the regions in turn."""
        prob, n_classes = problem.prob, problem.prob.shape[1]
        steps = steps_of(n_classes) if self.steps is None else self.steps
        gamma: list[FloatArray] = []
        child: list[IntArray] = []
        split = [-1]
        waiting = deque([(0, np.arange(problem.size), simplex_grid(n_classes, steps))])
        while waiting and len(gamma) < self.n_splits:
            node, row, grid = waiting.popleft()
            if len(grid) < 2:
                continue
            centre = grid.mean(axis=0)
            side, of_grid = (
                _closed_sides(prob[row] - centre, MARGIN).argmax(axis=1),
                _closed_sides(grid - centre, BORDER),
            )
            held = np.unique(side)
            if held.size == 1:
                waiting.append((node, row, grid[of_grid[:, held[0]]]))
                continue
            nodes = np.full(n_classes, -1)
            nodes[held] = len(split) + np.arange(held.size)
            waiting.extend((nodes[k], row[side == k], grid[of_grid[:, k]]) for k in held)
            split[node] = len(gamma)
            split.extend([-1] * held.size)
            gamma.append(centre)
            child.append(nodes)
        shape = (len(gamma), n_classes)
        return SplitTree(np.array(gamma).reshape(shape), np.array(child, dtype=int).reshape(shape), np.array(split))


def steps_of(n_classes: int) -> int:
    """Return the steps of the grid for so many classes: at least one."""
    if n_classes in STEPS:
        return STEPS[n_classes]
    return next(m for m in count(1) if comb(m + n_classes, n_classes - 1) > POINTS)


def _closed_sides(over: FloatArray, border: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return which sides each point is in, those that it borders included; shape (n_points, K)."""
    return np.asarray(over >= over.max(axis=1, keepdims=True) - border)
