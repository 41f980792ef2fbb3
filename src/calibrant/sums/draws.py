"""Randomness, explicit and in one place: bootstrap of rows, and labels drawn as if the forecast were calibrated."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.loading import are_loaded
from calibrant._core.parameters import require, source
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant._core.result import read_only
from calibrant._core.weights import Weights

MOST_GROUPS = 1000
"""Rows are resampled in at most this many random groups: up to it the ordinary bootstrap, beyond it as good, and the
cost no longer grows with rows times resamples."""

MOST_NUMBERS = 1 << 25
"""Resamples times distinct rows up to which it is drawn how often each of them is in each resample."""

MOST_DRAWN = 2.0**63
"""Number of equal rows of which NumPy draws no labels any more."""

FEW_COPIES = 8
"""Equal rows of each row, on average, up to which their labels are drawn one by one."""

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

    Sums over resampled rows are a matrix product: (resamples, groups) times the sums of each group. Of whole weights that many
    equal rows are drawn, each by itself: a row with its copies is a group. Of very many such rows the groups are random, and a
    row adds to the noise of its group in proportion to the root of its weight, as its copies by themselves would together.

    Parameters
    ----------
    weights : Weights or int
        Weights of the rows; or the number of rows, each of weight one.
    n_resamples : int
        Resamples.
    rng : numpy.random.Generator
        Source of randomness.
    """

    def __init__(self, weights: Weights | int, n_resamples: int, rng: np.random.Generator) -> None:
        self.weights = Weights.one_each(weights) if isinstance(weights, int) else weights
        self.n = n = len(self.weights)
        self.is_of_copies = self.weights.repeat_rows and n * n_resamples <= MOST_NUMBERS
        self.n_resamples, self.n_groups = n_resamples, n if self.is_of_copies else min(n, MOST_GROUPS)
        self.rng = rng
        if n > DRAWN_AT_ONCE:  # of many rows only when it is asked for: most figures have their noise from sums
            self.rng = np.random.default_rng(int(rng.integers(1 << 62)))
        else:
            assert self.group.size == n
            assert self.counts.size

    @cached_property
    def group(self) -> IntArray:
        """Group of each row, shape (n,)."""
        return np.arange(self.n) if self.is_of_copies else self.rng.permutation(self.n) % self.n_groups

    @cached_property
    def step(self) -> FloatArray:
        """How much of a row moves with its group, shape (n,): one, or one over the root of the number of its copies."""
        if self.weights.repeat_rows and not self.is_of_copies:
            return np.asarray(1.0 / np.sqrt(self.weights.values), dtype=np.float64)
        return np.broadcast_to(1.0, self.n)

    @cached_property
    def counts(self) -> FloatArray:
        """How often each group is in each resample, shape (n_resamples, n_groups): of copies their number over the weight."""
        if self.is_of_copies:
            total, values = self.weights.total, self.weights.values
            require_drawable(total)
            return self.rng.multinomial(int(total), values / total, size=self.n_resamples) / values
        even = np.full(self.n_groups, 1.0 / self.n_groups)
        return self.rng.multinomial(self.n_groups, even, size=self.n_resamples).astype(np.float64)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum weighted ``values``, one a row, over the rows of every resample, shape (n_resamples,)."""
        group_sums = np.bincount(self.group, values * self.step, self.n_groups)
        return float(values.sum()) + self.moved(group_sums.astype(np.float64, copy=False))

    def moved(self, group_sums: FloatArray) -> FloatArray:
        """Turn sums of what moves with each group, shape (n_groups, ...), into what each resample adds, (n_resamples, ...)."""
        return (self.counts - 1.0) @ group_sums


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


class ConsistentCounts:
    """How many of the equal rows that a whole weight stands for get each label; iterate for the draws, shape (n, K).

    Parameters
    ----------
    prob : ndarray of shape (n, K)
        The forecast.
    weight : ndarray of shape (n,)
        Numbers of rows.
    n_resamples : int
        Draws.
    rng : numpy.random.Generator
        Source of randomness.
    """

    def __init__(self, prob: FloatArray, weight: FloatArray, n_resamples: int, rng: np.random.Generator) -> None:
        require_drawable(float(weight.max()))
        self.prob, self.weight = prob / prob.sum(axis=1, keepdims=True), weight.astype(np.int64)
        self.n_resamples, self.rng = n_resamples, rng

    def __len__(self) -> int:
        return self.n_resamples

    def __iter__(self) -> Iterator[IntArray]:
        n, n_classes = self.prob.shape
        if float(self.weight.sum(dtype=np.float64)) > FEW_COPIES * n:
            return (self.rng.multinomial(self.weight, self.prob) for _ in range(self.n_resamples))
        first = np.repeat(np.arange(n) * n_classes, self.weight)  # of few copies their labels are drawn sooner
        labels = ConsistentLabels(np.repeat(self.prob, self.weight, axis=0), self.n_resamples, self.rng)
        return (np.bincount(first + label, minlength=n * n_classes).reshape(n, n_classes) for label in labels)

    def sums_at(self, cell: CellArray, counts: IntArray, weight: FloatArray, n_cells: int) -> FloatArray:
        """Sum counts over the entries of each cell ``cell[i, j]``; -1 is no cell."""
        sums = np.bincount(cell.ravel() + 1, counts.ravel(), n_cells + 1)
        return sums[1:].astype(np.float64, copy=False)


Labels = ConsistentLabels | ConsistentCounts


def labels_of(problem: SimplexProblem, n_resamples: int, rng: np.random.Generator) -> Labels:
    """Return labels that the forecast draws, one for each row, with its weight, or for each of the equal rows that it is."""
    if problem.weights.repeat_rows:
        return ConsistentCounts(problem.prob, problem.weight, n_resamples, rng)
    return ConsistentLabels(problem.prob, n_resamples, rng)


def drawn_rows(problem: SimplexProblem, draw: IntArray) -> tuple[IntArray | slice, IntArray, FloatArray]:
    """Return the rows that a draw of `labels_of` gave a label, these labels, and the weight that has them."""
    if draw.ndim == 1:
        return slice(None), draw, problem.weight
    row, label = np.nonzero(draw)
    return row, label, draw[row, label].astype(np.float64)


def require_drawable(number: float) -> None:
    """Refuse numbers of equal rows that are too large to draw from."""
    require(
        number < MOST_DRAWN,
        "sample_weight must be below 2**63 where each of the equal rows of a whole weight is drawn",
        got=f"{number:g}",
        hint="Divide the weights by their largest, if they are no numbers of rows",
    )


SALT = 0x63616C
"""Set before a seed, so that a user who made data with ``default_rng(0)`` does not get the same numbers as noise."""


def as_rng(rng: Rng) -> np.random.Generator:
    """Return the generator given, or a new one from a seed; what is neither is refused."""
    found = source("rng", rng)
    return np.random.default_rng([SALT, found] if isinstance(found, int) else found)
