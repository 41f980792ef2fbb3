"""Sums over bins of equal width, in one pass over the rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import kernel

FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.int64]
IntArray = npt.NDArray[np.intp]


@kernel
def add_column(
    p: FloatArray,
    y: npt.NDArray[np.bool_],
    edges: FloatArray,
    count: CountArray,
    events: CountArray,
    scores: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Add rows, events and scores to the bins (edges[b], edges[b + 1]], one row after the other.

    Assumes 0 <= p <= 1, and bins + 2 edges, within rounding of b / bins but for the first, -inf, and the last two, inf.
    """
    bins = edges.size - 2
    for i in range(p.size):
        s = p[i]
        b = int(s * bins)
        # The product is rounded: the edges themselves have the last word. A branch would be mispredicted in every other row.
        b += int(s > edges[b + 1]) - int(s <= edges[b])
        count[b] += 1
        events[b] += int(y[i])
        scores[b] += s


@kernel
def add_classes(
    prob: FloatArray, label: IntArray, edges: FloatArray, count: CountArray, events: CountArray, scores: FloatArray
) -> None:  # pragma: no cover - compiled
    """Do the same for each column j of a table in single or double precision, with bin b in place j * bins + b.

    The event of a column is that it is that of the label.
    """
    n, n_classes = prob.shape
    bins = edges.size - 2
    for i in range(n):
        for j in range(n_classes):
            s = np.float64(prob[i, j])
            b = int(s * bins)
            b += int(s > edges[b + 1]) - int(s <= edges[b])
            at = j * bins + b
            count[at] += 1
            scores[at] += s
        s = np.float64(prob[i, label[i]])
        b = int(s * bins)
        b += int(s > edges[b + 1]) - int(s <= edges[b])
        events[label[i] * bins + b] += 1


@kernel
def top_columns(values: FloatArray, top: IntArray) -> None:  # pragma: no cover - compiled
    """Write the column of the highest entry of each row, of equal ones the first; no entry is NaN."""
    n, n_classes = values.shape
    for i in range(n):
        best, at = values[i, 0], 0
        for j in range(1, n_classes):
            if values[i, j] > best:
                best, at = values[i, j], j
        top[i] = at
