"""The logarithmic pool of a forecast and a candidate, and its weight by ternary search, in plain loops."""

import math

FLOOR = 1e-12


def pool(p, c, weight):
    """Return p^(1 - w) c^w divided by its sum, zeros raised to the floor."""
    raw = [(1 - weight) * math.log(max(a, FLOOR)) + weight * math.log(max(b, FLOOR)) for a, b in zip(p, c, strict=True)]
    top = max(raw)
    parts = [math.exp(r - top) for r in raw]
    return [part / sum(parts) for part in parts]


def mean_log_loss(held_out, weight):
    """Mean over held-out rows (forecast, candidate, label, row weight)."""
    total = sum(-w * math.log(pool(p, c, weight)[y]) for p, c, y, w in held_out)
    return total / sum(w for *_, w in held_out)


def standard_error(held_out):
    """Of the slope of the loss at weight 0 where each label occurs with its predicted probability.

    The slope is the mean of E d - d_y, d = log c - log p. A weight of k is k rows, if all are whole.
    """
    variance, are_counts = 0.0, all(w == int(w) for *_, w in held_out)
    for p, c, _, w in held_out:
        sure = [max(a, FLOOR) for a in p]
        share = [a / sum(sure) for a in sure]
        d = [math.log(max(b, FLOOR)) - math.log(a) for a, b in zip(sure, c, strict=True)]
        mean = sum(a * x for a, x in zip(share, d, strict=True))
        variance += (w if are_counts else w * w) * sum(a * (x - mean) ** 2 for a, x in zip(share, d, strict=True))
    return math.sqrt(variance) / sum(w for *_, w in held_out)


def best_weight(held_out, caution):
    """Return the weight in [0, 1] with the least loss plus caution times standard error times weight."""
    charge = caution * standard_error(held_out)

    def objective(weight):
        return mean_log_loss(held_out, weight) + charge * weight

    low, high = 0.0, 1.0
    while high - low > 1e-9:
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if objective(left) <= objective(right):
            high = right
        else:
            low = left
    return (low + high) / 2
