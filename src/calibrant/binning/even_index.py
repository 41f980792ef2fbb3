"""The bin of each score among bins of equal width, by arithmetic; the edges have the last word."""

from __future__ import annotations

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant.binning.partition import locate

UNITS = 4.0
"""Units in the last place within which a product and an edge, each rounded, may lie on the wrong side of each other."""


def even_index(edges: FloatArray, score: FloatArray, unit: float) -> IntArray:
    """Return the bin of each score, as `locate` does, in a tenth of the time.

    Parameters
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Multiples of 1 / n_bins, each off by at most ``unit``.
    score : ndarray of shape (n,)
        Probabilities in [0, 1], at least one.
    unit : float
        What rounding may have added to an edge, or taken from it.

    Returns
    -------
    ndarray of shape (n,)
        Bins b with edges[b] < score <= edges[b + 1]. Only scores next to an edge are compared with it.
    """
    n_bins = edges.size - 1
    place = score * float(n_bins)
    floor = np.floor(place)
    place -= floor
    at: IntArray = floor.astype(np.intp)
    near = UNITS * n_bins * unit
    if not (np.minimum.reduce(place) > near and np.maximum.reduce(place) < 1.0 - near):
        unsure = np.flatnonzero((place <= near) | (place >= 1.0 - near))
        at[unsure] = locate(edges, score[unsure])
    return at
