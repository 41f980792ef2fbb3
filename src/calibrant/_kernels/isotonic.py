"""The kernels of isotonic fits: regression with one event more, at each score in turn, and the sums of NA-FIR.

NA-FIR sums over a sparse table of counts, a row for each row of a forecast and a column for each block of scores. All results
are written to arrays that are passed in: an interruption that arrives while a kernel makes an array comes out as a
SystemError of numba.
"""

from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt

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


# Changes of one block's value at a time, some of them for the worse


@kernel
def anneal(
    starts: IntArray,
    row: IntArray,
    count: FloatArray,
    b: FloatArray,
    w: FloatArray,
    block: IntArray,
    change: FloatArray,
    chance: FloatArray,
    beta: float,
    floor: float,
    patience: int,
    g: FloatArray,
    total: FloatArray,
    best: FloatArray,
    current: float,
    highest: float,
    since: int,
) -> tuple[float, float, int, int]:
    """Try to add change[t] to g[block[t]], one after the other; write g, its row sums ``total`` and the best g so far.

    The likelihood of g is b @ log(g) - w @ log(total), with total = C @ g. The entries of C in block j, of some rows, stand
    from starts[j] up to starts[j + 1]. Return the likelihood of g, that of ``best``, how many changes were tried since it was
    found, and how many in all: the search ends when as many as ``patience`` found nothing better.

    These are lines 5 to 16 of Algorithm 1 of Arad and Rosset, with the sums of A.2. Line 10 keeps as the best what is better
    than the current one, which may be worse than the best: here it must be better than the best. Algorithm 4, which never
    updates the current likelihood, is not followed.
    """
    for t in range(block.size):
        if since >= patience:
            return current, highest, since, t
        since += 1
        j = block[t]
        new = g[j] + change[t]
        if new < (g[j - 1] if j > 0 else floor) or (j + 1 < g.size and new > g[j + 1]):
            continue
        gain = b[j] * np.log(new / g[j])
        for e in range(starts[j], starts[j + 1]):
            gain -= w[row[e]] * np.log1p(count[e] * change[t] / total[row[e]])
        if not (gain > 0.0 or chance[t] < np.exp(beta * gain)):
            continue
        for e in range(starts[j], starts[j + 1]):
            total[row[e]] += count[e] * change[t]
        g[j] = new
        current += gain
        if current > highest:
            highest, since = current, 0
            for k in range(g.size):
                best[k] = g[k]
    return current, highest, since, block.size


CellArray = npt.NDArray[np.int32]

FAR = 600.0
"""A row whose highest value lies further than this below the highest of all is raised on its own."""


@kernel
def entries(at: CellArray, block_of_cell: IntArray, seen: IntArray, ends: IntArray) -> None:
    """Write up to where the entries of each row stand: an entry is a block in which the row has a score.

    The scores of row i lie in the cells at[i], and cell c belongs to block_of_cell[c]. ``seen`` has -1 for each block.
    """
    size = 0
    for i in range(at.shape[0]):
        for k in range(at.shape[1]):
            j = block_of_cell[at[i, k]]
            if seen[j] != i:
                seen[j] = i
                size += 1
        ends[i] = size


@kernel
def row_counts(at: CellArray, block_of_cell: IntArray, held: FloatArray, block: IntArray, count: FloatArray) -> None:
    """Write the block and the count of each entry, row after row, in the order of blocks; ``held`` has 0 for each block."""
    end = 0
    for i in range(at.shape[0]):
        begin = end
        for k in range(at.shape[1]):
            j = block_of_cell[at[i, k]]
            if held[j] == 0.0:
                block[end] = j
                end += 1
            held[j] += 1.0
        block[begin:end].sort()
        for e in range(begin, end):
            count[e], held[block[e]] = held[block[e]], 0.0


@kernel
def shares(
    starts: IntArray,
    block: IntArray,
    count: FloatArray,
    w: FloatArray,
    theta: FloatArray,
    log_sum: FloatArray,
    q: FloatArray,
    expected: FloatArray,
) -> None:
    """Write log sum_j C[i, j] exp(theta[j]) of each row i, each entry's share q in that sum, and add w * q up by block.

    Assumes that the entries of row i stand from starts[i] up to starts[i + 1] (the last row's up to the end), each row with at
    least one, in the order of blocks, and that theta never falls.
    """
    n, highest = starts.size, theta[-1]
    raised = np.exp(theta - highest)
    for i in range(n):
        begin, end = starts[i], starts[i + 1] if i + 1 < n else block.size
        top = theta[block[end - 1]]
        alone = top < highest - FAR
        total = 0.0
        for e in range(begin, end):
            q[e] = count[e] * (np.exp(theta[block[e]] - top) if alone else raised[block[e]])
            total += q[e]
        for e in range(begin, end):
            q[e] /= total
            expected[block[e]] += w[i] * q[e]
        log_sum[i] = np.log(total) + (top if alone else highest)


@kernel
def pair_sums(starts: IntArray, group: IntArray, q: FloatArray, w: FloatArray, sums: FloatArray) -> None:
    """Add up over rows i w[i] * Q[i, a] * Q[i, b], shape (n_groups, n_groups).

    Q[i, a] is the sum of the entries q of row i in group a. Assumes entries as `shares` does, in an order in which groups
    never fall. A row costs the square of the number of its groups, however many groups there are.
    """
    n_groups = sums.shape[0]
    at, held = np.empty(n_groups, np.intp), np.empty(n_groups)
    n = starts.size
    for i in range(n):
        end = starts[i + 1] if i + 1 < n else q.size
        last = -1
        for e in range(starts[i], end):
            if last >= 0 and at[last] == group[e]:
                held[last] += q[e]
            else:
                last += 1
                at[last], held[last] = group[e], q[e]
        for k in range(last + 1):
            scaled = w[i] * held[k]
            for other in range(k + 1):
                sums[at[k], at[other]] += scaled * held[other]
    for a in range(n_groups):
        for b in range(a):
            sums[b, a] = sums[a, b]
