"""Convex logits whose groups of weights have Gaussian priors, and the variances of these by Laplace evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf, dtrtri
from scipy.special import expit

from calibrant._core.arrays import FloatArray, blocks
from calibrant._core.rows import BoolArray, IntArray
from calibrant._core.threads import in_order, n_processors
from calibrant.fit.log_loss import between_classes, blocks_of_classes, products, softmax_in_place
from calibrant.fit.minimise import ROUNDING, Minimum, Point, Stop, minimise

# Second derivatives H of a log loss, and A = H + diag(ridge): solutions, the diagonal of the inverse, and the determinant


JITTER = 1e-9
"""Added to the diagonal, relative to its largest entry, of a matrix that rounding has left without a factor."""


@dataclass(frozen=True, eq=False)
class DenseCurvature:
    """The matrix H, shape (d, d)."""

    matrix: FloatArray
    most_inner, far, tolerance = 30, 0.0, 1.0

    def times(self, w: FloatArray) -> FloatArray:
        """Return H w."""
        return self.matrix @ w

    def with_ridge(self, ridge: FloatArray) -> Factored:
        """Return A = H + diag(ridge)."""
        return Factored(self.matrix, ridge)


class Factored:
    """A, with a root of its inverse."""

    def __init__(self, matrix: FloatArray, ridge: FloatArray) -> None:
        self.matrix, self.ridge = matrix, ridge
        self.root = inverse_root(matrix, ridge)

    def solved(self, right: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """Return the solution."""
        return np.asarray(self.root.T @ (self.root @ right))

    def for_part(self, part: float) -> Factored:
        """Return what solves with the second derivatives of about such a part of the rows."""
        return Factored(part * self.matrix, self.ridge)

    def at(self, look: Look) -> Factored:
        """Return the same: to solve with second derivatives elsewhere is not cheap."""
        return self

    @property
    def inverse_diagonal(self) -> FloatArray:
        """Diagonal of the inverse."""
        return np.asarray(np.einsum("ij,ij->j", self.root, self.root))

    @property
    def log_det(self) -> float:
        """Logarithm of the determinant."""
        return log_det_of(self.root)


def inverse_root(matrix: FloatArray, ridge: FloatArray) -> FloatArray:
    """Return the root R of the inverse of  A = matrix + diag(ridge),  R' R = A^-1: the inverse of the Cholesky factor."""
    for more in (0.0, JITTER * float(np.abs(matrix.diagonal()).max(initial=0.0))):
        filled = np.array(matrix, np.float64, order="F")
        filled[np.diag_indices(len(ridge))] += ridge + more
        factor, failed = dpotrf(filled, lower=1, overwrite_a=1, clean=1)
        if not failed:
            break
    return np.asarray(dtrtri(factor, lower=1)[0])


def inverse_roots(matrices: FloatArray, ridges: FloatArray) -> FloatArray:
    """Return the roots for several matrices, shape (m, d, d)."""
    return np.stack([inverse_root(matrix, ridge) for matrix, ridge in zip(matrices, ridges, strict=True)])


def log_det_of(root: FloatArray) -> float:
    """Return the logarithm of the determinant of A, given the root of its inverse, or the sum of those of several."""
    return -2.0 * float(np.log(np.einsum("...ii->...i", root)).sum())


# Features with a weight for each class: what they add to scores, the transpose of that, and second derivatives


@dataclass(frozen=True, eq=False)
class SameForAll:
    """Features of rows, shape (n, F), the same for all classes; ``own``, shape (K, m), are those made of a class itself."""

    rows: FloatArray
    own: IntArray

    @classmethod
    def none(cls, n: int, n_classes: int) -> SameForAll:
        """Return no features."""
        return cls(np.empty((n, 0)), np.empty((n_classes, 0), dtype=np.intp))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.rows.shape[1])

    def scores(self, weights: FloatArray, some: slice = slice(None)) -> FloatArray:
        """Return what weights, shape (K, F), add to the scores of some rows, shape (n, K)."""
        return self.rows[some] @ weights.T

    def pulled(self, residual: FloatArray, some: slice = slice(None)) -> FloatArray:
        """Return the sums of residuals of some rows, shape (n, K), times features, shape (K, F), in double precision.

        The residuals of each row sum to zero, and so do these of all classes, but for rounding that is taken off.
        """
        pulled: FloatArray = (residual.T @ self.rows[some]).astype(np.float64, copy=False)
        pulled -= pulled.mean(axis=0)
        return pulled

    def blocks(self, weight: FloatArray) -> FloatArray:
        """Return the sums over rows of weights, shape (K, n), times products of the features of a class, shape (K, F, F)."""
        return weighted_products(self.rows, weight)

    def part(self, rows: slice | IntArray) -> FeatureTable:
        """Return the features of some rows."""
        return SameForAll(np.ascontiguousarray(self.rows[rows]), self.own)


