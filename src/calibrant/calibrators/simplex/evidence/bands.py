"""Intervals of calibrated probabilities, and of the curve, from Laplace's approximation of the posterior of the weights.

The weights of map m are about N(w_m, A_m^-1),  A_m = H + diag(ridge_m),  with the Hessian H of the log loss at the weights of
most evidence. To the first order the probability q_mj of a class then has the variance g' A_m^-1 g, g its gradient in the
weights. The pool is a mixture of the maps, and of the prediction, which has no variance:

    var(q_j)  =  sum over m of share_m * (var(q_mj) + (q_mj - q_j)^2),

and the interval is symmetric in the log-odds of q_j, with standard deviation  sqrt(var(q_j)) / (q_j (1 - q_j)).
[MacKay, The evidence framework applied to classification networks, 1992]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit, ndtri

from calibrant._core.links import FloatArray
from calibrant.calibrators.simplex.evidence.class_features import ClassFeatures
from calibrant.calibrators.simplex.evidence.log_odds_features import LogOddsFeatures
from calibrant.calibrators.simplex.evidence.maps import Maps
from calibrant.calibrators.simplex.evidence.model import Features, table_of
from calibrant.solvers.evidence.curvature import Curvature, factor_of
from calibrant.solvers.evidence.table import OwnOfClass, SameForAll

BLOCK = 1 << 21
"""Numbers worked on at a time."""

SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class Posterior:
    """Maps with the inverse Cholesky factors of their A, shape (M, d, d): R with  R R' = A^-1."""

    maps: Maps
    features: Features
    roots: FloatArray

    @classmethod
    def of(cls, maps: Maps, features: Features, hessian: FloatArray, ridges: FloatArray) -> Posterior:
        """Make one of the entries of H, as `packed` gives them, and the ridge of each weight in each map, shape (M, d)."""
        size = ridges.shape[1]
        matrix, eye = unpacked(hessian, size), np.eye(size)
        factors = [factor_of(matrix, ridge) for ridge in ridges]
        roots = [solve_triangular(factor, eye, lower=True, trans="T", check_finite=False) for factor in factors]
        return cls(maps, features, np.stack(roots))

    def interval(self, z: FloatArray, prob: FloatArray, level: float) -> FloatArray:
        """Return both ends for each class, shape (n, K, 2), given standardised log-probabilities and the prediction."""
        mixed = self.maps.mixed(z, prob, self.features)
        variance = self.maps.shares[-1] * apart(prob, mixed) ** 2
        for share, (one, own_variance) in zip(self.maps.shares[:-1], self._each(z), strict=True):
            variance += share * (own_variance + apart(one, mixed) ** 2)
        return ends(mixed, variance, level)

    def _each(self, z: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the probabilities of each map and their variances, shape (n, K) each."""
        step = max(1, BLOCK // (z.shape[1] * self.roots.shape[1]))
        for number, root in enumerate(self.roots):
            parts = [self._one(number, root, z[start : start + step]) for start in range(0, len(z), step)]
            yield np.concatenate([one for one, _ in parts]), np.concatenate([variance for _, variance in parts])

    def _one(self, number: int, root: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        alone = Maps(self.maps.shared[[number]], self.maps.own[[number]], np.array([1.0, 0.0]))
        q = alone.mixed(z, np.zeros_like(z), self.features)
        if isinstance(self.features, LogOddsFeatures):
            of_score = ((self.features.of(z) @ root) ** 2).sum(axis=1)
            return q, (of_score * q.prod(axis=1) ** 2)[:, None] * np.ones(2)
        change = changes(z, self.features, root)
        # Of a probability near one the digits are in the others: the mean change without its own.
        others = (1.0 - np.eye(q.shape[1])) @ (q[:, :, None] * change)
        change *= rest_of(q)[:, :, None]
        change -= others
        return q, q**2 * np.vecdot(change, change)

    def curve(self, columns: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Return both ends of a curve, a mean over maps: columns, shape (n, S), times as many of the first weights."""
        share = self.maps.shares[:-1] / max(float(self.maps.shares[:-1].sum()), SMALLEST)
        each = self.maps.shared[:, : columns.shape[1]] @ columns.T
        mean, variance = share @ each, np.zeros(len(columns))
        for of_map, one, root in zip(share, each, self.roots, strict=True):
            own = ((columns @ root[: columns.shape[1]]) ** 2).sum(axis=1)
            variance += of_map * (own + (one - mean) ** 2)
        reach = -ndtri(level / 2.0) * np.sqrt(variance)
        return mean - reach, mean + reach


def changes(z: FloatArray, features: ClassFeatures, root: FloatArray) -> FloatArray:
    """Return how the scores change with the weights along each column of a matrix, shape (n, K, columns)."""
    shared = features.shared(z)
    change = np.tensordot(shared, root[: len(shared)], axes=(0, 0))
    own = root[len(shared) :]
    if not len(own):
        return change
    own, table = own.reshape(z.shape[1], -1, root.shape[1]), table_of(z, features)
    if isinstance(table, SameForAll):
        change += np.matmul(table.rows, own).transpose(1, 0, 2)
    else:
        assert isinstance(table, OwnOfClass)
        change += np.einsum("fik,kfd->ikd", table.own, own)
    result: FloatArray = change
    return result


def rest_of(prob: FloatArray) -> FloatArray:
    """Return the probabilities of all other classes together, shape (n, K), with the digits that  1 - p  has lost."""
    rest: FloatArray = prob @ (1.0 - np.eye(prob.shape[1]))
    return rest


def apart(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return differences of probabilities, shape (n, K), from the smaller of each and the rest."""
    return np.where(other < 0.5, one - other, rest_of(other) - rest_of(one))


def ends(prob: FloatArray, variance: FloatArray, level: float) -> FloatArray:
    """Return the ends of intervals that are symmetric in log-odds, shape (n, K, 2)."""
    rest = np.maximum(rest_of(prob), SMALLEST)
    prob = np.maximum(prob, SMALLEST)
    log_odds = np.log(prob) - np.log(rest)
    reach = -ndtri(level / 2.0) * np.sqrt(variance) / prob / rest
    return np.stack([expit(log_odds - reach), expit(log_odds + reach)], axis=-1)


def packed(curvature: Curvature, size: int) -> FloatArray:
    """Return the entries of H on and below the diagonal, row after row, shape (d (d + 1) / 2,)."""
    hessian = np.stack([curvature.times(unit) for unit in np.eye(size)])
    entries: FloatArray = (0.5 * (hessian + hessian.T))[np.tril_indices(size)]
    return entries


def unpacked(entries: FloatArray, size: int) -> FloatArray:
    """Return H, shape (d, d)."""
    hessian = np.zeros((size, size))
    hessian[np.tril_indices(size)] = entries
    return hessian + np.tril(hessian, -1).T
