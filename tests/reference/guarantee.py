"""Worlds whose truth is known, and what binning guarantees say, from their definitions.

A row of a world has a predicted class, drawn by ``shares``, and a place u, uniform in [0, 1]. Its score does not decrease in u,
and it is right with probability ``right(u)``. The integral of ``right`` is closed, so that P(right | class, bin) is exact.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LOWEST = 0.5


@dataclass(frozen=True)
class Truth:
    """How often a row at u is right, and the integral of that from 0 to u."""

    right: Callable[[np.ndarray], np.ndarray]
    integral: Callable[[np.ndarray], np.ndarray]


COIN = Truth(lambda u: np.full_like(u, 0.5), lambda u: 0.5 * u)
STEP = Truth(lambda u: np.where(u < 0.37, 0.1, 0.9), lambda u: 0.1 * u + 0.8 * np.maximum(u - 0.37, 0))
WAVES = Truth(lambda u: 0.5 + 0.4 * np.sin(30 * u), lambda u: 0.5 * u + 0.4 / 30 * (1 - np.cos(30 * u)))
SLOPE = Truth(lambda u: 0.3 + 0.7 * u, lambda u: 0.3 * u + 0.35 * u**2)


@dataclass(frozen=True)
class World:
    """Shares of the predicted classes, the truth of each, and how its scores bend."""

    shares: tuple[float, ...]
    truths: tuple[Truth, ...]
    bends: tuple[float, ...]

    def draw(self, rng, n):
        """Return predicted classes, scores, and whether each row is right."""
        label, u = rng.choice(len(self.shares), size=n, p=self.shares), rng.random(n)
        score, right = np.empty(n), np.empty(n)
        for j, truth in enumerate(self.truths):
            here = label == j
            score[here], right[here] = LOWEST + (1 - LOWEST) * u[here] ** (1 / self.bends[j]), truth.right(u[here])
        return label, score, rng.random(n) < right

    def reached(self, j, edge):
        """Return the last u whose score is not above the edge."""
        return (np.maximum(edge - LOWEST, 0) / (1 - LOWEST)) ** self.bends[j]

    def pairs(self, j, edges, value):
        """Return the error and the probability of each pair (class j, reported value); bins of equal value are one."""
        u = self.reached(j, edges)
        mass, right = np.diff(u), np.diff(self.truths[j].integral(u))
        reported, pair = np.unique(value, return_inverse=True)
        mass, right = np.bincount(pair, mass), np.bincount(pair, right)
        seen = mass > 0
        return np.abs(right[seen] / mass[seen] - reported[seen]), mass[seen] * self.shares[j]


COINS = World((0.6, 0.3, 0.1), (COIN, COIN, COIN), (1.0, 0.3, 3.0))
MIXED = World((0.6, 0.3, 0.1), (STEP, WAVES, SLOPE), (1.0, 0.3, 3.0))


def simulate(world, fit, n, draws, rng):
    """Fit each class of every sample, ``fit(score, right)``; return errors and probabilities of pairs, a row a draw."""
    found = []
    for _ in range(draws):
        label, score, right = world.draw(rng, n)
        fits = ((j, fit(score[label == j], right[label == j])) for j in range(len(world.shares)))
        found.append([np.concatenate(part) for part in zip(*(world.pairs(j, *one) for j, one in fits), strict=True)])
    most = max(error.size for error, _ in found)
    padded = np.zeros((2, draws, most))
    for i, pair in enumerate(found):
        padded[:, i, : pair[0].size] = pair
    return padded


def bounds(n, k, alpha, delta):
    """Theorem 1: marginal, conditional, expected; and expected by the variance of a rate of k - 1 rows."""
    first = (math.log(2 / alpha) / (2 * (k - 1))) ** 0.5 + delta
    second = (math.log(2 * n / (k * alpha)) / (2 * (k - 1))) ** 0.5 + delta
    mean, sharp = (1 / (2 * k)) ** 0.5 + delta, (0.25 / (k - 1)) ** 0.5 + delta
    return min(1, first), min(1, second), min(1, mean), min(1, sharp)


def mean_deviation(m, p):
    """E|X / m - p| of a binomial X."""
    return math.fsum(math.comb(m, x) * p**x * (1 - p) ** (m - x) * abs(x / m - p) for x in range(m + 1))
