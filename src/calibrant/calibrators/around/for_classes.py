"""The calibrator that a word means for so many classes: `calibrant fit --method` and the estimators all ask here."""

from __future__ import annotations

from calibrant.calibrators.around.by_notion import ByNotion
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.by_word import as_calibrator
from calibrant.calibrators.kinds import BinaryCalibrator
from calibrant.calibrators.one_score.beta import BetaCalibration
from calibrant.calibrators.simplex.evidence_scaling import EvidenceScaling
from calibrant.calibrators.simplex.temperature import TemperatureScaling
from calibrant.notions import Notion

FEWEST_ROWS, MOST_NUMBERS, MOST_CLASSES = 1000, 100_000, 15
"""Where `EvidenceScaling` is the default: so many rows at least, and at most so many rows times classes, and classes."""


def suits_evidence_scaling(n_classes: int, n_rows: float) -> bool:
    """Whether `EvidenceScaling` is fitted in about a second, to as many classes as it was compared on."""
    return n_rows * n_classes <= MOST_NUMBERS and n_classes <= MOST_CLASSES


def default_calibrator(n_classes: int, n_rows: float = 0.0) -> Calibrator:
    """Return what is fitted to so many classes and rows, counted by their weights, where no method is named.

    From 1000 rows on, with up to 15 classes and 100 000 numbers, it is `EvidenceScaling`. On the data sets kept apart of
    docs/arena.md it has the lowest mean rank by log loss there, does harm no more often than `SafeCalibrator`, and a fit takes
    less than a second. With fewer rows it would do harm more often than `SafeCalibrator`; with more numbers it takes longer.

    Elsewhere it is `BetaCalibration` for one event, which keeps the order of scores, and `TemperatureScaling` for more
    classes, which keeps the predicted class.
    """
    if n_rows >= FEWEST_ROWS and suits_evidence_scaling(n_classes, n_rows):
        return EvidenceScaling()
    return BetaCalibration() if n_classes == 2 else TemperatureScaling()


def calibrator_for(calibrator: str | Calibrator, n_classes: int) -> Calibrator:
    """Return a new calibrator for forecasts of so many classes, of a word or of an object.

    The word of a method of one score means, of more than two classes, that each class is calibrated against the rest.
    An object is copied as it is.
    """
    made = as_calibrator(calibrator)
    return for_classes(made, n_classes) if isinstance(calibrator, str) else made


def for_classes(calibrator: Calibrator, n_classes: int, notion: str | Notion | None = None) -> Calibrator:
    """Return the calibrator, a map of one score under the notion where there are several classes or a notion is named."""
    if isinstance(calibrator, BinaryCalibrator) and (n_classes > 2 or notion is not None):
        return ByNotion(calibrator, notion)
    return calibrator
