"""Slope, intercepts and observed/expected ratio: calibration by a logistic regression on log-odds (Cox 1958)."""

from __future__ import annotations

from functools import partial
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.validation import DataOptions, as_problem
from calibrant.metrics.kinds.metric import Own
from calibrant.metrics.regression.influence import (
    Measure,
    figure_estimate,
    in_the_large,
    intercept,
    measured,
    observed_expected,
    ratio_estimate,
    slope,
)
from calibrant.notions import Notion, as_notion


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
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
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
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
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
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
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
    says whether the mean confidence is the accuracy.

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika 1958.
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
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
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
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None,
    notion: str | Notion | None,
    data: DataOptions,
) -> float:
    problem = as_problem(y_true, y_prob, **data)
    return measured(problem, as_notion(notion, problem), measure)[0]
