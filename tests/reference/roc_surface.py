"""The ROC surface, the volume of its hull and the share of tuples that are sorted right, from their definitions."""

from itertools import permutations, product

import numpy as np
from scipy.spatial import ConvexHull


def side(row, gamma):
    """The one side of a row: the first where it lies highest."""
    over = [p - g for p, g in zip(row, gamma, strict=True)]
    return next(k for k, value in enumerate(over) if value >= max(over) - 1e-12)


def point(prob, label, weight, gamma):
    """Share of the weight of each class on its side."""
    return shares([side(row, gamma) for row in prob], label, weight, len(gamma))


def shares(sides, label, weight, n_classes):
    sides, label, weight = np.array(sides), np.array(label), np.array(weight)
    return [float(weight[(label == k) & (sides == k)].sum() / weight[label == k].sum()) for k in range(n_classes)]


def can_be_parted(forecasts, sides):
    """Whether some gamma has every forecast strictly inside its side: every cycle of margins is positive."""
    n_classes = len(forecasts[0])
    margin = {}
    for row, k in zip(forecasts, sides, strict=True):
        for j in range(n_classes):
            if j != k:
                margin[k, j] = min(margin.get((k, j), np.inf), row[k] - row[j])
    for size in range(2, n_classes + 1):
        for cycle in permutations(range(n_classes), size):
            steps = list(zip(cycle, cycle[1:] + cycle[:1], strict=True))
            if all(step in margin for step in steps) and sum(margin[step] for step in steps) < 1e-9:
                return False
    return True


def all_points(prob, label, weight):
    """All points of the surface: every way to give the distinct forecasts sides that some gamma can part."""
    n_classes = len(prob[0])
    forecasts = sorted({tuple(row) for row in prob})
    found = set()
    for sides in product(range(n_classes), repeat=len(forecasts)):
        if can_be_parted(forecasts, sides):
            of = dict(zip(forecasts, sides, strict=True))
            found.add(tuple(np.round(shares([of[tuple(row)] for row in prob], label, weight, n_classes), 9).tolist()))
    return found


def hull_volume(points):
    """Volume of the hull of points and the origin."""
    return ConvexHull([*points, [0.0] * len(points[0])]).volume


def sorted_right(prob, label, weight):
    """Mean over tuples of one row of each class: one over the number of best assignments where their own is among these."""
    prob, label, weight, right, total = np.array(prob), np.array(label), np.array(weight), 0.0, 0.0
    own = range(prob.shape[1])
    for rows in product(*(np.flatnonzero(label == k) for k in own)):
        sums = np.array([prob[rows, to].sum() for to in permutations(own)])
        best = sums > sums.max() - 1e-11
        total += weight[list(rows)].prod()
        right += best[0] / best.sum() * weight[list(rows)].prod()
    return right / total
