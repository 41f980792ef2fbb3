"""Randomness, explicit and in one place: bootstrap of rows, and labels drawn as if the forecast were calibrated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr

from calibrant._core.arrays import EXACT, ArrayLike, FloatArray, NDArray, blocks
from calibrant._core.checks import require, source, whole
from calibrant._core.result import Record
from calibrant._core.rows import BinaryProblem, BoolArray, IntArray, Problem, SimplexProblem, Weights
from calibrant._core.threads import are_loaded
from calibrant.binning import Bins

# What noise is drawn from: in each bin, for rows with and without the event, how many there are and how certain


CountArray = NDArray[np.int64]

CHUNK_OF_BINS = 1 << 14
"""Rows of which the bins are found at a time: what is made on the way is small enough for memory that is at hand."""


@dataclass(frozen=True, eq=False)
class Strata(Record):
    """Rows of each bin, those without the event first and then those with it; ``+`` adds them up.

    With m = p in a bin of the lower half of [0, 1] and m = 1 - p in one of the upper half the sums of m and m² are kept, of
    which none cancels where forecasts are nearly certain.

    Attributes
    ----------
    count : ndarray of shape (2, n_bins)
        Number of rows.
    sums : ndarray of shape (2, 2, n_bins)
        Sums of m, and sums of m².
    """

    count: CountArray
    sums: FloatArray

    @classmethod
    def of(cls, problem: BinaryProblem, bins: Bins, part: IntArray | None = None) -> Strata:
        """Sum over the rows of a problem, which was cut into these bins; or over those of each ``part`` by itself."""
        n_bins, flipped = len(bins), is_upper(bins.edges)
        found = np.zeros((3, 2 * n_bins))
        for rows in blocks(problem.size, 1, CHUNK_OF_BINS):
            score = problem.score[rows]
            at = bins.index(score)
            m = np.abs(flipped[at] - score.astype(np.float64, copy=False))  # 1 - p, or p
            at += n_bins * problem.outcome[rows]
            if part is not None:
                at += flipped.size * part[rows]
            power = problem.weight[rows]
            for into in found:
                into += np.bincount(at, power, 2 * n_bins)
                power = power * m
        count, *sums = found.reshape(3, 2, n_bins)
        return cls(count.astype(np.int64), np.array(sums))

    @classmethod
    def beside(cls, parts: Sequence[Strata]) -> Strata:
        """Put the strata of several problems side by side."""
        return cls(
            np.concatenate([one.count for one in parts], axis=1), np.concatenate([one.sums for one in parts], axis=2)
        )

    def __add__(self, other: Strata) -> Strata:
        return Strata(self.count + other.count, self.sums + other.sums)

    def put_together(self, at: IntArray, upper: BoolArray, upper_there: BoolArray) -> Strata:
        """Return the strata of bins that cells make up, each in bin ``at``.

        ``upper`` and ``upper_there`` say which cells and bins lie in the upper half. Where a cell turns, 1 - m takes the place
        of m: the sum becomes count - sum m, that of squares count - 2 sum m + sum m².
        """
        m, square = self.sums
        turned = [self.count - m, self.count - 2.0 * m + square]
        sums = np.where(upper != upper_there[at], turned, self.sums)
        count, into = np.zeros((2, upper_there.size), dtype=np.int64), np.zeros((2, 2, upper_there.size))
        np.add.at(count.T, at, self.count.T)
        np.add.at(into.T, at, sums.T)
        return Strata(count, into)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as lists, of which JSON loses none."""
        return {"count": self.count.tolist(), "sums": self.sums.tolist()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Strata:
        """Return the strata that `to_dict` wrote down."""
        return cls(np.array(plain["count"], dtype=np.int64), np.array(plain["sums"], dtype=np.float64))


def is_upper(edges: FloatArray) -> BoolArray:
    """Whether each bin between these edges lies in the upper half of [0, 1]; that around 1/2 does in neither precision."""
    return np.asarray(edges[:-1].astype(np.float64) + edges[1:] > 1.0 + 1e-7, dtype=np.bool_)


Numbers = NDArray[np.int64]


MOST_GROUPS = 1000
"""Rows are resampled in at most this many random groups: up to it the ordinary bootstrap, beyond it as good, and the
cost no longer grows with rows times resamples."""

MOST_NUMBERS = 1 << 25
"""Resamples times distinct rows up to which it is drawn how often each of them is in each resample."""

MOST_DRAWN = 2.0**63
"""Number of equal rows of which NumPy draws no labels any more."""

DRAWN_TOGETHER = 1 << 18
"""Labels that are drawn at a time, or numbers of equal rows."""

DRAWN_AT_ONCE = 1 << 12
"""Rows up to which resamples are drawn before they are asked for."""

KERNEL_PAYS_FROM = 1 << 27
"""Rows times classes times draws from which compiled loops are used: loading them takes about a second."""

PAYS_WHEN_LOADED = 1 << 20
"""The same where numba is loaded already."""

Rng = np.random.Generator | int | None
CellArray = NDArray[np.int32]


class Bootstrap:
    """Multinomial resampling of rows, in random groups of nearly equal size.

    Sums over resampled rows are a matrix product: (resamples, groups) times the sums of each group. Of whole weights that many
    equal rows are drawn, each by itself: a row with its copies is a group. Of very many such rows the groups are random, and a
    row adds to the noise of its group in proportion to the root of its weight, as its copies by themselves would together.

    Parameters
    ----------
    weights : Weights
        Weights of the rows.
    n_resamples : int
        Resamples.
    rng : numpy.random.Generator
        Source of randomness.
    """

    def __init__(self, weights: Weights, n_resamples: int, rng: np.random.Generator) -> None:
        self.weights, n = weights, len(weights)
        self.n = n
        self.is_of_copies = self.weights.repeat_rows and n * n_resamples <= MOST_NUMBERS
        self.n_resamples, self.n_groups = n_resamples, n if self.is_of_copies else min(n, MOST_GROUPS)
        self.rng = rng
        if n > DRAWN_AT_ONCE:  # of many rows only when it is asked for: most figures have their noise from sums
            self.rng = np.random.default_rng(int(rng.integers(1 << 62)))
        else:
            _ = self.group, self.counts  # drawn here, in this order, and before other draws of the same source

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

    A draw is a label for each row, shape (n,); of rows that are ``times`` equal ones it is how many of these get each label,
    shape (n, K). (Consistency resampling: Bröcker and Smith 2007; Vaicenavicius et al. 2019, Algorithm 1.)

    Parameters
    ----------
    prob : ndarray of shape (n, K)
        The forecast.
    n_resamples : int
        Draws.
    rng : numpy.random.Generator
        Source of randomness.
    times : ndarray of shape (n,), optional
        Numbers of equal rows.
    """

    def __init__(
        self, prob: FloatArray, n_resamples: int, rng: np.random.Generator, times: FloatArray | None = None
    ) -> None:
        if times is not None:
            require_drawable(float(times.max()))
        self.prob, self.n_resamples, self.rng = prob, n_resamples, rng
        self.times = None if times is None else times.astype(np.int64)
        least = min(KERNEL_PAYS_FROM, PAYS_WHEN_LOADED) if are_loaded() else KERNEL_PAYS_FROM
        self.compiled = prob.size * n_resamples >= least

    def __len__(self) -> int:
        return self.n_resamples

    def __iter__(self) -> Iterator[IntArray]:
        return (draw for block in self.blocks() for draw in block)

    def blocks(self) -> Iterator[IntArray]:
        """Yield the draws, many at a time: shape (m, n), or of equal rows (m, n, K)."""
        n, numbers = len(self.prob), len(self.prob) if self.times is None else self.prob.size
        step = max(1, DRAWN_TOGETHER // max(1, numbers))
        share = self.prob / self.prob.sum(axis=1, keepdims=True)
        cumulative = np.cumsum(self.prob, axis=1)
        cumulative /= cumulative[:, -1:]
        for first in range(0, self.n_resamples, step):
            shape = min(step, self.n_resamples - first), n
            if self.times is None:
                yield self._labels(cumulative, self.rng.random(shape))
            else:
                yield self.rng.multinomial(self.times, share, size=shape)

    def _labels(self, cumulative: FloatArray, u: FloatArray) -> IntArray:
        """Return the first class of each row whose cumulative probability exceeds u, shape (m, n)."""
        if self.compiled:
            from calibrant._kernels.sums import categorical

            return categorical(cumulative, u)
        label = np.zeros(u.shape, dtype=np.intp)
        for reached in cumulative.T[:-1]:
            label += reached <= u
        return label

    def sums_at(self, cell: CellArray, draws: IntArray, weight: FloatArray, n_cells: int) -> FloatArray:
        """Sum weights, or numbers of equal rows, over the cells ``cell[i, j]`` of a block of draws; -1 is no cell."""
        m, (n, n_classes) = len(draws), cell.shape
        # One bin more than there are cells, at the front, takes the rows without a cell.
        at = np.arange(1, m * (n_cells + 1), n_cells + 1)[:, None]
        if self.times is None:
            at = at + cell.ravel()[draws + np.arange(0, n * n_classes, n_classes)]
            sums = np.bincount(at.ravel(), np.broadcast_to(weight, (m, n)).ravel(), m * (n_cells + 1))
        else:
            sums = np.bincount((at + cell.ravel()).ravel(), draws.ravel(), m * (n_cells + 1))
        return sums.reshape(m, -1)[:, 1:].astype(np.float64, copy=False)


def labels_of(problem: SimplexProblem, n_resamples: int, rng: np.random.Generator) -> ConsistentLabels:
    """Return labels that the forecast draws, one for each row, with its weight, or for each of the equal rows that it is."""
    return ConsistentLabels(problem.prob, n_resamples, rng, problem.weight if problem.weights.repeat_rows else None)


def drawn_rows(problem: SimplexProblem, draw: IntArray) -> tuple[IntArray | slice, IntArray, FloatArray]:
    """Return the rows that a draw of `labels_of` gave a label, these labels, and the weight that has them."""
    if draw.ndim == 1:
        return slice(None), draw, problem.weight
    row, label = np.nonzero(draw)
    return row, label, draw[row, label].astype(np.float64)


def drawn_places(total: float, n: int, rng: np.random.Generator) -> NDArray[Any]:
    """Return n different places among so many; of very many one is drawn twice with a probability of next to zero."""
    return rng.choice(int(total), n, replace=False) if total < EXACT else rng.random(n) * float(total)


def few_rows(problem: Problem, n: int, rng: np.random.Generator) -> Problem:
    """Return so many rows of a problem, drawn without replacement; a whole weight is that many rows."""
    ends = np.cumsum(problem.weights.times)
    rows, times = np.unique(np.searchsorted(ends, drawn_places(ends[-1], n, rng), side="right"), return_counts=True)
    return problem.at(rows, problem.weights.like(times * problem.weights.importance[rows]))


def require_drawable(number: float) -> None:
    """Refuse numbers of equal rows that are too large to draw from."""
    must = "sample_weight must be below 2**63 where each of the equal rows of a whole weight is drawn"
    hint = "Divide the weights by their largest, if they are no numbers of rows"
    require(number < MOST_DRAWN, must, got=f"{number:g}", hint=hint)


SALT = 0x63616C
"""Set before a seed, so that a user who made data with ``default_rng(0)`` does not get the same numbers as noise."""


def as_rng(rng: Rng) -> np.random.Generator:
    """Return the generator given, or a new one from a seed; what is neither is refused."""
    found = source("rng", rng)
    return np.random.default_rng([SALT, found] if isinstance(found, int) else found)


# How far a Brownian motion goes from time 0 to 1: its largest distance from 0, and its range


TERMS = 12
"""Terms summed; rounding leaves room for seven."""

SPLIT = 1.25
"""Below it the modes are summed, from it on the images."""

K = np.arange(1, TERMS + 1, dtype=np.float64)[:, None]
ODD = 2.0 * K - 1.0
SIGN = np.where(np.arange(TERMS)[:, None] % 2 == 0, 1.0, -1.0)

Series = Callable[[FloatArray], FloatArray]


def distance_survival(x: ArrayLike) -> FloatArray:
    """Probability that the largest distance from 0 is at least ``x``."""
    return _by_size(
        x,
        modes=lambda s: 1.0 - _sum(4.0 / np.pi * SIGN / ODD * _heat(ODD / 2.0, s)),
        images=lambda s: _sum(4.0 * SIGN * ndtr(-ODD * s)),
    )


def range_survival(x: ArrayLike) -> FloatArray:
    """Probability that highest minus lowest value is at least ``x`` (Feller 1951)."""
    return _by_size(
        x,
        modes=lambda s: 1.0 - _sum(8.0 * (1.0 / s**2 + 1.0 / (ODD * np.pi) ** 2) * _heat(ODD, s)),
        images=lambda s: _sum(8.0 * SIGN * K * ndtr(-K * s)),
    )


def _by_size(x: ArrayLike, *, modes: Series, images: Series) -> FloatArray:
    at = np.asarray(x, dtype=np.float64)
    found = np.ones(at.shape)
    # Below 0.05 what the modes add to the value at zero is less than the smallest number.
    for series, where in ((modes, (at >= 0.05) & (at < SPLIT)), (images, at >= SPLIT)):
        found[where] = series(at[where])
    return found


def _sum(terms: FloatArray) -> FloatArray:
    return np.asarray(terms.sum(axis=0))


def _heat(mode: FloatArray, s: FloatArray) -> FloatArray:
    """Decay of a mode in an interval of length s, in time 1."""
    return np.asarray(np.exp(-((mode * np.pi / s) ** 2) / 2.0), dtype=np.float64)


# A sample of rows that does not depend on how they are cut into batches: those whose numbers have the smallest keys


MOST = 4096
"""Rows that are kept to see how the cells of several classes vary together."""


def keys_of(number: Numbers) -> NDArray[np.uint64]:
    """Return a fixed key of 64 bits for each number of a row, different for different numbers.

    It is the output of SplitMix64 (Steele, Lea and Flood 2014) of that number.
    """
    z = (number.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z ^= z >> np.uint64(shift)
        z *= np.uint64(factor)
    z ^= z >> np.uint64(31)
    return z


@dataclass(frozen=True, eq=False)
class RowSample:
    """At most ``most`` of ``n_rows`` rows, in the order of their ``number`` among all rows; samples add up with ``+``."""

    problem: Problem
    number: Numbers
    n_rows: int
    most: int

    @classmethod
    def of(cls, problem: Problem, first: int | Numbers, most: int) -> RowSample:
        """Choose rows of a batch, of which the first has this number, or each its own."""
        whole("n", most, least=1, hint="100_000 rows are enough for most figures")
        number = first if isinstance(first, np.ndarray) else np.arange(first, first + problem.size, dtype=np.int64)
        return cls._chosen(problem, number, problem.size, most)

    def __add__(self, other: RowSample) -> RowSample:
        number = np.concatenate([self.number, other.number])
        problem = self.problem._followed_by(other.problem)
        return self._chosen(problem, number, self.n_rows + other.n_rows, self.most)

    @classmethod
    def _chosen(cls, problem: Problem, number: Numbers, n_rows: int, most: int) -> RowSample:
        rows = np.arange(number.size)
        if rows.size > most:
            rows = np.argpartition(keys_of(number), most - 1)[:most]
        rows = rows[np.argsort(number[rows], kind="stable")]
        number = number[rows]
        must = "rows of several batches must have numbers of their own"
        hint = "Pass scan the number of the first row of each batch, first=, or name a column of distinct numbers, row_key="
        require((number[1:] != number[:-1]).all(), must, got="the same number twice", hint=hint)
        return cls(problem.taken(rows), number, n_rows, most)

    @property
    def arguments(self) -> dict[str, Any]:
        """The rows as the arguments of a function that takes labels and probabilities."""
        problem = self.problem
        said = {"y_true": problem.classes[problem.code], "y_prob": problem.values, "labels": problem.classes.tolist()}
        return said | ({"input": "logit"} if problem.is_logit else {}) | problem.weights.keyword
