"""The calibration error over a grid on the simplex, from the definition."""

import math


def cells(prob, n_bins):
    """The bin of each probability of each row: (lower, upper], with 0 in the first."""
    return [tuple(max(0, min(b for b in range(n_bins) if p <= (b + 1) / n_bins)) for p in row) for row in prob]


def calibration_error(prob, label, weight, n_bins, norm="l1"):
    rows = {}
    for cell, p, y, w in zip(cells(prob, n_bins), prob, label, weight, strict=True):
        rows.setdefault(cell, []).append((p, y, w))
    total = sum(weight)
    values, weights = [], []
    for held in rows.values():
        own = sum(w for _, _, w in held)
        distance = 0.0
        for j in range(len(prob[0])):
            mean = sum(w * p[j] for p, _, w in held) / own
            rate = sum(w for _, y, w in held if y == j) / own
            distance += abs(rate - mean) / 2
        values.append(distance)
        weights.append(own / total)
    if norm == "l1":
        return sum(w * v for v, w in zip(values, weights, strict=True))
    if norm == "l2":
        return math.sqrt(sum(w * v * v for v, w in zip(values, weights, strict=True)))
    return max(values)
