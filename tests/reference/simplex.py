"""The calibration error of whole forecasts, from the definition."""

import math

import numpy as np
from reference.binned import combined


def grid(prob, n_bins):
    """The bin of each probability of each row: (lower, upper], with 0 in the first."""
    return [tuple(max(0, min(b for b in range(n_bins) if p <= (b + 1) / n_bins)) for p in row) for row in prob]


def distinct(prob):
    """A cell a forecast."""
    return [tuple(row) for row in prob]


def calibration_error(prob, label, weight, cells, norm="l1", distance="total variation"):
    held = {}
    for i, cell in enumerate(cells):
        held.setdefault(cell, []).append(i)
    prob, occurred, weight = np.array(prob), np.eye(len(prob[0]))[np.array(label)], np.array(weight, dtype=float)
    values, weights = [], []
    for rows in held.values():
        w = weight[rows]
        rate = np.average(occurred[rows], axis=0, weights=w)
        difference = np.abs(rate - np.average(prob[rows], axis=0, weights=w))
        squares, chance = difference @ difference, rate @ (1 - rate)
        of_distance = {
            "total variation": difference.sum() / 2,
            "l1": difference.sum(),
            "l2": math.sqrt(squares),
            "max": difference.max(),
            "squared l2": squares,
            "debiased squared l2": squares - chance / (w.sum() - 1) if w.sum() > 1 else 0.0,
        }
        values.append(of_distance[distance])
        weights.append(w.sum() / weight.sum())
    return combined(values, weights, norm)
