"""Do rows look as if the classifier was trained on them? They are compared with held-out rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import scipy
from scipy import special

from calibrant._core import checks
from calibrant._core.arrays import EXACT, ArrayLike, FloatArray, as_array, as_double, columns_of
from calibrant._core.border import DataOptions, Named, as_problem
from calibrant._core.registry import declare
from calibrant._core.result import Result, Table
from calibrant._core.rows import OF_SEVERAL, BinaryProblem, BoolArray, Forecast, Problem, Weights, as_simplex
from calibrant.binning import Binning
from calibrant.metrics.estimate import Sizes, consistent_deviations, resampled_deviations, smoothed_deviations
from calibrant.metrics.kinds import Difference, Function, LogLoss, Metric, YProb, YTrue, apart, as_metric
from calibrant.metrics.noise import Residuals
from calibrant.significance import result
from calibrant.significance.result import Alternative, Draws, TestResult
from calibrant.sums.draws import Bootstrap, Rng, as_rng

# Paired difference of a metric between two forecasts of the same rows, with its interval


@dataclass(frozen=True, eq=False)
class PairedDifference(Result):
    """A metric of forecast A less that of forecast B on the same rows, and its interval.

    Attributes
    ----------
    metric : str
        Name of the metric.
    difference : float
        Metric of A less metric of B; of ``"debiased-ece"`` the difference of their squares, of a metric with an ideal value,
        such as a slope of 1, that of their distances from it.
    lower, upper : float
        Ends of the interval of the difference.
    standard_error : float
        Standard error of the difference.
    level : float
        One minus the coverage of the interval, a fraction.
    """

    _table = Table(None, "metric", "difference", "lower", "upper", "standard_error", "level")

    metric: str
    difference: float
    lower: float
    upper: float
    standard_error: float
    level: float

    def __repr__(self) -> str:
        return (
            f"PairedDifference({self.metric}: {self.difference:.6g}, "
            f"{1 - self.level:.0%} interval [{self.lower:.6g}, {self.upper:.6g}])"
        )


def paired_difference(
    y_true: ArrayLike,
    prob_a: ArrayLike,
    prob_b: ArrayLike,
    *,
    y_true_b: ArrayLike | None = None,
    metric: str | Function = "nll",
    binning: int | Binning | None = None,
    level: float = 0.05,
    n_resamples: int = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> PairedDifference:
    """Estimate by how much a metric differs between two forecasts of the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    prob_a, prob_b : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the two forecasts, of one shape; rows of a table sum to one. Columns of two data frames that have the
        same names are matched by them; ``labels`` are then of the columns of ``prob_a``.
    y_true_b : array-like of shape (n_samples,), optional
        Labels of forecast B where they differ from those of A, as where each probability is that of the forecast's own
        answer and the label is whether that answer was right. By default ``y_true``.
    metric : str or callable, default="nll"
        A registered metric, or a function of (y_true, y_prob).
    binning : int or Binning, optional
        How scores are cut, for a registered metric with bins. By default as the metric does, mostly ``EqualWidth(15)``.
    level : float, default=0.05
        One minus the coverage of the interval, a fraction in (0, 1).
    n_resamples : int, default=1000
        Bootstrap samples of rows, where the metric is no mean over rows.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and others: see `DataOptions`.

    Returns
    -------
    PairedDifference
        A result with ``difference``, ``lower``, ``upper`` and ``standard_error``.

    Notes
    -----
    Of a mean over rows, such as ``"nll"``, the interval is Student's for the differences of rows. Where few rows make most of
    the variance, such as a rare event that may not have occurred, it is at least as wide as if the truth were the mixture of
    both forecasts by which neither is better. Of ``"debiased-ece"`` it is normal for the difference of the squared errors,
    with the standard error of the jackknife; of any other metric it is normal with the standard error of the bootstrap, in
    which both forecasts of a row move together. A plug-in error such as ``"ece"`` is biased upwards, more so where the
    forecast is calibrated: its interval is for the expected difference on as many new rows. docs/size-and-power.md has how
    often the intervals cover.

    Whole weights are numbers of equal rows, which are drawn one by one; with other weights a row is drawn with its weight.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.significance import paired_difference
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> y = rng.random(1000) < p
    >>> found = paired_difference(y, p, p**2)
    >>> found.lower < found.difference < found.upper < 0
    True
    """
    checks.resamples(n_resamples, hint="1000 is usual")
    measured, (a, b) = as_metric(metric, binning), pair_of(y_true, prob_a, prob_b, y_true_b, data)
    for name, problem in (("prob_a", a), ("prob_b", b)):
        measured.warn_impossible(problem, name)
    return difference_of(measured, a, b, checks.as_level(level), n_resamples, as_rng(rng))


def pair_of(
    y_true: ArrayLike,
    prob_a: ArrayLike,
    prob_b: ArrayLike,
    y_true_b: ArrayLike | None,
    data: DataOptions,
    names: tuple[str, str, str] = ("prob_a", "prob_b", "y_true_b"),
) -> tuple[Problem, Problem]:
    """Return two forecasts of the same rows, each with its labels; columns of the same names are matched by them."""
    a = as_problem(y_true, prob_a, named=Named(forecast=names[0]), remedies=OF_SEVERAL, **data)
    columns, others = columns_of(prob_a), columns_of(prob_b)
    if columns and others and len(columns) == len(others) and set(columns) == set(others):
        prob_b, others = as_array(names[1], prob_b)[:, [others.index(name) for name in columns]], columns
    truth, named = (y_true, Named(forecast=names[1])) if y_true_b is None else (y_true_b, Named(names[2], names[1]))
    b = as_problem(truth, prob_b, column_names=others, named=named, remedies=OF_SEVERAL, **data)
    shapes = [problem.as_given.shape for problem in (a, b)]
    came, hint = f"{shapes[0]} and {shapes[1]}", "Compare forecasts of the same rows and classes"
    checks.require(shapes[0] == shapes[1], f"{' and '.join(names[:2])} must have one shape", got=came, hint=hint)
    classes, of_b = a.classes.tolist(), b.classes.tolist()
    if set(classes) == set(of_b) and classes != of_b:
        must = f"the columns of {' and '.join(names[:2])} must be of the classes in one order"
        hint = f"Bring the columns of both in the order {classes}, and pass labels={classes}"
        checks.refuse(must, got=f"{classes} and {of_b}", hint=hint)
    must, came = f"y_true and {names[2]} must speak of the same classes", f"{classes} and {of_b}"
    hint = "Write both with the same labels, and where one of them lacks a class, pass labels= in column order"
    checks.require(classes == of_b, must, got=came, hint=hint)
    return in_one_precision(a, b)


def in_one_precision(a: Problem, b: Problem) -> tuple[Problem, Problem]:
    """Return both in double precision; the first twice if single precision alone parts them and made no 0 or 1 of another."""
    if a.precision == b.precision:
        return a, b
    one, other = (of.as_given.astype(np.float32) for of in (a, b))
    certain = (one == 0) | (one == 1)
    is_one = np.array_equal(one, other) and np.array_equal(a.code, b.code)
    if is_one and np.array_equal(a.as_given[certain], b.as_given[certain]):
        return a, a
    return exactly(a), exactly(b)


def exactly(problem: Problem) -> Problem:
    """Return a problem in double precision, its decimals as they are there."""
    exact = as_double(problem.as_given)
    if isinstance(problem, BinaryProblem):
        return problem if problem.is_logit else replace(problem, score=exact, precision=exact.dtype)
    return problem if problem.is_logit else replace(problem, forecast=Forecast(exact))


def difference_of(
    metric: Metric, a: Problem, b: Problem, level: float, n_resamples: int, rng: np.random.Generator
) -> PairedDifference:
    """Return the difference of a metric of valid problems of the same rows, in their order."""
    must = "y_true must hold at least two rows with a weight for an interval"
    hint = "Pass more rows: one does not say how much the difference varies"
    checks.require(a.size >= 2 or a.weights.effective_rows >= 2.0, must, got="1", hint=hint)
    with warnings.catch_warnings(action="ignore", category=checks.CalibrationWarning):
        found, upper = metric.difference(a, b, n_resamples, rng), 1.0 - level / 2.0
    far = special.ndtri(upper) if found.rows is None else special.stdtrit(max(found.rows - 1.0, 1.0), upper)
    difference, reach = found.value, float(far) * found.error
    return PairedDifference(metric.name, difference, difference - reach, difference + reach, found.error, level)


# Independent samples: the difference of a metric from the rows of both


ROUNDING = 1e-12
"""Part of a difference of which a standard error is at least this much; less is rounding."""


def difference_of_samples(
    metric: Metric, found: Difference, first: Difference, level: float
) -> tuple[PairedDifference, float]:
    """Return the difference of a metric of two independent samples, with Welch's interval, and the p-value of none.

    Each comes as the metric of a sample and its standard error (`Metric.difference` of nothing else). Of means over rows the
    law is Student's, with the degrees of freedom of Welch and Satterthwaite; of any other metric the normal one.
    """
    difference, error = apart(found.value, first.value), float(np.hypot(found.error, first.error))
    must, hint = "rows of a sample must differ in what they add to the metric", "Pass more rows"
    least = min(found.error, first.error)  # of rows that are alike none says how much others differ
    checks.require(least > ROUNDING * abs(difference) or difference == 0.0, must, got="none that do", hint=hint)
    rows = np.inf
    if found.rows is not None and first.rows is not None and error > 0.0:
        parts = [
            (one.error / error) ** 4 / max(rows - 1.0, 1.0) for one, rows in ((found, found.rows), (first, first.rows))
        ]
        rows = 1.0 / sum(parts)
    far, t = float(special.stdtrit(rows, 1.0 - level / 2.0)), abs(difference) / error if error > 0.0 else np.inf
    pvalue = 2.0 * float(special.stdtr(rows, -t)) if difference else 1.0
    ends = difference - far * error, difference + far * error
    return PairedDifference(metric.name, difference, *ends, error, level), pvalue


# Two forecasts of the same rows: is one better calibrated than the other?


BLOCK = 1 << 22
"""Rows times draws looked at together."""

HYPOTHESES: dict[Alternative, str] = {
    "greater": "the metric of A is at most that of B",
    "less": "the metric of A is at least that of B",
    "two-sided": "the metrics of A and B are equal",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PairedResult(TestResult):
    """A `TestResult` of two forecasts of the same rows, with the difference of the metric and its interval.

    Attributes
    ----------
    name, statistic, pvalue, null, assumptions, alternative, hypothesis : object
        As in `TestResult`.
    difference : float
        Metric of A less metric of B, with the sign of the statistic; of ``"debiased-ece"`` the difference of their squares, of
        a metric with an ideal value, such as a slope of 1, that of their distances from it.
    lower, upper : float
        Ends of the interval of the difference.
    level : float
        One minus the coverage of the interval, a fraction.

    Notes
    -----
    ``to_frame()`` has the columns difference, lower, upper and level beside those of `TestResult`.
    """

    _table = Table(None, *TestResult._table.columns, "difference", "lower", "upper", "level")

    difference: float
    lower: float
    upper: float
    level: float

    @property
    def _tails(self) -> float:
        return 1.0  # of absolute values there is one tail

    def __repr__(self) -> str:
        return (
            f"PairedResult({self.name}: statistic={self.statistic:.6g}, {self._shown_pvalue}, difference "
            f"{self.difference:.4g}, {1 - self.level:.0%} interval [{self.lower:.4g}, {self.upper:.4g}])"
        )


def paired_test(
    y_true: ArrayLike,
    prob_a: ArrayLike,
    prob_b: ArrayLike,
    *,
    y_true_b: ArrayLike | None = None,
    metric: str | Function = "debiased-ece",
    binning: int | Binning | None = None,
    alternative: Alternative = "two-sided",
    level: float = 0.05,
    n_resamples: int = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> PairedResult:
    """Test whether one of two forecasts of the same rows is better, and estimate by how much.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    prob_a, prob_b : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the two forecasts, of one shape; rows of a table sum to one. Columns of two data frames that have the
        same names are matched by them; ``labels`` are then of the columns of ``prob_a``.
    y_true_b : array-like of shape (n_samples,), optional
        Labels of forecast B where they differ from those of A. For two language models that answered the same questions,
        ``y_true`` and ``y_true_b`` are whether the answer of each was right, ``prob_a`` and ``prob_b`` its confidence. By
        default ``y_true``.
    metric : str or callable, default="debiased-ece"
        What they are compared by: a registered metric, or a function of (y_true, y_prob). What is tested depends on
        it; see the notes.
    binning : int or Binning, optional
        How scores are cut, for a registered metric with bins; a number n means ``EqualWidth(n)``. By default as the metric
        does, mostly ``EqualWidth(15)``.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        The metric of A differs from that of B, is greater, or is less, as in `scipy.stats.ttest_rel`. Whether A is better: by a
        loss or a calibration error ``"less"``, by a score such as ``"accuracy"`` ``"greater"``.
    level : float, default=0.05
        One minus the coverage of the interval of the difference, a fraction in (0, 1). The interval has two ends, whatever
        the alternative.
    n_resamples : int, default=1000
        Number of times the forecasts are swapped at random, and of bootstrap samples for the interval, where they are drawn.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    PairedResult
        ``difference`` is the metric of A less that of B, with its interval from ``lower`` to ``upper``: see
        `paired_difference`. The statistic has its sign: of a loss both are negative where A is better.

    Notes
    -----
    ``"debiased-ece"`` : the null hypothesis is that both have the same squared calibration error over the bins. Sharper
    forecasts have more noise in their bins, and a plug-in error takes that for miscalibration; here the bias is removed, so
    that the two errors can be compared. The statistic is their difference by its jackknife standard error, which is too large
    where both are calibrated: the test is then conservative.

    A score that is a mean over rows (``"nll"``, ``"brier"``) : the difference of each row changes its sign at random. The
    null hypothesis is a mean difference of zero, tested exactly if differences are symmetric about it and else for many rows;
    since they need not be, the p-value is no less than that of the interval of `paired_difference`. A proper score measures
    refinement together with calibration: the forecast with the better score may be the worse calibrated.

    Any other metric : the two forecasts of each row are swapped at random. The null hypothesis is that swapping changes
    nothing at all, which is more than equal errors: two calibrated forecasts, one sharper than the other, are found
    different by their plug-in ECE (docs/size-and-power.md has the figures). Scores are swapped as they are: areas under ROC
    curves, which depend on ranks alone, are found to differ less often where one forecast has another scale.

    Weights mean the same in the p-value and in the interval. A whole weight is that many equal, independent rows: 10 of them
    are swapped one by one. Any other weight says how much one row counts; that row is swapped as a whole. If whole weights are
    no numbers of rows, divide them by their mean.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import paired_test
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> y = rng.random(1000) < p
    >>> bool(paired_test(y, p, p**2).pvalue < 0.001)
    True
    """
    checks.resamples(n_resamples, hint="1000 is usual")
    checks.choice("alternative", alternative, HYPOTHESES)
    measured = as_metric(metric, binning)
    a, b = pair_of(y_true, prob_a, prob_b, y_true_b, data)
    for name, problem in (("prob_a", a), ("prob_b", b)):
        measured.warn_impossible(problem, name)
    return paired_result_of(measured, a, b, alternative, checks.as_level(level), n_resamples, as_rng(rng))


def paired_result_of(
    measured: Metric,
    a: Problem,
    b: Problem,
    alternative: Alternative,
    level: float,
    n_resamples: int,
    generator: np.random.Generator,
) -> PairedResult:
    """Return the test of valid problems of the same rows, in their order."""
    if (seen := measured.residuals(a)) is not None and seen.size.is_debiased:
        size = difference_of(measured, a, b, level, n_resamples, generator)
        found = _debiased(size, a.weights, alternative)
    else:
        # Of the forecasts it was said.
        with warnings.catch_warnings(action="ignore", category=checks.CalibrationWarning):
            drawn = _swapped(measured, a, b, n_resamples, generator)
        size = difference_of(measured, a, b, level, n_resamples, generator)
        swap = "A swap of the two forecasts of a row, if they are equally good, changes nothing."
        pvalue = _pvalue(size.difference, drawn, alternative)
        if measured.has_sums:  # signs are even odds only if differences are symmetric: the interval must exclude 0 too
            pvalue = max(pvalue, _students(size, a.weights, 2 if alternative == "two-sided" else 1))
        found = {
            "statistic": size.difference,
            "pvalue": pvalue,
            "null": Draws(f"{n_resamples} random swaps of the forecasts", drawn),
            "assumptions": (result.OUTSIDE, result.INDEPENDENT, swap),
        }
    facts = {name: getattr(size, name) for name in ("difference", "lower", "upper", "level")}
    hypothesis = HYPOTHESES[alternative]
    return PairedResult(
        name=f"paired {measured.name}", alternative=alternative, hypothesis=hypothesis, **facts, **found
    )


# Swaps


def _swapped(metric: Metric, a: Problem, b: Problem, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the metric of A less that of B after each of many random swaps."""
    if (differences := metric.row_differences(a, b)) is not None:
        return _flipped(differences / a.weights.total, a.weights, n_resamples, rng)
    drawn = np.empty(n_resamples)
    twice, second = np.tile(np.arange(a.size), 2), np.repeat([False, True], a.size)
    of_both: tuple[Problem, ...] = ()
    if a.weights.repeat_rows:
        of_both = _mixed(a.at(twice), b.at(twice), second), _mixed(b.at(twice), a.at(twice), second)
    for place in range(n_resamples):
        if of_both:  # of some of the equal rows the forecasts are swapped
            kept = np.rint(_kept(a.weight, (a.size,), rng))
            mixed, other = (one.weighted(np.concatenate([kept, a.weight - kept])) for one in of_both)
        else:
            swap = rng.random(a.size) < 0.5
            mixed, other = _mixed(a, b, swap), _mixed(b, a, swap)
        drawn[place] = apart(metric.compared(mixed), metric.compared(other))
    fits = np.isfinite(drawn).all() and np.isfinite([metric.compared(a), metric.compared(b)]).all()
    must = "metric must be a number on both forecasts and their mixtures"
    checks.require(fits, must, given=f"{metric.name} is not", hint="Choose a metric that is defined for them")
    return drawn


