"""Isotonic regression with one event more, at each score in turn."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from calibrant._kernels._compile import FloatArray, IntArray, kernel

# The path of nearly-isotonic fits: which neighbouring blocks join at which penalty


SAME = 1e-12
"""Values of blocks that differ by no more are one value."""


@kernel
def joining(above: IntArray, start: IntArray, end: IntArray, e: FloatArray, w: FloatArray, k: int, now: float) -> float:
    """Return the penalty at which the blocks on both sides of boundary k join; infinite if never."""
    a, b = start[k], k + 1
    last = end[b]
    slope_a = (above[a - 1] if a > 0 else 0) - above[k]
    slope_b = above[k] - (above[last] if last < w.size - 1 else 0)
    closing = slope_a * w[b] - slope_b * w[a]
    gap = e[b] * w[a] - e[a] * w[b]
    if closing == 0:
        return now if abs(gap) <= SAME * w[a] * w[b] else np.inf
    return float(max(gap / closing, now))


@kernel
def join_path(e: FloatArray, w: FloatArray, above: IntArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Join blocks in the order of the penalty; modified pool adjacent violators (mPAVA) with a heap.

    Assumes events 0 <= e <= w of points with different neighbouring rates, w > 0; above[k] is 1 where point k has a higher
    rate than point k + 1, else 0. Between joins a block with events E and weight W has the value

        (E + penalty * (above before it - above behind it)) / W

    and the signs ``above`` of the boundaries that are left never change, so that the penalty at which two neighbours meet
    depends on these two and the signs around them: a join asks for two new entries in the heap, O(n log n) in all. Values
    are quotients of sums, where the paper adds an increment at each join: with whole weights, equal penalties come out equal.

    Returns, in the order of the joins, the penalty, the boundary, and (4, joins) events and weight of the left and right
    block. Blocks never part again; joins that are left out never come.
    """
    n = w.size
    e, w = e.copy(), w.copy()
    # The block that ends at a point starts at start[point]; the one that starts at a point ends at end[point]. Its sums
    # stand where it starts.
    start, end = np.arange(n), np.arange(n)
    when = np.full(n, np.inf)
    heap = [(0.0, 0) for _ in range(0)]
    for k in range(n - 1):
        when[k] = joining(above, start, end, e, w, k, 0.0)
        if when[k] < np.inf:
            heap.append((when[k], k))
    heapify(heap)
    penalty, boundary, joined = np.empty(n - 1), np.empty(n - 1, np.intp), np.empty((4, n - 1))
    joins = 0
    while len(heap) > 0:
        now, k = heappop(heap)
        if now != when[k]:
            continue  # an entry that was replaced
        a, b = start[k], k + 1
        last = end[b]
        penalty[joins], boundary[joins] = now, k
        joined[0, joins], joined[1, joins], joined[2, joins], joined[3, joins] = e[a], w[a], e[b], w[b]
        joins += 1
        e[a] += e[b]
        w[a] += w[b]
        start[last], end[a] = a, last
        when[k] = -1.0
        for other in (a - 1, last):
            if 0 <= other < n - 1:
                t = joining(above, start, end, e, w, other, now)
                if t != when[other]:
                    when[other] = t
                    if t < np.inf:
                        heappush(heap, (t, other))
    return penalty[:joins], boundary[:joins], joined[:, :joins]


@kernel
def fits_with_one_event(C: FloatArray, Z: FloatArray, more: float) -> FloatArray:
    """Return the isotonic fit at each point if it had an event of weight ``more`` beside what it has.

    C and Z are cumulative weight and events of the points, from 0 on: points of the cumulative sum diagram (CSD). Assumes C
    increasing, more > 0. The fit at point k is

        max over i < k of min over j >= k of (Z[j] - Z[i] + more) / (C[j] - C[i] + more)

    the slope of the greatest convex minorant between the corners before k, moved by (-more, -more), and the others. The
    paper (Algorithms 1 and 2) keeps the corners on two stacks; here the hull of what lies to the right of a point is a
    chain of successors, and the point where the line touches it only ever moves to the right: time is linear.
    """
    m = C.size - 1
    # Corner after k on the convex minorant of the points k, k + 1, ..., m.
    after = np.empty(m + 1, np.intp)
    after[m] = m
    for k in range(m - 1, -1, -1):
        j = k + 1
        while j < m and (Z[j] - Z[k]) * (C[after[j]] - C[j]) >= (Z[after[j]] - Z[j]) * (C[j] - C[k]):
            j = after[j]
        after[k] = j
    fit = np.empty(m)
    # The line through the moved corner (x, y) touches the points to the right at number ``touched``.
    x, y, touched = C[0] - more, Z[0] - more, 0
    for k in range(m):
        dx, dy = C[k] - more - x, Z[k] - more - y
        # A moved corner on or above the line leaves it where it is.
        if touched <= k or dy * (C[touched] - x) < dx * (Z[touched] - y):
            x, y = C[k] - more, Z[k] - more
            touched = max(touched, k + 1)
            while touched < m and (Z[after[touched]] - y) * (C[touched] - x) <= (Z[touched] - y) * (
                C[after[touched]] - x
            ):
                touched = after[touched]
        fit[k] = (Z[touched] - y) / (C[touched] - x)
    return fit
