"""What is fitted where no calibrator is named, and what `advise` recommends: one place by classes and rows."""

from __future__ import annotations

from typing import NamedTuple

from calibrant.calibrators.around.safe import SafeCalibrator
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.by_word import as_calibrator

SAFE_BELOW = 1000
"""Rows from which on the default stands by itself, and not within `SafeCalibrator`."""

MOST_CLASSES = 100
"""Classes up to which it is `EvidenceScaling`, which then fits 10 000 rows or more in seconds."""


class Method(NamedTuple):
    """A method by its word, and whether it stands within `SafeCalibrator`; as text the words that follow ``--method``."""

    word: str
    safe: bool

    def __str__(self) -> str:
        """Return the words that follow ``--method`` on the command line."""
        return f"{self.word} --safe" if self.safe else self.word

    def calibrator(self) -> Calibrator:
        """Return the calibrator with its defaults, not fitted yet."""
        made = as_calibrator(self.word)
        return SafeCalibrator(made) if self.safe else made


def default_method(n_classes: int, n_rows: float) -> Method:
    """Return what is fitted to so many classes and rows, for which weights stand, where no method is named.

    It is `EvidenceScaling`, and above 100 classes `StructuredMatrixScaling`; within `SafeCalibrator` below 1000 rows.
    docs/calibrators.md has the reasons.
    """
    return Method("evidence-scaling" if n_classes <= MOST_CLASSES else "sms", safe=not n_rows >= SAFE_BELOW)
