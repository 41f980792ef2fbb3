"""Second derivatives of the log loss of a softmax: blocks  X_j' diag(p_j) X_j  of the classes less a Gram matrix, bordered.

Of few weights the matrix is made. Of many, products with it are made, at the price of two matrix products; systems are solved
by conjugate gradients whose preconditioner has the block of each class, with p_j (1 - p_j), and that of the shared features.
The diagonal of the inverse and the determinant are then those of the blocks: both make weights look better determined than they
are, by a little (docs/evidence-scaling.md has figures). Many systems near the same weights have a better preconditioner.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotri

from calibrant._core.links import FloatArray
from calibrant.solvers.evidence.bordered import Bordered
from calibrant.solvers.evidence.class_blocks import ClassBlocks, FewDirections, WholeBlocks
from calibrant.solvers.evidence.curvature import Curvature, DenseCurvature, Looked, Solvable, factor_of
from calibrant.solvers.evidence.softmax_matrix import matrix_of_softmax
from calibrant.solvers.evidence.table import OwnOfClass, SameForAll, Table

MOST_DENSE = 800
"""Weights up to which the matrix is made."""

MOST_WHOLE = 120
"""Features with a weight for each class up to which the block of a class is made whole."""

MOST_PRODUCTS, RESIDUAL = 60, 3e-3
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
    size = len(shared) + prob.shape[1] * table.n_features
    if size <= MOST_DENSE and not isinstance(table, OwnOfClass):
        return DenseCurvature(matrix_of_softmax(prob, weight, shared, table))
    return SoftmaxCurvature(prob, weight, shared, table)


class SoftmaxCurvature(Curvature):
    """Products with H, and its blocks."""

    most_inner = 3

    def __init__(self, prob: FloatArray, weight: FloatArray, shared: FloatArray, table: Table) -> None:
        self.prob, self.shared, self.table = prob.astype(shared.dtype, copy=False), shared, table
        self.weight, self.flat = weight, shared.reshape(len(shared), -1)
        self.weighted = (weight[:, None] * prob).astype(shared.dtype, copy=False)
        self.known: tuple[FloatArray, FloatArray] | None = None

    def times(self, w: FloatArray) -> FloatArray:
        """Return H w, which is not worked out again for the same w."""
        if self.known is None or self.known[0] is not w:
            self.known = w, self.product(w)
        return self.known[1]

    def product(self, w: FloatArray) -> FloatArray:
        """Work out H w."""
        n_shared, (n, n_classes) = len(self.shared), self.prob.shape
        w = w.astype(self.shared.dtype, copy=False)
        scores = (w[:n_shared] @ self.flat).reshape(n, n_classes)
        scores += self.table.scores(w[n_shared:].reshape(n_classes, -1))
        scores -= np.vecdot(scores, self.prob)[:, None]
        scores *= self.weighted
        pulled = [self.flat @ scores.ravel(), self.table.pulled(scores).ravel()]
        return np.concatenate(pulled).astype(np.float64, copy=False)

    @cached_property
    def of_shared(self) -> FloatArray:
        """Block of the shared features, shape (S, S)."""
        mean = np.einsum("sik,ik->si", self.shared, self.prob)
        pulled = (self.shared * self.weighted).reshape(len(self.shared), -1)
        block: FloatArray = pulled @ self.flat.T - (mean * self.weight.astype(mean.dtype)) @ mean.T
        return block

    @cached_property
    def border(self) -> FloatArray:
        """Blocks of the shared features with those of the classes, shape (S, K F)."""
        pulled = ((feature - np.vecdot(feature, self.prob)[:, None]) * self.weighted for feature in self.shared)
        return np.stack([self.table.pulled(one).ravel() for one in pulled]).astype(np.float64)

    @cached_property
    def doubt(self) -> FloatArray:
        """Weights of rows in the block of each class, shape (K, n)."""
        return np.ascontiguousarray((self.weighted * (1.0 - self.prob)).T)

    @cached_property
    def whole(self) -> FloatArray:
        """Blocks of the classes, shape (K, F, F)."""
        return self.table.blocks(self.doubt)

    @cached_property
    def total(self) -> FloatArray:
        """Sum of the blocks of the classes, shape (F, F)."""
        unit = self.doubt.sum(axis=0, keepdims=True)
        total: FloatArray = self.table.blocks(unit)[0].astype(np.float64)
        return total

    def of_classes(self, ridge: FloatArray) -> ClassBlocks:
        """Return the blocks with a ridge, shape (K, F)."""
        if isinstance(self.table, SameForAll) and self.table.n_features > MOST_WHOLE:
            return FewDirections(self.table.rows, self.table.own, self.doubt, self.total, ridge)
        return WholeBlocks(self.whole, ridge)

    def with_ridge(self, ridge: FloatArray) -> Solvable:
        """Return H + diag(ridge)."""
        return BlockSolvable(self, ridge)


class BlockSolvable(Solvable):
    """A, with the inverses of its blocks."""

    better: Bordered | None = None

    def __init__(self, curvature: SoftmaxCurvature, ridge: FloatArray) -> None:
        self.curvature, self.ridge = curvature, ridge
        n_shared, n_classes = len(curvature.shared), curvature.prob.shape[1]
        factor = factor_of(curvature.of_shared, ridge[:n_shared])
        inverse = dpotri(factor, lower=1)[0]
        self.of_shared = inverse + np.tril(inverse, -1).T
        self.of_classes = curvature.of_classes(ridge[n_shared:].reshape(n_classes, -1))
        self.log_det = 2.0 * float(np.log(factor.diagonal()).sum()) + self.of_classes.log_det
        self.inverse_diagonal = np.append(self.of_shared.diagonal(), self.of_classes.inverse_diagonal)

    def preconditioned(self, right: FloatArray) -> FloatArray:
        """Return the solution for the blocks alone."""
        n_shared = len(self.of_shared)
        table = right[n_shared:].reshape(self.curvature.prob.shape[1], -1)
        return np.append(self.of_shared @ right[:n_shared], self.of_classes.solved(table))

    def solved(self, right: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """Return the solution by conjugate gradients."""
        x = np.zeros(len(right)) if start is None else start
        residual = right.copy() if start is None else right - self.curvature.times(x) - self.ridge * x
        z = self.preconditioned(residual)
        way, size = z, float(residual @ z)
        enough = RESIDUAL**2 * (size if start is None else float(right @ self.preconditioned(right)))
        for _ in range(MOST_PRODUCTS):
            if not size > enough:
                break
            product = self.curvature.product(way) + self.ridge * way
            length = size / float(way @ product)
            x = x + length * way
            residual -= length * product
            z = self.preconditioned(residual)
            before, size = size, float(residual @ z)
            way = z + (size / before) * way
        self.curvature.known = x, right - residual - self.ridge * x
        return x

    def at(self, look: Looked) -> Solvable:
        """Return the same blocks with products elsewhere."""
        moved = look.curvature
        return MovedSolvable(self, moved) if isinstance(moved, SoftmaxCurvature) else self

    def for_many(self) -> Solvable:
        """Return the same with a better preconditioner for what is solved elsewhere, which is dearer to make."""
        if isinstance(self.curvature.table, SameForAll):
            self.better = Bordered(self.of_classes, self.curvature.of_shared, self.curvature.border, self.ridge)
        return self


class MovedSolvable(BlockSolvable):
    """A with products elsewhere, and a preconditioner that was made once."""

    def __init__(self, near: BlockSolvable, curvature: SoftmaxCurvature) -> None:
        self.curvature, self.ridge, self.near = curvature, near.ridge, near

    def preconditioned(self, right: FloatArray) -> FloatArray:
        """Return about the solution."""
        return self.near.better.solved(right) if self.near.better else self.near.preconditioned(right)
