"""Points around which a region of the simplex may be split."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import combinations
from math import isqrt
from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray
from calibrant._core.weights import Weights
from calibrant.binning.distinct_scores import Ordered
from calibrant.solvers.isotonic_tree import Blocks
from calibrant.solvers.simplex_rows import Rows

BORDER = 1e-9
"""A point of the grid that is nearer than this to a border belongs to the regions on both sides."""

AT_A_TIME = 1 << 25
"""So many rows are put on a side of a candidate until compiled code comes back, so that a fit can be interrupted."""

FAR = 3.0
"""A class whose coordinate of gamma is this much, where those of others are at most one, has no forecast on its side."""

FEW_CLASSES = 5
"""Of more classes there are too many sets."""


class Measured(NamedTuple):
    """Candidates of shape (c, K), and the quality M of each for a region; -1 of one that cannot be taken."""

    gamma: FloatArray
    gain: FloatArray


class Candidates(ABC):
    """Where candidates come from. Those of a side are found when its region has been split."""

    @abstractmethod
    def of_simplex(self, rows: Rows, least: float) -> Measured:
        """Return the candidates of the whole simplex; each side is to hold at least so much weight, or nothing."""

    @abstractmethod
    def of_side(self, rows: Rows, least: float, before: Measured, gamma: FloatArray, side: int) -> Measured:
        """Return the candidates of a side of a region, given those of the region and the point it was split around."""


class GivenCandidates(Candidates):
    """Points that are the same whatever is split. One on a border is a candidate of all regions that it borders."""

    def __init__(self, gamma: FloatArray) -> None:
        self.gamma = gamma

    def of_simplex(self, rows: Rows, least: float) -> Measured:
        """Return all points."""
        return measured(rows, self.gamma, least)

    def of_side(self, rows: Rows, least: float, before: Measured, gamma: FloatArray, side: int) -> Measured:
        """Return those of the region that lie on the side or on its border."""
        over = before.gamma - gamma
        return measured(rows, before.gamma[over[:, side] >= over.max(axis=1) - BORDER], least)


class DataCandidates(Candidates):
    """Forecasts in the region, mid-points of two, and forecasts around which only some of the classes are parted.

    All of them, or within the budget a quarter forecasts, drawn where there are more; a quarter of the last kind, drawn too;
    and for the rest mid-points of all pairs of the best of the first.
    """

    def __init__(self, budget: int, rng: np.random.Generator) -> None:
        self.budget = budget
        self.rng = rng

    def of_simplex(self, rows: Rows, least: float) -> Measured:
        """Return candidates made of the forecasts of some rows."""
        point = distinct(rows.prob)
        n, kept = len(point), _some_classes(point.shape[1])
        if n + n * (n - 1) // 2 + n * len(kept) <= self.budget:
            partly = _of_some(point, kept, np.arange(n * len(kept)))
            return measured(rows, np.vstack([point, _midpoints(point), partly]), least)
        share = max(1, self.budget // 4)
        tried = measured(rows, point[self._drawn(n, share)], least)
        partly = _of_some(point, kept, self._drawn(n * len(kept), share))
        room = max(0, self.budget - len(tried.gamma) - len(partly))
        n_best = (1 + isqrt(1 + 8 * room)) // 2  # so many have that many pairs
        best = tried.gamma[np.argsort(-tried.gain, kind="stable")[:n_best]]
        others = measured(rows, np.vstack([_midpoints(best), partly]), least)
        return Measured(np.vstack([tried.gamma, others.gamma]), np.append(tried.gain, others.gain))

    def of_side(self, rows: Rows, least: float, before: Measured, gamma: FloatArray, side: int) -> Measured:
        """Return candidates made of the forecasts on the side; those of the region are not looked at again."""
        return self.of_simplex(rows, least)

    def _drawn(self, n: int, most: int) -> IntArray:
        """Draw numbers below n, at most so many, in order."""
        return np.arange(n) if n <= most else np.sort(self.rng.choice(n, most, replace=False))


class BlockCandidates(GivenCandidates):
    """The borders of the blocks of isotonic regression, for two classes: the best cut is always one of them."""

    def __init__(self) -> None:
        super().__init__(np.empty((0, 2)))

    def of_simplex(self, rows: Rows, least: float) -> Measured:
        """Return points half way between blocks."""
        score = np.clip((1.0 + rows.prob[:, 1] - rows.prob[:, 0]) / 2.0, 0.0, 1.0)
        border = Blocks.of(Ordered.of(BinaryProblem(score, rows.label == 1, Weights(rows.weight)))).border
        return measured(rows, np.column_stack([1.0 - border, border]), least)


def measured(rows: Rows, gamma: FloatArray, least: float) -> Measured:
    """Return candidates with their quality."""
    from calibrant._kernels.irp import gains

    gain, step = np.empty(len(gamma)), max(1, AT_A_TIME // len(rows.label))
    gamma = np.ascontiguousarray(gamma)
    for start in range(0, len(gamma), step):
        part = slice(start, start + step)
        gains(*rows, gamma[part], least, gain[part])
    return Measured(gamma, gain)


def distinct(prob: FloatArray) -> FloatArray:
    """Return the distinct ones of forecasts of which equal ones are neighbours."""
    found: FloatArray = prob[np.append(True, (prob[1:] != prob[:-1]).any(axis=1))]
    return found


def _midpoints(point: FloatArray) -> FloatArray:
    first, second = np.triu_indices(len(point), 1)
    middle: FloatArray = (point[first] + point[second]) / 2.0
    return middle


def _some_classes(n_classes: int) -> BoolArray:
    """Return which classes are parted: all sets of two or more but that of all; of many classes the pairs."""
    most = n_classes if n_classes <= FEW_CLASSES else 3
    sets = [some for size in range(2, most) for some in combinations(range(n_classes), size)]
    kept = np.zeros((len(sets), n_classes), dtype=bool)
    for number, some in enumerate(sets):
        kept[number, list(some)] = True
    return kept


def _of_some(point: FloatArray, kept: BoolArray, which: IntArray) -> FloatArray:
    """Return points around which some classes are parted as around a forecast, and no forecast is on the side of another.

    These lie outside the simplex. Number n stands for forecast n // len(kept) and the set of classes n % len(kept).
    """
    number, some = np.divmod(which, max(1, len(kept)))
    gamma: FloatArray = np.where(kept[some], point[number], FAR)
    gamma -= (gamma.sum(axis=1, keepdims=True) - 1.0) / point.shape[1]
    return gamma
