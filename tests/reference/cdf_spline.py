"""Calibration by the slope of a spline through the cumulative residuals, by definition: sums over stretches and loops."""

from itertools import pairwise

import numpy as np


def natural(knots, values):
    """Second derivatives at the knots of the natural cubic spline through values."""
    m = len(knots)
    system, right = np.eye(m), np.zeros(m)
    for i in range(1, m - 1):
        before, after = knots[i] - knots[i - 1], knots[i + 1] - knots[i]
        system[i, i - 1 : i + 2] = before / 6, (before + after) / 3, after / 6
        right[i] = (values[i + 1] - values[i]) / after - (values[i] - values[i - 1]) / before
    return np.linalg.solve(system, right)


def value_and_slope(knots, values, bends, t):
    """Of the spline at t, from the formula between two knots."""
    i = min(max(sum(k <= t for k in knots) - 1, 0), len(knots) - 2)
    h = knots[i + 1] - knots[i]
    a, b = (knots[i + 1] - t) / h, (t - knots[i]) / h
    value = a * values[i] + b * values[i + 1] + ((a**3 - a) * bends[i] + (b**3 - b) * bends[i + 1]) * h**2 / 6
    slope = (values[i + 1] - values[i]) / h + ((1 - 3 * a**2) * bends[i] + (3 * b**2 - 1) * bends[i + 1]) * h / 6
    return value, slope


def fit(score, outcome, weight, n_knots):
    """Return the distinct scores and what is added to each."""
    distinct = sorted(set(score))
    total, reached, off = sum(weight), [0.0], []
    for d in distinct:
        at = [(y, w) for s, y, w in zip(score, outcome, weight, strict=True) if s == d]
        mass = sum(w for _, w in at)
        off.append(sum(w * y for y, w in at) / mass - d)
        reached.append(reached[-1] + mass / total)
    knots = [i / (n_knots - 1) for i in range(n_knots)]
    cardinal = [(list(row), natural(knots, row)) for row in np.eye(n_knots)]

    def cumulative(t):
        return np.dot(off, np.clip(t, reached[:-1], reached[1:]) - reached[:-1])

    gram, right = np.zeros((n_knots, n_knots)), np.zeros(n_knots)
    ends = sorted({*knots, *[min(r, 1.0) for r in reached]})
    nodes, shares = np.polynomial.legendre.leggauss(5)
    for lo, hi in pairwise(ends):
        for node, share in zip(nodes, shares, strict=True):
            t = (lo + hi) / 2 + (hi - lo) / 2 * node
            at = np.array([value_and_slope(knots, *c, t)[0] for c in cardinal])
            gram += (hi - lo) / 2 * share * np.outer(at, at)
            right += (hi - lo) / 2 * share * at * cumulative(t)
    values = np.linalg.solve(gram, right)
    bends = natural(knots, values)
    middles = [(lo + hi) / 2 for lo, hi in pairwise(reached)]
    return distinct, [value_and_slope(knots, values, bends, t)[1] for t in middles]


def predict(distinct, added, score):
    """Interpolate what is added; cut to [0, 1]."""
    return min(max(score + np.interp(score, distinct, added), 0.0), 1.0)
