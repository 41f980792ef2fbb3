"""Binned calibration errors from the definition. A row is (score, outcome, weight); a problem is a list of rows."""

import math


def binary(prob, label, weight):
    return [[(p[1], y == 1, w) for p, y, w in zip(prob, label, weight, strict=True)]]


def confidence(prob, label, weight):
    return [[(p[first_top(p)], y == first_top(p), w) for p, y, w in zip(prob, label, weight, strict=True)]]


def top_label(prob, label, weight):
    problems = [[] for _ in prob[0]]
    for p, y, w in zip(prob, label, weight, strict=True):
        j = first_top(p)
        problems[j].append((p[j], y == j, w))
    return [rows for rows in problems if rows]


def class_wise(prob, label, weight):
    rows = list(zip(prob, label, weight, strict=True))
    return [[(p[j], y == j, w) for p, y, w in rows] for j in range(len(prob[0]))]


NOTIONS = {"binary": binary, "confidence": confidence, "top-label": top_label, "class-wise": class_wise}


def first_top(p):
    best = 0
    for j in range(len(p)):
        if p[j] > p[best]:
            best = j
    return best


def equal_width(n_bins):
    def cut(rows):
        bins = [[] for _ in range(n_bins)]
        for row in rows:
            b = 0
            while row[0] > (b + 1) / n_bins:
                b += 1
            bins[b].append(row)
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
    weight = sum(w for _, _, w in rows)
    return abs(sum(w * y for _, y, w in rows) / weight - sum(w * s for s, _, w in rows) / weight)


def calibration_error(problems, cut, norm):
    total = sum(w for rows in problems for _, _, w in rows)
    gaps, weights = [], []
    for rows in problems:
        for held in cut(rows):
            if held:
                gaps.append(gap(held))
                weights.append(sum(w for _, _, w in held) / total)
    if norm == "l1":
        return sum(w * g for w, g in zip(weights, gaps, strict=True))
    if norm == "l2":
        return math.sqrt(sum(w * g * g for w, g in zip(weights, gaps, strict=True)))
    return max(gaps)
