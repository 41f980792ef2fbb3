"""Where the predictions of each bin lie, and those of all, counted in equal parts of a scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from calibrant._links import FloatArray
from calibrant._problem import IntArray
from calibrant._result import read_only
from calibrant.rejections import Verdicts

SLICES = 25
"""Of the profile of a bin."""


@dataclass(frozen=True)
class Scale:
    """A scale of probabilities between two ends, and the number of columns of a histogram from the one to the other."""

    least: float
    greatest: float
    n_columns: int
    of_prob: Callable[[FloatArray], FloatArray]
    to_prob: Callable[[FloatArray], FloatArray]


def _same(value: FloatArray) -> FloatArray:
    return value


PROBABILITY = Scale(0.0, 1.0, 50, _same, _same)
LOG_ODDS = Scale(1e-7, 1.0 - 1e-7, 160, logit, expit)


@dataclass(frozen=True, eq=False)
class BinProfiles:
    """Predictions counted in equal parts of a scale.

    Attributes
    ----------
    slice_edges : ndarray of shape (n_bins, n_slices + 1)
        Equal slices from the least to the greatest prediction of each bin; NaN where it is empty. What lies beyond an end of
        the scale counts as at the end.
    profile : ndarray of shape (n_bins, n_slices)
        Rows in each slice: half the width of a violin, but for a factor.
    histogram_edges : ndarray of shape (n_columns + 1,)
        Equal columns from one end of the scale to the other.
    histogram, histogram_rejected : ndarray of shape (n_columns,)
        Rows in each column, all and those whose prediction is rejected; none of those beyond the ends.
    beyond, beyond_rejected : ndarray of shape (2, n_bins)
        Rows of each bin below the lower end and above the upper one, all and those whose prediction is rejected.
    """

    slice_edges: FloatArray
    profile: FloatArray
    histogram_edges: FloatArray
    histogram: FloatArray
    histogram_rejected: FloatArray
    beyond: FloatArray
    beyond_rejected: FloatArray

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, read_only(value))


def bin_profiles(found: Verdicts, n_bins: int, scale: Scale) -> BinProfiles:
    """Count tested predictions in equal parts of a scale."""
    rejected, n_columns = found.weight * found.is_rejected, scale.n_columns
    value = scale.of_prob(np.clip(found.score, scale.least, scale.greatest))
    low, high = _ends(value, found.bin, n_bins)
    cell = found.bin * SLICES + _part(value, low[found.bin], high[found.bin], SLICES)
    least, greatest = scale.of_prob(np.array([scale.least, scale.greatest]))
    column = _part(value, least, greatest, n_columns)
    is_beyond = np.stack([found.score < scale.least, found.score > scale.greatest])
    is_within = ~is_beyond.any(axis=0)
    return BinProfiles(
        slice_edges=scale.to_prob(np.linspace(low, high, SLICES + 1, axis=1)),
        profile=sums(cell, found.weight, n_bins * SLICES).reshape(n_bins, SLICES),
        histogram_edges=scale.to_prob(np.linspace(least, greatest, n_columns + 1)),
        histogram=sums(column, found.weight * is_within, n_columns),
        histogram_rejected=sums(column, rejected * is_within, n_columns),
        beyond=np.stack([sums(found.bin, found.weight * side, n_bins) for side in is_beyond]),
        beyond_rejected=np.stack([sums(found.bin, rejected * side, n_bins) for side in is_beyond]),
    )


def sums(at: IntArray, weight: FloatArray, n: int) -> FloatArray:
    """Return the weight on each of n places."""
    return np.bincount(at, weight, n).astype(np.float64)


def _ends(value: FloatArray, at: IntArray, n_bins: int) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest value of each bin, where values are in order; NaN where there is none."""
    held = np.bincount(at, minlength=n_bins)
    last, low, high = np.cumsum(held), np.full(n_bins, np.nan), np.full(n_bins, np.nan)
    low[held > 0], high[held > 0] = value[(last - held)[held > 0]], value[last[held > 0] - 1]
    return low, high


def _part(value: FloatArray, low: FloatArray, high: FloatArray, n: int) -> IntArray:
    """Return in which of n equal parts from low to high a value lies."""
    reach = np.maximum(high - low, np.finfo(float).tiny)
    return np.minimum(((value - low) / reach * n).astype(np.intp), n - 1)
