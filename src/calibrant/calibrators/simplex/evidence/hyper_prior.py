"""What many forecasts say of the precision of each group of weights, before the rows to fit are seen.

The logarithm rho of the precision of a group is normal. Its mean is linear in log(K / 6), K classes, and in the size of the
logarithm of the fitted exponent, at most 2.5: a forecast whose confidence was far off is often wrong in other ways too. The
constants are a regression over fits to 30 data sets, most of them tables (../docs/evidence-scaling.md lists them).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray

MOST_AWAY = 2.5
CLASSES = 6.0


class Normal(NamedTuple):
    """Mean of rho at K = 6 and exponent 1, its slopes in log(K / 6) and in the size of log exponent, and the spread."""

    mean: float
    of_classes: float
    of_exponent: float
    spread: float


TWO_CLASSES: Mapping[str, Normal] = {
    "temp": Normal(4.0, 0.0, 0.0, 0.5),
    "bias": Normal(2.44, 0.0, -0.58, 1.41),
    "asym": Normal(3.04, 0.0, -0.44, 1.63),
    "curve": Normal(3.54, 0.0, -0.89, 2.56),
    "rank": Normal(3.54, 0.0, -0.89, 2.0),
}
"""Of a map of log-odds."""

MANY_CLASSES: Mapping[str, Normal] = {
    "temp": Normal(4.0, 0.0, 0.0, 0.5),
    "curve": Normal(3.30, 0.01, -0.64, 2.03),
    "row": Normal(2.62, 1.07, -0.31, 1.84),
    "bias": Normal(2.84, 1.43, -0.85, 2.13),
    "slope": Normal(4.67, 1.45, -0.97, 1.90),
    "mat": Normal(4.08, 0.32, -0.46, 2.05),
    "prob": Normal(1.90, -0.21, -0.40, 1.86),
    "sqz": Normal(4.19, 0.91, -1.60, 2.50),
}
"""Of a map of three classes or more."""


SHARED = ("temp", "curve", "row")
"""Groups of features that all classes share: they do nothing to the order of classes in a row, if the slope is positive."""


def groups_of(n_classes: int, *, ordered: bool = False) -> Mapping[str, Normal]:
    """Return the groups of weights; of maps that are to keep the order of classes in a row, those of three classes or more."""
    if ordered:
        return {name: MANY_CLASSES[name] for name in SHARED}
    return TWO_CLASSES if n_classes == 2 else MANY_CLASSES


def prior_of(groups: Mapping[str, Normal], n_classes: int, exponent: float) -> tuple[FloatArray, FloatArray]:
    """Return mean and spread of rho of each group."""
    away = min(abs(float(np.log(exponent))), MOST_AWAY)
    classes = float(np.log(n_classes / CLASSES))
    normals = groups.values()
    mean = np.array([normal.mean + normal.of_classes * classes + normal.of_exponent * away for normal in normals])
    return mean, np.array([normal.spread for normal in normals])
