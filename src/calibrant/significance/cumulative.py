"""Kolmogorov and Smirnov's test and Kuiper's, on the cumulative residuals: no bins, nothing to choose."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.registry import declare
from calibrant._core.rows import Approximate, BinaryProblem
from calibrant.exceptions import CalibrationWarning
from calibrant.lenses import (
    Cumulative,
    Extent,
    View,
    Within,
    end_deviation,
    largest,
    largest_within,
    residual_of,
    spread,
    spread_within,
)
from calibrant.notions import Notion, as_notion, single_problem
from calibrant.significance.result import (
    INDEPENDENT,
    OUTSIDE,
    KnownLaw,
    TestResult,
    hypothesis_of,
    label_draws,
    require_resamples,
)
from calibrant.sums import Predictions
from calibrant.sums.draws import (
    Rng,
    as_rng,
    distance_density,
    distance_survival,
    range_density,
    range_survival,
    require_drawable,
)
from calibrant.sums.sums import CellProblem

BLOCK = 1 << 20
"""Rows times draws looked at together."""

ROUNDING = 1e-12
"""An error below it, of probabilities that are all 0 or 1 but for rounding, is none."""

LARGEST_DISTANCE = KnownLaw("largest distance of a Brownian motion from 0", distance_survival, distance_density)
RANGE = KnownLaw("range of a Brownian motion", range_survival, range_density)


@declare("test", "kolmogorov-smirnov", symbol="KS", source="Arrieta-Ibarra et al. 2022")
def kolmogorov_smirnov_test(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
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
    problem, words = _single_problem(y_true, y_prob, notion, "kolmogorov_smirnov_test", data)
    how = _How("Kolmogorov-Smirnov", largest, largest_within, LARGEST_DISTANCE)
    return replace(_test(how, problem, n_resamples, rng), hypothesis=words)


@declare("test", "kuiper", symbol="Kuiper", source="Arrieta-Ibarra et al. 2022")
def kuiper_test(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
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
    problem, words = _single_problem(y_true, y_prob, notion, "kuiper_test", data)
    return replace(_test(_How("Kuiper", spread, spread_within, RANGE), problem, n_resamples, rng), hypothesis=words)


def _single_problem(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None,
    notion: str | Notion | None,
    test: str,
    data: DataOptions,
) -> tuple[BinaryProblem, str]:
    """Return the one problem of a notion, and the hypothesis about it in words."""
    problem = as_problem(y_true, y_prob, **data)
    chosen = as_notion(notion, problem)
    each = f"Test each: by_class({test}, y_true, y_prob, notion={chosen.name!r})"
    return single_problem(problem, chosen, each), hypothesis_of(problem, chosen)


class _How(NamedTuple):
    """A test: its name, how large the running sums are, in cells between which limits, and the law of that."""

    name: str
    size: Extent
    within: Within
    law: KnownLaw


def _test(how: _How, problem: BinaryProblem, n_resamples: int | None, rng: Rng) -> TestResult:
    name, size, law = how.name, how.size, how.law
    view = Cumulative()(problem)
    error = float(size(view, view.look(residual_of(problem)))[0])
    deviation = end_deviation(problem)
    if deviation > 0:
        statistic = error / deviation
    else:
        statistic = np.inf if error > ROUNDING else 0.0
        warnings.warn(
            "the residuals must have some variance under calibration; every probability is 0 or 1. "
            f"The statistic is set to {statistic:g}. Measure the accuracy instead.",
            CalibrationWarning,
            stacklevel=3,
        )
    if n_resamples is None:
        many = "There are enough rows for their cumulative residuals to be a Brownian motion."
        assumptions = (OUTSIDE, INDEPENDENT, *problem.weights.assumptions, many)
        result = TestResult(name, statistic, float(law.sf(statistic)), law, assumptions)
    else:
        drawn = _drawn_errors(problem, view, size, n_resamples, as_rng(rng))
        null = label_draws(drawn / deviation if deviation > 0 else drawn)
        result = TestResult(name, statistic, float(null.sf(statistic)), null, (OUTSIDE, INDEPENDENT))
    if isinstance(problem, CellProblem):
        return _with_limits(result, problem, how.within(problem.cells, error))
    return result


def _with_limits(result: TestResult, problem: CellProblem, error: tuple[float, float]) -> TestResult:
    """Return the result of cells with the limits of that of the rows, and say so.

    The error of the rows lies between two limits. The variance of their outcomes is that of the cells less the variance of the
    scores within each cell, which is at most (highest - mean) * (mean - lowest).
    """
    if not np.isfinite(result.statistic) or result.statistic == 0.0:
        return result
    cells, deviation = problem.cells, end_deviation(problem)
    within = float(cells.weight @ ((cells.highest - cells.mean) * (cells.mean - cells.lowest))) / cells.total**2
    least = np.sqrt(max(deviation**2 - within, 0.0))
    statistic = Approximate(result.statistic, error[0] / deviation, error[1] / least if least > 0.0 else np.inf)
    limits = float(result.null.sf(statistic.upper)), float(result.null.sf(statistic.lower))
    pvalue = Approximate(result.pvalue, *limits)
    said = (
        f"Scores were rounded to fine cells: the statistic of the rows is from {statistic.lower:.4g} to {statistic.upper:.4g}, "
        f"of which the p-values are from {pvalue.lower:.3g} to {pvalue.upper:.3g}."
    )
    return replace(result, statistic=statistic, pvalue=pvalue, assumptions=(*result.assumptions, said))


def _drawn_errors(
    problem: BinaryProblem, view: View, size: Extent, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Draw labels from the forecast and return the error of each draw, some draws at a time."""
    require_resamples(n_resamples)
    step = max(1, BLOCK // problem.size)
    blocks = []
    for start in range(0, n_resamples, step):
        m = min(step, n_resamples - start)
        blocks.append(size(view, view.look(_drawn_outcomes(problem, m, rng) - problem.score)))
    return np.concatenate(blocks)


def _drawn_outcomes(problem: BinaryProblem, m: int, rng: np.random.Generator) -> npt.NDArray[Any]:
    """Draw outcomes of each row, shape (m, n); of cells and whole weights the share of the rows in which the event occurs."""
    if not (isinstance(problem, CellProblem) or problem.weights.repeat_rows):
        return rng.random((m, problem.size)) < problem.score
    require_drawable(float(problem.weights.of_variance.max()))
    rows = np.rint(problem.weights.of_variance).astype(np.int64)
    return rng.binomial(rows, problem.score, (m, problem.size)) / rows
