"""How far a Brownian motion goes from time 0 to 1: its largest distance from 0, and its range.

The cumulative residuals of a calibrated forecast, in units of their standard deviation, are such a path. (No Brownian bridge:
where they end is free.) Each law has two series, each the Poisson sum of the other: the images of the path's end by reflection,
few of which matter for large x, and the modes of heat in an interval, few of which matter for small x.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from calibrant._core.links import FloatArray

TERMS = 12
"""Terms summed; rounding leaves room for seven."""

SPLIT = 1.25
"""Below it the modes are summed, from it on the images."""

K = np.arange(1, TERMS + 1, dtype=np.float64)[:, None]
ODD = 2.0 * K - 1.0
SIGN = np.where(np.arange(TERMS)[:, None] % 2 == 0, 1.0, -1.0)

Series = Callable[[FloatArray], FloatArray]


def distance_survival(x: npt.ArrayLike) -> FloatArray:
    """Probability that the largest distance from 0 is at least ``x``."""

    def modes(s: FloatArray) -> FloatArray:
        return 1.0 - _sum(4.0 / np.pi * SIGN / ODD * _heat(ODD / 2.0, s))

    def images(s: FloatArray) -> FloatArray:
        return _sum(4.0 * SIGN * ndtr(-ODD * s))

    return _by_size(x, modes, images, at_zero=1.0)


def distance_density(x: npt.ArrayLike) -> FloatArray:
    """Density of the largest distance from 0."""

    def modes(s: FloatArray) -> FloatArray:
        return np.pi / s**3 * _sum(SIGN * ODD * _heat(ODD / 2.0, s))

    def images(s: FloatArray) -> FloatArray:
        return _sum(4.0 * SIGN * ODD * _normal(ODD * s))

    return _by_size(x, modes, images, at_zero=0.0)


def range_survival(x: npt.ArrayLike) -> FloatArray:
    """Probability that highest minus lowest value is at least ``x`` (Feller 1951)."""

    def modes(s: FloatArray) -> FloatArray:
        return 1.0 - _sum(8.0 * (1.0 / s**2 + 1.0 / (ODD * np.pi) ** 2) * _heat(ODD, s))

    def images(s: FloatArray) -> FloatArray:
        return _sum(8.0 * SIGN * K * ndtr(-K * s))

    return _by_size(x, modes, images, at_zero=1.0)


def range_density(x: npt.ArrayLike) -> FloatArray:
    """Density of highest minus lowest value."""

    def modes(s: FloatArray) -> FloatArray:
        return _sum(8.0 / s**3 * ((ODD * np.pi / s) ** 2 - 1.0) * _heat(ODD, s))

    def images(s: FloatArray) -> FloatArray:
        return _sum(8.0 * SIGN * K**2 * _normal(K * s))

    return _by_size(x, modes, images, at_zero=0.0)


def _by_size(x: npt.ArrayLike, modes: Series, images: Series, *, at_zero: float) -> FloatArray:
    at = np.asarray(x, dtype=np.float64)
    found = np.full(at.shape, at_zero)
    # Below 0.05 what the modes add to the value at zero is less than the smallest number.
    for series, where in ((modes, (at >= 0.05) & (at < SPLIT)), (images, at >= SPLIT)):
        found[where] = series(at[where])
    return found


def _sum(terms: FloatArray) -> FloatArray:
    total: FloatArray = terms.sum(axis=0)
    return total


def _heat(mode: FloatArray, s: FloatArray) -> FloatArray:
    """Decay of a mode in an interval of length s, in time 1."""
    return np.asarray(np.exp(-((mode * np.pi / s) ** 2) / 2.0), dtype=np.float64)


def _normal(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-(x**2) / 2.0) / np.sqrt(2.0 * np.pi), dtype=np.float64)
