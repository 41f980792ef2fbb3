"""Squared calibration error over pairs of different rows, and its jackknife, by loops; mean differences of losses."""

import math


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


def error_of_mean(a, b, label, weight, loss, are_counts):
    """The standard error of the mean difference of a loss of one event; where few rows make it, at least that midway."""
    power, total = (1 if are_counts else 2), sum(weight)
    rows = total if are_counts else total**2 / sum(w * w for w in weight)
    each = [(loss(p, 0) - loss(q, 0), loss(p, 1) - loss(q, 1)) for p, q in zip(a, b, strict=True)]
    mean = sum(w * d[y] for w, d, y in zip(weight, each, label, strict=True)) / total
    seen = sum(w**power * (d[y] - mean) ** 2 for w, d, y in zip(weight, each, label, strict=True)) * rows / (rows - 1)
    own, others = (
        sum(w * ((1 - p) * d[0] + p * d[1]) for w, d, p in zip(weight, each, of, strict=True)) for of in (a, b)
    )
    if own * others >= 0:
        return math.sqrt(seen) / total
    truth = [p + own / (own - others) * (q - p) for p, q in zip(a, b, strict=True)]

    def moment(k, power):
        return sum(
            w**power * ((1 - t) * d[0] ** k + t * d[1] ** k) for w, d, t in zip(weight, each, truth, strict=True)
        )

    spread, few = moment(2, power), moment(4, power**2) / moment(2, power) ** 2
    told = few <= 1 / 16 or seen <= spread * (1 - 2 * math.sqrt(few))
    return math.sqrt(seen if told else max(seen, spread)) / total
