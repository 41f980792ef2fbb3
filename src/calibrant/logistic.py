"""Logistic recalibration of a binary problem: the event has the log-odds  intercept + slope * (log-odds of the forecast).

Rows of equal scores are put together first, so that what follows is a function of the scores and of nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from calibrant._links import FloatArray
from calibrant._problem import BinaryProblem

MOST_STEPS = 200
"""Of Newton's method. Near separation it needs about twice the logarithm of what separates, some tens."""

SURE_STEP = 1e-8
"""Gain in log-likelihood, a unit of weight, below which a step is taken as it is: rounding hides whether it gains."""

LAST_STEP = 1e-18
"""Gain below which a step is the last: convergence is quadratic."""

Shape = Literal["regular", "one class", "one score", "events above", "events below"]


@dataclass(frozen=True, eq=False)
class Recalibration:
    """Distinct log-odds in ascending order, with the weight of all rows and of the events at each, shape (d,)."""

    x: FloatArray
    total: FloatArray
    events: FloatArray

    @property
    def shape(self) -> Shape:
        """Whether slope and intercept are defined, or else why not."""
        came, stayed = self.x[self.events > 0], self.x[self.total > self.events]
        if came.size == 0 or stayed.size == 0:
            return "one class"
        if self.x.size == 1:
            return "one score"
        if came[0] >= stayed[-1]:
            return "events above"
        if came[-1] <= stayed[0]:
            return "events below"
        return "regular"

    @cached_property
    def joint(self) -> tuple[float, float]:
        """Intercept and slope of the largest likelihood.

        Where scores separate the classes the slope is infinite, and negative if the events have the lower scores; the
        intercept is then NaN. Both are NaN for one class alone and for a single score.
        """
        match self.shape:
            case "regular":
                return self._newton()
            case "events above":
                return float("nan"), float("inf")
            case "events below":
                return float("nan"), float("-inf")
            case _:
                return float("nan"), float("nan")

    @cached_property
    def in_the_large(self) -> float:
        """Intercept of the largest likelihood with slope 1; infinite if there is one class alone."""
        came, weight = float(self.events.sum()), float(self.total.sum())
        if came in (0.0, weight):
            return float("inf") if came else float("-inf")
        rate = np.log(came) - np.log(weight - came)
        # At the ends of the bracket every row is on one side of the rate; one more covers rounding.
        low, high = rate - self.x[-1] - 1.0, rate - self.x[0] + 1.0
        return float(brentq(lambda a: float(self.total @ expit(self.x + a)) - came, low, high, xtol=1e-14))

    def log_likelihood(self, intercept: float, slope: float) -> float:
        """Log-likelihood at an intercept and a slope."""
        eta = intercept + slope * self.x
        return -float(self.events @ np.logaddexp(0.0, -eta) + (self.total - self.events) @ np.logaddexp(0.0, eta))

    @property
    def largest(self) -> float:
        """Largest log-likelihood, or its limit: only scores that both classes have at a border cost something."""
        match self.shape:
            case "regular":
                return self.log_likelihood(*self.joint)
            case "one class":
                return 0.0
            case _:
                mixed = (self.events > 0) & (self.events < self.total)
                came, all_ = self.events[mixed], self.total[mixed]
                return float(np.sum(xlogy(came, came / all_) + xlogy(all_ - came, 1.0 - came / all_)))

    @property
    def largest_with_slope_one(self) -> float:
        """Largest log-likelihood with slope 1, or its limit."""
        return 0.0 if self.shape == "one class" else self.log_likelihood(self.in_the_large, 1.0)

    def _newton(self) -> tuple[float, float]:
        """Newton's method with step halving, in log-odds brought to [-1, 1]; the log-likelihood is concave."""
        centre, half = (self.x[-1] + self.x[0]) / 2.0, (self.x[-1] - self.x[0]) / 2.0
        scaled = Recalibration((self.x - centre) / half, self.total, self.events)
        t, weight = scaled.x, float(self.total.sum())
        came = float(self.events.sum())
        a, b = float(np.log(came) - np.log(weight - came)), 0.0
        for _ in range(MOST_STEPS):
            p = expit(a + b * t)
            gradient, curvature = self.events - self.total * p, self.total * p * (1.0 - p)
            # Slope and intercept are made orthogonal: the slope is judged from the mean of t where the curvature lies.
            mean = float(curvature @ t / curvature.sum())
            db = float(gradient @ (t - mean) / (curvature @ (t - mean) ** 2))
            da = float(gradient.sum() / curvature.sum()) - db * mean
            gain, step = float(gradient @ (da + db * t)) / weight, 1.0
            if gain > SURE_STEP:
                now = scaled.log_likelihood(a, b)
                while scaled.log_likelihood(a + step * da, b + step * db) < now + 1e-4 * step * gain * weight:
                    step /= 2.0
            a, b = a + step * da, b + step * db
            if gain <= LAST_STEP:
                return float(a - b * centre / half), float(b / half)
        # The classes overlap by less than rounding shows: as good as separated.
        return float("nan"), float(np.sign(b)) * float("inf")


def recalibration_of(problem: BinaryProblem) -> Recalibration:
    """Put the rows of equal log-odds together."""
    x, at = np.unique(problem.log_odds, return_inverse=True)
    total, events = (
        np.bincount(at, w, x.size).astype(np.float64) for w in (problem.weight, problem.weight * problem.outcome)
    )
    return Recalibration(x, total, events)
