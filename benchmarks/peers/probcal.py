"""probcal."""

from collections.abc import Callable
from typing import Any

import numpy as np
from probcal import bayesian, binning, metrics, parametric, vennabers
from probcal import isotonic as isotonics
from probcal import spline as splines

from benchmarks.fitting import Method


def kernel_test(y: np.ndarray, p: np.ndarray) -> Callable[[], float]:
    return lambda: metrics.skce_test(y, p, n_boot=999).p_value


def assessment(y: np.ndarray, p: np.ndarray) -> Callable[[], float]:
    def call() -> float:
        report = metrics.evaluate(y, p, n_boot=1000)
        return float(report.values[report.names.index("brier")])

    return call


def _method(make: Callable[[], Any]) -> Callable[[np.ndarray, np.ndarray], Method]:
    def prepare(y: np.ndarray, p: np.ndarray) -> Method:
        return Method(lambda: make().fit(p, y), lambda fitted, other: fitted.predict_proba(other))

    return prepare


platt = _method(parametric.PlattCalibrator)
beta = _method(parametric.BetaCalibrator)
isotonic = _method(isotonics.IsotonicCalibrator)
centered_isotonic = _method(isotonics.CenteredIsotonicCalibrator)
histogram = _method(binning.HistogramBinningCalibrator)
scaling_binning = _method(binning.ScalingBinningCalibrator)
bbq = _method(bayesian.BBQCalibrator)
enir = _method(bayesian.ENIRCalibrator)
spline = _method(splines.SplineCalibrator)
venn_abers = _method(vennabers.VennAbersCalibrator)
