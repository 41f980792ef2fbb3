"""Centered isotonic regression by pooling one pair of neighbours at a time. Fractions, so that nothing is rounded."""

from fractions import Fraction
from itertools import pairwise


def points(scores, outcomes, weights):
    """Pool neighbours that do not increase, positions too, unless both are at 0 or both at 1, until none is left."""
    dots = []
    for s in sorted(set(scores)):
        rows = [(y, Fraction(w)) for t, y, w in zip(scores, outcomes, weights, strict=True) if t == s]
        mass = sum(w for _, w in rows)
        dots.append((Fraction(s), sum(w for y, w in rows if y) / mass, mass))
    i = 0
    while i + 1 < len(dots):
        (x1, y1, w1), (x2, y2, w2) = dots[i], dots[i + 1]
        if y1 < y2 or (y1 == y2 and y1 in (0, 1)):
            i += 1
            continue
        total = w1 + w2
        dots[i : i + 2] = [((w1 * x1 + w2 * x2) / total, (w1 * y1 + w2 * y2) / total, total)]
        i = max(i - 1, 0)
    return [(x, y) for x, y, _ in dots]


def calibrated(dots, score):
    score = Fraction(score)
    if score <= dots[0][0]:
        return float(dots[0][1])
    for (x1, y1), (x2, y2) in pairwise(dots):
        if score <= x2:
            return float(y1 + (y2 - y1) * (score - x1) / (x2 - x1))
    return float(dots[-1][1])
