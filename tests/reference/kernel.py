"""The squared kernel calibration error from its definition: a table of all pairs of rows."""

import numpy as np


def distances(prob):
    return np.abs(prob[:, None] - prob).sum(axis=2) / 2


def terms(prob, label, bandwidth):
    """k(p, q) <e_y - p, e_z - q> of each pair of rows."""
    residual = np.eye(prob.shape[1])[np.array(label, dtype=int)] - prob
    return np.exp(-distances(prob) / bandwidth) * (residual @ residual.T)


def repeated(rows, weight):
    return np.repeat(rows, np.array(weight, dtype=int), axis=0)


def unbiased(prob, label, weight, bandwidth):
    """Over whole weights, as repeated rows; None without a pair."""
    found = terms(repeated(prob, weight), repeated(label, weight), bandwidth)
    n = len(found)
    return (found.sum() - found.trace()) / (n * (n - 1)) if n > 1 else None


def biased(prob, label, weight, bandwidth):
    return terms(repeated(prob, weight), repeated(label, weight), bandwidth).mean()


def unbiased_with_weights(prob, label, weight, bandwidth):
    """Over weights that are not whole: a row makes no pair with itself."""
    mass = np.outer(weight, weight) * (1.0 - np.eye(len(weight)))
    return np.average(terms(prob, label, bandwidth), weights=mass)


def bandwidth(prob, weight):
    """Median distance over pairs of different forecasts, as repeated rows."""
    rows = repeated(prob, weight)
    found = distances(rows)[np.triu_indices(len(rows), 1)]
    return np.median(found[found > 1e-12]) if (found > 1e-12).any() else 1.0
