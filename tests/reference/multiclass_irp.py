"""Multi-class isotonic recursive partitioning from its definition: all points, all pairs of rows, no bookkeeping."""

from itertools import product

from reference.roc_surface import can_be_parted, side

ROUNDING = 1e-12


def grid(n_classes, steps):
    counts = [c for c in product(range(steps + 1), repeat=n_classes) if sum(c) == steps]
    return [[c / steps for c in some] for some in counts]


def all_splits(points):
    """Every way to give points of whole numbers, which need no rounding, sides that some gamma parts, but all on one side."""
    ways = product(range(len(points[0])), repeat=len(points))
    return {sides for sides in ways if len(set(sides)) > 1 and can_be_parted(points, sides)}


def on_closed_side(point, gamma, k):
    over = [a - g for a, g in zip(point, gamma, strict=True)]
    return over[k] >= max(over) - 1e-9


def sums(rows, label, weight, n_classes):
    return [sum(weight[i] for i in rows if label[i] == k) for k in range(n_classes)]


def rates(total, smoothing):
    mass = sum(total) + len(total) * smoothing
    return [(c + smoothing) / mass for c in total]


def quality(rows, parts, label, weight, n_classes):
    mean = rates(sums(rows, label, weight, n_classes), 0.0)
    found = 0.0
    for part in parts:
        own = sums(part, label, weight, n_classes)
        found += sum(own) * sum(abs(a - b) for a, b in zip(rates(own, 0.0), mean, strict=True))
    return found


def is_monotone_at(gamma, prob, value):
    """Whether values can be parted as the point parts forecasts: by a threshold for each pair of classes."""
    of = [side(p, gamma) for p in prob]
    for x, y in product(range(len(prob)), repeat=2):
        i, j = of[x], of[y]
        if i != j and value[x][i] - value[x][j] < value[y][i] - value[y][j] - ROUNDING:
            return False
    return True


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
                value = [None] * n
                for rows in regions:
                    r = rates(sums(rows, label, weight, n_classes), smoothing)
                    for i in rows:
                        value[i] = r
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
