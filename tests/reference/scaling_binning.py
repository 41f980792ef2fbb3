"""Scaling-binning: means of fitted values, bin by bin. Rows are repeated by their weights beforehand."""

from reference.histogram import bin_of, piles


def fit(fitted, n_bins):
    """Return the edges between fitted values, and the mean of each bin that holds some."""
    edges, held = piles(fitted, n_bins)
    return edges, [min(max(sum(rows) / len(rows), 1e-12), 1 - 1e-12) for rows in held]


def calibrated(edges, means, fitted):
    return means[bin_of(edges, fitted)]
