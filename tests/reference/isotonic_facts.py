"""What is proved of isotonic regression (Arad and Rosset 2025, appendix D), by search: no pooling anywhere.

A cell is (weight of the events, weight of the other rows) on one distinct score; cells come in the order of their scores.
A proper score is a function of (probability, outcome).
"""

import math


def cells(score, outcome, weight):
    found = []
    for s in sorted(set(score)):
        here = [(y, w) for t, y, w in zip(score, outcome, weight, strict=True) if t == s]
        found.append((sum(w for y, w in here if y), sum(w for y, w in here if not y)))
    return found


def log(q, y):
    p = q if y else 1 - q
    return -math.log(p) if p > 0 else math.inf


def brier(q, y):
    return (q - y) ** 2


def spherical(q, y):
    return -(q if y else 1 - q) / math.sqrt(q * q + (1 - q) * (1 - q))


def thresholds(masses):
    """The score of decisions at thresholds c of so much mass each: a missed event costs 1 - c, a false alarm c (Schervish)."""

    def score(q, y):
        return sum(m * ((1 - c) if y else c) for c, m in masses if (q <= c if y else q > c))

    return score


def cost(score, q, cell):
    """A class that never occurred costs nothing."""
    return sum(w * score(q, y) for w, y in zip(cell, (1, 0), strict=True) if w > 0)


def total(score, values, found):
    return sum(cost(score, q, cell) for q, cell in zip(values, found, strict=True))


def least_on_grid(score, found, grid):
    """Least total of non-decreasing values that are taken from a grid, by dynamic programming."""
    grid = sorted(grid)
    best = [0.0] * len(grid)
    for cell in found:
        reached, low = [], math.inf
        for q, so_far in zip(grid, best, strict=True):
            low = min(low, so_far)
            reached.append(low + cost(score, q, cell))
        best = reached
    return min(best)


def means(found):
    """Event rates of all runs of neighbouring cells."""
    runs = [found[a : b + 1] for a in range(len(found)) for b in range(a, len(found))]
    return [sum(e for e, _ in run) / sum(e + o for e, o in run) for run in runs]


def min_max(found):
    """At i the least over last cells from i on of the greatest over first cells u <= i of the event rate between."""
    n = len(found)

    def mean(first, last):
        run = found[first : last + 1]
        return sum(e for e, _ in run) / sum(e + o for e, o in run)

    return [min(max(mean(u, last) for u in range(i + 1)) for last in range(i, n)) for i in range(n)]


def clipped(values, low, high):
    return [max(low, min(high, q)) for q in values]
