"""Points of the ROC surface of K classes, thresholds that are best in a direction, and tuples that thresholds sort right.

The letters of the paper (Berta, Bach, Jordan 2024, 3.1): p forecasts of shape (n, K), y class of each row, g a threshold
gamma of shape (K,); w is the weight of each row, in a climb over that of its class. Row i lies on side k of g where p[i] -
g is largest, the first k of equal ones. The point of g on the surface is the share of each class k that lies on side k.
"""

import numpy as np

from calibrant._kernels._compile import BoolArray, FloatArray, LongArray, kernel
from calibrant._kernels.irp import side_of

NEAREST = 1e-12
"""What is nearer than this is taken for equal: differences of probabilities are not more exact."""


@kernel
def weights_on_own_side(p: FloatArray, y: LongArray, w: FloatArray, gamma: FloatArray, weight: FloatArray) -> None:
    """Write the weight of each class on its own side of each threshold, shape (m, K)."""
    weight[:] = 0.0
    for c in range(gamma.shape[0]):
        for i in range(p.shape[0]):
            k = side_of(p[i], gamma[c])
            if k == y[i]:
                weight[c, k] += w[i]


@kernel
def sums_on_own_side(p: FloatArray, y: LongArray, gamma: FloatArray, pull: FloatArray, total: FloatArray) -> None:
    """Write for each row the sum of pull[c, y] over the thresholds on whose side y it lies, shape (n,)."""
    for i in range(p.shape[0]):
        total[i] = 0.0
        for c in range(gamma.shape[0]):
            if side_of(p[i], gamma[c]) == y[i]:
                total[i] += pull[c, y[i]]


@kernel
def best_along(p: FloatArray, y: LongArray, w: FloatArray, u: FloatArray, g: FloatArray, k: int) -> tuple[float, float]:
    """Return the best g[k] and u times its point, where the other parts of g are kept.

    A row lies on side k where p[k] - g[k] is above the largest of the others: as g[k] falls, rows come over one by one.
    """
    n, n_classes = p.shape
    turn, change, n_moved = np.empty(n), np.empty(n), 0
    value = 0.0  # with nothing on side k
    for i in range(n):
        other, most = -1, -np.inf
        for j in range(n_classes):
            over = p[i, j] - g[j]
            if j != k and over > most:
                other, most = j, over
        if y[i] == k or y[i] == other:
            turn[n_moved] = p[i, k] - most
            if y[i] == k:
                change[n_moved] = u[k] * w[i]
            else:
                change[n_moved] = -u[other] * w[i]
                value += u[other] * w[i]
            n_moved += 1
    if n_moved == 0:
        return g[k], value
    order = np.argsort(-turn[:n_moved])
    best, at = value, turn[order[0]] + 1.0
    for place in range(n_moved):
        i = order[place]
        value += change[i]
        below = turn[order[place + 1]] if place + 1 < n_moved else turn[i] - 2.0
        if turn[i] - below > NEAREST and value > best + NEAREST:
            best, at = value, 0.5 * (turn[i] + below)
    return at, best


@kernel
def climb(
    p: FloatArray, y: LongArray, w: FloatArray, directions: FloatArray, gamma: FloatArray, most_rounds: int
) -> None:
    """Move each threshold, one part of it after the other, to where its point reaches farthest in its direction."""
    n_classes = p.shape[1]
    for c in range(directions.shape[0]):
        u, g = directions[c], gamma[c]
        reached = -1.0
        for _ in range(most_rounds):
            before = reached
            for k in range(n_classes):
                g[k], reached = best_along(p, y, w, u, g, k)
            if reached <= before + NEAREST:
                break


@kernel
def perfect_matchings(tight: BoolArray, members: LongArray) -> float:
    """Count the ways to give each of some classes another of them that it is tight with (a permanent), over sets of them."""
    size = members.size
    ways = np.zeros(1 << size)
    ways[0] = 1.0
    for taken in range(1, 1 << size):
        row = -1
        rest = taken
        while rest:
            row += rest & 1
            rest >>= 1
        for j in range(size):
            if taken >> j & 1 and tight[members[row], members[j]]:
                ways[taken] += ways[taken ^ (1 << j)]
    return float(ways[(1 << size) - 1])


@kernel
def share_sorted_right(p: FloatArray, tuples: LongArray, most_tied: int, share: FloatArray) -> None:
    """Write 1 over the number of best assignments of each tuple of rows to classes, 0 where its own is not among them.

    Row k of a tuple is of class k. Some gamma puts each row on its own side if and only if no cycle of classes has a negative
    sum of p[row k, k] - p[row k, j] along it: shortest paths say so. Two classes are on a cycle of sum zero where the paths
    there and back cancel; other best assignments permute such classes only.

    Of more than ``most_tied`` classes that are tied in one another the share is taken for that of all their permutations.
    """
    n_classes = p.shape[1]
    path, edge = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes))
    tight, seen = np.empty((n_classes, n_classes), np.bool_), np.empty(n_classes, np.bool_)
    for t in range(tuples.shape[0]):
        for k in range(n_classes):
            row = p[tuples[t, k]]
            for j in range(n_classes):
                edge[k, j] = path[k, j] = row[k] - row[j]
        share[t] = 1.0
        # Of many classes nearly every tuple has two rows that had better change places.
        for k in range(n_classes):
            for j in range(k):
                if edge[k, j] + edge[j, k] < -NEAREST:
                    share[t] = 0.0
        if share[t] == 0.0:
            continue
        for m in range(n_classes):
            for k in range(n_classes):
                for j in range(n_classes):
                    path[k, j] = min(path[k, j], path[k, m] + path[m, j])
        for k in range(n_classes):
            if path[k, k] < -NEAREST:
                share[t] = 0.0
        if share[t] == 0.0:
            continue
        for k in range(n_classes):
            for j in range(n_classes):
                tight[k, j] = edge[k, j] + path[j, k] <= NEAREST
        seen[:] = False
        for k in range(n_classes):
            if not seen[k]:
                together = np.flatnonzero(path[k] + path[:, k] <= NEAREST)
                seen[together] = True
                if together.size > most_tied:
                    for size in range(2, together.size + 1):
                        share[t] /= size
                elif together.size > 1:
                    share[t] /= perfect_matchings(tight, together)
