"""Two forecasts of the same rows: is one better calibrated than the other?"""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._links import FloatArray
from calibrant._problem import BinaryProblem, BoolArray, Forecast, Problem, are_counts, as_simplex
from calibrant._validation import DataOptions, as_problem
from calibrant.binning import Binning
from calibrant.metrics.cells import cells
from calibrant.metrics.log_losses import warn_impossible
from calibrant.resampling import Rng, as_rng
from calibrant.significance.measure import Function, Measure, as_measure
from calibrant.significance.null import TIE, Draws, require_resamples, standard_normal
from calibrant.significance.result import INDEPENDENT, OUTSIDE, Alternative, TestResult
from calibrant.significance.weights import assumption

BLOCK = 1 << 22
"""Rows times draws looked at together."""

HYPOTHESES: dict[Alternative, str] = {
    "greater": "A is no better than B",
    "less": "A is no worse than B",
    "two-sided": "A and B are as good as each other",
}


def paired_test(
    y_true: npt.ArrayLike,
    prob_a: npt.ArrayLike,
    prob_b: npt.ArrayLike,
    *,
    metric: str | Function = "debiased-ece",
    binning: int | Binning | None = None,
    alternative: Alternative = "greater",
    n_resamples: int = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test whether forecast A is better than forecast B on the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    prob_a, prob_b : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the two forecasts, of one shape; rows of a table sum to one.
    metric : str or callable, default="debiased-ece"
        What they are compared by: a registered metric, or a function of (y_true, y_prob). What is tested depends on
        it; see the notes.
    binning : int or Binning, optional
        How scores are cut, for a registered metric with bins; a number n means ``EqualWidth(n)``. By default as the metric
        does, mostly ``EqualWidth(15)``.
    alternative : {"greater", "less", "two-sided"}, default="greater"
        A is better ("greater"), B is better ("less"), or either.
    n_resamples : int, default=1000
        Number of times the forecasts are swapped at random, where they are.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        A positive statistic says that A is better.

    Notes
    -----
    ``"debiased-ece"`` : the null hypothesis is that both have the same squared calibration error over the bins. Sharper
    forecasts have more noise in their bins, and a plug-in error takes that for miscalibration; here the part of chance
    is taken off, so that the two errors compare. The statistic is their difference by its jackknife standard error, which
    is too large where both are calibrated: the test is then conservative.

    A score that is a mean over rows (``"nll"``, ``"brier"``) : the difference of each row changes its sign at random. The
    null hypothesis is a mean difference of zero, tested exactly if differences are symmetric about it and else for many
    rows. A proper score takes refinement with calibration: the better score may be the worse calibrated.

    Any other metric : the two forecasts of each row are swapped at random. The null hypothesis is that swapping changes
    nothing at all, which is more than equal errors: two calibrated forecasts, one sharper than the other, are found
    different by their plug-in ECE (docs/testing.md has the figures).

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
    if alternative not in HYPOTHESES:
        raise ValueError(
            f"alternative must be one of {', '.join(map(repr, HYPOTHESES))}; got {alternative!r}. Pass one."
        )
    measure = as_measure(metric, binning)
    a, b = _pair(as_problem(y_true, prob_a, **data), as_problem(y_true, prob_b, **data))
    if measure.is_error and measure.point(a).is_debiased:
        return _debiased(measure, a, b, alternative)
    statistic, drawn = _swapped(measure, a, b, n_resamples, as_rng(rng))
    return TestResult(
        name=f"paired {measure.name}",
        statistic=statistic,
        pvalue=_pvalue(statistic, drawn, alternative),
        null=Draws(f"{n_resamples} random swaps of the forecasts", drawn),
        assumptions=(
            OUTSIDE,
            INDEPENDENT,
            "A swap of the two forecasts of a row, if they are equally good, changes nothing.",
        ),
        alternative=alternative,
        hypothesis=HYPOTHESES[alternative],
    )


def _pair(a: Problem, b: Problem) -> tuple[Problem, Problem]:
    shapes = [problem.score.shape if isinstance(problem, BinaryProblem) else problem.prob.shape for problem in (a, b)]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"prob_a and prob_b must have one shape; got {shapes[0]} and {shapes[1]}. Compare forecasts of the same rows "
            "and classes."
        )
    return a, b


# Swaps


def _swapped(
    measure: Measure, a: Problem, b: Problem, n_resamples: int, rng: np.random.Generator
) -> tuple[float, FloatArray]:
    """Return by how much A is better, and by how much it is after each of many random swaps."""
    sign = -1.0 if measure.entry is not None and measure.entry.higher_is_better else 1.0
    if measure.entry is not None and measure.entry.per_row is not None:
        simplex = as_simplex(a)
        for name, problem in (("prob_a", a), ("prob_b", b)):
            warn_impossible(measure.entry.per_row, problem, name)
        gain = sign * (measure.entry.per_row(as_simplex(b)) - measure.entry.per_row(simplex))
        return _flipped(gain * (simplex.weight / simplex.weight.sum()), n_resamples, rng)
    ideal = None if measure.entry is None else measure.entry.ideal

    def badness(problem: Problem) -> float:
        value = measure.value(problem)
        return value if ideal is None else abs(value - ideal)

    drawn = np.empty(n_resamples)
    for number in range(n_resamples):
        swap = rng.random(a.size) < 0.5
        drawn[number] = badness(_mixed(b, a, swap)) - badness(_mixed(a, b, swap))
    statistic = badness(b) - badness(a)
    if not (np.isfinite(statistic) and np.isfinite(drawn).all()):
        raise ValueError(
            f"metric must be a number on both forecasts and their mixtures; {measure.name} is not. "
            "Choose a metric that is defined for them."
        )
    return sign * statistic, sign * drawn


