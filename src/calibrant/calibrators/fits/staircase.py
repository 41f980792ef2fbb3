"""Isotonic regression in two directions: values that fall neither with the score nor with the rank."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from calibrant._links import FloatArray
from calibrant._problem import IntArray, are_counts

PARALLEL_FROM = 1 << 19
"""From so many points on, parts of a problem are solved side by side."""

PARTS = 16
"""Such a problem is split until no part has more than one of so many of its points."""

ROUNDING = 1e-12
"""Gains of an upper set that are no more than this part of what moved are rounding, where sums are not of whole numbers."""

EXACT_BELOW = 2.0**26
"""Products of whole numbers below this, and their sums over all points, are whole numbers that a float holds."""

MOST_SHORT_RANKS = (1 << 16) - 3
"""Up to so many ranks are numbers of two bytes."""

MOST_SHORT_PLACES = 1 << 32
"""Up to so many places are numbers of four bytes."""


class Points(NamedTuple):
    """Distinct pairs of score and rank, ordered by the score and then by the rank, with weight and events of each."""

    score: FloatArray
    rank: Any
    weight: FloatArray
    events: FloatArray


class Corners(NamedTuple):
    """Where the fit rises: its value at a score and a rank is the largest of the corners that are at or below both.

    Ordered by score, then by rank. The first is below all, and has the lowest value.
    """

    score: FloatArray
    rank: IntArray
    value: FloatArray


@dataclass(frozen=True, eq=False)
class Cumulated:
    """Rows by rank: what the highest classes of each have together, and at which rank the class that came is reached.

    ``score`` has shape (ranks, n). Of each row, ``before`` classes come ahead of the one that came, and it shares its place
    with others, ``tied`` in all.
    """

    score: FloatArray
    before: IntArray
    tied: IntArray
    weight: FloatArray

    @property
    def n_ranks(self) -> int:
        """Number of ranks: the last class adds nothing."""
        return len(self.score)

    @property
    def is_whole(self) -> bool:
        """Whether all sums are of whole numbers, and small enough for exact arithmetic."""
        whole = are_counts(self.weight) and bool((self.tied == 1).all())
        return whole and float(self.weight.sum()) * self.n_ranks < EXACT_BELOW

    def points(self) -> Points:
        """Return the points of all rows and ranks; equal pairs of score and rank are one point."""
        from calibrant._kernels.staircase import distinct_points, in_order

        n = self.score.size
        # Ranks in two bytes and places in four, as long as they go: the points are read many times.
        rank: Any = np.empty(n, np.uint16 if self.n_ranks <= MOST_SHORT_RANKS else np.int32)
        place = _places(n)
        # The bits of scores above zero are in the order of the scores.
        bits = self.score.ravel().view(np.uint64).copy()
        bits, place = in_order(bits, place, np.empty_like(bits), np.empty_like(place))
        weight = np.ascontiguousarray(self.weight)
        return Points(*distinct_points(bits.view(np.float64), place, self.before, self.tied, weight, rank))


def staircase_fit(rows: Cumulated) -> Corners:
    """Fit the events of all ranks by a value that falls neither with the score nor with the rank."""
    from calibrant._kernels.staircase import corners

    points = rows.points()
    fit = fitted_values(points, rows.n_ranks, is_whole=rows.is_whole)
    found = corners(points.score, points.rank, fit, rows.n_ranks)
    return Corners(
        np.append(0.0, points.score[found]),
        np.append(1, points.rank[found].astype(np.int64)),
        np.append(fit.min(), fit[found]),
    )


def fitted_values(points: Points, n_ranks: int, *, is_whole: bool) -> FloatArray:
    """Return the isotonic fit at each point: the least squared error, and the least log loss as well."""
    from calibrant._kernels.staircase import solve

    n = points.score.size
    fit, tolerance = np.empty(n), 0.0 if is_whole else ROUNDING
    data: tuple[Any, ...] = (points.rank.copy(), points.weight.copy(), points.events.copy(), _places(n))
    if n < PARALLEL_FROM:
        _solved(solve, data, 0, n, (n_ranks, tolerance, n, fit))
        return fit
    rest = (n_ranks, tolerance, n // PARTS, fit)
    pool = ThreadPoolExecutor(os.cpu_count())

    def solved(begin: int, end: int) -> Future[list[tuple[int, int]]]:
        return pool.submit(_solved, solve, data, begin, end, rest)

    try:
        running = {solved(0, n)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {solved(begin, end) for future in done for begin, end in future.result()}
    finally:
        pool.shutdown(cancel_futures=True)
    return fit


def _places(n: int) -> Any:
    return np.arange(n, dtype=np.uint32 if n <= MOST_SHORT_PLACES else np.int64)


def _solved(solve: Any, data: tuple[Any, ...], begin: int, end: int, rest: tuple[Any, ...]) -> list[tuple[int, int]]:
    left: list[tuple[int, int]] = solve(*data, begin, end, *rest)
    return left
