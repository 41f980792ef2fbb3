"""Temperature scaling by a bounded search on the mean log loss."""

import math

from scipy.optimize import minimize_scalar


def mean_log_loss(logit, label, weight, temperature):
    total = 0.0
    for z, y, w in zip(logit, label, weight, strict=True):
        top = max(z)
        log_sum = math.log(sum(math.exp((v - top) / temperature) for v in z))
        total += w * (log_sum - (z[y] - top) / temperature)
    return total / sum(weight)


def fit(logit, label, weight, low=-7.0, high=7.0):
    """Return the temperature between exp(low) and exp(high) with the least mean log loss."""

    def loss(x):
        return mean_log_loss(logit, label, weight, math.exp(x))

    return math.exp(minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-10}).x)
