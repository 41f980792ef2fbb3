"""Loess of residuals from the definition, in exact fractions. A row of whole weight w is w rows."""

from fractions import Fraction

SPREAD = Fraction(1e-8)


def rows_of(p, r, w):
    return [(Fraction(pi), Fraction(ri)) for pi, ri, wi in zip(p, r, w, strict=True) for _ in range(int(wi))]


def smooth(p, r, w, span, degree):
    """Fitted values at each of p."""
    rows = rows_of(p, r, w)
    at = {pi: float(local_fit(rows, Fraction(pi), span, degree)) for pi in set(p)}
    return [at[pi] for pi in p]


def local_fit(rows, x, span, degree):
    """Polynomial fitted with tricube weights to the nearest rows, at x; of a lower degree where scores hardly differ."""
    neighbours = max(int(span * len(rows) + 1e-9), 1)
    bandwidth = sorted(abs(s - x) for s, _ in rows)[neighbours - 1]
    if bandwidth == 0:
        alike = [r for s, r in rows if s == x]
        return sum(alike) / len(alike)
    near = [
        ((s - x) / bandwidth, r, (1 - (abs(s - x) / bandwidth) ** 3) ** 3) for s, r in rows if abs(s - x) < bandwidth
    ]
    constant = least_squares([(1,)] * len(near), near)[0]
    mean = least_squares([(1,)] * len(near), [(u, u, c) for u, _, c in near])[0]
    variance = weighted_mean([(u - mean) ** 2 for u, _, _ in near], near)
    if degree == 0 or variance <= SPREAD:
        return constant
    lines = [(1, u) for u, _, _ in near]
    if degree == 2:
        a, b = least_squares(lines, [(u, u**2, c) for u, _, c in near])
        if weighted_mean([(u**2 - a - b * u) ** 2 for u, _, _ in near], near) > SPREAD * variance**2:
            return least_squares([(1, u, u**2) for u, _, _ in near], near)[0]
    return least_squares(lines, near)[0]


def weighted_mean(values, near):
    return sum(c * v for v, (_, _, c) in zip(values, near, strict=True)) / sum(c for _, _, c in near)


def least_squares(design, near):
    """Coefficients that solve the normal equations, by elimination."""
    size = len(design[0])
    table = [
        [sum(c * d[i] * d[j] for d, (_, _, c) in zip(design, near, strict=True)) for j in range(size)]
        + [sum(c * d[i] * v for d, (_, v, c) in zip(design, near, strict=True))]
        for i in range(size)
    ]
    for i in range(size):
        for k in range(size):
            if k != i:
                factor = table[k][i] / table[i][i]
                table[k] = [a - factor * b for a, b in zip(table[k], table[i], strict=True)]
    return [table[i][size] / table[i][i] for i in range(size)]
