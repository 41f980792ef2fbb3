"""What is measured of a recalibrated problem, with the influence that each row has on it.

Slope, intercepts and the observed/expected ratio solve equations that are sums over rows: a row moves the solution by its
influence, and the squared influences add up to the variance, whatever the truth looks like; a row whose weight is a number of
rows is so many of them, each with its own influence. Where residuals are rare their
binomial variances at the fit are steadier than their squares: of a single problem the larger variance counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr, ndtri

from calibrant._core.links import EPSILON, FloatArray
from calibrant._core.problem import BinaryProblem, Problem, as_simplex
from calibrant._core.warnings import CalibrationWarning, warn
from calibrant.metrics.uncertainty.estimate import Estimate, Resampling
from calibrant.notions import Notion, as_notion
from calibrant.solvers.logistic import Recalibration, recalibration_of

SMALLEST_RATE = 1e-100
"""A mean score up to here expects nothing: squares of what is divided by it would overflow."""

ROUNDING = 1e-12
"""A standard error of a ratio up to here is none."""

HIGHEST_LEVERAGE = 0.999
"""A row that determines the fit alone is counted as one that nearly does."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A figure of one problem, the influence of each row on it, shape (n,), and its variance if the fitted rates are true.

    Of rows that stand for several equal ones it is the influence of each of these. What is not finite has no influences.
    """

    value: float
    influence: FloatArray | None = None
    variance: float = 0.0


Measure = Callable[[BinaryProblem], Measured]


def slope(problem: BinaryProblem) -> Measured:
    """Slope of the joint fit."""
    fit = recalibration_of(problem)
    value = fit.joint[1]
    warn_if_ruled("calibration slope", value, problem, lambda fit: fit.joint[1])
    if not np.isfinite(value):
        return _undefined("slope", value, fit, problem)
    return _of_joint_fit(problem, fit, value, of_slope=True)


def intercept(problem: BinaryProblem) -> Measured:
    """Intercept of the joint fit."""
    fit = recalibration_of(problem)
    value = fit.joint[0]
    warn_if_ruled("calibration intercept", value, problem, lambda fit: fit.joint[0])
    if not np.isfinite(value):
        return _undefined("intercept", value, fit, problem)
    return _of_joint_fit(problem, fit, value, of_slope=False)


def in_the_large(problem: BinaryProblem) -> Measured:
    """Intercept with slope 1."""
    fit = recalibration_of(problem)
    a = fit.in_the_large
    warn_if_ruled("calibration in the large", a, problem, lambda fit: fit.in_the_large)
    if not np.isfinite(a):
        return _undefined("calibration in the large", a, fit, problem)
    p = expit(a + problem.log_odds)
    curvature = float((problem.weight * p) @ (1.0 - p))
    pull = problem.weights.importance / curvature
    return _sandwich(a, pull, problem, p, pull * p * (1.0 - p))


def observed_expected(problem: BinaryProblem) -> Measured:
    """Sum of the events divided by the sum of the scores."""
    p, w = problem.score, problem.weight
    n_events, expected = float(w @ problem.outcome), float(w @ p)
    if expected <= SMALLEST_RATE * w.sum():
        value = float("inf") if n_events else float("nan")
        _warn("O/E must have a positive sum of scores", "all are 0 or next to it", f"O/E is set to {value}", problem)
        return Measured(value)
    value = n_events / expected
    pull, rate = problem.weights.importance / expected, np.minimum(value * p, 1.0)
    variance = float((problem.weights.times * pull**2) @ (rate * (1.0 - rate)))
    return Measured(value, pull * (problem.outcome - value * p), variance)


def warn_if_ruled(name: str, value: float, problem: BinaryProblem, of_fit: Callable[[Recalibration], float]) -> None:
    """Warn of rows whose probability counts as 0 or 1 and that are wrong, and give the figure without all such rows.

    A few of them decide the figure, by the probability as which they count. Logits are exact.
    """
    if problem.logit is not None:
        return
    is_low, is_high = problem.score <= EPSILON, problem.score >= 1.0 - EPSILON
    wrong = np.where(problem.outcome, is_low, is_high)
    if not wrong.any():
        return
    rest = problem.at(~(is_low | is_high))
    without = of_fit(recalibration_of(rest)) if rest.size else float("nan")
    times = problem.weights.times
    where = f" in the problem {problem.name!r}" if problem.name else ""
    warn(
        f"{name} depends on probabilities of 0 and 1 that are wrong, each of which counts as {EPSILON:.0e} from there; got "
        f"{times @ wrong:.0f} in {times.sum():.0f} rows{where}. It is {value:.4g}, and {without:.4g} without the rows at 0 and "
        "1. State both."
    )


def _of_joint_fit(problem: BinaryProblem, fit: Recalibration, value: float, *, of_slope: bool) -> Measured:
    z, w = problem.log_odds, problem.weight
    a, b = fit.joint
    p = expit(a + b * z)
    curvature = w * p * (1.0 - p)
    total = float(curvature.sum())
    mean = float(curvature @ z) / total
    spread = float(curvature @ (z - mean) ** 2)
    each = problem.weights.importance
    pull_of_slope = each * (z - mean) / spread
    pull = pull_of_slope if of_slope else each / total - mean * pull_of_slope
    return _sandwich(value, pull, problem, p, each * p * (1.0 - p) * (1.0 / total + (z - mean) ** 2 / spread))


def _sandwich(value: float, pull: FloatArray, problem: BinaryProblem, p: FloatArray, leverage: FloatArray) -> Measured:
    """Influences of rows as if each had been predicted by the others (HC3), and the variance by binomial residuals."""
    influence = pull * (problem.outcome - p) / (1.0 - np.minimum(leverage, HIGHEST_LEVERAGE))
    return Measured(value, influence, float((problem.weights.times * pull**2) @ (p * (1.0 - p))))


# Over the problems of a notion


def measured(problem: Problem, notion: Notion, measure: Measure) -> tuple[float, float]:
    """Return the mean of a figure over the problems of a notion, by their shares, and its standard error."""
    simplex = as_simplex(problem)
    value, influence, steady, problems = 0.0, np.zeros(simplex.size), 0.0, 0
    for part, binary in zip(notion.parts(simplex.prob), notion.split(problem), strict=True):
        if binary.size == 0:  # a class that is never predicted
            continue
        one = measure(binary)
        value += binary.share * one.value
        problems += 1
        if one.influence is not None:
            influence[part.rows] += binary.share * one.influence
            steady = one.variance
    error = float(np.sqrt(simplex.weights.times @ influence**2))
    return value, max(error, float(np.sqrt(steady))) if problems == 1 else error


def figure_estimate(
    measure: Measure, ideal: float, problem: Problem, resampling: Resampling, notion: str | Notion | None = None
) -> Estimate:
    """Estimate slope or intercept with Wald's interval, and the p-value of the ideal."""
    value, error = measured(problem, as_notion(notion, problem), measure)
    if np.isnan(value):
        return Estimate(value, value, value, pvalue=value)
    if np.isinf(value):
        return Estimate(value, float("-inf"), float("inf"), pvalue=float("nan"))
    reach = float(ndtri(1.0 - resampling.level / 2.0)) * error
    pvalue = 2.0 * float(ndtr(-abs(value - ideal) / error)) if error > 0 else 1.0
    return Estimate(value, value - reach, value + reach, pvalue=pvalue)


