"""Normalisation-aware flattened isotonic regression from its definition: eq. 4 of Arad and Rosset."""

import math
from itertools import pairwise

import numpy as np


def annealed(prob, label, weight, left, values, draws, beta, floor, patience):
    """Algorithm 1: try changes of one value of the map at a time; return the last map, the best one, and how many were tried.

    The likelihood is summed anew over all rows. A map is the best if it is better than the best so far.
    """
    place = np.maximum(np.searchsorted(left, prob, side="right") - 1, 0)

    def likelihood(g):
        values = np.array(g)[place]
        return weight @ np.log(values[np.arange(len(label)), label] / values.sum(axis=1))

    g = list(values)
    current = highest = likelihood(g)
    best, since, tried = list(g), 0, 0
    for block, change, chance in draws:
        if since >= patience:
            break
        since, tried = since + 1, tried + 1
        new = [v + change if j == block else v for j, v in enumerate(g)]
        if new[0] < floor or any(b < a for a, b in pairwise(new)):
            continue
        value = likelihood(new)
        if value > current or chance < math.exp(beta * (value - current)):
            g, current = new, value
            if current > highest:
                best, highest, since = list(g), current, 0
    return g, best, tried
