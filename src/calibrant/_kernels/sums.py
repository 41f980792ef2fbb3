"""Sums over bins of equal width, over cells by outcome, and over pairs of rows with one label."""

import numpy as np

from calibrant._kernels._compile import BoolArray, FloatArray, IntArray, LongArray, kernel

# Sums over bins of equal width, in one pass over the rows


ONE = np.uint64(1)
"""Indices are unsigned: else each access asks whether to count from the end."""

NEAR = 2.0**-20
"""What rounding may move a product across an edge, a bin: 16 times as far as an edge in single precision is off."""


@kernel
def beside(s: float, b: np.uint64, edges: FloatArray) -> np.uint64:
    """Return the bin (edges[b], edges[b + 1]] of a score next to an edge: it is b, or the one before or after it.

    The comparisons are added up: a branch between them would be mispredicted in every other row of rounded scores.
    """
    return b + np.uint64(s > edges[b + ONE]) - np.uint64(s <= edges[b])


@kernel
def add_column(
    p: FloatArray,
    y: BoolArray,
    edges: FloatArray,
    count: LongArray,
    events: LongArray,
    scores: FloatArray,
) -> None:
    """Add rows, events and scores to the bins (edges[b], edges[b + 1]], one row after the other.

    Assumes 0 <= p <= 1, and bins + 2 edges, within rounding of b / bins but for the first, -inf, and the last two, inf.
    """
    bins = np.float64(edges.size - 2)
    inside = 0.5 - NEAR * bins
    for i in range(np.uint64(p.size)):
        s = p[i]
        place = s * bins
        whole = np.int64(place)
        b = np.uint64(whole)
        # Few rows, or nearly all: the branch is predicted. In a function of the edges each row would count a reference to them.
        if abs(place - whole - 0.5) > inside:
            b = beside(s, b, edges)
        count[b] += 1
        events[b] += np.int64(y[i])
        scores[b] += s


@kernel
def add_classes(
    prob: FloatArray, label: IntArray, edges: FloatArray, count: LongArray, events: LongArray, scores: FloatArray
) -> None:
    """Do the same for each column j of a table in single or double precision, with bin b in place j * bins + b.

    The event of a column is that it is that of the label.
    """
    n, n_classes = prob.shape
    stride, bins = np.uint64(edges.size - 2), np.float64(edges.size - 2)
    inside = 0.5 - NEAR * bins
    for i in range(np.uint64(n)):
        true = np.uint64(label[i])
        for j in range(np.uint64(n_classes)):
            s = np.float64(prob[i, j])
            place = s * bins
            whole = np.int64(place)
            b = np.uint64(whole)
            if abs(place - whole - 0.5) > inside:
                b = beside(s, b, edges)
            at = j * stride + b
            count[at] += 1
            events[at] += np.int64(j == true)
            scores[at] += s


@kernel
def top_columns(values: FloatArray, top: IntArray) -> None:
    """Write the column of the highest entry of each row, of equal ones the first; no entry is NaN."""
    n, n_classes = values.shape
    for i in range(n):
        best, at = values[i, 0], 0
        for j in range(1, n_classes):
            if values[i, j] > best:
                best, at = values[i, j], j
        top[i] = at


# Labels drawn from forecasts: the loop behind a p-value, run hundreds of times


@kernel
def categorical(cumulative: FloatArray, u: FloatArray) -> IntArray:
    """Return for each u[r, i] the first class of row i whose cumulative probability exceeds it, by bisection.

    Assumes cumulative (n, K) with non-decreasing rows, 0 <= u < 1; what rounding leaves over goes to the last class.
    """
    n, n_classes = cumulative.shape
    label = np.empty(u.shape, np.intp)
    for i in range(n):
        for r in range(u.shape[0]):
            low, high = 0, n_classes - 1
            while low < high:
                middle = (low + high) // 2
                if cumulative[i, middle] <= u[r, i]:
                    low = middle + 1
                else:
                    high = middle
            label[r, i] = low
    return label


@kernel
def bin_of(p: float, edges: FloatArray) -> np.uint64:
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
    score: FloatArray, outcome: BoolArray, edges: FloatArray, upper: BoolArray, units: FloatArray, scores: FloatArray
) -> None:
    """Add rows to units[y, b], which is (count, sum of m, sum of m²), and their scores to scores[b].

    m is p in the bins that are not ``upper`` and 1 - p in those that are. Assumes 0 <= p <= 1 and edges[b] = b / bins.
    """
    for i in range(score.size):
        p = np.float64(score[i])
        b = bin_of(p, edges)
        m = 1.0 - p if upper[b] else p
        y = np.uint64(outcome[i])
        units[y, b, 0] += 1
        units[y, b, 1] += m
        units[y, b, 2] += m * m
        scores[b] += p


@kernel
def class_cells(
    prob: FloatArray, label: IntArray, edges: FloatArray, upper: BoolArray, units: FloatArray, scores: FloatArray
) -> None:
    """Add each class j of each row to units[y, j, b], y whether it is the true one, and its p to scores[j, b].

    Entries of ``units`` are (count, sum of m, sum of m²); assumptions are those of `column_cells`.
    """
    n, n_classes = prob.shape
    for i in range(n):
        true = np.uint64(label[i])
        for j in range(np.uint64(n_classes)):
            p = np.float64(prob[i, j])
            b = bin_of(p, edges)
            m = 1.0 - p if upper[b] else p
            y = np.uint64(j == true)
            units[y, j, b, 0] += 1
            units[y, j, b, 1] += m
            units[y, j, b, 2] += m * m
            scores[j, b] += p


@kernel
def top_cells(
    prob: FloatArray, label: IntArray, edges: FloatArray, upper: BoolArray, units: FloatArray, scores: FloatArray
) -> None:
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
        units[y, top, b, 1] += m
        units[y, top, b, 2] += m * m
        scores[top, b] += p
        scores[-1, b] += p


# Sums over pairs of rows that have the same label


@kernel
def same_label_sums(k: FloatArray, a: IntArray, b: IntArray, n_classes: int) -> FloatArray:
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
