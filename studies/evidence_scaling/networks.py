"""Many forecasts of small neural networks: python -m studies.evidence_scaling.networks

Ten recipes, three for each table of the arena's data sets for design: shallow and deep, narrow and wide, brief and long, with
and without weight decay, label smoothing and mixup. A network is trained on a third of the rows, at most 3000, and forecasts
the others. The forecasts are kept in build/networks/{data set}/{recipe}.npz, as those of the arena are, and are not made again
where they are there. It takes about ten minutes of one core.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.special import softmax

from studies.arena.data_sets import DESIGN, DataSet, data_sets, table_of

FOLDER = Path(__file__).parents[2] / "build" / "networks"
MOST_TRAINED, MOST_FORECAST, FEWEST_ROWS = 3000, 8000, 600
A_SET, STEP = 3, 3
"""So many of the recipes forecast each table: table number i takes recipe i and those in steps of 3 after it."""

BATCH, RATE, FIRST_DECAY, SECOND_DECAY, TINY = 128, 1e-3, 0.9, 0.999, 1e-8
"""Rows of a step, and the constants of Adam."""


@dataclass(frozen=True)
class Recipe:
    """How a network is made: hidden layers, passes over the rows, and what holds it back."""

    hidden: tuple[int, ...]
    epochs: int = 150
    smoothing: float = 0.0
    mixup: float = 0.0
    decay: float = 0.0
    rows: int = MOST_TRAINED


RECIPES: Mapping[str, Recipe] = {
    "shallow": Recipe((128,)),
    "deep": Recipe((128, 128, 128)),
    "wide": Recipe((400,), epochs=100),
    "decayed": Recipe((128, 128), decay=0.5),
    "smoothed": Recipe((128, 128), smoothing=0.1),
    "mixed": Recipe((128, 128), mixup=0.4),
    "smoothed-and-mixed": Recipe((128, 128, 128), smoothing=0.05, mixup=0.2),
    "brief": Recipe((128, 128), epochs=15),
    "narrow": Recipe((16,), epochs=250),
    "long": Recipe((128, 128), epochs=400, rows=1000),
}


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

    def step(self, X: np.ndarray, target: np.ndarray, decay: float) -> None:
        """Move once against the gradient of the mean log loss."""
        through = self._through(X)
        back, self.n_steps = (softmax(through[-1], axis=1) - target) / len(X), self.n_steps + 1
        for layer, moments, values in zip(self.layers[::-1], self.moments[::-1], through[-2::-1], strict=True):
            back = back.reshape(len(values), -1)  # of a convolution each place of an image is a row
            slopes = [values.T @ back, back.sum(axis=0)]
            back = (back @ layer[0].T) * (values > 0.0)
            layer[0] *= 1.0 - RATE * decay
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
    target = np.eye(n_classes, dtype=np.float32)[y] * np.float32(1.0 - recipe.smoothing)
    target += np.float32(recipe.smoothing / n_classes)
    for _ in range(recipe.epochs):
        order = rng.permutation(len(y))
        for start in range(0, len(y), BATCH):
            rows, share = order[start : start + BATCH], np.float32(1.0)
            other = rng.permutation(rows)
            if recipe.mixup:
                share = np.float32(rng.beta(recipe.mixup, recipe.mixup))
            mixed = (share * part[rows] + (1 - share) * part[other] for part in (X, target))
            network.step(*mixed, recipe.decay)
    return network


def planned() -> Iterator[tuple[DataSet, str]]:
    """Every forecast: a data set for design that has features, and the name of a recipe."""
    names = list(RECIPES)
    for number, data_set in enumerate(data_sets(DESIGN)):
        if data_set.source != "published":
            yield from ((data_set, names[(number + STEP * i) % len(names)]) for i in range(A_SET))


def made(data_set: DataSet, recipe: Recipe) -> tuple[np.ndarray, np.ndarray] | None:
    """Probabilities and labels of the rows that were not trained on; nothing where the table is small."""
    X, y = table_of(data_set)
    if len(y) < FEWEST_ROWS:
        return None
    order = np.random.default_rng(0).permutation(len(y))
    n = min(len(y) // 3, recipe.rows)
    train, rest = order[:n], order[len(y) // 3 :][:MOST_FORECAST]
    scale = X[train].std(axis=0)
    X = ((X - X[train].mean(axis=0)) / np.where(scale > 0.0, scale, 1.0)).clip(-5.0, 5.0).astype(np.float32)
    return trained(X[train], y[train], int(y.max()) + 1, recipe).prob(X[rest]), y[rest]


def stored() -> list[tuple[str, str]]:
    """Data set and recipe of the forecasts that are there."""
    return [(one.name, name) for one, name in planned() if (FOLDER / one.name / f"{name}.npz").is_file()]


def main() -> None:
    """Make what is not there."""
    for data_set, name in planned():
        file, begun = FOLDER / data_set.name / f"{name}.npz", time.process_time()
        if file.is_file():
            continue
        try:
            found = made(data_set, RECIPES[name])
        except (ImportError, FileNotFoundError, StopIteration) as error:
            sys.stdout.write(f"{data_set.name}/{name}: left out, {error}\n")
            continue
        if found is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(file, prob=found[0].astype(np.float32), y=found[1].astype(np.int16))
            right = float(np.mean(found[0].argmax(axis=1) == found[1]))
            seconds = time.process_time() - begun
            sys.stdout.write(f"{data_set.name}/{name}: {found[0].shape}, accuracy {right:.3f}, {seconds:.1f} s\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
