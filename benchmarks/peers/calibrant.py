"""calibrant itself, called as the peers are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def ece(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], float]:
    from calibrant import expected_calibration_error

    return lambda: expected_calibration_error(y, p, binning=bins)


def temperature(y: np.ndarray, z: np.ndarray) -> Callable[[], float]:
    from calibrant import TemperatureScaling

    return lambda: TemperatureScaling(input="logit").fit(z, y).temperature_
