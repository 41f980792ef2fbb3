"""Tuples of one row of each class, and how often some threshold puts every row of a tuple on its own side.

A gamma with p_k(row k) - gamma_k at least p_j(row k) - gamma_j for all k and j exists if and only if no other assignment of
the K rows to the K classes has a larger sum of probabilities: the two are a linear program and its dual. Where several
assignments are best the tuple counts in part: one over their number.

Without such ties the share of tuples sorted right is the volume of the boxes from the origin to the points of the surface. The
integral of p_1 dp_2 ... dp_K over thresholds is linear in the rows of each class: the mean of what it is for single tuples.
There dp_k is the border of the side of row k. The borders of rows 2 to K meet at most once: only if some gamma has these rows
on their sides, and then where gamma_2, ..., gamma_K are all as large, beside gamma_1, as that allows. So row 1 is on its side
there if it can be at all. Each row k ties there with one class, and these ties lead to class 1 along a tree, so that the
determinant of the borders has the same sign in every tuple. The same sign at every crossing, and one layer at the edge of the
plane, make p_1 a function of the other shares; with each class in the place of class 1, a falling one. What lies below its
graph are the boxes.

The hull holds the boxes. As gamma_k grows without end side k is emptied, and no other share falls: by induction over classes
the hull of the surface and the origin holds every point of it with any of its shares set to 0.
"""

from __future__ import annotations

from math import prod

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant.metrics.roc.surface import SurfaceRows, in_parts
from calibrant.metrics.roc.volume import VolumeUnderSurface

MOST_TUPLES = 300_000
"""Up to so many tuples all of them are taken: less than a second."""

MOST_TIED = 12
"""Tied assignments of so many classes are counted; beyond it they are as good as innumerable."""

PROBABILITY = "probability"


def sorted_right(rows: SurfaceRows, n_draws: int, rng: np.random.Generator) -> VolumeUnderSurface:
    """Return the probability that a tuple of rows, one of each class, is sorted right."""
    if rows.n_classes == 2:
        return VolumeUnderSurface(_pairs_in_order(rows), 0.0, 0, PROBABILITY)
    own = [np.flatnonzero(rows.label == k) for k in range(rows.n_classes)]
    if prod(o.size for o in own) <= MOST_TUPLES:
        tuples = _all_tuples(own)
        share = _shares(rows, tuples)
        return VolumeUnderSurface(min(float(share @ rows.share[tuples].prod(axis=1)), 1.0), 0.0, 0, PROBABILITY)
    share = _shares(rows, np.column_stack([_drawn(rows.weight[o], n_draws, rng, o) for o in own]))
    error = float(share.std(ddof=1)) / float(np.sqrt(n_draws)) if n_draws > 1 else float("nan")
    return VolumeUnderSurface(float(share.mean()), error, n_draws, PROBABILITY)


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
    drawn: IntArray = rows[np.searchsorted(upto[:-1], rng.random(n) * upto[-1], side="right")]
    return drawn


def _pairs_in_order(rows: SurfaceRows) -> float:
    """Return the share of pairs whose row of the second class has the higher score; equal scores count half (AUC)."""
    score, occurred = rows.prob[:, 1], rows.label == 1
    order = np.argsort(score[~occurred], kind="stable")
    below = np.append(0.0, np.cumsum(rows.weight[~occurred][order]))
    ordered = score[~occurred][order]
    less, upto = (below[np.searchsorted(ordered, score[occurred], side)] for side in ("left", "right"))
    return float(rows.weight[occurred] @ (less + upto)) / (2.0 * float(below[-1]) * float(rows.weight[occurred].sum()))
