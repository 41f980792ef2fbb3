"""Cells by outcome: how many rows, and sums of what is nearer to zero of p and 1 - p, as whole numbers of 2^-40."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import kernel

FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.int64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

UNIT = float(1 << 40)

ONE = np.uint64(1)
"""Indices are unsigned: else each access asks whether to count from the end."""


@kernel
def bin_of(p: float, edges: FloatArray) -> np.uint64:  # pragma: no cover - compiled
    """Return the bin (edges[b], edges[b + 1]] of p in [0, 1], the first also its lower edge; edges[b] = b / bins."""
    b = min(np.uint64(p * (edges.size - 1)), np.uint64(edges.size - 2))
    # The product is rounded, and so are the edges: they have the last word, and are one bin away at most.
    if p <= edges[b]:
        if b > 0:
            b -= ONE
    elif p > edges[b + ONE]:
        b += ONE
    return b


@kernel
def column_cells(
    score: FloatArray, outcome: BoolArray, edges: FloatArray, upper: BoolArray, units: CountArray, scores: FloatArray
) -> None:  # pragma: no cover - compiled
    """Add rows to units[y, b], which is (count, sum of m, sum of m²), and their scores to scores[b].

    m is p in the bins that are not ``upper`` and 1 - p in those that are. Assumes 0 <= p <= 1, edges[b] = b / bins, and fewer
    than 2^23 rows.
    """
    for i in range(score.size):
        p = np.float64(score[i])
        b = bin_of(p, edges)
        m = 1.0 - p if upper[b] else p
        y = np.uint64(outcome[i])
        units[y, b, 0] += 1
        units[y, b, 1] += np.int64(m * UNIT + 0.5)
        units[y, b, 2] += np.int64(m * m * UNIT + 0.5)
        scores[b] += p


@kernel
def class_cells(
    prob: FloatArray, label: IntArray, edges: FloatArray, upper: BoolArray, units: CountArray, scores: FloatArray
) -> None:  # pragma: no cover - compiled
    """Add each class j of each row to units[y, j, b], y whether it is the true one, and its p to scores[j, b].

    Entries of ``units`` are (count, sum of m, sum of m²); assumptions are those of `column_cells`.
    """
    n, n_classes = prob.shape
    for i in range(n):
        for j in range(n_classes):  # as if none were the true one, which is put right below
            p = np.float64(prob[i, j])
            b = bin_of(p, edges)
            m = 1.0 - p if upper[b] else p
            units[0, j, b, 0] += 1
            units[0, j, b, 1] += np.int64(m * UNIT + 0.5)
            units[0, j, b, 2] += np.int64(m * m * UNIT + 0.5)
            scores[j, b] += p
        k = np.uint64(label[i])
        p = np.float64(prob[i, k])
        b = bin_of(p, edges)
        m = 1.0 - p if upper[b] else p
        first, second = np.int64(m * UNIT + 0.5), np.int64(m * m * UNIT + 0.5)
        units[0, k, b, 0] -= 1
        units[0, k, b, 1] -= first
        units[0, k, b, 2] -= second
        units[1, k, b, 0] += 1
        units[1, k, b, 1] += first
        units[1, k, b, 2] += second


@kernel
def top_cells(
    prob: FloatArray, label: IntArray, edges: FloatArray, upper: BoolArray, units: CountArray, scores: FloatArray
) -> None:  # pragma: no cover - compiled
    """Add the highest probability of each row, of equal ones the first, to units[y, j, b], and to scores[[j, -1], b].

    j is its class, and y whether that is the true one; assumptions are those of `column_cells`.
    """
    n, n_classes = prob.shape
    for i in range(n):
        top, highest = 0, prob[i, 0]
        for j in range(1, n_classes):
            if prob[i, j] > highest:
                top, highest = j, prob[i, j]
        p = np.float64(highest)
        b = bin_of(p, edges)
        m = 1.0 - p if upper[b] else p
        y = np.uint64(label[i] == top)
        units[y, top, b, 0] += 1
        units[y, top, b, 1] += np.int64(m * UNIT + 0.5)
        units[y, top, b, 2] += np.int64(m * m * UNIT + 0.5)
        scores[top, b] += p
        scores[-1, b] += p
