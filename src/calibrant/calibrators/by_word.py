"""From a word to a calibrator of one score or of all classes: the words are those of `calibrant list calibrators`."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from calibrant._core.parameters import require
from calibrant._core.registry import find
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.kinds import BinaryCalibrator


def as_calibrator(calibrator: str | Calibrator) -> Calibrator:
    """Return a new, unfitted calibrator: that of a word, with its default parameters, or a copy of an object."""
    if isinstance(calibrator, str):
        made: Calibrator = find("calibrator", calibrator).target()
        return made
    require(
        isinstance(calibrator, Calibrator),
        "calibrator must be a word or a calibrator of calibrant",
        value=calibrator,
        hint="Pass 'temperature', or TemperatureScaling()",
        error=TypeError,
    )
    copied: Calibrator = clone(calibrator)
    return copied


def as_binary_calibrator(calibrator: str | BinaryCalibrator, *, hint: str) -> BinaryCalibrator:
    """Return a new, unfitted map of one score, of a word or of an object; refuse what maps all classes."""
    made: Any = as_calibrator(calibrator) if isinstance(calibrator, (str, BinaryCalibrator)) else calibrator
    require(
        isinstance(made, BinaryCalibrator),
        "calibrator must be a BinaryCalibrator, a map of one score",
        value=calibrator,
        hint=hint,
        error=TypeError,
    )
    found: BinaryCalibrator = made
    return found
