"""What a binning is, and what it gives: sums over the rows of each bin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import MOST, require, whole
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray
from calibrant._core.result import Record
from calibrant._core.weights import Weights
from calibrant.binning.ordered import Ordered

CHUNK = 1 << 16
"""Rows summed at a time: what is made on the way stays in the processor's cache, whatever the size of the table."""


@dataclass(frozen=True, eq=False)
class Bins(Record):
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

    @property
    def left(self) -> FloatArray:
        """Lower edge of each bin."""
        return self.edges[:-1]

    @property
    def right(self) -> FloatArray:
        """Upper edge of each bin."""
        return self.edges[1:]

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
        require(
            np.array_equal(self.edges, other.edges),
            "bins add up only over the same edges",
            got="different ones",
            hint="Fix them first: EqualWidth(n), or one binning",
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
        at, weights = locate(edges, problem.score[rows]), problem.weights.part(rows)
        _add(sums, at, problem.score[rows], problem.outcome[rows], weights)
    return bins_of(edges, sums)


def _add(sums: FloatArray, at: IntArray, score: FloatArray, outcome: BoolArray, weights: Weights) -> None:
    n_bins, weight = sums.shape[1], weights.values
    count = np.bincount(at, minlength=n_bins)
    sums[0] += count
    if weights.is_unit:
        sums[1] += count
        sums[2] += np.bincount(at, score, n_bins)
        sums[3] += np.bincount(at, outcome, n_bins)
    else:
        sums[1] += np.bincount(at, weight, n_bins)
        sums[2] += np.bincount(at, weight * score, n_bins)
        sums[3] += np.bincount(at, weight * outcome, n_bins)


def bins_of(edges: FloatArray, sums: FloatArray) -> Bins:
    """Return the bins of rows, weight, weighted score and weighted outcome, shape (4, n_bins)."""
    return Bins(edges, sums[0].astype(np.intp), sums[1], sums[2], sums[3])


def _chunks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK))


class Binning(ABC):
    """How scores are cut. Called on a problem, returns `Bins`."""

    uses_outcomes: ClassVar[bool] = False
    """Whether the edges depend on the outcomes, and so are others for other outcomes of the same scores."""

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

    def cut(self, ordered: Ordered) -> FloatArray:
        """Find the edges for a problem whose scores are in order already.

        Parameters
        ----------
        ordered : Ordered
            What is to be cut; it has rows.

        Returns
        -------
        ndarray of shape (n_bins + 1,)
            The same edges.
        """
        return self.edges(ordered.problem)


class OrderedBinning(Binning):
    """A binning that looks at the distinct scores in order."""

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return one bin where there are no rows."""
        return self.cut(Ordered.of(problem)) if problem.size else np.array([0.0, 1.0])

    @abstractmethod
    def cut(self, ordered: Ordered) -> FloatArray:
        """Find the edges for a problem whose scores are in order."""


def require_bins(n_bins: object, name: str = "n_bins") -> None:
    """Refuse a number of bins that is not whole, or less than one."""
    whole(name, n_bins, least=1, most=MOST, hint="10 to 20 is usual")
