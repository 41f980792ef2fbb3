"""Isotonic regression of points that are ordered by a score and by a rank: upper sets are bounded by staircases."""

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import BoolArray, FloatArray, LongArray, kernel

WordArray = npt.NDArray[np.uint64]
Segment = tuple[int, int]
Spare = tuple[LongArray, FloatArray, FloatArray, LongArray, LongArray]

ONE_BIT = np.uint64(1)
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
"""Multiplied by a power of two, its six leading bits tell which power."""
POWER_OF = np.zeros(64, np.int64)
for _power in range(64):
    POWER_OF[((0x03F79D71B4CB0A89 << _power) & 0xFFFFFFFFFFFFFFFF) >> 58] = _power


@kernel
def distinct_points(
    score: FloatArray,
    rank: LongArray,
    w: FloatArray,
    s: FloatArray,
    place: LongArray,
    before: LongArray,
    tied: LongArray,
    weight: FloatArray,
) -> int:
    """Join points of equal score and rank; return how many there are: score, rank, weight and weight of the events of each.

    Assumes ordered scores with the ``place`` that each had, rank after rank and row after row, equal scores in the order of
    their places. At rank j of a row ``(j - before) / tied`` of the event has come, between 0 and 1. The points are written to
    the first places of the first four arrays.
    """
    n = weight.size
    m = -1
    for k in range(score.size):
        j = place[k] // n + 1
        row = place[k] - (j - 1) * n
        if m < 0 or score[m] != score[k] or rank[m] != j:
            m += 1
            score[m], rank[m], w[m], s[m] = score[k], j, 0.0, 0.0
        w[m] += weight[row]
        occurred = j - before[row]
        if occurred >= tied[row]:
            s[m] += weight[row]
        elif occurred > 0:
            s[m] += weight[row] * occurred / tied[row]
    return m + 1


@kernel
def next_set(bits: WordArray, j: int) -> int:
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
    l: LongArray,  # noqa: E741 - the paper's letter
    w: FloatArray,
    s: FloatArray,
    at: LongArray,
    begin: int,
    end: int,
    tolerance: float,
    spare: Spare,
    d: FloatArray,
    bits: WordArray,
) -> int:
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

    ``spare`` is as long as the points, ``reach`` the last of it; ``d`` and ``bits`` are for j up to n_ranks + 1, which binds
    nothing. All are written to.
    """
    spare_l, spare_w, spare_s, spare_at, reach = spare
    last = d.size - 1
    d[:] = 0.0
    bits[:] = np.uint64(0)
    W, S = 0.0, 0.0
    for i in range(begin, end):
        W += w[i]
        S += s[i]
    moved = 0.0
    for i in range(end - 1, begin - 1, -1):
        j = l[i] + 1
        v = W * s[i] - S * w[i]
        moved += abs(v)
        if v <= 0.0:
            reach[i] = j - 1
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
        reach[i] = min(j - 1, last)
        if j <= last:
            d[j] -= v
    # The set of all points gains nothing, and M increases from there by the differences.
    if d.sum() <= tolerance * moved:
        return end
    stays, goes, j = begin, begin, last
    for i in range(begin, end):
        if j <= reach[i]:
            j = min(j, l[i])
            spare_l[goes], spare_w[goes], spare_s[goes], spare_at[goes] = l[i], w[i], s[i], at[i]
            goes += 1
        else:
            l[stays], w[stays], s[stays], at[stays] = l[i], w[i], s[i], at[i]
            stays += 1
    if stays == begin:  # the gain of all points is rounding
        return end
    for i in range(stays, end):  # slices take seconds to compile
        j = begin + i - stays
        l[i], w[i], s[i], at[i] = spare_l[j], spare_w[j], spare_s[j], spare_at[j]
    return stays


@kernel
def level(w: FloatArray, s: FloatArray, at: LongArray, begin: int, end: int, fit: FloatArray) -> None:
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
    l: LongArray,  # noqa: E741 - the paper's letter
    w: FloatArray,
    s: FloatArray,
    at: LongArray,
    begin: int,
    end: int,
    n_ranks: int,
    tolerance: float,
    budget: int,
    fit: FloatArray,
    spare: Spare,
) -> list[Segment]:
    """Fit points begin ... end - 1 by recursive maximal upper sets (Theorem A.5); ``at`` says where in ``fit`` each stands.

    The points are rearranged. Once more than ``budget`` points were looked at, counting those of each split, the parts that
    are not solved yet are returned. They are independent of each other, can be solved side by side, and between one call and
    the next the caller can stop.
    """
    d, bits = np.empty(n_ranks + 2), np.empty((n_ranks + 2 + 63) // 64, np.uint64)
    todo = [(begin, end)]
    seen = 0
    while len(todo) > 0 and seen <= budget:
        first, behind = todo.pop()
        seen += behind - first
        border = split(l, w, s, at, first, behind, tolerance, spare, d, bits)
        if border == behind:
            level(w, s, at, first, behind, fit)
        else:
            todo.append((first, border))
            todo.append((border, behind))
    return todo


# The map that an isotonic regression of points with a score and a rank makes: its corners, its steps, and what it gives


@kernel
def corners(
    l: LongArray,  # noqa: E741 - the paper's letter
    fit: FloatArray,
    n_ranks: int,
    found: BoolArray,
) -> None:
    """Find the points at which the fit is higher than at all others at or below their score and rank.

    Assumes points ordered by score, equal scores by rank; the lowest value of all is taken to hold everywhere.
    """
    best = np.full(n_ranks + 1, fit.min())
    for i in range(fit.size):
        j = l[i]
        found[i] = best[j] < fit[i]
        while j <= n_ranks and best[j] < fit[i]:
            best[j] = fit[i]
            j += 1


@kernel
def envelopes(
    q: FloatArray,
    l: LongArray,  # noqa: E741 - the paper's letter
    fit: FloatArray,
    n_ranks: int,
) -> tuple[LongArray, FloatArray, FloatArray]:
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
    prob: FloatArray,
    order: LongArray,
    reached: FloatArray,
    starts: LongArray,
    left: FloatArray,
    value: FloatArray,
    share: bool,
    spread: bool,
    result: FloatArray,
) -> None:
    """Write to ``result`` what the map gives each class: the increase from rank to rank, 0 before the first and 1 at the last.

    Assumes rows of ``order`` that sort the classes from the highest probability on, the sums that are ``reached`` with each of
    them, grouped as those of the fit, and steps of `envelopes`. With ``share`` classes of equal probability share their
    increase. With ``spread`` all classes since the last increase share the next, in proportion to their probabilities.
    """
    n, K = prob.shape
    for i in range(n):
        mass, below, first = 0.0, 0.0, 0
        for k in range(K):
            p = prob[i, order[i, k]]
            mass += p
            if share and k + 1 < K and prob[i, order[i, k + 1]] == p:
                continue
            here = 1.0
            if k + 1 < K:
                low, high = starts[k], starts[k + 1]
                while high - low > 1:
                    middle = (low + high) >> 1
                    if left[middle] <= reached[i, k]:
                        low = middle
                    else:
                        high = middle
                here = value[low]
                if spread and here <= below:
                    continue
            rise = here - below
            for other in range(first, k + 1):
                j = order[i, other]
                result[i, j] = rise * (prob[i, j] / mass) if spread and mass > 0.0 else rise / (k + 1 - first)
            mass, below, first = 0.0, here, k + 1
