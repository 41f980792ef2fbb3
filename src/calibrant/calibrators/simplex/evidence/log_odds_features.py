"""Functions of the log-odds of two classes, measured on the calibration rows without their labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from calibrant._core.links import FloatArray
from calibrant.calibrators.simplex.evidence.hinges import Hinges, weighted_quantiles

WEIGHTED, PLAIN = np.linspace(0.02, 0.98, 15), np.linspace(0.02, 0.98, 8)
"""Fractions at which knots lie, of rows weighted by p (1 - p) and of rows as they are."""

RANKS = Hinges(ndtri(np.linspace(0.06, 0.94, 9)), 0.0)
RANK_SIZE = 0.6
"""Hinges of the normal score of a row's rank, and their size."""

MOST_RANKS = 257
"""Distinct log-odds whose ranks are kept; those between are interpolated."""

TINY = 1e-9


@dataclass(frozen=True, eq=False)
class LogOddsFeatures:
    """Log-odds, one, the sum of both log-probabilities, hinges of the log-odds, and hinges of their normal scores.

    Attributes
    ----------
    centre, unit : ndarray of shape (2,)
        Means and spreads (at most 1) of the log-odds and of the sum of log-probabilities, rows weighted by p (1 - p).
    curve : Hinges
        Of the log-odds over their unit.
    ranked : ndarray of shape (2, m)
        Log-odds that do not fall, and the parts of the rows that lie below each.
    """

    centre: FloatArray
    unit: FloatArray
    curve: Hinges
    ranked: FloatArray

    @classmethod
    def measured(cls, z: FloatArray, weight: FloatArray) -> LogOddsFeatures:
        """Measure on standardised log-probabilities, shape (n, 2), of rows with these weights."""
        log_odds, both = z[:, 1] - z[:, 0], z.sum(axis=1)
        doubt = weight * np.exp(both)
        centre = np.array([np.average(x, weights=doubt) for x in (log_odds, both)])
        spread = [np.average((x - c) ** 2, weights=doubt) for x, c in zip((log_odds, both), centre, strict=True)]
        unit = np.minimum(np.sqrt(spread), 1.0) + TINY
        scaled = log_odds / unit[0]
        knots = np.append(weighted_quantiles(scaled, doubt, WEIGHTED), weighted_quantiles(scaled, weight, PLAIN))
        middle = float(weighted_quantiles(scaled, doubt, np.array([0.5]))[0])
        return cls(centre, unit, Hinges.at(knots, middle), _ranked(log_odds, weight))

    @property
    def groups(self) -> list[str]:
        """Group of each feature."""
        return ["temp", "bias", "asym", *["curve"] * len(self.curve.knots), *["rank"] * (1 + len(RANKS.knots))]

    def of(self, z: FloatArray) -> FloatArray:
        """Return the features, shape (n, S)."""
        log_odds, both = z[:, 1] - z[:, 0], z.sum(axis=1)
        score = ndtri(np.interp(log_odds, self.ranked[0], self.ranked[1]))
        ranks = [RANK_SIZE * hinge for hinge in RANKS.plain(score)]
        temp, asym = (log_odds - self.centre[0]) / self.unit[0], (both - self.centre[1]) / self.unit[1]
        return np.column_stack([temp, np.ones(len(z)), asym, *self.curve.of(log_odds / self.unit[0]), score, *ranks])


def _ranked(log_odds: FloatArray, weight: FloatArray) -> FloatArray:
    """Return distinct log-odds and the part of the rows that lies below each, half of its own rows included."""
    distinct, at = np.unique(log_odds, return_inverse=True)
    own = np.bincount(at, weight)
    n = own.sum()
    part = np.clip((np.cumsum(own) - 0.5 * own) / n, 0.5 / n, 1.0 - 0.5 / n)
    if distinct.size > MOST_RANKS:
        places = np.rint(np.linspace(0, distinct.size - 1, MOST_RANKS)).astype(np.intp)
        few = np.union1d(places, distinct.size - 1 - places)
        distinct, part = distinct[few], part[few]
    return np.stack([distinct, part])
