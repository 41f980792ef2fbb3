"""Rows of a problem of the simplex, equal ones joined."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant._kernels.simplex_regions import SimplexRows


class Rows(SimplexRows):
    """Forecasts of shape (n, K), in the order of their columns, the true class and the weight, in rows."""

    __slots__ = ()

    def of(self, some: IntArray) -> Rows:
        """Return some of the rows."""
        return Rows(self.prob[some], self.label[some], self.weight[some])

    def weighted(self, weight: FloatArray) -> Rows:
        """Return the rows that have a weight, with this weight."""
        return self._replace(weight=weight).of(np.flatnonzero(weight > 0))

    def softened(self, part: float) -> Rows:
        """Let each row count 1 - part for the true class, and part p_k for each class k."""
        if not part:
            return self
        n, n_classes = self.prob.shape
        share = part * self.prob
        share[np.arange(n), self.label] += 1.0 - part
        weight = (self.weight[:, None] * share).ravel()
        label = np.tile(np.arange(n_classes, dtype=np.int64), n)
        return Rows(np.repeat(self.prob, n_classes, axis=0), label, weight).of(np.flatnonzero(weight > 0))


class JoinedRows(NamedTuple):
    """Rows of which no two have the same forecast and class, and which of them each row of the problem is."""

    rows: Rows
    group: IntArray
    rows_per_weight: float

    @classmethod
    def of(cls, problem: SimplexProblem) -> JoinedRows:
        """Join the rows of a problem, so that a weight is the same as repetition to the last bit."""
        order = np.lexsort([problem.label, *problem.prob.T[::-1]])
        prob, label = problem.prob[order], problem.label[order]
        is_new = np.append(True, (prob[1:] != prob[:-1]).any(axis=1) | (label[1:] != label[:-1]))
        group = np.empty(problem.size, dtype=np.intp)
        group[order] = np.cumsum(is_new) - 1
        unit = problem.weights.rows_per_weight
        rows = Rows(np.ascontiguousarray(prob[is_new]), label[is_new].astype(np.int64), np.empty(0))
        return cls(rows._replace(weight=_summed(group, problem.weight, unit)), group, unit)

    def weighted(self, weight: FloatArray) -> Rows:
        """Return the rows with other weights of the rows of the problem; those without weight are left out."""
        return self.rows.weighted(_summed(self.group, weight, self.rows_per_weight))


def _summed(group: IntArray, weight: FloatArray, unit: float) -> FloatArray:
    total: FloatArray = np.bincount(group, weight).astype(np.float64, copy=False) * unit
    return total
