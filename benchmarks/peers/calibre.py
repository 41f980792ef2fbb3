"""calibre (0.14 needs Python 3.12)."""

from collections.abc import Callable

import calibre
import numpy as np


def corp_bands(y: np.ndarray, p: np.ndarray) -> Callable[[], float]:
    def call() -> float:
        calibre.corp_reliability(y, p)
        band = calibre.consistency_bands(p, level=0.9, n_resamples=1000)
        return float((band["upper"] - band["lower"]).mean())

    return call


def assessment(y: np.ndarray, p: np.ndarray) -> Callable[[], float]:
    def call() -> float:
        report = calibre.calibration_report(y, p, include_brier_interval=True, interval_n_resamples=1000)
        for metric in (calibre.expected_calibration_error, calibre.smooth_calibration_error):
            calibre.bootstrap_ci(metric, y, p, n_resamples=1000)
        return report.brier_score

    return call
