"""Nearly-isotonic regression: one fit as a generic least-squares problem; the path as the paper states it, in fractions."""

from fractions import Fraction
from math import exp, log


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
    new_groups, new_values = [groups[0]], [values[0]]
    for group, value in zip(groups[1:], values[1:], strict=True):
        if value == new_values[-1]:
            new_groups[-1] = (new_groups[-1][0], group[1])
        else:
            new_groups.append(group)
            new_values.append(value)
    return new_groups, new_values


def bic(mass, events, groups, values, rows_per_weight=1):
    likelihood = 0.0
    for (first, last), value in zip(groups, values, strict=True):
        occurred = float(sum(events[first : last + 1]))
        not_come = float(sum(mass[first : last + 1])) - occurred
        likelihood += (occurred and occurred * log(value)) + (not_come and not_come * log(1 - value))
    return -2 * rows_per_weight * likelihood + len(groups) * log(float(sum(mass)) * rows_per_weight)


def ensemble(mass, events):
    """Value of each distinct score, averaged over all fits of the path, and what the weights of the fits are."""
    fits = list(path(mass, events))
    scores = [bic(mass, events, groups, values) for _, groups, values in fits]
    weights = [exp((min(scores) - s) / 2) for s in scores]
    average = [0.0] * len(mass)
    for weight, (_, groups, values) in zip(weights, fits, strict=True):
        for (first, last), value in zip(groups, values, strict=True):
            for i in range(first, last + 1):
                average[i] += weight / sum(weights) * float(value)
    return average, [w / sum(weights) for w in weights]
