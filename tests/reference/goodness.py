"""Chi-squared tests of calibration from their definitions, row by row. Whole weights are repeated rows."""

import math
from fractions import Fraction


def repeated(label, prob, weight):
    rows = []
    for y, p, w in zip(label, prob, weight, strict=True):
        rows += [(int(y), [float(v) for v in p])] * int(w)
    return rows


def statistic(groups):
    total = 0.0
    for rows in groups:
        for j in range(len(rows[0][1])):
            occurred, expected = sum(y == j for y, _ in rows), math.fsum(p[j] for _, p in rows)
            if expected == 0 and occurred:
                return math.inf
            total += (occurred - expected) ** 2 / expected if expected else 0.0
    return total


def quantile(values, share_above, share_below):
    """The value at the share  share_above / share_below  of the way from the first to the last, interpolated exactly."""
    ordered = [Fraction(value) for value in sorted(values)]
    low, part = divmod(Fraction((len(ordered) - 1) * share_above, share_below), 1)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + part * (ordered[high] - ordered[low])


def hosmer_lemeshow(rows, grouping, n_bins):
    """``grouping`` turns a forecast into the score by which groups are made; returns the statistic and the group sizes."""
    scores = [grouping(p) for _, p in rows]
    cuts = [quantile(scores, k, n_bins) for k in range(1, n_bins)]
    piles = [[] for _ in range(n_bins)]
    for row, score in zip(rows, scores, strict=True):
        piles[sum(1 for cut in cuts if score > cut)].append(row)
    held = [pile for pile in piles if pile]
    return statistic(held), [len(pile) for pile in held]


def spiegelhalter(label, prob, weight, spoken):
    """Excess of the Brier score over its mean, by its standard deviation; ``spoken`` names the classes of a row that count."""
    excess = variance = 0.0
    for y, p, w in zip(label, prob, weight, strict=True):
        score = [sum(((k == j) - p[j]) ** 2 for j in spoken(p)) for k in range(len(p))]
        mean = math.fsum(q * s for q, s in zip(p, score, strict=True))
        excess += w * (score[y] - mean)
        variance += w * math.fsum(q * (s - mean) ** 2 for q, s in zip(p, score, strict=True))
    return excess, variance
