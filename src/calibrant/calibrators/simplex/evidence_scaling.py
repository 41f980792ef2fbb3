"""Evidence scaling: curves, features of rows and interactions of classes on top of a forecast, each as strong as rows say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from calibrant._core.links import FloatArray, log_cost, prob_of_scores, score_of_logit
from calibrant._core.parameters import choice, number, numbers, shares
from calibrant._core.problem import Forecast, SimplexProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.calibrators.base import MOST_COEFFICIENT, MOST_LOG_ODDS, MulticlassCalibrator
from calibrant.calibrators.simplex.evidence.class_features import ClassFeatures
from calibrant.calibrators.simplex.evidence.hinges import Hinges
from calibrant.calibrators.simplex.evidence.hyper_prior import groups_of
from calibrant.calibrators.simplex.evidence.log_odds_features import LogOddsFeatures
from calibrant.calibrators.simplex.evidence.model import Features, Model, measured, model_of, table_of
from calibrant.calibrators.simplex.evidence.pooling import Pool, fast_pool, folds_pool
from calibrant.calibrators.simplex.evidence.standard import Standard, standard_of
from calibrant.solvers.evidence.precisions import Evidence, most_evident

Pooling = Literal["auto", "folds", "fast"]
"""How the shares of maps are found: on held-out rows, or by the evidence; ``"auto"`` takes the first where it is cheap."""

FEW_OF_TWO, MANY_CLASSES, MANY_NUMBERS = 200, 50, 1e5
"""Two classes and fewer rows, more classes, and more numbers in the forecast, for which ``"auto"`` is ``"fast"``."""

CLIP = 1e-12
"""Probability of the true class, at least, when the prediction itself is compared by its evidence."""


class Group(NamedTuple):
    """How much of a group of features is used.

    Attributes
    ----------
    variance : float
        Prior variance of its weights: what the evidence made of the prior on it.
    degrees_of_freedom : float
        How many of its weights the rows determine, from 0 to ``count``.
    count : int
        Number of weights.
    """

    variance: float
    degrees_of_freedom: float
    count: int


@declare(
    "calibrator",
    "evidence-scaling",
    symbol="ES",
    source="calibrant",
    guarantees={"permutation equivariant", "finite log loss"},
)
class EvidenceScaling(MulticlassCalibrator):
    def __init__(
        self, *, pool: Pooling = "auto", input: Input = "probability", labels: Sequence[Any] | None = None
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.pool = pool

    exponent_: float
    floor_: float
    uniform_: float
    centre_: FloatArray
    unit_: FloatArray
    knots_: FloatArray
    middle_: float
    ranks_: FloatArray
    shared_: FloatArray
    coef_: FloatArray
    weights_: FloatArray
    log_precision_: FloatArray
    degrees_of_freedom_: FloatArray
    evidence_: float
    gradient_: float
    n_iter_: int

    def _fit(self, problem: SimplexProblem) -> None:
        pooling = choice("pool", self.pool, get_args(Pooling))
        weight = problem.weight * problem.weights.rows_per_weight
        standard = standard_of(problem, weight)
        z = standard.of(problem.forecast)
        features = measured(z, weight)
        model = model_of(z, problem.label, weight, features, standard)
        evidence = most_evident(model.logit, model.group, model.prior)
        advantage = self._advantage(problem, weight, evidence)
        if pooling == "folds" or (pooling == "auto" and _is_cheap(problem)):
            pool = folds_pool(model, evidence, problem)
        else:
            pool = fast_pool(model, evidence, advantage)
        self.exponent_, self.floor_, self.uniform_ = standard.exponent, standard.floor, standard.uniform
        self._keep_features(features)
        self._keep_maps(pool, model)
        self.log_precision_, self.degrees_of_freedom_ = evidence.rho, evidence.determined
        self.evidence_, self.gradient_, self.n_iter_ = advantage, pool.gradient, evidence.n_iter + pool.n_iter

    def _advantage(self, problem: SimplexProblem, weight: FloatArray, evidence: Evidence) -> float:
        of_true = problem.forecast.log_prob[np.arange(problem.size), problem.label]
        return float(evidence.log_evidence - weight @ np.maximum(of_true, -1e100)) - 1.0

    def _keep_features(self, features: Features) -> None:
        self.knots_, self.middle_ = features.curve.knots, features.curve.middle
        if isinstance(features, LogOddsFeatures):
            self.centre_, self.unit_, self.ranks_ = features.centre, features.unit, features.ranked
            return
        of_rows = np.array([features.entropy, features.top])
        self.centre_ = np.concatenate([features.log_prob_mean, features.prob_mean, of_rows])
        self.unit_, self.ranks_ = np.array([features.unit, features.prob_unit]), np.empty((2, 0))

    def _features(self) -> Features:
        curve, k = Hinges(self.knots_, self.middle_), len(self.classes_)
        if k == 2:
            return LogOddsFeatures(self.centre_, self.unit_, curve, self.ranks_)
        units = float(self.unit_[0]), float(self.unit_[1])
        of_rows = float(self.centre_[-2]), float(self.centre_[-1])
        return ClassFeatures(self.centre_[:k], self.centre_[k : 2 * k], *of_rows, *units, curve)

    def _keep_maps(self, pool: Pool, model: Model) -> None:
        n_classes = len(self.classes_)
        n_shared = pool.weights.shape[1] if model.is_of_two else len(model.logit.shared)
        self.shared_ = pool.weights[:, :n_shared]
        self.coef_ = pool.weights[:, n_shared:].reshape(len(pool.weights), n_classes, -1)
        self.weights_ = pool.shares

    def _apply(self, forecast: Forecast) -> FloatArray:
        z = Standard(self.exponent_, self.floor_, self.uniform_).of(forecast)
        features = self._features()
        prob = prob_of_scores(forecast.values) if forecast.is_logit else forecast.prob
        mixed = self.weights_[-1] * prob
        if isinstance(features, LogOddsFeatures):
            scores = (z[:, 1] - z[:, 0])[:, None] + features.of(z) @ self.shared_.T
            scores = np.clip(scores, -MOST_LOG_ODDS, MOST_LOG_ODDS)
            mixed = mixed + np.column_stack(
                [score_of_logit(-scores) @ self.weights_[:-1], score_of_logit(scores) @ self.weights_[:-1]]
            )
        else:
            shared, table = features.shared(z), table_of(z, features)
            for g, weights, share in zip(self.shared_, self.coef_, self.weights_[:-1], strict=True):
                scores = z + np.tensordot(g, shared, axes=1) + table.scores(weights)
                mixed = mixed + share * prob_of_scores(scores)
        result: FloatArray = mixed / mixed.sum(axis=1, keepdims=True)
        return result


def _is_cheap(problem: SimplexProblem) -> bool:
    n_classes, rows = problem.forecast.shape[1], problem.weights.rows
    if n_classes == 2:
        return rows >= FEW_OF_TWO
    return n_classes <= MANY_CLASSES and rows * n_classes <= MANY_NUMBERS
