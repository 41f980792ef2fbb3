"""Randomness, explicit and in one place: bootstrap of rows, and labels drawn as if the forecast were calibrated."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.loading import are_loaded
from calibrant._core.parameters import source
from calibrant._core.problem import IntArray
from calibrant._core.result import read_only

MOST_GROUPS = 1000
"""Rows are resampled in at most this many random groups: up to it the ordinary bootstrap, beyond it as good, and the
cost no longer grows with rows times resamples."""

DRAWN_AT_ONCE = 1 << 12
"""Rows up to which resamples are drawn before they are asked for."""

KERNEL_PAYS_FROM = 1 << 27
"""Rows times classes times draws from which compiled loops are used: loading them takes about a second."""

PAYS_WHEN_LOADED = 1 << 20
"""The same where numba is loaded already."""

Rng = np.random.Generator | int | None
CellArray = npt.NDArray[np.int32]


class Bootstrap:
    """Multinomial resampling of rows, in random groups of nearly equal size.

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
        self.n, self.n_resamples, self.n_groups = n, n_resamples, min(n, MOST_GROUPS)
        self.rng = rng
        if n > DRAWN_AT_ONCE:  # of many rows only when it is asked for: most figures have their noise from sums
            self.rng = np.random.default_rng(int(rng.integers(1 << 62)))
        else:
            assert self.group.size == n
            assert self.counts.size

    @cached_property
    def group(self) -> IntArray:
        """Group of each row, shape (n,)."""
        return self.rng.permutation(self.n) % self.n_groups

    @cached_property
    def counts(self) -> FloatArray:
        """How often each group is in each resample, shape (n_resamples, n_groups)."""
        even = np.full(self.n_groups, 1.0 / self.n_groups)
        return self.rng.multinomial(self.n_groups, even, size=self.n_resamples).astype(np.float64)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum ``values``, one a row, over the rows of every resample, shape (n_resamples,)."""
        group_sums = np.bincount(self.group, values, self.n_groups)
        return self.resampled(group_sums.astype(np.float64, copy=False))

    def resampled(self, group_sums: FloatArray) -> FloatArray:
        """Turn sums of each group, shape (n_groups, ...), into sums of each resample, shape (n_resamples, ...)."""
        return self.counts @ group_sums


class ConsistentLabels:
    """Labels drawn from the forecast itself, so that it is calibrated by construction; iterate for the draws.

    (Consistency resampling: Bröcker and Smith 2007; Vaicenavicius et al. 2019, Algorithm 1.)

    Parameters
    ----------
    prob : ndarray of shape (n, K)
        The forecast.
    n_resamples : int
        Draws.
    rng : numpy.random.Generator
        Source of randomness.
    """

    def __init__(self, prob: FloatArray, n_resamples: int, rng: np.random.Generator) -> None:
        self.prob, self.n_resamples, self.rng = prob, n_resamples, rng
        self.compiled = prob.size * n_resamples >= KERNEL_PAYS_FROM

    @cached_property
    def cumulative(self) -> FloatArray:
        """Cumulative probabilities, shape (n, K); the last ones are 1."""
        sums = np.cumsum(self.prob, axis=1)
        sums /= sums[:, -1:]
        return sums

    def __len__(self) -> int:
        return self.n_resamples

    def __iter__(self) -> Iterator[IntArray]:
        return (self._draw(self.rng.random(len(self.prob))) for _ in range(self.n_resamples))

    def _draw(self, u: FloatArray) -> IntArray:
        if self.compiled:
            from calibrant._kernels.resampled import categorical

            return categorical(self.cumulative, u)
        label: IntArray = (self.cumulative[:, :-1] <= u[:, None]).sum(axis=1)
        return label

    def sums_at(self, cell: CellArray, label: IntArray, weight: FloatArray, n_cells: int) -> FloatArray:
        """Sum weights over the rows of each cell ``cell[i, label[i]]``; -1 is no cell."""
        if self.compiled:
            from calibrant._kernels.resampled import sums_at

            return sums_at(cell, label, weight, n_cells)
        # One bin more than there are cells, at the front, takes the rows without a cell.
        sums = np.bincount(cell[np.arange(label.size), label] + 1, weight, n_cells + 1)
        return sums[1:].astype(np.float64, copy=False)

    def events(self, cell: CellArray, n_cells: int) -> FloatArray:
        """Count the rows of each cell ``cell[i, label[i]]`` in every draw, shape (n_resamples, n_cells)."""
        if not (self.compiled or (are_loaded() and self.prob.size * self.n_resamples >= PAYS_WHEN_LOADED)):
            one_each = np.ones(len(self.prob))
            return np.array([self.sums_at(cell, label, one_each, n_cells) for label in self])
        from calibrant._kernels.resampled import events_at

        u, events = self.rng.random((self.n_resamples, len(self.prob))), np.zeros((n_cells, self.n_resamples))
        # Kept rows cannot be written to: numba would compile another loop for what can, or is strided.
        events_at(read_only(np.ascontiguousarray(self.prob)), cell, u, events)
        return events.T


SALT = 0x63616C
"""Set before a seed, so that a user who made data with ``default_rng(0)`` does not get the same numbers as noise."""


def as_rng(rng: Rng) -> np.random.Generator:
    """Return the generator given, or a new one from a seed; what is neither is refused."""
    found = source("rng", rng)
    return np.random.default_rng([SALT, found] if isinstance(found, int) else found)
