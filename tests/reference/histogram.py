"""Histogram binning with loops over bins. Rows are repeated by their weights beforehand."""


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


def fit(edges, scores, outcomes, empty, smoothing=0.0, interior=False):
    """Return the value of each bin: None for one that leaves a score as it is.

    With ``interior`` a bin of several rows is less one row on its inner edge: of rows that tie there, their mean.
    """
    n_bins = len(edges) - 1
    rows = [[] for _ in range(n_bins)]
    for s, y in zip(scores, outcomes, strict=True):
        rows[bin_of(edges, s)].append((s, y))
    events, numbers = [], []
    for b in range(n_bins):
        occurred = [y for _, y in rows[b]]
        tied = [y for s, y in rows[b] if interior and s in edges[1:-1]]
        left_out = len(occurred) > 1 and len(tied) > 0
        events.append(sum(occurred) - (sum(tied) / len(tied) if left_out else 0))
        numbers.append(len(occurred) - left_out)
    middle = [(edges[b] + edges[b + 1]) / 2 for b in range(n_bins)]
    filled = [b for b in range(n_bins) if rows[b]]
    rates = {b: (events[b] + smoothing) / (numbers[b] + 2 * smoothing) for b in filled}
    values = []
    for b in range(n_bins):
        if b in rates:
            values.append(rates[b])
        elif empty == "midpoint":
            values.append(middle[b])
        elif empty == "base-rate":
            values.append(sum(outcomes) / len(outcomes))
        elif empty == "identity":
            values.append(None)
        else:
            below, above = [c for c in filled if c < b], [c for c in filled if c > b]
            if not below or not above:
                values.append(rates[above[0] if above else below[-1]])
            else:
                left, right = below[-1], above[0]
                part = (middle[b] - middle[left]) / (middle[right] - middle[left])
                values.append((1 - part) * rates[left] + part * rates[right])
    return values


def calibrated(edges, values, score):
    value = values[bin_of(edges, score)]
    return score if value is None else value
