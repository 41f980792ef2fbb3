"""The softmax of scaled normal logits, from draws."""

import math
import random


def largest_of_softmax(scale, n_classes, draws, seed):
    """Mean and standard error of the largest entry of softmax(scale * g)."""
    source, values = random.Random(seed), []
    for _ in range(draws):
        g = [source.gauss(0, 1) for _ in range(n_classes)]
        values.append(1 / sum(math.exp(scale * (z - max(g))) for z in g))
    mean = sum(values) / draws
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values)) / draws
