"""Logistic recalibration from its definition: bisection of the derivatives of the log-likelihood."""

import math

import numpy as np
from scipy.optimize import bisect
from scipy.special import expit, log_expit

WIDE = 200.0


def log_odds(p):
    return math.log(max(p, 1e-12)) - math.log(max(1 - p, 1e-12))


def log_likelihood(z, label, weight, a, b):
    score = a + b * np.asarray(z)
    return np.asarray(weight) @ log_expit(np.where(label, score, -score))


def residuals(z, label, weight, a, b):
    return np.asarray(weight) * (np.asarray(label) - expit(a + b * np.asarray(z)))


def intercept_given(z, label, weight, b):
    """At it the residuals sum to zero."""
    return bisect(lambda a: residuals(z, label, weight, a, b).sum(), -WIDE, WIDE, xtol=1e-15)


def joint(z, label, weight):
    """The derivative of the profile likelihood in the slope is the sum of residuals times log-odds."""
    b = bisect(lambda b: residuals(z, label, weight, intercept_given(z, label, weight, b), b) @ z, -50, 50, xtol=1e-15)
    return intercept_given(z, label, weight, b), b
