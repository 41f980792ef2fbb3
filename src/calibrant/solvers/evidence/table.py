"""Features with a weight for each class: what they add to scores, the transpose of that, and second derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray

NO_PART = 1e-5
"""Part of the largest weight of rows in a block below which a row is left out of it."""

MOST_ROWS = 0.5
"""Part of the rows from which it is quicker to leave none out."""

LEAST_HALVED = 32
"""Features from which it is quicker to work out one half of a symmetric matrix."""


class Table(ABC):
    """Features of n rows; class j has the weights W[j], shape (F,)."""

    n_features: int

    @abstractmethod
    def scores(self, weights: FloatArray) -> FloatArray:
        """Return what weights, shape (K, F), add to the scores, shape (n, K)."""

    @abstractmethod
    def pulled(self, residual: FloatArray) -> FloatArray:
        """Return the sums over rows of residuals, shape (n, K), times features, shape (K, F), in double precision.

        The residuals of each row sum to zero.
        """

    @abstractmethod
    def blocks(self, weight: FloatArray) -> FloatArray:
        """Return the sums over rows of weights, shape (K, n), times products of the features of a class, shape (K, F, F)."""

    @abstractmethod
    def part(self, rows: slice | IntArray) -> Table:
        """Return the features of some rows."""

    @abstractmethod
    def cast(self, dtype: type[np.floating]) -> Table:
        """Return the same in another precision."""


@dataclass(frozen=True, eq=False)
class SameForAll(Table):
    """Features of rows, shape (n, F), the same for all classes; ``own``, shape (K, m), tells which speak of a class."""

    rows: FloatArray
    own: IntArray

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
        return int(self.rows.shape[1])

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return what weights add to the scores."""
        return self.rows @ weights.T

    def pulled(self, residual: FloatArray) -> FloatArray:
        """Return the sums of residuals times features; those of all classes sum to zero, but for rounding that is taken off."""
        pulled: FloatArray = (residual.T @ self.rows).astype(np.float64, copy=False)
        pulled -= pulled.mean(axis=0)
        return pulled

    def blocks(self, weight: FloatArray) -> FloatArray:
        """Return the weighted sums of products."""
        return np.stack([weighted_products(self.rows, own) for own in weight])

    def part(self, rows: slice | IntArray) -> Table:
        """Return the features of some rows."""
        return SameForAll(np.ascontiguousarray(self.rows[rows]), self.own)

    def cast(self, dtype: type[np.floating]) -> Table:
        """Return the same in another precision."""
        return SameForAll(self.rows.astype(dtype, copy=False), self.own)


@dataclass(frozen=True, eq=False)
class OwnOfClass(Table):
    """Features of a class itself, shape (F, n, K)."""

    own: FloatArray

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
        return len(self.own)

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return what weights add to the scores."""
        scores: FloatArray = self.own[0] * weights[:, 0]
        for feature, weight in zip(self.own[1:], weights.T[1:], strict=True):
            scores += feature * weight
        return scores

    def pulled(self, residual: FloatArray) -> FloatArray:
        """Return the sums of residuals times features."""
        return np.stack([np.einsum("ik,ik->k", feature, residual) for feature in self.own], axis=1, dtype=np.float64)

    def blocks(self, weight: FloatArray) -> FloatArray:
        """Return the weighted sums of products."""
        size, weight = len(self.own), weight.T
        blocks = np.empty((weight.shape[1], size, size), self.own.dtype)
        for f in range(size):
            weighted = self.own[f] * weight
            for g in range(f + 1):
                blocks[:, f, g] = blocks[:, g, f] = np.einsum("ik,ik->k", weighted, self.own[g])
        return blocks

    def part(self, rows: slice | IntArray) -> Table:
        """Return the features of some rows."""
        return OwnOfClass(np.ascontiguousarray(self.own[:, rows]))

    def cast(self, dtype: type[np.floating]) -> Table:
        """Return the same in another precision."""
        return OwnOfClass(self.own.astype(dtype, copy=False))


@dataclass(frozen=True)
class NoFeatures(Table):
    """Nothing but what all classes share."""

    n_classes: int
    n_features = 0

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return zero."""
        return np.zeros((1, self.n_classes))

    def pulled(self, residual: FloatArray) -> FloatArray:
        """Return no sums."""
        return np.empty((self.n_classes, 0))

    def blocks(self, weight: FloatArray) -> FloatArray:
        """Return empty blocks."""
        return np.empty((self.n_classes, 0, 0))

    def part(self, rows: slice | IntArray) -> Table:
        """Return the same."""
        return self

    def cast(self, dtype: type[np.floating]) -> Table:
        """Return the same."""
        return self


def weighted_products(rows: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the sum over rows of a weight, at least 0, times the products of the row's numbers, shape (F, F)."""
    some = weight > NO_PART * weight.max(initial=0.0)
    if some.sum() <= MOST_ROWS * len(some):
        rows, weight = rows[some], weight[some]
    if rows.shape[1] < LEAST_HALVED:
        products: FloatArray = (rows * weight[:, None]).T @ rows
        return products
    half = rows * np.sqrt(np.maximum(weight, 0.0))[:, None]
    # Of a matrix and its own transpose NumPy works out one half.
    return half.T @ half
