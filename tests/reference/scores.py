"""Proper scores from the definition."""

import math
import sys


def log_loss(prob, label, weight):
    total = sum(-w * math.log(max(p[y], sys.float_info.epsilon)) for p, y, w in zip(prob, label, weight, strict=True))
    return total / sum(weight)


def brier(prob, label, weight):
    total = 0.0
    for p, y, w in zip(prob, label, weight, strict=True):
        total += w * sum((p[j] - (1.0 if j == y else 0.0)) ** 2 for j in range(len(p)))
    return total / sum(weight)


def accuracy(prob, label, weight):
    right = sum(w for p, y, w in zip(prob, label, weight, strict=True) if list(p).index(max(p)) == y)
    return right / sum(weight)
