"""Randomness, explicit and in one place: bootstrap of rows, and labels drawn as if the forecast were calibrated."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calibrant._links import FloatArray
from calibrant._problem import IntArray

MOST_GROUPS = 1000
"""Rows are resampled in at most this many random groups: up to it the ordinary bootstrap, beyond it as good, and the
cost no longer grows with rows times resamples."""

Rng = np.random.Generator | int | None


class Bootstrap:
    """Multinomial resampling of rows, in random groups of equal size.

    Sums over resampled rows are a matrix product: (resamples, groups) times the sums of each group.

    Parameters
    ----------
    n : int
        Rows.
    n_resamples : int
        Resamples.
    rng : numpy.random.Generator
        Source of randomness.
    """

    def __init__(self, n: int, n_resamples: int, rng: np.random.Generator) -> None:
        self.n_groups = min(n, MOST_GROUPS)
        self.group: IntArray = rng.permutation(n) % self.n_groups
        self.counts: FloatArray = rng.multinomial(
            self.n_groups, np.full(self.n_groups, 1.0 / self.n_groups), size=n_resamples
        ).astype(np.float64)

    def sums(
        self, values: FloatArray, cell: IntArray, n_cells: int, rows: IntArray | slice = slice(None)
    ) -> FloatArray:
        """Sum ``values`` over the rows of each cell in every resample, shape (n_resamples, n_cells)."""
        at = self.group[rows] * n_cells + cell
        by_group = np.bincount(at, values, self.n_groups * n_cells).reshape(self.n_groups, n_cells)
        return self.counts @ by_group

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum ``values`` over the rows of every resample, shape (n_resamples,)."""
        return self.counts @ np.bincount(self.group, values, self.n_groups)


def consistent_labels(prob: FloatArray, n_resamples: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Yield labels drawn from the forecast itself, so that it is calibrated by construction, one draw a row at a time.

    (Consistency resampling: Bröcker and Smith 2007; Vaicenavicius et al. 2019, Algorithm 1.)
    """
    n, n_classes = prob.shape
    cumulative = np.cumsum(prob, axis=1)
    cumulative /= cumulative[:, -1:]
    # The row number is added to each row: one sorted array, so that one search draws all rows.
    row = np.arange(n)
    cumulative += row[:, None]
    flat = cumulative.ravel()
    for _ in range(n_resamples):
        drawn = np.searchsorted(flat, rng.random(n) + row, side="right") - row * n_classes
        yield np.clip(drawn, 0, n_classes - 1)  # a sum rounded up may step over the end of the row


def as_rng(rng: Rng) -> np.random.Generator:
    """Return a generator: the one given, or a new one from a seed."""
    return np.random.default_rng(rng)
