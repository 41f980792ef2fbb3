"""Decompositions of proper scores from their definitions, row by row."""

import math
import sys

from reference import isotonic

EPSILON = sys.float_info.epsilon


# Scores of a vector p when class y was true, and their divergences d(p, q): what p costs more than q where q is true.


def brier(p, y):
    return sum((v - (j == y)) ** 2 for j, v in enumerate(p))


def log(p, y):
    return -math.log(max(p[y], EPSILON))


def squared_distance(p, q):
    return sum((a - b) ** 2 for a, b in zip(p, q, strict=True))


def kullback_leibler(p, q):
    return sum(b * (math.log(max(b, EPSILON)) - math.log(max(a, EPSILON))) for a, b in zip(p, q, strict=True) if b > 0)


SCORES = {"brier": (brier, squared_distance), "log": (log, kullback_leibler)}


def mean(values, weight):
    return sum(v * w for v, w in zip(values, weight, strict=True)) / sum(weight)


def one_hot(y, n_classes):
    return [float(j == y) for j in range(n_classes)]


def calibration_refinement(prob, label, weight, score):
    """Mean of d(S, C) and of d(C, Y), C being the class frequencies among equal rows."""
    d = SCORES[score][1]
    calibrated = []
    for p in prob:
        same = [(y, w) for q, y, w in zip(prob, label, weight, strict=True) if q == p]
        total = sum(w for _, w in same)
        calibrated.append([sum(w for y, w in same if y == j) / total for j in range(len(p))])
    refinement = [d(c, one_hot(y, len(c))) for c, y in zip(calibrated, label, strict=True)]
    return mean([d(p, c) for p, c in zip(prob, calibrated, strict=True)], weight), mean(refinement, weight)


def epistemic_irreducible(prob, posterior, weight, score):
    """Mean of d(S, Q), and of d(Q, Y) where Y is drawn from Q."""
    d = SCORES[score][1]
    k = len(posterior[0])
    irreducible = [sum(v * d(q, one_hot(j, k)) for j, v in enumerate(q) if v > 0) for q in posterior]
    return mean([d(p, q) for p, q in zip(prob, posterior, strict=True)], weight), mean(irreducible, weight)


# Of one event


def corp(problem, s):
    """Score, MCB, DSC and UNC of rows (score, outcome, weight), for the score s(p, y)."""
    score, outcome, weight = zip(*problem, strict=True)
    fit = dict(zip(*isotonic.fit(score, outcome, weight), strict=True))
    rate = mean(outcome, weight)
    forecast = mean([s(p, y) for p, y, _ in problem], weight)
    recalibrated = mean([s(fit[p], y) for p, y, _ in problem], weight)
    base = mean([s(rate, y) for y in outcome], weight)
    return forecast, forecast - recalibrated, base - recalibrated, base


def murphy(problem, cut):
    """Reliability, resolution, uncertainty, and the variance and covariance within the bins that ``cut`` makes."""
    rate = mean([y for _, y, _ in problem], [w for *_, w in problem])
    total = sum(w for *_, w in problem)
    terms = [0.0, 0.0, rate * (1 - rate), 0.0, 0.0]
    for rows in cut(problem):
        if not rows:
            continue
        score, outcome, weight = zip(*rows, strict=True)
        share, p, y = sum(weight) / total, mean(score, weight), mean(outcome, weight)
        terms[0] += share * (p - y) ** 2
        terms[1] += share * (y - rate) ** 2
        terms[3] += share * mean([(s - p) ** 2 for s in score], weight)
        terms[4] += 2 * share * mean([(s - p) * (o - y) for s, o in zip(score, outcome, strict=True)], weight)
    return terms
