"""Axes in log-odds: as much room between 0.001 and 0.01 as between 0.1 and 0.5, for rare events."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

from calibrant._core.links import FloatArray

FEW = 3
"""With fewer ticks than this an axis is not read."""

MANY = 7
"""So many labels beside each other crowd."""

MOST_DECADES = 10
"""Powers of ten on one side of 0.5 that all have a tick; of more, only each second, fifth or tenth."""

PLAIN = 7
"""Powers of ten up to which a tick is written in decimals where nothing lies further out."""

EMPTY = (0.001, 0.999)
"""Limits where no value lies between 0 and 1."""

ENDS = (1e-30, 1.0 - 1e-15)
"""No axis reaches further."""


def use_log_odds(ax: Any, values: FloatArray, ends: tuple[float, float] = ENDS) -> None:
    """Scale both axes in log-odds, around the values that lie between 0 and 1; ticks are probabilities."""
    low, high = limits(values, ends)
    exponents = _exponents(low, high)
    ticks = _within(low, high, exponents, (1,))
    if len(ticks) < FEW:
        ticks = _within(low, high, exponents, (1, 2, 5))
    minor = _within(low, high, exponents, range(2, 10)) if exponents.step == 1 else []
    words = _decimals if exponents.stop - 1 <= PLAIN else _powers
    labels = [words(part, k, above) for _, part, k, above in ticks]
    for axis, set_scale in ((ax.xaxis, ax.set_xscale), (ax.yaxis, ax.set_yscale)):
        set_scale("function", functions=(_log_odds, expit))
        axis.set_ticks([tick[0] for tick in ticks], labels=labels if axis is ax.yaxis else _not_too_many(labels))
        axis.set_ticks([tick[0] for tick in minor], minor=True)
        axis.set_minor_formatter("")
    ax.set(xlim=(low, high), ylim=(low, high))


def limits(values: FloatArray, ends: tuple[float, float] = ENDS) -> tuple[float, float]:
    """Return limits with some room around the values that lie between 0 and 1."""
    inside = values[(values > 0) & (values < 1)]
    if inside.size == 0:
        return EMPTY
    odds = np.clip([inside.min(), inside.max()], *ends)
    odds = odds / (1.0 - odds) * np.array([0.6, 1.7])
    low, high = odds / (1.0 + odds)
    return float(max(low, ends[0])), float(min(high, ends[1]))


Tick = tuple[float, int, int, bool]
"""A probability; and what it, or where the flag says so what is left to one, is: so many times ten to the minus so many."""


def _exponents(low: float, high: float) -> range:
    """Return the powers of ten that have ticks, as many as are needed on the longer side and not too many."""
    furthest = max(1, int(np.ceil(-np.log10(min(low, 1.0 - high)))))
    step = next((step for step in (1, 2, 5) if furthest <= step * MOST_DECADES), 10)
    return range(1, furthest + 1) if step == 1 else range(step, furthest + 1, step)


def _within(low: float, high: float, exponents: range, parts: Any) -> list[Tick]:
    """Return the ticks between two limits, in order; a half is among them."""
    below = [(float(f"{part}e-{k}"), part, k, False) for k in exponents for part in parts]
    above = [(1.0 - tick, part, k, True) for tick, part, k, _ in below]
    half = [(0.5, 5, 1, False)]
    ticks = {tick[0]: tick for tick in (*above, *below, *half) if low <= tick[0] <= high}
    return [ticks[at] for at in sorted(ticks)]


def _decimals(part: int, k: int, above: bool) -> str:
    value = 1.0 - part * 10.0**-k if above else part * 10.0**-k
    return f"{value:.{PLAIN}f}".rstrip("0")


def _powers(part: int, k: int, above: bool) -> str:
    if k <= 2:
        return _decimals(part, k, above)
    power = f"10^{{-{k}}}" if part == 1 else f"{part}\\cdot 10^{{-{k}}}"
    return f"$1 - {power}$" if above else f"${power}$"


def _not_too_many(labels: list[str]) -> list[str]:
    """Leave every second label out, where there are many; 0.5 stays."""
    if len(labels) < MANY:
        return labels
    first = labels.index("0.5") % 2 if "0.5" in labels else 0
    return [label if i % 2 == first else "" for i, label in enumerate(labels)]


def _log_odds(prob: FloatArray) -> FloatArray:
    """Return log-odds; what they do not reach is put far outside, so that a bar ends at the edge instead of nowhere."""
    clipped: FloatArray = logit(np.clip(prob, 1e-300, 1.0 - 2.0**-53))
    return clipped
