"""Multi-class isotonic recursive partitioning (Berta, Bach, Jordan 2024, Algorithm 2): gains of splits, and which are monotone.

The letters of the paper: p forecasts of shape (n, K), y class of each row, w weight of each row, g a splitting point gamma of
shape (K,), r the value of a region, M the quality of a split. Row i lies on side k of g where p[i] - g is largest, the first
k of equal ones.

Lines of Algorithm 2 are counted from ``procedure split``, line 1, to the end of the outer loop, line 25. The departures:

* Lines 4 to 13 look at all gamma and keep the monotone one of the largest M. Here candidates come in falling order of M
  (`gains`), so that the first monotone one is taken (`first_monotone`): the condition of line 8 costs far more than M does.
* Line 8 asks for monotony at the splitting points so far and at the new one, as the remark below the algorithm says.
* Line 7 takes means. Here they are smoothed, as in the experiments, and are compared as they are delivered.
* Line 19 drops a region without a monotone split for good. Here it is asked again after other splits, since the text ends where
  no region has such a split. The witnesses of why a candidate failed keep that cheap.
"""

import numpy as np

from calibrant._kernels import simplex_regions
from calibrant._kernels._compile import kernel
from calibrant._kernels.simplex_regions import (
    NEVER,
    NOBODY,
    Checkpoints,
    FloatArray,
    IntArray,
    Regions,
    Sides,
    SimplexRows,
)

MARGIN = 1e-12
"""Differences p - g that agree to this are equal: .8 - .7 and .2 - .1 are one number.

Differences of these that are nearer than twice as much to a border may lie on either side of it.
"""

OUTSIDE = 3.0
"""Differences of probabilities are at most one, and where two of them meet at most two: no way to part rows is only beyond."""


@kernel
def side_of(p: FloatArray, g: FloatArray) -> int:
    """Return the side of g that a forecast lies on; sides tie where p - g agrees to `MARGIN`."""
    best, most = 0, p[0] - g[0]
    for k in range(1, g.size):
        over = p[k] - g[k]
        if over > most + MARGIN:
            best, most = k, over
    return best


@kernel
def node_of(p: FloatArray, gamma: FloatArray, child: IntArray, split: IntArray, n_splits: int, to: IntArray) -> None:
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
                if child[s, k] >= 0 and over > most + MARGIN:
                    best, most = k, over
            at = child[s, best]
        to[i] = at


