"""Second derivatives H of a log loss, and A = H + diag(ridge): solutions, the diagonal of the inverse, and the determinant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri

from calibrant._core.links import FloatArray

ROUNDING = 1e-9
"""Added to the diagonal, relative to its largest entry, of a matrix that rounding has left without a factor."""


class Curvature(ABC):
    """Second derivatives of the log loss of all rows."""

    most_inner: int
    """Updates of precisions that are made with them."""

    @abstractmethod
    def times(self, w: FloatArray) -> FloatArray:
        """Return H w."""

    @abstractmethod
    def with_ridge(self, ridge: FloatArray) -> Solvable:
        """Return H + diag(ridge)."""


class Looked(Protocol):
    """Something with second derivatives, which are made when they are asked for."""

    @property
    def curvature(self) -> Curvature:
        """Second derivatives."""


class Solvable(ABC):
    """A = H + diag(ridge)."""

    inverse_diagonal: FloatArray
    log_det: float

    @abstractmethod
    def solved(self, right: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """Return the solution for a right-hand side, perhaps with help of one that is near."""

    def for_many(self) -> Solvable:
        """Return the same, made ready for many solutions."""
        return self

    def at(self, look: Looked) -> Solvable:
        """Return what solves with second derivatives elsewhere, as far as that is cheap."""
        return self


@dataclass(frozen=True, eq=False)
class DenseCurvature(Curvature):
    """The matrix H, shape (d, d)."""

    matrix: FloatArray
    most_inner = 30

    def times(self, w: FloatArray) -> FloatArray:
        """Return H w."""
        return self.matrix @ w

    def with_ridge(self, ridge: FloatArray) -> Solvable:
        """Return H + diag(ridge)."""
        return Factored(self.matrix, ridge)


class Factored(Solvable):
    """A, factored by Cholesky."""

    def __init__(self, matrix: FloatArray, ridge: FloatArray) -> None:
        self.factor = factor_of(matrix, ridge)

    def solved(self, right: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """Return the solution."""
        solution: FloatArray = dpotrs(self.factor, right, lower=1)[0]
        return solution

    @property
    def inverse_diagonal(self) -> FloatArray:  # type: ignore[override]
        """Diagonal of the inverse."""
        inverse = dtrtri(self.factor, lower=1)[0]
        diagonal: FloatArray = np.einsum("ij,ij->j", inverse, inverse)
        return diagonal

    @property
    def log_det(self) -> float:  # type: ignore[override]
        """Logarithm of the determinant."""
        return 2.0 * float(np.log(self.factor.diagonal()).sum())


def factor_of(matrix: FloatArray, ridge: FloatArray) -> FloatArray:
    """Return the Cholesky factor of matrix + diag(ridge), in the lower triangle."""
    for more in (0.0, ROUNDING * float(np.abs(matrix.diagonal()).max())):
        filled = np.array(matrix, np.float64, order="F")
        filled[np.diag_indices(len(ridge))] += ridge + more
        factor, failed = dpotrf(filled, lower=1, overwrite_a=1, clean=1)
        if not failed:
            break
    result: FloatArray = factor
    return result
