"""The blocks  X_j' diag(c_j) X_j + diag(ridge_j)  of the classes: their inverses applied, with diagonals and determinants."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotri

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant.solvers.evidence.curvature import factor_of
from calibrant.solvers.evidence.table import weighted_products

RESOLVED = 0.1
"""Ratio of data to prior, on average over classes, down to which a direction is kept; of the rest the first order is enough."""

MOST_DIRECTIONS = 160

LEAST = 1e-6
"""Variance that is left of a weight, at least, in units of that of its prior."""


class ClassBlocks(ABC):
    """The block of each class.

    Attributes
    ----------
    inverse_diagonal : ndarray of shape (K, F)
        Diagonals of the inverses.
    log_det : float
        Sum of the logarithms of the determinants.
    """

    inverse_diagonal: FloatArray
    log_det: float

    @abstractmethod
    def solved(self, right: FloatArray) -> FloatArray:
        """Return the solutions for right-hand sides, shape (K, F)."""


class WholeBlocks(ClassBlocks):
    """Blocks with their inverses."""

    def __init__(self, blocks: FloatArray, ridge: FloatArray) -> None:
        self.log_det, self.inverses = 0.0, np.empty_like(blocks)
        for j, (block, own) in enumerate(zip(blocks, ridge, strict=True)):
            factor = factor_of(block, own)
            self.log_det += 2.0 * float(np.log(factor.diagonal()).sum())
            inverse = dpotri(factor, lower=1, overwrite_c=1)[0]
            self.inverses[j] = inverse + np.tril(inverse, -1).T
        self.inverse_diagonal = np.einsum("kff->kf", self.inverses).astype(np.float64)

    def solved(self, right: FloatArray) -> FloatArray:
        """Return the solutions for right-hand sides."""
        solution: FloatArray = np.matmul(self.inverses, right[:, :, None].astype(self.inverses.dtype, copy=False))[
            :, :, 0
        ]
        return solution


class FewDirections(ClassBlocks):
    """Blocks of features that are the same for all classes, in the directions along which rows say more than the prior.

    With x scaled by the prior, these are the leading eigenvectors V of the sum of all blocks, and for each class its own
    features. Block j is then about  I + V_j B_j V_j',  and its inverse  I - V_j (I - (I + B_j)^-1) V_j'.  Of what V_j
    leaves out the diagonal counts. The one weight of each class whose ridge is not that of the other classes (that of its own
    log-probability) is put right by a change of rank one.
    """

    def __init__(
        self, rows: FloatArray, own: IntArray, doubt: FloatArray, total: FloatArray, ridge: FloatArray
    ) -> None:
        base = np.median(ridge, axis=0)
        self.scale = 1.0 / np.sqrt(base)
        scaled = rows * self.scale.astype(rows.dtype)
        self.common, self.beyond, inner = _seen(scaled, own, doubt, total * np.outer(self.scale, self.scale))
        identity = np.eye(inner.shape[1])
        self.held = identity - np.linalg.inv(inner + identity)
        directions = np.concatenate([np.broadcast_to(self.common, (len(own), *self.common.shape)), self.beyond], axis=2)
        held, seen = (np.vecdot(directions @ part, directions) for part in (self.held, inner))
        rest = np.maximum(np.asarray(doubt @ scaled**2, dtype=np.float64) - seen, 0.0)
        diagonal = np.maximum(1.0 - held, LEAST)
        self._put_right(diagonal / (1.0 + rest * diagonal) / base, ridge - base)
        log_det = np.linalg.slogdet(inner + identity)[1].sum() + len(ridge) * np.log(base).sum()
        self.log_det = float(log_det + np.log(self.pivot).sum() + np.log1p(rest).sum())

    def _put_right(self, diagonal: FloatArray, apart: FloatArray) -> None:
        """Change the ridge of one weight of each class."""
        classes = np.arange(len(apart))
        self.other = np.abs(apart).argmax(axis=1)
        at, change = (classes, self.other), apart[classes, self.other]
        unit = np.zeros_like(apart)
        unit[at] = 1.0
        self.column = self._without_change(unit)
        self.pivot = 1.0 + change * self.column[at]
        self.factor = change / self.pivot
        self.inverse_diagonal = np.maximum(diagonal - self.factor[:, None] * self.column**2, LEAST * diagonal)
        self.inverse_diagonal[at] = diagonal[at] / (1.0 + change * diagonal[at])

    def solved(self, right: FloatArray) -> FloatArray:
        """Return the solutions for right-hand sides."""
        first = self._without_change(right)
        other = np.take_along_axis(first, self.other[:, None], axis=1)
        solution: FloatArray = first - self.factor[:, None] * other * self.column
        return solution

    def _without_change(self, right: FloatArray) -> FloatArray:
        scaled, n_common = right * self.scale, self.common.shape[1]
        beyond = (scaled[:, None, :] @ self.beyond)[:, 0, :]
        along = np.concatenate([scaled @ self.common, beyond], axis=1)
        held = (self.held @ along[:, :, None])[:, :, 0]
        scaled -= held[:, :n_common] @ self.common.T
        scaled -= (self.beyond @ held[:, n_common:, None])[:, :, 0]
        solution: FloatArray = scaled * self.scale
        return solution


def _seen(
    scaled: FloatArray, own: IntArray, doubt: FloatArray, total: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return orthonormal directions of all classes, (F, r), and of each, (K, F, m), and its block, (K, r + m, r + m)."""
    common = _leading(total, RESOLVED * len(doubt))
    beyond, mixed = _beyond(common, own)
    (n_classes, _, n_own), n_common = beyond.shape, common.shape[1]
    points = np.empty((len(scaled), n_common + n_own), scaled.dtype)
    points[:, :n_common] = turned = scaled @ common.astype(scaled.dtype)
    of_own = scaled[:, own.ravel()] - turned @ common[own.ravel()].T.astype(scaled.dtype)
    inner = np.empty((n_classes, n_common + n_own, n_common + n_own))
    for j, weight in enumerate(doubt):
        points[:, n_common:] = of_own[:, j * n_own : (j + 1) * n_own] @ mixed[j].astype(scaled.dtype)
        inner[j] = weighted_products(points, weight)
    return common, beyond, inner


def _beyond(common: FloatArray, own: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return directions that the features of each class itself add, shape (K, F, m), zero where they add none.

    They are mixtures, shape (K, m, m), of what the common directions leave of these features.
    """
    among = common[own]
    left = np.eye(own.shape[1]) - among @ among.transpose(0, 2, 1)
    values, vectors = np.linalg.eigh(left)
    size = np.where(values > LEAST, 1.0 / np.sqrt(np.maximum(values, LEAST)), 0.0)
    beyond: FloatArray = -common @ among.transpose(0, 2, 1)
    beyond[np.arange(len(own))[:, None], own, np.arange(own.shape[1])] += 1.0
    mixed = vectors * size[:, None, :]
    return beyond @ mixed, mixed


def _leading(matrix: FloatArray, least: float) -> FloatArray:
    """Return eigenvectors, shape (F, r), with eigenvalues above the least."""
    values, vectors = eigh(matrix, driver="evd", check_finite=False)
    some = (values > least) & (np.arange(len(values)) >= len(values) - MOST_DIRECTIONS)
    leading: FloatArray = vectors[:, some]
    return leading
