"""The conf-ECE that calibrators leave of forecasts whose over-confidence has one shape or another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from calibrant import (
    ByNotion,
    IsotonicCalibration,
    NormalizedFlattenedIsotonic,
    TemperatureScaling,
    expected_calibration_error,
)
from calibrant.calibrators.base import Calibrator
from calibrant.metrics import estimate_calibration_error
from studies.na_isotonic.forecasts import Model, published_models
from studies.na_isotonic.splits import SCIR, calibrated, name_of, splits

N_RESAMPLES = 100

METHODS: dict[str, Callable[..., Calibrator]] = {
    "TS": TemperatureScaling,
    "FIR": partial(ByNotion, IsotonicCalibration(finite=None), "flattened"),
    "NA-FIR": partial(NormalizedFlattenedIsotonic, smoothing=1e-3),
    "SCIR": SCIR,
}
OTHERS = [name for name in METHODS if name != "SCIR"]

BENT, BACK = (2.0, 4.0), -0.7
"""How much of its highest probability is added to the power of a row: it becomes surer the surer it was, or the less sure."""


def raised(prob: np.ndarray, power: np.ndarray | float) -> np.ndarray:
    """Each row to a power, divided by its sum."""
    found: np.ndarray = np.clip(prob, 1e-300, 1.0) ** power
    return found / found.sum(axis=1, keepdims=True)


def bent(prob: np.ndarray, by: float) -> np.ndarray:
    """Each row to a power that depends on its highest probability."""
    return raised(prob, 1.0 + by * prob.max(axis=1, keepdims=True))


UNCHANGED, BENT_BACK = "unchanged", f"bent back, p^(1 - {-BACK:g} max p)"
BENT_SHAPES = {f"bent, p^(1 + {by:g} max p)": partial(bent, by=by) for by in BENT}

SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    UNCHANGED: lambda prob: prob,
    "sharpened, p^2": lambda prob: raised(prob, 2.0),
    "sharpened, p^3": lambda prob: raised(prob, 3.0),
    **BENT_SHAPES,
    BENT_BACK: partial(bent, by=BACK),
}


@dataclass(frozen=True, eq=False)
class Shape:
    """The conf-ECE of a forecast of some shape: of each method an array, one value a split."""

    model: Model
    shape: str
    error: dict[str, np.ndarray]

    @property
    def leads(self) -> bool:
        """Whether SCIR has the lowest error on average."""
        return all(self.mean("SCIR") < self.mean(name) for name in OTHERS)

    @property
    def best_other(self) -> str:
        return min(OTHERS, key=self.mean)

    @property
    def gain(self) -> np.ndarray:
        """By how much SCIR is better than the best other, split by split."""
        return self.error[self.best_other] - self.error["SCIR"]

    def mean(self, name: str) -> float:
        return float(self.error[name].mean())


@cache
def shapes() -> tuple[Shape, ...]:
    """Every forecast in every shape."""
    found = []
    for model in published_models():
        for name, change in SHAPES.items():
            changed = replace(model, fit=change(model.fit), test=change(model.test))
            rows = [
                [expected_calibration_error(part.y_test, part.test)]
                + [expected_calibration_error(part.y_test, calibrated(part, make)) for make in METHODS.values()]
                for part in splits(changed)
            ]
            found.append(Shape(model, name, dict(zip(["Uncalibrated", *METHODS], np.array(rows).T, strict=True))))
    return tuple(found)


@cache
def floors() -> dict[str, tuple[float, float]]:
    """Of SCIR on the split of the study: what a calibrated forecast shows, and the error without bias."""
    found = {}
    for model in published_models():
        e = estimate_calibration_error(
            model.y_test, calibrated(model, SCIR), notion="confidence", n_resamples=N_RESAMPLES, rng=0
        )
        found[name_of(model)] = (e.noise_floor or 0.0, e.debiased or 0.0)
    return found
