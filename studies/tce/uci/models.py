"""The five algorithms of the study, and what they forecast."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from studies.tce.uci.data import DATA_SETS, data_set

SEEDS = range(3)
TEST_SHARE = 0.3

ALGORITHMS: Mapping[str, Callable[[int], Any]] = MappingProxyType(
    {
        "LR": lambda seed: LogisticRegression(max_iter=10_000),
        # SVC(probability=True), which the paper used, is deprecated; this is what scikit-learn offers for it.
        "SVM": lambda seed: CalibratedClassifierCV(SVC(), ensemble=False),
        "RF": lambda seed: RandomForestClassifier(max_depth=10, random_state=seed),
        "GB": lambda seed: GradientBoostingClassifier(random_state=seed),
        "MLP": lambda seed: MLPClassifier((1000,), max_iter=10_000, random_state=seed),
    }
)
"""As scikit-learn has them, but for the depth of the forest and the hidden units: what the paper says (C.2)."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """What a model says of the rows it was not fitted on: outcomes and probabilities, each of shape (n,)."""

    data: str
    algorithm: str
    seed: int
    y: np.ndarray
    prob: np.ndarray


@cache
def forecast(data: str, algorithm: str, seed: int) -> Forecast:
    """Split at random, 70 % to fit and 30 % to measure, and fit."""
    x, x_test, y, y_test = train_test_split(*data_set(data), test_size=TEST_SHARE, random_state=seed)
    model = ALGORITHMS[algorithm](seed).fit(x, y)
    return Forecast(data, algorithm, seed, y_test, model.predict_proba(x_test)[:, 1])


def forecasts(data: str | None = None) -> Iterator[Forecast]:
    """Those of one data set, or of all."""
    for name in DATA_SETS if data is None else (data,):
        for algorithm in ALGORITHMS:
            for seed in SEEDS:
                yield forecast(name, algorithm, seed)
