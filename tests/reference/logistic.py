"""Logistic recalibration from its definition: bisection of the derivatives of the log-likelihood."""

import math

WIDE = 200.0


def log_odds(p):
    return math.log(max(p, 1e-12)) - math.log(max(1 - p, 1e-12))


def expit(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def log_expit(x):
    return -math.log1p(math.exp(-x)) if x >= 0 else x - math.log1p(math.exp(x))


def log_likelihood(z, label, weight, a, b):
    return math.fsum(
        w * log_expit((a + b * x) if y else -(a + b * x)) for x, y, w in zip(z, label, weight, strict=True)
    )


def root(decreasing, low, high):
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (middle, high) if decreasing(middle) > 0 else (low, middle)
    return (low + high) / 2


def intercept_given(z, label, weight, b):
    """At it the residuals sum to zero."""
    return root(
        lambda a: math.fsum(w * (y - expit(a + b * x)) for x, y, w in zip(z, label, weight, strict=True)), -WIDE, WIDE
    )


def joint(z, label, weight):
    """The derivative of the profile likelihood in the slope is the sum of residuals times log-odds."""

    def slope_gradient(b):
        a = intercept_given(z, label, weight, b)
        return math.fsum(w * x * (y - expit(a + b * x)) for x, y, w in zip(z, label, weight, strict=True))

    b = root(slope_gradient, -50, 50)
    return intercept_given(z, label, weight, b), b
