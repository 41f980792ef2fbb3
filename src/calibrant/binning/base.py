"""What a binning is, and what it gives: sums over the rows of each bin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import MOST, require, whole
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray, Problem
from calibrant._core.result import Record
from calibrant._core.weights import Weights
from calibrant.binning.distinct_scores import Ordered
from calibrant.binning.partition import Edges, Partition

MOST_SHOWN = 2.0**62
"""Number of equal rows up to which it is shown."""

CHUNK = 1 << 16
"""Rows summed at a time: what is made on the way stays in the processor's cache, whatever the size of the table."""


@dataclass(frozen=True, eq=False)
class Bins(Record):
    """Sums over the rows in each bin: of scores, or of whole forecasts in cells of the simplex. Bins of one partition add up.

    Attributes
    ----------
    partition : Partition
        What finds the bin of a row: `Edges` of scores, or cells of the simplex.
    count : ndarray of shape (n_bins,)
        Number of rows; in a result a whole weight is that many.
    weight : ndarray of shape (n_bins,)
        Sum of the weights.
    score_sum, outcome_sum : ndarray of shape (n_bins,), or (n_bins, K) of cells of the simplex
        Sums of the weighted scores and of the weighted outcomes, an entry for each of K classes.
    """

    partition: Partition
    count: IntArray
    weight: FloatArray
    score_sum: FloatArray
    outcome_sum: FloatArray

    @property
    def edges(self) -> FloatArray:
        """Edges of bins of scores, shape (n_bins + 1,): bin b is (edges[b], edges[b + 1]]. Cells of the simplex have none."""
        if isinstance(self.partition, Edges):
            return self.partition.edges
        raise AttributeError(
            f"bins must be those of scores to have edges; got {type(self.partition).__name__}. Ask its partition instead."
        )

    @property
    def left(self) -> FloatArray:
        """Lower edge of each bin of scores."""
        return self.edges[:-1]

    @property
    def right(self) -> FloatArray:
        """Upper edge of each bin of scores."""
        return self.edges[1:]

    @property
    def mean_prob(self) -> FloatArray:
        """Mean score of each bin, or mean forecast of each cell; NaN where it is empty."""
        return self._mean(self.score_sum)

    @property
    def event_rate(self) -> FloatArray:
        """Share of events in each bin, or of each class in each cell; NaN where it is empty."""
        return self._mean(self.outcome_sum)

    @property
    def gap(self) -> FloatArray:
        """Event rate minus mean score; NaN where a bin is empty."""
        return self._mean(self.outcome_sum - self.score_sum)

    def index(self, prob: FloatArray) -> IntArray:
        """Find the bin of each score or forecast.

        Parameters
        ----------
        prob : ndarray of shape (n,), or (n, K) of cells of the simplex
            Scores or forecasts, not necessarily those that were summed.

        Returns
        -------
        ndarray of shape (n,)
            Bin numbers, counted from 0; -1 where a forecast is in no cell.
        """
        return self.partition.index(prob)

    def __add__(self, other: Bins) -> Bins:
        if isinstance(self.partition, Edges) and isinstance(other.partition, Edges):
            if not other.count.any():  # rows that do not exist change nothing
                return self
            if not self.count.any():
                return other
        require(
            self.partition.is_same(other.partition),
            "bins add up only over the same edges",
            got="different ones",
            hint="Fix them first: EqualWidth(n), or one binning",
        )
        return Bins(
            self.partition,
            self.count + other.count,
            self.weight + other.weight,
            self.score_sum + other.score_sum,
            self.outcome_sum + other.outcome_sum,
        )

    def __len__(self) -> int:
        return self.count.size

    def _mean(self, total: FloatArray) -> FloatArray:
        weight = self.weight if total.ndim == 1 else self.weight[:, None]
        mean = np.empty(total.shape)
        mean.fill(np.nan)
        np.divide(total, weight, out=mean, where=weight > 0)
        return mean


def shown(bins: Bins, *, are_counts: bool) -> Bins:
    """Return bins as a result shows them: where weights are numbers of equal rows, ``count`` is their sum."""
    return replace(bins, count=np.minimum(bins.weight, MOST_SHOWN).astype(np.intp)) if are_counts else bins


Index = Callable[[FloatArray], IntArray]
"""What finds the cell of each score, or of each forecast."""

Cut = tuple[Any, ...]
"""Sums over cells: count, weight, scores and outcomes."""


