"""The calibrator that a word means for so many classes: `calibrant fit --method` and the estimators all ask here."""

from __future__ import annotations

from calibrant.calibrators.around.by_notion import ByNotion
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.by_word import as_calibrator
from calibrant.calibrators.kinds import BinaryCalibrator
from calibrant.notions import Notion


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
