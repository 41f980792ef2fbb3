"""Where the predictions of each bin lie, and those of all, counted in equal parts of a scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, IntArray
from calibrant._core.result import Record
from calibrant.metrics.rejections import Verdicts

SLICES = 50
"""Of the profile of a bin."""

MANY_ROWS = 20_000
"""So many rows fill all columns of a histogram; of fewer rows columns are wider, by the cube root, up to five times."""


@dataclass(frozen=True)
class Scale:
    """A scale of probabilities between two ends, and the number of columns of a histogram of many rows between them."""

    least: float
    greatest: float
    n_columns: int
    of_prob: Callable[[FloatArray], FloatArray]
    to_prob: Callable[[FloatArray], FloatArray]

    def columns_of(self, rows: float) -> int:
        """Return the number of columns of a histogram of some rows: of few rows so many would be a comb."""
        return round(self.n_columns * min(1.0, max(0.2, float((rows / MANY_ROWS) ** (1 / 3)))))


def _same(value: FloatArray) -> FloatArray:
    return value


PROBABILITY = Scale(0.0, 1.0, 50, _same, _same)

BELOW, ABOVE = (7, 10, 15, 20, 25, 30), (7, 10, 15)
"""Where log-odds may end: at ten to the minus so many, and at one less that."""

MOST_BEYOND = 0.01
"""Part of the rows that may lie beyond an end of log-odds, but for those that no log-odds reach."""

COLUMNS_A_UNIT = 5
"""Columns of a histogram in log-odds, for each unit."""


def log_odds_of(problems: Sequence[BinaryProblem]) -> Scale:
    """Return log-odds that reach all probabilities but a few: from 1e-7 to 1 - 1e-7, or further where more lie beyond."""
    total = sum(float(p.weight.sum()) for p in problems)

    def is_enough(below: int, *, downward: bool) -> bool:
        left = ((p.score if downward else 1.0 - p.score, p.weight) for p in problems)
        beyond = sum(float(weight[(rest > 0.0) & (rest < 10.0**-below)].sum()) for rest, weight in left)
        return beyond <= MOST_BEYOND * total

    least = 10.0 ** -next((k for k in BELOW if is_enough(k, downward=True)), BELOW[-1])
    greatest = 1.0 - 10.0 ** -next((k for k in ABOVE if is_enough(k, downward=False)), ABOVE[-1])
    return Scale(least, greatest, round(COLUMNS_A_UNIT * float(logit(greatest) - logit(least))), logit, expit)


@dataclass(frozen=True, eq=False)
class BinProfiles(Record):
    """Predictions counted in equal parts of a scale.

    Attributes
    ----------
    slice_edges : ndarray of shape (n_bins, n_slices + 1)
        Equal slices from the least to the greatest prediction of each bin; NaN where it is empty. What lies beyond an end of
        the scale counts as at the end.
    profile : ndarray of shape (n_bins, n_slices)
        Rows in each slice.
    density : ndarray of shape (n_bins, n_slices + 1)
        Rows about each edge of the slices, smoothed: half the width of a violin, but for a factor.
    histogram_edges : ndarray of shape (n_columns + 1,)
        Equal columns from one end of the scale to the other.
    histogram, histogram_rejected : ndarray of shape (n_columns,)
        Rows in each column, all and those whose prediction is rejected; none of those beyond the ends.
    beyond, beyond_rejected : ndarray of shape (2, n_bins)
        Rows of each bin below the lower end and above the upper one, all and those whose prediction is rejected.
    """

    slice_edges: FloatArray
    profile: FloatArray
    density: FloatArray
    histogram_edges: FloatArray
    histogram: FloatArray
    histogram_rejected: FloatArray
    beyond: FloatArray
    beyond_rejected: FloatArray


def bin_profiles(found: Verdicts, n_bins: int, scale: Scale) -> BinProfiles:
    """Count tested predictions in equal parts of a scale."""
    rejected, n_columns = found.weight * found.is_rejected, scale.columns_of(float(found.weight.sum()))
    value = scale.of_prob(np.clip(found.score, scale.least, scale.greatest))
    low, high = _ends(value, found.bin, n_bins)
    cell = found.bin * SLICES + _part(value, low[found.bin], high[found.bin], SLICES)
    least, greatest = scale.of_prob(np.array([scale.least, scale.greatest]))
    column = _part(value, least, greatest, n_columns)
    is_beyond = np.stack([found.score < scale.least, found.score > scale.greatest])
    is_within = ~is_beyond.any(axis=0)
    profile = sums(cell, found.weight, n_bins * SLICES).reshape(n_bins, SLICES)
    return BinProfiles(
        slice_edges=scale.to_prob(np.linspace(low, high, SLICES + 1, axis=1)),
        profile=profile,
        density=np.stack([_smoothed(rows) for rows in profile]),
        histogram_edges=scale.to_prob(np.linspace(least, greatest, n_columns + 1)),
        histogram=sums(column, found.weight * is_within, n_columns),
        histogram_rejected=sums(column, rejected * is_within, n_columns),
        beyond=np.stack([sums(found.bin, found.weight * side, n_bins) for side in is_beyond]),
        beyond_rejected=np.stack([sums(found.bin, rejected * side, n_bins) for side in is_beyond]),
    )


def _smoothed(profile: FloatArray) -> FloatArray:
    """Smooth the rows of the slices of a bin by a normal kernel of Silverman's bandwidth, reflected at both ends."""
    rows = profile.sum()
    if rows == 0.0:
        return np.zeros(SLICES + 1)
    middle, at = np.arange(SLICES) + 0.5, np.arange(SLICES + 1.0)
    mean = profile @ middle / rows
    width = max(0.9 * np.sqrt(profile @ (middle - mean) ** 2 / rows) * rows**-0.2, 0.5)
    images = (middle, -middle, 2.0 * SLICES - middle)
    kernel = sum(np.exp(-0.5 * ((at[:, None] - image) / width) ** 2) for image in images)
    density: FloatArray = kernel @ profile
    return density


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
