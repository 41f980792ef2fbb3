"""Tests of a forecast: a statistic, its law or draws under calibration, and the p-value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, Unpack, get_args

import numpy as np

from calibrant import lenses
from calibrant._core.arrays import ArrayLike, FloatArray, NDArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import choice, flag, require, resamples, warn, whole
from calibrant._core.registry import declare
from calibrant._core.result import frame
from calibrant._core.rows import Approximate, BinaryProblem, IntArray, Problem, Weights, as_simplex, in_blocks
from calibrant._core.threads import one_blas_thread
from calibrant.binning.bins import Binning, class_sums, locate
from calibrant.fit.log_loss import Recalibration, recalibration_of
from calibrant.metrics import kernel
from calibrant.metrics.kinds import Function, YProb, YTrue, as_metric
from calibrant.metrics.regression import warn_if_ruled
from calibrant.notions import Notion, NotionLike, as_notion, single_problem
from calibrant.significance import result as _result
from calibrant.significance.result import KnownLaw, TestResult, hypothesis_of, label_draws, result_of
from calibrant.sums import draws
from calibrant.sums.draws import Rng, as_rng, labels_of
from calibrant.sums.reading import added

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
    y_true: ArrayLike,
    y_prob: YProb = None,
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
        resamples(n_resamples, hint="1000 is usual")
    problem = as_problem(y_true, y_prob, **data)
    edges, of = _groups_by(_grouping_score(problem, reference), problem.weights, n_bins)
    n_groups, fewer = int(of.max()) + 1, "take fewer groups, n_bins."
    simplex = as_simplex(problem)
    scale, n_classes = simplex.weights.effective_rows_per_weight, simplex.classes.size
    sums = [np.bincount(of, simplex.weight * column, n_groups) for column in simplex.prob.T]
    expected = np.asarray(scale * np.column_stack(sums), dtype=np.float64)
    observed = scale * class_sums(of, simplex.label, simplex.weight, expected.shape)
    null: KnownLaw | _result.Draws
    statistic = chi_squared_statistic(observed, expected)
    assumptions = (FITTED if fitted else _result.OUTSIDE, _result.INDEPENDENT, *simplex.weights.assumptions)
    if fitted or n_resamples is None:
        null = _result.chi_squared(max(0, (n_groups - 2 * fitted) * (n_classes - 1)))
        assumptions += (enough_expected(expected),)
        warn_if_sparse(expected, fewer.capitalize() if fitted else f"Draw labels, n_resamples=1000, or {fewer}")
    else:
        labels, cell = labels_of(simplex, n_resamples, as_rng(rng)), of[:, None] * n_classes + np.arange(n_classes)
        counts = (labels.sums_at(cell, block, simplex.weight, expected.size) for block in labels.blocks())
        drawn = (scale * row.reshape(expected.shape) for block in counts for row in block)
        null = label_draws(np.array([chi_squared_statistic(one, expected) for one in drawn]))
    pvalue = 0.0 if statistic == np.inf else float(null.sf(statistic))
    if statistic < np.inf and null.df == 0:
        pvalue = 1.0
        warn(
            "a chi-squared test must have a degree of freedom; the forecast has too few distinct scores for one, and the "
            "p-value is set to 1. Use more bins, or a test without groups such as kolmogorov_smirnov_test."
        )
    return HosmerLemeshowResult(
        name="Hosmer-Lemeshow",
        statistic=statistic,
        pvalue=pvalue,
        null=null,
        assumptions=assumptions,
        hypothesis=hypothesis_of(problem),
        classes=tuple(problem.classes.tolist()),
        edges=edges,
        observed=observed,
        expected=expected,
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
    ends = ends if weights.are_counts else ends.round(9)  # sums of fractions are not exact
    found = np.empty(shares.size)
    for number, start in enumerate((ends[-1] - 1.0) * shares / whole):
        first, last = np.searchsorted(ends, start, side="right"), np.searchsorted(ends, start + 1.0, side="left")
        window = slice(first, max(first, min(last, step.size - 1)) + 1)
        length = np.diff(np.clip(ends[window], start, start + 1.0), prepend=start)
        low, high = step[window][0], step[window][-1]
        mean = length @ step[window] / length.sum() if length.any() else low  # of more than 2^53 rows none is long
        # The mean of equal steps is the step itself, and no rounded neighbour of it.
        found[number] = np.clip(mean, low, max(low, np.nextafter(high, -np.inf)))
    return found


def _groups_by(score: FloatArray, weights: Weights, n_bins: int) -> tuple[FloatArray, IntArray]:
    """Return the edges of the groups that hold rows, and the group of each row."""
    edges = np.concatenate([[0.0], np.unique(quantiles(score, weights, np.arange(1.0, n_bins), n_bins)), [1.0]])
    held, of = np.unique(locate(edges, score), return_inverse=True)
    return np.append(edges[held], 1.0), of


def _grouping_score(problem: Problem, reference: Any) -> FloatArray:
    """One minus the probability of the reference class; of two classes the probability of the other one."""
    classes, prob = problem.classes.tolist(), as_simplex(problem).prob
    must = f"reference must be one of the classes {classes}"
    hint = "Pass one of them"
    require(reference is None or (np.ndim(reference) == 0 and reference in classes), must, value=reference, hint=hint)
    at = 0 if reference is None else classes.index(reference)
    return prob[:, 1 - at] if len(classes) == 2 else 1.0 - prob[:, at]


# Chi-squared over groups of rows: observed against expected counts of each class in each group


RULE_OF_FIVE = 5.0
"""Expected count that a common rule asks for before it trusts the chi-squared law."""

TOO_MANY_FEW = 0.2
"""Share of expected counts below five from which the chi-squared law is not to be trusted (Cochran's rule)."""


def chi_squared_statistic(observed: FloatArray, expected: FloatArray) -> float:
    """Sum of (observed - expected)^2 / expected; infinite where something occurred that was not expected at all."""
    possible = expected > 0
    if observed[~possible].any():
        return float("inf")
    with np.errstate(over="ignore"):  # what was all but impossible occurred
        return float(np.sum((observed[possible] - expected[possible]) ** 2 / expected[possible]))


def enough_expected(expected: FloatArray) -> str:
    """Return the assumption of the chi-squared law, with how many expected counts are too small for it."""
    possible = expected[expected > 0]
    if possible.size == 0:
        return "Expected counts are large enough for the chi-squared law: nothing is expected anywhere."
    return (
        f"Expected counts are large enough for the chi-squared law: {int((possible < RULE_OF_FIVE).sum())} of {possible.size} "
        f"are below {RULE_OF_FIVE:g}, the smallest is {possible.min():.3g}."
    )


def warn_if_sparse(expected: FloatArray, cure: str) -> None:
    """Warn where many expected counts are too small for the chi-squared law."""
    possible = expected[expected > 0]
    if possible.size and (few := float((possible < RULE_OF_FIVE).mean())) > TOO_MANY_FEW:
        warn(
            f"the chi-squared law needs expected counts of {RULE_OF_FIVE:g} or more; {few:.0%} of {possible.size} are smaller. "
            f"{cure}"
        )


# Test of any metric, against its values on labels drawn from the forecast


@declare("test", "resampling", symbol="phi", source="Vaicenavicius et al. 2019")
def resampling_test(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    metric: str | Function = "classwise-ece",
    binning: int | Binning | None = None,
    n_resamples: int = 1000,
    alternative: _result.Alternative | None = None,
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
    resamples(n_resamples, hint="1000 is usual")
    flag("correction", correction)
    flag("strict", strict)
    if alternative is not None:
        choice("alternative", alternative, ("greater", "less", "two-sided"))
    measured = as_metric(metric, binning)
    problem = as_problem(y_true, y_prob, **data)
    value, drawn = measured.null(problem, n_resamples, as_rng(rng))
    must, of = "metric must be a number on the data", f"{measured.name} is {value}"
    require(np.isfinite(value), must, given=of, hint="Choose a metric that is defined for them")
    if undefined := int(np.isnan(drawn).sum()):
        warn(
            f"{measured.name} must be a number on labels drawn from the forecast; it is none on {undefined} of {drawn.size} "
            "draws, which count as beyond the observed value. Choose a metric that is defined for one class alone."
        )
    usual: _result.Alternative = "less" if measured.higher_is_better else "greater"
    side = alternative or (usual if measured.ideal is None else "two-sided")
    # A draw that equals the value up to rounding is a tie, whichever of the two sums was rounded down.
    slack = _result.TIE * abs(value) * (-1.0 if strict else 1.0)
    reached = ~(drawn < value - slack), ~(drawn > value + slack)
    above, below = ((correction + float(one.sum())) / (correction + drawn.size) for one in reached)
    pvalues = {"greater": above, "less": below, "two-sided": min(1.0, 2.0 * min(above, below))}
    seen = measured.residuals(problem, binning) if problem.classes.size > 2 else None  # of two classes it is the event
    spoken = hypothesis_of(problem, None if seen is None else seen.notion)
    name = f"resampling of {measured.name}"
    return result_of(name, value, label_draws(drawn), spoken, pvalue=float(pvalues[side]), alternative=side)


# Distances of cumulative residuals: Kolmogorov-Smirnov and Kuiper, whose laws are those of a Brownian motion


BLOCK = 1 << 20
"""Rows times draws looked at together."""

ROUNDING = 1e-12
"""An error below it, of probabilities that are all 0 or 1 but for rounding, is none."""

LARGEST_DISTANCE = KnownLaw("largest distance of a Brownian motion from 0", draws.distance_survival)
RANGE = KnownLaw("range of a Brownian motion", draws.range_survival)


@declare("test", "kolmogorov-smirnov", symbol="KS", source="Arrieta-Ibarra et al. 2022")
def kolmogorov_smirnov_test(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test how far the cumulative residuals go from zero, in the order of scores (KS, ECCE-MAD).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : {"binary", "confidence"} or Notion, optional
        One that makes a single problem: by default ``"binary"`` for two classes and ``"confidence"`` for more. For each
        class in turn use `by_class`.
    n_resamples : int, optional
        Draw so many label sets from the forecast in place of the law for many rows: exact for any number of rows.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the draws.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is the KS error divided by the standard deviation, under calibration, of the sum of all residuals:
        sqrt(sum of weight^2 * p * (1 - p)) / (sum of weights).  Its law is that of the largest distance from 0 of
        a Brownian motion in the time from 0 to 1, exactly computed.
        Of `predictions` that are read in batches it is from scores rounded to fine cells: statistic and p-value then have
        ``lower`` and ``upper``, between which those of the rows lie, and the last of the assumptions says them.

    Warns
    -----
    CalibrationWarning
        If every probability is 0 or 1, so that the residuals have no variance: the statistic is 0 and the p-value 1 where every
        event occurred as predicted, else the statistic is infinite and the p-value 0 (or the smallest that the draws allow).

    Notes
    -----
    It has most power against errors of one sign over a wide range of scores: a constant over-confidence, a wrong base rate.
    Whole weights are numbers of equal rows, each with the variance p * (1 - p) and a label of its own; with other weights a
    row moves with its weight when labels are drawn.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu, Metrics of calibration for probabilistic predictions, JMLR 2022.
    Gupta K., Rahimi, Ajanthan, Mensink, Sminchisescu, Hartley, Calibration of neural networks using splines, ICLR 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.significance import kolmogorov_smirnov_test
    >>> p = np.linspace(0.05, 0.95, 200)
    >>> kolmogorov_smirnov_test(np.random.default_rng(0).random(200) < p**2, p).pvalue < 0.001
    True
    """
    one = _single_problem(y_true, y_prob, notion, "kolmogorov_smirnov_test", data)
    return _cumulative_test("Kolmogorov-Smirnov", lenses.LARGEST_SUM, LARGEST_DISTANCE, *one, n_resamples, rng)


@declare("test", "kuiper", symbol="Kuiper", source="Arrieta-Ibarra et al. 2022")
def kuiper_test(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test the range of the cumulative residuals, in the order of scores (Kuiper, ECCE-R).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : {"binary", "confidence"} or Notion, optional
        One that makes a single problem: by default ``"binary"`` for two classes and ``"confidence"`` for more. For each
        class in turn use `by_class`.
    n_resamples : int, optional
        Draw so many label sets from the forecast in place of the law for many rows: exact for any number of rows.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the draws.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is the Kuiper error divided by the standard deviation, under calibration, of the sum of all residuals.
        Its law is that of the range of a Brownian motion in the time from 0 to 1 (Feller 1951), exactly computed.
        Of `predictions` that are read in batches both have limits, as in `kolmogorov_smirnov_test`.

    Warns
    -----
    CalibrationWarning
        As `kolmogorov_smirnov_test` does.

    Notes
    -----
    It sees errors of one sign over any interval of scores, in the middle as well as at an end. Where scores are too high in
    one range and too low in another, the distance of Kolmogorov and Smirnov can be half of the range that this test measures.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu, Metrics of calibration for probabilistic predictions, JMLR 2022.
    Feller, The asymptotic distribution of the range of sums of independent random variables, Annals of Mathematical
    Statistics 1951.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.significance import kuiper_test
    >>> p = np.linspace(0.05, 0.95, 200)
    >>> kuiper_test(np.random.default_rng(0).random(200) < p**2, p).pvalue < 0.001
    True
    """
    one = _single_problem(y_true, y_prob, notion, "kuiper_test", data)
    return _cumulative_test("Kuiper", lenses.RANGE_OF_SUMS, RANGE, *one, n_resamples, rng)


def _single_problem(
    y_true: YTrue, y_prob: YProb, notion: NotionLike, test: str, data: DataOptions, words: str = _result.CALIBRATED
) -> tuple[BinaryProblem, str]:
    """Return the one problem that a notion makes, and the hypothesis in words."""
    problem = as_problem(y_true, y_prob, **data)
    chosen = as_notion(notion, problem)
    each = f"Test each: by_class({test}, y_true, y_prob, notion={chosen.name!r})"
    return single_problem(problem, chosen, each), hypothesis_of(problem, chosen, words)


def _cumulative_test(
    name: str,
    size: lenses.MeanOverProblems,
    law: KnownLaw,
    problem: BinaryProblem,
    hypothesis: str,
    n_resamples: int | None,
    rng: Rng,
) -> TestResult:
    """Test with a size of the cumulative residuals, in standard deviations of where these end."""
    view, generator = lenses.Cumulative()(problem), as_rng(rng)
    error = float(size.extent(view, view.look(lenses.residual_of(problem)))[0])
    p, weights = problem.score, problem.weights
    deviation = float(np.sqrt(weights.of_variance @ (p * (1.0 - p)))) / weights.total  # of the mean, if calibrated
    if deviation > 0:
        statistic = error / deviation
    else:
        statistic = np.inf if error > ROUNDING else 0.0
        warn(
            "the residuals must have some variance under calibration; every probability is 0 or 1. "
            f"The statistic is set to {statistic:g}. Measure the accuracy instead."
        )
    if n_resamples is None:
        many = "There are enough rows for their cumulative residuals to be a Brownian motion."
        result = result_of(name, statistic, law, hypothesis, *problem.weights.assumptions, many)
    else:
        resamples(n_resamples, hint="1000 is usual")
        step = max(1, BLOCK // problem.size)
        outcomes = (
            _drawn_outcomes(problem, min(step, n_resamples - start), generator) for start in range(0, n_resamples, step)
        )
        drawn = np.concatenate([size.extent(view, view.look(some - problem.score)) for some in outcomes])
        result = result_of(name, statistic, label_draws(drawn / deviation if deviation > 0 else drawn), hypothesis)
    if problem.cells is None or not np.isfinite(statistic) or statistic == 0.0:
        return result
    # Within a cell the rows can have less variance than at its mean score, and lie in any order.
    cells, (least, most) = problem.cells, size.within(problem.cells, error)
    within = float(cells.weight @ ((cells.highest - cells.mean) * (cells.mean - cells.lowest))) / cells.total**2
    smallest = np.sqrt(max(deviation**2 - within, 0.0))
    found = Approximate(statistic, least / deviation, most / smallest if smallest > 0.0 else np.inf)
    pvalue = Approximate(result.pvalue, float(result.null.sf(found.upper)), float(result.null.sf(found.lower)))
    limits = (
        f"Scores were rounded to fine cells: the statistic of the rows is from {found.lower:.4g} to {found.upper:.4g}, "
        f"of which the p-values are from {pvalue.lower:.3g} to {pvalue.upper:.3g}."
    )
    return replace(result, statistic=found, pvalue=pvalue, assumptions=(*result.assumptions, limits))


def _drawn_outcomes(problem: BinaryProblem, m: int, rng: np.random.Generator) -> NDArray[Any]:
    """Draw outcomes of each row, shape (m, n); of cells and whole weights the share of the rows in which the event occurs."""
    if not (problem.cells or problem.weights.repeat_rows):
        return rng.random((m, problem.size)) < problem.score
    draws.require_drawable(float(problem.weights.of_variance.max()))
    rows = np.rint(problem.weights.of_variance).astype(np.int64)
    return rng.binomial(rows, problem.score, (m, problem.size)) / rows


# Do rows with similar forecasts err in similar directions? The squared kernel calibration error


@declare("test", "kernel", symbol="SKCE", source="Widmann et al. 2019")
def kernel_test(
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    n_resamples: int = 1000,
    bandwidth: float | None = None,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test whether a forecast is calibrated as a whole, with any number of classes, by its kernel error (SKCE).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : {"canonical", "binary", "confidence", "top-label", "class-wise"} or Notion, optional
        By default ``"canonical"``: the probabilities of all classes at once.
    n_resamples : int, default=1000
        Number of draws; the smallest possible p-value is 1 / (n_resamples + 1).
    bandwidth : float, optional
        Distance at which the kernel has fallen to 1/e; by default the median distance between forecasts.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is the error; large values speak against calibration.

    Warns
    -----
    CalibrationWarning
        If there is no pair of rows: the statistic is NaN and the p-value 1. If rows are left out.

    Notes
    -----
    Use it to ask whether the vector of probabilities is calibrated in the strong sense: given the forecast, each class occurs
    with the predicted probability. It needs no bins and sees any miscalibration when there are rows enough, best an error of
    one sign over distances of the bandwidth. It does not show which class or which range of scores is wrong, and of many
    classes it needs many rows: a test of one notion, such as the top label, has more power for the question that it asks.

    Whole weights are numbers of equal rows; with other weights a row moves with its weight. Of many rows of 3 classes or
    more some are drawn, as in `kernel_calibration_error`. Of more than 4096 different scores the draws, not the statistic,
    put neighbours together.

    References
    ----------
    Widmann, Lindsten, Zachariah, Calibration tests in multi-class classification: a unifying framework, NeurIPS 2019.
    Bröcker, Smith, Increasing the reliability of reliability diagrams, Weather and Forecasting 2007.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.significance import kernel_test
    >>> kernel_test(*load_digits_forecast(), n_resamples=199).pvalue
    0.005
    """
    resamples(n_resamples, hint="1000 is usual")
    generator, problem = as_rng(rng), as_problem(y_true, y_prob, **data)
    words = kernel.as_pairs_notion(notion, problem)
    problem, spoken = kernel.with_few_rows(problem, words), hypothesis_of(problem, words)
    found = list(kernel.pairs_of(problem, words, kernel.as_bandwidth(bandwidth)))
    if not found:
        return result_of("kernel", kernel.value_of(found), label_draws(np.zeros(0)), spoken, pvalue=1.0)
    noise = kernel.noise_of_labels(problem, found, n_resamples, generator)
    return result_of("kernel", kernel.value_of(found), label_draws(noise.squared), spoken)


# Cox's test: does a logistic recalibration fit better than the forecast as it is?


Parameters = Literal["both", "intercept", "slope"]

HYPOTHESES: dict[Parameters, str] = {
    "both": "the calibration slope is 1 and the intercept 0",
    "intercept": "calibration in the large is 0, given a calibration slope of 1",
    "slope": "the calibration slope is 1, whatever the intercept",
}


@declare("test", "cox", symbol="LR", source="Cox 1958")
def cox_test(
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    parameters: Parameters = "both",
    notion: NotionLike = None,
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
    probabilities are below 0.02 or above 0.98; of 1000 such rows, and of 200 with usual scores, 4 to 5 %
    (docs/size-and-power.md). It rejects more where fewer than five misses, the sum of p (1 - p), are expected.

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
    binary, words = _single_problem(y_true, y_prob, notion, "cox_test", data, HYPOTHESES[parameters])
    gain, df = _gain_of_fit(recalibration_of(binary), parameters)
    each = 2.0 * binary.weights.effective_rows_per_weight
    statistic = max(0.0, gain * each)
    warn_if_ruled("Cox's statistic", statistic, binary, lambda fit: max(0.0, _gain_of_fit(fit, parameters)[0] * each))
    enough = "There are enough rows of both classes for the chi-squared law."
    return result_of("Cox", statistic, _result.chi_squared(df), words, *binary.weights.assumptions, enough)


def _gain_of_fit(fit: Recalibration, parameters: Parameters) -> tuple[float, int]:
    """Return the gain in log-likelihood, and how many parameters made it."""
    as_it_is, slope_seen = fit.log_likelihood(0.0, 1.0), int(fit.x.size > 1)
    if parameters == "both":
        return fit.largest - as_it_is, 1 + slope_seen
    if parameters == "intercept":
        return fit.largest_with_slope_one - as_it_is, 1
    return slope_seen * (fit.largest - fit.largest_with_slope_one), slope_seen


# Spiegelhalter's Z: is the Brier score what the forecast itself expects it to be?


ROUNDED_GAIN = 1e-14
"""A gain below it is rounding: a row of equal probabilities has none."""


@declare("test", "spiegelhalter", symbol="Z", source="Spiegelhalter 1986")
def spiegelhalter_test(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
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
    n_resamples : int, optional
        Draw so many label sets from the forecast in place of the law for many rows: exact for any number of rows.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the draws.
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
    n_draws = 0 if n_resamples is None else resamples(n_resamples, hint="1000 is usual")
    problem = as_problem(y_true, y_prob, all_rows="drawing labels" * (n_draws > 0), **data)
    chosen, law = as_notion(notion, problem), _result.standard_normal()
    excess, variance = added(problem, lambda rows: _excess(rows, chosen), "Spiegelhalter's Z").tolist()
    if variance > 0:
        z = excess / float(np.sqrt(variance))
    else:
        z = float(np.sign(excess)) * np.inf if excess else 0.0
        warn(
            "the Brier score must have some variance under calibration; every probability is 0, 1/2 or 1. "
            f"z is set to {z:g}. Use hosmer_lemeshow_test, which counts events."
        )
    simplex, words = as_simplex(problem), hypothesis_of(problem, chosen)
    if n_draws and variance > 0:
        gain, each, sums = _gains(simplex.prob, chosen), np.arange(simplex.size), []
        for draw in draws.labels_of(simplex, n_draws, as_rng(rng)):
            rows, label, weight = draws.drawn_rows(simplex, draw)
            sums.append(weight @ gain[each[rows], label] / np.sqrt(variance))
        null = label_draws(np.array(sums))
        pvalue = min(1.0, 2.0 * min(float(null.sf(z)), float(label_draws(-null.values).sf(-z))))
        return result_of("Spiegelhalter", z, null, words, pvalue=pvalue, alternative="two-sided")
    assumed = (*simplex.weights.assumptions, "There are enough rows for a sum to be normal.")
    pvalue = float(2.0 * law.sf(abs(z)))
    return result_of("Spiegelhalter", z, law, words, *assumed, pvalue=pvalue, alternative="two-sided")


def _gains(prob: FloatArray, notion: Notion) -> FloatArray:
    """Return half of what each label adds to the notion's Brier score beyond what is expected, shape (n, K)."""
    slope = np.zeros(prob.shape)
    for one in notion.parts(prob):
        one.put(slope, 1.0 - 2.0 * one.scores(prob))
    gain = slope - np.einsum("ij,ij->i", prob, slope)[:, None]
    return np.where(np.abs(gain) > ROUNDED_GAIN, gain, 0.0)


def _excess(problem: Problem, notion: Notion) -> FloatArray:
    """Return half of what the notion's Brier score, summed, exceeds its expectation by, and its variance, shape (2,)."""
    sums = np.zeros(2)
    for part in map(as_simplex, in_blocks(as_simplex(problem))):
        prob, gain = part.prob, _gains(part.prob, notion)
        sums[0] += part.weight @ gain[np.arange(part.size), part.label]
        sums[1] += part.weights.of_variance @ np.einsum("ij,ij,ij->i", prob, gain, gain)
    return sums


# Is calibration needed at all: is there more evidence for a recalibration than labels drawn from the forecast give?


@declare("test", "bayes-factor", symbol="BF", source="calibrant", also=("evidence",))
def bayes_factor_test(
    y_true: ArrayLike, y_prob: YProb = None, *, n_resamples: int = 1000, rng: Rng = 0, **data: Unpack[DataOptions]
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
    from calibrant.calibrators.evidence import BayesFactor

    resamples(n_resamples, hint="1000 is usual")
    problem = as_problem(y_true, y_prob, **data)
    simplex = as_simplex(problem)
    labels = labels_of(simplex, n_resamples, as_rng(rng))
    with one_blas_thread():
        factor = BayesFactor.of(simplex.forecast, simplex.weight * simplex.weights.rows_per_weight)
        values = factor.log_of(chain([simplex.label], labels))
    return result_of("Bayes factor", values[0], label_draws(values[1:]), hypothesis_of(problem))
