"""Comparison of two forecasts in a report: differences with intervals, on the same rows or on different ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from calibrant.assessment.table import Assessment
from calibrant.metrics.uncertainty.estimate import Estimate
from calibrant.significance.difference import PairedDifference

COMPARED = {"nll": "log loss", "ece": "ECE", "accuracy": "accuracy"}
"""Metrics that forecasts are compared by, and what a sentence calls them."""

NOTHING = (np.nan, np.nan, np.nan)
"""A difference and its interval where a forecast has one row."""

Differences = Mapping[str, Sequence[PairedDifference]]
"""By the name of a forecast: its metrics less those of the first forecast, on the same rows."""


def comparison(assessments: Mapping[str, Assessment], differences: Differences | None) -> list[str]:
    """Compare each forecast with the first: by paired differences where they are given, else as independent samples."""
    (first, before), *others = assessments.items()
    sentences = []
    for name, after in others:
        paired = {found.metric: found for found in (differences or {}).get(name, ())}
        n_rows = min(after.n_rows, before.n_rows)
        moves = {
            metric: NOTHING
            if n_rows < 2
            else (paired[metric].difference, paired[metric].lower, paired[metric].upper)
            if metric in paired
            else independent(after[metric], before[metric])
            for metric in COMPARED
        }
        losses = {first: before["nll"].value, name: after["nll"].value}
        coverage = f"{100 * (1 - after.level):g} % interval"
        told = ", ".join(
            f"{COMPARED[metric]} {_move(before[metric].value, after[metric].value, coverage, *ends)}"
            for metric, ends in moves.items()
        )
        rows = (
            f"on the same {after.n_rows} rows"
            if paired
            else f"on {after.n_rows} and {before.n_rows} rows, taken for independent samples of different rows"
        )
        sentences.append(f"From “{first}” to “{name}”, {rows}: {told}. {_judged(losses, *moves['nll'][1:])}")
    return sentences


def independent(after: Estimate, before: Estimate) -> tuple[float, float, float]:
    """Return the difference of two estimates from different rows, and its interval from the intervals of both.

    (Zou and Donner, Construction of confidence limits about effect measures, Statistics in Medicine 2008.) The interval
    is that of true values: for errors it is about the bias-corrected difference, which their intervals hold.
    """
    new, old = (one.value if one.debiased is None else one.debiased for one in (after, before))
    (lower, upper), (low, high) = after.interval, before.interval
    down, up = np.hypot(new - lower, high - old), np.hypot(upper - new, old - low)
    return after.value - before.value, new - old - float(down), new - old + float(up)


def _move(old: float, new: float, coverage: str, difference: float, lower: float, upper: float) -> str:
    before, after = f"{old:.4f}", f"{new:.4f}"
    way = f"stays at {before}" if before == after else f"goes from {before} to {after}"
    if not np.isfinite(difference):
        return way
    return f"{way} (difference {difference:+.4f}, {coverage} [{lower:+.4f}, {upper:+.4f}])"


def _judged(losses: Mapping[str, float], lower: float, upper: float) -> str:
    """Judge by the log loss, a proper score: it is better only where the interval of the difference lies below 0."""
    if infinite := [f"“{name}”" for name, loss in losses.items() if not np.isfinite(loss)]:
        return f"The log loss of {' and of '.join(infinite)} is infinite: no difference can be taken."
    if np.isnan(lower):
        return "One row does not say how much a difference varies."
    if upper < 0.0:
        return "The log loss is better: the interval of its difference lies below 0."
    if lower > 0.0:
        return "The log loss is worse: the interval of its difference lies above 0."
    return "The interval of the difference of the log loss holds 0: by it neither is shown to be better."
