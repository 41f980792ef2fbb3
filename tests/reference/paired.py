"""Squared calibration error over pairs of different rows, and its jackknife, by loops."""


def unbiased(problems, cut):
    """``problems`` are lists of (row number, score, outcome); each has the same share."""
    total = 0.0
    n_all = sum(len(rows) for rows in problems)
    for rows in problems:
        for held in cut([(s, y, i) for i, s, y in rows]):
            if len(held) < 2:
                continue
            residual = [y - s for s, y, _ in held]
            pairs = [a * b for i, a in enumerate(residual) for j, b in enumerate(residual) if i != j]
            total += len(held) / n_all * sum(pairs) / len(pairs)
    return total


def without(problems, cut, row):
    """The error without a row, in bins that keep their weights."""
    total = 0.0
    n_all = sum(len(rows) for rows in problems)
    for rows in problems:
        for held in cut([(s, y, i) for i, s, y in rows]):
            kept = [(s, y) for s, y, i in held if i != row]
            if len(kept) < 2:
                continue
            residual = [y - s for s, y in kept]
            pairs = [a * b for i, a in enumerate(residual) for j, b in enumerate(residual) if i != j]
            total += len(held) / n_all * sum(pairs) / len(pairs)
    return total


def z(problems_a, problems_b, cut, n):
    value = unbiased(problems_a, cut) - unbiased(problems_b, cut)
    left_out = [without(problems_a, cut, i) - without(problems_b, cut, i) for i in range(n)]
    mean = sum(left_out) / n
    variance = (n - 1) / n * sum((v - mean) ** 2 for v in left_out)
    return value, variance
