"""How exact the figures of docs/survey-calibrators.md are: the same on a grid of twice as many points."""

from __future__ import annotations

import numpy as np

from studies.survey.cases import the_case
from studies.survey.exact import Case, case, class_wise, errors
from studies.survey.three_errors import OF_THREE, fitted_three
from studies.survey.two_errors import METHODS, fitted

LAST_DIGIT = {"calibration": 1e-4, "brier_calibration": 1e-6, "grouping": 1e-6, "log_excess": 1e-5}
"""Of each figure as the tables show it; the class-wise errors have that of ``calibration``."""


def largest_change() -> float:
    """Largest change of a figure of the network, before calibration and after each calibrator, in its last digits shown."""
    moved = []
    for figures in (_of_two, _of_three):
        coarse, fine = figures(refined=False), figures(refined=True)
        moved.append(np.abs(coarse - fine)[np.isfinite(coarse)].max())
    return float(max(moved))


def _of_two(refined: bool) -> np.ndarray:
    of = _case(2, refined)
    forecasts = [of.forecast, *(np.asarray(fitted("mlp", method, 0).calibrate(of.forecast)) for method in METHODS)]
    found = [errors(of, value) for value in forecasts]
    return np.array([[getattr(e, what) / digit for what, digit in LAST_DIGIT.items()] for e in found])


def _of_three(refined: bool) -> np.ndarray:
    of = _case(3, refined)
    forecasts = [of.forecast, *(np.asarray(fitted_three(m, 0).calibrate(of.forecast)) for m in OF_THREE)]
    return np.array([of.mass @ class_wise(of, value) / LAST_DIGIT["calibration"] for value in forecasts])


def _case(n_classes: int, refined: bool) -> Case:
    return case("mlp", n_classes, refined=2) if refined else the_case("mlp", n_classes)
