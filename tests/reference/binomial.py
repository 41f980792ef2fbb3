"""Binomial tails, and the intervals that are made of them, one term at a time."""

import math


def cdf(k, n, p):
    """P(events <= k)."""
    return math.fsum(math.comb(n, i) * p**i * (1.0 - p) ** (n - i) for i in range(k + 1))


def clopper_pearson(events, n, level):
    """The rates at which as many events, and as few, have probability level / 2."""
    lower = 0.0 if events == 0 else bisect(lambda p: 1.0 - cdf(events - 1, n, p) - level / 2.0)
    upper = 1.0 if events == n else bisect(lambda p: level / 2.0 - cdf(events, n, p))
    return lower, upper


def bisect(rising):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2.0
