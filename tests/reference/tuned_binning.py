"""Binnings that look at the outcomes, from their definitions. A row is (score, outcome, weight) with a whole weight."""

from fractions import Fraction
from itertools import pairwise


def isotonic(rows):
    """Pool neighbours until every event rate is above the one before."""
    blocks = [[row for row in rows if row[0] == s] for s in sorted({s for s, _, _ in rows})]
    while True:
        for b in range(len(blocks) - 1):
            if rate(blocks[b]) >= rate(blocks[b + 1]):
                blocks[b : b + 2] = [blocks[b] + blocks[b + 1]]
                break
        else:
            return blocks


def monotonic_sweep(family, most_bins):
    def cut(rows):
        n_rows = sum(int(w) for _, _, w in rows)
        best = family(1)(rows)
        for n_bins in range(2, min(most_bins, n_rows) + 1):
            bins = family(n_bins)(rows)
            rates = [rate(held) for held in bins if held]
            if any(b < a for a, b in pairwise(rates)):
                break
            best = bins
        return best

    return cut


def rate(rows):
    return Fraction(int(sum(w * y for _, y, w in rows)), int(sum(w for _, _, w in rows)))
