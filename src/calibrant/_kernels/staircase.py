"""Isotonic regression of points that are ordered by a score and by a rank: upper sets are bounded by staircases."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import kernel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
WordArray = npt.NDArray[np.uint64]
RankArray = npt.NDArray[np.uint16] | npt.NDArray[np.int32]
PlaceArray = npt.NDArray[np.uint32] | npt.NDArray[np.int64]
Segment = tuple[int, int]
Spare = tuple[RankArray, FloatArray, FloatArray, PlaceArray, RankArray, FloatArray, WordArray]

DIGIT = 1 << 11
"""Values of the digits that keys are sorted by."""
ONE_BIT = np.uint64(1)
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
"""Multiplied by a power of two, its six leading bits tell which power."""
POWER_OF = np.zeros(64, np.int64)
for _power in range(64):
    POWER_OF[((0x03F79D71B4CB0A89 << _power) & 0xFFFFFFFFFFFFFFFF) >> 58] = _power


@kernel
def in_order(
    key: WordArray, at: PlaceArray, spare_key: WordArray, spare_at: PlaceArray
) -> tuple[WordArray, PlaceArray]:  # pragma: no cover - compiled
    """Sort keys and what goes with them, stable: by counting the values of eleven bits at a time, the lowest first.

    Returns the sorted arrays; all four are written to. Ten million keys of eight bytes take a third of the time of a sort by
    comparisons.
    """
    n, digit = key.size, np.uint64(DIGIT - 1)
    starts = np.empty(DIGIT, np.int64)
    for shift in range(0, 64, 11):
        by = np.uint64(shift)
        starts[:] = 0
        for i in range(n):
            starts[np.int64((key[i] >> by) & digit)] += 1
        if starts.max() == n:
            continue  # all have the same
        behind = 0
        for value in range(DIGIT):
            count = starts[value]
            starts[value] = behind
            behind += count
        for i in range(n):
            own = np.int64((key[i] >> by) & digit)
            to = starts[own]
            spare_key[to], spare_at[to] = key[i], at[i]
            starts[own] = to + 1
        key, spare_key, at, spare_at = spare_key, key, spare_at, at
    return key, at


@kernel
def distinct_points(
    score: FloatArray, place: PlaceArray, before: IntArray, tied: IntArray, weight: FloatArray, point_rank: RankArray
) -> tuple[FloatArray, RankArray, FloatArray, FloatArray]:  # pragma: no cover - compiled
    """Join points of equal score and rank; return score, rank, weight and weight of the events of each.

    Assumes ordered scores with the ``place`` that each had, rank after rank and row after row, equal scores in the order of
    their places. At rank j of a row ``(j - before) / tied`` of the event has come, between 0 and 1. Scores and ranks are
    overwritten.
    """
    n = weight.size
    w, s = np.empty(score.size), np.empty(score.size)
    m = -1
    for k in range(score.size):
        behind = np.int64(place[k])
        rank = behind // n + 1
        row = behind - (rank - 1) * n
        if m < 0 or score[m] != score[k] or point_rank[m] != rank:
            m += 1
            score[m], point_rank[m], w[m], s[m] = score[k], rank, 0.0, 0.0
        w[m] += weight[row]
        came = rank - before[row]
        if came >= tied[row]:
            s[m] += weight[row]
        elif came > 0:
            s[m] += weight[row] * came / tied[row]
    return score[: m + 1], point_rank[: m + 1], w[: m + 1], s[: m + 1]


@kernel
def next_set(bits: WordArray, j: int) -> int:  # pragma: no cover - compiled
    """Return the first number from j on whose bit is set; beyond all words if there is none."""
    word = j >> 6
    if word >= bits.size:
        return bits.size << 6
    rest = bits[word] >> np.uint64(j & 63) << np.uint64(j & 63)
    while rest == 0:
        word += 1
        if word == bits.size:
            return word << 6
        rest = bits[word]
    lowest = rest & (~rest + ONE_BIT)
    power: int = POWER_OF[np.int64((lowest * DE_BRUIJN) >> np.uint64(58))]
    return (word << 6) + power


@kernel
def split(
    l: RankArray,  # noqa: E741 - the paper's letter
    w: FloatArray,
    s: FloatArray,
    at: PlaceArray,
    begin: int,
    end: int,
    tolerance: float,
    spare: Spare,
) -> int:  # pragma: no cover - compiled
    """Move the maximal upper set of points begin ... end - 1 behind the others; return its first, ``end`` if it is empty.

    Assumes points ordered by score, equal scores by rank, ranks l >= 1, weights w > 0 and events 0 <= s <= w; both parts
    keep the order. With v = W s - S w for the sums W and S, Lemma A.11 says of the best upper set M(i, j) of the points
    from i on that holds all of them with rank j or more

        M(i, j) = M(i + 1, j) + v                          j <= l
                  max(M(i + 1, j), M(i + 1, l) + v)        j > l

    Algorithms 2 and 3 branch on the sign of v in its place, and miss better sets. M(i, j) does not decrease with j. Of its
    differences d(j) a point with v <= 0 raises d(l + 1), and one with v > 0 eats the ones that follow, as many as v pays
    for: every bite but the last leaves a zero, and the bits of the others lead to the next. ``reach`` is the last j for which
    the second option is taken, all that the way back asks for. Of equal sets it is the largest, so that no level of the fit
    is ever split. With whole weights and events sums are exact up to 2^53, and the tolerance is 0; else it is relative.
    """
    spare_l, spare_w, spare_s, spare_at, reach, d, bits = spare
    last = d.size - 1
    d[:] = 0.0
    bits[:] = np.uint64(0)
    W, S = 0.0, 0.0
    for i in range(begin, end):
        W += w[i]
        S += s[i]
    moved = 0.0
    for i in range(end - 1, begin - 1, -1):
        j: Any = np.int64(l[i]) + 1
        v = W * s[i] - S * w[i]
        moved += abs(v)
        if v <= 0.0:
            reach[i - begin] = j - 1
            if v < 0.0:
                d[j] -= v
                bits[j >> 6] |= ONE_BIT << np.uint64(j & 63)
            continue
        j = next_set(bits, j)
        while j <= last and d[j] <= v:
            v -= d[j]
            d[j] = 0.0
            bits[j >> 6] &= ~(ONE_BIT << np.uint64(j & 63))
            j = next_set(bits, j + 1)
        reach[i - begin] = min(j - 1, last)
        if j <= last:
            d[j] -= v
    # The set of all points gains nothing, and M increases from there by the differences.
    if d.sum() <= tolerance * moved:
        return end
    stays, goes, j = begin, 0, last
    for i in range(begin, end):
        if j <= reach[i - begin]:
            j = min(j, np.int64(l[i]))
            spare_l[goes], spare_w[goes], spare_s[goes], spare_at[goes] = l[i], w[i], s[i], at[i]
            goes += 1
        else:
            l[stays], w[stays], s[stays], at[stays] = l[i], w[i], s[i], at[i]
            stays += 1
    if stays == begin:  # the gain of all points is rounding
        return end
    l[stays:end], w[stays:end] = spare_l[:goes], spare_w[:goes]
    s[stays:end], at[stays:end] = spare_s[:goes], spare_at[:goes]
    return stays


@kernel
def room(
    l: RankArray,  # noqa: E741 - the paper's letter
    w: FloatArray,
    s: FloatArray,
    at: PlaceArray,
    size: int,
    n_ranks: int,
) -> Spare:  # pragma: no cover - compiled
    """Return what `split` writes to on its way for up to ``size`` points; j goes to n_ranks + 1, which binds nothing."""
    d, bits = np.empty(n_ranks + 2), np.empty((n_ranks + 2 + 63) // 64, np.uint64)
    return (
        np.empty_like(l[:size]),
        np.empty_like(w[:size]),
        np.empty_like(s[:size]),
        np.empty_like(at[:size]),
        np.empty_like(l[:size]),
        d,
        bits,
    )


@kernel
def level(
    w: FloatArray, s: FloatArray, at: PlaceArray, begin: int, end: int, fit: FloatArray
) -> None:  # pragma: no cover - compiled
    """Give points that are one block their event rate."""
    W, S = 0.0, 0.0
    for i in range(begin, end):
        W += w[i]
        S += s[i]
    rate = min(S / W, 1.0)
    for i in range(begin, end):
        fit[at[i]] = rate


@kernel
def solve(
    l: RankArray,  # noqa: E741 - the paper's letter
    w: FloatArray,
    s: FloatArray,
    at: PlaceArray,
    begin: int,
    end: int,
    n_ranks: int,
    tolerance: float,
    grain: int,
    fit: FloatArray,
) -> list[Segment]:  # pragma: no cover - compiled
    """Fit points begin ... end - 1 by recursive maximal upper sets (Theorem A.5); ``at`` says where in ``fit`` each stands.

    The points are rearranged. More than ``grain`` points are split once, and the parts returned: they are independent of
    each other and can be solved side by side.
    """
    spare = room(l, w, s, at, end - begin, n_ranks)
    left = [(0, 0) for _ in range(0)]
    todo = [(begin, end)]
    while len(todo) > 0:
        first, behind = todo.pop()
        border = split(l, w, s, at, first, behind, tolerance, spare)
        if border == behind:
            level(w, s, at, first, behind, fit)
        elif behind - first > grain:
            left.append((first, border))
            left.append((border, behind))
        else:
            todo.append((first, border))
            todo.append((border, behind))
    return left


@kernel
def corners(
    q: FloatArray,
    l: RankArray,  # noqa: E741 - the paper's letter
    fit: FloatArray,
    n_ranks: int,
) -> IntArray:  # pragma: no cover - compiled
    """Return the points at which the fit is higher than at all others at or below their score and rank.

    Assumes points ordered by score, equal scores by rank; the lowest value of all is taken to hold everywhere.
    """
    best = np.full(n_ranks + 1, fit.min())
    found = np.empty(fit.size, np.bool_)
    for i in range(fit.size):
        j = np.int64(l[i])
        found[i] = best[j] < fit[i]
        while j <= n_ranks and best[j] < fit[i]:
            best[j] = fit[i]
            j += 1
    return np.flatnonzero(found)


@kernel
def envelopes(
    q: FloatArray,
    l: IntArray,  # noqa: E741 - the paper's letter
    fit: FloatArray,
    n_ranks: int,
) -> tuple[IntArray, FloatArray, FloatArray]:  # pragma: no cover - compiled
    """Return, rank after rank, the steps of the largest fit of the corners at or below a score and a rank.

    Assumes corners ordered by score, equal scores by rank, with 1 <= l <= n_ranks; the first has the lowest value. Steps of
    rank j are those from starts[j - 1] to starts[j] - 1: the score at which each begins, and its value.
    """
    starts = np.zeros(n_ranks + 1, np.int64)
    left, value = np.empty(0), np.empty(0)
    size = np.empty(n_ranks, np.int64)
    for filling in range(2):
        best, begins = np.full(n_ranks, fit[0]), np.full(n_ranks, q[0])
        size[:] = 1
        if filling == 1:
            left, value = np.full(starts[n_ranks], q[0]), np.full(starts[n_ranks], fit[0])
        for i in range(q.size):
            j = l[i] - 1
            while j < n_ranks and best[j] < fit[i]:
                best[j] = fit[i]
                if q[i] != begins[j]:
                    begins[j] = q[i]
                    size[j] += 1
                if filling == 1:
                    step = starts[j] + size[j] - 1
                    left[step], value[step] = q[i], fit[i]
                j += 1
        if filling == 0:
            for j in range(n_ranks):
                starts[j + 1] = starts[j] + size[j]
    return starts, left, value


@kernel
def increments(
    prob: FloatArray, order: IntArray, starts: IntArray, left: FloatArray, value: FloatArray, share: bool
) -> FloatArray:  # pragma: no cover - compiled
    """Return what the map gives each class: the increase from rank to rank, 0 before the first and 1 at the last.

    Assumes rows of ``order`` that sort the classes from the highest probability on, and steps of `envelopes`. With ``share``
    classes of equal probability share their increase.
    """
    n, K = prob.shape
    result = np.empty((n, K))
    for i in range(n):
        q, below, first = 0.0, 0.0, 0
        for k in range(K):
            p = prob[i, order[i, k]]
            q += p
            if share and k + 1 < K and prob[i, order[i, k + 1]] == p:
                continue
            here = 1.0
            if k + 1 < K:
                low, high = starts[k], starts[k + 1]
                while high - low > 1:
                    middle = (low + high) >> 1
                    if left[middle] <= q:
                        low = middle
                    else:
                        high = middle
                here = value[low]
            for other in range(first, k + 1):
                result[i, order[i, other]] = (here - below) / (k + 1 - first)
            below, first = here, k + 1
    return result
