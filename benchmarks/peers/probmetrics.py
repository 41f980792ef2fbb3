"""probmetrics, by the authors of structured matrix scaling (it computes with PyTorch)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from probmetrics.calibrators import get_calibrator

from benchmarks.fitting import Method


def _named(name: str) -> Callable[[np.ndarray, np.ndarray], Method]:
    """Its calibrator of that name; two classes are two columns."""

    def prepare(y: np.ndarray, prob: np.ndarray) -> Method:
        columns = _columns(prob)
        return Method(
            lambda: get_calibrator(name).fit(columns, y),
            lambda fitted, other: fitted.predict_proba(_columns(other)) if prob.ndim == 2 else _event(fitted, other),
        )

    return prepare


def _columns(prob: np.ndarray) -> np.ndarray:
    return prob if prob.ndim == 2 else np.column_stack([1.0 - prob, prob])


def _event(fitted: Any, other: np.ndarray) -> np.ndarray:
    prob: np.ndarray = fitted.predict_proba(_columns(other))[:, 1]
    return prob


platt = _named("affine-scaling")
quadratic = _named("quadratic-scaling")
temperature = _named("temp-scaling")
svs = _named("svs")
sms = _named("sms")


def vector(y: np.ndarray, prob: np.ndarray) -> Method:
    from probmetrics.calibrators.logistic import VectorScalingCalibrator

    return Method(lambda: VectorScalingCalibrator().fit(prob, y), lambda fitted, other: fitted.predict_proba(other))


def matrix(y: np.ndarray, prob: np.ndarray) -> Method:
    from probmetrics.calibrators.logistic import MatrixScalingCalibrator

    return Method(lambda: MatrixScalingCalibrator().fit(prob, y), lambda fitted, other: fitted.predict_proba(other))


def ensemble_temperature(y: np.ndarray, prob: np.ndarray) -> Method:
    from probmetrics.calibrators.temperature_scaling import ETSCalibrator

    return Method(lambda: ETSCalibrator(loss="ce").fit(prob, y), lambda fitted, other: fitted.predict_proba(other))


def cdf_spline(y: np.ndarray, p: np.ndarray) -> Method:
    from probmetrics.calibrators.splines import CDFSplineCalibrator

    columns = _columns(p)
    return Method(lambda: CDFSplineCalibrator().fit(columns, y), _event)
