"""Differences of errors between methods on the same test rows, and ratios of two errors."""

from __future__ import annotations

from functools import cache

import numpy as np

from calibrant.curves import bin_sweep
from studies.top_label.forecasts import Forecast, cifar, forecasts
from studies.top_label.networks import BINS, NOTION, estimate

DRAWS = 200
"""Bootstrap draws of the test rows behind a standard error of a difference."""


@cache
def drawn(method: str, metric: str) -> np.ndarray:
    """Return the metric on bootstrap draws of the test rows, the same draws for every method."""
    of, n = forecasts()[method], len(cifar()[3])
    rng = np.random.default_rng(0)
    return np.array([of.drawn(_lines(of, rng.integers(0, n, n), n)).error(NOTION[metric]) for _ in range(DRAWS)])


def _lines(of: Forecast, rows: np.ndarray, n: int) -> np.ndarray:
    """Return the lines of some rows: one a row, or as many as there are columns."""
    each = len(of.y) // n
    return rows if each == 1 else (rows[:, None] * each + np.arange(each)).ravel()


def difference(one: str, other: str, metric: str) -> dict[str, float]:
    """Return how much higher the one is, plug-in and bias-corrected, and the bootstrap standard error of the plug-in's."""
    first, second = estimate(one, metric), estimate(other, metric)
    return {
        "plug_in": first.value - second.value,
        "corrected": (first.debiased or 0.0) - (second.debiased or 0.0),
        "error": float((drawn(one, metric) - drawn(other, metric)).std(ddof=1)),
    }


@cache
def ratios(method: str) -> list[float]:
    """Return TL-ECE over conf-ECE for each number of bins."""
    of = forecasts()[method]
    value = {
        notion: bin_sweep(**of.asked(notion), n_bins=BINS, n_resamples=1).value
        for notion in ("top-label", "confidence")
    }
    return [float(ratio) for ratio in value["top-label"] / value["confidence"]]
