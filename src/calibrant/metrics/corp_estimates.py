"""How sure the terms of CORP are, for the squared error.

The isotonic fit beats the truth on the rows that it was made on. By how much, the overfit, adds to miscalibration and to
discrimination alike; it is never negative. What remains of either is a mean over rows, with a standard error. So

* the lower end takes away from the figure the mean overfit and z standard errors, but at least as much overfit as a forecast
  without miscalibration (without discrimination) shows in all but ``level`` of the cases;
* the upper end takes no overfit away and adds z standard errors.

Overfit is drawn: labels come at the probabilities of the forecast, at those of its fit, at the event rate. The standard error
is that of labels which come at the fit, drawn toward 1/2 in each block by z^2 / 2 events and as many non-events (Agresti and
Coull 1998), so that a few rows that all went one way are no certainty. A whole weight is that many rows.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, ndtri

from calibrant._core.links import FloatArray
from calibrant._core.problem import Problem, independent_rows
from calibrant._core.proper import squared_error
from calibrant.binning.ordered import Ordered
from calibrant.metrics.uncertainty import POWER, Estimate, Resampling, least_pvalue_of, pvalue_of
from calibrant.notions import Notion, as_notion, single_problem
from calibrant.solvers.isotonic import base_rate, corp_terms, isotonic_fit, overfit_draws


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
    rows = independent_rows(ordered.problem.weight)
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
    most = _variance_bounds(base, independent_rows(ordered.problem.weight), resampling.level)[1]
    return Estimate(
        value=value,
        lower=max(0.0, value - max(reach, max(float(constant.mean()), float(around.mean())) + z * error)),
        # Where only one class came, all that is known is that there is no more to tell apart than there is uncertainty.
        upper=min(value + z * error, 0.25) if 0.0 < base < 1.0 else most,
    )


def uncertainty_estimate(problem: Problem, resampling: Resampling, notion: str | Notion | None = None) -> Estimate:
    """Estimate the variance of the outcome, by the exact interval of the event rate (Clopper and Pearson 1934)."""
    ordered = _ordered(problem, notion)
    base = base_rate(ordered)
    lower, upper = _variance_bounds(base, independent_rows(ordered.problem.weight), resampling.level)
    return Estimate(corp_terms(ordered, squared_error).uncertainty, lower, upper)


def _ordered(problem: Problem, notion: str | Notion | None) -> Ordered:
    """Sort the one problem of a notion."""
    return Ordered.of(
        single_problem(problem, as_notion(notion, problem), "Look at each class: OneVsRest(0), and so on.")
    )


def _overfit(ordered: Ordered, rate: FloatArray, resampling: Resampling) -> FloatArray:
    return overfit_draws(ordered, rate, resampling.n_resamples, resampling.rng)


def _fit(ordered: Ordered, extra: float = 0.0) -> FloatArray:
    """Return the fit at each distinct score, after ``extra`` rows of each outcome were added to every block."""
    steps, more = isotonic_fit(ordered), extra * ordered.weight.sum() / independent_rows(ordered.problem.weight)
    return steps.at_each_score((steps.rate * steps.weight + more) / (steps.weight + 2.0 * more))


def _saving(ordered: Ordered, before: FloatArray, after: FloatArray) -> tuple[float, float]:
    """Mean and standard error of what squared error falls by, where the events come at the rates ``after``."""
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
