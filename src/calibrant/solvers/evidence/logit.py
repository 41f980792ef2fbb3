"""Logits that are linear in weights: the log loss of all rows, its gradient, and its second derivatives.

The score of row i and class j is  offset_ij + sum_s g_s shared_ijs + sum_f row_if W_jf.  The weights are one vector: g, shape
(S,), and then W, shape (K, F), class after class. Two classes need no W: the score of the second is then offset + features @ g
and that of the first is 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.special import expit

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray, IntArray

BLOCK = 1 << 17
"""Numbers of the table of products that are worked on at a time."""


class Look(ABC):
    """The log loss of all rows at some weights: ``value`` and ``gradient``, and on demand the ``hessian``, shape (d, d).

    The probabilities of the true classes are ``of_true``, shape (n,).
    """

    value: float
    gradient: FloatArray
    of_true: FloatArray

    @property
    @abstractmethod
    def hessian(self) -> FloatArray:
        """Second derivatives."""


class Logit(ABC):
    """Log loss of rows, each counted by its weight, as a function of the weights of features."""

    size: int
    weight: FloatArray

    @abstractmethod
    def at(self, w: FloatArray) -> Look:
        """Evaluate."""


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
        return self.features.shape[1]

    def at(self, w: FloatArray) -> Look:
        """Evaluate."""
        return _LookAtTwo(self, self.offset + self.features @ w)


class _LookAtTwo(Look):
    def __init__(self, logit: TwoClasses, score: FloatArray) -> None:
        loss = np.logaddexp(0.0, np.where(logit.occurred, -score, score))
        self.logit, self.prob, self.of_true = logit, expit(score), np.exp(-loss)
        self.value = float(logit.weight @ loss)
        self.gradient = (logit.weight * (self.prob - logit.occurred)) @ logit.features

    @cached_property
    def hessian(self) -> FloatArray:  # type: ignore[override]
        """Second derivatives."""
        features = self.logit.features
        hessian: FloatArray = features.T @ ((self.logit.weight * self.prob * (1.0 - self.prob))[:, None] * features)
        return hessian


@dataclass(frozen=True, eq=False)
class ManyClasses(Logit):
    """Softmax of K scores, with shared features, shape (S, n, K), and features of rows, shape (n, F)."""

    offset: FloatArray
    shared: FloatArray
    rows: FloatArray
    label: IntArray
    weight: FloatArray

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of weights."""
        return len(self.shared) + self.rows.shape[1] * self.offset.shape[1]

    def scores(self, w: FloatArray) -> FloatArray:
        """Return scores, shape (n, K)."""
        n_shared, (n, n_classes) = len(self.shared), self.offset.shape
        scores: FloatArray = (w[:n_shared] @ self.shared.reshape(n_shared, -1)).reshape(n, n_classes)
        scores += self.offset
        scores += self.rows @ w[n_shared:].reshape(n_classes, -1).T
        return scores

    def at(self, w: FloatArray) -> Look:
        """Evaluate."""
        return _LookAtMany(self, self.scores(w))


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
        shared = logit.shared.reshape(len(logit.shared), -1) @ residual.ravel()
        self.gradient = np.concatenate([shared, (residual.T @ logit.rows).ravel()])

    @cached_property
    def hessian(self) -> FloatArray:  # type: ignore[override]
        """Blocks  X'diag(p_j)X  less a Gram matrix, bordered by the shared features."""
        logit, (n, n_classes) = self.logit, self.prob.shape
        n_shared, n_rows = len(logit.shared), logit.rows.shape[1]
        hessian = np.zeros((logit.size, logit.size), order="F")
        weighted = logit.weight[:, None] * self.prob
        pulled = logit.shared - np.einsum("sik,ik->si", logit.shared, self.prob)[:, :, None]
        pulled *= weighted
        flat = pulled.reshape(n_shared, -1)
        hessian[:n_shared, :n_shared] = flat @ logit.shared.reshape(n_shared, -1).T
        border = (pulled.transpose(0, 2, 1).reshape(-1, n) @ logit.rows).reshape(n_shared, -1)
        hessian[:n_shared, n_shared:] = border
        hessian[n_shared:, :n_shared] = border.T
        hessian[n_shared:, n_shared:] = self._of_classes(weighted, n_classes, n_rows)
        return hessian

    def _of_classes(self, weighted: FloatArray, n_classes: int, n_rows: int) -> FloatArray:
        logit, size = self.logit, n_classes * n_rows
        gram = np.zeros((size, size), order="F")
        root, step = np.sqrt(logit.weight)[:, None] * self.prob, max(1, BLOCK // size)
        for start in range(0, len(root), step):
            part = slice(start, start + step)
            products = (root[part, :, None] * logit.rows[part, None, :]).reshape(-1, size)
            gram = dsyrk(-1.0, products.T, 1.0, gram, lower=1, overwrite_c=1)
        for j in range(n_classes):
            own = slice(j * n_rows, (j + 1) * n_rows)
            gram[own, own] += (weighted[:, j, None] * logit.rows).T @ logit.rows
        lower = np.tril_indices(size, -1)
        gram.T[lower] = gram[lower]
        return gram
