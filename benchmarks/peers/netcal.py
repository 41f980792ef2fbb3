"""netcal (imports PyTorch and Pyro)."""

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from importlib import import_module
from io import StringIO
from typing import Any

import numpy as np

from benchmarks.fitting import Method


def ece(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], float]:
    from netcal.metrics import ECE

    return lambda: float(ECE(bins).measure(p, y))


def _method(module: str, name: str, y: np.ndarray, prob: np.ndarray, **options: Any) -> Method:
    """Its calibrator, silent: netcal prints where a class has no row, and draws bars of progress."""
    make = getattr(import_module(f"netcal.{module}"), name)

    def fit() -> Any:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            return make().fit(prob, y, **options)

    return Method(fit, lambda fitted, other: fitted.transform(other))


platt = vector = partial(_method, "scaling", "LogisticCalibration", tensorboard=False)
beta = partial(_method, "scaling", "BetaCalibration", tensorboard=False)
temperature_scaling = partial(_method, "scaling", "TemperatureScaling", tensorboard=False)
isotonic = partial(_method, "binning", "IsotonicRegression")
histogram = partial(_method, "binning", "HistogramBinning")
bbq = partial(_method, "binning", "BBQ")
enir = partial(_method, "binning", "ENIR")
