"""What the parts of a fitted evidence scaling do: how much of each group is used, curve, biases and interactions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant._core.result import DrawnResult, Picture
from calibrant._core.table import Table
from calibrant.calibrators.simplex.evidence.bands import Posterior
from calibrant.calibrators.simplex.evidence.class_features import ClassFeatures
from calibrant.calibrators.simplex.evidence.log_odds_features import LogOddsFeatures
from calibrant.calibrators.simplex.evidence.maps import Maps
from calibrant.calibrators.simplex.evidence.model import Features

POINTS = 201
"""Places at which the curve is worked out."""

MOST_LOG_ODDS = 8.0
"""Log-odds up to which the curve of two classes goes."""


class Group(NamedTuple):
    """How much of a group of features is used.

    Attributes
    ----------
    variance : float
        Prior variance of its weights, that of most evidence.
    degrees_of_freedom : float
        How many of its weights the rows determine, from 0 to ``n_weights``.
    n_weights : int
        Number of weights.
    """

    variance: float
    degrees_of_freedom: float
    n_weights: int


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
    lower, upper : ndarray of shape (n_places,)
        Ends of the band of the curve, of a map that was fitted with ``intervals=True``; else empty.
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
    lower: FloatArray
    upper: FloatArray
    bias: FloatArray
    interaction: FloatArray
    classes: tuple[str, ...]


def parts_of(
    groups: Mapping[str, Group],
    maps: Maps,
    features: Features,
    classes: npt.NDArray[np.generic],
    posterior: Posterior | None,
    level: float,
) -> EvidenceParts:
    """Return the parts of maps of these features; the curve with a band if there is a posterior."""
    share = maps.shares[:-1] / max(float(maps.shares[:-1].sum()), 1e-300)
    place, columns = _curve_of_many(features) if isinstance(features, ClassFeatures) else _curve_of_two(features)
    curve = columns @ (share @ maps.shared)[: columns.shape[1]]
    band = (np.empty(0), np.empty(0)) if posterior is None else posterior.curve(columns, level)
    bias, interaction = _of_classes(np.tensordot(share, maps.own, axes=1), features)
    variance, determined, count = (np.array(column) for column in zip(*groups.values(), strict=True))
    names = tuple(map(str, classes.tolist()))
    return EvidenceParts(tuple(groups), variance, determined, count, place, curve, *band, bias, interaction, names)


def _curve_of_two(features: LogOddsFeatures) -> tuple[FloatArray, FloatArray]:
    """Return places, and the features there, shape (n_places, S)."""
    place = np.linspace(-MOST_LOG_ODDS, MOST_LOG_ODDS, POINTS)
    return place, features.of(-np.logaddexp(0.0, np.stack([place, -place], axis=1)))


def _curve_of_many(features: ClassFeatures) -> tuple[FloatArray, FloatArray]:
    """Return places, and there temperature and hinges, shape (n_places, 1 + n_knots)."""
    place = np.linspace(min(float(features.curve.knots[0]) - 1.0, -1.0), 0.0, POINTS)
    return place, np.column_stack([place, *features.curve.of(place)])


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
