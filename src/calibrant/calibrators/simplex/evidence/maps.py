"""Fitted maps that are mixed with each other and with the prediction itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray, prob_of_scores, score_of_logit
from calibrant.calibrators.simplex.evidence.class_features import ClassFeatures
from calibrant.calibrators.simplex.evidence.log_odds_features import LogOddsFeatures
from calibrant.calibrators.simplex.evidence.model import Features, table_of

MOST_LOG_ODDS = 700.0


@dataclass(frozen=True, eq=False)
class Maps:
    """Weights of M maps.

    Attributes
    ----------
    shared : ndarray of shape (M, S)
        Weights of the features that all classes share.
    own : ndarray of shape (M, K, F)
        Weights that each class has for itself; F may be 0.
    shares : ndarray of shape (M + 1,)
        Share of each map, and of the prediction itself.
    """

    shared: FloatArray
    own: FloatArray
    shares: FloatArray

    def mixed(self, z: FloatArray, prob: FloatArray, features: Features) -> FloatArray:
        """Return probabilities, shape (n, K), given standardised log-probabilities z and the prediction itself."""
        mixed = self.shares[-1] * prob
        if isinstance(features, LogOddsFeatures):
            scores = (z[:, 1] - z[:, 0])[:, None] + features.of(z) @ self.shared.T
            scores = np.clip(scores, -MOST_LOG_ODDS, MOST_LOG_ODDS)
            mixed = mixed + np.stack([score_of_logit(sign * scores) @ self.shares[:-1] for sign in (-1.0, 1.0)], axis=1)
        else:
            for scores, share in zip(self._scores(z, features), self.shares[:-1], strict=True):
                mixed = mixed + share * prob_of_scores(scores)
        result: FloatArray = mixed / mixed.sum(axis=1, keepdims=True)
        return result

    def _scores(self, z: FloatArray, features: ClassFeatures) -> list[FloatArray]:
        """Return the scores of each map, shape (n, K)."""
        shared = features.shared(z)
        scores = [z + np.tensordot(weights, shared, axes=1) for weights in self.shared]
        if self.own.shape[2]:
            table = table_of(z, features)
            for score, weights in zip(scores, self.own, strict=True):
                score += table.scores(weights)
        return scores