def _flipped(gain: FloatArray, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
    """Return the sum of gains, and the sums with random signs."""
    step = max(1, BLOCK // gain.size)
    sums = []
    for start in range(0, n_resamples, step):
        kept = rng.integers(0, 2, size=(min(step, n_resamples - start), gain.size), dtype=np.int8)
        sums.append(2.0 * (kept @ gain) - gain.sum())
    return float(gain.sum()), np.concatenate(sums)


def _mixed(one: Problem, other: Problem, swap: BoolArray) -> Problem:
    """Return ``one`` with the forecasts of ``other`` where ``swap`` says so."""
    if isinstance(one, BinaryProblem) and isinstance(other, BinaryProblem):
        return replace(one, score=np.where(swap, other.score, one.score), logit=None)
    first, second = as_simplex(one), as_simplex(other)
    return replace(first, forecast=Forecast(np.where(swap[:, None], second.prob, first.prob)))


def _pvalue(statistic: float, drawn: FloatArray, alternative: Alternative) -> float:
    if alternative == "two-sided":
        statistic, drawn = abs(statistic), np.abs(drawn)
    elif alternative == "less":
        statistic, drawn = -statistic, -drawn
    slack = TIE * float(np.abs(drawn).max(initial=abs(statistic)))
    return (1.0 + float(np.sum(drawn >= statistic - slack))) / (1.0 + drawn.size)


# Squared errors without their bias


def _debiased(measure: Measure, a: Problem, b: Problem, alternative: Alternative) -> TestResult:
    error_a, influence_a, times = _unbiased(measure, a)
    error_b, influence_b, _ = _unbiased(measure, b)
    n, influence = float(times.sum()), influence_b - influence_a
    centred = influence - float(times @ influence) / n
    error = float(np.sqrt((n - 1.0) / n * (times @ centred**2)))
    z = (error_b - error_a) / error if error > 0 else float(np.sign(error_b - error_a)) * np.inf
    z = 0.0 if error_b == error_a else z
    law = standard_normal()
    tails = {"greater": float(law.sf(z)), "less": float(law.sf(-z)), "two-sided": float(2.0 * law.sf(abs(z)))}
    return TestResult(
        name=f"paired {measure.name}",
        statistic=float(z),
        pvalue=tails[alternative],
        null=law,
        assumptions=(
            OUTSIDE,
            INDEPENDENT,
            *assumption(a.weight),
            "Deviations are even within a bin, and bins hold rows enough for a sum over rows to be normal.",
        ),
        alternative=alternative,
        hypothesis=HYPOTHESES[alternative],
    )


def _unbiased(measure: Measure, problem: Problem) -> tuple[float, FloatArray, FloatArray]:
    """Return the squared error without bias, by how much each row's absence changes it, and how often each row stands there.

    The square of a bin's mean residual is a mean over pairs of rows; a row paired with itself is what makes the bias.
    """
    simplex, point = as_simplex(problem), measure.point(problem)
    table = cells(simplex, point.notion, point.binning)
    row, column = np.nonzero(table.of >= 0)
    of = table.of[row, column]
    counts = are_counts(simplex.weight)
    times = simplex.weight if counts else np.ones(simplex.size)
    weight = np.ones(simplex.size) if counts else simplex.weight
    own = weight[row]
    residual = own * ((simplex.label[row] == column) - simplex.prob[row, column])

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(of, times[row] * values, table.weight.size).astype(np.float64)

    first, second = total(residual), total(residual**2)
    mass, square, rows = total(own), total(own**2), total(np.ones(own.size))
    whole = _mean_of_pairs(first, second, mass, square, rows)
    without = _mean_of_pairs(
        first[of] - residual, second[of] - residual**2, mass[of] - own, square[of] - own**2, rows[of] - 1.0
    )
    influence = np.bincount(row, table.weight[of] * (without - whole[of]), simplex.size)
    return float(table.weight @ whole), influence.astype(np.float64), times


def _mean_of_pairs(
    first: FloatArray, second: FloatArray, mass: FloatArray, square: FloatArray, rows: FloatArray
) -> FloatArray:
    """Mean product of the residuals of two different rows, from their weighted sums; 0 where there are no two."""
    pairs = np.where(rows > 1.5, mass**2 - square, 1.0)
    return np.where(rows > 1.5, (first**2 - second) / pairs, 0.0)
