"""Second derivatives of the log loss of a softmax: blocks  X_j' diag(p_j) X_j  of the classes less a Gram matrix, with a border.

Of few weights the matrix is made. Of many, products with it are made, at the price of two matrix products; systems are solved by
conjugate gradients whose preconditioner has the block of each class, with p_j (1 - p_j), and that of the shared features.
The diagonal of the inverse and the determinant are then those of the blocks: both make weights look better determined than they
are, by a little (docs/evidence-scaling.md has figures).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotri

from calibrant._core.links import FloatArray
from calibrant.solvers.evidence.curvature import Curvature, DenseCurvature, Looked, Solvable, factor_of
from calibrant.solvers.evidence.table import SameForAll, Table

MOST_DENSE = 800
"""Weights up to which the matrix is made."""

BLOCK = 1 << 17
"""Numbers of the table of products that are worked on at a time."""

MOST_PRODUCTS, RESIDUAL = 60, 1e-2
"""Products for one solution, and the residual at which it is good enough, relative to the right-hand side."""


def curvature_of_softmax(prob: FloatArray, weight: FloatArray, shared: FloatArray, table: Table) -> Curvature:
    """Return the second derivatives at probabilities, shape (n, K), of rows with these weights.

    Parameters
    ----------
    prob : ndarray of shape (n, K)
        Probabilities.
    weight : ndarray of shape (n,)
        Weights of the rows.
    shared : ndarray of shape (S, n, K)
        Shared features.
    table : Table
        Features that have a weight for each class.
    """
    if isinstance(table, SameForAll) and len(shared) + prob.shape[1] * table.n_features <= MOST_DENSE:
        return DenseCurvature(_matrix(prob, weight, shared, table.rows))
    return SoftmaxCurvature(prob, weight, shared, table)


def _matrix(prob: FloatArray, weight: FloatArray, shared: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the whole matrix, shape (d, d)."""
    (n, n_classes), n_shared, n_rows = prob.shape, len(shared), rows.shape[1]
    size = n_shared + n_classes * n_rows
    matrix = np.zeros((size, size), order="F")
    weighted = weight[:, None] * prob
    pulled = shared - np.einsum("sik,ik->si", shared, prob)[:, :, None]
    pulled *= weighted
    matrix[:n_shared, :n_shared] = pulled.reshape(n_shared, -1) @ shared.reshape(n_shared, -1).T
    border = (pulled.transpose(0, 2, 1).reshape(-1, n) @ rows).reshape(n_shared, -1)
    matrix[:n_shared, n_shared:], matrix[n_shared:, :n_shared] = border, border.T
    matrix[n_shared:, n_shared:] = _of_classes(prob, weight, rows)
    return matrix


