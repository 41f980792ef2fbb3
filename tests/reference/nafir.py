"""Normalisation-aware flattened isotonic regression from its definition: eq. 4 of Arad and Rosset."""

import math
from itertools import pairwise


def loss(prob, label, weight, g, smoothing=0.0, ridge=0.0):
    """Mean log loss of g(p_y) / sum_k g(p_k), where in part of each row any class occurs; g is a function of a score.

    The ridge counts half the variance of log g over all scores.
    """
    total = 0.0
    for row, y, w in zip(prob, label, weight, strict=True):
        values = [g(p) for p in row]
        logs = [math.log(v) - math.log(sum(values)) for v in values]
        total -= w * ((1.0 - smoothing) * logs[y] + smoothing * sum(logs) / len(row))
    return total / sum(weight) + ridge / 2.0 * variance_of_log(prob, weight, g)


def variance_of_log(prob, weight, g):
    """Variance of log g over all scores, each with the weight of its row."""
    logs = [(w, math.log(g(p))) for row, w in zip(prob, weight, strict=True) for p in row]
    total = sum(w for w, _ in logs)
    mean = sum(w * v for w, v in logs) / total
    return sum(w * (v - mean) ** 2 for w, v in logs) / total


def step(left, values, score):
    """Value of the last step that begins at or below the score; of the first below all."""
    return ([values[0]] + [v for a, v in zip(left, values, strict=True) if a <= score])[-1]


def annealed(prob, label, weight, left, values, draws, beta, floor, patience):
    """Algorithm 1: try changes of one value of the map at a time; return the last map, the best one, and how many were tried.

    The likelihood is summed anew over all rows. A map is the best if it is better than the best so far.
    """

    def likelihood(g):
        def of_score(p):
            return step(left, g, p)

        return -sum(weight) * loss(prob, label, weight, of_score)

    g = list(values)
    current = highest = likelihood(g)
    best, since, tried = list(g), 0, 0
    for block, change, chance in draws:
        if since >= patience:
            break
        since, tried = since + 1, tried + 1
        new = [v + change if j == block else v for j, v in enumerate(g)]
        if new[0] < floor or any(b < a for a, b in pairwise(new)):
            continue
        value = likelihood(new)
        if value > current or chance < math.exp(beta * (value - current)):
            g, current = new, value
            if current > highest:
                best, highest, since = list(g), current, 0
    return g, best, tried
