"""The notion "shared-class-wise" from its definition: groups by an exact test, then every class of a group in one problem."""

from math import comb


def tail(n, k, p):
    """Probability of k or more of n."""
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


def groups(counts, ratio=2.0):
    """The classes of each group, from the most frequent down; counts are whole."""
    waiting = sorted(range(len(counts)), key=lambda j: -counts[j])
    comparisons = len(counts) * (len(counts) - 1)
    found = []
    for j in waiting:
        if found:
            most = counts[found[-1][0]]
            if tail(most + counts[j], most, ratio / (1 + ratio)) >= 0.05 / comparisons:
                found[-1].append(j)
                continue
        found.append([j])
    return [sorted(group) for group in found]


def problems(prob, label, weight, grouped):
    """One problem a group: row by row the score of each of its classes, and whether that class is true."""
    rows = list(zip(prob, label, weight, strict=True))
    return [[(p[j], y == j, w) for p, y, w in rows for j in group] for group in grouped]


def shared_class_wise(prob, label, weight):
    counts = [int(sum(w for y, w in zip(label, weight, strict=True) if y == j)) for j in range(len(prob[0]))]
    return problems(prob, label, weight, groups(counts))


NOTIONS = {"shared-class-wise": shared_class_wise}
