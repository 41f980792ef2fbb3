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
    prob: FloatArray, of: npt.NDArray[np.int32], u: FloatArray, events: FloatArray
) -> None:  # pragma: no cover - compiled
    """Count in events[c, r] the rows i whose label, which u[r, i] draws as `categorical` does, stands in cell c = of[i, label].

    Sums of probabilities are those of `numpy.cumsum`. The search starts at the first class whose sum falls into the same of
    n_classes equal parts of [0, 1] as u, or beyond: rounding keeps the order, so that no class before it can be the label.
    """
    n, n_classes = prob.shape
    reached, first = np.empty(n_classes), np.empty(n_classes + 1, np.intp)
    for i in range(n):
        total = 0.0
        for j in range(n_classes):
            total += prob[i, j]
            reached[j] = total
        for j in range(n_classes):
            reached[j] /= total
        j = 0
        for part in range(n_classes + 1):
            while j < n_classes - 1 and int(reached[j] * n_classes) < part:
                j += 1
            first[part] = j
        for r in range(u.shape[0]):
            at = u[r, i]
            label = first[int(at * n_classes)]
            while label < n_classes - 1 and reached[label] <= at:
                label += 1
            cell = of[i, label]
            if cell >= 0:
                events[cell, r] += 1.0