@dataclass(frozen=True, eq=False)
class OwnOfClass:
    """Features of a class itself, shape (F, n, K)."""

    own: FloatArray

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.own)

    def scores(self, weights: FloatArray, some: slice = slice(None)) -> FloatArray:
        """Return what weights add to the scores of some rows."""
        scores: FloatArray = self.own[0, some] * weights[:, 0]
        for feature, weight in zip(self.own[1:, some], weights.T[1:], strict=True):
            scores += feature * weight
        return scores

    def pulled(self, residual: FloatArray, some: slice = slice(None)) -> FloatArray:
        """Return the sums of residuals of some rows times features."""
        return np.asarray(np.einsum("fik,ik->kf", self.own[:, some], residual), dtype=np.float64)

    def blocks(self, weight: FloatArray) -> FloatArray:
        """Return the weighted sums of products."""
        return np.asarray(np.einsum("fik,gik->kfg", self.own * weight.T, self.own))

    def part(self, rows: slice | IntArray) -> FeatureTable:
        """Return the features of some rows."""
        return OwnOfClass(np.ascontiguousarray(self.own[:, rows]))


FeatureTable = SameForAll | OwnOfClass


NUMBERS = 1 << 21
"""Products of two features, and numbers of features, that are worked on at a time."""


def weighted_products(rows: FloatArray, weight: FloatArray, n_workers: int = 1) -> FloatArray:
    """Return the sums over rows of weights, shape (K, n), times the products of the row's numbers, shape (K, F, F)."""
    (n, size), (f, g) = rows.shape, np.triu_indices(rows.shape[1])

    def of(some: slice) -> FloatArray:
        part = np.ascontiguousarray(rows[some].T)
        return weight[:, some] @ products(part, part, 0).T

    found = np.empty((len(weight), size, size), rows.dtype)
    found[:, f, g] = found[:, g, f] = summed(of, (n, max(len(f), 1)), n_workers, NUMBERS)
    return found


# Rows of a softmax block by block, in several threads


MOST_AT_A_TIME, FEW_AT_A_TIME = 1 << 17, 1 << 15
"""Numbers of a table that are worked on at a time: they stay in the cache. Of few columns BLAS is faster with fewer."""


def summed(of: Callable[[slice], FloatArray], shape: tuple[int, ...], n_workers: int, most: int = 0) -> FloatArray:
    """Return the sum of what a function gives of the rows of a table of this shape, a block at a time, by so many threads.

    Blocks are added up in their order, so that any number of threads finds the same digits.
    """
    found: Iterable[Any] = in_order(of, blocks(shape[0], shape[1], most or MOST_AT_A_TIME), n_workers)
    return np.asarray(sum(found))


def scores_of(w: FloatArray, shared: FloatArray, table: FeatureTable, rows: slice) -> FloatArray:
    """Return what weights, shape (d,), add to the scores of some rows, shape (n, K)."""
    n_shared, _, n_classes = shared.shape
    scores = (w[:n_shared] @ flat_of(shared, rows)).reshape(-1, n_classes)
    scores += table.scores(w[n_shared:].reshape(n_classes, -1), rows)
    return scores


def pulled_by(residual: FloatArray, shared: FloatArray, table: FeatureTable, rows: slice) -> FloatArray:
    """Return the sums of residuals of some rows, shape (n, K), times all features, shape (d,), in double precision."""
    of_shared = flat_of(shared, rows) @ residual.ravel()
    return np.concatenate([of_shared, table.pulled(residual, rows).ravel()]).astype(np.float64, copy=False)


def flat_of(shared: FloatArray, rows: slice) -> FloatArray:
    """Return shared features of some rows, shape (S, n K), which is no copy."""
    n_shared, _, n_classes = shared.shape
    return shared.reshape(n_shared, -1)[:, rows.start * n_classes : rows.stop * n_classes]


# The blocks  X_j' diag(c_j) X_j + diag(ridge_j)  of the classes: their inverses applied, with diagonals and determinants


RESOLVED = 0.1
"""Ratio of data to prior, on average over classes, down to which a direction is kept; of the rest the first order is enough."""

MOST_DIRECTIONS = 160

LEAST_VARIANCE = 1e-6
"""Variance that is left of a weight, at least, in units of that of its prior."""


class WholeBlocks:
    """Blocks with their inverses, the diagonals of these, shape (K, F), and the sum of the logarithms of the determinants."""

    def __init__(self, blocks: FloatArray, ridge: FloatArray) -> None:
        roots = inverse_roots(blocks, ridge)
        self.log_det, self.shape = log_det_of(roots), ridge.shape
        self.inverses = (roots.mT @ roots).astype(blocks.dtype, copy=False)
        self.inverse_diagonal = np.einsum("kfg,kfg->kg", roots, roots)

    def solved(self, right: FloatArray) -> FloatArray:
        """Return the solutions for right-hand sides."""
        return np.asarray(np.matmul(self.inverses, right[:, :, None].astype(self.inverses.dtype, copy=False))[:, :, 0])