def _of_classes(prob: FloatArray, weight: FloatArray, rows: FloatArray) -> FloatArray:
    """Blocks on the diagonal, less the Gram matrix of all products of a probability and a feature."""
    n_classes, n_rows = prob.shape[1], rows.shape[1]
    size = n_classes * n_rows
    gram = np.zeros((size, size), order="F")
    root, step = np.sqrt(weight)[:, None] * prob, max(1, BLOCK // size)
    for start in range(0, len(root), step):
        part = slice(start, start + step)
        products = (root[part, :, None] * rows[part, None, :]).reshape(-1, size)
        gram = dsyrk(-1.0, products.T, 1.0, gram, lower=1, overwrite_c=1)
    for j in range(n_classes):
        own = slice(j * n_rows, (j + 1) * n_rows)
        gram[own, own] += ((weight * prob[:, j])[:, None] * rows).T @ rows
    lower = np.tril_indices(size, -1)
    gram.T[lower] = gram[lower]
    return gram


class SoftmaxCurvature(Curvature):
    """Products with H, and its blocks."""

    most_inner = 3

    def __init__(self, prob: FloatArray, weight: FloatArray, shared: FloatArray, table: Table) -> None:
        self.prob, self.shared, self.table = prob.astype(shared.dtype, copy=False), shared, table
        self.weight, self.flat = weight, shared.reshape(len(shared), -1)
        self.weighted = (weight[:, None] * prob).astype(shared.dtype, copy=False)

    def times(self, w: FloatArray) -> FloatArray:
        """Return H w."""
        n_shared, (n, n_classes) = len(self.shared), self.prob.shape
        w = w.astype(self.shared.dtype, copy=False)
        scores = self.table.scores(w[n_shared:].reshape(n_classes, -1))
        scores += (w[:n_shared] @ self.flat).reshape(n, n_classes)
        scores -= np.vecdot(scores, self.prob)[:, None]
        scores *= self.weighted
        pulled = [self.flat @ scores.ravel(), self.table.pulled(scores).ravel()]
        return np.concatenate(pulled).astype(np.float64, copy=False)

    @cached_property
    def blocks(self) -> list[FloatArray]:
        """Those of the shared features, shape (S, S), and of each class, shape (F, F)."""
        mean = np.einsum("sik,ik->si", self.shared, self.prob)
        pulled = (self.shared * self.weighted).reshape(len(self.shared), -1)
        shared = pulled @ self.flat.T - (mean * self.weight.astype(mean.dtype)) @ mean.T
        doubt = np.ascontiguousarray((self.weighted * (1.0 - self.prob)).T)
        return [shared, *(self.table.block(j, own) for j, own in enumerate(doubt))]

    def with_ridge(self, ridge: FloatArray) -> Solvable:
        """Return H + diag(ridge)."""
        return BlockSolvable(self, ridge)


class BlockSolvable(Solvable):
    """A, with the inverses of its blocks."""

    def __init__(self, curvature: SoftmaxCurvature, ridge: FloatArray) -> None:
        self.curvature, self.ridge = curvature, ridge
        n_shared, n_classes, log_det = len(curvature.shared), curvature.prob.shape[1], 0.0
        ridges = [ridge[:n_shared], *ridge[n_shared:].reshape(n_classes, -1)]
        inverses = []
        for block, own in zip(curvature.blocks, ridges, strict=True):
            factor = factor_of(block, own)
            log_det += 2.0 * float(np.log(factor.diagonal()).sum())
            inverse = dpotri(factor, lower=1, overwrite_c=1)[0]
            inverses.append(inverse + np.tril(inverse, -1).T)
        self.log_det = log_det
        self.inverse_diagonal = np.concatenate([inverse.diagonal() for inverse in inverses])
        self.of_shared = inverses[0]
        self.of_classes = np.stack(inverses[1:]).astype(curvature.shared.dtype, copy=False)

    def preconditioned(self, right: FloatArray) -> FloatArray:
        """Return the solution for the blocks alone."""
        n_shared, n_classes = len(self.of_shared), len(self.of_classes)
        table = right[n_shared:].reshape(n_classes, -1, 1).astype(self.of_classes.dtype, copy=False)
        return np.concatenate([self.of_shared @ right[:n_shared], np.matmul(self.of_classes, table).ravel()])

    def solved(self, right: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """Return the solution by conjugate gradients."""
        x = np.zeros(len(right)) if start is None else start.copy()
        residual = right.copy() if start is None else right - self._times(x)
        z = self.preconditioned(residual)
        way, size = z, float(residual @ z)
        enough = RESIDUAL**2 * (size if start is None else float(right @ self.preconditioned(right)))
        for _ in range(MOST_PRODUCTS):
            if not size > enough:
                break
            product = self._times(way)
            length = size / float(way @ product)
            x = x + length * way
            residual -= length * product
            z = self.preconditioned(residual)
            before, size = size, float(residual @ z)
            way = z + (size / before) * way
        return x

    def at(self, look: Looked) -> Solvable:
        """Return the same blocks with products elsewhere."""
        moved = object.__new__(BlockSolvable)
        moved.__dict__.update(self.__dict__, curvature=look.curvature)
        return moved

    def _times(self, w: FloatArray) -> FloatArray:
        return self.curvature.times(w) + self.ridge * w
