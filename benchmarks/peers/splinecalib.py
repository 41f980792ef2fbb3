"""splinecalib."""

import numpy as np
from splinecalib import SplineCalib

from benchmarks.fitting import Method


def spline(y: np.ndarray, p: np.ndarray) -> Method:
    def fit() -> SplineCalib:
        made = SplineCalib()
        made.fit(p, y)  # it returns nothing
        return made

    return Method(fit, lambda fitted, other: fitted.calibrate(other))
