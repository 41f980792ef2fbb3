"""Isotonic regression by the min-max formula: fit(i) = max over a <= i of min over b >= i of the mean of a..b."""

import numpy as np


def fit(score, outcome, weight):
    """Return the distinct scores and the fitted value of each."""
    distinct = sorted(set(score))
    mass = [sum(w for s, w in zip(score, weight, strict=True) if s == d) for d in distinct]
    events = [sum(w * y for s, y, w in zip(score, outcome, weight, strict=True) if s == d) for d in distinct]

    def mean(a, b):
        return sum(events[a : b + 1]) / sum(mass[a : b + 1])

    n = len(distinct)
    return distinct, [max(min(mean(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)]


def step(distinct, values, score):
    """Value of the last fitted score at or below; of the first one below all."""
    below = [v for d, v in zip(distinct, values, strict=True) if d <= score]
    return below[-1] if below else values[0]


def interpolated(distinct, values, score):
    return float(np.interp(score, distinct, values))
