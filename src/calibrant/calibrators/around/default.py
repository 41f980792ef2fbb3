"""What is fitted where no calibrator is named, by `calibrant fit` and by `CalibratedClassifier`."""

from __future__ import annotations

from calibrant.calibrators.around.safe import SafeCalibrator
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.one_score.beta import BetaCalibration
from calibrant.calibrators.simplex.evidence_scaling import EvidenceScaling
from calibrant.calibrators.simplex.temperature import TemperatureScaling

FEWEST_ROWS, SAFE_BELOW = 100, 1000
"""Rows from which on `EvidenceScaling` is the default, and from which on by itself."""

MOST_NUMBERS, MOST_CLASSES = 100_000, 15
"""Rows times classes, and classes, up to which it is: there nearly all fits of the arena took less than a second."""


def suits_evidence_scaling(n_classes: int, n_rows: float) -> bool:
    """Whether `EvidenceScaling` is quick, and was compared on so many classes."""
    return n_rows * n_classes <= MOST_NUMBERS and n_classes <= MOST_CLASSES


def default_calibrator(n_classes: int, n_rows: float | None = None) -> Calibrator:
    """Return what is fitted to so many classes and rows, for which weights stand, where no method is named.

    It is `EvidenceScaling`, within `SafeCalibrator` below 1000 rows. With fewer than 100 rows, more than 15 classes or 100 000
    numbers, or rows in batches, which are not counted, it is `BetaCalibration` for one event, which keeps the order of scores,
    and `TemperatureScaling` for more classes, which keeps the predicted class. docs/calibrators.md has the reasons.
    """
    if n_rows is None or not n_rows >= FEWEST_ROWS or not suits_evidence_scaling(n_classes, n_rows):
        return BetaCalibration() if n_classes == 2 else TemperatureScaling()
    return EvidenceScaling() if n_rows >= SAFE_BELOW else SafeCalibrator(EvidenceScaling())
