"""Scaling-binning: means of fitted values, bin by bin. Rows are repeated by their weights beforehand."""

from reference.histogram import bin_of, equal_mass_edges


def fit(fitted, n_bins):
    """Return the edges between fitted values, and the mean of each bin that holds some."""
    edges = equal_mass_edges(fitted, n_bins)
    held = [[g for g in fitted if bin_of(edges, g) == b] for b in range(len(edges) - 1)]
    if not held[-1]:
        edges, held = [*edges[:-2], 1.0], held[:-1]
    return edges, [min(max(sum(rows) / len(rows), 1e-12), 1 - 1e-12) for rows in held]


def calibrated(edges, means, fitted):
    return means[bin_of(edges, fitted)]
