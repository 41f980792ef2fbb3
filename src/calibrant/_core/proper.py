"""Proper scores of the probability of one event: a forecaster minimises them on average by giving the believed probability.

A score is a function of (probability, outcome), arrays of one shape with outcomes 0 and 1; the lower the better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from calibrant._core.links import FloatArray, log_cost
from calibrant._core.parameters import choice

EventScore = Callable[[FloatArray, FloatArray], FloatArray]


def squared_error(prob: FloatArray, outcome: FloatArray) -> FloatArray:
    """Squared distance of probability and outcome (Brier)."""
    distance: FloatArray = prob - outcome
    return distance**2


def log_loss(prob: FloatArray, outcome: FloatArray) -> FloatArray:
    """Negative logarithm of the probability of the outcome, raised to 2.2e-16 if it is less (Good)."""
    return log_cost(np.where(outcome > 0, prob, 1.0 - prob))


SCORES: Mapping[str, EventScore] = {"brier": squared_error, "log": log_loss}


def as_event_score(score: str | EventScore) -> EventScore:
    """Return the score of that name, or the function itself."""
    if callable(score):
        return score
    function = "Pass a function of (probability, outcome)"
    return SCORES[choice("score", score, SCORES, also=" or a function", hint=function)]


def score_name(score: str | Callable[..., object]) -> str:
    """Return what a result calls a score."""
    return score if isinstance(score, str) else getattr(score, "__name__", type(score).__name__)


def expected_score(score: EventScore, prob: FloatArray, rate: FloatArray) -> FloatArray:
    """Return the mean score of ``prob`` where the event occurs at ``rate``; an outcome of rate 0 costs nothing.

    Raises
    ------
    ValueError
        If the score does not give one number a row.
    """
    total = np.zeros(prob.shape)
    for outcome, share in ((1.0, rate), (0.0, 1.0 - rate)):
        occurred = share > 0
        total[occurred] += share[occurred] * _costs(score, prob[occurred], outcome)
    return total


def divergence(worse: float, better: float) -> float:
    """Return the difference of two mean scores of which a proper score knows the order; what rounding makes negative is zero.

    Raises
    ------
    ValueError
        If the difference is negative.
    """
    difference = worse - better
    if difference < -1e-9 * max(1.0, abs(worse), abs(better)):
        raise ValueError(
            "score must be proper, and the lower the better: on average nothing may do better than the true probability; "
            f"got a divergence of {difference:.3g}. Turn the sign of a score of which higher is better."
        )
    return max(difference, 0.0)


def _costs(score: EventScore, prob: FloatArray, outcome: float) -> FloatArray:
    costs = np.asarray(score(prob, np.full(prob.shape, outcome)), dtype=np.float64)
    if costs.shape != prob.shape:
        raise ValueError(
            f"score must return one value a row, shape {prob.shape}; got shape {costs.shape}. "
            "It is called with two arrays, the probabilities and the outcomes."
        )
    if np.isnan(costs).any():
        raise ValueError(
            f"score must return numbers; got nan for probability {prob[np.argmax(np.isnan(costs))]:g} and outcome {outcome:g}. "
            "Write 0 log 0 with scipy.special.xlogy, or clip the probability."
        )
    return costs
