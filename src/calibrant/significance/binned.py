"""Test of any metric, against its values on labels drawn from the forecast."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import flag, require, whole
from calibrant._core.registry import declare
from calibrant._core.result import frame
from calibrant._core.rows import IntArray, Problem, Weights, as_simplex
from calibrant.binning import Binning, locate
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics.decompositions import same_rows
from calibrant.metrics.kinds import Function, Metric, as_metric
from calibrant.significance.multiplicity import (
    chi_squared_statistic,
    enough_expected,
    groups_of,
    pvalue_of,
    warn_if_sparse,
)
from calibrant.significance.result import (
    INDEPENDENT,
    OUTSIDE,
    TIE,
    Alternative,
    NullDistribution,
    TestResult,
    chi_squared,
    hypothesis_of,
    label_draws,
    require_resamples,
)
from calibrant.sums import Predictions
from calibrant.sums.draws import Rng, as_rng

# Hosmer and Lemeshow's test, of two classes and of more


FITTED = "The model that made the forecast was fitted on these rows; for held-out rows leave fitted=True out."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HosmerLemeshowResult(TestResult):
    """A `TestResult` with the table behind it.

    Attributes
    ----------
    name, statistic, pvalue, null, assumptions, alternative, hypothesis : object
        As in `TestResult`.
    classes : tuple
        The class of each column.
    edges : ndarray of shape (n_groups + 1,)
        Group m holds the grouping scores in (edges[m], edges[m + 1]], the first also its lower edge.
    observed, expected : ndarray of shape (n_groups, n_classes)
        Number of rows of each true class, and sum of the predicted probabilities of each class.
    """

    classes: tuple[Any, ...]
    edges: FloatArray
    observed: FloatArray
    expected: FloatArray

    def table(self, backend: str | None = None) -> Any:
        """Return the groups as a data frame, a row a group.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns left, right, and for each class observed and expected.
        """
        columns: dict[str, FloatArray] = {"left": self.edges[:-1], "right": self.edges[1:]}
        for j, name in enumerate(self.classes):
            columns |= {f"observed {name}": self.observed[:, j], f"expected {name}": self.expected[:, j]}
        return frame(columns, backend)


@declare("test", "hosmer-lemeshow", symbol="HL", source="Hosmer and Lemeshow 1980; Fagerland et al. 2008")
def hosmer_lemeshow_test(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    n_bins: int = 10,
    reference: Any = None,
    fitted: bool = False,
    n_resamples: int | None = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> HosmerLemeshowResult:
    """Test whether each class occurred as often as predicted, in groups of equal size by score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    n_bins : int, default=10
        Number of groups, at least 2. They end at linearly interpolated quantiles of one minus the probability of the reference
        class; equal scores are never split, so that ties make groups uneven or fewer.
    reference : label, optional
        The class whose probability makes the groups; by default the first. One column of probabilities is so grouped by itself.
    fitted : bool, default=False
        Whether the model that made the forecast was fitted on these very rows. Then the law of the textbooks holds, chi-squared
        with (groups - 2) * (classes - 1) degrees of freedom, and no labels are drawn. It does not hold for held-out rows:
        there it rejects a calibrated forecast twice as often as it should.
    n_resamples : int or None, default=1000
        Number of label sets drawn from the forecast, whose statistics are the null distribution; the smallest possible p-value
        is 1 / (n_resamples + 1). With None it is chi-squared with groups * (classes - 1) degrees of freedom: faster with very
        many rows, and wrong where expected counts are small. Of an integer weight each of so many equal rows draws its label.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the draws.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    HosmerLemeshowResult
        The statistic is the sum over groups and classes of (observed - expected)^2 / expected.

    Warns
    -----
    CalibrationWarning
        If more than a fifth of the expected counts are below 5 and no labels are drawn: the p-value is then no good. And if a
        fitted model leaves so few groups that there is no degree of freedom; the p-value is then 1.

    Notes
    -----
    The statistic is C = sum over groups m and classes j of (O_mj - E_mj)^2 / E_mj, with the rows O_mj of class j in group m
    and the sum E_mj of their probabilities of it. Where nothing was expected and nothing occurred, a term is 0; where nothing
    was expected and something occurred, C is infinite and the p-value 0, also that of draws: the forecast gave probability
    zero to a class that occurred. The groups average over scores, so errors of either sign within a group are not seen.

    The chi-squared law is poor where expected counts are small: of calibrated forecasts of 50 rows and two events in a hundred
    it rejects 18 % at a level of 5 %, draws reject 5 %. Where forecasts vary within a group, as those of the other classes do,
    there is less variance than the law has, and its test of held-out rows is conservative; draws are not.

    References
    ----------
    Hosmer, Lemeshow, Goodness of fit tests for the multiple logistic regression model, Communications in Statistics 1980.
    Fagerland, Hosmer, Bofin, Multinomial goodness-of-fit tests for logistic regression models, Statistics in Medicine 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import hosmer_lemeshow_test
    >>> p = np.linspace(0.05, 0.95, 200)
    >>> y = np.random.default_rng(0).random(200) < p**2
    >>> hosmer_lemeshow_test(y, p)
    TestResult(Hosmer-Lemeshow: statistic=48.7912, pvalue<=0.001)
    """
    n_bins, fitted = whole("n_bins", n_bins, least=2, hint="10 is usual"), flag("fitted", fitted)
    if n_resamples is not None:
        require_resamples(n_resamples)
    problem = as_problem(y_true, y_prob, **data)
    simplex, score = as_simplex(problem), _grouping_score(problem, reference)
    edges, of = _groups_by(score, simplex.weights, n_bins)
    groups = groups_of(simplex, of)
    observed = groups.observed(simplex, simplex.label)
    statistic = chi_squared_statistic(observed, groups.expected)
    null: NullDistribution
    if fitted or n_resamples is None:
        n_groups, n_classes = observed.shape
        null = chi_squared(max(0, n_groups - 2 * fitted) * (n_classes - 1))
        seen = FITTED if fitted else OUTSIDE
        assumptions = (seen, INDEPENDENT, *simplex.weights.assumptions, enough_expected(groups.expected))
        fewer = "take fewer groups, n_bins."
        warn_if_sparse(groups.expected, fewer.capitalize() if fitted else f"Draw labels, n_resamples=1000, or {fewer}")
    else:
        null = label_draws(groups.drawn(simplex, n_resamples, as_rng(rng)))
        assumptions = (OUTSIDE, INDEPENDENT, *simplex.weights.assumptions)
    return HosmerLemeshowResult(
        name="Hosmer-Lemeshow",
        statistic=statistic,
        pvalue=pvalue_of(statistic, null),
        null=null,
        assumptions=assumptions,
        hypothesis=hypothesis_of(problem),
        classes=tuple(simplex.classes.tolist()),
        edges=edges,
        observed=observed,
        expected=groups.expected,
    )


def quantiles(values: FloatArray, weights: Weights, shares: FloatArray, whole: float = 1.0) -> FloatArray:
    """Linearly interpolated quantiles at ``shares / whole``: of whole weights those of the repeated values, as
    `numpy.quantile` gives them.

    A quantile between two values is never rounded up to the larger one: exactly the values below it lie below.

    Laid end to end in order, the values are a staircase whose steps are as long as their weights; the quantile is its mean
    over a window of length one, which is the interpolation between the values at the window's ends.
    """
    order = np.argsort(values, kind="stable")
    step = values[order]
    ends = np.cumsum(weights.values[order] * weights.rows_per_weight)
    found = np.empty(shares.size)
    for number, start in enumerate((ends[-1] - 1.0) * shares / whole):
        first, last = np.searchsorted(ends, start, side="right"), np.searchsorted(ends, start + 1.0, side="left")
        window = slice(first, min(last, step.size - 1) + 1)
        length = np.diff(np.clip(ends[window], start, start + 1.0), prepend=start)
        low, high = step[window][0], step[window][-1]
        # The mean of equal steps is the step itself, and no rounded neighbour of it.
        found[number] = np.clip(length @ step[window] / length.sum(), low, max(low, np.nextafter(high, -np.inf)))
    return found


def _groups_by(score: FloatArray, weights: Weights, n_bins: int) -> tuple[FloatArray, IntArray]:
    """Return the edges of the groups that hold rows, and the group of each row."""
    cuts = quantiles(score, weights, np.arange(1.0, n_bins), n_bins)
    edges = np.concatenate([[0.0], np.unique(cuts), [1.0]])
    held, of = np.unique(locate(edges, score), return_inverse=True)
    return np.append(edges[held], 1.0), of


def _grouping_score(problem: Problem, reference: Any) -> FloatArray:
    """One minus the probability of the reference class; of two classes the probability of the other one."""
    classes, prob = problem.classes.tolist(), as_simplex(problem).prob
    must = f"reference must be one of the classes {classes}"
    require(reference is None or reference in classes, must, value=reference, hint="Pass one of them")
    at = 0 if reference is None else classes.index(reference)
    if len(classes) == 2:
        return prob[:, 1 - at]
    return np.asarray(1.0 - prob[:, at], dtype=np.float64)


# Pearson's chi-squared test on the distinct forecasts: no bins, for forecasts that take few values


@declare("test", "pearson", symbol="X2", source="Pearson 1900")
def pearson_test(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    n_parameters: int = 0,
    n_resamples: int | None = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test whether each class occurred as often as predicted, for each distinct forecast.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Equal rows of a table make a group.
    n_parameters : int, default=0
        Number of parameters that were fitted on these very rows. The law is then chi-squared, with as many degrees of freedom
        less, and no labels are drawn.
    n_resamples : int or None, default=1000
        Number of label sets drawn from the forecast, whose statistics are the null distribution: exact for any number of rows.
        With None it is the chi-squared law, which needs many rows for each forecast.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the draws.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is the sum over distinct forecasts and classes of (observed - expected)^2 / expected. Each distinct
        forecast has as many degrees of freedom as it has classes of positive probability, less one.

    Warns
    -----
    CalibrationWarning
        If more than a fifth of the expected counts are below 5 and no labels are drawn: the p-value is then no good. And if
        no labels are drawn and no degree of freedom is left; the p-value is then 1.

    Notes
    -----
    The chi-squared law rejects up to 14 % of calibrated forecasts at a level of 5 % where expected counts are small, which of
    extreme probabilities they are with 5000 rows too; draws reject 5 % (docs/testing.md has the figures).

    It tests the whole vector (canonical calibration), and sees any deviation that repeats at one forecast. Where a class of
    probability zero occurred, the statistic is infinite and the p-value 0, that of draws as well.

    References
    ----------
    Pearson, On the criterion that a given system of deviations ..., Philosophical Magazine 1900.

    Examples
    --------
    >>> from calibrant.significance import pearson_test
    >>> pearson_test([0, 0, 0, 1] * 20 + [1, 1, 0, 1] * 20, [0.25] * 80 + [0.5] * 80)
    TestResult(Pearson: statistic=20, pvalue<=0.001)
    """
    _require_parameters(n_parameters)
    received = as_problem(y_true, y_prob, **data)
    problem = as_simplex(received)
    groups = groups_of(problem, same_rows(problem.prob))
    expected = groups.expected
    statistic = chi_squared_statistic(groups.observed(problem, problem.label), expected)
    null: NullDistribution
    if n_parameters or n_resamples is None:
        null = chi_squared(max(0, int((expected > 0).sum()) - len(expected) - n_parameters))
        assumptions = (OUTSIDE, INDEPENDENT, *problem.weights.assumptions, enough_expected(expected))
        if n_parameters:
            assumptions = (f"{n_parameters} parameters of the forecast were fitted on these rows.", *assumptions[1:])
        draw = "Group" if n_parameters else "Draw labels, n_resamples=1000, or group"
        warn_if_sparse(expected, f"{draw} the scores: hosmer_lemeshow_test.")
    else:
        null = label_draws(groups.drawn(problem, n_resamples, as_rng(rng)))
        assumptions = (OUTSIDE, INDEPENDENT, *problem.weights.assumptions)
    return TestResult(
        "Pearson", statistic, pvalue_of(statistic, null), null, assumptions, hypothesis=hypothesis_of(received)
    )


def _require_parameters(n_parameters: object) -> None:
    whole("n_parameters", n_parameters, least=0, hint="Of a forecast from outside pass 0")


# Test of any metric, against its values on labels drawn from the forecast


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
