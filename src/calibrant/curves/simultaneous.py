"""A band that holds the whole curve of event probabilities with proven confidence, however few the rows.

Theorem. Let rows be independent given the scores, and let the probability of the event be a non-decreasing function p of the
score. Then with probability 1 - level at least, lower(s) <= p(s) <= upper(s) at all scores s at once.

Proof. Take an interval of scores, from s to t, with n rows and E events. None of these rows has a probability above p(t), so
E is stochastically at most binomial (n, p(t)), and Clopper and Pearson's lower bound, which rises with E, exceeds p(t) with
probability ``tail`` at most. If it does not, it bounds p from below at t and, by monotonicity, at all scores beyond. In the
same way the upper bound holds at s and at all scores before. Many intervals are looked at, and their tails sum to the level:
with probability 1 - level all bounds hold, and with them the largest lower and the least upper bound at each score.

Dimitriadis, Dümbgen, Henzi, Puke and Ziegel (2023) take all intervals, with equal tails. Here intervals have numbers of rows
that double from length to length, and begin at every quarter of their length; each length gets an equal part of the level.
There are half as many of them as rows, and not n^2 / 2: that is quick, and makes the band narrower. The intervals depend on
the scores alone, as the proof demands, and begin and end between distinct scores.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import betaincinv

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray

SHORTEST = 16
"""Rows in the shortest intervals, or all there are: fewer would bound hardly anything."""

MOST_INTERVALS = 1 << 15
"""About as many are looked at of the shortest length; with a million rows these have 123."""

QUARTERS = 4


def simultaneous_band(n: FloatArray, events: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper bound at each distinct score, of rows and events on each; neither decreases.

    To the right of a score its lower bound goes on, to the left its upper bound.
    """
    reached, occurred = np.append(0.0, np.cumsum(n)), np.append(0.0, np.cumsum(events))
    lengths = list(_intervals(reached))
    lower, upper = np.zeros(n.size), np.ones(n.size)
    for first, end in lengths:
        tail = level / (2.0 * len(lengths) * first.size)
        rows, hits = reached[end] - reached[first], occurred[end] - occurred[first]
        some, rest = hits > 0, hits < rows
        np.maximum.at(lower, end[some] - 1, betaincinv(hits[some], (rows - hits)[some] + 1.0, tail))
        np.minimum.at(upper, first[rest], betaincinv(hits[rest] + 1.0, (rows - hits)[rest], 1.0 - tail))
    return np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]


def _intervals(reached: FloatArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield for each length the numbers of the first scores, and of those after the last; none of them twice."""
    n_scores, total = reached.size - 1, reached[-1]
    length = min(total, max(float(SHORTEST), float(np.ceil(QUARTERS * total / MOST_INTERVALS))))
    seen: IntArray = np.empty(0, dtype=np.intp)
    while True:
        starts = np.arange(0.0, total - length, max(1.0, length / QUARTERS))
        first = np.searchsorted(reached, np.append(starts, total - length), side="right") - 1
        end = np.searchsorted(reached, reached[first] + length, side="left")
        code = np.setdiff1d(first * (n_scores + 1) + np.minimum(end, n_scores), seen)
        if code.size:
            yield code // (n_scores + 1), code % (n_scores + 1)
        if length == total:
            return
        seen = np.union1d(seen, code)
        length = min(2.0 * length, total)
