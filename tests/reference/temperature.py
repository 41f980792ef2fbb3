"""Temperature scaling by golden-section search on the mean log loss."""

import math


def mean_log_loss(logit, label, weight, temperature):
    total = 0.0
    for z, y, w in zip(logit, label, weight, strict=True):
        top = max(z)
        log_sum = math.log(sum(math.exp((v - top) / temperature) for v in z))
        total += w * (log_sum - (z[y] - top) / temperature)
    return total / sum(weight)


def fit(logit, label, weight, low=-7.0, high=7.0):
    """Return the temperature between exp(low) and exp(high) with the least mean log loss."""
    golden = (math.sqrt(5.0) - 1.0) / 2.0

    def loss(x):
        return mean_log_loss(logit, label, weight, math.exp(x))

    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = loss(left), loss(right)
    while high - low > 1e-10:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = loss(right)
    return math.exp((low + high) / 2.0)
