"""Axes in log-odds: as much room between 0.001 and 0.01 as between 0.1 and 0.5, for rare events."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

from calibrant._links import EPSILON, FloatArray

DECADES = [10.0**-k for k in range(7, 0, -1)]
BETWEEN = [k * tick for tick in DECADES for k in (2, 5)]
FINE = [k * tick for tick in DECADES for k in range(2, 10)]
COARSE_TICKS, TICKS, FINE_TICKS = (
    sorted({0.5, *below, *(1.0 - tick for tick in below)}) for below in (DECADES, DECADES + BETWEEN, FINE)
)
FEW = 3
"""With fewer ticks than this an axis is not read."""

MANY = 7
"""So many labels beside each other crowd."""

EMPTY = (0.001, 0.999)
"""Limits where no value lies between 0 and 1."""


def use_log_odds(ax: Any, values: FloatArray) -> None:
    """Scale both axes in log-odds, around the values that lie between 0 and 1; ticks are probabilities."""
    low, high = limits(values)
    ticks, finer, fine = ([t for t in known if low <= t <= high] for known in (COARSE_TICKS, TICKS, FINE_TICKS))
    if len(ticks) < FEW:
        ticks = finer
    for axis, set_scale in ((ax.xaxis, ax.set_xscale), (ax.yaxis, ax.set_yscale)):
        set_scale("function", functions=(_log_odds, expit))
        labels = [f"{tick:.7f}".rstrip("0") for tick in ticks]
        axis.set_ticks(ticks, labels=labels if axis is ax.yaxis else _not_too_many(labels))
        axis.set_ticks(fine, minor=True)
        axis.set_minor_formatter("")
    ax.set(xlim=(low, high), ylim=(low, high))


def limits(values: FloatArray) -> tuple[float, float]:
    """Return limits with some room around the values that lie between 0 and 1."""
    inside = values[(values > 0) & (values < 1)]
    if inside.size == 0:
        return EMPTY
    odds = np.array([inside.min(), inside.max()])
    odds = odds / (1.0 - odds) * np.array([0.6, 1.7])
    low, high = odds / (1.0 + odds)
    return float(max(low, DECADES[0])), float(min(high, COARSE_TICKS[-1]))


def _not_too_many(labels: list[str]) -> list[str]:
    """Leave every second label out, where there are many; 0.5 stays."""
    if len(labels) < MANY:
        return labels
    first = labels.index("0.5") % 2 if "0.5" in labels else 0
    return [label if i % 2 == first else "" for i, label in enumerate(labels)]


def _log_odds(prob: FloatArray) -> FloatArray:
    clipped: FloatArray = logit(np.clip(prob, EPSILON, 1.0 - EPSILON))  # bars reach the edge instead of nowhere
    return clipped
