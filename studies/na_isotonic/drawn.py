"""Which pictures docs/na-isotonic.md shows: of the metrics by method, data set and classifier."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.na_isotonic.measured import METHODS, METRICS, RANKED
from studies.na_isotonic.pictures import draw_values, draw_wins
from studies.na_isotonic.ranks import (
    architectures,
    beats,
    data_sets,
    of_architecture,
    of_data_set,
    standardised,
    values,
)
from studies.na_isotonic.reliability import draw as draw_reliability
from studies.na_isotonic.times import draw as draw_times

IMAGES = Path(__file__).parents[2] / "docs" / "images" / "na"

STANDARDISED = ("NLL", "BS")
"""Metrics whose level depends on the model more than on the method."""

BY_CLASSIFIER = ("conf-ECE", "NLL")


def file_of(kind: str, metric: str) -> str:
    return f"{kind}-{metric.lower()}.png"


def by_data_set(metric: str) -> dict[str, dict[str, list[float]]]:
    """One value a model, by data set and method."""
    return {name: _by_method(metric, of_data_set(name)) for name in data_sets()}


def by_classifier(metric: str) -> dict[str, dict[str, list[float]]]:
    """One value a data set, by classifier and method."""
    return {name: _by_method(metric, of_architecture(name)) for name in architectures()}


def _by_method(metric: str, models: np.ndarray) -> dict[str, list[float]]:
    of = standardised(metric) if metric in STANDARDISED else values(metric)
    return {method: of[models, m].tolist() for m, method in enumerate(METHODS)}


def label(metric: str) -> str:
    return f"{metric}, standardised over the methods" if metric in STANDARDISED else metric


def draw() -> None:
    """Draw all."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for metric in METRICS:
        draw_wins(METHODS, beats(metric), metric, IMAGES / file_of("wins", metric))
    for metric in RANKED:
        draw_values(by_data_set(metric), label(metric), IMAGES / file_of("values", metric), standardise=False)
    for metric in BY_CLASSIFIER:
        draw_values(by_classifier(metric), label(metric), IMAGES / file_of("classifiers", metric), standardise=False)
    draw_reliability(IMAGES)
    draw_times(IMAGES)
