"""Whether a curve of log-odds separates the classes, so that its multiples lower the log loss for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, BoolArray

Family = Literal["straight", "rising", "rising through zero", "bent"]
"""Curves of the log-odds: a + b x; increasing ones with an intercept, or with the value 0 at 0; and a + b x + c x^2."""

AnyInside = Callable[[bool | None, float, float], bool]
"""Whether log-odds lie inside an interval: those of events (True), of non-events (False), or of any row (None)."""


@dataclass(frozen=True)
class Spread:
    """Least and largest log-odds of rows with the event and of others; infinite, the least above, where there are none."""

    event_least: float
    event_largest: float
    other_least: float
    other_largest: float

    @classmethod
    def of(cls, problem: BinaryProblem) -> Spread:
        """Look at rows."""
        return cls.of_log_odds(problem.log_odds, problem.outcome)

    @classmethod
    def of_log_odds(cls, x: FloatArray, outcome: BoolArray) -> Spread:
        """Look at log-odds."""
        events, rest = x[outcome], x[~outcome]
        of_events = float(events.min(initial=np.inf)), float(events.max(initial=-np.inf))
        return cls(*of_events, float(rest.min(initial=np.inf)), float(rest.max(initial=-np.inf)))

    def __add__(self, other: Spread) -> Spread:
        return Spread(
            min(self.event_least, other.event_least),
            max(self.event_largest, other.event_largest),
            min(self.other_least, other.other_least),
            max(self.other_largest, other.other_largest),
        )

    @property
    def least(self) -> float:
        """Least log-odds of all rows."""
        return min(self.event_least, self.other_least)

    @property
    def largest(self) -> float:
        """Largest log-odds of all rows."""
        return max(self.event_largest, self.other_largest)

    @staticmethod
    def inside(problem: BinaryProblem, of_events: bool | None, low: float, high: float) -> int:
        """Count the rows whose log-odds lie inside an interval."""
        x = problem.log_odds if of_events is None else problem.log_odds[problem.outcome == of_events]
        return int(((x > low) & (x < high)).sum())


def is_separated_by(spread: Spread, family: Family, any_inside: AnyInside) -> bool:
    """Whether a curve of the family, not zero on all rows, is nowhere negative at an event and nowhere positive elsewhere."""
    if family == "rising through zero":
        some = spread.least != 0.0 or spread.largest != 0.0
        return spread.event_least >= 0.0 >= spread.other_largest and some
    if spread.event_least > spread.event_largest or spread.other_least > spread.other_largest:
        return True
    if spread.least == spread.largest:
        return False
    above = spread.event_least >= spread.other_largest
    if family == "rising":
        return above
    if family == "straight" or not any_inside(None, spread.least, spread.largest):
        return above or spread.event_largest <= spread.other_least
    # A parabola is positive inside an interval or outside it; its two zeros can lie on rows of both classes.
    return not any_inside(False, spread.event_least, spread.event_largest) or not any_inside(
        True, spread.other_least, spread.other_largest
    )
