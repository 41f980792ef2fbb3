"""How scores are cut into bins. Every bin of the library is (lower, upper], with 0 in the first and 1 in the last.

A binning is a frozen object of parameters. Called on a problem it gives `Bins`: sums over the rows of each bin. The bin of
a row depends on its score alone, so equal scores always share a bin and the order of rows never matters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calibrant._links import FloatArray
from calibrant._problem import BinaryProblem, BoolArray, IntArray, is_unit_weight
from calibrant._registry import declare
from calibrant._result import read_only

CHUNK = 1 << 16
"""Rows summed at a time: what is made on the way stays in the processor's cache, whatever the size of the table."""

KERNEL_PAYS_FROM = 1 << 22
"""Rows from which the compiled loop is used. It saves some 20 ns a row; loading numba takes half a second, and compiling,
once a machine, a few more."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Sums over the rows in each bin. Bins over the same edges add up with ``+``, exactly.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Bin b holds the scores in (edges[b], edges[b + 1]]; the first also holds its lower edge.
    count : ndarray of shape (n_bins,)
        Number of rows.
    weight, score_sum, outcome_sum : ndarray of shape (n_bins,)
        Sums of the weights, the weighted scores and the weighted outcomes.
    """

    edges: FloatArray
    count: IntArray
    weight: FloatArray
    score_sum: FloatArray
    outcome_sum: FloatArray

    def __post_init__(self) -> None:
        for name in ("edges", "count", "weight", "score_sum", "outcome_sum"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def mean_prob(self) -> FloatArray:
        """Mean score of each bin; NaN where a bin is empty."""
        return self._mean(self.score_sum)

    @property
    def event_rate(self) -> FloatArray:
        """Share of events in each bin; NaN where a bin is empty."""
        return self._mean(self.outcome_sum)

    @property
    def gap(self) -> FloatArray:
        """Event rate minus mean score; NaN where a bin is empty."""
        return self._mean(self.outcome_sum - self.score_sum)

    def index(self, score: FloatArray) -> IntArray:
        """Find the bin of each score.

        Parameters
        ----------
        score : ndarray of shape (n,)
            Scores, not necessarily those that were summed.

        Returns
        -------
        ndarray of shape (n,)
            Bin numbers, counted from 0.
        """
        return locate(self.edges, score)

    def __add__(self, other: Bins) -> Bins:
        if not np.array_equal(self.edges, other.edges):
            raise ValueError(
                "bins add up only over the same edges; got different ones. Fix them first: EqualWidth(n), or one binning."
            )
        return Bins(
            self.edges,
            self.count + other.count,
            self.weight + other.weight,
            self.score_sum + other.score_sum,
            self.outcome_sum + other.outcome_sum,
        )

    def __len__(self) -> int:
        return self.count.size

    def _mean(self, total: FloatArray) -> FloatArray:
        mean = np.full(len(self), np.nan)
        np.divide(total, self.weight, out=mean, where=self.weight > 0)
        return mean


def locate(edges: FloatArray, score: FloatArray) -> IntArray:
    """Return the bin of each score: b with edges[b] < score <= edges[b + 1], the first and the last bin taking the rest."""
    return np.searchsorted(edges[1:-1], score, side="left")


def sums_over(edges: FloatArray, problem: BinaryProblem) -> Bins:
    """Sum a problem over the bins between ``edges``."""
    n_bins = edges.size - 1
    sums = np.zeros((4, n_bins))
    for rows in _chunks(problem.size):
        at, weight = locate(edges, problem.score[rows]), problem.weight[rows]
        _add(sums, at, problem.score[rows], problem.outcome[rows], weight)
    return _bins(edges, sums)


def _add(sums: FloatArray, at: IntArray, score: FloatArray, outcome: BoolArray, weight: FloatArray) -> None:
    n_bins = sums.shape[1]
    count = np.bincount(at, minlength=n_bins)
    sums[0] += count
    if is_unit_weight(weight):
        sums[1] += count
        sums[2] += np.bincount(at, score, n_bins)
        sums[3] += np.bincount(at, outcome, n_bins)
    else:
        sums[1] += np.bincount(at, weight, n_bins)
        sums[2] += np.bincount(at, weight * score, n_bins)
        sums[3] += np.bincount(at, weight * outcome, n_bins)


def _bins(edges: FloatArray, sums: FloatArray) -> Bins:
    return Bins(edges, sums[0].astype(np.intp), sums[1], sums[2], sums[3])


def _chunks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK))


