"""Forecasts of Covertype: those of the paper on ROC-regularised isotonic regression, and of other parts of the data.

The paper's (Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024): a logistic
regression of the first classes, 4500 rows to train, 500 to calibrate, 1000 to test.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from studies.data import data_dir

N_TRAIN, N_FIT, N_TEST = 4500, 500, 1000

FILES = ("covertype2.npz", "covertype3.npz", "covertype4.npz", "covertype_small.csv.gz")

MODELS = {
    "logistic regression": lambda: LogisticRegression(random_state=1),
    "naive Bayes": lambda: GaussianNB(var_smoothing=1e-6),
    "random forest": lambda: RandomForestClassifier(60, random_state=1),
}


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Forecasts and labels of the rows to fit a calibrator on, and of those to test it on."""

    p: np.ndarray
    y: np.ndarray
    p_test: np.ndarray
    y_test: np.ndarray

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return self.p.shape[1]


@cache
def of_paper(n_classes: int) -> Forecasts:
    """The predictions behind Figures 2, 4 and 5, as the published script makes them."""
    with np.load(data_dir() / f"covertype{n_classes}.npz") as data:
        return Forecasts(data["P_cal"], data["y_cal"].astype(int), data["P_test"], data["y_test"].astype(int))


@cache
def covertype(
    n_classes: int,
    seed: int,
    *,
    model: str = "logistic regression",
    n_train: int = N_TRAIN,
    n_fit: int = N_FIT,
    n_test: int | None = N_TEST,
) -> Forecasts:
    """Shuffle the rows of the first classes, train, and predict; None tests on all rows that are left."""
    table = _table()
    table = table[table[:, -1] <= n_classes]
    # RandomState, the old stream, shuffles as the published script does.
    table = table[np.random.RandomState(seed).permutation(len(table))]
    features, label = table[:, 1:-1], table[:, -1].astype(int) - 1
    end = None if n_test is None else n_train + n_fit + n_test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the published script stops where this one does
        fitted = MODELS[model]().fit(features[:n_train], label[:n_train])
    prob = fitted.predict_proba(features[n_train:end])
    label = label[n_train:end]
    return Forecasts(prob[:n_fit], label[:n_fit], prob[n_fit:], label[n_fit:])


@cache
def _table() -> np.ndarray:
    return np.loadtxt(data_dir() / "covertype_small.csv.gz", delimiter=",", skiprows=1)
