"""Data sets that are drawn from known laws, each with a seed of its own."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax
from sklearn.datasets import make_classification

ROWS = 14_000

Table = tuple[np.ndarray, np.ndarray]


def gaussians() -> Table:
    """Three normal classes of unequal size and unequal covariance."""
    return _normal_classes(np.random.default_rng(1), n_classes=3, n_features=6, spread=1.0)


def many_gaussians() -> Table:
    """Twelve normal classes that overlap."""
    return _normal_classes(np.random.default_rng(2), n_classes=12, n_features=10, spread=0.9)


def hypercube() -> Table:
    """Two classes on the corners of a hypercube, a tenth of the labels drawn anew."""
    found: Table = make_classification(ROWS, 20, n_informative=8, flip_y=0.1, class_sep=0.8, random_state=3)
    return found


def noisy_labels() -> Table:
    """Five classes on the corners of a hypercube, a quarter of the labels drawn anew."""
    found: Table = make_classification(
        ROWS, 20, n_informative=8, n_classes=5, flip_y=0.25, class_sep=1.2, random_state=4
    )
    return found


def ordered() -> Table:
    """Six ordered classes: a line in the features, cut into six after logistic noise."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS, 8))
    latent = X @ rng.normal(size=8) + 0.5 * X[:, 0] ** 2 + rng.logistic(size=ROWS)
    return X, np.searchsorted(np.quantile(latent, [0.1, 0.3, 0.55, 0.8, 0.93]), latent)


def rare_events() -> Table:
    """Two classes, one of them in a row of twenty."""
    found: Table = make_classification(
        ROWS, 20, n_informative=6, weights=[0.95], flip_y=0.02, class_sep=0.7, random_state=6
    )
    return found


def random_network() -> Table:
    """Eight classes with the probabilities of a random network."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(ROWS, 10))
    hidden = np.tanh(X @ rng.normal(size=(10, 30)))
    return X, _labels(rng, softmax(0.5 * hidden @ rng.normal(size=(30, 8)), axis=1))


def rules() -> Table:
    """Four classes whose probabilities are constant in the cells of a few thresholds."""
    rng = np.random.default_rng(8)
    X = rng.uniform(size=(ROWS, 12))
    cell = (X[:, :5] > 0.5) @ (2 ** np.arange(5))
    return X, _labels(rng, rng.dirichlet(np.full(4, 0.4), 32)[cell])


def _normal_classes(rng: np.random.Generator, n_classes: int, n_features: int, spread: float) -> Table:
    y = rng.choice(n_classes, ROWS, p=rng.dirichlet(np.full(n_classes, 4.0)))
    centre = rng.normal(0.0, spread, (n_classes, n_features))
    shape = rng.normal(0.0, 1.0 / np.sqrt(n_features), (n_classes, n_features, n_features)) + np.eye(n_features)
    return centre[y] + np.einsum("nij,nj->ni", shape[y], rng.normal(size=(ROWS, n_features))), y


def _labels(rng: np.random.Generator, prob: np.ndarray) -> np.ndarray:
    """Draw one class a row."""
    return (rng.random((len(prob), 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, prob.shape[1] - 1)
