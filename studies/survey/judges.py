"""Verdicts on the survey's sentences: functions of numbers that `claims.json` holds.

``before`` is a figure without calibration and ``after`` has one for each calibration set. Sentences about a neural network are
decided by several networks only, and those of section 5.4 in both worlds that its text allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from studies.claims import Verdict
from studies.judging import CLEAR, above_zero, all_of, below_zero, on_several, under_all_readings
from studies.survey.cases import less

Draws = Sequence[float]
Judge = Callable[..., Verdict]

WELL, LITTLE = 0.3, 0.75
"""Shares of the error that are left where a method works well, and where it does little."""

CLOSE, SAME = 0.02, 0.01
"""Distances on the diagonal, and of predictions that are almost identical."""

CLEARLY = f"by more than {CLEAR:g} standard errors over the calibration sets"
FALLS = f"E abs(S - C) falls {CLEARLY}"
LEFT_OVER = f"less than {WELL:.0%} of E abs(S - C) is left, {CLEARLY}; in part: it falls {CLEARLY}"


def falls(before: float, after: Draws) -> Verdict:
    """Return whether a figure clearly falls."""
    return below_zero(less(after, before))


def left(before: float, after: Draws) -> list[float]:
    """Return the share of a figure that each calibration set leaves."""
    return [value / before for value in after]


def works_well(before: float, after: Draws) -> Verdict:
    """Return "holds" if clearly little of an error is left, "holds in part" if it falls."""
    little = below_zero(less(left(before, after), WELL))
    if little is not Verdict.FAILS:
        return little
    fell = falls(before, after)
    return Verdict.IN_PART if fell is Verdict.HOLDS else fell


def does_little(before: float, after: Draws) -> Verdict:
    """Return whether clearly most of an error is left."""
    return above_zero(less(left(before, after), LITTLE))


def in_each(judge: Judge) -> Judge:
    """Return a verdict on several cases together."""
    return lambda cases: all_of(judge(**of) for of in cases.values())


def in_both_worlds(judge: Judge) -> Judge:
    """Return what all networks say whichever way class 3 is read; a world without networks decides nothing."""
    return lambda worlds: under_all_readings(on_several(judge)(networks) for networks in worlds.values())


# Single sentences


def few_values(cases: Mapping[str, Sequence[int]], bins: int) -> Verdict:
    """Return whether no case has more values than bins, and the under-confident one always fewer."""
    few = all(max(counts) <= bins for counts in cases.values())
    return Verdict.HOLDS if few and max(cases["under-confident"]) < bins else Verdict.FAILS


def many_values(cases: Mapping[str, Sequence[int]], bins: int) -> Verdict:
    """Return whether every fit has more blocks than there are bins."""
    return Verdict.HOLDS if min(map(min, cases.values())) > bins else Verdict.FAILS


def on_the_diagonal(before: float, after: Draws, near: Draws) -> Verdict:
    """Return whether the error falls and most predictions end up close to the diagonal."""
    return all_of([falls(before, after), above_zero(less(near, 0.5))])


def traded(before: Mapping[str, float], after: Mapping[str, Draws]) -> Verdict:
    """Return whether calibration loss falls and grouping loss rises."""
    return all_of([falls(before["calibration"], after["calibration"]), rises(before["grouping"], after["grouping"])])


def rises(before: float, after: Draws) -> Verdict:
    """Return whether a figure clearly rises."""
    return above_zero(less(after, before))


def full_confidence(zero: float, one: float) -> Verdict:
    """Return whether some fit ends at 0 and some at 1."""
    return Verdict.HOLDS if zero > 0 and one > 0 else Verdict.FAILS


def worse_in_regions(before: Sequence[float], after: Sequence[Draws]) -> Verdict:
    """Return whether two regions or more get clearly worse."""
    worse = sum(rises(b, a) is Verdict.HOLDS for b, a in zip(before, after, strict=True))
    return Verdict.HOLDS if worse >= 2 else Verdict.FAILS


def almost_the_same(apart: Draws) -> Verdict:
    """Return whether two sets of predictions differ by little."""
    return below_zero(less(apart, SAME))


def identity(largest_change: float, tolerance: float) -> Verdict:
    """Return whether a map changes nothing."""
    return Verdict.HOLDS if largest_change <= tolerance else Verdict.FAILS


def capped(highest: Mapping[str, Mapping[str, Any]], low: float, high: float) -> Verdict:
    """Return whether the highest probabilities of class 3 are around 0.8, of Bayes' rule and of every network.

    Judged with 8 as a standard deviation, the reading that the sentence picks.
    """

    def of(bayes: float, networks: Sequence[float]) -> Verdict:
        inside = [low < value < high for value in (bayes, *networks)]
        return Verdict.HOLDS if all(inside) else Verdict.IN_PART if any(inside) else Verdict.FAILS

    return of(**highest["standard deviation"])


def outside(shares: Mapping[str, float], barely: float) -> Verdict:
    """Return whether hardly any prediction lies outside a range, with second numbers as variances."""
    return Verdict.HOLDS if shares["variance"] < barely else Verdict.FAILS


# Printed figures


def as_printed(exact: str | float, printed: str, entries: float | None = None) -> Verdict:
    """Return whether an exact value rounds to the printed figure; in part, whether the table's rounded entries do."""
    if rounds_to(Fraction(exact), printed):
        return Verdict.HOLDS
    return Verdict.IN_PART if entries is not None and rounds_to(Fraction(entries), printed) else Verdict.FAILS


def rounds_to(value: Fraction, printed: str) -> bool:
    """Return whether a value is within half a unit of the last printed digit; either way at a tie."""
    digits = len(printed.partition(".")[2])
    return abs(value - Fraction(printed)) <= Fraction(1, 2 * 10**digits) + Fraction(1, 10**12)


def entries_as_printed(off: Sequence[str], n: int) -> Verdict:
    """Return whether every entry of a table is its exact value, rounded."""
    return Verdict.HOLDS if not off else Verdict.IN_PART if len(off) < n else Verdict.FAILS
