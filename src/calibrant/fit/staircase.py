"""Isotonic regression in two directions: values that fall neither with the score nor with the rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from calibrant._core.arrays import FloatArray, grouped
from calibrant._core.checks import Advance
from calibrant._core.rows import IntArray, SimplexProblem, Weights
from calibrant._core.threads import n_processors, side_by_side

# Rows as points: the sum of the highest probabilities, their number, and whether one is that of the true class


BLOCK = 1 << 20
"""Numbers that are sorted and summed at a time."""

EXACT_BELOW = 2.0**26
"""Products of whole numbers below this, and their sums over all points, are whole numbers that a float holds."""

MOST_SHORT_RANKS = (1 << 16) - 3
"""Up to so many ranks are numbers of two bytes."""

MOST_SHORT_PLACES = 1 << 32
"""Up to so many places are numbers of four bytes."""

DIGIT_BITS = 11
"""Bits of the scores that they are sorted by in one go."""


class Points(NamedTuple):
    """Distinct pairs of score and rank, ordered by the score and then by the rank, with weight and events of each."""

    score: FloatArray
    rank: Any
    weight: FloatArray
    events: FloatArray


@dataclass(frozen=True, eq=False)
class Cumulated:
    """Rows by rank: what the highest classes of each have together, and at which rank the true class is reached.

    ``score`` has shape (ranks, n). Of each row, ``before`` classes are ahead of the true one, and it shares its place
    with others, ``tied`` in all.
    """

    score: FloatArray
    before: IntArray
    tied: IntArray
    weights: Weights

    @property
    def n_ranks(self) -> int:
        """Number of ranks: the last class adds nothing."""
        return len(self.score)

    @property
    def is_whole(self) -> bool:
        """Whether all sums are of whole numbers, and small enough for exact arithmetic."""
        whole = self.weights.are_counts and bool((self.tied == 1).all())
        return whole and self.weights.total * self.n_ranks < EXACT_BELOW

    def points(self) -> Points:
        """Return the points of all rows and ranks; equal pairs of score and rank are one point."""
        from calibrant._kernels.staircase import distinct_points

        n = self.score.size
        score, place = in_order(self.score.ravel())
        # Ranks in two bytes and places in four, as long as they go: the points are read many times.
        rank: Any = np.empty(n, np.uint16 if self.n_ranks <= MOST_SHORT_RANKS else np.int32)
        points = Points(score, rank, np.empty(n), np.empty(n))
        m = distinct_points(*points, place, self.before, self.tied, np.ascontiguousarray(self.weights.values))
        return Points(*(part[:m] for part in points))


def cumulated(problem: SimplexProblem, *, share: bool) -> Cumulated:
    """Sum up each row from its highest probability on, and find the rank of the true class."""
    prob, label = problem.prob, problem.label
    n, n_classes = prob.shape
    score = np.empty((n_classes - 1, n))
    before, tied = np.empty(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    step = max(1, BLOCK // n_classes)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        part, own = prob[rows], np.take_along_axis(prob[rows], label[rows, None], axis=1)
        score[:, rows] = grouped(-np.cumsum(np.sort(-part, axis=1), axis=1)[:, :-1].T)
        equal = part == own
        before[rows] = (part > own).sum(axis=1)
        if share:
            tied[rows] = equal.sum(axis=1)
        else:
            before[rows] += (equal & (np.arange(n_classes) < label[rows, None])).sum(axis=1)
    return Cumulated(score, before, tied, problem.weights)


def in_order(score: FloatArray) -> tuple[FloatArray, Any]:
    """Return scores of at least zero in order, and the place that each had; equal ones stay as they are."""
    from calibrant._kernels.staircase import by_digit

    # The bits of numbers above zero are in the order of the numbers.
    bits, place = score.view(np.uint64).copy(), places(score.size)
    other_bits, other_place = np.empty_like(bits), np.empty_like(place)
    for shift in range(0, 64, DIGIT_BITS):  # between two digits the work can be interrupted
        if by_digit(bits, place, other_bits, other_place, shift):
            bits, place, other_bits, other_place = other_bits, other_place, bits, place
    return bits.view(np.float64), place


def places(n: int) -> Any:
    """Return 0 to n - 1."""
    return np.arange(n, dtype=np.uint32 if n <= MOST_SHORT_PLACES else np.int64)


PARALLEL_FROM = 1 << 19
"""From so many points on, parts of a problem are solved side by side."""

BUDGET = 1 << 20
"""Points that are looked at until compiled code comes back, so that a fit can be interrupted: some hundredths of a second.

A part with more is looked at once.
"""

ROUNDING = 1e-12
"""Gains of an upper set that are no more than this part of what moved are rounding, where sums are not of whole numbers."""

Segment = tuple[int, int]
"""The points from one to before the other."""


class Corners(NamedTuple):
    """Where the fit rises: its value at a score and a rank is the largest of the corners that are at or below both.

    Ordered by score, then by rank. The first is below all, and has the lowest value.
    """

    score: FloatArray
    rank: IntArray
    value: FloatArray


def staircase_fit(rows: Cumulated, advance: Advance = lambda units: None) -> Corners:
    """Fit the events of all ranks by a value that falls neither with the score nor with the rank.

    ``advance`` is told how many of the points, one a row and rank, are solved.
    """
    from calibrant._kernels.staircase import corners

    points = rows.points()
    advance(rows.score.size - points.score.size)  # equal ones are one
    fit = fitted_values(points, rows.n_ranks, is_whole=rows.is_whole, advance=advance)
    found = np.empty(fit.size, dtype=np.bool_)
    corners(points.score, points.rank, fit, rows.n_ranks, found)
    return Corners(
        np.append(0.0, points.score[found]),
        np.append(1, points.rank[found].astype(np.int64)),
        np.append(fit.min(), fit[found]),
    )


def fitted_values(points: Points, n_ranks: int, *, is_whole: bool, advance: Advance = lambda units: None) -> FloatArray:
    """Return the isotonic fit at each point: the least squared error, and the least log loss as well."""
    from calibrant._kernels.staircase import solve

    n = points.score.size
    fit, tolerance = np.empty(n), 0.0 if is_whole else ROUNDING
    rank, weight, events, place = points.rank.copy(), points.weight.copy(), points.events.copy(), places(n)
    # Parts that are solved side by side have their own places in these.
    spare: Any = tuple(np.empty_like(part) for part in (rank, weight, events, place, rank))

    def solved(part: Segment) -> list[Segment]:
        return solve(rank, weight, events, place, *part, n_ranks, tolerance, BUDGET, fit, spare)

    def then(part: Segment, left: list[Segment]) -> list[Segment]:
        advance(_size(part) - sum(map(_size, left)))
        return left

    side_by_side(solved, [(0, n)], then, n_processors() if n >= PARALLEL_FROM else 1)
    return fit


def _size(part: Segment) -> int:
    begin, end = part
    return end - begin
