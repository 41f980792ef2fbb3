"""Intervals of the event rate of each bin, by name. Whole weights count as rows.

A confidence interval is around the event rate: the true rates that are compatible with it. A consistency interval is around
the mean probability: the event rates that would be no surprise if the forecast were calibrated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import ndtri

from calibrant._core.links import FloatArray
from calibrant.binning import Bins
from calibrant.metrics.rejections.acceptance import clopper_pearson as accepted_by_clopper_pearson

Interval = Callable[[Bins, float, float], tuple[FloatArray, FloatArray]]
"""A function of bins, rows per weight and level; it gives lower and upper ends, NaN where a bin is empty."""


def wilson(bins: Bins, rows_per_weight: float, level: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's score interval: covers as often as promised on average over rates (Wilson 1927)."""
    return wilson_interval(bins.outcome_sum * rows_per_weight, bins.weight * rows_per_weight, level)


def clopper_pearson(bins: Bins, rows_per_weight: float, level: float) -> tuple[FloatArray, FloatArray]:
    """Exact interval: covers at least as often as promised for every rate, and is wider for it (Clopper and Pearson 1934)."""
    return clopper_pearson_interval(bins.outcome_sum * rows_per_weight, bins.weight * rows_per_weight, level)


def consistency(bins: Bins, rows_per_weight: float, level: float) -> tuple[FloatArray, FloatArray]:
    """Quantiles of the event rate if the forecast were calibrated (Bröcker and Smith 2007)."""
    return consistency_interval(bins.mean_prob, bins.weight * rows_per_weight, level)


INTERVALS: Mapping[str, Interval] = {
    "wilson": wilson,
    "clopper-pearson": clopper_pearson,
    "consistency": consistency,
}


def wilson_interval(events: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Wilson score interval of each proportion events / n; NaN where n is zero."""
    z = -ndtri(level / 2.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = events / n
        centre = (rate + z**2 / (2.0 * n)) / (1.0 + z**2 / n)
        reach = z / (1.0 + z**2 / n) * np.sqrt(rate * (1.0 - rate) / n + z**2 / (4.0 * n**2))
    # The exact bounds at no event and at nothing but events are 0 and 1; rounding would leave 1e-17.
    return np.where(events == 0, 0.0 * rate, centre - reach), np.where(events == n, 1.0 + 0.0 * rate, centre + reach)


def clopper_pearson_interval(events: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Rates at which as many events, or as few, have probability level / 2; NaN where n is zero."""
    held = n > 0
    lower, upper = np.full(n.shape, np.nan), np.full(n.shape, np.nan)
    lower[held], upper[held] = accepted_by_clopper_pearson(events[held], n[held], level)
    return lower, upper


def consistency_interval(mean_prob: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Quantiles of the event rate among n calibrated rows, widened to hold the mean probability; NaN where n is zero.

    Rows drawn anew from a bin, and labels drawn from these, make events that are binomial with the bin's mean probability, so
    that nothing has to be drawn: the quantiles are exact. Given the scores themselves the events vary less (Hoeffding 1956).
    """
    from scipy.stats import binom  # slow to load, and seldom asked for

    held = n > 0
    rows, centre = np.maximum(np.round(n[held]), 1.0), np.clip(mean_prob[held], 0.0, 1.0)
    lower, upper = np.full(n.shape, np.nan), np.full(n.shape, np.nan)
    lower[held] = np.minimum(binom.ppf(level / 2.0, rows, centre) / rows, centre)
    upper[held] = np.maximum(binom.ppf(1.0 - level / 2.0, rows, centre) / rows, centre)
    return lower, upper
