"""A forecast with the truth beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import whole
from calibrant._core.problem import IntArray
from calibrant._core.result import Result
from calibrant._core.table import Table

Floats = npt.NDArray[np.floating[Any]]
CalibrationMap = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False, repr=False)
class KnownTruth(Result):
    """Labels and a forecast, with the probabilities from which the labels were drawn.

    Probabilities of two classes are one column, of shape (n,), where the forecast is one column.

    Attributes
    ----------
    y : ndarray of shape (n,)
        The labels.
    prob : ndarray of shape (n,) or (n, K)
        The forecast S.
    posterior : ndarray of the shape of ``prob``
        Q, the probabilities of the classes given the features: no forecast can be better.
    calibrated : ndarray of the shape of ``prob``, or None
        C, the probabilities of the classes given the forecast: the forecast is calibrated where it equals them.
        None where there is no closed form.
    calibration_map : callable or None
        The function that leads from a forecast to C, for any forecast and not only for those in ``prob``.
    x : ndarray or None
        The features, a row each.
    name : str
        Source of the data.
    """

    _table = Table("label", "y", "prob_*", "posterior_*", "calibrated_*?", "x_*?")

    y: IntArray
    prob: Floats
    posterior: Floats
    calibrated: Floats | None = None
    calibration_map: CalibrationMap | None = None
    x: Floats | None = None
    name: str = ""

    def __repr__(self) -> str:
        n_classes = 2 if self.prob.ndim == 1 else self.prob.shape[1]
        return f"KnownTruth({self.name}, rows={len(self.y)}, classes={n_classes})"


def require_rows(n: object) -> None:
    """Refuse a number of rows that is not whole, or less than one."""
    whole("n", n, least=1, hint="Pass 1000 rows, say")
