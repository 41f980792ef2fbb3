"""Between probabilities and the real line. The one epsilon of the library lives here."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax, logsumexp

FloatArray = npt.NDArray[np.float64]

EPSILON = 1e-12
"""Probabilities are raised to this before a logarithm, so that a zero costs 27.6 nats and not infinity."""


def clipped(prob: FloatArray) -> FloatArray:
    """Probabilities raised to ``EPSILON`` from below."""
    return np.maximum(prob, EPSILON)


def log_prob_of_prob(prob: FloatArray) -> FloatArray:
    """Logarithms of probabilities, clipped at ``EPSILON``."""
    return np.log(clipped(prob))


def log_odds_of_prob(prob: FloatArray) -> FloatArray:
    """Log-odds of probabilities, clipped at ``EPSILON`` from 0 and from 1: within 27.6."""
    return log_prob_of_prob(prob) - log_prob_of_prob(1.0 - prob)


def log_prob_of_logit(logit: FloatArray) -> FloatArray:
    """Log-probabilities of logits, exact: nothing is clipped."""
    result: Any = log_softmax(np.ascontiguousarray(logit), axis=1)
    return np.asarray(result, dtype=np.float64)


def log_odds_of_logits(logits: FloatArray) -> FloatArray:
    """Log-odds of each class against all others, shape (n, K): exact where the probability has long become 0 or 1.

    As in `prob_of_logit`, neither the order of columns nor that in memory makes a difference.
    """
    logits = np.ascontiguousarray(logits)
    rows = np.arange(len(logits))
    top = logits.argmax(axis=1)
    highest = logits[rows, top]
    others = np.exp(logits - highest[:, None])
    others[rows, top] = 0.0
    rest = np.sort(others, axis=1).sum(axis=1)
    log_odds: FloatArray = logits - highest[:, None] - np.log(1.0 + rest[:, None] - others)
    # Seen from the highest logit itself, the others count from the highest among them.
    below = logits.copy()
    below[rows, top] = -np.inf
    log_odds[rows, top] = highest - np.asarray(logsumexp(np.sort(below, axis=1), axis=1))
    return log_odds


def score_of_logit(logit: FloatArray) -> FloatArray:
    """Logistic function of the logits of one event."""
    result: Any = expit(logit)
    return np.asarray(result, dtype=np.float64)


def prob_of_logit(logit: FloatArray) -> FloatArray:
    """Softmax over the columns, to the last bit the same in whatever order they come, and lie in memory.

    Else a step of a map, which begins at the score of some row, would lie above that score when the row comes again.
    """
    prob = np.array(logit, dtype=np.float64, order="C")
    prob -= prob.max(axis=1, keepdims=True)
    np.exp(prob, out=prob)
    prob /= np.sort(prob, axis=1).sum(axis=1, keepdims=True)
    return prob
