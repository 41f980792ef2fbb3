"""Cox's test: does a logistic recalibration fit better than the forecast as it is?"""

from __future__ import annotations

from typing import Literal, Unpack, get_args

import numpy.typing as npt

from calibrant._core.parameters import choice
from calibrant._core.registry import declare
from calibrant._core.validation import DataOptions, as_problem
from calibrant.metrics.regression.influence import warn_if_ruled
from calibrant.notions import Notion, as_notion, single_problem
from calibrant.significance.null import chi_squared
from calibrant.significance.result import INDEPENDENT, OUTSIDE, TestResult, hypothesis_of
from calibrant.solvers.logistic import Recalibration, recalibration_of

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
    gain, df = _gain(recalibration_of(binary), parameters)
    each = 2.0 * binary.weights.effective_rows_per_weight
    statistic = max(0.0, gain * each)
    warn_if_ruled("Cox's statistic", statistic, binary, lambda fit: max(0.0, _gain(fit, parameters)[0] * each))
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


def _gain(fit: Recalibration, parameters: Parameters) -> tuple[float, int]:
    """Return the gain in log-likelihood, and how many parameters made it."""
    as_it_is, slope_seen = fit.log_likelihood(0.0, 1.0), int(fit.x.size > 1)
    if parameters == "both":
        return fit.largest - as_it_is, 1 + slope_seen
    if parameters == "intercept":
        return fit.largest_with_slope_one - as_it_is, 1
    return slope_seen * (fit.largest - fit.largest_with_slope_one), slope_seen
