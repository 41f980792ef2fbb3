"""probcal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from probcal import metrics


def kernel_test(y: np.ndarray, p: np.ndarray) -> Callable[[], float]:
    return lambda: metrics.skce_test(y, p, n_boot=999).p_value


def assessment(y: np.ndarray, p: np.ndarray) -> Callable[[], float]:
    def call() -> float:
        report = metrics.evaluate(y, p, n_boot=1000)
        return float(report.values[report.names.index("brier")])

    return call
