"""The logit of a problem: standardised log-probabilities, features that are measured on them, and the groups of their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.calibrators.simplex.evidence.class_features import ClassFeatures, table_groups
from calibrant.calibrators.simplex.evidence.hyper_prior import groups_of, prior_of
from calibrant.calibrators.simplex.evidence.log_odds_features import LogOddsFeatures
from calibrant.solvers.evidence.logit import Logit, ManyClasses, TwoClasses
from calibrant.solvers.evidence.precisions import Prior

if TYPE_CHECKING:
    from calibrant._core.problem import IntArray
    from calibrant.calibrators.simplex.evidence.standard import Standard

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


def measured(z: FloatArray, weight: FloatArray) -> Features:
    """Measure features on standardised log-probabilities, shape (n, K)."""
    return (LogOddsFeatures if z.shape[1] == 2 else ClassFeatures).measured(z, weight)


def model_of(z: FloatArray, label: IntArray, weight: FloatArray, features: Features, standard: Standard) -> Model:
    """Return what is fitted to standardised log-probabilities z, shape (n, K), with these features."""
    n_classes = z.shape[1]
    logit: Logit
    if isinstance(features, LogOddsFeatures):
        logit, names = TwoClasses(z[:, 1] - z[:, 0], features.of(z), label == 1, weight), features.groups
    else:
        logit = ManyClasses(z, features.shared(z), features.of_rows(z), label, weight)
        names = [*features.shared_groups, *(name for row in table_groups(n_classes) for name in row)]
    groups = groups_of(n_classes)
    number = {name: g for g, name in enumerate(groups)}
    group = np.array([number[name] for name in names])
    return Model(logit, groups, group, Prior(*prior_of(n_classes, standard.exponent)))
