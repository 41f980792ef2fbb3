"""Logistic recalibration from its definition: bisection of the derivatives of the log-likelihood."""

import math

import numpy as np
from scipy.special import expit, log_expit

WIDE = 200.0


def log_odds(p):
    return math.log(max(p, 1e-12)) - math.log(max(1 - p, 1e-12))


def log_likelihood(z, label, weight, a, b):
    score = a + b * np.asarray(z)
    return np.asarray(weight) @ log_expit(np.where(label, score, -score))


def root(decreasing, low, high):
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (middle, high) if decreasing(middle) > 0 else (low, middle)
    return (low + high) / 2


def residuals(z, label, weight, a, b):
    return np.asarray(weight) * (np.asarray(label) - expit(a + b * np.asarray(z)))


def intercept_given(z, label, weight, b):
    """At it the residuals sum to zero."""
    return root(lambda a: residuals(z, label, weight, a, b).sum(), -WIDE, WIDE)


def joint(z, label, weight):
    """The derivative of the profile likelihood in the slope is the sum of residuals times log-odds."""
    b = root(lambda b: residuals(z, label, weight, intercept_given(z, label, weight, b), b) @ z, -50, 50)
    return intercept_given(z, label, weight, b), b
