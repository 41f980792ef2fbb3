"""Slope, intercepts and observed/expected ratio, and how far each row moves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np
from scipy.special import expit, ndtr, ndtri

from calibrant._core.arrays import EPSILON, ArrayLike, FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import warn
from calibrant._core.rows import BinaryProblem, Problem, as_simplex
from calibrant.fit.log_loss import Recalibration, recalibration_of
from calibrant.metrics.estimate import Estimate, Resampling
from calibrant.metrics.kinds import Own
from calibrant.notions import Notion, as_notion

# What is measured of a recalibrated problem, with the influence that each row has on it


SMALLEST_RATE = 1e-100
"""A mean score up to here expects nothing, a mean variance is none: squares of what is divided by it would overflow."""

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
    bias: float = 0.0


Measure = Callable[[BinaryProblem], Measured]


def slope(problem: BinaryProblem) -> Measured:
    """Slope of the joint fit."""
    return _of_joint_fit("slope", 1, problem)


def intercept(problem: BinaryProblem) -> Measured:
    """Intercept of the joint fit."""
    return _of_joint_fit("intercept", 0, problem)


def _of_joint_fit(name: str, which: int, problem: BinaryProblem) -> Measured:
    """Return the intercept or the slope of the joint fit."""
    fit = recalibration_of(problem)
    value = fit.joint[which]
    warn_if_ruled(f"calibration {name}", value, problem, lambda fit: fit.joint[which])
    if not np.isfinite(value):
        return _undefined(name, value, fit, problem)
    z, each = problem.log_odds, problem.weights.importance
    p = expit(fit.joint[0] + fit.joint[1] * z)
    curvature = problem.weight * p * (1.0 - p)
    total = float(curvature.sum())
    mean = float(curvature @ z) / total
    spread = float(curvature @ (z - mean) ** 2)
    pull = each * (z - mean) / spread
    if which == 0:
        pull = each / total - mean * pull
    return _sandwich(value, pull, problem, p, each * p * (1.0 - p) * (1.0 / total + (z - mean) ** 2 / spread))


def in_the_large(problem: BinaryProblem) -> Measured:
    """Intercept with slope 1."""
    fit = recalibration_of(problem)
    a = fit.in_the_large
    warn_if_ruled("calibration in the large", a, problem, lambda fit: fit.in_the_large)
    if not np.isfinite(a):
        return _undefined("calibration in the large", a, fit, problem)
    p = expit(a + problem.log_odds)
    curvature = float((problem.weight * p) @ (1.0 - p))
    if curvature <= SMALLEST_RATE * problem.weights.total:  # of far logits any shift between them fits as well
        return Measured(a, np.full(p.size, np.inf))
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
    warn(
        f"{name} depends on probabilities of 0 and 1 that are wrong, each of which counts as {EPSILON:.0e} from there; got "
        f"{times @ wrong:.0f} in {times.sum():.0f} rows{_where(problem)}. It is {value:.4g}, and {without:.4g} without the "
        "rows at 0 and 1. State both."
    )


def _sandwich(value: float, pull: FloatArray, problem: BinaryProblem, p: FloatArray, leverage: FloatArray) -> Measured:
    """Influences of rows as if each had been predicted by the others (HC3), and the variance by binomial residuals."""
    influence = pull * (problem.outcome - p) / (1.0 - np.minimum(leverage, HIGHEST_LEVERAGE))
    spread = pull * np.sqrt(p * (1.0 - p))  # the square of the pull alone may overflow
    bias = float(problem.weights.times @ (pull * leverage * (p - 0.5)))
    return Measured(value, influence, float(problem.weights.times @ spread**2), bias)


# Over the problems of a notion


def measured(problem: Problem, notion: Notion, measure: Measure) -> tuple[float, float, float]:
    """Return the mean of a figure over the problems of a notion, by their shares, its standard error, and its bias.

    Errors of several problems cancel in the mean, and their biases do not: of one problem, far below its error, it is left out.
    """
    simplex = as_simplex(problem)
    value, bias, influence, steady, problems = 0.0, 0.0, np.zeros(simplex.size), 0.0, 0
    for part, binary in zip(notion.parts(simplex.prob), notion.split(problem), strict=True):
        if binary.size == 0:  # a class that is never predicted
            continue
        one = measure(binary)
        value += binary.share * one.value
        bias += binary.share * one.bias
        problems += 1
        if one.influence is not None:
            influence[part.rows] += binary.share * one.influence
            steady = one.variance
    error = float(np.sqrt(simplex.weights.times @ influence**2))
    return (value, max(error, float(np.sqrt(steady))), 0.0) if problems == 1 else (value, error, bias)


def figure_estimate(
    measure: Measure, ideal: float, problem: Problem, resampling: Resampling, notion: str | Notion | None = None
) -> Estimate:
    """Estimate slope or intercept with Wald's interval, and the p-value of the ideal."""
    value, error, bias = measured(problem, as_notion(notion, problem), measure)
    if np.isnan(value):
        return Estimate(value, value, value, pvalue=value)
    if np.isinf(value):
        return Estimate(value, float("-inf"), float("inf"), pvalue=float("nan"))
    reach, centre = float(ndtri(1.0 - resampling.level / 2.0)) * error, value - bias
    pvalue = 2.0 * float(ndtr(-abs(centre - ideal) / error)) if error > 0 else 1.0
    return Estimate(value, centre - reach, centre + reach, pvalue=pvalue)


