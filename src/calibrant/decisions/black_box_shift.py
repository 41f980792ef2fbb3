"""The shares of the classes that explain how often each class is predicted (BBSE)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import SimplexProblem
from calibrant._core.warnings import warn
from calibrant._core.weights import Weights

WORST = 1e10
"""A larger condition number means that the predictions cannot tell some classes apart."""


class Solution(NamedTuple):
    """Shares, their errors before they were put on the simplex, what they leave unexplained, and the condition number."""

    prior: FloatArray
    standard_error: FloatArray
    residual: float
    condition: float


def black_box_prior(labelled: SimplexProblem, new: FloatArray, new_weights: Weights, *, soft: bool) -> Solution:
    """Solve  C q = m,  where C[i, j] is how often i is predicted when j is true, and m how often among the new rows.

    Where C is singular the shares stay at those of the labelled rows in the directions that it does not see.
    """
    old_said, new_said = _said(labelled.prob, soft), _said(new, soft)
    n_classes = new.shape[1]
    confusion, spread = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes, n_classes))
    for j in range(n_classes):
        rows = labelled.label == j
        require(
            rows.any(),
            "old_true must hold every class for a confusion matrix",
            got=f"none of {labelled.classes[j].item()!r}",
            hint="Pass labelled rows of each, or method='em' with old_prior",
        )
        confusion[:, j], spread[j] = _mean(old_said[rows], labelled.weights.part(rows))
    mean, mean_spread = _mean(new_said, new_weights)
    condition = float(np.linalg.cond(confusion))
    start = np.bincount(labelled.label, labelled.weight, n_classes) / labelled.weight.sum()
    inverse = np.linalg.pinv(confusion, rcond=1.0 / WORST)
    if not condition < WORST:
        condition = float("inf")
        warn(
            "the predictions must tell all classes apart; their confusion matrix is singular, and shares that it does not "
            "see are those of the labelled rows. Pass a forecast that predicts every class, or method='em'."
        )
    raw = start + inverse @ (mean - confusion @ start)
    prior = on_simplex(raw)
    covariance = inverse @ (mean_spread + np.tensordot(raw**2, spread, 1)) @ inverse.T
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return Solution(prior, error, float(np.abs(confusion @ prior - mean).max()), condition)


def on_simplex(values: FloatArray) -> FloatArray:
    """Return the shares, positive or zero with the sum one, that are nearest to ``values``."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, values.size + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    shares: FloatArray = np.maximum(values - shift, 0.0)
    shares /= shares.sum()
    return shares


def _said(prob: FloatArray, soft: bool) -> FloatArray:
    """Return the prediction of each row as a row of the identity, or the probabilities themselves."""
    return prob if soft else np.eye(prob.shape[1])[prob.argmax(axis=1)]


def _mean(rows: FloatArray, weights: Weights) -> tuple[FloatArray, FloatArray]:
    """Return the weighted mean of rows, and its covariance matrix."""
    mean = weights.values @ rows / weights.total
    away = rows - mean
    return mean, (away * weights.of_variance[:, None]).T @ away / weights.total**2
