"""Binnings that look at the outcomes, from their definitions. A row is (score, outcome, weight) with a whole weight."""

from fractions import Fraction
from itertools import pairwise, permutations


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


def cross_validated(family, most_bins, n_folds):
    def cut(rows):
        candidates = [family(n_bins)(rows) for n_bins in range(1, most_bins + 1)]
        errors = [sum(left_out(held, n_folds) for held in bins if held) for bins in candidates]
        return next(
            bins
            for bins, error in zip(candidates, errors, strict=True)
            if error <= min(errors) * (1 + Fraction(1, 10**9))
        )

    return cut


def left_out(rows, n_folds):
    """Sum of expected squared errors of the rows of a bin, each foretold by the mean residual of those in other folds."""
    residuals = [Fraction(int(y)) - Fraction(s) for s, y, w in rows for _ in range(int(w))]
    n = len(residuals)
    if n == 1:
        return Fraction(1)
    mean = sum(residuals) / n
    variance = sum((r - mean) ** 2 for r in residuals) / (n - 1)
    others = min(Fraction(n) - Fraction(n, n_folds), Fraction(n - 1))
    return n * min(variance * (1 + 1 / others), Fraction(1))


def left_out_by_dealing(residuals, n_folds):
    """Mean squared error over all orders in which rows are dealt to the folds, for as many rows as fill them evenly."""
    n, errors = len(residuals), []
    for order in permutations(range(n)):
        fold = {row: place % n_folds for place, row in enumerate(order)}
        for row in range(n):
            others = [residuals[other] for other in range(n) if fold[other] != fold[row]]
            errors.append((residuals[row] - sum(others) / len(others)) ** 2)
    return sum(errors) / len(errors)


def rate(rows):
    return Fraction(int(sum(w * y for _, y, w in rows)), int(sum(w for _, _, w in rows)))
