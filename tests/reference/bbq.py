"""Bayesian binning with a loop over binnings and bins. Rows are repeated by their weights beforehand."""

from reference.histogram import bin_of, piles
from scipy.special import betaln, softmax


def sizes(n, spread):
    """The whole numbers B, at most n, with n <= (spread B)^3 and B^3 <= n spread^3, or the greatest that meets the second."""
    most = max(b for b in range(1, n + 1) if b**3 <= n * spread**3)
    return [b for b in range(1, most + 1) if n <= (spread * b) ** 3] or [most]


def binnings(scores, spread):
    """Bins that hold rows, the same ones once."""
    different = []
    for n_bins in sizes(len(scores), spread):
        edges, _ = piles(scores, n_bins)
        if edges not in different:
            different.append(edges)
    return different


def model(edges, scores, outcomes, prior_rows):
    """Return the log evidence of a binning, and the posterior mean of each bin."""
    n_bins = len(edges) - 1
    evidence, values = 0.0, []
    for b in range(n_bins):
        occurred = [y for s, y in zip(scores, outcomes, strict=True) if bin_of(edges, s) == b]
        mean = min(max((edges[b] + edges[b + 1]) / 2, 1e-12), 1 - 1e-12)
        alpha, beta = prior_rows / n_bins * mean, prior_rows / n_bins * (1 - mean)
        m, k = sum(occurred), len(occurred) - sum(occurred)
        evidence += betaln(m + alpha, k + beta) - betaln(alpha, beta)
        values.append((m + alpha) / (m + k + alpha + beta))
    return evidence, values


def fit(scores, outcomes, spread=10.0, prior_rows=2.0):
    """Return for each binning its edges, its values and its posterior probability."""
    cuts = binnings(scores, spread)
    fits = [model(edges, scores, outcomes, prior_rows) for edges in cuts]
    weights = softmax([evidence for evidence, _ in fits])
    return [(edges, values, w) for edges, (_, values), w in zip(cuts, fits, weights, strict=True)]


def calibrated(models, score):
    return sum(w * values[bin_of(edges, score)] for edges, values, w in models)
