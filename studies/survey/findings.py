"""What the two halves of docs/survey-calibrators.md share: the cases, means over calibration sets, and how a finding is put.

A verdict is computed with its figure, and may change with it; the border that it was judged by stands in its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from studies.markdown import table
from studies.survey.exact import Case, case

Make = Callable[[], Any]

ROWS, DRAWS = 10_000, 20
"""Rows of a calibration set, as in the survey, and sets that the figures are means over."""

CLEAR = 2.0
"""Standard errors from which on a difference counts."""

CLEARLY = f"by more than {CLEAR:g} standard errors"


@cache
def the_case(name: str, n_classes: int = 2) -> Case:
    return case(name, n_classes)


@cache
def rows(name: str, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return the_case(name, n_classes).draw(ROWS, seed)


# Figures


@dataclass(frozen=True)
class Mean:
    """A mean over calibration sets, with its standard error; a difference is one of pairs."""

    of_draws: np.ndarray

    @property
    def value(self) -> float:
        return float(self.of_draws.mean())

    @property
    def error(self) -> float:
        return float(self.of_draws.std(ddof=1) / np.sqrt(len(self.of_draws)))

    @property
    def is_above_0(self) -> bool:
        return self.value > CLEAR * self.error

    @property
    def is_below_0(self) -> bool:
        return self.value < -CLEAR * self.error

    def __sub__(self, other: Mean | float) -> Mean:
        return Mean(self.of_draws - (other.of_draws if isinstance(other, Mean) else other))

    def show(self, digits: int = 4, times: float = 1.0, sign: str = "") -> str:
        return f"{times * self.value:{sign}.{digits}f} ({times * self.error:.{digits}f})"

    def change(self, digits: int = 4, times: float = 1.0) -> str:
        return self.show(digits, times, "+")


def over_draws(measure: Callable[[int], float]) -> Mean:
    """The mean of a figure of each calibration set."""
    return Mean(np.array([measure(seed) for seed in range(DRAWS)], dtype=np.float64))


# Findings


@dataclass(frozen=True)
class Finding:
    """What the survey says, what is computed of it, what counts as bearing it out, and the verdict."""

    claim: str
    figure: str
    border: str
    verdict: str


def confirmed(holds: bool, otherwise: str = "refuted") -> str:
    """The verdict in a word."""
    return "**confirmed**" if holds else f"**{otherwise}**"


def falls(change: Mean) -> str:
    """The verdict on a figure that is said to fall."""
    if change.is_below_0:
        return "**confirmed**"
    return "**refuted**" if change.is_above_0 else "**not seen**"


def rises(change: Mean) -> str:
    """The verdict on a figure that is said to rise."""
    return falls(Mean(-change.of_draws))


def judged(holds: Iterable[bool]) -> str:
    """The verdict on a claim that is made of several things alike."""
    found = list(holds)
    if all(found):
        return "**confirmed**"
    return f"**in part** ({sum(found)} of {len(found)})" if any(found) else "**refuted**"


NOT_JUDGED = "not judged"


def findings(found: list[Finding]) -> str:
    head = ["the survey says", "computed", "confirmed if", "verdict"]
    return table(head, [[f.claim, f.figure, f.border, f.verdict] for f in found])
