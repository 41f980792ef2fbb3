"""What the parts of a fitted evidence scaling do: how much of each group is used, curve, biases and interactions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant._core.result import DrawnResult, Picture
from calibrant._core.table import Table
from calibrant.calibrators.simplex.evidence.class_features import ClassFeatures
from calibrant.calibrators.simplex.evidence.log_odds_features import LogOddsFeatures
from calibrant.calibrators.simplex.evidence.maps import Maps
from calibrant.calibrators.simplex.evidence.model import Features

POINTS = 201
"""Places at which the curve is worked out."""

MOST_LOG_ODDS = 8.0
"""Log-odds up to which the curve of two classes goes."""


@dataclass(frozen=True, eq=False)
class EvidenceParts(DrawnResult):
    """The parts of a fitted `EvidenceScaling`, as means over its maps, by their shares.

    Attributes
    ----------
    group : tuple of str
        Names of the groups of features.
    variance : ndarray of shape (n_groups,)
        Prior variance of the weights of each.
    degrees_of_freedom : ndarray of shape (n_groups,)
        How many of these weights the rows determine.
    n_weights : ndarray of shape (n_groups,)
        How many there are.
    place : ndarray of shape (n_places,)
        Standardised log-probabilities; of two classes standardised log-odds of the second.
    curve : ndarray of shape (n_places,)
        What temperature and curve add there to the score; of two classes what all parts add.
    bias : ndarray of shape (n_classes,)
        What is added to the score of each class, less the mean over classes; of two classes zero, as the curve holds it.
    interaction : ndarray of shape (n_classes, n_classes)
        What a log-probability of class k that is higher by one adds to the score of class j, besides the curve; of two classes,
        and where classes do not interact, zero off the diagonal.
    classes : tuple of str
        Names of the classes.
    """

    _table = Table("group", "group", "variance", "degrees_of_freedom", "n_weights")
    _summary = "{group:list}"
    _picture = Picture("the curve, the biases and the strongest interactions", "evidence_parts.plot_evidence_parts")

    group: tuple[str, ...]
    variance: FloatArray
    degrees_of_freedom: FloatArray
    n_weights: IntArray
    place: FloatArray
    curve: FloatArray
    bias: FloatArray
    interaction: FloatArray
    classes: tuple[str, ...]


def parts_of(
    groups: Mapping[str, tuple[float, float, int]], maps: Maps, features: Features, classes: npt.NDArray[np.generic]
) -> EvidenceParts:
    """Return the parts of maps of these features."""
    share = maps.shares[:-1] / max(float(maps.shares[:-1].sum()), 1e-300)
    shared = share @ maps.shared
    place, curve = _curve(shared, features)
    bias, interaction = _of_classes(np.tensordot(share, maps.own, axes=1), features)
    variance, determined, count = (np.array(column) for column in zip(*groups.values(), strict=True))
    names = tuple(map(str, classes.tolist()))
    return EvidenceParts(tuple(groups), variance, determined, count, place, curve, bias, interaction, names)


def _curve(shared: FloatArray, features: Features) -> tuple[FloatArray, FloatArray]:
    """Return places, and what is added to the score there."""
    if isinstance(features, ClassFeatures):
        return _curve_of_many(shared, features)
    return _curve_of_two(shared, features)


def _curve_of_two(shared: FloatArray, features: LogOddsFeatures) -> tuple[FloatArray, FloatArray]:
    place = np.linspace(-MOST_LOG_ODDS, MOST_LOG_ODDS, POINTS)
    z = -np.logaddexp(0.0, np.stack([place, -place], axis=1))
    return place, features.of(z) @ shared


def _curve_of_many(shared: FloatArray, features: ClassFeatures) -> tuple[FloatArray, FloatArray]:
    knots = features.curve.knots
    place = np.linspace(min(float(knots[0]) - 1.0, -1.0), 0.0, POINTS)
    curve = shared[0] * place + shared[1 : 1 + len(knots)] @ np.stack(features.curve.of(place))
    return place, curve


def _of_classes(own: FloatArray, features: Features) -> tuple[FloatArray, FloatArray]:
    """Bias of each class, and slopes between classes, from weights of shape (K, F)."""
    n_classes, interaction = len(own), np.zeros((len(own), len(own)))
    if not own.shape[1] or isinstance(features, LogOddsFeatures):
        return np.zeros(n_classes), interaction
    if own.shape[1] == 1 + 3 * n_classes:
        interaction = own[:, 1 : 1 + n_classes] / features.unit
    else:
        np.fill_diagonal(interaction, own[:, 1] / features.unit)
    return own[:, 0] - own[:, 0].mean(), interaction
