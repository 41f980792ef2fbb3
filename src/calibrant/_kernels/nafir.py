"""A sparse table of counts, a row for each row of a forecast and a column for each block of scores, and sums over it.

All results are written to arrays that are passed in: an interruption that arrives while a kernel makes an array comes out as a
SystemError of numba.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import FloatArray, IntArray, kernel

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
