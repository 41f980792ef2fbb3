"""Is calibration needed at all: is there more evidence for a recalibration than labels drawn from the forecast give?"""

from __future__ import annotations

import warnings
from itertools import chain
from typing import Literal, Unpack, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import choice
from calibrant._core.registry import declare
from calibrant._core.rows import Problem, as_simplex
from calibrant.calibrators.evidence import BayesFactor
from calibrant.exceptions import CalibrationWarning
from calibrant.fit.log_loss import Recalibration, recalibration_of
from calibrant.metrics.regression import warn_if_ruled
from calibrant.notions import Notion, as_notion, single_problem
from calibrant.significance.result import (
    INDEPENDENT,
    OUTSIDE,
    TestResult,
    chi_squared,
    hypothesis_of,
    label_draws,
    require_resamples,
    standard_normal,
)
from calibrant.sums import Predictions
from calibrant.sums.draws import Rng, as_rng, labels_of
from calibrant.sums.reading import added

# Cox's test: does a logistic recalibration fit better than the forecast as it is?


Parameters = Literal["both", "intercept", "slope"]

HYPOTHESES: dict[Parameters, str] = {
    "both": "the calibration slope is 1 and the intercept 0",
    "intercept": "calibration in the large is 0, given a calibration slope of 1",
    "slope": "the calibration slope is 1, whatever the intercept",
}


