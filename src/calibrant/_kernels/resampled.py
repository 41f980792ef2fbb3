"""Labels drawn from forecasts, and their sums over cells: the loops behind a p-value, run hundreds of times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import kernel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


@kernel
def categorical(cumulative: FloatArray, u: FloatArray) -> IntArray:  # pragma: no cover - compiled
    """Return the first class of each row whose cumulative probability exceeds u, by bisection.

    Assumes cumulative (n, K) with non-decreasing rows, 0 <= u < 1; what rounding leaves over goes to the last class.
    """
    n, n_classes = cumulative.shape
    label = np.empty(n, np.intp)
    for i in range(n):
        low, high = 0, n_classes - 1
        while low < high:
            middle = (low + high) // 2
            if cumulative[i, middle] <= u[i]:
                low = middle + 1
            else:
                high = middle
        label[i] = low
    return label


@kernel
def sums_at(
    of: npt.NDArray[np.int32], label: IntArray, w: FloatArray, n_cells: int
) -> FloatArray:  # pragma: no cover - compiled
    """Sum w over the rows of each cell of[i, label[i]]; -1 is no cell."""
    sums = np.zeros(n_cells)
    for i in range(label.size):
        cell = of[i, label[i]]
        if cell >= 0:
            sums[cell] += w[i]
    return sums


@kernel
def events_at(
    cumulative: FloatArray, of: npt.NDArray[np.int32], u: FloatArray, block: int, events: FloatArray
) -> None:  # pragma: no cover - compiled
    """Count in events[r, c] the rows i whose label, which u[r, i] draws as `categorical` does, stands in cell c = of[i, label].

    Rows are looked at so many at a time, in all draws.
    """
    n, n_classes = cumulative.shape
    for start in range(0, n, block):
        end = min(start + block, n)
        for r in range(u.shape[0]):
            for i in range(start, end):
                at, low, high = u[r, i], 0, n_classes - 1
                while low < high:
                    middle = (low + high) // 2
                    if cumulative[i, middle] <= at:
                        low = middle + 1
                    else:
                        high = middle
                cell = of[i, low]
                if cell >= 0:
                    events[r, cell] += 1.0
