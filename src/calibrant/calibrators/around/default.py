"""What is fitted where no method is named."""

from __future__ import annotations

from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.one_score.beta import BetaCalibration
from calibrant.calibrators.simplex.temperature import TemperatureScaling


def default_calibrator(n_classes: int) -> Calibrator:
    """Return what is fitted to so many classes where no method is named.

    For one event beta calibration: it has an intercept, which temperature scaling lacks, keeps the order of scores, and its
    mean rank by log loss on the forecasts of two classes in docs/comparison.md, 13.3, is before that of Platt scaling, 13.7,
    and of temperature scaling, 16.1. For more classes temperature scaling, which keeps the predicted class.
    """
    return BetaCalibration() if n_classes == 2 else TemperatureScaling()
