"""Test of any metric, against its values on labels drawn from the forecast."""

from __future__ import annotations

import warnings
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import flag, require
from calibrant._core.registry import declare
from calibrant._core.validation import DataOptions, as_problem
from calibrant._core.warnings import CalibrationWarning
from calibrant.binning import Binning
from calibrant.metrics.kinds.metric import Function, Metric, as_metric
from calibrant.significance.null import TIE, label_draws, require_resamples
from calibrant.significance.result import INDEPENDENT, OUTSIDE, Alternative, TestResult, hypothesis_of
from calibrant.sums import Predictions
from calibrant.sums.draws import Rng, as_rng


@declare("test", "resampling", symbol="phi", source="Vaicenavicius et al. 2019")
def resampling_test(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    metric: str | Function = "classwise-ece",
    binning: int | Binning | None = None,
    n_resamples: int = 1000,
    alternative: Alternative | None = None,
    correction: bool = True,
    strict: bool = False,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test any measure of calibration against its values on labels drawn from the forecast.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    metric : str or callable, default="classwise-ece"
        A registered metric (``calibrant list metrics``), or a function of (y_true, y_prob) that returns a number. It gets the
        labels as column numbers, and ``sample_weight`` where there are weights.
    binning : int or Binning, optional
        How scores are cut, for a registered metric with bins; a number n means ``EqualWidth(n)``. By default as the metric
        does, mostly ``EqualWidth(15)``.
    n_resamples : int, default=1000
        Number of label sets drawn; the smallest possible p-value is 1 / (n_resamples + 1).
    alternative : {"greater", "less", "two-sided"}, optional
        Which values speak against calibration: by default large ones, small ones of a metric where higher is better, and
        both of one whose ideal lies between, such as the slope.
        A score such as the log loss falls below its null values when a forecast is under-confident: ``"two-sided"``
        sees that too.
    correction : bool, default=True
        Count the observed value among the draws, (1 + number) / (1 + draws), which makes the test valid for any number of
        draws; without it the p-value can be zero.
    strict : bool, default=False
        Count only draws beyond the observed value, and not those that equal it. ``correction=False, strict=True`` is
        Algorithm 1 of the survey by Silva Filho et al.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is the metric, the null distribution its values on the drawn labels.

    Raises
    ------
    ValueError
        If the metric is not a number on the data themselves.

    Warns
    -----
    CalibrationWarning
        If the metric is not a number on some drawn labels: these count as beyond the observed value.

    Notes
    -----
    Forecasts are kept and labels drawn, so that rows stay in their bins: one for each of the equal rows that a whole weight
    stands for, else one for the row, with which its weight moves. A function gets the drawn labels with such weights.
    (Bröcker and Smith draw the rows too, for reliability diagrams whose bins are to vary; the p-value needs no such thing.)
    Draws that equal the observed value up to rounding count as equal.

    References
    ----------
    Vaicenavicius, Widmann, Andersson, Lindsten, Roll, Schön, Evaluating model calibration in classification, AISTATS 2019.
    Bröcker, Smith, Increasing the reliability of reliability diagrams, Weather and Forecasting 2007.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.significance import resampling_test
    >>> resampling_test(*load_digits_forecast(), metric="ece", n_resamples=199).pvalue
    0.005
    """
    require_resamples(n_resamples)
    flag("correction", correction)
    flag("strict", strict)
    measured = as_metric(metric, binning)
    problem = as_problem(y_true, y_prob, **data)
    value, drawn = measured.null(problem, n_resamples, as_rng(rng))
    require(
        np.isfinite(value),
        "metric must be a number on the data",
        given=f"{measured.name} is {value}",
        hint="Choose a metric that is defined for them",
    )
    side = alternative or _side(measured)
    return TestResult(
        name=f"resampling of {measured.name}",
        statistic=value,
        pvalue=_pvalue(value, _defined(drawn, measured.name), side, correction=correction, strict=strict),
        null=label_draws(drawn),
        assumptions=(OUTSIDE, INDEPENDENT),
        alternative=side,
        hypothesis=hypothesis_of(problem),
    )


def _side(metric: Metric) -> Alternative:
    """Return which values of a metric speak against calibration."""
    if metric.ideal is not None:
        return "two-sided"
    return "less" if metric.higher_is_better else "greater"


def _pvalue(value: float, drawn: FloatArray, side: Alternative, *, correction: bool, strict: bool) -> float:
    # A draw that equals the value up to rounding is a tie, whichever of the two sums was rounded down.
    slack = TIE * abs(value) * (1.0 if not strict else -1.0)
    one = 1.0 if correction else 0.0
    above = (one + float(np.sum(~(drawn < value - slack)))) / (one + drawn.size)
    below = (one + float(np.sum(~(drawn > value + slack)))) / (one + drawn.size)
    return {"greater": above, "less": below, "two-sided": min(1.0, 2.0 * min(above, below))}[side]


def _defined(drawn: FloatArray, name: str) -> FloatArray:
    undefined = int(np.isnan(drawn).sum())
    if undefined:
        warnings.warn(
            f"{name} must be a number on labels drawn from the forecast; it is none on {undefined} of {drawn.size} draws, "
            "which count as beyond the observed value. Choose a metric that is defined for one class alone.",
            CalibrationWarning,
            stacklevel=3,
        )
    return drawn
