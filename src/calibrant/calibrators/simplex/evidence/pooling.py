"""From the weights and precisions of most evidence to maps that are mixed with each other and with the prediction itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant.calibrators.simplex.evidence.model import Model
from calibrant.solvers.evidence.precisions import MANY, Evidence
from calibrant.solvers.evidence.refit import refitted
from calibrant.solvers.folds import folds_of
from calibrant.solvers.mixture import most_likely_shares

N_FOLDS = 4

PATH, PATH_OF_TWO = (-4.0, -2.0, 0.0, 2.0), (-4.0, -2.0, 0.0, 4.0)
"""What is taken from the logarithms of all precisions, but that of the temperature, for each map; and for two classes."""

FIXED = "temp"
"""The group whose precision is that of most evidence in all maps."""

FOR_THE_MAP = 1.0
"""Log-odds of the map against the prediction itself, where the evidence is equal."""

FULL_GAIN, FOLD_GAIN = (1e-10, 1e-7), (1e-4, 1e-1)
"""Gain in nats of all rows that the last step of a fit to all rows, and to those outside a fold, promises; and that for `MANY`,
whose gradient is in single precision."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Maps and their shares.

    Attributes
    ----------
    weights : ndarray of shape (M, d)
        Weights of the features in each map.
    shares : ndarray of shape (M + 1,)
        Share of each map, and of the prediction itself.
    gradient : float
        Largest component of the gradient of a map's penalised log loss, a row.
    n_iter : int
        Steps taken by all fits.
    log_precisions : ndarray of shape (M, G)
        Of each group in each map.
    """

    weights: FloatArray
    shares: FloatArray
    gradient: float
    n_iter: int
    log_precisions: FloatArray


def fast_pool(model: Model, evidence: Evidence, advantage: float) -> Pool:
    """Return one map, and the prediction itself with the share that the evidence leaves it.

    With three classes or more the map's precisions are those of most evidence, divided by up to e with a thousand rows.
    """
    rows = float(model.logit.weight.sum())
    maps = _Maps(model, evidence, (0.0 if model.is_of_two else float(np.clip(np.log10(rows / 100.0), 0.0, 1.0)),))
    return maps.pool(_as_evident(np.array([1.0, 0.0]), advantage))


def folds_pool(model: Model, evidence: Evidence, problem: SimplexProblem, advantage: float) -> Pool:
    """Return a path of maps, and the prediction itself, with the shares that are most likely on held-out rows.

    The precisions are those of all rows; the weights of each map are fitted to the rows outside of each fold. Then the
    prediction gets a share of the whole by the evidence.
    """
    maps = _Maps(model, evidence, PATH_OF_TWO if model.is_of_two else PATH)
    of_prediction = problem.prob[np.arange(problem.size), problem.label]
    n_parts, unit = len(maps.ridges) + 1, problem.weights.effective_rows_per_weight
    density, weight = [np.eye(n_parts)], [np.full(n_parts, 1.0 / n_parts)]
    for kept, left_out in folds_of(problem, N_FOLDS):
        rows = np.flatnonzero(left_out > 0.0)
        density.append(np.column_stack([*maps.without(kept * unit, rows), of_prediction[rows]]))
        weight.append(left_out[rows] * unit)
    # A row of the identity is one that a part alone explains: together they are a Dirichlet prior of one row.
    found = most_likely_shares(np.vstack(density), np.concatenate(weight), np.full(n_parts, 1.0 / n_parts))
    return maps.pool(_as_evident(found.point.x, advantage))


def _as_evident(shares: FloatArray, advantage: float) -> FloatArray:
    """Return the shares, the last being that of the prediction, after it got what the evidence leaves it of the whole."""
    of_maps = float(expit(advantage + FOR_THE_MAP))
    mixed = of_maps * shares
    mixed[-1] += 1.0 - of_maps
    return mixed


class _Maps:
    """Fits with the precisions of most evidence less each of some numbers, on all rows."""

    def __init__(self, model: Model, evidence: Evidence, path: Sequence[float]) -> None:
        free = np.array([name != FIXED for name in model.names])
        self.logit = model.logit
        self.is_many = len(self.logit.weight) * self.logit.size >= MANY
        self.log_precisions = np.stack([evidence.rho - delta * free for delta in path])
        self.ridges = [np.exp(rho)[model.group] for rho in self.log_precisions]
        factors = [evidence.look.curvature.with_ridge(ridge) for ridge in self.ridges]
        self.factors = [factored.for_many() for factored in factors] if len(factors) > 1 else factors
        self.found = [
            refitted(self.logit, evidence.w, ridge, factored, FULL_GAIN[self.is_many], renews=True)
            for ridge, factored in zip(self.ridges, self.factors, strict=True)
        ]

    def without(self, kept: FloatArray, rows: IntArray) -> list[FloatArray]:
        """Return the probabilities of the true classes of some rows in each map, fitted to those of other weights."""
        fitted, others = self.logit.weighted(kept).part(np.flatnonzero(kept)), self.logit.part(rows)
        again = (
            refitted(fitted, found.point.x, ridge, factored, FOLD_GAIN[self.is_many])
            for found, ridge, factored in zip(self.found, self.ridges, self.factors, strict=True)
        )
        return [others.at(found.point.x).of_true for found in again]

    def pool(self, shares: FloatArray) -> Pool:
        """Return the maps with these shares."""
        gradient = max(found.residual for found in self.found) / float(self.logit.weight.sum())
        return Pool(
            np.stack([found.point.x for found in self.found]),
            shares,
            gradient,
            sum(found.n_iter for found in self.found),
            self.log_precisions,
        )
