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
    # A cell a bin and outcome: the outcome chooses the cell, so that the loop has no branch that it decides.
    cells = np.zeros((3, 2 * bins))
    for i in range(p.size):
        b = min(int(p[i] * bins), bins - 1)
        # The product is rounded: the edges themselves have the last word on either side.
        while b > 0 and p[i] <= edges[b]:
            b -= 1
        while b < bins - 1 and p[i] > edges[b + 1]:
            b += 1
        c = 2 * b + y[i]
        cells[0, c] += 1.0
        cells[1, c] += w[i]
        cells[2, c] += w[i] * p[i]
    sums = np.empty((4, bins))
    sums[:3] = cells[:, ::2] + cells[:, 1::2]
    sums[3] = cells[1, 1::2]
    return sums
