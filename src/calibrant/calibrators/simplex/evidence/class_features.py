"""Features of rows of three classes or more, measured on the calibration rows without their labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant.calibrators.simplex.evidence.hinges import Hinges, weighted_quantiles

KNOTS = np.linspace(0.03, 0.97, 8)
"""Fractions of numbers z_ij, weighted by q (1 - q), at which knots of the shared curve lie."""

OF_PROB = 5.0
"""Unit of probabilities, in units of their spread; at most 1."""

OF_SQUARE = 0.1

MOST_INTERACTING = 150
"""Classes up to which the score of a class depends on the probabilities of all others; beyond, on its own."""

TINY = 1e-9

N_ROW = 2
"""Features that multiply z_ij by a number of the row: its entropy, and its highest log-probability."""


@dataclass(frozen=True, eq=False)
class ClassFeatures:
    """Features of a score that are shared by all classes, and features of a row with a weight for each class.

    Attributes
    ----------
    log_prob_mean, prob_mean : ndarray of shape (K,)
        Means of log-probabilities and of probabilities.
    entropy, top : float
        Means of the entropy of a row, and of its highest log-probability.
    unit, prob_unit : float
        Units of centred log-probabilities and probabilities.
    curve : Hinges
        Of log-probabilities.
    """

    log_prob_mean: FloatArray
    prob_mean: FloatArray
    entropy: float
    top: float
    unit: float
    prob_unit: float
    curve: Hinges

    @classmethod
    def measured(cls, z: FloatArray, weight: FloatArray) -> ClassFeatures:
        """Measure on standardised log-probabilities, shape (n, K), of rows with these weights."""
        q, share = np.exp(z), weight / weight.sum()
        log_prob_mean, prob_mean = share @ z, share @ q
        unit = float(np.sqrt((share @ (z - log_prob_mean) ** 2).mean()))
        prob_unit = float(np.sqrt((share @ (q - prob_mean) ** 2).mean()))
        entropy, top = float(share @ _entropy(z, q)), float(share @ z.max(axis=1))
        doubt = (share[:, None] * q * (1.0 - q)).ravel()
        *knots, middle = weighted_quantiles(z.ravel(), doubt, np.append(KNOTS, 0.5))
        return cls(
            log_prob_mean,
            prob_mean,
            entropy,
            top,
            min(unit, 1.0) + TINY,
            min(OF_PROB * prob_unit, 1.0) + TINY,
            Hinges.at(np.array(knots), float(middle)),
        )

    @property
    def shared_groups(self) -> list[str]:
        """Group of each shared feature."""
        return ["temp", *["curve"] * len(self.curve.knots), *["row"] * N_ROW]

    def shared(self, z: FloatArray) -> FloatArray:
        """Return features that all classes share, shape (S, n, K)."""
        q = np.exp(z)
        of_row = (_entropy(z, q) - self.entropy, z.max(axis=1) - self.top)
        return np.stack([z, *self.curve.of(z), *(z * number[:, None] for number in of_row)])

    def of_rows(self, z: FloatArray) -> FloatArray:
        """Return features with a weight for each class, shape (n, 1 + 3 K): one, z of each class, q, and z squared."""
        centred = (z - self.log_prob_mean) / self.unit
        prob = (np.exp(z) - self.prob_mean) / self.prob_unit
        return np.hstack([np.ones((len(z), 1)), centred, prob, OF_SQUARE * centred**2])

    def of_classes(self, z: FloatArray) -> FloatArray:
        """Return features of each class itself, shape (4, n, K): one, z, q, and z squared; for more classes than interact."""
        centred = (z - self.log_prob_mean) / self.unit
        prob = (np.exp(z) - self.prob_mean) / self.prob_unit
        return np.stack([np.ones_like(z), centred, prob, OF_SQUARE * centred**2])


def _entropy(z: FloatArray, q: FloatArray) -> FloatArray:
    """Entropy of each row, shape (n,)."""
    entropy: FloatArray = -np.vecdot(q, z)
    return entropy


def own_features(n_classes: int) -> IntArray:
    """Return which features of `of_rows` are made of the probability of each class itself, shape (K, 3)."""
    return 1 + np.arange(n_classes)[:, None] + n_classes * np.arange(3)


def table_groups(n_classes: int) -> list[list[str]]:
    """Group of the weight of each feature of `of_rows`, for each class, shape (K, 1 + 3 K), or of `of_classes`, (K, 4)."""
    if n_classes > MOST_INTERACTING:
        return [["bias", "slope", "prob", "sqz"]] * n_classes
    return [
        ["bias", *("slope" if k == j else "mat" for k in range(n_classes)), *["prob"] * n_classes, *["sqz"] * n_classes]
        for j in range(n_classes)
    ]
