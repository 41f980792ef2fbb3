"""Verdicts of numbers: the rules that claims of all papers share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from studies.claims import Verdict

CLEAR = 2.0
"""Standard errors from which on a mean difference counts."""


def holds(condition: bool) -> Verdict:
    """Return "holds" or "does not hold here"."""
    return Verdict.HOLDS if condition else Verdict.FAILS


def equals(value: float, target: float, tolerance: float) -> Verdict:
    """Return whether a figure comes out; NaN does not."""
    return holds(abs(value - target) <= tolerance)


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean over networks, splits or draws, and its standard error, infinite for a single value."""
    of = np.asarray(values, dtype=np.float64)
    return float(of.mean()), float(of.std(ddof=1) / np.sqrt(len(of))) if len(of) > 1 else np.inf


def below_zero(differences: Sequence[float]) -> Verdict:
    """Return whether a mean difference is clearly below zero, clearly above, or not decided."""
    mean, error = mean_and_error(differences)
    if abs(mean) <= CLEAR * error:
        return Verdict.OPEN
    return holds(mean < 0)


def above_zero(differences: Sequence[float]) -> Verdict:
    """Return whether a mean difference is clearly above zero, clearly below, or not decided."""
    return below_zero([-value for value in differences])


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a sentence that says several things: it holds if each does, fails if each fails."""
    found = set(verdicts)
    if len(found) == 1:
        return found.pop()
    if Verdict.OPEN in found and not {Verdict.FAILS, Verdict.IN_PART} & found:
        return Verdict.OPEN
    if found == {Verdict.OPEN, Verdict.FAILS}:
        return Verdict.OPEN
    return Verdict.IN_PART


def under_all_readings(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict that every reading of an ambiguous text gives; not decided where they differ."""
    found = set(verdicts)
    return found.pop() if len(found) == 1 else Verdict.OPEN


def on_several(judge: Callable[..., Verdict]) -> Callable[[Sequence[Mapping[str, Any]]], Verdict]:
    """Return what all networks, or data sets, say; a single one decides nothing."""

    def of(networks: Sequence[Mapping[str, Any]]) -> Verdict:
        return under_all_readings(judge(**one) for one in networks) if len(networks) > 1 else Verdict.OPEN

    return of
