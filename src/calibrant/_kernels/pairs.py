"""Sums over pairs of rows that have the same label."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import kernel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


@kernel
def same_label_sums(
    k: FloatArray, a: IntArray, b: IntArray, n_classes: int
) -> FloatArray:  # pragma: no cover - compiled
    """Sum k[i, j] over the pairs with a[d, i] == b[d, j], for each draw d.

    Assumes labels in 0..n_classes - 1; k has a row for each column of a and a column for each column of b.
    """
    sums = np.zeros(len(a))
    member = np.empty(b.shape[1], np.intp)
    end = np.empty(n_classes + 1, np.intp)
    for d in range(len(a)):
        # The columns of each label, one label after the other (counting sort): label c ends before end[c].
        end[:] = 0
        for j in range(b.shape[1]):
            end[b[d, j] + 1] += 1
        for c in range(n_classes):
            end[c + 1] += end[c]
        for j in range(b.shape[1]):
            member[end[b[d, j]]] = j
            end[b[d, j]] += 1
        total = 0.0
        for i in range(a.shape[1]):
            c = a[d, i]
            for at in range(end[c - 1] if c > 0 else 0, end[c]):
                total += k[i, member[at]]
        sums[d] = total
    return sums
