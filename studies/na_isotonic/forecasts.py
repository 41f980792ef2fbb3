"""The forecasts that docs/na-isotonic.md compares calibrators on: published ones, and those of classifiers trained here."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from studies.arena.forecasts import Forecast, prob_of_rows, published, tables

SEEDS = 3
MOST_TRAINED = 3000

PUBLISHED = {
    "cifar10_resnet50": ("CIFAR-10", "ResNet-50"),
    "cifar10_lenet5": ("CIFAR-10", "LeNet-5"),
    "cifar100_densenet_bc": ("CIFAR-100", "DenseNet-BC"),
    "cifar100_lenet5": ("CIFAR-100", "LeNet-5"),
    "covertype3": ("Covertype, 3 classes", "logistic"),
}

CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "logistic": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
    "naive Bayes": lambda seed: GaussianNB(var_smoothing=1e-6),
    "k-NN": lambda seed: make_pipeline(StandardScaler(), KNeighborsClassifier(20)),
    "tree": lambda seed: DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(100, random_state=seed),
    "boosting": lambda seed: HistGradientBoostingClassifier(max_iter=50, random_state=seed),
    "MLP": lambda seed: make_pipeline(StandardScaler(), overfitted(seed)),
}


def overfitted(seed: int) -> MLPClassifier:
    """A network that is trained until it is far too sure."""
    return MLPClassifier(
        (100, 100), alpha=0.0, learning_rate_init=0.005, max_iter=60, n_iter_no_change=100, random_state=seed
    )


@dataclass(frozen=True, eq=False)
class Model:
    """A forecast of rows to calibrate on and of rows to test."""

    data_set: str
    architecture: str
    seed: int
    y_fit: np.ndarray
    fit: np.ndarray
    y_test: np.ndarray
    test: np.ndarray

    @property
    def n_classes(self) -> int:
        return self.fit.shape[1]


def of_published(found: Forecast) -> Model:
    """A published forecast as probabilities."""
    fit, test = (prob_of_rows(rows, found.input) for rows in (found.fit, found.test))
    return Model(*PUBLISHED[found.name], 0, found.y_fit, fit, found.y_test, test)


@cache
def trained_on() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Features and labels; of Covertype without the number of the row."""
    found = tables()
    return {
        "digits": load_digits(return_X_y=True),
        "satimage": found["satimage"],
        "Covertype": found["covertype"],
        "spambase": found["spambase"],
    }


def trained(data_set: str, architecture: str, seed: int) -> Model:
    """A classifier trained on half of the rows, at most 3000; of the others a quarter calibrates and the rest tests."""
    X, y = trained_on()[data_set]
    y = np.unique(y, return_inverse=True)[1]
    n_train = min(len(y) // 2, MOST_TRAINED)
    order = np.random.default_rng(seed).permutation(len(y))
    train, fit, test = np.split(order, [n_train, n_train + (len(y) - n_train) // 4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the MLP is stopped on purpose
        fitted = CLASSIFIERS[architecture](seed).fit(X[train], y[train])
    return Model(
        data_set, architecture, seed, y[fit], fitted.predict_proba(X[fit]), y[test], fitted.predict_proba(X[test])
    )


@cache
def published_models() -> tuple[Model, ...]:
    """The published forecasts, in the order above."""
    found = {forecast.name: forecast for forecast in (load() for load in published())}
    return tuple(of_published(found[name]) for name in PUBLISHED)


def models() -> Iterator[Model]:
    """All forecasts, one at a time."""
    yield from published_models()
    for data_set in trained_on():
        for architecture in CLASSIFIERS:
            for seed in range(SEEDS):
                yield trained(data_set, architecture, seed)
