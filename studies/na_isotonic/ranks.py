"""Ranks, wins and their uncertainty: a model is a classifier on a data set, its figures are means over seeds."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from studies.na_isotonic.measured import CLIPPED, LEVEL, MEASURED, METHODS, METRICS, measured

Name = tuple[str, str]


@cache
def names() -> list[Name]:
    """Data set and architecture of each model."""
    return list(dict.fromkeys((one.data_set, one.architecture) for one in measured()))


def data_sets() -> list[str]:
    return list(dict.fromkeys(data_set for data_set, _ in names()))


def architectures() -> list[str]:
    return list(dict.fromkeys(architecture for _, architecture in names()))


def of_data_set(data_set: str) -> np.ndarray:
    return np.array([name[0] == data_set for name in names()])


def of_architecture(architecture: str) -> np.ndarray:
    return np.array([name[1] == architecture for name in names()])


@cache
def all_values(metric: str) -> np.ndarray:
    """The metric of each model after each method in every reading, shape (n_models, len(MEASURED))."""
    which = list(METRICS | CLIPPED).index(metric)
    found = [
        np.mean([one.value[:, which] for one in measured() if (one.data_set, one.architecture) == name], axis=0)
        for name in names()
    ]
    return np.array(found)


def values(metric: str) -> np.ndarray:
    """The metric of each model after each method that is ranked, shape (n_models, n_methods)."""
    return all_values(metric)[:, : len(METHODS)]


def after(metric: str, method: str) -> np.ndarray:
    """The metric of each model after one method in one reading."""
    return all_values(metric)[:, MEASURED.index(method)]


@cache
def ranks(metric: str) -> np.ndarray:
    """Ranks of the methods on each model, 1 the best; equal ones share."""
    better = -values(metric) if metric == "accuracy" else values(metric)
    return rankdata(better.round(12), axis=1)


@cache
def wins(metric: str) -> np.ndarray:
    """Share of the win that each method has on each model; equal ones share it."""
    best = ranks(metric) == ranks(metric).min(axis=1, keepdims=True)
    return best / best.sum(axis=1, keepdims=True)


def beats(metric: str) -> np.ndarray:
    """Percent of the models on which the method of the row is better than that of the column; equal ones count half."""
    of = ranks(metric)
    return 100.0 * (0.5 - 0.5 * np.sign(of[:, :, None] - of[:, None, :])).mean(axis=0)


def standardised(metric: str) -> np.ndarray:
    """The metric of each model less its mean over the methods, divided by its standard deviation over them."""
    of = values(metric)
    return (of - of.mean(axis=1, keepdims=True)) / of.std(axis=1, keepdims=True)


def friedman(metric: str) -> float:
    """P-value of the hypothesis that all methods are alike."""
    return float(friedmanchisquare(*values(metric).T).pvalue)


def critical_difference() -> float:
    """Difference of two mean ranks from which on it is clear, of all pairs of methods at once (Nemenyi)."""
    k, n = len(METHODS), len(names())
    quantile = studentized_range.ppf(1.0 - LEVEL, k, np.inf) / np.sqrt(2.0)
    return float(quantile * np.sqrt(k * (k + 1) / (6.0 * n)))


def mean_rank(metric: str) -> dict[str, float]:
    """Mean rank of each method over all models, best first."""
    of = dict(zip(METHODS, ranks(metric).mean(axis=0), strict=True))
    return dict(sorted(of.items(), key=lambda item: item[1]))
