"""Decisions by their definitions: loops over rows, thresholds and classes."""

import math

import numpy as np
from reference import isotonic


def decision(row, cost):
    """Cheapest decision of a row of probabilities; of those that are equal but for rounding the first."""
    expected = [sum(p * cost[i][j] for i, p in enumerate(row)) for j in range(len(cost[0]))]
    least = min(expected)
    return next(j for j, spent in enumerate(expected) if spent <= least * (1 + 1e-13)), least


def shifted(row, factor):
    product = [p * f for p, f in zip(row, factor, strict=True)]
    total = sum(product)
    return [v / total for v in product] if total > 0 else list(row)


def log_likelihood(prob, weight, old, new):
    with np.errstate(divide="ignore"):
        return np.average(np.log(np.array(prob) @ np.divide(new, old)), weights=weight)


def em(prob, weight, old, n_steps):
    """Saerens, Latinne and Decaestecker's steps, one after the other."""
    new = list(old)
    for _ in range(n_steps):
        posterior = [shifted(row, [q / o for q, o in zip(new, old, strict=True)]) for row in prob]
        new = [sum(w * p[k] for w, p in zip(weight, posterior, strict=True)) / sum(weight) for k in range(len(old))]
    return new


def errors(score, label, weight, threshold):
    """Weights of false positives and false negatives, deciding for the event from the threshold on."""
    rows = list(zip(score, label, weight, strict=True))
    return (sum(w for s, y, w in rows if s >= threshold and not y), sum(w for s, y, w in rows if s < threshold and y))


def cost_at(score, label, weight, threshold, false_positive, false_negative):
    fp, fn = errors(score, label, weight, threshold)
    return (false_positive * fp + false_negative * fn) / sum(weight)


def lowest_cost(score, label, weight, false_positive, false_negative):
    """Cost at the best of all thresholds."""
    return min(cost_at(score, label, weight, t, false_positive, false_negative) for t in [*score, math.inf])


def net_benefit(score, label, weight, threshold):
    fp, _ = errors(score, label, weight, threshold)
    found = sum(w for s, y, w in zip(score, label, weight, strict=True) if s >= threshold and y)
    return (found - fp * threshold / (1 - threshold)) / sum(weight)


def error_midway(one, other, label, weight, t, are_counts):
    """Standard error of the gain if the event has the probability t where only one acts: 0 where many rows tell it."""
    rows = [(w, y) for a, b, y, w in zip(one, other, label, weight, strict=True) if (a >= t) != (b >= t)]
    gains = {1: 1.0, 0: -t / (1 - t)}
    expected = {k: t * gains[1] ** k + (1 - t) * gains[0] ** k for k in (2, 4)}
    spread = sum((w if are_counts else w * w) * expected[2] for w, _ in rows)
    seen = sum((w if are_counts else w * w) * gains[int(y)] ** 2 for w, y in rows)
    few = sum((w if are_counts else w**4) * expected[4] for w, _ in rows) / spread**2 if rows else 0.0
    return math.sqrt(spread) / sum(weight) if few > 1 / 16 and seen > spread * (1 - 2 * math.sqrt(few)) else 0.0


def isotonic_scores(score, label, weight):
    distinct, values = isotonic.fit(score, label, weight)
    return [isotonic.step(distinct, values, s) for s in score]