@declare("test", "cox", symbol="LR", source="Cox 1958")
def cox_test(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    parameters: Parameters = "both",
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test slope 1 and intercept 0 of a logistic recalibration by the likelihood ratio (Cox).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Probabilities below 1e-12 and above 1 - 1e-12 count as these.
    parameters : {"both", "intercept", "slope"}, default="both"
        Which are tested. ``"both"``: slope 1 and intercept 0, with 2 degrees of freedom. ``"intercept"``: calibration in the
        large, that is intercept 0 given slope 1. ``"slope"``: slope 1 with a free intercept. The last two have 1 degree each,
        and their statistics add up to the first.
    notion : {"binary", "confidence"} or Notion, optional
        One that makes a single problem: by default ``"binary"`` for two classes and ``"confidence"`` for more. For each
        class in turn use `by_class`.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is twice the gain in log-likelihood by the recalibration; chi-squared if the forecast is calibrated.

    Warns
    -----
    CalibrationWarning
        If rows with a probability of 0 or 1 are wrong: it counts them, and gives the statistic without the rows at 0 and 1.

    See Also
    --------
    calibration_slope : The slope that is tested, with its interval in `assess`.
    calibration_in_the_large : The intercept given slope 1.

    Notes
    -----
    Use it for the two errors that forecasts have most, over- or under-confidence and a wrong base rate: few tests have as much
    power to find them. It does not see errors that no straight line in log-odds corrects.

    Of 50 rows the chi-squared law rejects 7 % of calibrated forecasts at a level of 5 %, and 9 % where half of the
    probabilities are below 0.02 or above 0.98; of 1000 such rows, and of 200 with usual scores, 4 to 5 % (docs/testing.md).

    Where scores separate the classes, or only one class occurred, the likelihood of the recalibration is the limit that it
    approaches. With equal scores the slope is not identified: ``"both"`` has 1 degree of freedom then, and ``"slope"`` none,
    with p-value 1. Whole weights are numbers of equal rows; other weights are scaled to the number of rows that they are
    worth.

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika 1958.
    Miller, Hui, Tierney, Validation techniques for logistic regression models, Statistics in Medicine 1991.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.significance import cox_test
    >>> p = np.linspace(0.05, 0.95, 200)
    >>> cox_test(np.random.default_rng(0).random(200) < p**2, p).pvalue < 0.001
    True
    """
    choice("parameters", parameters, get_args(Parameters), hint="'both' is usual")
    problem = as_problem(y_true, y_prob, **data)
    chosen = as_notion(notion, problem)
    by_class = f"Test each: by_class(cox_test, y_true, y_prob, notion={chosen.name!r})"
    binary = single_problem(problem, chosen, by_class)
    gain, df = _gain_of_fit(recalibration_of(binary), parameters)
    each = 2.0 * binary.weights.effective_rows_per_weight
    statistic = max(0.0, gain * each)
    warn_if_ruled("Cox's statistic", statistic, binary, lambda fit: max(0.0, _gain_of_fit(fit, parameters)[0] * each))
    null = chi_squared(df)
    return TestResult(
        "Cox",
        statistic,
        float(null.sf(statistic)),
        null,
        (
            OUTSIDE,
            INDEPENDENT,
            *binary.weights.assumptions,
            "There are enough rows of both classes for the chi-squared law.",
        ),
        hypothesis=hypothesis_of(problem, chosen, HYPOTHESES[parameters]),
    )


def _gain_of_fit(fit: Recalibration, parameters: Parameters) -> tuple[float, int]:
    """Return the gain in log-likelihood, and how many parameters made it."""
    as_it_is, slope_seen = fit.log_likelihood(0.0, 1.0), int(fit.x.size > 1)
    if parameters == "both":
        return fit.largest - as_it_is, 1 + slope_seen
    if parameters == "intercept":
        return fit.largest_with_slope_one - as_it_is, 1
    return slope_seen * (fit.largest - fit.largest_with_slope_one), slope_seen


# Spiegelhalter's Z: is the Brier score what the forecast itself expects it to be?


BLOCK = 1 << 22
"""Probabilities looked at together."""

ROUNDING = 1e-14
"""A gain below it is rounding: a row of equal probabilities has none."""


@declare("test", "spiegelhalter", symbol="Z", source="Spiegelhalter 1986")
def spiegelhalter_test(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test whether the Brier score equals its expected value under calibration (Spiegelhalter's Z).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        Whose Brier score: by default that of the event of two classes (``"binary"``), and of the top label of more
        (``"confidence"``). ``"class-wise"`` takes the whole Brier score, summed over classes.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is  z = sum of weight * (outcome - p) * (1 - 2 p)  divided by its standard deviation under calibration;
        the test is two-sided. Positive: the Brier score is worse than expected, the forecast over-confident. Negative:
        it is better, the forecast under-confident.

    Warns
    -----
    CalibrationWarning
        If every probability is 0, 1/2 or 1, so that the score has no variance: z is 0 and the p-value 1 where all certain
        events occurred, else z is infinite and the p-value 0.

    Notes
    -----
    The outcomes of a row are dependent, and the variance counts that: of the label drawn from the row's own probabilities, for
    all classes that the notion speaks of at once. The test sees over- and under-confidence and little else: rows near 1/2
    hardly count, and errors in both directions can cancel to z = 0.

    References
    ----------
    Spiegelhalter, Probabilistic prediction in patient management and clinical trials, Statistics in Medicine 1986.

    Examples
    --------
    >>> from calibrant import spiegelhalter_test
    >>> spiegelhalter_test([0, 1, 1, 0] * 25, [0.2, 0.9, 0.7, 0.3] * 25)
    TestResult(Spiegelhalter: statistic=-5.15122, pvalue<=0.001)
    """
    problem = as_problem(y_true, y_prob, **data)
    chosen = as_notion(notion, problem)
    excess, variance = added(problem, lambda rows: _excess(rows, chosen), "Spiegelhalter's Z").tolist()
    if variance > 0:
        z = excess / np.sqrt(variance)
    else:
        z = float(np.sign(excess)) * np.inf if excess else 0.0
        warnings.warn(
            "the Brier score must have some variance under calibration; every probability is 0, 1/2 or 1. "
            f"z is set to {z:g}. Use pearson_test, which looks at each forecast by itself.",
            CalibrationWarning,
            stacklevel=2,
        )
    simplex = as_simplex(problem)
    return TestResult(
        "Spiegelhalter",
        float(z),
        float(2.0 * ndtr(-abs(z))),
        standard_normal(),
        (OUTSIDE, INDEPENDENT, *simplex.weights.assumptions, "There are enough rows for a sum to be normal."),
        alternative="two-sided",
        hypothesis=hypothesis_of(problem, chosen),
    )


def _excess(problem: Problem, notion: Notion) -> FloatArray:
    """Return half of what the notion's Brier score, summed, exceeds its expectation by, and its variance, shape (2,)."""
    simplex = as_simplex(problem)
    squared = simplex.weights.of_variance
    step = max(1, BLOCK // simplex.prob.shape[1])
    excess = variance = 0.0
    for start in range(0, simplex.size, step):
        rows = slice(start, start + step)
        prob, label = simplex.prob[rows], simplex.label[rows]
        gain = _gain_of_rows(prob, notion)
        excess += float(simplex.weight[rows] @ gain[np.arange(label.size), label])
        variance += float(squared[rows] @ np.einsum("ij,ij,ij->i", prob, gain, gain))
    return np.array([excess, variance])


def _gain_of_rows(prob: FloatArray, notion: Notion) -> FloatArray:
    """Return what each class, if it occurs, adds to half the Brier score beyond the expectation, shape (n, K)."""
    slope = np.zeros(prob.shape)
    for part in notion.parts(prob):
        part.put(slope, 1.0 - 2.0 * part.scores(prob))
    gain = slope - np.einsum("ij,ij->i", prob, slope)[:, None]
    return np.where(np.abs(gain) > ROUNDING, gain, 0.0)


# Is calibration needed at all: is there more evidence for a recalibration than labels drawn from the forecast give?


@declare("test", "bayes-factor", symbol="BF", source="calibrant", also=("evidence",))
def bayes_factor_test(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    n_resamples: int = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test whether calibration is needed at all, by the Bayes factor of a recalibration against the forecast (BF).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    n_resamples : int, default=1000
        Number of label sets drawn from the forecast; the smallest possible p-value is 1 / (n_resamples + 1).
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is the logarithm of the Bayes factor, in nats; large values speak for a recalibration.

    See Also
    --------
    calibrant.calibrators.EvidenceScaling : The recalibration itself; its ``evidence_`` is that of the fitted map.

    Notes
    -----
    Use it to decide whether to calibrate. The recalibration is that of `EvidenceScaling`: curves, features of rows and
    interactions of classes, with weights that are normal and variances from the prior that was learned from other forecasts.
    The logarithm of its likelihood is taken to the second order in the weights, at the forecast as it is, and the Bayes
    factor is a mean over 16 points of the prior of the variances. No map is fitted: a draw costs one pass over the rows.

    The p-value counts draws and needs no approximation to be valid. The statistic does: far from calibration, and where events
    occurred that were all but impossible, it is much too large. The ``evidence_`` of a fitted map is not.

    Of more than 16 classes the score of a class depends on its own probability alone, and of more than 197 on features that
    all classes share. Of whole weights each of the equal rows
    draws its label; with other weights a row moves with its weight.

    References
    ----------
    Good, The Bayes/non-Bayes compromise: a brief review, Journal of the American Statistical Association 1992.
    MacKay, Bayesian interpolation, Neural Computation 1992.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.significance import bayes_factor_test
    >>> bayes_factor_test(*load_digits_forecast(), n_resamples=199).pvalue
    0.005
    """
    require_resamples(n_resamples)
    problem = as_problem(y_true, y_prob, **data)
    simplex = as_simplex(problem)
    factor = BayesFactor.of(simplex.forecast, simplex.weight * simplex.weights.rows_per_weight)
    draws = labels_of(simplex, n_resamples, as_rng(rng))
    values = factor.log_of(chain([simplex.label], draws))
    observed, null = float(values[0]), label_draws(values[1:])
    return TestResult(
        "Bayes factor",
        observed,
        float(null.sf(observed)),
        null,
        (OUTSIDE, INDEPENDENT),
        hypothesis=hypothesis_of(problem),
    )
