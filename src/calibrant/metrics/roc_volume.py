"""The volume under the ROC surface of K classes: how well thresholds tell them apart, in one number; and its interval.

The volume moves with the points of the surface, and these are means over rows: to first order each row adds what its
class's share in each point is worth (infinitesimal jackknife), and the squares of that add up to a variance. As in the
interval of Agresti and Coull, each class gets z^2 / 2 rows more that lie on the right side of every threshold, and as many
that lie on the wrong one: so rows that are all told apart are no certainty.

Thresholds that are best on the rows at hand make the volume too large on average. Those of some rows, with the facets between
their points, measured on held-out rows, do not: a determinant multiplies one share of each class, and classes are independent,
so that its mean is the volume within these facets at the true points. The true hull holds them: their volume is at most its
own where no cones over them overlap, as never of two classes; of more that is not proven. The lower end is counted from the
less of the two, the upper end from the volume itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import factorial, prod
from typing import Unpack

import numpy as np
from scipy.spatial import ConvexHull
from scipy.special import ndtri

from calibrant._core.arrays import ArrayLike, FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import as_numbers, choice, is_word, refuse, require, warn, whole
from calibrant._core.rows import BoolArray, IntArray, Problem, SimplexProblem, Weights, as_simplex
from calibrant.metrics.estimate import Estimate, Resampling
from calibrant.metrics.kinds import Own, YProb
from calibrant.sums.draws import Rng, as_rng

# The convex hull of points of the ROC surface and the origin, exactly: its facets, its volume and what moves it


MOST_CLASSES = 5
"""The hull is built of no more: the number of its facets grows with the power of half the number of classes."""

THROUGH_ORIGIN = 1e-12
"""A facet nearer to the origin adds no volume."""


@dataclass(frozen=True, eq=False)
class Hull:
    """Facets of a hull that do not go through the origin, each with K points; the volume is that of cones over them.

    Attributes
    ----------
    points : ndarray of shape (m, K)
        The points without the origin.
    facets : ndarray of shape (f, K)
        Numbers of the points of each facet.
    normals : ndarray of shape (f, K)
        Directions outward, of length one.
    """

    points: FloatArray
    facets: IntArray
    normals: FloatArray

    @classmethod
    def of(cls, points: FloatArray) -> Hull:
        """Build the hull of points of a surface; the K corners, each class told alone, are among them."""
        n_classes = points.shape[1]
        # The corners and the origin make a body of full dimension: there are no flat hulls.
        first = np.unique(points, axis=0, return_index=True)[1]
        found = ConvexHull(np.concatenate([points[first], np.zeros((1, n_classes))]))
        outer = found.equations[:, -1] < -THROUGH_ORIGIN
        outer &= (found.simplices < first.size).all(axis=1)
        return cls(points, first[found.simplices[outer]], found.equations[outer, :-1])

    @cached_property
    def parts(self) -> FloatArray:
        """Volume of the cone over each facet."""
        return np.asarray(np.abs(np.linalg.det(self.points[self.facets])) / factorial(self.points.shape[1]))

    @property
    def volume(self) -> float:
        """Volume of the hull, in [1 / K!, 1]."""
        return min(float(self.parts.sum()), 1.0)

    def volume_at(self, points: FloatArray) -> float:
        """Volume within the same facets if their points lay elsewhere; cones that turned over count as negative."""
        there = np.sign(np.linalg.det(self.points[self.facets])) * np.linalg.det(points[self.facets])
        return float(there.sum()) / factorial(points.shape[1])

    @cached_property
    def pull(self) -> FloatArray:
        """By how much the volume grows with each part of each point, shape (m, K)."""
        total = np.zeros_like(self.points)
        solid = self.parts > 0
        corners = self.points[self.facets[solid]]
        # The gradient of a determinant is the determinant times the transposed inverse.
        change = self.parts[solid, None, None] * np.linalg.inv(corners).transpose(0, 2, 1)
        np.add.at(total, self.facets[solid], change)
        return total


# Points of the ROC surface: how much of each class a threshold gamma puts on its own side (Berta, Bach, Jordan 2024)


FAR = 4.0
"""A threshold so far beyond the simplex parts no rows any more."""

GRIDS = {2: (1000, 1), 3: (100, 51), 4: (30, 15)}
"""Steps of the grids of the paper's figures, and how many of them reach beyond the simplex on each side."""

