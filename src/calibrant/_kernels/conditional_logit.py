"""Sums of products over the pairs of entries of each row of a sparse table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import kernel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


@kernel
def pair_sums(
    starts: IntArray, group: IntArray, q: FloatArray, w: FloatArray, n_groups: int
) -> FloatArray:  # pragma: no cover - compiled
    """Return sum over rows i of w[i] * Q[i, a] * Q[i, b], shape (n_groups, n_groups).

    Q[i, a] is the sum of the entries q of row i in group a. Assumes that the entries of row i stand from starts[i] up to
    starts[i + 1] (the last row's up to the end), each row with at least one, in an order in which groups never fall. A row
    costs the square of the number of its groups, however many groups there are.
    """
    sums = np.zeros((n_groups, n_groups))
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
    return sums
