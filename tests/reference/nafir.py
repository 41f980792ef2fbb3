"""Normalisation-aware flattened isotonic regression from its definition: eq. 4 of Arad and Rosset, by a generic optimiser."""

import math

import numpy as np
from scipy.optimize import minimize


def loss(prob, label, weight, g, smoothing=0.0):
    """Mean log loss of g(p_y) / sum_k g(p_k), where in part of each row any class comes; g is a function of a score."""
    total = 0.0
    for row, y, w in zip(prob, label, weight, strict=True):
        values = [g(p) for p in row]
        logs = [math.log(v) - math.log(sum(values)) for v in values]
        total -= w * ((1.0 - smoothing) * logs[y] + smoothing * sum(logs) / len(row))
    return total / sum(weight)


def step(left, values, score):
    """Value of the last step that begins at or below the score; of the first below all."""
    return ([values[0]] + [v for a, v in zip(left, values, strict=True) if a <= score])[-1]


def least_loss(prob, label, weight, left, smoothing):
    """Least loss of a map that steps at ``left``, over bounded increments of its logarithm."""

    def value(increments):
        theta = np.concatenate([[0.0], np.cumsum(increments)])
        return loss(prob, label, weight, lambda p: math.exp(step(left, theta.tolist(), p)), smoothing)

    if len(left) == 1:
        return value(np.empty(0))
    found = minimize(
        value,
        np.full(len(left) - 1, 0.5),
        method="L-BFGS-B",
        bounds=[(0.0, 40.0)] * (len(left) - 1),
        options={"ftol": 1e-15, "gtol": 1e-9, "maxfun": 100_000, "maxiter": 1000},
    )
    return found.fun


def steps_at_classes_that_came(prob, label):
    """The lowest score of all, and the scores of the classes that came."""
    return sorted({min(min(row) for row in prob)} | {row[y] for row, y in zip(prob, label, strict=True)})
