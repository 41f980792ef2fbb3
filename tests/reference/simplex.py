"""The calibration error of whole forecasts, from the definition."""

import math


def grid(prob, n_bins):
    """The bin of each probability of each row: (lower, upper], with 0 in the first."""
    return [tuple(max(0, min(b for b in range(n_bins) if p <= (b + 1) / n_bins)) for p in row) for row in prob]


def distinct(prob):
    """A cell a forecast."""
    return [tuple(row) for row in prob]


def calibration_error(prob, label, weight, cells, norm="l1", distance="total variation"):
    rows = {}
    for cell, p, y, w in zip(cells, prob, label, weight, strict=True):
        rows.setdefault(cell, []).append((p, y, w))
    total = sum(weight)
    values, weights = [], []
    for held in rows.values():
        own = sum(w for _, _, w in held)
        difference, chance = [], 0.0
        for j in range(len(prob[0])):
            mean = sum(w * p[j] for p, _, w in held) / own
            rate = sum(w for _, y, w in held if y == j) / own
            difference.append(abs(rate - mean))
            chance += rate * (1 - rate) / (own - 1) if own > 1 else 0.0
        squares = sum(d * d for d in difference)
        values.append(
            {
                "total variation": sum(difference) / 2,
                "l1": sum(difference),
                "l2": math.sqrt(squares),
                "max": max(difference),
                "squared l2": squares,
                "debiased squared l2": squares - chance if own > 1 else 0.0,
            }[distance]
        )
        weights.append(own / total)
    if norm == "max":
        return max(values)
    power = {"l1": 1, "root": 1, "l2": 2}[norm]
    mean = sum(w * v**power for v, w in zip(values, weights, strict=True))
    return mean if norm == "l1" else math.sqrt(max(mean, 0.0))