class FewDirections:
    """Blocks of features that are the same for all classes, in the directions along which rows say more than the prior.

    With x scaled by the prior, these are the leading eigenvectors V of the sum of all blocks, and for each class its own
    features. Block j is then about  I + V_j B_j V_j',  and its inverse  I - V_j (I - (I + B_j)^-1) V_j'.  Of what V_j
    leaves out the diagonal counts. The one weight of each class whose ridge is not that of the other classes (that of its own
    log-probability) is put right by a change of rank one.
    """

    def __init__(
        self,
        rows: FloatArray,
        own: IntArray,
        doubt: FloatArray,
        total: FloatArray,
        ridge: FloatArray,
        n_workers: int = 1,
    ) -> None:
        base = np.median(ridge, axis=0)
        self.scale = 1.0 / np.sqrt(base)
        scaled = rows * self.scale.astype(rows.dtype)
        total = total * np.outer(self.scale, self.scale)
        self.common, self.beyond, inner = _seen(scaled, own, doubt, total, n_workers)
        self.roots = inverse_roots(inner, np.ones(inner.shape[:2]))
        self.held = (np.eye(inner.shape[1]) - self.roots.mT @ self.roots).astype(rows.dtype, copy=False)
        self.base, self.inner, self.squares, self.shape = base, inner, (doubt, scaled), ridge.shape
        self.n_workers = n_workers
        # The ridge of one weight of each class is another.
        apart = ridge - base
        self.other = np.abs(apart).argmax(axis=1)
        self.at = np.arange(len(apart)), self.other
        self.change, unit = apart[self.at], np.zeros_like(apart)
        unit[self.at] = 1.0
        self.column = self._without_change(unit)
        self.pivot = 1.0 + self.change * self.column[self.at]
        self.factor = self.change / self.pivot

    def _along(self, part: FloatArray) -> FloatArray:
        """Return the diagonals of  V_j P_j V_j',  shape (K, F), of parts P, shape (K, r + m, r + m)."""
        n, common = self.common.shape[1], self.common
        of_common, of_own = part[:, :n, :n], self.beyond @ part[:, n:, n:] + 2.0 * common @ part[:, :n, n:]
        along: FloatArray = np.vecdot(common @ of_common, common) + np.vecdot(of_own, self.beyond)
        return along.astype(np.float64, copy=False)

    @cached_property
    def rest(self) -> FloatArray:
        """What rows say of each weight beyond the directions, in units of the prior."""
        doubt, scaled = self.squares
        seen = summed(lambda rows: doubt[:, rows] @ scaled[rows] ** 2, scaled.shape, self.n_workers)
        return np.maximum(seen - self._along(self.inner), 0.0)

    @cached_property
    def inverse_diagonal(self) -> FloatArray:
        """Diagonals of the inverses, shape (K, F)."""
        diagonal = np.maximum(1.0 - self._along(self.held), LEAST_VARIANCE)
        diagonal = diagonal / (1.0 + self.rest * diagonal) / self.base
        inverse = np.maximum(diagonal - self.factor[:, None] * self.column**2, LEAST_VARIANCE * diagonal)
        inverse[self.at] = diagonal[self.at] / (1.0 + self.change * diagonal[self.at])
        return np.asarray(inverse)

    @cached_property
    def log_det(self) -> float:
        """Sum of the logarithms of the determinants."""
        each = log_det_of(self.roots) + np.log1p(self.rest).sum()
        return float(each + len(self.other) * np.log(self.base).sum() + np.log(self.pivot).sum())

    def solved(self, right: FloatArray) -> FloatArray:
        """Return the solutions for right-hand sides."""
        first = self._without_change(right)
        other = np.take_along_axis(first, self.other[:, None], axis=1)
        return np.asarray(first - self.factor[:, None] * other * self.column)

    def _without_change(self, right: FloatArray) -> FloatArray:
        scaled, n_common = (right * self.scale).astype(self.held.dtype, copy=False), self.common.shape[1]
        beyond = (scaled[:, None, :] @ self.beyond)[:, 0, :]
        along = np.concatenate([scaled @ self.common, beyond], axis=1)
        held = (self.held @ along[:, :, None])[:, :, 0]
        scaled -= held[:, :n_common] @ self.common.T
        scaled -= (self.beyond @ held[:, n_common:, None])[:, :, 0]
        return scaled * self.scale


