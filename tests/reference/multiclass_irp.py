"""Multi-class isotonic recursive partitioning from its definition: all points, all pairs of rows, no bookkeeping."""

from itertools import product

import numpy as np
from reference.recursive_split import lattice, sides
from reference.roc_surface import can_be_parted, side

ROUNDING = 1e-12


def grid(n_classes, steps):
    return [[count / steps for count in point] for point in lattice(n_classes, steps)]


def all_splits(points):
    """Every way to give points of whole numbers, which need no rounding, sides that some gamma parts, but all on one side."""
    ways = product(range(len(points[0])), repeat=len(points))
    return {sides for sides in ways if len(set(sides)) > 1 and can_be_parted(points, sides)}


def on_closed_side(point, gamma, k):
    return k in sides(point, gamma)


def sums(rows, label, weight, n_classes):
    return [sum(weight[i] for i in rows if label[i] == k) for k in range(n_classes)]


def rates(total, smoothing):
    return (np.array(total) + smoothing) / (sum(total) + len(total) * smoothing)


def quality(rows, parts, label, weight, n_classes):
    mean = rates(sums(rows, label, weight, n_classes), 0.0)
    of_parts = [sums(part, label, weight, n_classes) for part in parts]
    return sum(sum(own) * np.abs(rates(own, 0.0) - mean).sum() for own in of_parts)


def is_monotone_at(gamma, prob, value):
    """Whether values can be parted as the point parts forecasts: by a threshold for each pair of classes."""
    of = [side(p, gamma) for p in prob]
    pairs = ((of[x], of[y], value[x] - value[y]) for x, y in product(range(len(prob)), repeat=2))
    return all(over[i] >= over[j] - ROUNDING for i, j, over in pairs)


def fit(prob, label, weight, candidates_of, *, smoothing=0.0, max_regions=None):
    """Return [(parent node, gamma, M)] in the order of splitting, and {node: rows}.

    ``candidates_of(rows, before, gamma, k)`` returns the candidates of a region: of side k of a split of another one around
    gamma, which had the candidates ``before``; of all rows where these are None.
    """
    n, n_classes, total = len(prob), len(prob[0]), sum(weight)
    nodes = {0: list(range(n))}
    open_ = {0: candidates_of(nodes[0], None, None, None)}
    splits = []
    while True:
        best = None
        for v in sorted(open_):
            for gamma in open_[v]:
                parts = [[i for i in nodes[v] if side(prob[i], gamma) == k] for k in range(n_classes)]
                held = [part for part in parts if part]
                if len(held) < 2:
                    continue
                m = quality(nodes[v], held, label, weight, n_classes) / total
                if m <= ROUNDING or (best and m <= best[0] + ROUNDING):
                    continue
                regions = [nodes[u] for u in open_ if u != v] + held
                value = np.empty((n, n_classes))
                for rows in regions:
                    value[rows] = rates(sums(rows, label, weight, n_classes), smoothing)
                points = [*(g for _, g, _ in splits), gamma]
                if all(is_monotone_at(g, prob, value) for g in points):
                    best = (m, v, gamma, parts)
        if best is None:
            break
        m, v, gamma, parts = best
        if max_regions is not None and len(open_) + sum(map(bool, parts)) - 1 > max_regions:
            break
        splits.append((v, list(gamma), m))
        before = open_.pop(v)
        for k, part in enumerate(parts):
            if part:
                node = len(nodes)
                nodes[node] = part
                open_[node] = candidates_of(part, before, gamma, k)
    return splits, nodes
