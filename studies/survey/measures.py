"""What is measured of a calibrator of two classes on each calibration set."""

from __future__ import annotations

from typing import Any

from studies.survey.judges import CLOSE
from studies.survey.two_errors import LOGISTIC, after, before, close_to_diagonal


def errors(name: str, method: str) -> dict[str, Any]:
    """Return E|S - C| before and after."""
    return {"before": before(name).calibration, "after": after(name, method)}


def near(name: str, method: str) -> dict[str, Any]:
    """Return the same, and the share of predictions close to the diagonal."""
    return errors(name, method) | {"near": close_to_diagonal(name, method, CLOSE)}


def parts(name: str, method: str) -> dict[str, Any]:
    """Return calibration loss and grouping loss."""
    of = before(name)
    return {
        "before": {"calibration": of.brier_calibration, "grouping": of.grouping},
        "after": {"calibration": after(name, method, "brier_calibration"), "grouping": after(name, method, "grouping")},
    }


def grouped(name: str, method: str) -> dict[str, Any]:
    """Return grouping loss before and after."""
    return {"before": before(name).grouping, "after": after(name, method, "grouping")}


def logistic(measure: Any, method: str) -> Any:
    """Return a measure of both logistic cases."""
    return lambda: {"cases": {name: measure(name, method) for name in LOGISTIC}}


def network(measure: Any, method: str) -> Any:
    """Return a measure of the one network there is."""
    return lambda: {"networks": [measure("mlp", method)]}