def sums_over(partition: Partition, problem: Problem, index: Index | None = None) -> Bins:
    """Sum the scores and outcomes of a binary problem, or the forecasts and classes of one on the simplex, over cells.

    ``index`` finds the same cells as the partition does, where there is a faster way.
    """
    find, n_cells = partition.index if index is None else index, partition.n_cells

    def read(rows: slice) -> Cut:
        weights = problem.weights.part(rows)
        if isinstance(problem, BinaryProblem):
            score = problem.score[rows]
            return _of_scores(find(score), score, problem.outcome[rows], weights, n_cells)
        prob = problem.prob[rows]
        return _of_forecasts(find(prob), prob, problem.label[rows], weights, n_cells)

    if 0 < problem.size <= CHUNK and isinstance(problem, BinaryProblem):  # slicing few rows takes as long as summing
        score = problem.score
        return Bins(partition, *_of_scores(find(score), score, problem.outcome, problem.weights, n_cells))
    if problem.size:
        return Bins(partition, *added(map(read, chunks(problem.size))))
    shape = (n_cells,) if isinstance(problem, BinaryProblem) else (n_cells, problem.classes.size)
    return Bins(partition, np.zeros(n_cells, dtype=np.intp), np.zeros(n_cells), np.zeros(shape), np.zeros(shape))


def added(parts: Iterable[Cut]) -> Cut:
    """Add up the sums of several parts, one after the other."""
    return reduce(lambda total, part: tuple(map(np.add, total, part)), parts)


def _of_scores(at: IntArray, score: FloatArray, outcome: BoolArray, weights: Weights, n_bins: int) -> Cut:
    """Sum rows of a binary problem over the bins in which they are."""
    by_outcome = np.bincount(at + at + outcome, minlength=2 * n_bins)
    events = by_outcome[1::2]
    count = by_outcome[::2] + events
    scores = _weighted(at, score, weights, n_bins)
    if weights.is_unit:
        return count, count.astype(np.float64), scores, events.astype(np.float64)
    return count, np.bincount(at, weights.values, n_bins), scores, _weighted(at, outcome, weights, n_bins)


def _of_forecasts(at: IntArray, prob: FloatArray, label: IntArray, weights: Weights, n_cells: int) -> Cut:
    """Sum rows of a problem on the simplex over the cells in which they are."""
    count = np.bincount(at, minlength=n_cells)
    scores = np.stack([_weighted(at, column, weights, n_cells) for column in prob.T], axis=1)
    outcomes = class_sums(at, label, weights.values, scores.shape)
    return count, np.bincount(at, weights.values, n_cells), scores, outcomes


def class_sums(cell: IntArray, label: IntArray, weight: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Sum the weights of the rows of each class in each cell, of shape (n_cells, K)."""
    n_cells, n_classes = shape
    sums = np.bincount(cell * n_classes + label, weight, n_cells * n_classes)
    return sums.reshape(shape).astype(np.float64, copy=False)


def _weighted(at: IntArray, values: FloatArray | BoolArray, weights: Weights, n_cells: int) -> FloatArray:
    """Sum weighted values over the rows of each cell."""
    sums = np.bincount(at, values if weights.is_unit else weights.values * values, n_cells)
    return sums.astype(np.float64, copy=False)


def chunks(n: int) -> Iterator[slice]:
    """Cut n rows into chunks."""
    return (slice(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK))


class Binning(ABC):
    """How scores are cut. Called on a problem, returns `Bins`."""

    cuts_by_weight: ClassVar[bool] = False
    """Whether an edge is a score at which the weight of all scores up to it reaches something, whatever the scores are."""

    uses_outcomes: ClassVar[bool] = False
    """Whether the edges depend on the outcomes, and so are others for other outcomes of the same scores."""

    needs_scores: ClassVar[bool] = False
    """Whether it tells all scores apart, so that cells of many scores cannot stand for them."""

    is_fixed: ClassVar[bool] = False
    """Whether the edges are the same for all problems of one precision, so that sums of batches add up."""

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
        return sums_over(Edges(self._checked_edges(problem)), problem)

    def _checked_edges(self, problem: BinaryProblem) -> FloatArray:
        """Return the edges, if they are some; one bin where there are no rows, so that a binning of one's own needs none."""
        if problem.size == 0:
            return np.array([0.0, 1.0])
        edges = np.asarray(self.edges(problem), dtype=np.float64)
        require(
            edges.ndim == 1 and edges.size >= 2 and bool((edges[1:] >= edges[:-1]).all()),
            f"edges of {type(self).__name__} must be two numbers or more that do not decrease",
            got=f"shape {edges.shape}" if edges.ndim != 1 or edges.size < 2 else f"{edges}",
            hint="See that edges(problem) returns an array of shape (n_bins + 1,)",
        )
        return edges

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
