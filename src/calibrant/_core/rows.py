"""Numbers as probabilities: their range, the sums of their rows, and what to do about those that are none."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import first, index, more
from calibrant._core.links import FloatArray, quotients
from calibrant._core.parameters import choice

Rows = Literal["as-given", "normalize", "percent"]
WORDS = ("as-given", "normalize", "percent")

PERCENT = 100.0

ROUNDING = 1e-6
"""How far a probability may lie outside [0, 1]: a few units in the last place of single precision."""

SUM_TOLERANCE = 1e-3
"""How far the sum of a row may be from one: half precision and four printed digits pass, logits and percent do not.

0.999 and 1.001 pass as well: the sums of columns that were printed or stored in single precision miss them by `ROUNDING`.
"""

SLIGHT = 0.05
"""How far from [0, 1], and from a sum of one, numbers may lie that a hint still takes for probabilities."""

MOST_CLASSES = 10
"""Whole numbers below this, in one column, may be predicted classes: a hint says so."""

LARGEST = 1e290
"""Numbers up to which the sum of a row does not overflow."""


class Remedies(NamedTuple):
    """What a message tells to do, in the words of the function that was called."""

    percent: str = "pass rows='percent' to divide them by 100"
    normalize: str = "pass rows='normalize' to divide each row by its sum"
    logit: str = "If these are logits, pass input='logit'."
    several: str = "If several classes can be true at once, take one column at a time."


USUAL = Remedies()
OF_CALIBRATOR = USUAL._replace(
    percent="divide them by 100",
    normalize="divide each row by its sum",
    logit="If these are logits, give the calibrator input='logit'.",
)
"""A calibrator has no ``rows``: it maps numbers of the kind that it was fitted on."""


OF_PROBABILITIES = OF_CALIBRATOR._replace(logit="Pass probabilities: input= is about y_prob alone.", several="")
"""Of what stands beside a forecast and is always probabilities, such as a truth."""


def one_of(rows: object) -> str:
    """Return a word for what is done with rows."""
    return choice("rows", rows, WORDS)


def of_probabilities(rows: Rows) -> Rows:
    """Return what is done with the rows of probabilities that stand beside a forecast: they are never percent."""
    return "as-given" if rows == "percent" else rows


def as_probabilities(name: str, values: FloatArray, rows: Rows, remedies: Remedies = USUAL) -> FloatArray:
    """Return one column, or a table whose rows sum to one, of probabilities; what rounding put outside [0, 1] is put back."""
    if one_of(rows) == "normalize" and values.ndim == 2:
        return _divided_by_sums(name, values, remedies)
    scale = PERCENT if rows == "percent" else 1.0
    prob = _in_range(name, values, scale, remedies)
    if prob.ndim == 2:
        _require_sums(name, prob, scale, remedies)
    return prob


def _in_range(name: str, values: FloatArray, scale: float, remedies: Remedies) -> FloatArray:
    if values.min() < 0 or values.max() > scale:
        _refuse_outside(name, values, scale, remedies)
        values = np.clip(values, 0.0, scale)
    return values if scale == 1 else values / scale


def _refuse_outside(name: str, values: FloatArray, scale: float, remedies: Remedies) -> None:
    """Raise, unless it is only rounding that put values outside [0, scale]."""
    outside = (values < -ROUNDING * scale) | (values > (1 + ROUNDING) * scale)
    if not outside.any():
        return
    must = "probabilities in [0, 1]" if scale == 1 else "percent in [0, 100]"
    hint = _hint_of_range(name, values, remedies) if scale == 1 else _hint_of_percent(name, values)
    raise ValueError(f"{name} must hold {must}; {_shown(values, outside)}. {hint}")


def _divided_by_sums(name: str, values: FloatArray, remedies: Remedies) -> FloatArray:
    if (low := values.min()) < 0:
        if (negative := values < -ROUNDING).any():
            hint = f"{_clip(name, 'None')} " if low >= -SLIGHT * values.max() else ""
            raise ValueError(
                f"{name} must not be negative where rows are divided by their sums; {_shown(values, negative)}. "
                f"{hint}{remedies.logit}"
            )
        values = np.maximum(values, 0.0)
    if (high := values.max()) > LARGEST:
        values = values / high
    sums = values.sum(axis=1, keepdims=True)
    if (empty := sums[:, 0] == 0).any():
        raise ValueError(
            f"rows of {name} must have a positive sum to be normalised; got 0 in row {int(np.argmax(empty))}{more(empty)}. "
            f"Drop {'these rows' if empty.sum() > 1 else 'this row'}."
        )
    return quotients(values, sums)


def _require_sums(name: str, prob: FloatArray, scale: float, remedies: Remedies) -> None:
    sums = prob.sum(axis=1)
    off = np.abs(sums - 1.0) > SUM_TOLERANCE + ROUNDING
    if off.any():
        row = int(np.argmax(off))
        must = f"one within {SUM_TOLERANCE:g}" if scale == 1 else f"100 percent within {SUM_TOLERANCE * scale:g}"
        raise ValueError(
            f"rows of {name} must sum to {must}; got {sums[row] * scale:.6g} in row {row}{more(off)}. "
            f"{_hint_of_sums(sums, scale, remedies)}"
        )


# Hints


def _hint_of_range(name: str, values: FloatArray, remedies: Remedies) -> str:
    """Say what to do about numbers outside [0, 1]."""
    return (_hint_of_column if values.ndim == 1 else _hint_of_table)(name, values, remedies)


def _hint_of_column(name: str, values: FloatArray, remedies: Remedies) -> str:
    low, high = values.min(), values.max()
    hints = []
    if slight := low >= -SLIGHT and high <= 1 + SLIGHT:
        hints.append(_clip(name, "1"))
    if _may_be_percent(low, high):
        if not slight and high < MOST_CLASSES and (values == np.rint(values)).all():
            hints.append("If these are predicted classes, pass the classifier's probabilities in their place.")
        hints.append(f"If these are percent, {remedies.percent}.")
    else:
        hints.append(remedies.logit)
        if high <= 0:
            hints.append(f"If these are logarithms of probabilities, pass np.exp({name}).")
    return " ".join(hints)


def _hint_of_table(name: str, values: FloatArray, remedies: Remedies) -> str:
    low, high = values.min(), values.max()
    with np.errstate(over="ignore"):
        sums = values.sum(axis=1)
    if low < -ROUNDING:
        near = any(
            low >= -SLIGHT * scale and high <= (1 + SLIGHT) * scale and _near(sums, scale, SLIGHT)
            for scale in (1.0, PERCENT)
        )
        return f"{_clip(name, 'None')} Then {remedies.normalize}." if near else remedies.logit
    lead, sums = _without_zeros(sums)
    if _near(sums, 1.0, SLIGHT):
        return f"{lead}{_sentence(remedies.normalize)}"
    if _may_be_percent(low, high) and _near(sums, PERCENT, SLIGHT):
        exact = _near(sums, PERCENT, SUM_TOLERANCE)
        return f"{lead}If these are percent, {remedies.percent if exact else remedies.normalize}."
    if _may_be_percent(low, high):
        return f"{lead}If these are percent or counts, {remedies.normalize}. {_one_by_one(sums, remedies)}".rstrip()
    return f"{lead}If these are counts, {remedies.normalize}. {remedies.logit}"


def _hint_of_percent(name: str, values: FloatArray) -> str:
    """Say what to do about numbers outside [0, 100] that were declared as percent."""
    if values.min() >= -SLIGHT * PERCENT and values.max() <= (1 + SLIGHT) * PERCENT:
        return _clip(name, "100")
    return "Correct these values, or leave rows='percent' out."


def _hint_of_sums(sums: FloatArray, scale: float, remedies: Remedies) -> str:
    """Say what to do about rows of numbers in [0, 1] that do not sum to one."""
    lead, sums = _without_zeros(sums)
    if _near(sums, 1.0, SUM_TOLERANCE):
        return lead.rstrip()
    if scale == 1 and _near(sums, PERCENT, SUM_TOLERANCE):
        return f"{lead}If these are percent, {remedies.percent}."
    if scale == PERCENT and _near(sums, 1 / PERCENT, SLIGHT):
        return f"{lead}If these are fractions of one and not percent, leave rows='percent' out."
    return f"{lead}{_sentence(remedies.normalize)} {_one_by_one(sums, remedies)}".rstrip()


def _one_by_one(sums: FloatArray, remedies: Remedies) -> str:
    """Say what to do about classes of which several can be true at once: their rows have sums of any size."""
    several = sums.size and sums.max() > 1 + SLIGHT and np.ptp(sums) > SLIGHT * sums.max()
    return remedies.several if several else ""


def _without_zeros(sums: FloatArray) -> tuple[str, FloatArray]:
    """Return what to say first of rows of zeros, and the sums of the others."""
    kept = sums != 0
    return ("" if kept.all() else "Drop the rows of zeros: they give no class a probability. "), sums[kept]


def _may_be_percent(low: float, high: float) -> bool:
    return bool(low >= -ROUNDING and high <= PERCENT * (1 + ROUNDING))


def _near(sums: FloatArray, scale: float, tolerance: float) -> bool:
    return bool((np.abs(sums / scale - 1.0) <= tolerance + ROUNDING).all())


def _clip(name: str, most: str) -> str:
    return f"If rounding or a regression put them there, pass np.clip({name}, 0, {most})."


def _sentence(remedy: str) -> str:
    return f"{remedy[0].upper()}{remedy[1:]}."


def _shown(values: FloatArray, wrong: npt.NDArray[np.bool_]) -> str:
    where = first(wrong)
    return f"got {values[where]:.10g} at index {index(where)}{more(wrong)}"
