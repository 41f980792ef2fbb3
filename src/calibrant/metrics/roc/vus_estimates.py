"""How sure a volume under the ROC surface is.

The volume moves with the points of the surface, and these are means over rows: to first order each row adds what its
class's share in each point is worth (infinitesimal jackknife), and the squares of that add up to a variance. As in the
interval of Agresti and Coull, each class gets z^2 / 2 rows more that lie on the right side of every threshold, and as many
that lie on the wrong one: so rows that are all told apart are no certainty.

Thresholds that are best on the rows at hand make the volume too large on average. Those of some rows, with the facets between
their points, measured on other rows, do not: a determinant multiplies one share of each class, and classes are independent,
so that its mean is the volume within these facets at the true points. The true hull holds them: their volume is at most its
own where no cones over them overlap, as never of two classes; of more that is not proven. The lower end is counted from the
less of the two, the upper end from the volume itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray, Problem, are_counts, as_simplex
from calibrant.metrics.roc.hull import MOST_CLASSES, Hull
from calibrant.metrics.roc.surface import SurfaceRows, surface_points, warn_of_absent
from calibrant.metrics.roc.thresholds import MOST_SEARCHED, as_thresholds, warn_of_many
from calibrant.metrics.roc.volume import Rays, influence
from calibrant.metrics.uncertainty import Estimate, Resampling
from calibrant.sums.resampling import as_rng

N_THRESHOLDS = 2000
N_DRAWS = 500
FOLDS = 5
"""Parts of the rows on which the thresholds of the others are measured."""

MOST_DEALT = 1e9
"""So many rows of a class are not dealt out any more: NumPy draws from fewer."""


def volume_estimate(problem: Problem, resampling: Resampling) -> Estimate:
    """Estimate the volume of the hull of the surface."""
    rows = SurfaceRows.of(as_simplex(problem))
    if not rows.has_all_classes:
        warn_of_absent(rows, "a volume under the ROC surface")
        return Estimate(float("nan"), float("nan"), float("nan"))
    if rows.n_classes > MOST_SEARCHED:
        warn_of_many(rows)
        return Estimate(float("nan"), float("nan"), float("nan"))
    gamma = as_thresholds("data", N_THRESHOLDS, rows)
    points = surface_points(rows, gamma)
    if rows.n_classes <= MOST_CLASSES:
        hull = Hull.of(points)
        value, pull, drawing = hull.volume, hull.pull, 0.0
        least = float(np.fmin(value, _volume_elsewhere(rows, resampling.rng)))
    else:
        # The rays of the metric itself, so that the interval is one of its value.
        rays = Rays.through(points, N_DRAWS, as_rng(0))
        value, pull, drawing = rays.volume, rays.pull, rays.standard_error
        least = value
    z = float(-ndtri(resampling.level / 2.0))
    error = z * float(np.sqrt(_variance(rows, gamma, pull, z) + drawing**2))
    return Estimate(value, max(least - error, 0.0), min(value + error, 1.0))


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
    if rows.class_weight.max() >= MOST_DEALT:
        return float("nan")
    found = []
    for part, others in _parts(rows, rng):
        if part.has_all_classes and others.has_all_classes:
            gamma = as_thresholds("data", N_THRESHOLDS, others)
            hull = Hull.of(surface_points(others, gamma))
            found.append(hull.volume_at(surface_points(part, gamma)))
    return float(np.mean(found)) if found else float("nan")


def _parts(rows: SurfaceRows, rng: np.random.Generator) -> Iterator[tuple[SurfaceRows, SurfaceRows]]:
    """Deal the rows of each class out evenly; yield each part and the rest.

    Where weights are numbers of rows each of equal rows is dealt by itself.
    """
    weight = np.zeros((FOLDS, rows.label.size))
    for k in range(rows.n_classes):
        own = np.flatnonzero(rows.label == k)
        if are_counts(rows.weight):
            weight[:, own] = _dealt(rows.weight[own].astype(np.int64), rng)
        else:
            mixed = rng.permutation(own)
            weight[np.arange(own.size) % FOLDS, mixed] = rows.weight[mixed]
    for inside in weight:
        yield _with_weight(rows, inside), _with_weight(rows, rows.weight - inside)


def _dealt(count: IntArray, rng: np.random.Generator) -> IntArray:
    """Deal so many equal rows of each kind out, evenly; shape (FOLDS, n_kinds)."""
    left, total, hands = count.copy(), int(count.sum()), []
    for fold in range(FOLDS):
        size = (total - fold + FOLDS - 1) // FOLDS
        hands.append(rng.multivariate_hypergeometric(left, size, method="marginals"))
        left -= hands[-1]
    return np.array(hands)


def _with_weight(rows: SurfaceRows, weight: FloatArray) -> SurfaceRows:
    kept = weight > 0
    return replace(rows.at(kept), weight=weight[kept])
