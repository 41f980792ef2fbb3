"""The data sets of the study of docs/tce.md that trains models: two of the paper's ten, and three made imbalanced."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from studies.data import data_dir

Data = tuple[np.ndarray, np.ndarray]
"""Features of shape (n, n_features), and whether each row is of the positive class."""

MALIGNANT = 30
"""Malignant rows kept of 212."""

RARE, OTHERS = 120, 3880
"""Rows of Covertype kept of its class 4 and of the rest."""


def satimage() -> Data:
    with gzip.open(data_dir() / "satimage.arff.gz", "rt") as file:
        rows = [line.split(",") for line in file if line.strip() and line[0] not in "@%"]
    values = np.array(rows, dtype=float)
    return values[:, :-1], values[:, -1] == 4


def spambase() -> Data:
    values = np.loadtxt(data_dir() / "spambase.csv", delimiter=",")
    return values[:, :-1], values[:, -1] == 1


def digits() -> Data:
    x, y = load_digits(return_X_y=True)
    return x, y == 8


def cancer() -> Data:
    x, y = load_breast_cancer(return_X_y=True)
    return _thinned(x, y == 0, MALIGNANT, int((y == 1).sum()))


def covertype() -> Data:
    with gzip.open(data_dir() / "covertype_small.csv.gz", "rt") as file:
        values = np.loadtxt(file, delimiter=",", skiprows=1)
    # The first column is a row number, and rows are ordered by class.
    return _thinned(values[:, 1:-1], values[:, -1] == 4, RARE, OTHERS)


def _thinned(x: np.ndarray, positive: np.ndarray, n_positive: int, n_negative: int) -> Data:
    """Some rows of either class, drawn once, in their order."""
    rng = np.random.default_rng(0)
    drawn = (
        rng.choice(np.flatnonzero(of), number, replace=False)
        for of, number in ((positive, n_positive), (~positive, n_negative))
    )
    rows = np.sort(np.concatenate(list(drawn)))
    return x[rows], positive[rows]


DATA_SETS: Mapping[str, Callable[[], Data]] = MappingProxyType(
    {"satimage": satimage, "spambase": spambase, "digits": digits, "cancer": cancer, "covertype": covertype}
)


@cache
def data_set(name: str) -> Data:
    """Standardised features and the positive class. The means are those of all rows, as in the published code."""
    x, y = DATA_SETS[name]()
    spread = x.std(axis=0)
    return (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y.astype(int)
