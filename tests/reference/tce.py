"""The test-based calibration error from the definition: each prediction tested by itself, one outcome at a time.

A bin is a list of rows (score, outcome, weight) with whole weights; probabilities are fractions, so that nothing is rounded.
"""

import math
from fractions import Fraction

import numpy as np
from scipy.special import stdtrit

TIE = Fraction(1, 10**7)
"""By how much an outcome may be more probable than the observed one and count as equal, as a part of it: SciPy's."""


def mass(n, p):
    p = Fraction(p)
    return [math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]


def exact_pvalue(k, n, p):
    of = mass(n, p)
    return sum(m for m in of if m <= of[k] * (1 + TIE))


def central_pvalue(k, n, p, part=Fraction(1)):
    """Twice the smaller tail; of the observed outcome itself only a part counts."""
    of = mass(n, p)
    return 2 * min(sum(of[:k]) + part * of[k], sum(of[k + 1 :]) + part * of[k])


def pvalue(test, k, n, p):
    if test == "binomial":
        return exact_pvalue(k, n, p)
    return central_pvalue(k, n, p, Fraction(1, 2) if test == "mid-p" else Fraction(1))


def t_rejects(k, n, p, level):
    if n == 1:
        return False
    error = math.sqrt(k / n * (1 - k / n) / (n - 1))
    return abs(k / n - p) > stdtrit(n - 1, 1 - level / 2) * error


def rejects(test, k, n, p, level):
    if test == "t":
        return t_rejects(k, n, p, level)
    found = pvalue(test, k, n, p)
    # A p-value that equals the level but for rounding: the exact test rejects, and an end belongs to its interval.
    return found <= level * (1 + 1e-9) if test == "binomial" else found < level * (1 - 1e-8)


def rejected_percentage(rows, test, level):
    """Of one bin."""
    n = int(sum(w for _, _, w in rows))
    k = int(sum(w for _, y, w in rows if y))
    return 100 * sum(w for p, _, w in rows if rejects(test, k, n, p, level)) / n


def error(bins, test, level):
    """Of one problem: the mean over its bins by their rows."""
    held = [rows for rows in bins if rows]
    sizes = [sum(w for _, _, w in rows) for rows in held]
    return np.average([rejected_percentage(rows, test, level) for rows in held], weights=sizes)
