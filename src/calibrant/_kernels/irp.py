"""Multi-class isotonic recursive partitioning (Berta, Bach, Jordan 2024, Algorithm 2): gains of splits, and which are monotone.

The letters of the paper: p forecasts of shape (n, K), y class of each row, w weight of each row, g a splitting point gamma of
shape (K,), r the value of a region, M the quality of a split. Row i lies on side k of g where p[i] - g is largest, the first
k of equal ones. Regions are nodes of a tree: node v holds the rows order[starts[v] : ends[v]], and low[v] and high[v] are the
least and the greatest p_i - p_j over them. A checkpoint is a point around which regions have to be parted.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import kernel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
MaskArray = npt.NDArray[np.uint32]
SideArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]

NEVER = -1
"""Instead of a region: what holds whatever becomes of the others."""
NOBODY = -2
"""No region."""

MARGIN = 1e-12
"""Differences that are nearer than this to a border may lie on either side of it, for all that rounding leaves to say."""


@kernel
def side_of(p: FloatArray, g: FloatArray) -> int:  # pragma: no cover - compiled
    """Return the side of g that a forecast lies on."""
    best, most = 0, p[0] - g[0]
    for k in range(1, g.size):
        over = p[k] - g[k]
        if over > most:
            best, most = k, over
    return best


@kernel
def node_of(
    p: FloatArray, gamma: FloatArray, child: IntArray, split: IntArray, n_splits: int, to: IntArray
) -> None:  # pragma: no cover - compiled
    """Walk down a tree: split[v] is the number of the split at node v, -1 where there is none, and child[s, k] a node.

    Only the first ``n_splits`` splits are followed. A child of -1 does not exist: the largest of the other sides is taken.
    """
    n_classes = p.shape[1]
    for i in range(p.shape[0]):
        at = 0
        while 0 <= split[at] < n_splits:
            s = split[at]
            best, most = -1, -np.inf
            for k in range(n_classes):
                over = p[i, k] - gamma[s, k]
                if child[s, k] >= 0 and over > most:
                    best, most = k, over
            at = child[s, best]
        to[i] = at


@kernel
def gains(
    p: FloatArray, y: IntArray, w: FloatArray, candidates: FloatArray, least: float, gain: FloatArray
) -> None:  # pragma: no cover - compiled
    """Write the quality M of each candidate for a region that holds these rows: sum_k w_k |mean_R - mean_k|_1.

    It is -1 where fewer than two sides hold rows, or where one that does holds less than ``least`` of the weight.
    """
    n, n_classes = p.shape
    total = np.zeros(n_classes)
    for i in range(n):
        total[y[i]] += w[i]
    mass = total.sum()
    sums, weight = np.zeros((n_classes, n_classes)), np.zeros(n_classes)
    for c in range(candidates.shape[0]):
        g = candidates[c]
        sums[:] = 0.0
        for i in range(n):
            sums[side_of(p[i], g), y[i]] += w[i]
        held, m, short = 0, 0.0, False
        for k in range(n_classes):
            weight[k] = sums[k].sum()
            if weight[k] > 0.0:
                held += 1
                short = short or weight[k] < least
                for j in range(n_classes):
                    m += abs(sums[k, j] - weight[k] * total[j] / mass)
        gain[c] = m if held > 1 and not short else -1.0


@kernel
def parted(
    p: FloatArray, order: IntArray, start: int, end: int, g: FloatArray, begins: IntArray
) -> None:  # pragma: no cover - compiled
    """Bring the rows of a region in the order of the sides of g that they lie on, and else in the order in which they were.

    Side k then begins at begins[k] and ends at begins[k + 1].
    """
    n_classes = g.size
    rows, of = order[start:end].copy(), np.empty(end - start, np.uint8)
    begins[:] = 0
    for i in range(rows.size):
        of[i] = side_of(p[rows[i]], g)
        begins[of[i] + 1] += 1
    begins[0] = start
    for k in range(n_classes):
        begins[k + 1] += begins[k]
    at = begins[:n_classes].copy()
    for i in range(rows.size):
        order[at[of[i]]] = rows[i]
        at[of[i]] += 1


@kernel
def differences(
    p: FloatArray, rows: IntArray, low: FloatArray, high: FloatArray
) -> None:  # pragma: no cover - compiled
    """Write the least and the greatest of p_i - p_j over some rows, for all classes i and j."""
    n_classes = p.shape[1]
    low[:], high[:] = np.inf, -np.inf
    for at in range(rows.size):
        r = p[rows[at]]
        for i in range(n_classes):
            for j in range(n_classes):
                d = r[i] - r[j]
                low[i, j] = min(low[i, j], d)
                high[i, j] = max(high[i, j], d)


@kernel
def sides_met(
    p: FloatArray, rows: IntArray, low: FloatArray, high: FloatArray, g: FloatArray
) -> int:  # pragma: no cover - compiled
    """Return which sides of g a region meets, a bit a side. The differences of its rows tell most, then the rows are asked."""
    n_classes = g.size
    possible = 0
    for k in range(n_classes):
        may, must = True, True
        for j in range(n_classes):
            if j != k:
                edge = g[k] - g[j]
                may = may and high[k, j] >= edge - MARGIN
                must = must and low[k, j] > edge + MARGIN
        if must:
            return 1 << k
        if may:
            possible |= 1 << k
    met = 0
    for at in range(rows.size):
        met |= 1 << side_of(p[rows[at]], g)
        if met == possible:
            break
    return met


@kernel
def note_sides(
    p: FloatArray,
    order: IntArray,
    starts: IntArray,
    ends: IntArray,
    low: FloatArray,
    high: FloatArray,
    checks: FloatArray,
    first: int,
    nodes: IntArray,
    met: MaskArray,
) -> None:  # pragma: no cover - compiled
    """Write into met[s, v] which sides of the checkpoints from ``first`` on some nodes meet."""
    for s in range(first, checks.shape[0]):
        for v in nodes:
            met[s, v] = sides_met(p, order[starts[v] : ends[v]], low[v], high[v], checks[s])


@kernel
def lowest(met: int, r: FloatArray, who: int, least: FloatArray, by: IntArray) -> None:  # pragma: no cover - compiled
    """Lower least[i, j], the least r_i - r_j over the regions that meet side i, by one region of value r; note who did it."""
    for i in range(r.size):
        if met >> i & 1:
            for j in range(r.size):
                if r[i] - r[j] < least[i, j]:
                    least[i, j] = r[i] - r[j]
                    by[i, j] = who


@kernel
def violation(
    least: FloatArray, by: IntArray, joint: bool, slack: float
) -> tuple[int, int, bool]:  # pragma: no cover - compiled
    """Return two regions that no threshold can part as a split parts them, and whether there are such.

    Sides i and j are parted by a threshold on r_i - r_j where all of side i lie above all of side j. Where a single gamma has
    to part all sides (``joint``), more than two regions may be at odds: then the two are NOBODY.
    """
    n_classes = least.shape[0]
    for i in range(n_classes):
        for j in range(i):
            if least[i, j] + least[j, i] < -slack:
                return by[i, j], by[j, i], True
    return NOBODY, NOBODY, joint and has_negative_cycle(least, slack)


@kernel
def has_negative_cycle(least: FloatArray, slack: float) -> bool:  # pragma: no cover - compiled
    """Whether no single gamma parts the regions as a split does: a cycle of differences that cannot all hold."""
    n_classes = least.shape[0]
    path = least.copy()
    for k in range(n_classes):
        for i in range(n_classes):
            for j in range(n_classes):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])
    return bool((np.diag(path) < -slack).any())


@kernel
def values_of_sides(
    p: FloatArray,
    y: IntArray,
    w: FloatArray,
    rows: IntArray,
    g: FloatArray,
    add: float,
    of: SideArray,
    value: FloatArray,
    own: IntArray,
) -> None:  # pragma: no cover - compiled
    """Write the side of g that each of some rows lies on, the value of each side, and its bit; 0 where it holds no row."""
    n_classes = g.size
    value[:] = 0.0
    for i in range(rows.size):
        of[i] = side_of(p[rows[i]], g)
        value[of[i], y[rows[i]]] += w[rows[i]]
    for k in range(n_classes):
        weight = value[k].sum()
        own[k] = 1 << k if weight > 0.0 else 0
        if weight > 0.0:
            for j in range(n_classes):
                value[k, j] = (value[k, j] + add) / (weight + n_classes * add)


@kernel
def sides_met_by_sides(
    p: FloatArray, rows: IntArray, of: SideArray, g: FloatArray, met: IntArray
) -> None:  # pragma: no cover - compiled
    """Write which sides of g the rows on each side of another point meet, a bit a side."""
    met[:] = 0
    for i in range(rows.size):
        met[of[i]] |= 1 << side_of(p[rows[i]], g)


@kernel
def first_monotone(
    p: FloatArray,
    y: IntArray,
    w: FloatArray,
    order: IntArray,
    starts: IntArray,
    ends: IntArray,
    value: FloatArray,
    low: FloatArray,
    high: FloatArray,
    live: IntArray,
    alive: BoolArray,
    checks: FloatArray,
    met: MaskArray,
    region: int,
    candidates: FloatArray,
    tried: IntArray,
    witness: IntArray,
    add: float,
    joint: bool,
    slack: float,
    budget: int,
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Return the first of the candidates ``tried`` of a region whose split leaves the map monotone, and how many were tried.

    -1 stands for none. Not all are tried where more than ``budget`` rows were looked at. Nodes ``live`` are the regions, also
    marked in ``alive``. Each side of a split takes the value (sum of its classes + add) / (weight + K add). A split is
    monotone where, at every checkpoint and at itself, the regions on two sides are parted by a threshold.

    Why a candidate fails is noted in ``witness``: two regions, or NEVER for its own sides. While both live it fails still.
    """
    n_classes, n_checks = p.shape[1], checks.shape[0]
    rows = order[starts[region] : ends[region]]
    # What the other regions say at each checkpoint does not depend on the candidate.
    base = np.full((n_checks, n_classes, n_classes), np.inf)
    base_by = np.full((n_checks, n_classes, n_classes), NOBODY)
    for s in range(n_checks):
        for v in live:
            if v != region:
                lowest(met[s, v], value[v], v, base[s], base_by[s])
    least, by = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes), np.int64)
    of, child = np.empty(rows.size, np.uint8), np.empty((n_classes, n_classes))
    own, child_met = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    looked = 0
    for at in range(tried.size):
        c = tried[at]
        a, b = witness[c, 0], witness[c, 1]
        if a != NOBODY and (a == NEVER or alive[a]) and (b == NEVER or alive[b]):
            continue
        if looked > budget:
            return -1, at
        g = candidates[c]
        looked += rows.size
        values_of_sides(p, y, w, rows, g, add, of, child, own)
        least[:], by[:] = np.inf, NOBODY
        for k in range(n_classes):
            lowest(own[k], child[k], NEVER, least, by)
        a, b, bad = violation(least, by, joint, slack)
        if not bad:
            for v in live:
                if v != region:
                    lowest(sides_met(p, order[starts[v] : ends[v]], low[v], high[v], g), value[v], v, least, by)
            looked += live.size
            a, b, bad = violation(least, by, joint, slack)
        s = 0
        while not bad and s < n_checks:
            if met[s, region] & (met[s, region] - 1):  # more than one side
                sides_met_by_sides(p, rows, of, checks[s], child_met)
                looked += rows.size
            else:
                child_met[:] = np.where(own > 0, np.int64(met[s, region]), 0)
            least[:], by[:] = base[s], base_by[s]
            for k in range(n_classes):
                lowest(child_met[k], child[k], NEVER, least, by)
            a, b, bad = violation(least, by, joint, slack)
            s += 1
        if not bad:
            return c, at + 1
        witness[c, 0], witness[c, 1] = a, b
    return -1, tried.size
