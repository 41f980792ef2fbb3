"""The logit of a problem: standardised log-probabilities, features measured on them, and the groups of their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.calibrators.simplex.evidence.class_features import (
    MOST_INTERACTING,
    ClassFeatures,
    own_features,
    table_groups,
)
from calibrant.calibrators.simplex.evidence.hyper_prior import groups_of, prior_of
from calibrant.calibrators.simplex.evidence.log_odds_features import LogOddsFeatures
from calibrant.solvers.evidence.logit import Logit, ManyClasses, TwoClasses
from calibrant.solvers.evidence.precisions import Prior
from calibrant.solvers.evidence.table import NoFeatures, OwnOfClass, SameForAll, Table

if TYPE_CHECKING:
    from calibrant._core.problem import IntArray

MANY = 1 << 21
"""Rows times the square of the number of classes from which features are kept in single precision."""

Features = LogOddsFeatures | ClassFeatures


@dataclass(frozen=True, eq=False)
class Model:
    """What is fitted: a logit, the names of the groups, the group of each weight, and the prior of the groups."""

    logit: Logit
    names: tuple[str, ...]
    group: IntArray
    prior: Prior

    @property
    def is_of_two(self) -> bool:
        """Whether there are two classes."""
        return isinstance(self.logit, TwoClasses)


def measured(z: FloatArray, weight: FloatArray, *, ordered: bool = False) -> Features:
    """Measure features on standardised log-probabilities, shape (n, K); ``ordered``, such as keep the order of classes."""
    kind = LogOddsFeatures if z.shape[1] == 2 and not ordered else ClassFeatures
    return kind.measured(z, weight)


def model_of(
    z: FloatArray, label: IntArray, weight: FloatArray, features: Features, exponent: float, *, ordered: bool = False
) -> Model:
    """Return what is fitted to standardised log-probabilities z, shape (n, K), with these features."""
    n_classes = z.shape[1]
    logit: Logit
    if isinstance(features, LogOddsFeatures):
        logit, names = TwoClasses(z[:, 1] - z[:, 0], features.of(z), label == 1, weight), features.groups
    else:
        precision: type[np.floating[Any]] = np.float32 if z.size * n_classes > MANY else np.float64
        table = NoFeatures(n_classes) if ordered else table_of(z, features)
        shared: FloatArray = features.shared(z).astype(precision, copy=False)
        logit, names = ManyClasses(z, shared, table.cast(precision), label, weight), features.shared_groups
        names += [] if ordered else [name for row in table_groups(n_classes) for name in row]
    groups = groups_of(n_classes, ordered=ordered)
    number = {name: g for g, name in enumerate(groups)}
    group = np.array([number[name] for name in names])
    return Model(logit, tuple(groups), group, Prior(*prior_of(groups, n_classes, exponent)))


def table_of(z: FloatArray, features: ClassFeatures) -> Table:
    """Return the features that have a weight for each class."""
    if z.shape[1] > MOST_INTERACTING:
        return OwnOfClass(features.of_classes(z))
    return SameForAll(features.of_rows(z), own_features(z.shape[1]))


def n_shared_of(features: Features) -> int:
    """Return the number of weights that all classes share."""
    return len(features.groups if isinstance(features, LogOddsFeatures) else features.shared_groups)
