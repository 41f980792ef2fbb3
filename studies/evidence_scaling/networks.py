"""Small neural networks, trained by Adam: those of studies/na_isotonic/networks.py."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import softmax

BATCH, RATE, FIRST_DECAY, SECOND_DECAY, TINY = 128, 1e-3, 0.9, 0.999, 1e-8
"""Rows of a step, and the constants of Adam."""


@dataclass(frozen=True)
class Recipe:
    """How a network is made: hidden layers, and passes over the rows."""

    hidden: tuple[int, ...]
    epochs: int


class Network:
    """Rectified layers and a softmax, trained by Adam on targets that are probabilities."""

    def __init__(self, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
        self.layers = [
            [rng.normal(0.0, np.sqrt(2.0 / low), (low, high)).astype(np.float32), np.zeros(high, np.float32)]
            for low, high in pairwise(sizes)
        ]
        self.moments = [[(np.zeros_like(part), np.zeros_like(part)) for part in layer] for layer in self.layers]
        self.n_steps = 0

    def prob(self, X: np.ndarray) -> np.ndarray:
        """Probabilities of the classes."""
        return softmax(self._through(X)[-1].astype(np.float64), axis=1)

    def step(self, X: np.ndarray, target: np.ndarray) -> None:
        """Move once against the gradient of the mean log loss."""
        through = self._through(X)
        back, self.n_steps = (softmax(through[-1], axis=1) - target) / len(X), self.n_steps + 1
        for layer, moments, values in zip(self.layers[::-1], self.moments[::-1], through[-2::-1], strict=True):
            back = back.reshape(len(values), -1)  # of a convolution each place of an image is a row
            slopes = [values.T @ back, back.sum(axis=0)]
            back = (back @ layer[0].T) * (values > 0.0)
            for part, (first, second), slope in zip(layer, moments, slopes, strict=True):
                first += (1.0 - FIRST_DECAY) * (slope - first)
                second += (1.0 - SECOND_DECAY) * (slope**2 - second)
                rate = RATE * np.sqrt(1.0 - SECOND_DECAY**self.n_steps) / (1.0 - FIRST_DECAY**self.n_steps)
                part -= np.float32(rate) * first / (np.sqrt(second) + np.float32(TINY))

    def _through(self, X: np.ndarray) -> list[np.ndarray]:
        values = [X]
        for number, (weight, bias) in enumerate(self.layers):
            score = values[-1] @ weight + bias
            values.append(np.maximum(score, 0.0) if number + 1 < len(self.layers) else score)
        return values


def trained(X: np.ndarray, y: np.ndarray, n_classes: int, recipe: Recipe, network: Network | None = None) -> Network:
    """Train a network on standardised features."""
    rng = np.random.default_rng(0)
    network = network or Network((X.shape[1], *recipe.hidden, n_classes), rng)
    target = np.eye(n_classes, dtype=np.float32)[y]
    for _ in range(recipe.epochs):
        order = rng.permutation(len(y))
        for start in range(0, len(y), BATCH):
            rows = order[start : start + BATCH]
            rng.permutation(rows)  # one draw a step: the stored figures are of networks whose rows came in this order
            network.step(X[rows], target[rows])
    return network
