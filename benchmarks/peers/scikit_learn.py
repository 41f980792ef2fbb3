"""scikit-learn: it has no ECE, so the sum over `calibration_curve` is written as its users write it.

Its sigmoid and its temperature are fitted by private classes: in public they come with the folds of CalibratedClassifierCV.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.calibration import calibration_curve

from benchmarks.fitting import Method


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


def temperature_scaling(y: np.ndarray, prob: np.ndarray) -> Method:
    from sklearn.calibration import _TemperatureScaling

    return Method(lambda: _TemperatureScaling().fit(prob, y), lambda fitted, other: fitted.predict(other))


def platt(y: np.ndarray, p: np.ndarray) -> Method:
    from sklearn.calibration import _SigmoidCalibration

    # It wants decision values. All others of the section take probabilities: the logarithm is timed, in fit and apply.
    return Method(lambda: _SigmoidCalibration().fit(_log_odds(p), y), _apply_to_log_odds)


def isotonic(y: np.ndarray, prob: np.ndarray) -> Method:
    """Of a table a class at a time, as CalibratedClassifierCV does."""
    from sklearn.isotonic import IsotonicRegression

    if prob.ndim == 1:
        return Method(
            lambda: IsotonicRegression(out_of_bounds="clip").fit(prob, y), lambda fitted, other: fitted.predict(other)
        )

    def fit() -> list[IsotonicRegression]:
        return [IsotonicRegression(out_of_bounds="clip").fit(column, y == k) for k, column in enumerate(prob.T)]

    def apply(fitted: list[IsotonicRegression], other: np.ndarray) -> np.ndarray:
        found = np.column_stack([one.predict(column) for one, column in zip(fitted, other.T, strict=True)])
        return found / found.sum(axis=1, keepdims=True)

    return Method(fit, apply)


def _log_odds(p: np.ndarray) -> np.ndarray:
    return np.log(p / (1.0 - p))


def _apply_to_log_odds(fitted: object, p: np.ndarray) -> np.ndarray:
    prob: np.ndarray = fitted.predict(_log_odds(p))  # type: ignore[attr-defined]
    return prob
