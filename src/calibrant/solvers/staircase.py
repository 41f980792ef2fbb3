"""Isotonic regression in two directions: values that fall neither with the score nor with the rank."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant._core.progress import Advance
from calibrant._core.threads import n_processors, one_by_one, side_by_side
from calibrant.solvers.scir_rows import Cumulated, Points, places

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
    from calibrant._kernels.staircase_map import corners

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
        left: list[Segment] = solve(rank, weight, events, place, *part, n_ranks, tolerance, BUDGET, fit, spare)
        return left

    def then(part: Segment, left: list[Segment]) -> list[Segment]:
        advance(_size(part) - sum(map(_size, left)))
        return left

    if n >= PARALLEL_FROM:
        side_by_side(solved, [(0, n)], then, n_processors())
    else:
        one_by_one(solved, [(0, n)], then)
    return fit


def _size(part: Segment) -> int:
    begin, end = part
    return end - begin
