"""Logits that are linear in weights: the log loss of all rows, its gradient, and its second derivatives.

Row i and class j have the score  offset_ij + sum_s g_s shared_ijs + sum_f x_ijf W_jf,  where x may be the same for all classes.
The weights are one vector: g, shape (S,), and then W, shape (K, F), class after class. Two classes need no W: the score of
the second is then offset + features @ g and that of the first is 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import expit

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray, IntArray
from calibrant.solvers.evidence.curvature import Curvature, DenseCurvature
from calibrant.solvers.evidence.softmax_curvature import curvature_of_softmax
from calibrant.solvers.evidence.table import Table
from calibrant.solvers.newton import ROUNDING

ROUNDING_OF_SINGLE = 1e-7
"""As `ROUNDING`, where features are in single precision."""


class Look(ABC):
    """The log loss of all rows at some weights.

    Attributes
    ----------
    value : float
        Log loss, in nats.
    gradient : ndarray of shape (d,)
        Its derivatives.
    of_true : ndarray of shape (n,)
        Probabilities of the true classes.
    """

    value: float
    gradient: FloatArray
    of_true: FloatArray

    @property
    @abstractmethod
    def curvature(self) -> Curvature:
        """Second derivatives."""


class Logit(ABC):
    """Log loss of rows, each counted by its weight, as a function of the weights of features."""

    size: int
    weight: FloatArray

    rounding: float = ROUNDING
    """Gain, relative to the value, below which rounding can hide that a step helps."""

    @abstractmethod
    def at(self, w: FloatArray) -> Look:
        """Evaluate."""

    @abstractmethod
    def weighted(self, weight: FloatArray) -> Self:
        """Return that of the same rows with other weights."""

    @abstractmethod
    def part(self, rows: slice | IntArray) -> Self:
        """Return that of some rows."""


@dataclass(frozen=True, eq=False)
class TwoClasses(Logit):
    """Logistic regression on features, shape (n, S), with an offset a row."""

    offset: FloatArray
    features: FloatArray
    occurred: BoolArray
    weight: FloatArray

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of weights."""
        return int(self.features.shape[1])

    def at(self, w: FloatArray) -> Look:
        """Evaluate."""
        return _LookAtTwo(self, self.offset + self.features @ w)

    def weighted(self, weight: FloatArray) -> Self:
        """Return that of the same rows with other weights."""
        return replace(self, weight=weight)

    def part(self, rows: slice | IntArray) -> Self:
        """Return that of some rows."""
        some = self.offset[rows], self.features[rows], self.occurred[rows], self.weight[rows]
        return type(self)(*some)


class _LookAtTwo(Look):
    def __init__(self, logit: TwoClasses, score: FloatArray) -> None:
        loss = np.logaddexp(0.0, np.where(logit.occurred, -score, score))
        self.logit, self.prob, self.of_true = logit, expit(score), np.exp(-loss)
        self.value = float(logit.weight @ loss)
        self.gradient = (logit.weight * (self.prob - logit.occurred)) @ logit.features

    @cached_property
    def curvature(self) -> Curvature:
        """Second derivatives, as a matrix."""
        features = self.logit.features
        return DenseCurvature(features.T @ ((self.logit.weight * self.prob * (1.0 - self.prob))[:, None] * features))


@dataclass(frozen=True, eq=False)
class ManyClasses(Logit):
    """Softmax of K scores, with shared features, shape (S, n, K), and features that have a weight for each class."""

    offset: FloatArray
    shared: FloatArray
    table: Table
    label: IntArray
    weight: FloatArray

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of weights."""
        return len(self.shared) + self.table.n_features * int(self.offset.shape[1])

    @property
    def rounding(self) -> float:  # type: ignore[override]
        """Gain, relative to the value, below which rounding can hide that a step helps."""
        return ROUNDING_OF_SINGLE if self.shared.dtype == np.float32 else ROUNDING

    def scores(self, w: FloatArray) -> FloatArray:
        """Return scores, shape (n, K)."""
        n_shared, (n, n_classes) = len(self.shared), self.offset.shape
        w = w.astype(self.shared.dtype, copy=False)
        scores = (w[:n_shared] @ self.shared.reshape(n_shared, -1)).reshape(n, n_classes)
        scores += self.table.scores(w[n_shared:].reshape(n_classes, -1))
        return scores + self.offset

    def at(self, w: FloatArray) -> Look:
        """Evaluate."""
        return _LookAtMany(self, self.scores(w))

    def weighted(self, weight: FloatArray) -> Self:
        """Return that of the same rows with other weights."""
        return replace(self, weight=weight)

    def part(self, rows: slice | IntArray) -> Self:
        """Return that of some rows."""
        shared = np.ascontiguousarray(self.shared[:, rows])
        return type(self)(self.offset[rows], shared, self.table.part(rows), self.label[rows], self.weight[rows])


class _LookAtMany(Look):
    def __init__(self, logit: ManyClasses, scores: FloatArray) -> None:
        at_label = np.arange(len(scores)), logit.label
        scores -= scores.max(axis=1, keepdims=True)
        of_true = scores[at_label]
        prob = np.exp(scores, out=scores)
        total = prob.sum(axis=1)
        prob /= total[:, None]
        self.logit, self.prob, self.of_true = logit, prob, prob[at_label]
        self.value = float(logit.weight @ (np.log(total) - of_true))
        residual = logit.weight[:, None] * prob
        residual[at_label] -= logit.weight
        residual = residual.astype(logit.shared.dtype, copy=False)
        shared = logit.shared.reshape(len(logit.shared), -1) @ residual.ravel()
        self.gradient = np.concatenate([shared, logit.table.pulled(residual).ravel()]).astype(np.float64, copy=False)

    @cached_property
    def curvature(self) -> Curvature:
        """Second derivatives: a matrix of few weights; of many, blocks and products."""
        return curvature_of_softmax(self.prob, self.logit.weight, self.logit.shared, self.logit.table)
