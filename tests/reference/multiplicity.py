"""Adjusted p-values from their definitions."""

from itertools import combinations


def bonferroni(p):
    return [min(1.0, len(p) * v) for v in p]


def holm(p):
    """Closed testing: a hypothesis falls when every set that holds it falls by Bonferroni."""
    m = len(p)
    sets = [s for size in range(1, m + 1) for s in combinations(range(m), size)]
    return [max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in range(m)]


def benjamini_hochberg(p, factor=1.0):
    """Smallest level at which the largest k with  p_(k) <= k * level / m  takes the hypothesis in."""
    m, ordered = len(p), sorted(p)
    return [min(1.0, min(factor * m * ordered[k] / (k + 1) for k in range(m) if ordered[k] >= v)) for v in p]


def benjamini_yekutieli(p):
    return benjamini_hochberg(p, sum(1.0 / k for k in range(1, len(p) + 1)))
