"""ROC curves, hulls, cumulative sums and areas, pair by pair and threshold by threshold."""

import math
from itertools import permutations

import numpy as np


def points(y, p, w):
    """(threshold, fpr, tpr) of infinity and each distinct score, from the highest."""
    events = sum(wi for yi, wi in zip(y, w, strict=True) if yi)
    others = sum(wi for yi, wi in zip(y, w, strict=True) if not yi)
    found = []
    for threshold in [math.inf, *sorted(set(p), reverse=True)]:
        above = [(yi, wi) for yi, pi, wi in zip(y, p, w, strict=True) if pi >= threshold]
        false, true = sum(wi for yi, wi in above if not yi), sum(wi for yi, wi in above if yi)
        found.append((threshold, false / others, true / events))
    return found


def wins(y, p):
    """Of each event and each other row: 1 where the event has the higher score, and a half where they tie."""
    y, p = np.asarray(y, dtype=bool), np.asarray(p)
    return (p[y][:, None] > p[~y]) + 0.5 * (p[y][:, None] == p[~y])


def area(y, p, w):
    """Share of pairs of an event and another row in which the event has the higher score, ties by half."""
    y, w = np.asarray(y, dtype=bool), np.asarray(w)
    return w[y] @ wins(y, p) @ w[~y] / (w[y].sum() * w[~y].sum())


def height_of_hull(corners, x):
    """Highest chord over x between any two points (u, v)."""
    best = max((v for u, v in corners if u == x), default=-math.inf)
    for a, b in corners:
        for c, d in corners:
            if a <= x <= c and a < c:
                best = max(best, b + (d - b) * (x - a) / (c - a))
    return best


def area_of_hull(y, p, w):
    corners = [(false, true) for _, false, true in points(y, p, w)]
    at = sorted({x for x, _ in corners})
    return np.trapezoid([height_of_hull(corners, x) for x in at], at)


def mean_over_pairs(label, prob, w, n_classes):
    """Hand and Till: mean over pairs of the two areas that the rows of the two classes make."""
    label, prob, w, found = np.array(label), np.array(prob), np.array(w), []
    for i, j in permutations(range(n_classes), 2):
        rows = np.isin(label, (i, j))
        found.append(area(label[rows] == i, prob[rows, i], w[rows]))
    return sum(found) / len(found)


def jackknife_variance(value, label, *rows):
    """Variance of a figure by leaving out each row once, the rows of each class for themselves (as DeLong's)."""
    total = 0.0
    for k in set(label.tolist()):
        own = np.flatnonzero(label == k)
        left = [value(*(np.delete(column, i, axis=0) for column in (label, *rows))) for i in own]
        total += (len(own) - 1) / len(own) * sum((v - sum(left) / len(left)) ** 2 for v in left)
    return total


def interval(y, p, critical):
    """Area, and Wilson's interval of as many trials as have DeLong's variance; ``critical`` is given degrees of freedom."""
    pairs = wins(y, p)
    value = pairs.mean()
    placements = pairs.mean(axis=1), pairs.mean(axis=0)
    parts = [placed.var(ddof=1) / placed.size for placed in placements]
    variance = sum(parts)
    freedom = variance**2 / sum(v**2 / (placed.size - 1) for v, placed in zip(parts, placements, strict=True))
    z = critical(freedom)
    # Wilson: the shares t with (value - t)^2 = z^2 t (1 - t) / trials.
    trials = value * (1.0 - value) / variance
    a, b, c = 1.0 + z * z / trials, 2.0 * value + z * z / trials, value * value
    root = math.sqrt(b * b - 4.0 * a * c)
    return (b - root) / (2.0 * a), (b + root) / (2.0 * a)
