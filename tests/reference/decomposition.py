"""Decompositions of proper scores from their definitions, row by row."""

import math
import sys

import numpy as np
from reference import isotonic

EPSILON = sys.float_info.epsilon


# Scores of a vector p when class y was true, and their divergences d(p, q): what p costs more than q where q is true.


def brier(p, y):
    return sum((v - (j == y)) ** 2 for j, v in enumerate(p))


def log(p, y):
    return -math.log(max(p[y], EPSILON))


def squared_distance(p, q):
    return np.square(np.subtract(p, q)).sum()


def kullback_leibler(p, q):
    return np.dot(q, np.log(np.maximum(q, EPSILON)) - np.log(np.maximum(p, EPSILON)))


SCORES = {"brier": (brier, squared_distance), "log": (log, kullback_leibler)}


def mean(values, weight, axis=None):
    return np.average(values, axis=axis, weights=weight)


def calibration_refinement(prob, label, weight, score):
    """Mean of d(S, C) and of d(C, Y), C being the class frequencies among equal rows."""
    d, occurred = SCORES[score][1], np.eye(len(prob[0]))[label]
    same = [[i for i, q in enumerate(prob) if q == p] for p in prob]
    calibrated = [mean(occurred[rows], np.take(weight, rows), axis=0) for rows in same]
    refinement = [d(c, o) for c, o in zip(calibrated, occurred, strict=True)]
    return mean([d(p, c) for p, c in zip(prob, calibrated, strict=True)], weight), mean(refinement, weight)


def epistemic_irreducible(prob, posterior, weight, score):
    """Mean of d(S, Q), and of d(Q, Y) where Y is drawn from Q."""
    d, occurred = SCORES[score][1], np.eye(len(posterior[0]))
    irreducible = [sum(v * d(q, o) for v, o in zip(q, occurred, strict=True)) for q in posterior]
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
