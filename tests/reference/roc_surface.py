"""The ROC surface, the volume of its hull and the share of tuples that are sorted right, from their definitions."""

from itertools import permutations, product

import numpy as np
from scipy.spatial import ConvexHull

TIE = 1e-12


def side(row, gamma):
    """The one side of a row: the first where it lies highest."""
    over = [p - g for p, g in zip(row, gamma, strict=True)]
    return next(k for k, value in enumerate(over) if value >= max(over) - TIE)


def point(prob, label, weight, gamma):
    """Share of the weight of each class on its side."""
    found = []
    for k in range(len(gamma)):
        own = [i for i in range(len(label)) if label[i] == k]
        found.append(sum(weight[i] for i in own if side(prob[i], gamma) == k) / sum(weight[i] for i in own))
    return found


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
            shares = []
            for k in range(n_classes):
                own = [i for i in range(len(label)) if label[i] == k]
                told = sum(weight[i] for i in own if of[tuple(prob[i])] == k)
                shares.append(round(float(told / sum(weight[i] for i in own)), 9))
            found.add(tuple(shares))
    return found


def hull_volume(points):
    """Volume of the hull of points and the origin."""
    return ConvexHull([*points, [0.0] * len(points[0])]).volume


def sorted_right(prob, label, weight):
    """Mean over tuples of one row of each class: one over the number of best assignments where their own is among these."""
    n_classes = len(prob[0])
    own = [[i for i in range(len(label)) if label[i] == k] for k in range(n_classes)]
    right, total = 0.0, 0.0
    for rows in product(*own):
        w = 1.0
        for i in rows:
            w *= weight[i]
        sums = [sum(prob[i][k] for i, k in zip(rows, to, strict=True)) for to in permutations(range(n_classes))]
        best = max(sums)
        total += w
        if sums[0] > best - 1e-11:
            right += w / sum(s > best - 1e-11 for s in sums)
    return right / total