MOST_ON_GRID = 10_000_000
"""Combinations of steps that a grid is made of, at most."""

AT_ONCE = 60_000_000
"""Comparisons that a kernel makes before it returns: within a second, so that it can be interrupted."""


@dataclass(frozen=True, eq=False)
class SurfaceRows:
    """Rows with equal ones joined, in a fixed order: results depend on neither the order of rows nor their repetition.

    Attributes
    ----------
    prob : ndarray of shape (n, K)
        Forecasts.
    label : ndarray of shape (n,)
        True classes.
    weight : ndarray of shape (n,)
        Weights of equal rows, added up.
    variance_weight : ndarray of shape (n,)
        Weights of their variance, added up: the weights themselves where they are numbers of rows, else their squares.
    """

    prob: FloatArray
    label: IntArray
    weight: FloatArray
    variance_weight: FloatArray

    @classmethod
    def of(cls, problem: SimplexProblem) -> SurfaceRows:
        """Join the rows of a problem."""
        weight, squares = problem.weight, problem.weights.of_variance
        # Equal rows are sorted by their weights, so that the sums do not depend on the order either.
        order = np.lexsort([weight, *problem.prob.T[::-1], problem.label])
        prob, label = problem.prob[order], problem.label[order]
        new = np.append(True, (prob[1:] != prob[:-1]).any(axis=1) | (label[1:] != label[:-1]))
        starts = np.flatnonzero(new)
        return cls(
            np.ascontiguousarray(prob[starts]),
            label[starts].astype(np.int64),
            np.add.reduceat(weight[order], starts),
            np.add.reduceat(squares[order], starts),
        )

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.prob.shape[1])

    @property
    def class_weight(self) -> FloatArray:
        """Weight of each class, shape (K,)."""
        return np.bincount(self.label, self.weight, self.n_classes).astype(np.float64, copy=False)

    @property
    def share(self) -> FloatArray:
        """Weight of each row over that of its class, shape (n,)."""
        return self.weight / self.class_weight[self.label]

    @property
    def has_all_classes(self) -> bool:
        """Whether each class occurs: one that does not has no share on its side."""
        return bool((self.class_weight > 0).all())

    def at(self, kept: BoolArray | IntArray) -> SurfaceRows:
        """Return some of the rows."""
        return SurfaceRows(self.prob[kept], self.label[kept], self.weight[kept], self.variance_weight[kept])


def warn_of_absent(rows: SurfaceRows, what: str) -> None:
    """Warn that a class never occurs."""
    absent = np.flatnonzero(rows.class_weight == 0).tolist()
    warn(
        f"{what} must have rows of each class; got none of the columns {absent}, and it is set to nan. "
        "Pass such rows, or the other columns alone with rows='normalize'."
    )


def surface_points(rows: SurfaceRows, gamma: FloatArray) -> FloatArray:
    """Return the point of each threshold, shape (m, K); each class must occur."""
    from calibrant._kernels.roc_surface import weights_on_own_side

    points = np.empty(gamma.shape)
    if rows.n_classes == 2:
        return _binary_points(rows, gamma[:, 1])
    gamma = np.ascontiguousarray(gamma)
    for part in in_parts(len(gamma), rows.prob.size):
        weights_on_own_side(rows.prob, rows.label, rows.weight, gamma[part], points[part])
    points /= rows.class_weight
    np.minimum(points, 1.0, out=points)
    return points


