"""Squared calibration error over pairs of different rows, and its jackknife, by loops."""


def error(problems, cut, without=None):
    """The error without a row, in bins that keep their weights; ``problems`` are lists of (row number, score, outcome)."""
    total, n_all = 0.0, sum(len(rows) for rows in problems)
    for rows in problems:
        for held in cut([(s, y, i) for i, s, y in rows]):
            residual = [y - s for s, y, i in held if i != without]
            if len(residual) < 2:
                continue
            pairs = [a * b for i, a in enumerate(residual) for j, b in enumerate(residual) if i != j]
            total += len(held) / n_all * sum(pairs) / len(pairs)
    return total


def z(problems_a, problems_b, cut, n):
    value = error(problems_a, cut) - error(problems_b, cut)
    left_out = [error(problems_a, cut, i) - error(problems_b, cut, i) for i in range(n)]
    mean = sum(left_out) / n
    variance = (n - 1) / n * sum((v - mean) ** 2 for v in left_out)
    return value, variance
