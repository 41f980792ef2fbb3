"""Verdicts on the paper's sentences: functions of numbers that `claims.json` holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from studies.claims import Verdict
from studies.judging import CLEAR, above_zero, all_of, holds, under_all_readings

Figures = Mapping[str, float]
"""A figure of each method."""

ALIKE = 0.5
"""Share of the forest's spread between classes below which errors are quite uniform."""


# One network: several of them are needed, see `studies.judging.on_several`


def pairs(found: Figures, printed: Figures) -> list[bool]:
    """Return, for each pair of methods that the paper tells apart, whether it stands as printed."""
    told_apart = [(a, b) for a, b in combinations(found, 2) if printed[a] != printed[b]]
    return [(found[a] > found[b]) == (printed[a] > printed[b]) for a, b in told_apart]


def ordered(found: Figures, printed: Figures) -> Verdict:
    """Return whether all pairs of methods stand as printed; in part, whether some do."""
    stand = pairs(found, printed)
    return Verdict.HOLDS if all(stand) else Verdict.IN_PART if any(stand) else Verdict.FAILS


def two_or_three_times(ratios: Mapping[str, Sequence[float]]) -> Verdict:
    """Return whether more than half of the ratios are from 2 to 3, of each method; in part, of any."""
    often = [sum(2 <= r <= 3 for r in of) > len(of) / 2 for of in ratios.values()]
    return Verdict.HOLDS if all(often) else Verdict.IN_PART if any(often) else Verdict.FAILS


def lowest(found: Figures, method: str) -> Verdict:
    """Return whether a method has the lowest figure."""
    return holds(found[method] == min(found.values()))


def each_lower(found: Figures, methods: Sequence[str], other: str) -> Verdict:
    """Return whether each of the methods is lower than another one."""
    return all_of(holds(found[method] < found[other]) for method in methods)


# Exact sentences


def exactly(found: Mapping[str, str], expected: Mapping[str, str]) -> Verdict:
    """Return whether fractions are those expected."""
    same = [Fraction(found[name]) == Fraction(value) for name, value in expected.items()]
    return Verdict.HOLDS if all(same) else Verdict.IN_PART if any(same) else Verdict.FAILS


def never_above(lower: Figures, upper: Figures) -> Verdict:
    """Return whether no figure is above its bound."""
    return holds(all(lower[name] <= upper[name] + 1e-12 for name in lower))


def kept(rates: Mapping[str, Sequence[float]], promised: float) -> Verdict:
    """Return whether every promise is kept as often as promised, up to two standard errors: (rate, error) of each."""
    return holds(all(rate + CLEAR * error >= promised for rate, error in rates.values()))


# Forests: squares of gaps without their variance, one a split


def higher(one: Sequence[float], other: Sequence[float]) -> Verdict:
    """Return whether the one is clearly higher, by pairs of splits."""
    return above_zero([a - b for a, b in zip(one, other, strict=True)])


def in_every_way(ways: Mapping[str, Mapping[str, Sequence[float]]]) -> Verdict:
    """Return the verdict that every number of bins gives."""
    return under_all_readings(higher(**of) for of in ways.values())


def uniform(spread: Figures) -> Verdict:
    """Return whether points per bin leave the least spread between classes, and little of the forest's."""
    ours = spread["100 points a bin"]
    return holds(ours == min(spread.values()) and ours < ALIKE * spread["forest"])