def ratio_estimate(problem: Problem, resampling: Resampling, notion: str | Notion | None = None) -> Estimate:
    """Estimate O/E with an interval of its logarithm, and the p-value of 1."""
    chosen = as_notion(notion, problem)
    value, error, _ = measured(problem, chosen, observed_expected)
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
        # Of all rates with a ratio of r none makes events alone more probable than (r / g)^n, with g the geometric mean of the
        # ratios of the parts, weighted by their rows: rates are then equal within each part (inequality of the means). And no
        # rates have a ratio above the one that was found.
        sums = [(part.share, part.weight.sum(), part.weight @ part.score) for part in parts]
        mean = sum(share * float(np.log(weight) - np.log(expected)) for share, weight, expected in sums)
        n = as_simplex(problem).weights.effective_rows
        lowest = min(value, float(np.exp(mean + np.log(resampling.level / 2.0) / n)))
        return Estimate(value, lowest, value, pvalue=min(1.0, 2.0 * float(np.exp(-n * mean))))
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
    warn(f"{must}; {got}{_where(problem)}, and {answer}. Pass more rows.")


def _where(problem: BinaryProblem) -> str:
    return f" in the problem {problem.name!r}" if problem.name else ""


# Slope, intercepts and observed/expected ratio: calibration by a logistic regression on log-odds (Cox 1958)


