"""Maps that keep the order of the classes in each row, and mixtures that keep the class of highest probability."""

from __future__ import annotations

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray
from calibrant.calibrators.simplex.evidence.class_features import ClassFeatures

LEAST_SLOPE = 0.01
"""Slope of a score in its log-probability, at least, so that no two classes are tied."""

WITHIN = 1.0 - 1e-6
"""Part of the largest share that keeps a class on top."""


def rising(weights: FloatArray, features: ClassFeatures) -> FloatArray:
    """Return the weights of shared features, shape (S,), made smaller until the score rises in z in every row there can be.

    The slope is 1 plus a function that is linear in the weights, so that a part of them always does.
    """
    least = float(1.0 + _curve_slopes(weights, features).min() + _least_of_row(weights, features))
    if least >= LEAST_SLOPE:
        return weights
    return weights * ((1.0 - LEAST_SLOPE) / (1.0 - least))


def _curve_slopes(weights: FloatArray, features: ClassFeatures) -> FloatArray:
    """Slope of temperature and curve between the knots and beyond."""
    curve = features.curve
    ends = np.concatenate([[curve.knots[0] - 1.0], curve.knots, [curve.knots[-1] + 1.0]])
    middles, width = 0.5 * (ends[1:] + ends[:-1]), 0.25 * np.diff(ends)
    hinges = np.stack(curve.of(middles + width)) - np.stack(curve.of(middles - width))
    slopes: FloatArray = weights[0] + weights[1 : 1 + len(curve.knots)] @ (hinges / (2.0 * width))
    return slopes


def _least_of_row(weights: FloatArray, features: ClassFeatures) -> float:
    """Least that the entropy of a row and its highest log-probability can add to the slope."""
    most = float(np.log(len(features.log_prob_mean)))
    entropy = weights[-2] * (np.array([0.0, most]) - features.entropy)
    top = weights[-1] * (np.array([-most, 0.0]) - features.top)
    return float(entropy.min() + top.min())


def keeping_top(free: FloatArray, ordered: FloatArray, top: BoolArray) -> FloatArray:
    """Mix free probabilities with ordered ones, shape (n, K): as many of the free as keep the class of ``top`` on top.

    Parameters
    ----------
    free, ordered : ndarray of shape (n, K)
        Probabilities; in the second the classes of a row have the order that they were given in.
    top : ndarray of shape (n, K)
        True at one class of each row, of highest probability in ``ordered``.
    """
    ahead = np.maximum(ordered[top][:, None] - ordered, 0.0)
    behind = np.maximum(free - free[top][:, None], 0.0)
    share = np.ones_like(ahead)
    np.divide(ahead, ahead + behind, out=share, where=behind > 0.0)
    of_free = share.min(axis=1, keepdims=True)
    of_free[of_free < 1.0] *= WITHIN
    mixed: FloatArray = of_free * free + (1.0 - of_free) * ordered
    return mixed
