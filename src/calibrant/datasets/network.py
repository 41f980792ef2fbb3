"""The neural networks of the survey's test cases, as scikit-learn trained them (tools/make_survey_networks.py)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from calibrant._core import links
from calibrant._core.links import FloatArray

NETWORKS = files("calibrant") / "_data" / "survey_networks.npz"
"""The embedded file: weights and biases of the layers 0 to 2 of the networks for 2 and 3 classes."""

BLOCK = 1 << 13
"""Rows that pass through a network together."""


@dataclass(frozen=True, eq=False)
class Network:
    """A perceptron with rectified linear units; the last layer has one logit for two classes, and one a class for more."""

    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray, ...]

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the probabilities for a feature: of the event, shape (n,), or of every class, shape (n, K)."""
        blocks = np.split(x, range(BLOCK, len(x), BLOCK))
        logit = np.concatenate([self._logit(block) for block in blocks])
        return links.score_of_logit(logit[:, 0]) if logit.shape[1] == 1 else links.prob_of_logit(logit)

    def _logit(self, x: FloatArray) -> FloatArray:
        signal = x[:, None]
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            signal = np.maximum(signal @ weight + bias, 0.0)
        logit: FloatArray = signal @ self.weights[-1] + self.biases[-1]
        return logit


@cache
def survey_network(n_classes: int) -> Network:
    """Load the network for 2 or 3 classes."""
    with NETWORKS.open("rb") as file, np.load(file) as arrays:
        return Network(
            tuple(_double(arrays[f"weight_{n_classes}_{layer}"]) for layer in range(3)),
            tuple(_double(arrays[f"bias_{n_classes}_{layer}"]) for layer in range(3)),
        )


def _double(array: npt.NDArray[np.float32]) -> FloatArray:
    return array.astype(np.float64)
