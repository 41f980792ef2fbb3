"""What the two halves of docs/survey-calibrators.md share: the cases, and how a finding is put.

A verdict is computed with its figure, and may change with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from survey_exact import Case, case

Make = Callable[[], Any]

ROWS, DRAWS = 10_000, 20
"""Rows of a calibration set, as in the survey, and sets that the figures are means over."""


@cache
def the_case(name: str, n_classes: int = 2) -> Case:
    return case(name, n_classes)


@cache
def rows(name: str, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return the_case(name, n_classes).draw(ROWS, seed)


@dataclass(frozen=True)
class Finding:
    """What the survey says, what is computed of it, and whether that bears it out."""

    claim: str
    figure: str
    verdict: str


def confirmed(holds: bool, otherwise: str = "refuted") -> str:
    """The verdict in a word."""
    return "**confirmed**" if holds else f"**{otherwise}**"


def table(head: list[str], body: list[list[str]]) -> str:
    """Rows as markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body])


def findings(found: list[Finding]) -> str:
    return table(["the survey says", "computed", ""], [[f.claim, f.figure, f.verdict] for f in found])
