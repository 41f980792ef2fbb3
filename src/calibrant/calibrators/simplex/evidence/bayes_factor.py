"""Bayes factor of a recalibration against the forecast as it is, to the second order at the forecast.

With all weights 0 a map is the forecast. There the log loss of all rows has the gradient g, a sum of features times residuals,
and a Hessian H that does not depend on the labels. For given precisions Laplace's approximation at the forecast is

    log BF(rho)  =  g' A^-1 g / 2  -  log det A / 2  +  sum(rho) / 2,    A = H + diag(exp(rho)),

and the Bayes factor is its mean over the prior of rho. Of other labels only g is another: no map is fitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp, ndtri

from calibrant._core.links import FloatArray
from calibrant._core.problem import Forecast, IntArray
from calibrant.calibrators.simplex.evidence.class_features import ClassFeatures, own_features, table_groups
from calibrant.calibrators.simplex.evidence.hyper_prior import Normal, groups_of, prior_of
from calibrant.calibrators.simplex.evidence.log_odds_features import LogOddsFeatures
from calibrant.calibrators.simplex.evidence.model import measured
from calibrant.calibrators.simplex.evidence.standard import Standard
from calibrant.solvers.evidence.curvature import factor_of
from calibrant.solvers.evidence.softmax_curvature import MOST_DENSE, SoftmaxCurvature
from calibrant.solvers.evidence.table import NoFeatures, OwnOfClass, SameForAll, Table

UNIFORM = 1e-9
"""Share of the uniform forecast that features are made with, so that a probability of 0 has a finite logarithm."""

N_PRECISIONS = 16
"""Points of the prior of the precisions."""

PRIMES = (2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0)

OF_EACH_CLASS = ("bias", "slope", "prob", "sqz")
"""Groups of the features of a class itself."""


@dataclass(frozen=True, eq=False)
class BayesFactor:
    """The logarithm of the Bayes factor as a function of the labels.

    Attributes
    ----------
    expected : ndarray of shape (n, K)
        Probabilities times the weights of the rows.
    weight : ndarray of shape (n,)
        Number of rows that each row stands for.
    shared : ndarray of shape (S, n, K)
        Features that all classes share.
    table : Table
        Features that have a weight for each class.
    factors : tuple of ndarray of shape (d, d)
        Cholesky factors of A, for each point of the prior.
    gains : ndarray of shape (n_points,)
        What does not depend on the labels: half of  sum(rho) - log det A.
    """

    expected: FloatArray
    weight: FloatArray
    shared: FloatArray
    table: Table
    factors: tuple[FloatArray, ...]
    gains: FloatArray

    @classmethod
    def of(cls, forecast: Forecast, weight: FloatArray) -> BayesFactor:
        """Measure the features of a forecast."""
        z = Standard(1.0, 0.0, UNIFORM).of(forecast)
        prob, n_classes = np.exp(z), z.shape[1]
        shared, table, names = _features(z, weight)
        groups = groups_of(n_classes)
        group = np.array([list(groups).index(name) for name in names])
        curvature = SoftmaxCurvature(prob, weight, shared, table)
        hessian = np.stack([curvature.times(unit) for unit in np.eye(len(names))])
        log_precisions = [rho[group] for rho in _points(groups, n_classes)]
        factors = tuple(factor_of(hessian, np.exp(rho)) for rho in log_precisions)
        gains = [
            0.5 * rho.sum() - np.log(factor.diagonal()).sum()
            for rho, factor in zip(log_precisions, factors, strict=True)
        ]
        return cls(weight[:, None] * prob, weight, shared, table, factors, np.array(gains))

    def log_of(self, labels: Iterable[IntArray]) -> FloatArray:
        """Return the logarithm of the Bayes factor for each of some labellings: labels (n,), or counts of each class (n, K)."""
        gradients = np.stack([self._gradient(label) for label in labels], axis=1)
        each = [
            gain + 0.5 * (solve_triangular(factor, gradients, lower=True, check_finite=False) ** 2).sum(axis=0)
            for factor, gain in zip(self.factors, self.gains, strict=True)
        ]
        mean: FloatArray = logsumexp(each, axis=0) - np.log(len(each))
        return mean

    def _gradient(self, label: IntArray) -> FloatArray:
        residual = self.expected.copy()
        if label.ndim == 2:
            residual -= label
        else:
            residual[np.arange(len(label)), label] -= self.weight
        shared = self.shared.reshape(len(self.shared), -1) @ residual.ravel()
        return np.concatenate([shared, self.table.pulled(residual).ravel()])


def _features(z: FloatArray, weight: FloatArray) -> tuple[FloatArray, Table, list[str]]:
    """Return shared features, those with a weight for each class, and the group of each weight.

    Of many classes the score of each depends on its own probability alone, and of still more on what all share.
    """
    n_classes, features = z.shape[1], measured(z, weight)
    if isinstance(features, LogOddsFeatures):
        of_second = features.of(z).T
        return np.stack([np.zeros_like(of_second), of_second], axis=2), NoFeatures(2), features.groups
    assert isinstance(features, ClassFeatures)
    shared, names = features.shared(z), features.shared_groups
    if len(names) + n_classes * (1 + 3 * n_classes) <= MOST_DENSE:
        table: Table = SameForAll(features.of_rows(z), own_features(n_classes))
        return shared, table, names + [name for row in table_groups(n_classes) for name in row]
    if len(names) + n_classes * len(OF_EACH_CLASS) <= MOST_DENSE:
        return shared, OwnOfClass(features.of_classes(z)), names + [*OF_EACH_CLASS] * n_classes
    return shared, NoFeatures(n_classes), names


def _points(groups: Mapping[str, Normal], n_classes: int) -> FloatArray:
    """Return logarithms of precisions, shape (n_points, G), spread evenly over their prior for a forecast of exponent 1."""
    mean, spread = prior_of(groups, n_classes, 1.0)
    number = np.arange(1, N_PRECISIONS + 1)[:, None]
    evenly = (number * np.sqrt(PRIMES[: len(groups)])) % 1.0
    points: FloatArray = mean + spread * ndtri(evenly)
    return points
