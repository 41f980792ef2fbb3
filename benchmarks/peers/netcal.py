"""netcal (imports PyTorch and Pyro)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
from scipy.special import softmax

from benchmarks.fitting import Method


def ece(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], float]:
    from netcal.metrics import ECE

    return lambda: float(ECE(bins).measure(p, y))


def temperature(y: np.ndarray, z: np.ndarray) -> Callable[[], float]:
    from netcal.scaling import TemperatureScaling

    prob = softmax(z, axis=1)  # it takes probabilities only: not timed

    def call() -> float:
        with redirect_stdout(StringIO()):  # it prints a line where a class has no row
            fitted = TemperatureScaling().fit(prob, y, tensorboard=False)
        return float(1.0 / fitted.temperature[0])  # its "temperature" multiplies the logits

    return call


def _method(make: Callable[[], Any], **options: Any) -> Callable[[np.ndarray, np.ndarray], Method]:
    """Its calibrator, silent: netcal prints where a class has no row, and draws bars of progress."""

    def prepare(y: np.ndarray, prob: np.ndarray) -> Method:
        def fit() -> Any:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                return make().fit(prob, y, **options)

        return Method(fit, lambda fitted, other: fitted.transform(other))

    return prepare


def _scaling(name: str) -> Callable[[np.ndarray, np.ndarray], Method]:
    from netcal import scaling

    return _method(getattr(scaling, name), tensorboard=False)


def _binning(name: str) -> Callable[[np.ndarray, np.ndarray], Method]:
    from netcal import binning

    return _method(getattr(binning, name))


def platt(y: np.ndarray, p: np.ndarray) -> Method:
    return _scaling("LogisticCalibration")(y, p)


def vector(y: np.ndarray, prob: np.ndarray) -> Method:
    return _scaling("LogisticCalibration")(y, prob)


def beta(y: np.ndarray, p: np.ndarray) -> Method:
    return _scaling("BetaCalibration")(y, p)


def temperature_scaling(y: np.ndarray, prob: np.ndarray) -> Method:
    return _scaling("TemperatureScaling")(y, prob)


def isotonic(y: np.ndarray, prob: np.ndarray) -> Method:
    return _binning("IsotonicRegression")(y, prob)


def histogram(y: np.ndarray, p: np.ndarray) -> Method:
    return _binning("HistogramBinning")(y, p)


def bbq(y: np.ndarray, p: np.ndarray) -> Method:
    return _binning("BBQ")(y, p)


def enir(y: np.ndarray, p: np.ndarray) -> Method:
    return _binning("ENIR")(y, p)
