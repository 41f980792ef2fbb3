"""Binned calibration errors from the definition. A row is (score, outcome, weight); a problem is a list of rows."""

import math
from itertools import accumulate

import numpy as np
from reference.top_k import top_k_confidence, top_k_label


def binary(prob, label, weight):
    return [[(p[1], y == 1, w) for p, y, w in zip(prob, label, weight, strict=True)]]


def confidence(prob, label, weight):
    return top_k_confidence(prob, label, weight, 1)


def top_label(prob, label, weight):
    return top_k_label(prob, label, weight, 1)


def class_wise(prob, label, weight):
    rows = list(zip(prob, label, weight, strict=True))
    return [[(p[j], y == j, w) for p, y, w in rows] for j in range(len(prob[0]))]


def one_vs_rest(prob, label, weight):
    """The last class, which the notion speaks of by default."""
    return class_wise(prob, label, weight)[-1:]


def thresholded(prob, label, weight):
    problems = class_wise(prob, label, weight)
    kept = [[row for row in rows if row[0] >= 1 / len(problems)] for rows in problems]
    return [rows for rows in kept if rows]


def flattened(prob, label, weight):
    """Every class of every row, in one problem."""
    rows = zip(prob, label, weight, strict=True)
    return [[(p, j == y, w) for row, y, w in rows for j, p in enumerate(row)]]


NOTIONS = {
    "binary": binary,
    "confidence": confidence,
    "top-label": top_label,
    "class-wise": class_wise,
    "one-vs-rest": one_vs_rest,
    "thresholded-class-wise": thresholded,
    "flattened": flattened,
}


def equal_width(n_bins):
    def cut(rows):
        bins = [[] for _ in range(n_bins)]
        for row in rows:
            bins[sum(row[0] > (b + 1) / n_bins for b in range(n_bins))].append(row)
        return bins

    return cut


def equal_mass(n_bins):
    """For whole weights: a row of weight w is w rows; n rows are dealt into n_bins piles, the first ones one row larger."""

    def cut(rows):
        scores = sorted(s for s, _, w in rows for _ in range(int(w)))
        ends, start = set(), 0
        for k in range(n_bins - 1):
            start += len(scores) // n_bins + (1 if k < len(scores) % n_bins else 0)
            ends.add(scores[max(start - 1, 0)])
        ends = sorted(ends)
        bins = [[] for _ in range(len(ends) + 1)]
        for row in rows:
            bins[sum(1 for end in ends if row[0] > end)].append(row)
        return bins

    return cut


def unique(rows):
    return [[row for row in rows if row[0] == s] for s in sorted({row[0] for row in rows})]


def gap(rows):
    score, outcome, weight = zip(*rows, strict=True)
    return abs(np.average(outcome, weights=weight) - np.average(score, weights=weight))


def debiased_squared_gap(rows):
    _, outcome, weight = zip(*rows, strict=True)
    rate = np.average(outcome, weights=weight)
    return 0.0 if sum(weight) == 1 else gap(rows) ** 2 - rate * (1 - rate) / (sum(weight) - 1)


def calibration_error(problems, cut, norm, *, loss=gap, across=None, equal_shares=False):
    if not problems:
        return 0.0
    sizes = [1.0 if equal_shares else sum(w for _, _, w in rows) for rows in problems]
    shares = [size / sum(sizes) for size in sizes]
    values, weights = [], []
    for rows in problems:
        bins = [held for held in cut(rows) if held]
        values.append([loss(held) for held in bins])
        weights.append([sum(w for _, _, w in held) / sum(w for _, _, w in rows) for held in bins])
    if across is not None:
        return combined([combined(v, w, norm) for v, w in zip(values, weights, strict=True)], shares, across)
    scaled = [[share * w for w in own] for share, own in zip(shares, weights, strict=True)]
    return combined([v for own in values for v in own], [w for own in scaled for w in own], norm)


def combined(values, weights, norm):
    if norm == "max":
        return max(values)
    mean = np.dot(weights, np.square(values) if norm == "l2" else values)
    return mean if norm == "l1" else math.sqrt(max(0.0, mean))


def share_within(problems, cut, error):
    """Weight of the predictions whose bin is at most so far off."""
    total = sum(w for rows in problems for _, _, w in rows)
    bins = [held for rows in problems for held in cut(rows) if held]
    within = [w for held in bins if gap(held) <= error + 1e-12 for _, _, w in held]
    return sum(within) / total if total else 1.0


def draw(row, u):
    """The class in whose stretch of the unit interval u falls."""
    return sum(u >= reached / sum(row) for reached in accumulate(row[:-1]))
