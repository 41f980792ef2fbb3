"""Confidence reliability of one over-confident network after every method: the paper's figure 1."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from calibrant import reliability_curve
from calibrant.metrics.scores import accuracy
from studies.na_isotonic.forecasts import Model, published_models
from studies.na_isotonic.measured import METHODS, calibrated, p_value
from studies.na_isotonic.pictures import draw_reliability

RESAMPLES = 1999


@cache
def shown() -> Model:
    """The published forecast that is most over-confident."""
    return max(published_models(), key=overconfidence)


def overconfidence(model: Model) -> float:
    return float(model.test.max(axis=1).mean()) - accuracy(model.y_test, model.test)


@cache
def panels() -> dict[str, np.ndarray]:
    """Its test rows after each method, uncalibrated first."""
    return {method: calibrated(shown(), method)[0] for method in [METHODS[-1], *METHODS[:-1]]}


@cache
def panel_p_values() -> dict[str, float]:
    return {method: p_value(shown().y_test, prob, RESAMPLES) for method, prob in panels().items()}


def draw(folder: Path) -> None:
    curves = {method: reliability_curve(shown().y_test, prob) for method, prob in panels().items()}
    draw_reliability(curves, panel_p_values(), folder / "reliability.png")
