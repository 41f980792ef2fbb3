"""Features with a weight for each class, as three products: what they add to scores, its transpose, and blocks of second derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray

NO_PART = 1e-7
"""Part of the largest weight of rows in a block below which a row is left out of it."""

MOST_ROWS = 0.5
"""Part of the rows from which it is quicker to leave none out."""


class Table(ABC):
    """Features of n rows; class j has the weights W[j], shape (F,)."""

    n_features: int

    @abstractmethod
    def scores(self, weights: FloatArray) -> FloatArray:
        """Return what weights, shape (K, F), add to the scores, shape (n, K)."""

    @abstractmethod
    def pulled(self, residual: FloatArray) -> FloatArray:
        """Return the sums over rows of residuals, shape (n, K), times features, shape (K, F)."""

    @abstractmethod
    def block(self, j: int, weight: FloatArray) -> FloatArray:
        """Return the sum over rows of weights, shape (n,), times products of the features of class j, shape (F, F)."""

    @abstractmethod
    def cast(self, dtype: type[np.floating]) -> Table:
        """Return the same in another precision."""


@dataclass(frozen=True, eq=False)
class SameForAll(Table):
    """Features of rows, shape (n, F), that are the same for all classes."""

    rows: FloatArray

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of features."""
        return self.rows.shape[1]

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return what weights add to the scores."""
        return self.rows @ weights.T

    def pulled(self, residual: FloatArray) -> FloatArray:
        """Return the sums of residuals times features."""
        return residual.T @ self.rows

    def block(self, j: int, weight: FloatArray) -> FloatArray:
        """Return the weighted sum of products."""
        rows, some = self.rows, weight > NO_PART * weight.max(initial=0.0)
        if some.sum() <= MOST_ROWS * len(some):
            rows, weight = rows[some], weight[some]
        root: FloatArray = np.sqrt(weight)[:, None] * rows
        return root.T @ root

    def cast(self, dtype: type[np.floating]) -> Table:
        """Return the same in another precision."""
        return SameForAll(self.rows.astype(dtype, copy=False))


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
        scores = self.own[0] * weights[:, 0]
        for feature, weight in zip(self.own[1:], weights.T[1:], strict=True):
            scores += feature * weight
        return scores

    def pulled(self, residual: FloatArray) -> FloatArray:
        """Return the sums of residuals times features."""
        return np.stack([np.einsum("ik,ik->k", feature, residual) for feature in self.own], axis=1)

    def block(self, j: int, weight: FloatArray) -> FloatArray:
        """Return the weighted sum of products."""
        own = self.own[:, :, j]
        return (own * weight) @ own.T

    def cast(self, dtype: type[np.floating]) -> Table:
        """Return the same in another precision."""
        return OwnOfClass(self.own.astype(dtype, copy=False))
