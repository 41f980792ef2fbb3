"""The matrix of second derivatives of the log loss of a softmax, for few weights.

With p_j the probability of class j, X the features of the rows and w their weights, the block of two classes j and k is
-X' diag(w p_j p_k) X. So it is symmetric, and the blocks of a class with all classes sum to zero. All blocks together are one
matrix product, of the products of two probabilities and the products of two features.
"""

from __future__ import annotations

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.solvers.evidence.table import SameForAll, Table

BLOCK = 1 << 18
"""Numbers of the products of two features that are worked on at a time."""


def matrix_of_softmax(prob: FloatArray, weight: FloatArray, shared: FloatArray, table: Table) -> FloatArray:
    """Return the whole matrix, shape (d, d), at probabilities, shape (n, K); other shapes as in `curvature_of_softmax`."""
    (n, n_classes), n_shared, n_rows = prob.shape, len(shared), table.n_features
    rows = table.rows if isinstance(table, SameForAll) else np.empty((n, 0))
    of_shared, border = np.zeros((n_shared, n_shared)), np.zeros((n_shared * n_classes, n_rows))
    between = np.zeros((n_classes * (n_classes - 1) // 2, n_rows * (n_rows + 1) // 2))
    step = max(1, BLOCK // max(between.shape[1], n_shared * n_classes))
    for start in range(0, n, step):
        part = slice(start, start + step)
        by_class, own = np.ascontiguousarray(prob[part].T), np.ascontiguousarray(rows[part].T)
        weighted = by_class * weight[part]
        features = np.ascontiguousarray(shared[:, part].transpose(0, 2, 1))
        pulled = features - np.einsum("ski,ki->si", features, by_class)[:, None, :]
        pulled *= weighted
        of_shared += pulled.reshape(n_shared, -1) @ features.reshape(n_shared, -1).T
        border += pulled.reshape(len(border), own.shape[1]) @ own.T
        between += _products(weighted, by_class, 1) @ _products(own, own, 0).T
    size = n_shared + n_classes * n_rows
    matrix = np.empty((size, size))
    matrix[:n_shared, :n_shared] = of_shared
    matrix[:n_shared, n_shared:] = border.reshape(n_shared, -1)
    matrix[n_shared:, :n_shared] = matrix[:n_shared, n_shared:].T
    matrix[n_shared:, n_shared:] = _of_classes(between, n_classes, n_rows)
    return matrix


def _products(one: FloatArray, other: FloatArray, apart: int) -> FloatArray:
    """Return the products of numbers f and g of each row, g >= f + apart, shape (pairs, n), from shapes (m, n)."""
    m, n = other.shape
    products, end = np.empty(((m - apart) * (m - apart + 1) // 2, n)), 0
    for f in range(m - apart):
        start, end = end, end + m - apart - f
        np.multiply(one[f], other[f + apart :], out=products[start:end])
    return products


def _of_classes(between: FloatArray, n_classes: int, n_rows: int) -> FloatArray:
    """Return the matrix whose blocks off the diagonal are told by half of their numbers, shape (pairs, pairs)."""
    f, g = np.triu_indices(n_rows)
    one = np.empty((len(between), n_rows, n_rows))
    one[:, f, g] = one[:, g, f] = between
    blocks = np.zeros((n_classes, n_rows, n_classes, n_rows))
    j, k = np.triu_indices(n_classes, 1)
    blocks[j, :, k, :] = blocks[k, :, j, :] = -one
    for own in range(n_classes):
        blocks[own, :, own, :] = -blocks[own].sum(axis=1)
    return blocks.reshape(n_classes * n_rows, n_classes * n_rows)
