"""Thresholds of the ROC surface that the rows themselves give, a grid, or those that were asked for.

All corners of cells in which no row changes its side are taken where they fit the budget. Else a part of them is drawn, and
the points of the convex hull are moved outward from there, each in the direction of a facet.

Rows themselves and the middles of two rows, as thresholds, find much less (figures with `roc_surface`).
"""

from __future__ import annotations

from collections.abc import Sized
from itertools import product

import numpy as np
import numpy.typing as npt

from calibrant._core.finite_numbers import as_numbers
from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, require, whole
from calibrant._core.problem import IntArray
from calibrant._core.warnings import warn
from calibrant.metrics.roc.corners import all_corners, differences, number_of_corners, some_corners
from calibrant.metrics.roc.hull import MOST_CLASSES, Hull
from calibrant.metrics.roc.surface import (
    FAR,
    SurfaceRows,
    corner_thresholds,
    grid_thresholds,
    in_parts,
    of_sum_one,
    surface_points,
)

MOST_SEARCHED = 8
"""Thresholds are sought up to so many classes: of ten, two thousand of them enclosed half of what is known to be there."""

MOST_ROWS = 1000
"""Rows of each class on which thresholds are moved; the result is measured on all rows."""

MOST_ROUNDS = 20
"""Rounds in which each part of a threshold is moved; few need more than five."""

SMALL_GAIN = 1e-4
"""A round that makes the hull larger by a smaller part is the last."""

SEED = 0
"""What is drawn is drawn from the rows in their own order, the same each time."""


def is_grid(thresholds: object) -> bool:
    """Whether thresholds that are no word are a number of steps, and no array or table of a length."""
    return getattr(thresholds, "ndim", int(isinstance(thresholds, Sized))) == 0


def as_thresholds(thresholds: str | int | npt.ArrayLike, n_thresholds: int, rows: SurfaceRows) -> FloatArray:
    """Return the thresholds that were asked for, and those of the corners of the surface."""
    if isinstance(thresholds, str):
        choice("thresholds", thresholds, ["data"])
        found = data_thresholds(rows, n_thresholds)
    elif is_grid(thresholds):
        found = grid_thresholds(rows.n_classes, _steps(thresholds))
    else:
        found = _given(thresholds, rows.n_classes)
    return np.concatenate([corner_thresholds(rows.n_classes), found])


def warn_of_many(rows: SurfaceRows) -> None:
    """Say that no thresholds are sought for so many classes."""
    warn(
        f"a volume of the hull of the ROC surface must be of at most {MOST_SEARCHED} classes; got {rows.n_classes}, and it is "
        'set to nan. Call volume_under_surface_score with method="probability", or hand_till_score.'
    )


def data_thresholds(rows: SurfaceRows, most: int) -> FloatArray:
    """Return at most so many thresholds of the rows; of two classes all that matter, however many."""
    if rows.n_classes == 2:
        score = np.unique(rows.prob[:, 1])
        return np.column_stack([1.0 - score, score])
    require(
        rows.n_classes <= MOST_SEARCHED,
        f'thresholds "data" must be of at most {MOST_SEARCHED} classes',
        value=rows.n_classes,
        hint="Pass thresholds themselves, or take some of the classes, with rows='normalize'",
    )
    if number_of_corners(rows.n_classes, differences(rows), most) <= most:
        return all_corners(rows)
    gamma = some_corners(rows, max(most // 2, 1), np.random.default_rng(SEED))
    if rows.n_classes > MOST_CLASSES and 2**rows.n_classes <= most // 2:
        gamma = np.concatenate([gamma, _of_some_classes(rows)])
    return _moved_outward(rows, gamma, most)


# From drawn corners outward


def _of_some_classes(rows: SurfaceRows) -> FloatArray:
    """Return a threshold that tells much right, with the sides of none and of some classes emptied: shape (2^K - 1, K).

    Of many classes no direction that is drawn leads there, and the hull needs them, as it holds what lies below its points.
    """
    from calibrant._kernels.roc_surface import climb

    n_classes, sample = rows.n_classes, _sample(rows)
    best = np.full((1, n_classes), 1.0 / n_classes)
    climb(sample.prob, sample.label, sample.share, np.ones((1, n_classes)), best, MOST_ROUNDS)
    emptied = np.array(list(product([0.0, 2.0 * FAR], repeat=n_classes)))[:-1]
    return of_sum_one(best + emptied)


def _moved_outward(rows: SurfaceRows, gamma: FloatArray, most: int) -> FloatArray:
    """Add thresholds whose points lie beyond the facets of the hull, until there are so many or none is found."""
    from calibrant._kernels.roc_surface import NEAREST, climb

    sample = _sample(rows)
    gamma = np.concatenate([corner_thresholds(rows.n_classes), gamma])
    points, volume = surface_points(sample, gamma), 0.0
    for number in range(most):
        room = most + rows.n_classes - len(gamma)
        directions, start = _directions(points, room, number)
        if room <= 0 or len(directions) == 0:
            break
        moved = gamma[start]
        # A round compares and sorts all rows for each class.
        for part in in_parts(len(moved), 5 * sample.prob.size * (rows.n_classes + 40)):
            climb(sample.prob, sample.label, sample.share, directions[part], moved[part], MOST_ROUNDS)
        found = surface_points(sample, moved)
        beyond = (directions * (found - points[start])).sum(axis=1) > NEAREST
        gamma, points = np.concatenate([gamma, moved[beyond]]), np.concatenate([points, found[beyond]])
        if not beyond.any() or rows.n_classes > MOST_CLASSES:
            break
        before, volume = volume, Hull.of(points).volume
        if volume < before * (1.0 + SMALL_GAIN):
            break
    return of_sum_one(gamma[rows.n_classes :])


def _directions(points: FloatArray, room: int, number: int) -> tuple[FloatArray, IntArray]:
    """Return directions, and the number of the point that lies farthest in each."""
    n_classes = points.shape[1]
    if n_classes > MOST_CLASSES:
        directions = np.random.default_rng([SEED, number]).dirichlet(np.ones(n_classes), room)
    else:
        hull = Hull.of(points)
        outward = np.maximum(hull.normals, 0.0)
        directions = outward[np.argsort(-hull.parts, kind="stable")][:room]
    return directions, np.asarray((directions @ points.T).argmax(axis=1), dtype=np.intp)


def _sample(rows: SurfaceRows) -> SurfaceRows:
    """Return rows of each class at even places of their order, not too many."""
    kept = []
    for k in range(rows.n_classes):
        own = np.flatnonzero(rows.label == k)
        kept.append(own[np.linspace(0, own.size - 1, min(own.size, MOST_ROWS)).astype(int)])
    return rows.at(np.concatenate(kept))


def _steps(thresholds: object) -> int:
    return whole("thresholds", thresholds, least=1, hint='Pass "data", steps of a grid such as 100, or an array')


def _given(thresholds: npt.ArrayLike, n_classes: int) -> FloatArray:
    gamma = np.ascontiguousarray(as_numbers("thresholds", thresholds))
    require(
        gamma.ndim == 2 and gamma.shape[1] == n_classes,
        f"thresholds must have a column for each of the {n_classes} classes",
        got=f"shape {gamma.shape}",
        hint="Pass one gamma a row, which sums to one",
    )
    return of_sum_one(gamma)
