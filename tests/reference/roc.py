"""ROC curves, hulls, cumulative sums and areas, pair by pair and threshold by threshold."""

import math

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


def area(y, p, w):
    """Share of pairs of an event and another row in which the event has the higher score, ties by half."""
    won = pairs = 0.0
    for yi, pi, wi in zip(y, p, w, strict=True):
        for yj, pj, wj in zip(y, p, w, strict=True):
            if yi and not yj:
                pairs += wi * wj
                won += wi * wj * (1.0 if pi > pj else 0.5 if pi == pj else 0.0)
    return won / pairs


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
    height = [height_of_hull(corners, x) for x in at]
    return sum((at[i + 1] - at[i]) * (height[i + 1] + height[i]) / 2.0 for i in range(len(at) - 1))


def mean_over_pairs(label, prob, w, n_classes):
    """Hand and Till: mean over pairs of the two areas that the rows of the two classes make."""
    found = []
    for i in range(n_classes):
        for j in range(i):
            rows = [r for r in range(len(label)) if label[r] in (i, j)]
            one = area([label[r] == i for r in rows], [prob[r][i] for r in rows], [w[r] for r in rows])
            other = area([label[r] == j for r in rows], [prob[r][j] for r in rows], [w[r] for r in rows])
            found.append((one + other) / 2.0)
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
    events = [pi for yi, pi in zip(y, p, strict=True) if yi]
    others = [pi for yi, pi in zip(y, p, strict=True) if not yi]
    of_events = [sum(1.0 if a > b else 0.5 if a == b else 0.0 for b in others) / len(others) for a in events]
    of_others = [sum(1.0 if a > b else 0.5 if a == b else 0.0 for a in events) / len(events) for b in others]
    value = sum(of_events) / len(events)
    parts = []
    for placed in (of_events, of_others):
        n = len(placed)
        parts.append((sum((v - value) ** 2 for v in placed) / (n - 1) / n, n - 1))
    variance = sum(v for v, _ in parts)
    z = critical(variance**2 / sum(v**2 / freedom for v, freedom in parts))
    # Wilson: the shares t with (value - t)^2 = z^2 t (1 - t) / trials.
    trials = value * (1.0 - value) / variance
    a, b, c = 1.0 + z * z / trials, 2.0 * value + z * z / trials, value * value
    root = math.sqrt(b * b - 4.0 * a * c)
    return (b - root) / (2.0 * a), (b + root) / (2.0 * a)