class Binning(ABC):
    """How scores are cut. Called on a problem, returns `Bins`."""

    @abstractmethod
    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Find the edges for a problem.

        Parameters
        ----------
        problem : BinaryProblem
            What is to be cut.

        Returns
        -------
        ndarray of shape (n_bins + 1,)
            Edges, not decreasing; the first bin takes what is below, the last what is above.
        """

    def __call__(self, problem: BinaryProblem) -> Bins:
        """Cut the scores of a problem and sum over the bins."""
        return sums_over(self.edges(problem), problem)


@declare("binning", "equal-width", symbol="EW", source="Naeini et al. 2015")
@dataclass(frozen=True)
class EqualWidth(Binning):
    """Bins of equal width between 0 and 1.

    Parameters
    ----------
    n_bins : int, default=15
        Number of bins, at least 1. The usual choice; comparable between data sets, and empty where no scores are.
    """

    n_bins: int = 15

    def __post_init__(self) -> None:
        _require_bins(self.n_bins)

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return the multiples of 1 / n_bins, each rounded once, so that 0.6 is an edge of five bins."""
        return np.arange(self.n_bins + 1) / self.n_bins

    def __call__(self, problem: BinaryProblem) -> Bins:
        """Cut by arithmetic and not by search."""
        edges = self.edges(problem)
        if problem.size >= KERNEL_PAYS_FROM:
            from calibrant._kernels.binned import equal_width_sums

            return _bins(edges, equal_width_sums(problem.score, problem.outcome, problem.weight, edges))
        return super().__call__(problem)


@declare("binning", "equal-mass", symbol="EM", source="Zadrozny and Elkan 2001")
@dataclass(frozen=True)
class EqualMass(Binning):
    """Bins of equal total weight, cut at observed scores; equal scores are never split.

    Where n rows do not divide evenly the first bins hold one row more; whole weights count as rows, others are cut at exact
    shares. Heavy ties make fewer bins than asked for.

    Parameters
    ----------
    n_bins : int, default=15
        Number of bins at most, at least 1. The right choice where scores pile up, as those of neural networks do.
    """

    n_bins: int = 15

    def __post_init__(self) -> None:
        _require_bins(self.n_bins)

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return the scores at which the cumulative weight reaches the equal shares."""
        if problem.size == 0:
            return np.array([0.0, 1.0])
        order = np.argsort(problem.score, kind="stable")
        reached = np.cumsum(problem.weight[order])
        at = np.searchsorted(reached, _shares(problem.weight, self.n_bins), side="left")
        cuts = np.unique(problem.score[order][np.minimum(at, problem.size - 1)])
        return np.concatenate([[0.0], cuts[cuts < 1], [1.0]])


@declare("binning", "unique", symbol="U", source="Gupta and Ramdas 2022")
@dataclass(frozen=True)
class Unique(Binning):
    """A bin for each distinct score: no averaging at all. For forecasts that take few values."""

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return 0 and the distinct scores."""
        return np.concatenate([[0.0], np.unique(problem.score) if problem.size else [1.0]])


def as_binning(binning: int | Binning) -> Binning:
    """Return the binning; a number n means ``EqualWidth(n)``."""
    return binning if isinstance(binning, Binning) else EqualWidth(binning)


def _shares(weight: FloatArray, n_bins: int) -> FloatArray:
    """Cumulative weight at which each bin but the last ends."""
    total, k = weight.sum(), np.arange(1, n_bins)
    if np.array_equal(weight, np.floor(weight)):  # numbers of rows: the first bins take the remainder
        base, remainder = divmod(total, n_bins)
        return np.asarray(k * base + np.minimum(k, remainder), dtype=np.float64)
    return np.asarray(total * k / n_bins, dtype=np.float64)


def _require_bins(n_bins: object) -> None:
    if not isinstance(n_bins, (int, np.integer)) or isinstance(n_bins, bool):
        raise TypeError(
            f"n_bins must be a whole number; got {n_bins!r}. Pass an int or a Binning such as EqualMass(15)."
        )
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1; got {n_bins}. 10 to 20 is usual.")