def _flipped(each: FloatArray, weights: Weights, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the weighted sums of differences with random signs, one for each of the rows that a whole weight is."""
    weight, counted = weights.values, weights.are_counts and not weights.is_unit
    total, step, sums = float(each @ weight), max(1, BLOCK // each.size), []
    each = each if counted else each * weight
    for start in range(0, n_resamples, step):
        size = (min(step, n_resamples - start), each.size)
        kept = _kept(weight, size, rng) if counted else rng.integers(0, 2, size=size, dtype=np.int8)
        sums.append(2.0 * (kept @ each) - total)
    return np.concatenate(sums)


def _kept(count: FloatArray, size: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Return how many of so many equal rows keep their sign; of very many by the normal law, which numbers can still hold."""
    if count.max() < EXACT:
        return rng.binomial(count.astype(np.int64), 0.5, size=size).astype(np.float64)
    return count / 2.0 + np.sqrt(count) / 2.0 * rng.standard_normal(size)


def _mixed(one: Problem, other: Problem, swap: BoolArray) -> Problem:
    """Return ``one`` with the forecasts of ``other``, and the labels where they are its own, where ``swap`` says so."""
    if isinstance(one, BinaryProblem) and isinstance(other, BinaryProblem):
        outcome = np.where(swap, other.outcome, one.outcome)
        logit = None if one.logit is None or other.logit is None else np.where(swap, other.logit, one.logit)
        return replace(one, score=np.where(swap, other.score, one.score), outcome=outcome, logit=logit)
    first, second = as_simplex(one), as_simplex(other)
    label = np.where(swap, second.label, first.label)
    is_logit = first.is_logit and second.is_logit and first.classes.size == 2  # those of an event say more
    values = np.where(swap[:, None], *(each.values if is_logit else each.as_given for each in (second, first)))
    return replace(first, forecast=Forecast(values, is_logit, first.precision), label=label)


def _pvalue(statistic: float, drawn: FloatArray, alternative: Alternative) -> float:
    if alternative == "two-sided":
        statistic, drawn = abs(statistic), np.abs(drawn)
    elif alternative == "less":
        statistic, drawn = -statistic, -drawn
    slack = result.TIE * float(np.abs(drawn).max(initial=abs(statistic)))
    return (1.0 + float(np.sum(drawn >= statistic - slack))) / (1.0 + drawn.size)


def _students(size: PairedDifference, weights: Weights, tails: int) -> float:
    """Return the p-value of a mean difference by the law of its interval, on the side that it lies on or on both."""
    if size.standard_error <= ROUNDING * abs(size.difference):
        return 0.0
    rows, t = max(weights.effective_rows - 1.0, 1.0), abs(size.difference) / size.standard_error
    return tails * float(special.stdtr(rows, -t))


# Squared errors without their bias


def _debiased(size: PairedDifference, weights: Weights, alternative: Alternative) -> dict[str, Any]:
    """Return statistic, p-value and law of the difference of the squared errors by its standard error."""
    difference, error = size.difference, size.standard_error
    error = error if error > ROUNDING * abs(difference) else 0.0
    if error == 0 and difference != 0:
        checks.warn(
            "the standard error of the difference is zero, since the rows of each bin deviate alike; the p-value is 0, however "
            "few the rows are. Pass metric='brier', which swaps the forecasts of rows and so counts them."
        )
    z = difference / error if error > 0 else float(np.copysign(np.inf, difference)) if difference else 0.0
    law = result.standard_normal()
    tails = {"greater": float(law.sf(z)), "less": float(law.sf(-z)), "two-sided": float(2.0 * law.sf(abs(z)))}
    assumptions = (
        result.OUTSIDE,
        result.INDEPENDENT,
        *weights.assumptions,
        "Deviations are even within a bin, and bins hold rows enough for a sum over rows to be normal.",
    )
    return {"statistic": z, "pvalue": tails[alternative], "null": law, "assumptions": assumptions}


LEVEL = 0.001
"""Level of each of the three tests: two samples of one population are warned of in at most 3 of 1000 cases."""

FAR = 2.0 / 3.0
"""Share of the held-out rows' log loss, or error rate, below which these rows are far better."""

FEWEST, LEAST_SHARE = 5, 0.01
"""Rows, and share of the smaller set, that must stand in both before anything is said."""

WHY = "A classifier does better on its training rows than on new rows: a calibrator fitted to them leaves it over-confident."
WHAT_TO_DO = (
    "Calibrate on rows that were held out of training, or on cross-validated predictions "
    "(sklearn.model_selection.cross_val_predict)."
)


def warn_if_training_rows(rows: Problem, other: Problem) -> None:
    """Warn where rows for calibration look like training rows beside ``other`` ones, or stand among these as well."""
    fits = rows.classes.tolist() == other.classes.tolist()
    must = "the held-out rows must have the same classes"
    hint = "Give forecasts of one classifier, or name the classes with labels="
    checks.require(fits, must, got=f"{other.classes.tolist()} beside {rows.classes.tolist()}", hint=hint)
    if better := _far_better(rows, other):
        checks.warn(
            f"calibration rows must be held out of training; these look like training rows: {better}. {WHY} {WHAT_TO_DO}"
        )
    if shared := n_shared(rows, other):
        checks.warn(
            f"calibration rows and held-out rows must be different; {shared} of {rows.size} calibration rows are also among "
            f"the {other.size} held-out rows, with the same label and the same prediction. Figures on rows that the "
            "calibrator was fitted to are too good. Remove these rows from one of the two."
        )


def _far_better(rows: Problem, other: Problem) -> str:
    """Say in which figures rows are far better than the held-out rows; nothing where they are not."""
    words, losses = [], (LogLoss()(as_simplex(rows)), LogLoss()(as_simplex(other)))
    here, there = (float(np.mean(loss)) for loss in losses)
    if here < FAR * there and loss_pvalue(*losses) < LEVEL:
        words.append(f"their log loss is {here:.4f}, that of the held-out rows {there:.4f}")
    right = [of.prob.argmax(axis=1) == of.label for of in map(as_simplex, (rows, other))]
    here, there = (float(np.mean(one)) for one in right)
    if 1 - here < FAR * (1 - there) and accuracy_pvalue(*right) < LEVEL:
        words.append(f"their accuracy is {here:.1%}, that of the held-out rows {there:.1%}")
    return ", and ".join(words)


def loss_pvalue(rows: FloatArray, other: FloatArray) -> float:
    """p-value of losses as low as these beside the other ones, by ranks: a few large losses do not decide it.

    (Mann and Whitney, On a test of whether one of two random variables is stochastically larger than the other, 1947.)
    """
    if np.ptp(np.concatenate([rows, other])) == 0:
        return 1.0
    return float(scipy.stats.mannwhitneyu(rows, other, alternative="less", method="asymptotic").pvalue)


def accuracy_pvalue(rows: BoolArray, other: BoolArray) -> float:
    """p-value of as many right predictions beside the other ones: Fisher's exact test."""
    table = [[int(one.sum()), int((~one).sum())] for one in (rows, other)]
    return float(scipy.stats.fisher_exact(table, alternative="greater").pvalue)


def n_shared(rows: Problem, other: Problem) -> int:
    """Return how many rows stand among the held-out rows as well, where ties do not explain it; else 0.

    Only forecasts that occur twice in all are looked at. Where ties make them twice, they lie in different sets as often as
    any two rows do; where the sets share rows, they all do.
    """
    _, at, times = np.unique(np.concatenate([_keys(rows), _keys(other)]), return_inverse=True, return_counts=True)
    among_rows = np.bincount(at[: rows.size], minlength=times.size)
    twice = int((times == 2).sum())
    split = int(((times == 2) & (among_rows == 1)).sum())
    if split < max(FEWEST, LEAST_SHARE * min(rows.size, other.size)):
        return 0
    n = rows.size + other.size
    by_chance = 2.0 * rows.size * other.size / (n * (n - 1.0))
    return split if scipy.stats.binom.sf(split - 1, twice, min(by_chance, 1.0)) < LEVEL else 0


def _keys(problem: Problem) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return a number for each row, the same for rows that agree in all columns and the label."""
    together = np.ascontiguousarray(np.column_stack([problem.values + 0.0, problem.code]))  # -0 is 0
    return np.array([hash(row.tobytes()) for row in together], dtype=np.int64)


# Equivalence test: is the calibration error below a bound?


USUAL = "Pass 'ece' or 'ks-error'"

DIRECTIONS = 10
"""Plausible directions of the true deviations, of each kind of noise, besides the one observed."""

PAIRS = 50
"""Pairs of draws of noise on which a metric is seen to be a norm."""

FAR_BEYOND = 1e5
"""True deviations that are larger than noise by this factor have a size that is linear in the noise."""

SMALL = 1e-2
"""The size that they are given for that, and noise with them: a size of one or more may be cut off."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EquivalenceResult(TestResult):
    """A `TestResult` of an equivalence test: a small p-value means that the error is below the bound.

    Attributes
    ----------
    name, statistic, pvalue, null, assumptions, alternative, hypothesis : object
        As in `TestResult`.
    bound : float
        Error that was tested.
    upper : float
        Smallest bound that would have been accepted: the error is at most this, with confidence one minus ``level``.
    level : float
        One minus the confidence of ``upper``, a fraction.

    Notes
    -----
    ``to_frame()`` has the columns bound, upper and level beside those of `TestResult`.
    """

    _table = Table(None, *TestResult._table.columns, "bound", "upper", "level")

    bound: float
    upper: float
    level: float

    def __repr__(self) -> str:
        return (
            f"EquivalenceResult({self.name}: statistic={self.statistic:.6g}, {self._shown_pvalue}, "
            f"at most {self.upper:.4g} with confidence {1 - self.level:.0%})"
        )


@declare("test", "equivalence", symbol="EQ", source="Wellek 2010")
def equivalence_test(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    bound: float = 0.02,
    metric: str = "ece",
    binning: int | Binning | None = None,
    level: float = 0.05,
    n_resamples: int = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> EquivalenceResult:
    """Test whether a calibration error is below a bound: a small p-value speaks for calibration, up to the bound.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    bound : float, default=0.02
        Error that would still be accepted, in the metric's own units. The null hypothesis is an error at least as large.
    metric : str, default="ece"
        A registered metric that is the size of residuals: a binned error, or one seen through a lens. Not ``"tce"``, which
        counts predictions.
    binning : int or Binning, optional
        How scores are cut, for a metric with bins; a number n means ``EqualWidth(n)``. By default as the metric does, mostly
        ``EqualWidth(15)``. The fewer bins, the sooner a small error can be shown.
    level : float, default=0.05
        One minus the confidence of the upper limit that is stated beside the p-value.
    n_resamples : int, default=1000
        Draws of each kind of noise.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    EquivalenceResult
        The statistic is the metric; a small one speaks against the null hypothesis. ``upper`` is the limit.

    Notes
    -----
    Calibration cannot be shown by a large p-value of another test: few rows give one as well. The error in question is that of
    the bins at hand. The plug-in estimate is biased upwards, which makes the test conservative: it finds an error at the
    bound to be below it in less than the nominal share of cases (docs/size-and-power.md has the figures).

    Examples
    --------
    >>> from calibrant import equivalence_test, load_digits_forecast
    >>> equivalence_test(*load_digits_forecast(), bound=0.25)
    EquivalenceResult(equivalence of ece: statistic=0.197294, pvalue<=0.001, at most 0.215... with confidence 95%)
    """
    checks.of_type("metric", metric, str, "the name of a calibration error", hint=USUAL)
    measured, problem = as_metric(metric, binning), as_problem(y_true, y_prob, **data)
    if (residuals := measured.residuals(problem)) is None:
        checks.refuse(
            "metric must be the size of residuals, in bins or through a lens", value=measured.name, hint=USUAL
        )
    if residuals.size.counts_rows:
        checks.refuse(
            "metric must be the size of residuals",
            got=f"{measured.name!r}, the percentage of predictions that tests reject",
            hint="It is no distance, with no triangle inequality, and grows with the number of rows: a bound on it has no "
            "meaning. Pass 'ece' or 'ks-error'; estimate_calibration_error gives its expected value under calibration",
        )
    bound = checks.fraction("bound", bound, hint="Pass the largest error that you accept, such as 0.02")
    level = checks.as_level(level)
    checks.resamples(n_resamples, hint="1000 is usual")
    value, shifts = _shifts(residuals, measured.name, n_resamples, as_rng(rng))
    pvalues = (1.0 + np.sum(shifts <= value - bound + result.TIE * (value + bound), axis=1)) / (1.0 + n_resamples)
    worst, statistic = int(np.argmax(pvalues)), measured.value(problem)
    near = "Deviations are those over these bins, in a direction near the observed one."
    return EquivalenceResult(
        name=f"equivalence of {measured.name}",
        statistic=statistic,
        pvalue=float(pvalues[worst]),
        null=Draws(f"{n_resamples} draws of noise on an error of {bound:g}", bound + shifts[worst]),
        assumptions=(result.OUTSIDE, result.INDEPENDENT, near),
        alternative="less",
        hypothesis=result.hypothesis_of(problem, words=f"{measured.name} is {bound:g} or more"),
        bound=bound,
        upper=max(statistic, min(value - float(np.quantile(shifts, level, axis=1).min()), measured.range[1])),
        level=level,
    )


def _shifts(residuals: Residuals, name: str, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
    """Return the metric, and by how much noise shifts it, a row for each direction and kind of noise."""
    must = "binning must cut scores without looking at the outcomes, so that noise has bins to fall in"
    checks.require(
        residuals.has_fixed_cells, must, value=residuals.table[1], hint="Pass a number of bins or EqualMass(10)"
    )
    simplex, table = as_simplex(residuals.problem), residuals.cells()
    bootstrap = Bootstrap(simplex.weights, n_resamples, rng)
    kinds = [
        *consistent_deviations(simplex, [table], n_resamples, rng),
        resampled_deviations(simplex, table, bootstrap),
    ]
    if residuals.lens.has_bins:
        kinds.append(smoothed_deviations(table, n_resamples, rng))
    sizes, seen = residuals.sizes(table), table.deviation[None]
    other = kinds[0][PAIRS : 2 * PAIRS]
    one = kinds[0][:PAIRS][: len(other)]
    is_convex = (sizes(one + other) <= (sizes(one) + sizes(other)) * (1.0 + 1e-9)).all()
    must = "metric must be a norm of the residuals: twice as large for twice the residuals, and convex"
    is_norm = is_convex and np.allclose(sizes(2.0 * one), 2.0 * sizes(one))
    checks.require(is_norm, must, given=f"{name} is not", hint="Pass 'ece', 'rmsce', 'mce', 'ks-error' or another")
    directions = np.concatenate([seen, *(seen - kind[:DIRECTIONS] for kind in kinds)])
    return float(sizes(seen)[0]), np.concatenate([_shifts_of(sizes, directions, kind) for kind in kinds])


def _shifts_of(sizes: Sizes, directions: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the derivative of the size at each direction along each row of noise, shape (directions, rows)."""
    ahead, aside = sizes.look(directions), sizes.look(noise)  # what is seen is linear: each is looked at once
    lengths, reach = sizes.size(ahead), float(sizes.size(aside).max())
    shifts, unit = np.empty((len(directions), len(noise))), SMALL / (FAR_BEYOND * (reach or 1.0))
    for i, length in enumerate(lengths):
        factor = SMALL / length if length > reach * 1e-200 else 0.0
        far, small = [factor * seen[i : i + 1] for seen in ahead], [unit * seen for seen in aside]
        shifts[i] = (sizes.size([a + b for a, b in zip(far, small, strict=True)]) - sizes.size(far)[0]) / unit
    return shifts