@kernel
def gains(p: FloatArray, y: IntArray, w: FloatArray, candidates: FloatArray, gain: FloatArray) -> None:
    """Write the quality M of each candidate for a region that holds these rows: sum_k w_k |mean_R - mean_k|_1.

    It is -1 where fewer than two sides hold rows.
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
        held, m = 0, 0.0
        for k in range(n_classes):
            weight[k] = sums[k].sum()
            if weight[k] > 0.0:
                held += 1
                for j in range(n_classes):
                    m += abs(sums[k, j] - weight[k] * total[j] / mass)
        gain[c] = m if held > 1 else -1.0


@kernel
def splits_of_three(p: FloatArray, s: FloatArray, gamma: FloatArray, gain: FloatArray) -> int:
    """Write each way in which a point parts distinct forecasts of three classes: one gamma amid it, and its quality M.

    s[i] holds the weight of the classes at forecast i. Ways with all on one side are left out. Of n forecasts in general
    position there are (n + 2)(n + 1) / 2 - 3 ways, one for each number of forecasts on sides 0, 1, 2, and never more; ``gamma``
    needs room for so many. Differences nearer than four times `MARGIN` count as equal. Returns how many were found.

    With x = g_0 - g_2 and y = g_1 - g_2, a forecast is on side 2 or 1 where x > p_0 - p_2 and else on side 0 or 1. In a strip
    of x between two neighbouring values of p_0 - p_2 these two groups, R and L, stand; as y falls, those of R come to side 1 in
    the order of p_1 - p_2, and those of L in that of p_0 - p_1. How many of each are on side 1 gives the sums of all sides from
    running sums, and the bounds of x, y and x - y. The pairs of numbers that a strip allows make a band: O(n^2) steps in all.
    """
    n = p.shape[0]
    a, b, e = p[:, 0] - p[:, 2], p[:, 1] - p[:, 2], p[:, 0] - p[:, 1]
    by_a, by_b = np.argsort(a, kind="mergesort"), np.argsort(-b, kind="mergesort")
    by_e = np.argsort(e, kind="mergesort")
    place, total = np.empty(n, np.int64), np.zeros(3)
    for i in range(n):
        place[by_a[i]] = i
        for c in range(3):  # sums and assignments of whole rows take seconds to compile
            total[c] += s[i, c]
    mass, seen, found = total.sum(), np.zeros((n + 1, n + 1), np.bool_), 0
    # Of the first m of R: least b, which is the last, greatest e, sums; greatest a of the others. Likewise of L.
    rb, re, ra, rs = np.empty(n + 2), np.empty(n + 1), np.empty(n + 1), np.empty((n + 1, 3))
    le, lb, la, ls = np.empty(n + 2), np.empty(n + 1), np.empty(n + 1), np.empty((n + 1, 3))
    side = np.empty((3, 3))
    for t in range(n + 1):
        low, high = a[by_a[t - 1]] if t > 0 else -OUTSIDE, a[by_a[t]] if t < n else OUTSIDE
        if high - low <= 2.0 * MARGIN:
            continue
        rb[0], re[0], rs[0], le[0], lb[0], ls[0] = OUTSIDE, -OUTSIDE, 0.0, -OUTSIDE, OUTSIDE, 0.0
        r, q = 0, 0
        for at in range(n):
            i, j = by_b[at], by_e[at]
            if place[i] < t:
                r += 1
                rb[r], re[r], ra[r - 1] = b[i], max(re[r - 1], e[i]), a[i]
                for c in range(3):
                    rs[r, c] = rs[r - 1, c] + s[i, c]
            if place[j] >= t:
                q += 1
                le[q], lb[q], la[q - 1] = e[j], min(lb[q - 1], b[j]), a[j]
                for c in range(3):
                    ls[q, c] = ls[q - 1, c] + s[j, c]
        rb[r + 1], le[q + 1], ra[r], la[q] = -OUTSIDE, OUTSIDE, -OUTSIDE, OUTSIDE
        for m in range(r - 1, -1, -1):
            ra[m] = max(ra[m], ra[m + 1])
        for m in range(q - 1, -1, -1):
            la[m] = min(la[m], la[m + 1])
        first = 0
        for m in range(r + 1):
            while rb[m] + le[first + 1] <= low:
                first += 1
            k = first
            while k <= q and rb[m + 1] + le[k] < high:
                ones = m + k
                if not seen[q - k, ones] and max(q - k, ones, r - m) < n:
                    x_low, x_high, y_low, y_high = ra[m], la[k], rb[m + 1], min(rb[m], lb[k])
                    d_low, d_high = max(le[k], re[m]), le[k + 1]
                    x = (max(x_low, y_low + d_low) + min(x_high, y_high + d_high)) / 2.0
                    y = (max(y_low, x - d_high) + min(y_high, x - d_low)) / 2.0
                    room = min(x - x_low, x_high - x, y - y_low, y_high - y, x - y - d_low, d_high - x + y)
                    if room > 2.0 * MARGIN:
                        seen[q - k, ones] = True
                        quality = 0.0
                        for c in range(3):
                            side[0, c], side[1, c] = ls[q, c] - ls[k, c], rs[m, c] + ls[k, c]
                            side[2, c] = rs[r, c] - rs[m, c]
                        for c in range(3):
                            weight = side[c].sum()
                            for j in range(3):
                                quality += abs(side[c, j] - weight * total[j] / mass)
                        g = (1.0 - x - y) / 3.0
                        gamma[found, 0], gamma[found, 1], gamma[found, 2] = x + g, y + g, g
                        gain[found] = quality
                        found += 1
                k += 1
    return found


@kernel
def parted(p: FloatArray, order: IntArray, start: int, end: int, g: FloatArray, begins: IntArray) -> None:
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
def differences(p: FloatArray, rows: IntArray, low: FloatArray, high: FloatArray) -> None:
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
def sides_met(p: FloatArray, rows: IntArray, low: FloatArray, high: FloatArray, g: FloatArray) -> int:
    """Return which sides of g a region meets, a bit a side. The differences of its rows tell most, then the rows are asked."""
    n_classes = g.size
    possible = 0
    for k in range(n_classes):
        may, must = True, True
        for j in range(n_classes):
            if j != k:
                edge = g[k] - g[j]
                may = may and high[k, j] >= edge - 2.0 * MARGIN
                must = must and low[k, j] > edge + 2.0 * MARGIN
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
def note_sides(rows: SimplexRows, regions: Regions, checks: Checkpoints, first: int, nodes: IntArray) -> None:
    """Write into checks.met which sides of the checkpoints from ``first`` on some nodes meet."""
    for s in range(first, checks.gamma.shape[0]):
        for v in nodes:
            own = regions.order[regions.starts[v] : regions.ends[v]]
            checks.met[s, v] = sides_met(rows.prob, own, regions.low[v], regions.high[v], checks.gamma[s])


@kernel
def lowest(met: int, r: FloatArray, who: int, least: FloatArray, by: IntArray) -> None:
    """Lower least[i, j], the least r_i - r_j over the regions that meet side i, by one region of value r; note who did it."""
    for i in range(r.size):
        if met >> i & 1:
            for j in range(r.size):
                if r[i] - r[j] < least[i, j]:
                    least[i, j] = r[i] - r[j]
                    by[i, j] = who


@kernel
def violation(least: FloatArray, by: IntArray, slack: float) -> tuple[int, int, bool]:
    """Return two regions that no threshold can part as a split parts them, and whether there are such.

    Sides i and j are parted by a threshold on r_i - r_j where all of side i lie above all of side j.
    """
    n_classes = least.shape[0]
    for i in range(n_classes):
        for j in range(i):
            if least[i, j] + least[j, i] < -slack:
                return by[i, j], by[j, i], True
    return NOBODY, NOBODY, False


@kernel
def values_of_sides(rows: SimplexRows, own: IntArray, g: FloatArray, add: float, sides: Sides) -> None:
    """Write the side of g that each of some rows lies on, the value of each side, and its bit; 0 where it holds no row."""
    n_classes, value = g.size, sides.value
    value[:] = 0.0
    for i in range(own.size):
        k = side_of(rows.prob[own[i]], g)
        sides.of[i] = k
        value[k, rows.label[own[i]]] += rows.weight[own[i]]
    for k in range(n_classes):
        weight = value[k].sum()
        sides.bit[k] = 1 << k if weight > 0.0 else 0
        if weight > 0.0:
            for j in range(n_classes):
                value[k, j] = (value[k, j] + add) / (weight + n_classes * add)


@kernel
def bounds_of_others(regions: Regions, live: IntArray, region: int, checks: Checkpoints) -> tuple[FloatArray, IntArray]:
    """Return the least r_i - r_j at each checkpoint over all regions but one, and which region has it.

    That does not depend on the candidate by which the one is split.
    """
    n_checks, n_classes = checks.gamma.shape
    least = np.full((n_checks, n_classes, n_classes), np.inf)
    by = np.full((n_checks, n_classes, n_classes), NOBODY)
    for s in range(n_checks):
        for v in live:
            if v != region:
                lowest(checks.met[s, v], regions.value[v], v, least[s], by[s])
    return least, by


@kernel
def first_monotone(
    rows: SimplexRows,
    regions: Regions,
    live: IntArray,
    checks: Checkpoints,
    region: int,
    trial: simplex_regions.Trial,
    rule: simplex_regions.Rule,
) -> tuple[int, int]:
    """Return the first of the candidates tried whose split of a region leaves the map monotone, and how many were tried.

    -1 stands for none. Not all are tried where more than ``rule.budget`` rows were looked at. Nodes ``live`` are the regions,
    also marked in ``regions.alive``. A split is monotone where, at every checkpoint and at itself, the regions on two sides
    are parted by a threshold.

    Why a candidate fails is noted in ``trial.witness``: two regions, or NEVER for its own sides. While both live it
    still fails.
    """
    p, n_classes, n_checks = rows.prob, rows.prob.shape[1], checks.gamma.shape[0]
    own = regions.order[regions.starts[region] : regions.ends[region]]
    base, base_by = bounds_of_others(regions, live, region, checks)
    least, by = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes), np.int64)
    of, value = np.empty(own.size, np.uint8), np.empty((n_classes, n_classes))
    sides = Sides(of, value, np.empty(n_classes, np.int64), np.empty(n_classes, np.int64))
    looked = 0
    for at in range(trial.tried.size):  # line 4
        c = trial.tried[at]
        a, b = trial.witness[c, 0], trial.witness[c, 1]
        if a != NOBODY and (a == NEVER or regions.alive[a]) and (b == NEVER or regions.alive[b]):
            continue
        if looked > rule.budget:
            return -1, at
        g = trial.gamma[c]
        looked += own.size
        values_of_sides(rows, own, g, rule.add, sides)  # lines 5 to 7
        # Line 8 at the candidate itself: first its own sides, which cost nothing more, then the other regions.
        least[:], by[:] = np.inf, NOBODY
        for k in range(n_classes):
            lowest(sides.bit[k], sides.value[k], NEVER, least, by)
        a, b, bad = violation(least, by, rule.slack)
        if not bad:
            for v in live:
                if v != region:
                    others = regions.order[regions.starts[v] : regions.ends[v]]
                    met = sides_met(p, others, regions.low[v], regions.high[v], g)
                    lowest(met, regions.value[v], v, least, by)
            looked += live.size
            a, b, bad = violation(least, by, rule.slack)
        # Line 8 at the checkpoints, among them the splits so far.
        s = 0
        while not bad and s < n_checks:
            met_by_region = checks.met[s, region]
            if met_by_region & (met_by_region - 1):  # more than one side
                sides.met[:] = 0
                for i in range(own.size):
                    sides.met[sides.of[i]] |= 1 << side_of(p[own[i]], checks.gamma[s])
                looked += own.size
            else:
                for k in range(n_classes):
                    sides.met[k] = met_by_region if sides.bit[k] > 0 else 0
            for i in range(n_classes):  # arrays as a whole take seconds to compile
                for j in range(n_classes):
                    least[i, j], by[i, j] = base[s, i, j], base_by[s, i, j]
            for k in range(n_classes):
                lowest(sides.met[k], sides.value[k], NEVER, least, by)
            a, b, bad = violation(least, by, rule.slack)
            s += 1
        if not bad:
            return c, at + 1  # lines 9 to 11: the first is the one of the largest M
        trial.witness[c, 0], trial.witness[c, 1] = a, b
    return -1, trial.tried.size
