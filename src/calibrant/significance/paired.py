"""Two forecasts of the same rows: is one better calibrated than the other?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, require
from calibrant._core.problem import (
    BinaryProblem,
    BoolArray,
    Forecast,
    Problem,
    as_simplex,
)
from calibrant._core.table import Table
from calibrant._core.validation import DataOptions
from calibrant._core.warnings import warn
from calibrant._core.weights import Weights
from calibrant.binning import Binning
from calibrant.metrics.kinds.metric import Function, Metric, as_metric
from calibrant.significance.difference import PairedDifference, as_level, difference_of, pair_of
from calibrant.significance.null import TIE, Draws, require_resamples, standard_normal
from calibrant.significance.result import INDEPENDENT, OUTSIDE, Alternative, TestResult
from calibrant.sums.draws import Rng, as_rng

BLOCK = 1 << 22
"""Rows times draws looked at together."""

MANY = 2.0**53
"""Numbers of equal rows from which a float does not hold every one."""

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
    y_true: npt.ArrayLike,
    prob_a: npt.ArrayLike,
    prob_b: npt.ArrayLike,
    *,
    y_true_b: npt.ArrayLike | None = None,
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
    null hypothesis is a mean difference of zero, tested exactly if differences are symmetric about it and else for many
    rows. A proper score measures refinement together with calibration: the forecast with the better score may be the worse
    calibrated.

    Any other metric : the two forecasts of each row are swapped at random. The null hypothesis is that swapping changes
    nothing at all, which is more than equal errors: two calibrated forecasts, one sharper than the other, are found
    different by their plug-in ECE (docs/testing.md has the figures).

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
    require_resamples(n_resamples)
    choice("alternative", alternative, HYPOTHESES)
    measured = as_metric(metric, binning)
    level, generator = as_level(level), as_rng(rng)
    a, b = pair_of(y_true, prob_a, prob_b, y_true_b, data)
    debiased = (seen := measured.residuals(a)) is not None and seen.size.is_debiased
    drawn = None if debiased else _swapped(measured, a, b, n_resamples, generator)
    size = difference_of(measured, a, b, level, n_resamples, generator)
    if drawn is None:
        found = _debiased(size, a.weights, alternative)
    else:
        swap = "A swap of the two forecasts of a row, if they are equally good, changes nothing."
        found = {
            "statistic": size.difference,
            "pvalue": _pvalue(size.difference, drawn, alternative),
            "null": Draws(f"{n_resamples} random swaps of the forecasts", drawn),
            "assumptions": (OUTSIDE, INDEPENDENT, swap),
        }
    return PairedResult(
        name=f"paired {measured.name}",
        alternative=alternative,
        hypothesis=HYPOTHESES[alternative],
        difference=size.difference,
        lower=size.lower,
        upper=size.upper,
        level=level,
        **found,
    )


# Swaps


def _swapped(metric: Metric, a: Problem, b: Problem, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the metric of A less that of B after each of many random swaps."""
    losses, others = metric.losses(a), metric.losses(b)
    if losses is not None and others is not None:
        for name, problem in (("prob_a", a), ("prob_b", b)):
            metric.warn_impossible(problem, name)
        return _flipped((losses - others) / a.weights.total, a.weights, n_resamples, rng)
    drawn = np.empty(n_resamples)
    if a.weights.repeat_rows:  # of some of the equal rows the forecasts are swapped
        twice, swap = np.tile(np.arange(a.size), 2), np.repeat([False, True], a.size)
        of_both = _mixed(a.at(twice), b.at(twice), swap), _mixed(b.at(twice), a.at(twice), swap)
    for number in range(n_resamples):
        if a.weights.repeat_rows:
            kept = np.rint(_kept(a.weight, (a.size,), rng))
            mixed, other = (one.weighted(np.concatenate([kept, a.weight - kept])) for one in of_both)
        else:
            swap = rng.random(a.size) < 0.5
            mixed, other = _mixed(a, b, swap), _mixed(b, a, swap)
        drawn[number] = metric.compared(mixed) - metric.compared(other)
    require(
        np.isfinite(drawn).all() and np.isfinite([metric.compared(a), metric.compared(b)]).all(),
        "metric must be a number on both forecasts and their mixtures",
        given=f"{metric.name} is not",
        hint="Choose a metric that is defined for them",
    )
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
    if count.max() < MANY:
        return rng.binomial(count.astype(np.int64), 0.5, size=size).astype(np.float64)
    kept: FloatArray = count / 2.0 + np.sqrt(count) / 2.0 * rng.standard_normal(size)
    return kept


def _mixed(one: Problem, other: Problem, swap: BoolArray) -> Problem:
    """Return ``one`` with the forecasts of ``other``, and the labels where they are its own, where ``swap`` says so."""
    if isinstance(one, BinaryProblem) and isinstance(other, BinaryProblem):
        outcome = np.where(swap, other.outcome, one.outcome)
        return replace(one, score=np.where(swap, other.score, one.score), outcome=outcome, logit=None)
    first, second = as_simplex(one), as_simplex(other)
    label = np.where(swap, second.label, first.label)
    prob = np.where(swap[:, None], second.forecast.as_given, first.forecast.as_given)
    return replace(first, forecast=Forecast(prob, given_in=first.precision), label=label)


def _pvalue(statistic: float, drawn: FloatArray, alternative: Alternative) -> float:
    if alternative == "two-sided":
        statistic, drawn = abs(statistic), np.abs(drawn)
    elif alternative == "less":
        statistic, drawn = -statistic, -drawn
    slack = TIE * float(np.abs(drawn).max(initial=abs(statistic)))
    return (1.0 + float(np.sum(drawn >= statistic - slack))) / (1.0 + drawn.size)


# Squared errors without their bias


def _debiased(size: PairedDifference, weights: Weights, alternative: Alternative) -> dict[str, Any]:
    """Return statistic, p-value and law of the difference of the squared errors by its standard error."""
    difference, error = size.difference, size.standard_error
    if error == 0 and difference != 0:
        warn(
            "the standard error of the difference is zero, since the rows of each bin deviate alike; the p-value is 0, however "
            "few the rows are. Pass metric='brier', which swaps the forecasts of rows and so counts them."
        )
    z = difference / error if error > 0 else float(np.copysign(np.inf, difference)) if difference else 0.0
    law = standard_normal()
    tails = {"greater": float(law.sf(z)), "less": float(law.sf(-z)), "two-sided": float(2.0 * law.sf(abs(z)))}
    assumptions = (
        OUTSIDE,
        INDEPENDENT,
        *weights.assumptions,
        "Deviations are even within a bin, and bins hold rows enough for a sum over rows to be normal.",
    )
    return {"statistic": z, "pvalue": tails[alternative], "null": law, "assumptions": assumptions}