def _seen(
    scaled: FloatArray, own: IntArray, doubt: FloatArray, total: FloatArray, n_workers: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return orthonormal directions of all classes, (F, r), and of each, (K, F, m), and its block, (K, r + m, r + m)."""
    kind, least = scaled.dtype, RESOLVED * len(doubt)
    _, vectors = eigh(total.astype(kind), subset_by_value=(least, np.inf), check_finite=False)
    common = vectors[:, -MOST_DIRECTIONS:].astype(np.float64)
    beyond, mixed = (one.astype(kind, copy=False) for one in _beyond(common, own))
    common, n_common = common.astype(kind, copy=False), common.shape[1]
    turned = scaled @ common
    of_own = np.ascontiguousarray(scaled.T)[own] - np.tensordot(common[own], turned, axes=(2, 1))
    of_own = mixed.transpose(0, 2, 1) @ of_own
    weighted = of_own * doubt[:, None, :]
    inner = np.empty((len(own), n_common + own.shape[1], n_common + own.shape[1]), kind)
    inner[:, :n_common, :n_common] = weighted_products(turned, doubt, n_workers)
    inner[:, n_common:, :n_common] = np.tensordot(weighted, turned, axes=(2, 0))
    inner[:, :n_common, n_common:] = inner[:, n_common:, :n_common].transpose(0, 2, 1)
    inner[:, n_common:, n_common:] = weighted @ of_own.transpose(0, 2, 1)
    return common, beyond, inner


def _beyond(common: FloatArray, own: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return directions that the features of each class itself add, shape (K, F, m), zero where they add none.

    They are mixtures, shape (K, m, m), of what the common directions leave of these features.
    """
    among = common[own]
    left = np.eye(own.shape[1]) - among @ among.transpose(0, 2, 1)
    values, vectors = np.linalg.eigh(left)
    size = np.where(values > LEAST_VARIANCE, 1.0 / np.sqrt(np.maximum(values, LEAST_VARIANCE)), 0.0)
    beyond: FloatArray = -common @ among.transpose(0, 2, 1)
    beyond[np.arange(len(own))[:, None], own, np.arange(own.shape[1])] += 1.0
    mixed = vectors * size[:, None, :]
    return beyond @ mixed, mixed


# A preconditioner for one softmax after another near the same weights: blocks of the classes, bordered by shared features


PARTS = (1.0, 0.5, 0.0)
"""Parts of the inverse of the blocks, tried one after the other until the Schur complement is positive. The Hessian of the
classes is at most twice its blocks, so that the half is nearly always enough; where it is not there is no border."""

LEAST_LEFT = 0.02
"""Part of the diagonal that must be left in the factor of a Schur complement, squared, for it to count as positive."""


class Bordered:
    """The preconditioner, for features of rows that are the same for all classes.

    Parameters
    ----------
    blocks : ClassBlocks
        Those of the classes, with the ridge.
    of_shared : ndarray of shape (S, S)
        Block of the shared features.
    border : ndarray of shape (S, K F)
        Blocks of the shared features with those of the classes.
    ridge : ndarray of shape (S + K F,)
        What is added to the diagonal.
    """

    def __init__(
        self, blocks: WholeBlocks | FewDirections, of_shared: FloatArray, border: FloatArray, ridge: FloatArray
    ) -> None:
        n_shared = len(of_shared)
        self.blocks, self.ridge = blocks, ridge[n_shared:].reshape(blocks.shape)
        self.total = self.ridge.sum(axis=0)
        own = np.stack([self._of_classes(line) for line in border])
        whole, both = of_shared + np.diag(ridge[:n_shared]), border @ own.T
        for self.part in PARTS:
            factor, failed = dpotrf(whole - 0.5 * self.part * (both + both.T), lower=1, clean=1)
            if not failed and (factor.diagonal() ** 2 >= LEAST_LEFT * whole.diagonal()).all():
                break
        root = dtrtri(factor, lower=1)[0]
        self.inverse, self.own = root.T @ root, self.part * own

    def solved(self, right: FloatArray) -> FloatArray:
        """Return about the solution for a right-hand side, shape (S + K F,)."""
        n_shared = len(self.inverse)
        shared = self.inverse @ (right[:n_shared] - self.own @ right[n_shared:])
        return np.append(shared, self.part * self._of_classes(right[n_shared:]) - shared @ self.own)

    def _of_classes(self, right: FloatArray) -> FloatArray:
        """Return about the solution for the weights of the classes, exact where all weigh a feature of a row alike."""
        table = right.reshape(self.ridge.shape)
        alike = table.sum(axis=0) / self.total
        solution = self.blocks.solved(table - self.ridge * alike)
        left = alike - np.einsum("kf,kf->f", self.ridge, solution) / self.total
        return np.asarray((solution + left).ravel())


# The matrix of second derivatives of the log loss of a softmax, for few weights


BLOCK = 1 << 18
"""Numbers of the products of two features that are worked on at a time."""


def matrix_of_softmax(prob: FloatArray, weight: FloatArray, shared: FloatArray, table: SameForAll) -> FloatArray:
    """Return the whole matrix, shape (d, d), at probabilities, shape (n, K); other shapes as in `curvature_of_softmax`."""
    (n, n_classes), n_shared, n_rows = prob.shape, len(shared), table.n_features
    of_shared, border = np.zeros((n_shared, n_shared)), np.zeros((n_shared * n_classes, n_rows))
    between = np.zeros((n_classes * (n_classes - 1) // 2, n_rows * (n_rows + 1) // 2))
    step = max(1, BLOCK // max(between.shape[1], n_shared * n_classes))
    for start in range(0, n, step):
        part = slice(start, start + step)
        by_class, own = np.ascontiguousarray(prob[part].T), np.ascontiguousarray(table.rows[part].T)
        weighted = by_class * weight[part]
        features = np.ascontiguousarray(shared[:, part].transpose(0, 2, 1))
        pulled = features - np.einsum("ski,ki->si", features, by_class)[:, None, :]
        pulled *= weighted
        of_shared += pulled.reshape(n_shared, -1) @ features.reshape(n_shared, -1).T
        border += pulled.reshape(len(border), own.shape[1]) @ own.T
        between += between_classes(by_class, weighted, own)
    size = n_classes * n_rows
    border = border.reshape(n_shared, size)
    of_classes = blocks_of_classes(between, n_classes, n_rows).reshape(size, size)
    return np.block([[of_shared, border], [border.T, of_classes]])


# Second derivatives of the log loss of a softmax: blocks  X_j' diag(p_j) X_j  of the classes less a Gram matrix, bordered


MOST_DENSE = 800
"""Weights up to which the matrix is made."""

MOST_WHOLE = 120
"""Features with a weight for each class up to which the block of a class is made whole."""

MOST_PRODUCTS, RESIDUAL, OF_STEP = 60, 1e-2, 3e-2
"""Products for one solution, and the residual at which it is good enough, relative to the right-hand side; and that of a step,
after which others follow."""


def curvature_of_softmax(
    prob: FloatArray, weight: FloatArray, shared: FloatArray, table: FeatureTable, n_workers: int = 1
) -> Curvature:
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
    return SoftmaxCurvature(prob, weight, shared, table, n_workers)


class SoftmaxCurvature:
    """Products with H, and its blocks; so many threads work at them."""

    most_inner, far, tolerance = 1, 0.1, 2.0

    def __init__(
        self, prob: FloatArray, weight: FloatArray, shared: FloatArray, table: FeatureTable, n_workers: int = 1
    ) -> None:
        self.prob, self.shared, self.table = prob.astype(shared.dtype, copy=False), shared, table
        self.weight, self.n_workers = weight, n_workers
        self.weighted = (weight[:, None] * prob).astype(shared.dtype, copy=False)

    def times(self, w: FloatArray) -> FloatArray:
        """Return H w."""
        w = w.astype(self.shared.dtype, copy=False)

        def of(rows: slice) -> FloatArray:
            scores = scores_of(w, self.shared, self.table, rows)
            scores -= np.vecdot(scores, self.prob[rows])[:, None]
            scores *= self.weighted[rows]
            return pulled_by(scores, self.shared, self.table, rows)

        return summed(of, self.prob.shape, self.n_workers)

    @cached_property
    def of_shared(self) -> FloatArray:
        """Block of the shared features, shape (S, S)."""
        size, n, n_classes = self.shared.shape

        def of(rows: slice) -> FloatArray:
            flat, mean = flat_of(self.shared, rows), np.vecdot(self.shared[:, rows], self.prob[rows])
            found: FloatArray = (flat * self.weighted[rows].ravel()) @ flat.T
            return np.asarray(found - (mean * self.weight[rows]) @ mean.T, dtype=np.float64)

        return summed(of, (n, size * n_classes), self.n_workers, FEW_AT_A_TIME)

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
        rows, doubt = cast(SameForAll, self.table).rows, np.sqrt(np.maximum(self.doubt.sum(axis=0), 0.0))

        def of(some: slice) -> FloatArray:
            half = rows[some] * doubt[some, None]
            # Of a matrix and its own transpose NumPy works out one half.
            return np.asarray(half.T @ half, dtype=np.float64)

        return summed(of, rows.shape, self.n_workers)

    def of_classes(self, ridge: FloatArray) -> WholeBlocks | FewDirections:
        """Return the blocks with a ridge, shape (K, F)."""
        if isinstance(self.table, SameForAll) and self.table.n_features > MOST_WHOLE:
            return FewDirections(self.table.rows, self.table.own, self.doubt, self.total, ridge, self.n_workers)
        return WholeBlocks(self.whole, ridge)

    def with_ridge(self, ridge: FloatArray) -> BlockSolvable:
        """Return A = H + diag(ridge)."""
        return BlockSolvable(self, ridge)


class BlockSolvable:
    """A, with the inverses of its blocks."""

    better: Bordered | None = None

    def __init__(self, curvature: SoftmaxCurvature, ridge: FloatArray) -> None:
        self.curvature, self.ridge = curvature, ridge
        n_shared, n_classes = len(curvature.shared), curvature.prob.shape[1]
        root = inverse_root(curvature.of_shared, ridge[:n_shared])
        self.of_shared = root.T @ root
        self.of_classes = curvature.of_classes(ridge[n_shared:].reshape(n_classes, -1))
        self.log_det_of_shared = log_det_of(root)

    @property
    def log_det(self) -> float:
        """Logarithm of the determinant, by blocks."""
        return self.log_det_of_shared + self.of_classes.log_det

    @property
    def inverse_diagonal(self) -> FloatArray:
        """Diagonal of the inverse, by blocks."""
        return np.append(self.of_shared.diagonal(), self.of_classes.inverse_diagonal)

    def preconditioned(self, right: FloatArray) -> FloatArray:
        """Return the solution for the blocks alone, or for the better preconditioner, if it was made."""
        if self.better:
            return self.better.solved(right)
        n_shared = len(self.of_shared)
        table = right[n_shared:].reshape(self.curvature.prob.shape[1], -1)
        return np.append(self.of_shared @ right[:n_shared], self.of_classes.solved(table))

    def solved(self, right: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """Return the solution by conjugate gradients."""
        x = np.zeros(len(right)) if start is None else start
        residual = right.copy() if start is None else right - self.curvature.times(x) - self.ridge * x
        z = self.preconditioned(residual)
        way, size = z, float(residual @ z)
        enough = OF_STEP**2 * size if start is None else RESIDUAL**2 * float(right @ self.preconditioned(right))
        for _ in range(MOST_PRODUCTS):
            if not size > enough:
                break
            product = self.curvature.times(way) + self.ridge * way
            length = size / float(way @ product)
            x = x + length * way
            residual -= length * product
            z = self.preconditioned(residual)
            before, size = size, float(residual @ z)
            way = z + (size / before) * way
        return x

    def at(self, look: Look) -> BlockSolvable:
        """Return the same preconditioner with products elsewhere."""
        moved = copy(self)
        moved.curvature = cast(SoftmaxCurvature, look.curvature)
        return moved

    def for_part(self, part: float) -> BlockSolvable:
        """Return the same, now with a better preconditioner, which is dearer to make: products are with the part itself."""
        if isinstance(self.curvature.table, SameForAll):
            better = Bordered(self.of_classes, self.curvature.of_shared, self.curvature.border, self.ridge)
            self.better = better if better.part else None
        return self


Curvature = DenseCurvature | SoftmaxCurvature
Solvable = Factored | BlockSolvable


# Logits that are linear in weights: the log loss of all rows, its gradient, and its second derivatives


ROUNDING_OF_SINGLE = 1e-7
"""As `ROUNDING`, where features are in single precision."""


@dataclass(frozen=True, eq=False)
class Look:
    """The log loss of all rows at some weights.

    Attributes
    ----------
    logit : Logit
        The log loss as a function of the weights.
    prob : ndarray of shape (n,) or (n, K)
        Probabilities of the event, or of all classes.
    of_true : ndarray of shape (n,)
        Probabilities of the true classes.
    value : float
        Log loss, in nats.
    gradient : ndarray of shape (d,)
        Its derivatives.
    """

    logit: Logit
    prob: FloatArray
    of_true: FloatArray
    value: float
    gradient: FloatArray

    @cached_property
    def curvature(self) -> Curvature:
        """Second derivatives."""
        return self.logit.curvature(self.prob)


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """Log loss of logistic regression on features, shape (n, S), with an offset a row; each row counts by its weight."""

    offset: FloatArray
    features: FloatArray
    occurred: BoolArray
    weight: FloatArray
    rounding = ROUNDING

    @property
    def size(self) -> int:
        """Number of weights."""
        return int(self.features.shape[1])

    def at(self, w: FloatArray) -> Look:
        """Evaluate."""
        score = self.offset + self.features @ w
        loss = np.logaddexp(0.0, np.where(self.occurred, -score, score))
        prob: FloatArray = expit(score)
        gradient = (self.weight * (prob - self.occurred)) @ self.features
        return Look(self, prob, np.exp(-loss), float(self.weight @ loss), gradient)

    def curvature(self, prob: FloatArray) -> Curvature:
        """Return second derivatives, as a matrix."""
        return DenseCurvature(self.features.T @ ((self.weight * prob * (1.0 - prob))[:, None] * self.features))

    def by(self, n_workers: int) -> TwoClasses:
        """Return the same: there is little to do."""
        return self

    def part(self, rows: slice | IntArray) -> TwoClasses:
        """Return that of some rows."""
        return TwoClasses(self.offset[rows], self.features[rows], self.occurred[rows], self.weight[rows])


@dataclass(frozen=True, eq=False)
class ManyClasses:
    """Log loss of the softmax of K scores: shared features, shape (S, n, K), and others that have a weight for each class."""

    offset: FloatArray
    shared: FloatArray
    table: FeatureTable
    label: IntArray
    weight: FloatArray
    n_workers: int = 1

    @property
    def size(self) -> int:
        """Number of weights."""
        return len(self.shared) + self.table.n_features * int(self.offset.shape[1])

    @property
    def rounding(self) -> float:
        """Gain, relative to the value, below which rounding can hide that a step helps."""
        return ROUNDING_OF_SINGLE if self.shared.dtype == np.float32 else ROUNDING

    def at(self, w: FloatArray) -> Look:
        """Evaluate."""
        w, prob, loss = w.astype(self.shared.dtype, copy=False), np.empty_like(self.offset), np.empty(len(self.weight))

        def of(rows: slice) -> FloatArray:
            part, label, weight = prob[rows], self.label[rows], self.weight[rows]
            np.add(scores_of(w, self.shared, self.table, rows), self.offset[rows], out=part)
            loss[rows] = softmax_in_place(part, label)
            residual = weight.astype(prob.dtype, copy=False)[:, None] * part
            residual[np.arange(len(part)), label] -= weight
            return pulled_by(residual, self.shared, self.table, rows)

        gradient = summed(of, prob.shape, self.n_workers)
        return Look(self, prob, np.exp(-loss), float(self.weight @ loss), gradient)

    def curvature(self, prob: FloatArray) -> Curvature:
        """Return second derivatives: a matrix of few weights; of many, blocks and products."""
        return curvature_of_softmax(prob, self.weight, self.shared, self.table, self.n_workers)

    def by(self, n_workers: int) -> ManyClasses:
        """Return the same, worked on by so many threads."""
        return replace(self, n_workers=n_workers)

    def part(self, rows: slice | IntArray) -> ManyClasses:
        """Return that of some rows."""
        shared = np.ascontiguousarray(self.shared[:, rows])
        table, label = self.table.part(rows), self.label[rows]
        return ManyClasses(self.offset[rows], shared, table, label, self.weight[rows], self.n_workers)


Logit = TwoClasses | ManyClasses


# Precisions of groups of weights by Laplace evidence: weights and precisions are found together


LEAST_LOG, MOST_LOG = -6.0, 14.0
"""Logarithms of precisions lie between these."""

MOST_OUTER, MOST_AFTER_PART = 30, 12
"""Hessians that are made at most; and of all rows, where the search began with a part of them: separated rows would go on."""

LAST_CHANGE, LAST_LOSS, LAST_GAIN = 0.02, 0.02, 0.05
"""The change of rho at which an inner iteration ends; the loss of evidence by the last change, and the gain of the last step,
in nats of all rows up to `FEW_ROWS`, and in proportion of more."""

FEW_ROWS = 1000

SEVERAL_THREADS = 1 << 20
"""Rows times weights from which several threads pay."""

FARTHEST, FAR = 2.0, 4.0
"""How far rho moves in one outer iteration, and the promised gain (twice, in nats) above which it does not move. Each kind of
curvature has that gain a row too, the updates of rho that are made with one, and a factor of the last losses and gains."""

MANY, MANY_ROWS = 1 << 24, 2000
"""Rows times weights, and rows, from which the search begins where it ends for a part of the rows."""

ENOUGH_ROWS, ONE_IN = 500, 8
"""That part: so many rows, or one in so many."""

STRAIGHT, SLOW, SLOWEST = 0.9, 0.3, 0.8
"""Cosine of two steps of rho from which they are in one direction, and the ratios of their lengths from which, and up to
which, the steps to come are taken at once."""

TO_AND_FRO = 0.5
"""Part of the last change of rho from which one in the other direction is halved."""

FAIR_SHARE, MOST_HALVINGS = 1e-4, 30
MOST_SCALAR_STEPS = 50


class Prior(NamedTuple):
    """Mean and spread of rho of each group, shape (G,)."""

    mean: FloatArray
    spread: FloatArray


@dataclass(frozen=True, eq=False)
class Evidence:
    """Weights and precisions at which the evidence is about largest.

    Attributes
    ----------
    w : ndarray of shape (d,)
        Weights of least penalised loss.
    rho : ndarray of shape (G,)
        Logarithms of the precisions.
    determined : ndarray of shape (G,)
        Effective degrees of freedom: how many weights of each group the rows determine.
    look : Look
        Log loss, gradient and Hessian there, or near it.
    log_evidence : float
        Logarithm of the evidence, in nats, without the prior of rho.
    n_iter : int
        Hessians made.
    """

    w: FloatArray
    rho: FloatArray
    determined: FloatArray
    look: Look
    log_evidence: float
    n_iter: int


def most_evident(logit: Logit, group: IntArray, prior: Prior, rows: float = 0.0) -> Evidence:
    """Find weights and precisions, from weights zero and the mean of the prior.

    Of many rows and weights, from those that a part of the rows finds.

    Parameters
    ----------
    logit : Logit
        The log loss of all rows.
    group : ndarray of shape (d,)
        Group of each weight.
    prior : Prior
        Of the logarithm of the precision of each group.
    rows : float
        Rows for which the accuracy is to be enough, if that is more than there are.
    """
    w, rho, n = np.zeros(logit.size), prior.mean.copy(), len(logit.weight)
    if n * logit.size >= SEVERAL_THREADS:
        logit = logit.by(n_processors())
    rows = max(rows, float(n))
    if n * logit.size >= MANY and n >= MANY_ROWS:
        part = slice(None, None, min(n // ENOUGH_ROWS, ONE_IN))
        of_part = most_evident(logit.part(part), group, prior, rows)
        w, rho = of_part.w, of_part.rho
    look, path = logit.at(w), _Path()
    n_iter, is_last, unit = 0, False, max(1.0, rows / FEW_ROWS) * look.curvature.tolerance
    most = MOST_AFTER_PART if w.any() else MOST_OUTER
    while n_iter < most and not is_last:
        n_iter += 1
        v, new, determined = _updated(look, w, rho, group, prior)
        new = path.ahead(rho, new)
        # To the second order this is what the evidence lost by the precisions that the step was made with.
        lost, rho = float(((0.25 * determined + 0.5 / prior.spread**2) * (new - rho) ** 2).sum()), new
        ridge = np.exp(rho)[group]
        w, look, gain = _moved(logit, look, w, v, ridge)
        is_last = gain < LAST_GAIN * unit and lost < LAST_LOSS * unit
    solvable = look.curvature.with_ridge(ridge)
    log_evidence = 0.5 * float(rho[group].sum() - solvable.log_det) - look.value - 0.5 * float(ridge @ w**2)
    return Evidence(w, rho, _determined(solvable, rho, group), look, log_evidence, n_iter)


def _updated(
    look: Look, w: FloatArray, rho: FloatArray, group: IntArray, prior: Prior
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the weights of the quadratic model, the precisions of most evidence, and how many weights are determined."""
    curvature, v, determined, step = look.curvature, w, np.zeros_like(rho), np.zeros_like(rho)
    right = curvature.times(w) - look.gradient
    low, high = np.maximum(rho - FARTHEST, LEAST_LOG), np.minimum(rho + FARTHEST, MOST_LOG)
    for number in range(curvature.most_inner):
        ridge = np.exp(rho)[group]
        solvable = curvature.with_ridge(ridge)
        v = solvable.solved(right, v)
        if number == 0 and (look.gradient + ridge * w) @ (w - v) > max(FAR, curvature.far * len(look.prob)):
            break
        determined = _determined(solvable, rho, group)
        square: FloatArray = np.bincount(group, v**2, minlength=rho.size).astype(np.float64)
        before, step = step, np.clip(_best_rho(rho, determined, square, prior), low, high) - rho
        # Steps to and fro that hardly shrink need not end.
        rho = rho + np.where(step * before < -TO_AND_FRO * before**2, 0.5 * step, step)
        if np.abs(step).max() < LAST_CHANGE:
            break
    return v, rho, determined


def _determined(solvable: Solvable, rho: FloatArray, group: IntArray) -> FloatArray:
    """Return how many weights of each group the rows determine."""
    count = np.bincount(group, minlength=rho.size).astype(np.float64)
    held = np.bincount(group, solvable.inverse_diagonal, minlength=rho.size) * np.exp(rho)
    return np.clip(count - held, 0.0, count)


class _Path:
    """Where precisions go: after two steps in one direction the third goes where the steps would end."""

    def __init__(self) -> None:
        self.before: FloatArray | None = None

    def ahead(self, rho: FloatArray, new: FloatArray) -> FloatArray:
        """Return the new precisions, or those further on."""
        step, before = new - rho, self.before
        self.before = step
        if before is None or not step.any() or not before.any():
            return new
        shrinks = float(step @ before / (before @ before))
        straight = float(step @ before) > STRAIGHT * float(np.linalg.norm(step) * np.linalg.norm(before))
        if not (straight and shrinks > SLOW):
            return new
        self.before = None
        further = step * (1.0 / (1.0 - min(shrinks, SLOWEST)))
        return np.clip(rho + np.clip(further, -FARTHEST, FARTHEST), LEAST_LOG, MOST_LOG)


def _best_rho(rho: FloatArray, determined: FloatArray, square: FloatArray, prior: Prior) -> FloatArray:
    """Maximise what stands above over each rho, by Newton's steps; it is concave."""
    curvature = 1.0 / prior.spread**2
    for _ in range(MOST_SCALAR_STEPS):
        pull = 0.5 * np.exp(rho) * square
        step = np.clip((0.5 * determined - pull - curvature * (rho - prior.mean)) / (pull + curvature), -1.0, 1.0)
        rho = np.clip(rho + step, LEAST_LOG, MOST_LOG)
        if np.abs(step).max() < 1e-6:
            break
    return rho


def _moved(logit: Logit, look: Look, w: FloatArray, v: FloatArray, ridge: FloatArray) -> tuple[FloatArray, Look, float]:
    """Return weights nearer to v with a lower penalised loss, and the gain that the slope promised."""
    step = v - w
    gain = -float((look.gradient + ridge * w) @ step)
    before, length = look.value + 0.5 * float(ridge @ w**2), 1.0
    for _ in range(MOST_HALVINGS):
        there = w + length * step
        new = logit.at(there)
        if new.value + 0.5 * float(ridge @ there**2) <= before - FAIR_SHARE * length * gain:
            return there, new, gain
        length *= 0.5
    return w, look, 0.0


# Weights of least penalised log loss for precisions that are given, from weights that are near


SLOW_GAIN = 0.25
"""Part of the gain of one step that the next one still promises, above which it pays to make second derivatives anew."""


@dataclass(frozen=True, eq=False)
class Penalised(Point):
    """The penalised log loss at weights ``x``, with a step that uses what was found of A near it."""

    x: FloatArray
    value: float
    gradient: FloatArray
    look: Look
    solved: Callable[[Look, FloatArray], FloatArray]
    rounding: float

    def step(self) -> FloatArray:
        """Return about Newton's step."""
        return self.solved(self.look, -self.gradient)


def refitted(
    logit: Logit, start: FloatArray, ridge: FloatArray, near: Solvable, gain: float, *, renews: bool = False
) -> Minimum[Penalised]:
    """Minimise  log loss + sum(ridge * w^2) / 2,  until the next step promises no more than this gain, in nats.

    Steps come from what was found of A near by. With ``renews`` it is found anew where they are slow: for high accuracy.
    """
    promised = np.inf

    def solved(look: Look, right: FloatArray) -> FloatArray:
        nonlocal near, promised
        here = near.at(look)
        step = here.solved(right)
        before, promised = promised, float(right @ step)
        if renews and here is near and promised > SLOW_GAIN * before:
            near = look.curvature.with_ridge(ridge)
            step = near.solved(right)
        return step

    def at(w: FloatArray) -> Penalised:
        look, held = logit.at(w), ridge * w
        return Penalised(w, look.value + 0.5 * float(held @ w), look.gradient + held, look, solved, logit.rounding)

    return minimise(at, np.asarray(start, dtype=np.float64), Stop(gain=gain))
