"""Distances of cumulative residuals, from the definition: all thresholds, all intervals of scores."""

from itertools import pairwise


def residual_sum(y, p, w, low, high):
    """Weighted residuals of the rows with low < score <= high, as a share of all weight."""
    return sum(wi * (yi - pi) for yi, pi, wi in zip(y, p, w, strict=True) if low < pi <= high) / sum(w)


def kolmogorov_smirnov(y, p, w):
    return max(abs(residual_sum(y, p, w, -1.0, s)) for s in p)


def kuiper(y, p, w):
    bounds = [-1.0, *p]
    return max(abs(residual_sum(y, p, w, low, high)) for low in bounds for high in bounds if low < high)


def two_bins(y, p, w):
    """Averaged two-bin error: between neighbouring scores all places to cut are alike, so each counts with that width."""
    total, cuts = sum(w), sorted({0.0, 1.0, *p})
    square = 0.0
    for low, high in pairwise(cuts):
        below = sum(c * (o - q) for o, q, c in zip(y, p, w, strict=True) if q <= low)
        above = sum(c * (o - q) for o, q, c in zip(y, p, w, strict=True)) - below
        square += (high - low) * (below**2 + above**2) / total**2
    return square**0.5
