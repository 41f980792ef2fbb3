"""Adjusted p-values from their definitions."""

from itertools import combinations


def bonferroni(p):
    return [min(1.0, len(p) * v) for v in p]


def holm(p):
    """Closed testing: a hypothesis falls when every set that holds it falls by Bonferroni."""
    m = len(p)
    sets = [s for size in range(1, m + 1) for s in combinations(range(m), size)]
    return [max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in range(m)]
