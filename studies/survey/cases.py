"""The survey's cases of sections 5.2 and 5.4, its calibration sets, and figures over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from studies.judging import mean_and_error
from studies.survey.exact import Case, case

Make = Callable[[], Any]

ROWS, DRAWS = 10_000, 20
"""Rows of a calibration set, as in the survey, and sets that the figures are means over."""


@cache
def the_case(name: str, n_classes: int = 2, class_3: str = "variance") -> Case:
    """Return a case on the grid."""
    return case(name, n_classes, class_3)


@cache
def rows(name: str, n_classes: int, seed: int, class_3: str = "variance") -> tuple[np.ndarray, np.ndarray]:
    """Return a calibration set: predicted probabilities and labels."""
    return the_case(name, n_classes, class_3).draw(ROWS, seed)


def over_draws(measure: Callable[[int], float]) -> list[float]:
    """Return a figure of each calibration set."""
    return [float(measure(seed)) for seed in range(DRAWS)]


def less(one: Sequence[float], other: Sequence[float] | float) -> list[float]:
    """Return differences: of pairs, or from one figure."""
    return [float(d) for d in np.asarray(one) - np.asarray(other)]


def show(values: Sequence[float], digits: int = 4, times: float = 1.0, sign: str = "") -> str:
    """Return a mean over calibration sets with its standard error in brackets."""
    mean, error = mean_and_error(values)
    return f"{times * mean:{sign}.{digits}f} ({times * error:.{digits}f})"


def change(values: Sequence[float], digits: int = 4, times: float = 1.0) -> str:
    """Return a mean difference with its sign."""
    return show(values, digits, times, "+")