def ratio_estimate(problem: Problem, resampling: Resampling, notion: str | Notion | None = None) -> Estimate:
    """Estimate O/E with an interval of its logarithm, and the p-value of 1."""
    chosen = as_notion(notion, problem)
    value, error = measured(problem, chosen, observed_expected)
    if np.isnan(value):
        return Estimate(value, value, value, pvalue=value)
    if np.isinf(value):
        return Estimate(value, 0.0, value, pvalue=float("nan"))
    parts = [binary for binary in chosen.split(problem) if binary.size]
    if value == 0:
        # No event occurred. At a ratio of r this has the probability exp(-r * sum of scores), or a little less.
        rows = sum(float(binary.weights.times @ binary.score) for binary in parts)
        return Estimate(value, 0.0, -float(np.log(resampling.level / 2.0)) / rows, pvalue=min(1.0, 2.0 * np.exp(-rows)))
    if all(binary.outcome.all() for binary in parts):
        return _of_events_alone(value, parts, as_simplex(problem).weights.effective_rows, resampling.level)
    apart = len(parts) == 1 or chosen.parts_a_row(as_simplex(problem).prob.shape[1]) == 1
    calibrated = _error_if_calibrated(parts, apart=apart) if apart or error <= ROUNDING else 0.0
    # Rates cannot rise above 1, where their variance is 0; and residuals that are all 0 have none whatever the rates are.
    wide = max(error, calibrated) if value > 1.0 or error <= ROUNDING else error
    if wide <= ROUNDING:
        return Estimate(value, value, value, pvalue=1.0)
    factor = float(np.exp(ndtri(1.0 - resampling.level / 2.0) * wide / value))
    distance = abs(np.log(value)) * value / wide
    if calibrated > ROUNDING:
        distance = min(distance, abs(value - 1.0) / calibrated)
    return Estimate(value, value / factor, value * factor, pvalue=2.0 * float(ndtr(-distance)))


def _of_events_alone(value: float, parts: list[BinaryProblem], n: float, level: float) -> Estimate:
    """Estimate O/E where every row is an event.

    Of all rates with a ratio of r none makes that more probable than (r / g)^n, with g the geometric mean of the ratios of
    the parts, weighted by their rows: rates are then equal within each part (inequality of the means). And no rates have a
    ratio above the one that was found.
    """
    mean = sum(binary.share * _log_ratio(binary) for binary in parts)
    return Estimate(
        value,
        min(value, float(np.exp(mean + np.log(level / 2.0) / n))),
        value,
        pvalue=min(1.0, 2.0 * float(np.exp(-n * mean))),
    )


def _log_ratio(binary: BinaryProblem) -> float:
    return float(np.log(binary.weight.sum()) - np.log(binary.weight @ binary.score))


def _error_if_calibrated(parts: list[BinaryProblem], *, apart: bool) -> float:
    """Return the standard error of O/E if the scores are true; the most that it can be where problems share rows."""
    errors = [
        part.share
        / float(part.weight @ part.score)
        * float(np.sqrt(part.weights.of_variance @ (part.score * (1.0 - part.score))))
        for part in parts
    ]
    return float(np.linalg.norm(errors)) if apart else sum(errors)


REASONS = {
    "one class": "there is only one class",
    "one score": "all scores are equal",
    "events above": "every row with the event has a higher score than every row without it",
    "events below": "every row with the event has a lower score than every row without it",
    "regular": "the scores of the classes overlap by no more than rounding",
}


def _undefined(name: str, value: float, fit: Recalibration, problem: BinaryProblem) -> Measured:
    _warn(f"{name} must have two classes whose scores overlap", REASONS[fit.shape], f"it is set to {value}", problem)
    return Measured(value)


def _warn(must: str, got: str, answer: str, problem: BinaryProblem) -> None:
    where = f" in the problem {problem.name!r}" if problem.name else ""
    warnings.warn(f"{must}; {got}{where}, and {answer}. Pass more rows.", CalibrationWarning, stacklevel=6)
