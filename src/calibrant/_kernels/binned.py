"""Sums over bins, in one pass over the rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import kernel

FloatArray = npt.NDArray[np.float64]


@kernel
def equal_width_sums(
    p: FloatArray, y: npt.NDArray[np.bool_], w: FloatArray, edges: FloatArray
) -> FloatArray:  # pragma: no cover - compiled
    """Rows, weight, weighted score and weighted outcome of each bin (edges[b], edges[b + 1]], shape (4, bins).

    Assumes 0 <= p <= 1, w > 0, edges[b] = b / bins.
    """
    bins = edges.size - 1
    sums = np.zeros((4, bins))
    for i in range(p.size):
        b = min(int(p[i] * bins), bins - 1)
        # The product is rounded: the edges themselves have the last word on either side.
        while b > 0 and p[i] <= edges[b]:
            b -= 1
        while b < bins - 1 and p[i] > edges[b + 1]:
            b += 1
        sums[0, b] += 1.0
        sums[1, b] += w[i]
        sums[2, b] += w[i] * p[i]
        if y[i]:
            sums[3, b] += w[i]
    return sums