def _binary_points(rows: SurfaceRows, threshold: FloatArray) -> FloatArray:
    """Return the points of two classes: the second is told where its probability is above the threshold."""
    points = np.empty((threshold.size, 2))
    for k in (0, 1):
        own = rows.at(rows.label == k)
        order = np.argsort(own.prob[:, 1], kind="stable")
        below = np.append(0.0, np.cumsum(own.weight[order])) / own.weight.sum()
        points[:, k] = below[np.searchsorted(own.prob[order, 1], threshold, side="right")]
    points[:, 1] = 1.0 - points[:, 1]
    np.clip(points, 0.0, 1.0, out=points)
    return points


def own_side_sums(rows: SurfaceRows, gamma: FloatArray, pull: FloatArray) -> FloatArray:
    """Return for each row the sum of the pulls of its class over the thresholds that put it on its side, shape (n,)."""
    from calibrant._kernels.roc_surface import sums_on_own_side

    total = np.zeros(rows.label.size)
    if rows.n_classes == 2:
        for g, parts in zip(gamma, pull, strict=True):
            told = (rows.prob[:, 1] > g[1]).astype(np.intp)
            total += np.where(told == rows.label, parts[rows.label], 0.0)
        return total
    gamma, pull = np.ascontiguousarray(gamma), np.ascontiguousarray(pull)
    for part in in_parts(rows.label.size, gamma.size):
        sums_on_own_side(rows.prob[part], rows.label[part], gamma, pull, total[part])
    return total


