"""Standardised log-probabilities: two numbers for what is wrong with all rows alike, and a share of the uniform forecast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray, log_prob_of_logit
from calibrant._core.problem import Forecast, SimplexProblem

FLOORS = (0.0, 1e-7, 1e-5, 1e-4, 1e-3, 4e-3, 1.6e-2, 6e-2)
"""What may be added to each probability, times the number of classes; with 0 probabilities are only clipped at 1e-12."""

COST_OF_FLOOR = 0.7
"""Loss in nats, of all rows together, by which a floor above 0 must be better."""

SCALE = 0.1
"""Scale of the Cauchy prior of the logarithm of the exponent."""

ROUNDS, FIRST_SPREAD = 4, 2.0
"""Rounds of majorising the Cauchy prior by a normal one, and the standard deviation that it has first."""

MOST_STEPS, LAST_STEP = 25, 1e-5
"""Newton steps in the logarithm of the exponent, and the length of the last."""

OF_ROOT, LEAST_BEFORE, MOST_BEFORE = 2.0, 0.05, 1.0
"""The uniform share has the prior Beta(c, 1): c is so often the root of the share of errors that is expected, within limits."""

LAST_SHARE = 1e-3
"""Relative change of the uniform share that is the last."""

BLOCK = 1 << 16
"""Numbers worked on at a time: a block stays in the processor's cache."""

MOST_UNIFORM = 0.5
LEAST_LOG = -1e100
"""Log-probabilities are at least this, so that their squares are numbers."""


@dataclass(frozen=True)
class Standard:
    """The map  log((1 - uniform) softmax(exponent * log(p + floor / K)) + uniform / K)."""

    exponent: float
    floor: float
    uniform: float

    def of(self, forecast: Forecast) -> FloatArray:
        """Return standardised log-probabilities, shape (n, K)."""
        n_classes = forecast.shape[1]
        prob = np.exp(log_prob_of_logit(self.exponent * with_floor(forecast, self.floor)))
        prob *= 1.0 - self.uniform
        prob += self.uniform / n_classes
        result: FloatArray = np.log(prob, out=prob)
        return result


def with_floor(forecast: Forecast, floor: float) -> FloatArray:
    """Log-probabilities after a floor, row after row in memory; of logits without one they are exact."""
    if floor > 0.0:
        return np.log(np.ascontiguousarray(forecast.prob) + floor / forecast.shape[1])
    return np.maximum(np.ascontiguousarray(forecast.log_prob), LEAST_LOG)


def standard_of(problem: SimplexProblem, weight: FloatArray) -> Standard:
    """Return the most probable exponent and floor, and then the most probable share of the uniform forecast.

    Parameters
    ----------
    problem : SimplexProblem
        Rows to fit.
    weight : ndarray of shape (n,)
        Number of rows that each row stands for.
    """
    found = _exponent_and_floor(problem, weight)
    exponent = float(np.exp(found.log_exponent))
    z = exponent * with_floor(problem.forecast, found.floor)
    log_prob = log_prob_of_logit(z)
    of_true = np.exp(log_prob[np.arange(problem.size), problem.label])
    errors = max(float(weight @ (1.0 - np.exp(log_prob.max(axis=1))) / weight.sum()), 0.0)
    before = float(np.clip(OF_ROOT * np.sqrt(errors), LEAST_BEFORE, MOST_BEFORE))
    return Standard(exponent, found.floor, _uniform_share(of_true, weight, z.shape[1], before))


class _Found(NamedTuple):
    """The best exponent for a floor, and the loss there: log loss of all rows, prior, and cost of the floor."""

    log_exponent: float
    floor: float
    loss: float


def _exponent_and_floor(problem: SimplexProblem, weight: FloatArray) -> _Found:
    """Minimise log loss, Cauchy prior and cost of the floor, by majorisation.

    While the normal prior is narrower than the first, no loss falls below the first one of its floor: floors whose first loss
    is higher than the best so far need not be looked at again.
    """
    losses = {floor: _Loss(problem, weight, floor) for floor in FLOORS}
    first: list[_Found] = []
    for floor in FLOORS:
        first.append(losses[floor].best(first[-1].log_exponent if first else 0.0, FIRST_SPREAD))
    best = min(first, key=lambda found: found.loss)
    order = sorted(first, key=lambda found: found.loss)
    for _ in range(ROUNDS - 1):
        spread = float(np.sqrt((SCALE**2 + best.log_exponent**2) / 2.0))
        start, best = best.log_exponent, best._replace(loss=np.inf)
        for known in order:
            if spread <= FIRST_SPREAD and known.loss > best.loss:
                break
            found = losses[known.floor].best(start, spread)
            if found.loss < best.loss:
                best = found
    return best


class _Loss:
    """The log loss of all rows as a function of the logarithm t of the exponent a, for one floor."""

    def __init__(self, problem: SimplexProblem, weight: FloatArray, floor: float) -> None:
        self.forecast, self.label, self.weight, self.floor = problem.forecast, problem.label, weight, floor

    def best(self, start: float, spread: float) -> _Found:
        """Return the most probable t under a normal prior of mean zero."""
        z = with_floor(self.forecast, self.floor)
        z -= z.max(axis=1, keepdims=True)
        t, ridge = start, 1.0 / spread**2
        for _ in range(MOST_STEPS):
            _, slope, curvature = self._at(z, t)
            step = float(np.clip(-(slope + t * ridge) / (curvature + max(slope, 0.0) + ridge), -1.0, 1.0))
            t += step
            if abs(step) < LAST_STEP:
                break
        loss = self._at(z, t)[0] + 0.5 * t**2 * ridge + (COST_OF_FLOOR if self.floor > 0.0 else 0.0)
        return _Found(t, self.floor, loss)

    def _at(self, z: FloatArray, t: float) -> tuple[float, float, float]:
        """Return value, slope and the part of the curvature that is never negative: of a row log sum exp(a z) - a z_y."""
        a = float(np.exp(t))
        value = slope = curvature = 0.0
        step = max(1, BLOCK // z.shape[1])
        for start in range(0, len(z), step):
            rows = slice(start, start + step)
            part, weight = z[rows], self.weight[rows]
            p = np.exp(a * part)
            total = p.sum(axis=1)
            of_true = part[np.arange(len(part)), self.label[rows]]
            p *= part
            mean = p.sum(axis=1) / total
            spread = np.vecdot(p, part) / total - mean**2
            value += float(np.einsum("i,i->", weight, np.log(total) - a * of_true))
            slope += a * float(np.einsum("i,i->", weight, mean - of_true))
            curvature += a * a * float(np.einsum("i,i->", weight, spread))
        return value, slope, max(curvature, 0.0)


def _uniform_share(of_true: FloatArray, weight: FloatArray, n_classes: int, before: float) -> float:
    """Return the share that the uniform forecast should have, from rows whose true class had less than half of its share.

    With the prior Beta(c, 1) it is (c + sum of responsibilities) / (n + c + 1), its mean.
    """
    total = float(weight.sum()) + before + 1.0
    missed = n_classes * of_true < 0.5
    of_true, weight = of_true[missed], weight[missed]
    share = least = before / total
    for _ in range(MOST_STEPS):
        uniform = share / n_classes
        last, share = share, least + float(weight @ (uniform / ((1.0 - share) * of_true + uniform))) / total
        if abs(share - last) < LAST_SHARE * last:
            break
    return min(share, MOST_UNIFORM)
