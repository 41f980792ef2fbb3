"""The logarithmic pool of a forecast and a candidate, and its weight by ternary search."""

import numpy as np
from reference.multinomial import log_of
from scipy.special import softmax


def pool(p, c, weight):
    """Return p^(1 - w) c^w divided by its sum, zeros raised to the floor."""
    return softmax((1 - weight) * log_of(p) + weight * log_of(c), axis=-1)


def mean_log_loss(held_out, weight, share=0.0):
    """Mean over held-out rows (forecast, candidate, label, row weight)."""
    p, c, y, w = map(np.array, zip(*held_out, strict=True))
    mixed = (1.0 - share) * pool(p, c, weight) + share * pool(p, c, 1.0)
    return -np.average(np.log(mixed[np.arange(len(y)), y]), weights=w)


def standard_error(held_out):
    """Of the slope of the loss at weight 0 where each label occurs with its predicted probability.

    The slope is the mean of E d - d_y, d = log c - log p. A weight of k is k rows, if all are whole.
    """
    p, c, _, w = map(np.array, zip(*held_out, strict=True))
    share, d = pool(p, c, 0.0), log_of(c) - log_of(p)
    mean = (share * d).sum(axis=1, keepdims=True)
    variance = (share * (d - mean) ** 2).sum(axis=1)
    return np.sqrt((w if (w == np.floor(w)).all() else w**2) @ variance) / w.sum()


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