def in_parts(n: int, cost: int) -> Iterator[slice]:
    """Cut n steps of so many comparisons each into parts after which a kernel returns."""
    size = max(1, AT_ONCE // max(1, cost))
    return (slice(start, start + size) for start in range(0, n, size))


def grid_thresholds(n_classes: int, steps: int | None = None) -> FloatArray:
    """Return the points of a grid of step 1 / steps on the plane of sum one, also beyond the simplex.

    The usual ones are the grids of the paper's figures, which are known for two to four classes; of another number of steps
    half of it and one reach beyond, so that each class can be told alone.
    """
    usual = GRIDS.get(n_classes, (10, 5))
    steps = usual[0] if steps is None else steps
    beyond = usual[1] if steps == usual[0] else steps // 2 + 1
    if (size := (steps + 2 * beyond + 1) ** (n_classes - 1)) > MOST_ON_GRID:
        must = f"thresholds must make a grid of at most {MOST_ON_GRID} combinations of steps"
        hint = 'Pass fewer, or "data" for thresholds that the rows give'
        refuse(must, got=f"{steps} steps for {n_classes} classes, which make {size:.3g}", hint=hint)
    whole = np.arange(-beyond, steps + beyond + 1)
    free = np.stack(np.meshgrid(*[whole] * (n_classes - 1), indexing="ij"), axis=-1).reshape(-1, n_classes - 1)
    last = steps - free.sum(axis=1)
    inside = (last >= -beyond) & (last <= steps + beyond)
    return np.asarray(np.column_stack([free, last])[inside] / steps)


def corner_thresholds(n_classes: int) -> FloatArray:
    """Return a threshold for each class that puts every row on its side, shape (K, K)."""
    return of_sum_one(np.full((n_classes, n_classes), FAR) - 2.0 * FAR * np.eye(n_classes))


def of_sum_one(gamma: FloatArray) -> FloatArray:
    """Return the same thresholds on the plane of sum one: only differences of their parts matter."""
    return np.asarray(gamma + (1.0 - gamma.sum(axis=1, keepdims=True)) / gamma.shape[1])


# Corners of the cells of thresholds in which no row changes its side


Tree = list[tuple[int, int]]


def _pairs(n_classes: int) -> Iterator[tuple[int, int]]:
    return ((a, b) for b in range(n_classes) for a in range(b))


def _between(rows: SurfaceRows, a: int, b: int) -> FloatArray:
    """Return where rows change between two sides: the distinct differences of rows of the two classes."""
    own = (rows.label == a) | (rows.label == b)
    return np.unique(rows.prob[own, a] - rows.prob[own, b])


def differences(rows: SurfaceRows) -> list[FloatArray]:
    """Return where rows change between two sides, of each pair of classes."""
    return [_between(rows, a, b) for a, b in _pairs(rows.n_classes)]


def number_of_corners(n_classes: int, choices: Sequence[FloatArray], most: int) -> int:
    """Return how many corners there are, or some number above the most."""
    if min(c.size for c in choices) ** (n_classes - 1) > most:
        return most + 1
    size = dict(zip(_pairs(n_classes), (2 * c.size for c in choices), strict=True))
    return sum(prod(size[min(e), max(e)] for e in tree) for tree in trees(n_classes))


def trees(n_classes: int) -> Iterator[Tree]:
    """Return all trees of the classes (Prüfer 1918)."""
    return map(_tree, product(range(n_classes), repeat=n_classes - 2))


def _tree(code: Sequence[int]) -> Tree:
    """Return the edges of the tree of a Prüfer code."""
    left, edges, leaves = list(code), [], set(range(len(code) + 2))
    for at in code:
        leaf = min(leaves - set(left))
        edges.append((leaf, at))
        leaves.remove(leaf)
        left.pop(0)
    a, b = sorted(leaves)
    return [*edges, (a, b)]


def all_corners(rows: SurfaceRows) -> FloatArray:
    """Return the corners of all cells, a little to each side, shape (m, K)."""
    return np.concatenate(
        [
            _gamma(tree, np.stack(np.meshgrid(*_values(tree, rows), indexing="ij"), axis=-1))
            for tree in trees(rows.n_classes)
        ]
    )


def _values(tree: Tree, rows: SurfaceRows) -> list[FloatArray]:
    return [_beside(_between(rows, a, b), number) for number, (a, b) in enumerate(tree)]


def some_corners(rows: SurfaceRows, n: int, rng: np.random.Generator) -> FloatArray:
    """Draw corners: a tree, and for each of its edges a difference of a row."""
    n_free, n_all = rows.n_classes - 2, rows.n_classes ** (rows.n_classes - 2)
    n_trees = min(n, n_all, 60)
    codes = rng.integers(0, rows.n_classes, (n_trees, n_free))
    if n_trees == n_all:
        codes = np.array(list(product(range(rows.n_classes), repeat=n_free)))
    parts, sizes = [], np.diff(np.linspace(0, n, n_trees + 1).astype(int)).tolist()
    for tree, size in zip(map(_tree, codes.tolist()), sizes, strict=True):
        parts.append(_gamma(tree, np.column_stack([rng.choice(v, size) for v in _values(tree, rows)])))
    return np.concatenate(parts)


def _beside(differences: FloatArray, number: int) -> FloatArray:
    """Return a little less and a little more; on no edge as much as on others together, so that these cancel nowhere."""
    from calibrant._kernels.roc_surface import NEAREST

    little = NEAREST * 2.0 ** (number + 2)
    return np.concatenate([differences - little, differences + little])


def _gamma(tree: Tree, table: FloatArray) -> FloatArray:
    """Return the thresholds, of sum one, whose differences along the edges of a tree are given, shape (m, K - 1)."""
    n_classes = len(tree) + 1
    incidence, table = np.zeros((n_classes, n_classes)), table.reshape(-1, len(tree))
    for number, (a, b) in enumerate(tree):
        incidence[number, [a, b]] = 1.0, -1.0
    incidence[-1] = 1.0
    # The inverse of such a matrix holds multiples of 1 / K: no accuracy is lost.
    sides = np.column_stack([table, np.ones(len(table))])
    return np.ascontiguousarray(sides @ np.linalg.inv(incidence).T)


# Thresholds of the ROC surface that the rows themselves give, a grid, or those that were asked for


MOST_ROWS = 1000
"""Rows of each class on which thresholds are moved; the result is measured on all rows."""

MOST_ROUNDS = 20
"""Rounds in which each part of a threshold is moved; few need more than five."""

SMALL_GAIN = 1e-4
"""A round that makes the hull larger by a smaller part is the last."""

SEED = 0
"""What is drawn is drawn from the rows in their own order, the same each time."""


def require_thresholds(thresholds: object) -> int | None:
    """Refuse what is no word, no number of steps and no array; return the steps, if it is a number of them."""
    if isinstance(thresholds, str):
        choice("thresholds", thresholds, ["data"])
    elif getattr(thresholds, "ndim", int(isinstance(thresholds, Sized))) == 0:  # no array, and no table of a length
        return whole("thresholds", thresholds, least=1, hint='Pass "data", steps of a grid such as 100, or an array')
    return None


def as_thresholds(thresholds: str | int | ArrayLike, n_thresholds: int, rows: SurfaceRows) -> FloatArray:
    """Return the thresholds that were asked for, and those of the corners of the surface."""
    n_classes, steps = rows.n_classes, require_thresholds(thresholds)
    if is_word(thresholds, "data"):
        found = data_thresholds(rows, n_thresholds)
    elif steps is not None:
        found = grid_thresholds(n_classes, steps)
    else:
        gamma = np.ascontiguousarray(as_numbers("thresholds", thresholds))
        must = f"thresholds must have a column for each of the {n_classes} classes"
        fits = gamma.shape[1:] == (n_classes,)
        require(fits, must, got=f"shape {gamma.shape}", hint="Pass one gamma a row, which sums to one")
        found = of_sum_one(gamma)
    return np.concatenate([corner_thresholds(n_classes), found])


def warn_of_many(rows: SurfaceRows) -> None:
    """Say that no hull is built of so many classes."""
    warn(
        f"a volume of the hull of the ROC surface must be of at most {MOST_CLASSES} classes; got {rows.n_classes}, and it is "
        'set to nan. Call volume_under_surface_score with method="probability", or hand_till_score.'
    )


def data_thresholds(rows: SurfaceRows, most: int) -> FloatArray:
    """Return at most so many thresholds of the rows; of two classes all that matter, however many."""
    if rows.n_classes == 2:
        score = np.unique(rows.prob[:, 1])
        return np.column_stack([1.0 - score, score])
    must = f'thresholds "data" must be of at most {MOST_CLASSES} classes'
    hint = "Pass thresholds themselves, or take some of the classes, with rows='normalize'"
    require(rows.n_classes <= MOST_CLASSES, must, value=rows.n_classes, hint=hint)
    if number_of_corners(rows.n_classes, differences(rows), most) <= most:
        return all_corners(rows)
    gamma = some_corners(rows, max(most // 2, 1), np.random.default_rng(SEED))
    return _moved_outward(rows, gamma, most)


# From drawn corners outward


def _moved_outward(rows: SurfaceRows, gamma: FloatArray, most: int) -> FloatArray:
    """Add thresholds whose points lie beyond the facets of the hull, until there are so many or none is found."""
    from calibrant._kernels.roc_surface import NEAREST, climb

    sample = _sample(rows)
    gamma = np.concatenate([corner_thresholds(rows.n_classes), gamma])
    points, volume = surface_points(sample, gamma), 0.0
    while (room := most + rows.n_classes - len(gamma)) > 0:
        directions, start = _directions(points, room)
        moved = gamma[start]
        # A round compares and sorts all rows for each class.
        for part in in_parts(len(moved), 5 * sample.prob.size * (rows.n_classes + 40)):
            climb(sample.prob, sample.label, sample.share, directions[part], moved[part], MOST_ROUNDS)
        found = surface_points(sample, moved)
        beyond = (directions * (found - points[start])).sum(axis=1) > NEAREST
        gamma, points = np.concatenate([gamma, moved[beyond]]), np.concatenate([points, found[beyond]])
        before, volume = volume, Hull.of(points).volume
        if volume < before * (1.0 + SMALL_GAIN):
            break
    return of_sum_one(gamma[rows.n_classes :])


def _directions(points: FloatArray, room: int) -> tuple[FloatArray, IntArray]:
    """Return directions outward of the largest facets, and the number of the point that lies farthest in each."""
    hull = Hull.of(points)
    directions = np.maximum(hull.normals, 0.0)[np.argsort(-hull.parts, kind="stable")][:room]
    return directions, np.asarray((directions @ points.T).argmax(axis=1), dtype=np.intp)


def _sample(rows: SurfaceRows) -> SurfaceRows:
    """Return rows of each class at even places of their order, not too many."""
    each = (np.flatnonzero(rows.label == k) for k in range(rows.n_classes))
    kept = [own[np.linspace(0, own.size - 1, min(own.size, MOST_ROWS)).astype(int)] for own in each]
    return rows.at(np.concatenate(kept))


def influence(rows: SurfaceRows, gamma: FloatArray, pull: FloatArray) -> FloatArray:
    """Return what each row adds to the volume of which its class's share in each point is a part, shape (n,).

    The thresholds are those that are best, so that to first order the volume moves with the points alone. Each row of class k
    adds the pulls of the points on whose side k it lies; a class's mean of that is the volume itself, as it grows with the
    part of each class.
    """
    moved = np.flatnonzero((pull != 0.0).any(axis=1))
    return own_side_sums(rows, gamma[moved], pull[moved])


# Tuples of one row of each class, and how often some threshold puts every row of a tuple on its own side


MOST_TUPLES = 300_000
"""Up to so many tuples all of them are taken: less than a second."""

N_DRAWS = 100_000
"""Tuples that are drawn where there are more."""

MOST_TIED = 12
"""Tied assignments of so many classes are counted; beyond it they are as good as innumerable."""


def sorted_right(rows: SurfaceRows, rng: np.random.Generator) -> float:
    """Return the probability that a tuple of rows, one of each class, is sorted right."""
    if rows.n_classes == 2:
        return _pairs_in_order(rows)
    own = [np.flatnonzero(rows.label == k) for k in range(rows.n_classes)]
    if prod(o.size for o in own) <= MOST_TUPLES:
        tuples = _all_tuples(own)
        return min(float(_shares(rows, tuples) @ rows.share[tuples].prod(axis=1)), 1.0)
    return float(_shares(rows, np.column_stack([_drawn(rows.weight[o], N_DRAWS, rng, o) for o in own])).mean())


def _all_tuples(own: list[IntArray]) -> IntArray:
    # NumPy's grids end at 32 classes.
    number, columns = np.arange(prod(o.size for o in own)), []
    for rows in own:
        number, place = np.divmod(number, rows.size)
        columns.append(rows[place])
    return np.column_stack(columns)


def _shares(rows: SurfaceRows, tuples: IntArray) -> FloatArray:
    from calibrant._kernels.roc_surface import share_sorted_right

    share = np.empty(len(tuples))
    tuples = np.ascontiguousarray(tuples, dtype=np.int64)
    for part in in_parts(len(tuples), rows.n_classes**3):
        share_sorted_right(rows.prob, tuples[part], MOST_TIED, share[part])
    return share


def _drawn(weight: FloatArray, n: int, rng: np.random.Generator, rows: IntArray) -> IntArray:
    """Draw rows of a class by their weights: a weight is so many equal rows."""
    upto = np.cumsum(weight)
    return np.asarray(rows[np.searchsorted(upto[:-1], rng.random(n) * upto[-1], side="right")])


def _pairs_in_order(rows: SurfaceRows) -> float:
    """Return the share of pairs whose row of the second class has the higher score; equal scores count half (AUC)."""
    score, occurred = rows.prob[:, 1], rows.label == 1
    order = np.argsort(score[~occurred], kind="stable")
    below = np.append(0.0, np.cumsum(rows.weight[~occurred][order]))
    ordered = score[~occurred][order]
    less, upto = (below[np.searchsorted(ordered, score[occurred], side)] for side in ("left", "right"))
    return float(rows.weight[occurred] @ (less + upto)) / (2.0 * float(below[-1]) * float(rows.weight[occurred].sum()))


METHODS = ("hull", "probability")

N_THRESHOLDS = 2000
FOLDS = 5
"""Parts of the rows on which the thresholds of the others are measured."""


def volume_estimate(problem: Problem, resampling: Resampling) -> Estimate:
    """Estimate the volume of the hull of the surface."""
    rows = SurfaceRows.of(as_simplex(problem))
    if not rows.has_all_classes:
        warn_of_absent(rows, "a volume under the ROC surface")
        return Estimate(float("nan"), float("nan"), float("nan"))
    if rows.n_classes > MOST_CLASSES:
        warn_of_many(rows)
        return Estimate(float("nan"), float("nan"), float("nan"))
    gamma = as_thresholds("data", N_THRESHOLDS, rows)
    hull = Hull.of(surface_points(rows, gamma))
    least = float(np.fmin(hull.volume, _volume_elsewhere(rows, resampling.rng)))
    z = float(-ndtri(resampling.level / 2.0))
    error = z * float(np.sqrt(_variance(rows, gamma, hull.pull, z)))
    return Estimate(hull.volume, max(least - error, 0.0), min(hull.volume + error, 1.0))


@Own(
    "vus",
    "VUS",
    "Ferri, Hernández-Orallo, Salido 2003; Berta, Bach, Jordan 2024",
    higher_is_better=True,
    estimator=volume_estimate,
    may_be_undefined=True,
    fits_noise=True,
).declare
def volume_under_surface_score(
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    method: str = "hull",
    thresholds: str | int | ArrayLike = "data",
    n_thresholds: int = 2000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> float:
    """Volume under the ROC surface of K classes (VUS), in [0, 1]; 1 / K! is chance, 1 separates all classes.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    method : {"hull", "probability"}, default="hull"
        "hull": the volume of the convex hull of points of the surface and the origin, of up to five classes. "probability":
        how often a threshold sorts one row of each class right, by all such tuples or by 100 000 drawn ones, for any number
        of classes.
    thresholds : "data", int or array-like of shape (m, n_classes), default="data"
        For the hull: thresholds that the rows give, see `roc_surface`; a number m: a grid of step 1 / m; or thresholds
        themselves, each of sum one. Those that tell each class alone are always added.
    n_thresholds : int, default=2000
        Most thresholds of "data".
    rng : numpy.random.Generator, int or None, default=0
        Source of the tuples that are drawn.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The volume.

    Raises
    ------
    ValueError
        If a parameter is out of range, or a grid holds too many thresholds.

    Warns
    -----
    CalibrationWarning
        If some class never occurs, or a hull is asked for of more than five classes: the volume is NaN.

    See Also
    --------
    roc_surface : The surface itself.
    area_under_roc_hull_score : Of two classes the same as "hull".
    hand_till_score : Mean of the areas of all pairs of classes; of two classes the same as "probability".

    Notes
    -----
    A threshold gamma of sum one tells row p the class k where p_k - gamma_k is largest. The point of gamma on the surface
    is the recall of each class.

    The hull is that of the surface and the origin: what decisions drawn between thresholds reach. It is in [1 / K!, 1]: 1 /
    K! if all forecasts are equal, 1 if some threshold tells all rows right.

    The probability is that of a tuple with one row of each class to have a threshold that tells all of it right, where the
    right assignment of its rows to the classes has the largest sum of probabilities; of m equally good ones it gets a part
    1 / m. It is 1 / K! of equal forecasts, 1 where the hull is, and below 1 / K! for a forecast that is worse than none.

    Where no tuple has equally good assignments, the probability is the volume of all that lies below some point of the
    surface: of the boxes from the origin to its points. The hull holds these, so that with all thresholds it is never
    smaller.

    Of two classes the probability is the area under the ROC curve, and the hull that under the curve's hull: they agree
    where the curve is concave, as after isotonic regression. Of more classes the surface of a calibrated forecast need not
    be concave, as thresholds are subtracted, and ties add to the difference: on three cells of forecasts the hull can have
    0.459 and the probability be 0.286.

    The hull is found from within, so that more thresholds only make it larger, and with many rows the default is too small.
    Of 30 000 rows, calibrated and spread over the simplex (Dirichlet, 1/2), it was 0.737, 0.516 and 0.336 for three to
    five classes, and the probability 0.738, 0.523 and 0.352. Four times the thresholds gave 0.520 of four classes and 0.345
    of five. The interval of `assess` knows nothing of thresholds that are missing. So of four classes and more with
    thousands of rows prefer the probability.

    On the rows at hand the hull is biased upward, as the thresholds were found on them; the probability is not. `assess`
    gives an interval of the hull to first order (infinitesimal jackknife), whose lower end starts from thresholds of held-out
    rows. Forecasts enter by their differences: what is nearer than 1e-12 is equal,
    but of two classes every difference counts.

    References
    ----------
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.
    Ferri, Hernández-Orallo, Salido, Volume under the ROC surface for multi-class problems, ECML 2003.

    Examples
    --------
    >>> from calibrant.metrics import volume_under_surface_score
    >>> P = [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.4, 0.4, 0.2], [0.1, 0.3, 0.6], [0.3, 0.5, 0.2]]
    >>> y = [0, 0, 1, 1, 2, 2]
    >>> round(volume_under_surface_score(y, P), 4)
    0.875
    >>> round(volume_under_surface_score(y, P, method="probability"), 4)
    0.75
    """
    choice("method", method, METHODS)
    whole("n_thresholds", n_thresholds, least=1, hint="2000 is usual")
    require_thresholds(thresholds)
    source = as_rng(rng)
    rows = SurfaceRows.of(as_simplex(as_problem(y_true, y_prob, **data)))
    if not rows.has_all_classes:
        warn_of_absent(rows, "a volume under the ROC surface")
        return float("nan")
    if method == "probability":
        return sorted_right(rows, source)
    if rows.n_classes > MOST_CLASSES:
        warn_of_many(rows)
        return float("nan")
    return Hull.of(surface_points(rows, as_thresholds(thresholds, n_thresholds, rows))).volume


# The interval


def _variance(rows: SurfaceRows, gamma: FloatArray, pull: FloatArray, z: float) -> float:
    """Add up the variances that the classes bring in, each the mean of what its rows add."""
    added, highest, extra = influence(rows, gamma, pull), pull.sum(axis=0), z**2 / 2.0
    total = 0.0
    for k in range(rows.n_classes):
        own = rows.label == k
        weight, squares = rows.weight[own], rows.variance_weight[own]
        n = weight.sum() ** 2 / squares.sum()
        mean = (n * np.average(added[own], weights=weight) + extra * highest[k]) / (n + 2.0 * extra)
        spread = squares @ (added[own] - mean) ** 2 * n / squares.sum()
        total += (spread + extra * ((highest[k] - mean) ** 2 + mean**2)) / (n + 2.0 * extra) ** 2
    return float(total)


def _volume_elsewhere(rows: SurfaceRows, rng: np.random.Generator) -> float:
    """Return the mean volume of parts of the rows, within the facets that are best on the others; NaN if there is none."""
    found = []
    for part, others in _parts(rows, rng):
        if part.has_all_classes and others.has_all_classes:
            gamma = as_thresholds("data", N_THRESHOLDS, others)
            found.append(Hull.of(surface_points(others, gamma)).volume_at(surface_points(part, gamma)))
    return float(np.mean(found)) if found else float("nan")


def _parts(rows: SurfaceRows, rng: np.random.Generator) -> Iterator[tuple[SurfaceRows, SurfaceRows]]:
    """Deal the rows out, each of equal ones by itself where weights count them; yield each part and the rest."""
    counts = Weights(rows.weight).are_counts
    left = rows.weight.astype(np.int64) if counts else np.ones(rows.weight.size, dtype=np.int64)
    for fold in range(FOLDS):
        dealt = rng.binomial(left, 1.0 / (FOLDS - fold))
        inside: FloatArray = dealt.astype(np.float64) if counts else dealt * rows.weight
        yield _with_weight(rows, inside), _with_weight(rows, rows.weight - inside)
        left -= dealt


def _with_weight(rows: SurfaceRows, weight: FloatArray) -> SurfaceRows:
    kept = weight > 0
    return replace(rows.at(kept), weight=weight[kept])
