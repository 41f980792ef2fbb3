"""Nearly-isotonic regression: one fit as a generic least-squares problem; the path as the paper states it, in fractions."""

from fractions import Fraction
from itertools import groupby

import numpy as np
from scipy.special import softmax, xlogy


def points(score, label, weight):
    """Distinct scores, weights and weights of the events, as fractions: nothing is rounded."""
    distinct = sorted(set(score))
    rows = [(s, y, Fraction(w)) for s, y, w in zip(score, label, weight, strict=True)]
    mass = [sum(w for s, _, w in rows if s == d) for d in distinct]
    return distinct, mass, [sum(w * y for s, y, w in rows if s == d) for d in distinct]


def path(mass, events):
    """Yield each penalty at which groups join, from 0 on, with the groups (first, last) and their values."""
    groups = [(i, i) for i in range(len(mass))]
    values = [e / w for e, w in zip(events, mass, strict=True)]
    penalty = Fraction(0)
    while True:
        groups, values = joined(groups, values)
        yield penalty, groups, values
        weights = [sum(mass[first : last + 1]) for first, last in groups]
        down = [0, *(int(values[i] > values[i + 1]) for i in range(len(values) - 1)), 0]
        slopes = [Fraction(down[i] - down[i + 1]) / weights[i] for i in range(len(values))]
        meetings = [
            (values[i + 1] - values[i]) / (slopes[i] - slopes[i + 1])
            for i in range(len(values) - 1)
            if slopes[i] != slopes[i + 1]
        ]
        later = [t for t in meetings if t > 0]
        if not later:
            return
        penalty += min(later)
        values = [v + s * min(later) for v, s in zip(values, slopes, strict=True)]


def joined(groups, values):
    new = []
    for value, alike in groupby(zip(groups, values, strict=True), key=lambda pair: pair[1]):
        own = [group for group, _ in alike]
        new.append(((own[0][0], own[-1][1]), value))
    return [list(part) for part in zip(*new, strict=True)]


def bic(mass, events, groups, values):
    likelihood = 0.0
    for (first, last), value in zip(groups, values, strict=True):
        occurred, all_rows = (float(sum(part[first : last + 1])) for part in (events, mass))
        likelihood += xlogy(occurred, float(value)) + xlogy(all_rows - occurred, float(1 - value))
    return -2 * likelihood + len(groups) * np.log(float(sum(mass)))


def ensemble(mass, events):
    """Value of each distinct score, averaged over all fits of the path, and what the weights of the fits are."""
    fits = list(path(mass, events))
    weights = softmax([-bic(mass, events, groups, values) / 2 for _, groups, values in fits])
    sizes = [[last + 1 - first for first, last in groups] for _, groups, _ in fits]
    maps = [np.repeat(np.array(values, dtype=float), size) for (*_, values), size in zip(fits, sizes, strict=True)]
    return (weights @ maps).tolist(), weights.tolist()
