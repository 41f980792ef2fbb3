"""betacal, by the authors of beta calibration."""

import numpy as np
from betacal import BetaCalibration

from benchmarks.fitting import Method


def beta(y: np.ndarray, p: np.ndarray) -> Method:
    return Method(lambda: BetaCalibration("abm").fit(p, y), lambda fitted, other: fitted.predict(other))


def beta_by_class(y: np.ndarray, prob: np.ndarray) -> Method:
    """A calibrator a class, as its users write it; the rows are divided by their sums."""

    def fit() -> list[BetaCalibration]:
        return [BetaCalibration("abm").fit(column, y == k) for k, column in enumerate(prob.T)]

    def apply(fitted: list[BetaCalibration], other: np.ndarray) -> np.ndarray:
        found = np.column_stack([one.predict(column) for one, column in zip(fitted, other.T, strict=True)])
        return found / found.sum(axis=1, keepdims=True)

    return Method(fit, apply)
