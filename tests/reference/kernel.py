"""The squared kernel calibration error from its definition: sums over pairs, one at a time."""

import math
from statistics import median


def distance(p, q):
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def term(p, y, q, z, bandwidth):
    """k(p, q) <e_y - p, e_z - q>"""
    product = sum(((y == j) - p[j]) * ((z == j) - q[j]) for j in range(len(p)))
    return math.exp(-distance(p, q) / bandwidth) * product


def repeated(prob, label, weight):
    return [(tuple(p), y) for p, y, w in zip(prob, label, weight, strict=True) for _ in range(int(w))]


def unbiased(prob, label, weight, bandwidth):
    """Over whole weights, as repeated rows; None without a pair."""
    rows = repeated(prob, label, weight)
    n = len(rows)
    terms = [term(*rows[i], *rows[j], bandwidth) for i in range(n) for j in range(n) if i != j]
    return math.fsum(terms) / len(terms) if terms else None


def biased(prob, label, weight, bandwidth):
    rows = repeated(prob, label, weight)
    return math.fsum(term(*a, *b, bandwidth) for a in rows for b in rows) / len(rows) ** 2


def unbiased_with_weights(prob, label, weight, bandwidth):
    """Over weights that are not whole: a row makes no pair with itself."""
    total = mass = 0.0
    for i, (p, y, v) in enumerate(zip(prob, label, weight, strict=True)):
        for j, (q, z, w) in enumerate(zip(prob, label, weight, strict=True)):
            if i != j:
                total += v * w * term(p, y, q, z, bandwidth)
                mass += v * w
    return total / mass


def bandwidth(prob, weight):
    """Median distance over pairs of different forecasts, as repeated rows."""
    rows = [tuple(p) for p, w in zip(prob, weight, strict=True) for _ in range(int(w))]
    found = [distance(rows[i], rows[j]) for i in range(len(rows)) for j in range(i)]
    found = [d for d in found if d > 1e-12]
    return median(found) if found else 1.0
