"""CORP: a mean score as miscalibration - discrimination + uncertainty, and each of the three as a metric.

How sure the terms are, for the squared error:
The isotonic fit beats the truth on the rows that it was made on. By how much, the overfit, adds to miscalibration and to
discrimination alike; it is never negative. What remains of either is a mean over rows, with a standard error. So

* the lower end takes away from the figure the mean overfit and z standard errors, but at least as much overfit as a forecast
  without miscalibration (without discrimination) shows in all but ``level`` of the cases;
* the upper end takes no overfit away and adds z standard errors.

Overfit is that of labels drawn at the probabilities of the forecast, at those of its fit, at the event rate. The standard
error is that of labels drawn at the fit, pulled toward 1/2 in each block by z^2 / 2 events and as many non-events (Agresti and
Coull 1998), so that a few rows that all went one way are no certainty. A whole weight is that many rows.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import Unpack

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtri

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.proper import EventScore, as_event_score, log_loss, score_name, squared_error
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning.distinct_scores import Ordered
from calibrant.metrics.decompositions.corp_of_cells import corp_of_cells
from calibrant.metrics.decompositions.kull_flach import Decomposition, mean_over_parts
from calibrant.metrics.kinds.metric import Own
from calibrant.metrics.log_losses import Impossible, LogLoss
from calibrant.metrics.uncertainty.estimate import POWER, Estimate, Resampling, least_pvalue_of, pvalue_of
from calibrant.notions import Notion, as_notion, single_problem
from calibrant.solvers.isotonic import base_rate, corp_terms, isotonic_fit, overfit_draws
from calibrant.sums import Predictions
from calibrant.sums.fine_cells import CellProblem

TERMS = ("miscalibration", "discrimination", "uncertainty")


def corp_decomposition(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    score: str | EventScore = "brier",
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> Decomposition:
    """Split a proper score into miscalibration - discrimination + uncertainty, by isotonic regression (CORP).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    Decomposition
        Terms ``miscalibration``, ``discrimination`` (subtracted) and ``uncertainty``, none of them negative. For one
        column ``total`` equals `brier_score_loss`; class-wise `mean_class_brier_loss`, for tables.

    Raises
    ------
    ValueError
        If the score is not proper, as far as the terms show it.

    Notes
    -----
    With the mean scores S of the forecast, F of its isotonic fit and R of the event rate, miscalibration = S - F: what
    recalibration saves; discrimination = R - F: what the calibrated forecast is better than none; uncertainty = R. Nothing
    has to be chosen. The fit is the best for every proper score. It is made and measured on the same rows, so that
    both terms are too large by about as much as a calibrated forecast is miscalibrated: see `miscalibration_loss` in
    `assess`, which states that.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.
    Brümmer, du Preez, The PAV algorithm optimizes binary proper scoring rules, 2013.

    Examples
    --------
    >>> from calibrant.metrics import corp_decomposition
    >>> corp_decomposition([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    Decomposition(brier 0.195 = 0.07 miscalibration - 0.125 discrimination + 0.25 uncertainty)
    """
    loss, problem = as_event_score(score), as_problem(y_true, y_prob, **data)
    impossible: list[Impossible] = []

    def terms_of(part: BinaryProblem) -> tuple[float, ...]:
        if loss is log_loss:  # of logits it sees the probabilities
            impossible.append(LogLoss().impossible(replace(part, logit=None)))
        return corp_of_cells(part, loss) if isinstance(part, CellProblem) else corp_terms(Ordered.of(part), loss)

    found = mean_over_parts(score_name(score), problem, notion, terms_of, TERMS, ("discrimination",))
    if impossible:
        reduce(add, impossible).warn()
    return found


# What is known of each term


def miscalibration_estimate(problem: Problem, resampling: Resampling, notion: str | Notion | None = None) -> Estimate:
    """Estimate how much of the squared error recalibration would save."""
    ordered, z = _ordered(problem, notion), float(-ndtri(resampling.level / 2.0))
    value = corp_terms(ordered, squared_error).miscalibration
    calibrated = _overfit(ordered, ordered.score, resampling)
    around = _overfit(ordered, _fit(ordered), resampling)
    smooth = _fit(ordered, extra=z**2 / 2.0)
    mean, error = _saving(ordered, ordered.score, smooth)
    reach = float(np.quantile(calibrated, 1.0 - resampling.level))
    floor, overfit = float(calibrated.mean()), float(around.mean())
    rows = ordered.problem.weights.effective_rows
    noisy = float(ndtri(POWER)) * _standard_deviation(smooth, ordered) / float(np.sqrt(rows))
    least = max(0.0, reach - min(floor, overfit))
    return Estimate(
        value=value,
        lower=max(0.0, value - max(reach, max(floor, overfit) + z * error)),
        upper=min(1.0, max(value, mean) + z * error),
        noise_floor=floor,
        pvalue=pvalue_of(value, calibrated),
        least_pvalue=least_pvalue_of(calibrated),
        debiased=max(0.0, value - float(np.median(around))) if value > np.median(calibrated) else 0.0,
        # Of a small miscalibration m the standard error is 2 s sqrt(m / n), s being that of one outcome: m solves
        # m - z 2 s sqrt(m / n) + overfit = reach.
        detectable=min(1.0, (noisy + float(np.sqrt(noisy**2 + least))) ** 2),
    )


def discrimination_estimate(problem: Problem, resampling: Resampling, notion: str | Notion | None = None) -> Estimate:
    """Estimate how much better in squared error the calibrated forecast is than none."""
    ordered, z = _ordered(problem, notion), float(-ndtri(resampling.level / 2.0))
    value, base = corp_terms(ordered, squared_error).discrimination, base_rate(ordered)
    constant = _overfit(ordered, np.full(ordered.score.shape, base), resampling)
    around = _overfit(ordered, _fit(ordered), resampling)
    smooth = _fit(ordered, extra=z**2 / 2.0)
    _, error = _saving(ordered, np.full(smooth.shape, ordered.weight @ smooth / ordered.weight.sum()), smooth)
    reach = float(np.quantile(constant, 1.0 - resampling.level))
    most = _variance_bounds(base, ordered.problem.weights.effective_rows, resampling.level)[1]
    return Estimate(
        value=value,
        lower=max(0.0, value - max(reach, max(float(constant.mean()), float(around.mean())) + z * error)),
        # Where there is one class only, all that is known is that there is no more to tell apart than there is uncertainty.
        upper=min(value + z * error, 0.25) if 0.0 < base < 1.0 else most,
    )


def uncertainty_estimate(problem: Problem, resampling: Resampling, notion: str | Notion | None = None) -> Estimate:
    """Estimate the variance of the outcome, by the exact interval of the event rate (Clopper and Pearson 1934)."""
    ordered = _ordered(problem, notion)
    base = base_rate(ordered)
    lower, upper = _variance_bounds(base, ordered.problem.weights.effective_rows, resampling.level)
    return Estimate(corp_terms(ordered, squared_error).uncertainty, lower, upper)


# The metrics


@Own("mcb", "MCB", "Dimitriadis et al. 2021", estimator=miscalibration_estimate, of_cells=as_notion).declare
def miscalibration_loss(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    score: str | EventScore = "brier",
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Reduction of the mean score by isotonic recalibration (MCB of CORP), in [0, 1]; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean score of the forecast minus that of its isotonic fit. The range is that of the Brier score.

    See Also
    --------
    corp_decomposition : All three terms at once.
    discrimination_score : What the calibrated forecast is better than none.

    Notes
    -----
    Biased upwards, since the fit is made on the rows that it is measured on: `assess` states the noise floor. Without bias it
    is the squared distance of the probabilities from the true event rates, where these do not decrease with the score.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant.metrics import miscalibration_loss
    >>> round(miscalibration_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8]), 3)
    0.07
    """
    return corp_decomposition(y_true, y_prob, score=score, notion=notion, **data)["miscalibration"]


@Own(
    "dsc",
    "DSC",
    "Dimitriadis et al. 2021",
    range=(0.0, 0.25),
    higher_is_better=True,
    estimator=discrimination_estimate,
    of_cells=as_notion,
).declare
def discrimination_score(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    score: str | EventScore = "brier",
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Reduction of the mean score from the event rate alone to the isotonic fit (DSC of CORP), in [0, 1/4].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean score of the event rate minus that of the isotonic fit: how well the forecast tells events from others. The range
        is that of the Brier score.

    See Also
    --------
    corp_decomposition : All three terms at once.
    miscalibration_loss : What recalibration saves.

    Notes
    -----
    It depends on the order of the scores alone. Biased upwards, as the miscalibration is.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant.metrics import discrimination_score
    >>> round(discrimination_score([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8]), 3)
    0.125
    """
    return corp_decomposition(y_true, y_prob, score=score, notion=notion, **data)["discrimination"]


@Own(
    "unc", "UNC", "Dimitriadis et al. 2021", range=(0.0, 0.25), estimator=uncertainty_estimate, of_cells=as_notion
).declare
def uncertainty_loss(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    score: str | EventScore = "brier",
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Mean score of predicting the event rate for every row (UNC of CORP), in [0, 1/4].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        For the Brier score the variance of the outcome. The range is that of the Brier score.

    See Also
    --------
    corp_decomposition : All three terms at once.
    discrimination_score : What the calibrated forecast is better than that.

    Notes
    -----
    A property of the outcomes and not of the forecast: forecasts compare in the other two terms.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant.metrics import uncertainty_loss
    >>> uncertainty_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    0.25
    """
    return corp_decomposition(y_true, y_prob, score=score, notion=notion, **data)["uncertainty"]


# Sums over the isotonic fit


def _ordered(problem: Problem, notion: str | Notion | None) -> Ordered:
    """Sort the one problem of a notion."""
    return Ordered.of(
        single_problem(problem, as_notion(notion, problem), "Look at each class: OneVsRest(0), and so on")
    )


def _overfit(ordered: Ordered, rate: FloatArray, resampling: Resampling) -> FloatArray:
    return overfit_draws(ordered, rate, resampling.n_resamples, resampling.rng)


def _fit(ordered: Ordered, extra: float = 0.0) -> FloatArray:
    """Return the fit at each distinct score, after ``extra`` rows of each outcome were added to every block."""
    steps, more = isotonic_fit(ordered), extra * ordered.weight.sum() / ordered.problem.weights.effective_rows
    return steps.at_each_score((steps.rate * steps.weight + more) / (steps.weight + 2.0 * more))


def _saving(ordered: Ordered, before: FloatArray, after: FloatArray) -> tuple[float, float]:
    """Mean and standard error of what squared error falls by, where the events have the rates ``after``."""
    weight, squares = ordered.weight, _squares(ordered)
    event, other = (before - 1.0) ** 2 - (after - 1.0) ** 2, before**2 - after**2
    mean = float(weight @ (after * event + (1.0 - after) * other) / weight.sum())
    variance = squares @ (after * (event - mean) ** 2 + (1.0 - after) * (other - mean) ** 2)
    return mean, float(np.sqrt(variance) / weight.sum())


def _standard_deviation(rate: FloatArray, ordered: Ordered) -> float:
    """Of an outcome, in the mean over rows."""
    return float(np.sqrt(ordered.weight @ (rate * (1.0 - rate)) / ordered.weight.sum()))


def _variance_bounds(base: float, n: float, level: float) -> tuple[float, float]:
    lower = float(betaincinv(base * n, (1.0 - base) * n + 1.0, level / 2.0)) if base > 0 else 0.0
    upper = float(betaincinv(base * n + 1.0, (1.0 - base) * n, 1.0 - level / 2.0)) if base < 1 else 1.0
    ends = (lower * (1.0 - lower), upper * (1.0 - upper))
    return min(ends), 0.25 if lower <= 0.5 <= upper else max(ends)


def _squares(ordered: Ordered) -> FloatArray:
    """Sums of the squared weights of the independent rows on each distinct score."""
    if ordered.is_whole:
        return ordered.weight
    squares: FloatArray = np.add.reduceat(ordered.problem.weight[ordered.order] ** 2, ordered.starts)
    return squares
