"""Histogram binning with loops over bins. Rows are repeated by their weights beforehand."""

from itertools import pairwise

import numpy as np


def equal_mass_edges(scores, n_bins):
    """Cut after the rows at which the bins end, or after the last row of equal score; cuts at 1 are left out."""
    ordered = sorted(scores)
    base, remainder = divmod(len(ordered), n_bins)
    edges, reached = [0.0], 0
    for b in range(n_bins - 1):
        reached += base + (1 if b < remainder else 0)
        if reached > 0:
            cut = ordered[reached - 1]
            if cut < 1.0 and (len(edges) == 1 or cut > edges[-1]):
                edges.append(cut)
    return [*edges, 1.0]


def bin_of(edges, score):
    """Number of the first bin whose upper edge is not below the score."""
    for b in range(len(edges) - 2):
        if score <= edges[b + 1]:
            return b
    return len(edges) - 2


def piles(scores, n_bins):
    """The edges of bins that hold rows, and their rows; the last one ends at 1 even if no row is near."""
    edges = equal_mass_edges(scores, n_bins)
    held = [[s for s in scores if bin_of(edges, s) == b] for b in range(len(edges) - 1)]
    return (edges, held) if held[-1] else ([*edges[:-2], 1.0], held[:-1])


def fit(edges, scores, outcomes, empty, smoothing=0.0, interior=False):
    """Return the value of each bin: None for one that leaves a score as it is.

    With ``interior`` a bin of several rows is less one row on its inner edge: of rows that tie there, their mean.
    """
    middle = [(low + high) / 2 for low, high in pairwise(edges)]
    rows = [[] for _ in middle]
    for s, y in zip(scores, outcomes, strict=True):
        rows[bin_of(edges, s)].append((s, y))
    rates = {}
    for b, held in enumerate(rows):
        events, number = sum(y for _, y in held), len(held)
        tied = [y for s, y in held if interior and s in edges[1:-1]]
        if number > 1 and tied:
            events, number = events - sum(tied) / len(tied), number - 1
        if held:
            rates[b] = (events + smoothing) / (number + 2 * smoothing)
    filled = {
        "midpoint": middle,
        "base-rate": [sum(outcomes) / len(outcomes)] * len(middle),
        "identity": [None] * len(middle),
        "interpolate": np.interp(middle, [middle[b] for b in rates], list(rates.values())),
    }
    return [rates.get(b, value) for b, value in enumerate(filled[empty])]


def calibrated(edges, values, score):
    value = values[bin_of(edges, score)]
    return score if value is None else value