@Own(
    "calibration-slope",
    "slope",
    "Cox 1958",
    range=(-np.inf, np.inf),
    estimator=partial(figure_estimate, slope, 1.0),
    ideal=1.0,
    may_be_undefined=True,
).declare
def calibration_slope(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Slope of the event's log-odds against the forecast's, in [-inf, inf]; 1 is ideal, less is over-confident.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Probabilities below 1e-12 and above
        1 - 1e-12 count as these: their log-odds are -27.6 and 27.6. The logits of one column (``input="logit"``) are exact.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; of others that make several problems a
        mean by shares, infinite or NaN if one is.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Parameter b in the logistic regression  log-odds of the event = a + b * log-odds of the forecast,  unpenalised. Below 1:
        high scores are too high and low ones too low, as after overfitting. Above 1: scores are too timid. Below 0: the order
        is upside down.

    Warns
    -----
    CalibrationWarning
        If the scores separate the classes: the slope is infinite, negative if events have the lower scores. If there is one
        class or one score alone: it is NaN. If rows with a probability of 0 or 1 are wrong: it counts them, and gives the slope
        without the rows at 0 and 1.

    See Also
    --------
    calibration_intercept : The other parameter of the same fit.
    cox_test : Whether slope and intercept together differ from 1 and 0.

    Notes
    -----
    Use it to tell over- from under-confidence in one number with a sign. It sees a straight line only: curved deviations can
    leave it at 1, and so does a shift of all log-odds. A probability near 0 or 1 that was wrong has great leverage.

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika 1958.
    Van Calster, McLernon, van Smeden, Wynants, Steyerberg, Calibration: the Achilles heel of predictive analytics, BMC
    Medicine 2019.

    Examples
    --------
    >>> from calibrant import calibration_slope
    >>> round(calibration_slope([0, 1, 0, 0, 1, 1], [0.1, 0.2, 0.4, 0.6, 0.7, 0.9]), 3)
    0.711
    """
    return _value(slope, y_true, y_prob, notion, data)


@Own(
    "calibration-intercept",
    "intercept",
    "Cox 1958",
    range=(-np.inf, np.inf),
    estimator=partial(figure_estimate, intercept, 0.0),
    ideal=0.0,
    may_be_undefined=True,
).declare
def calibration_intercept(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Intercept of the logistic recalibration with free slope: the log-odds at a forecast of 1/2, in (-inf, inf); 0 is ideal.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Probabilities below 1e-12 and above
        1 - 1e-12 count as these: their log-odds are -27.6 and 27.6. The logits of one column (``input="logit"``) are exact.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; of others that make several problems a
        mean by shares, NaN if one is.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Parameter a in the logistic regression  log-odds of the event = a + b * log-odds of the forecast,  unpenalised.

    Warns
    -----
    CalibrationWarning
        If the scores separate the classes, or there is one class or one score alone: the intercept is NaN. If rows with a
        probability of 0 or 1 are wrong: it counts them, and gives the intercept without the rows at 0 and 1.

    See Also
    --------
    calibration_in_the_large : With slope 1; this is what "calibration intercept" mostly means.
    calibration_slope : The other parameter of the same fit.

    Notes
    -----
    It belongs to the slope and says nothing alone: it speaks of a forecast of 1/2, where there may be no rows at all. Use it to
    write down the recalibrated forecast; use `calibration_in_the_large` to ask whether probabilities are too high on the whole.

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika 1958.
    Van Calster, McLernon, van Smeden, Wynants, Steyerberg, Calibration: the Achilles heel of predictive analytics, BMC
    Medicine 2019.

    Examples
    --------
    >>> from calibrant import calibration_intercept
    >>> round(calibration_intercept([0, 1, 0, 0, 1, 1], [0.1, 0.2, 0.4, 0.6, 0.7, 0.9]), 3)
    0.068
    """
    return _value(intercept, y_true, y_prob, notion, data)


@Own(
    "calibration-in-the-large",
    "CITL",
    "Cox 1958",
    range=(-np.inf, np.inf),
    estimator=partial(figure_estimate, in_the_large, 0.0),
    ideal=0.0,
    may_be_undefined=True,
).declare
def calibration_in_the_large(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Shift of log-odds that makes the mean probability the event rate (CITL, intercept with slope 1); 0 is ideal.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Probabilities below 1e-12 and above
        1 - 1e-12 count as these: their log-odds are -27.6 and 27.6. The logits of one column (``input="logit"``) are exact.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; of others that make several problems a
        mean by shares, infinite or NaN if one is.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Parameter a in the logistic regression  log-odds of the event = a + log-odds of the forecast,  in [-inf, inf]. Positive:
        the probabilities are too low on the whole; negative: too high.

    Warns
    -----
    CalibrationWarning
        If only one class occurs: infinite, negative if it is not the event. If rows with a probability of 0 or 1 are wrong:
        it counts them, and gives the shift without the rows at 0 and 1.

    See Also
    --------
    observed_expected_ratio : The same on the scale of rates.
    calibration_slope : What a shift does not see.

    Notes
    -----
    Use it after moving a model to another population, where the base rate is the first thing to change. It sees the mean alone:
    a forecast that is too high here and too low there can have 0. Of the top label of a table ("confidence") it
    says whether the mean confidence is the accuracy. The mean over several problems, such as many classes with few events
    each, is biased by about -1/2 over the number of events: intervals and p-values of `assess` are without this bias of first
    order (McCullagh and Nelder 1989).

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika 1958.
    McCullagh, Nelder, Generalized linear models, 1989.
    Van Calster, McLernon, van Smeden, Wynants, Steyerberg, Calibration: the Achilles heel of predictive analytics, BMC
    Medicine 2019.

    Examples
    --------
    >>> from calibrant.metrics import calibration_in_the_large
    >>> round(calibration_in_the_large([0, 1, 0, 0, 1, 1], [0.1, 0.2, 0.4, 0.6, 0.7, 0.9]), 3)
    0.097
    """
    return _value(in_the_large, y_true, y_prob, notion, data)


@Own(
    "observed-expected-ratio",
    "O/E",
    "Van Calster et al. 2019",
    range=(0.0, np.inf),
    estimator=ratio_estimate,
    ideal=1.0,
    may_be_undefined=True,
).declare
def observed_expected_ratio(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Number of events divided by the number that the forecast expected (O/E), in [0, inf]; 1 is ideal.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; of others that make several problems a
        mean by shares, infinite or NaN if one is.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The ratio  sum of weight * outcome / sum of weight * probability.  Above 1: the probabilities are too low on the whole.

    Warns
    -----
    CalibrationWarning
        If all probabilities are 0, or below 1e-100: infinite if an event occurred, else NaN.

    See Also
    --------
    calibration_in_the_large : The same on the scale of log-odds.

    Notes
    -----
    Use it to say in plain words how far the overall rate is off. It sees the mean alone. Over all classes together it is 1 for
    every forecast, so that ``"class-wise"`` takes the mean of the ratios of the classes, in which too high and
    too low cancel: look at each class by itself. Where no row is an event, or every row is one, interval and p-value follow
    from the probability of that (with several problems whose rows are all events, from a bound on it). Else the interval is
    that of the logarithm; above 1 its standard error is at least that of a calibrated forecast, and the p-value is the larger
    of that of the logarithm and that of the number of events if the forecast is calibrated.

    References
    ----------
    Van Calster, McLernon, van Smeden, Wynants, Steyerberg, Calibration: the Achilles heel of predictive analytics, BMC
    Medicine 2019.

    Examples
    --------
    >>> from calibrant.metrics import observed_expected_ratio
    >>> round(observed_expected_ratio([0, 1, 0, 0, 1, 1], [0.1, 0.2, 0.4, 0.6, 0.7, 0.9]), 3)
    1.034
    """
    return _value(observed_expected, y_true, y_prob, notion, data)


def _value(
    measure: Measure,
    y_true: ArrayLike,
    y_prob: ArrayLike | None,
    notion: str | Notion | None,
    data: DataOptions,
) -> float:
    problem = as_problem(y_true, y_prob, **data)
    return measured(problem, as_notion(notion, problem), measure)[0]
