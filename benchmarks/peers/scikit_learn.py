"""scikit-learn: it has no ECE, so the sum over `calibration_curve` is written as its users write it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.calibration import calibration_curve


def ece(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], float]:
    def call() -> float:
        event_rate, mean_prob = calibration_curve(y, p, n_bins=bins)
        count, _ = np.histogram(p, bins=bins, range=(0.0, 1.0))
        return float(np.abs(event_rate - mean_prob) @ count[count > 0] / len(p))

    return call


def temperature(y: np.ndarray, z: np.ndarray) -> Callable[[], float]:
    # The fit alone, which is private. The public CalibratedClassifierCV(FrozenEstimator(model), method="temperature")
    # makes folds around the same fit, and in 1.9 ends in an IndexError where a class has too few rows for them, as here.
    from sklearn.calibration import _TemperatureScaling

    return lambda: float(1.0 / _TemperatureScaling().fit(z, y).beta_)
