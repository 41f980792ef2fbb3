"""A figure that was computed from cells of scores and not from the scores: how far the exact one may be."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Self


class Approximate(float):
    """A figure of rows that were read in batches, in place of one that needs all scores at once.

    It is a number, and can be used as one.

    Parameters
    ----------
    value : float
        The figure with all scores rounded to the means of their cells.
    lower, upper : float
        The figure of the scores themselves lies between them, whatever they are.

    Attributes
    ----------
    lower, upper : float
        The same.
    """

    lower: float
    upper: float

    def __new__(cls, value: float, lower: float, upper: float) -> Self:
        """Make the number; rounding may not leave it outside its own limits."""
        made = super().__new__(cls, value)
        made.lower, made.upper = min(float(lower), float(made)), max(float(upper), float(made))
        return made

    @property
    def error(self) -> float:
        """How far the exact figure may be from this one, at most."""
        return max(self.upper - self, self - self.lower)

    def __reduce__(self) -> tuple[type[Self], tuple[float, float, float]]:
        """Return what makes it anew, for copies and pickles."""
        return type(self), (float(self), self.lower, self.upper)

    def __repr__(self) -> str:
        return f"{float(self)!r} ({self.note})"

    @property
    def note(self) -> str:
        """What is known of the figure of the rows, in words."""
        known = f"exact to within {self.error:.1g}" if isfinite(self.error) else "with scores rounded to cells"
        return f"of rows in batches, {known}"

    __str__ = float.__repr__


def mean_of(parts: Sequence[tuple[float, float]]) -> float:
    """Return the sum of shares times figures, from nothing on; with its limits where one of the figures has some."""
    total = lower = upper = 0.0
    for share, value in parts:
        total += share * value
        lower += share * (value.lower if isinstance(value, Approximate) else value)
        upper += share * (value.upper if isinstance(value, Approximate) else value)
    is_approximate = any(isinstance(value, Approximate) for _, value in parts)
    return Approximate(total, lower, upper) if is_approximate else total
