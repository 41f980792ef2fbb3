"""A bin for each score."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property, lru_cache, reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from calibrant._core.arrays import FloatArray, NDArray, blocks
from calibrant._core.checks import MOST_DRAWS, no_class, require, whole
from calibrant._core.registry import Kind, declare, entries, find
from calibrant._core.result import Record
from calibrant._core.rows import BinaryProblem, BoolArray, IntArray, SimplexProblem, places
from calibrant._core.threads import in_order, n_processors, pays

# The distinct scores of a problem in increasing order, and what stands on each


@dataclass(frozen=True, eq=False)
class Ordered:
    """The distinct scores of a problem; its rows in their order have those of each ``score`` from ``starts`` on.

    ``occurred`` are the outcomes of the rows in that order, where they are known without it; ``known`` is the order itself.
    """

    problem: BinaryProblem
    starts: IntArray
    score: FloatArray
    occurred: BoolArray | None = None
    order_found: IntArray | None = None

    @classmethod
    def of(cls, problem: BinaryProblem) -> Ordered:
        """Sort a problem that has rows."""
        if problem.weights.is_unit and problem.score.dtype.kind == "f" and problem.score.min(initial=0.0) >= 0.0:
            score, occurred = _sorted_together(problem.score, problem.outcome)
            starts = _starts_of_distinct(score)
            return cls(problem, starts, score[starts], occurred)
        order = np.argsort(problem.score, kind="stable")
        score = problem.score[order]
        starts = _starts_of_distinct(score)
        return cls(problem, starts, score[starts], order_found=order)

    @cached_property
    def order(self) -> IntArray:
        """Rows in the order of their scores; equal ones as they stand in the problem."""
        return np.argsort(self.problem.score, kind="stable") if self.order_found is None else self.order_found

    @cached_property
    def count(self) -> IntArray:
        """Rows on each score."""
        return np.diff(self.starts, append=self.problem.size)

    @cached_property
    def weight(self) -> FloatArray:
        """Weight on each score."""
        return self.count.astype(np.float64) if self._is_unit else self._sums(self.problem.weight)

    @cached_property
    def outcome_sum(self) -> FloatArray:
        """Weight of the events on each score."""
        if self.occurred is not None:
            return np.add.reduceat(self.occurred, self.starts, dtype=np.float64)
        outcome = self.problem.outcome
        return self._sums(outcome if self._is_unit else self.problem.weight * outcome)

    @cached_property
    def other_sum(self) -> FloatArray:
        """Weight of the rows without the event on each score."""
        if self._is_unit:
            return self.weight - self.outcome_sum
        return self._sums(np.where(self.problem.outcome, 0.0, self.problem.weight))

    @cached_property
    def reached(self) -> FloatArray:
        """Weight of all rows up to each score."""
        if self._is_unit:
            return np.append(self.starts[1:], self.problem.size).astype(np.float64)
        return np.cumsum(self.weight)

    @cached_property
    def events_reached(self) -> FloatArray:
        """Weight of all events up to each score."""
        return np.cumsum(self.outcome_sum)

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.reached[-1])

    def last_of(self, edges: FloatArray) -> IntArray:
        """Return the number of the last score in each bin that holds rows."""
        ends = np.append(np.searchsorted(self.score, edges[1:-1], side="right"), self.score.size)
        return ends[np.diff(ends, prepend=0) > 0] - 1

    @property
    def _is_unit(self) -> bool:
        return self.problem.weights.is_unit

    def _sums(self, values: NDArray[np.generic]) -> FloatArray:
        return np.add.reduceat(values[self.order], self.starts, dtype=np.float64)


def _sorted_together(score: FloatArray, outcome: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Return scores that are not negative in their order, and the outcomes that go with them.

    Such numbers are in the order of their bits. Without the sign there is a place for the outcome: to sort these integers takes
    half as long as to find the order.
    """
    bits = np.dtype(f"u{score.dtype.itemsize}").type
    keys = np.ascontiguousarray(score).view(bits) << bits(1)
    keys |= outcome
    keys.sort()
    return (keys >> bits(1)).view(score.dtype), (keys & bits(1)).astype(np.bool_)


def _starts_of_distinct(score: FloatArray) -> IntArray:
    """Return where each distinct score begins, of scores in their order."""
    is_first = np.ones(score.size, dtype=bool)
    np.not_equal(score[1:], score[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


def between(reached: FloatArray, last: IntArray) -> FloatArray:
    """Return the sums in each bin, of cumulative sums."""
    return np.diff(reached[last], prepend=0.0)


# What finds the cell of a row: edges between scores, or cells of the simplex


class Partition(ABC):
    """Cells of scores or of whole forecasts, numbered from 0.

    A dataclass whose fields are numbers, arrays and tuples of arrays can be saved with the calibrator that it serves.
    """

    n_cells: int

    @abstractmethod
    def index(self, prob: FloatArray) -> IntArray:
        """Find the cell of each forecast.

        Parameters
        ----------
        prob : ndarray of shape (n, K), or (n,) of scores
            Forecasts, not necessarily those that were summed.

        Returns
        -------
        ndarray of shape (n,)
            Numbers of cells; -1 where a forecast is in none of them.
        """

    def _check_loaded(self, n_classes: int) -> None:
        """Refuse, by a ValueError or TypeError that names it, a field from a file that no binning of so many classes gives."""
        whole("n_cells", self.n_cells, least=1, hint="Fit anew")

    def is_boundary(self, prob: FloatArray) -> BoolArray:
        """Whether forecasts lie on a cut that the data made: nowhere, unless a partition says otherwise.

        Parameters
        ----------
        prob : ndarray of shape (n, K)
            Forecasts.

        Returns
        -------
        ndarray of shape (n,)
            Rows that are no independent evidence of the class rates of their cell.
        """
        return np.zeros(len(prob), dtype=bool)

    def is_same(self, other: Partition) -> bool:
        """Whether these are the same cells: of the same kind, between the same cuts.

        Parameters
        ----------
        other : Partition
            What may be another object.

        Returns
        -------
        bool
            False of two objects whose cuts are not known, because their class is no dataclass.
        """
        names = getattr(self, "__dataclass_fields__", None)
        if self is other or names is None or type(self) is not type(other):
            return self is other
        return all(_is_equal(getattr(self, name), getattr(other, name)) for name in names)


@dataclass(frozen=True, eq=False)
class Edges(Record, Partition):
    """Bins of scores: bin b holds (edges[b], edges[b + 1]], the first also its lower edge.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Not decreasing. The first bin takes what is below, the last what is above.
    """

    edges: FloatArray

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of bins."""
        return self.edges.size - 1

    def index(self, prob: FloatArray) -> IntArray:
        """Search for each score."""
        return locate(self.edges, prob)

    def is_same(self, other: Partition) -> bool:
        """Whether the edges are equal, however a bin is found."""
        return isinstance(other, Edges) and np.array_equal(self.edges, other.edges)


UNITS = 4.0 * float(np.finfo(np.float32).eps)
"""Within this, times the number of bins, a product and an edge, each rounded, may lie on the wrong side of each other."""


FEW_SCORES = 2000
"""Scores up to which a search takes no longer than arithmetic."""


class EvenEdges(Edges):
    """Multiples of 1 / n_bins, rounded to double precision or to single: the bin of a score is had in a tenth of the time."""

    def index(self, prob: FloatArray) -> IntArray:
        """Find the bins by arithmetic; the edges have the last word on scores next to one."""
        if prob.size <= FEW_SCORES:
            return self.edges[1:-1].searchsorted(prob)
        n_bins = self.edges.size - 1
        place = prob * np.float64(n_bins)
        at: IntArray = place.astype(np.intp)
        place -= at
        near = UNITS * n_bins
        if not (np.minimum.reduce(place) > near and np.maximum.reduce(place) < 1.0 - near):
            unsure = np.flatnonzero((place <= near) | (place >= 1.0 - near))
            at[unsure] = locate(self.edges, prob[unsure])  # what is below 0 among them
        return np.minimum(at, n_bins - 1, out=at)


def locate(edges: FloatArray, score: FloatArray) -> IntArray:
    """Return the bin of each score: b with edges[b] < score <= edges[b + 1], the first and the last bin taking the rest."""
    return places(edges[1:-1], score)


def _is_equal(a: Any, b: Any) -> bool:
    """Whether two fields are equal: arrays, and tuples of arrays (from a file, lists), entry by entry."""
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(_is_equal, a, b))
    return bool(np.array_equal(a, b))


# What a binning is, and what it gives: sums over the rows of each bin


MOST_SHOWN = 2.0**62
"""Number of equal rows up to which it is shown."""

CHUNK = 1 << 16
"""Rows summed at a time: what is made on the way stays in the processor's cache, whatever the size of the table."""


TWO_UNITS = 2.0 * float(np.finfo(np.float64).eps)
"""Rounding of two sums of numbers below one, for each row that they are over, relative to the larger one."""

MOST_TERMS = 1 << 20
"""Rows from which on rounding does not grow: it cancels, and equal rows of a weight are one term of a sum."""


def residual_of_sums(events: FloatArray, scores: FloatArray, count: IntArray | FloatArray) -> FloatArray:
    """Return sums of outcomes less sums of scores over so many rows each; what rounding may have made of 0 is 0."""
    residual, count = events - scores, np.minimum(count, MOST_TERMS)
    rounding = TWO_UNITS * (count if count.ndim == residual.ndim else count[:, None])
    residual[np.abs(residual) <= rounding * np.maximum(events, scores)] = 0.0
    return residual


SUMS = ("count", "weight", "score_sum", "outcome_sum")
"""What is summed in each bin."""


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

    def __post_init__(self) -> None:
        for name in SUMS:  # its own, so that no views are needed
            getattr(self, name).setflags(write=False)

    @property
    def edges(self) -> FloatArray:
        """Edges of bins of scores, shape (n_bins + 1,): bin b is (edges[b], edges[b + 1]]. Cells of the simplex have none."""
        if isinstance(self.partition, Edges):
            return self.partition.edges
        kind = type(self.partition).__name__
        raise AttributeError(f"bins must be those of scores to have edges; got {kind}. Ask its partition instead.")

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
    def residual_sum(self) -> FloatArray:
        """Sum of the weighted outcomes less that of the scores of each bin; what rounding may have made of 0 is 0."""
        return residual_of_sums(self.outcome_sum, self.score_sum, self.count)

    @property
    def gap(self) -> FloatArray:
        """Event rate minus mean score; NaN where a bin is empty."""
        return self._mean(self.residual_sum)

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
        if not other.count.any():  # rows that do not exist change nothing
            return self
        if not self.count.any():
            return other
        must, hint = "bins add up only over the same edges", "Fix them first: EqualWidth(n), or one binning"
        require(self.partition.is_same(other.partition), must, got="different ones", hint=hint)
        return Bins(self.partition, *(getattr(self, name) + getattr(other, name) for name in SUMS))

    def __len__(self) -> int:
        return self.count.size

    def _mean(self, total: FloatArray) -> FloatArray:
        weight = np.where(self.weight > 0.0, self.weight, np.nan)
        return np.asarray(total / (weight if total.ndim == 1 else weight[:, None]))


def shown(bins: Bins, *, are_counts: bool) -> Bins:
    """Return bins as a result shows them: where weights are numbers of equal rows, ``count`` is their sum."""
    return replace(bins, count=np.minimum(bins.weight, MOST_SHOWN).astype(np.intp)) if are_counts else bins


def sums_over(partition: Partition, problem: BinaryProblem, part: IntArray | None = None, n_parts: int = 1) -> Bins:
    """Sum the scores and outcomes of a binary problem over bins.

    Where each row has a ``part`` there are the cells of all parts, one part after the other.
    """
    if (n := problem.score.size) > CHUNK:

        def read(rows: slice) -> Bins:
            return sums_over(partition, problem.at(rows), None if part is None else part[rows], n_parts)

        return reduce(add, in_order(read, blocks(n, 1, CHUNK), n_processors() if n >= PARALLEL_FROM else 1))
    at, score, weights, n_bins = partition.index(problem.score), problem.score, problem.weights, partition.n_cells
    if part is not None:
        at = at + n_bins * part
        n_bins *= n_parts
    weight = weights.values
    values = (score,) if weights.is_unit else (weight, weight * score, weight * problem.outcome)
    sums: list[Any] = [np.bincount(at, each, n_bins) for each in values]
    by_outcome = np.bincount(at + at + problem.outcome, minlength=2 * n_bins)
    events = by_outcome[1::2]
    count = by_outcome[::2] + events
    if weights.is_unit:
        sums = [count.astype(np.float64), *sums, events.astype(np.float64)]
    return Bins(partition, count, *sums)


def sums_of_forecasts(partition: Partition, problem: SimplexProblem) -> Bins:
    """Sum the forecasts and classes of a problem on the simplex over cells, chunk by chunk."""
    n_cells, n_classes = partition.n_cells, problem.classes.size

    def read(rows: slice) -> tuple[Any, ...]:
        prob, weight = problem.prob[rows], problem.weight[rows]
        at, label = partition.index(prob), problem.label[rows]
        scores = np.stack([np.bincount(at, weight * column, n_cells) for column in prob.T], axis=1)
        outcomes = class_sums(at, label, weight, (n_cells, n_classes))
        return np.bincount(at, minlength=n_cells), np.bincount(at, weight, n_cells), scores, outcomes

    if problem.size:
        return Bins(partition, *_added(map(read, blocks(problem.size, 1, CHUNK))))
    shape = n_cells, n_classes
    return Bins(partition, np.zeros(n_cells, dtype=np.intp), np.zeros(n_cells), np.zeros(shape), np.zeros(shape))


def _added(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Add up the sums of several parts, one after the other."""
    return reduce(lambda total, part: tuple(map(np.add, total, part)), parts)


def class_sums(cell: IntArray, label: IntArray, weight: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Sum the weights of the rows of each class in each cell, of shape (n_cells, K)."""
    n_cells, n_classes = shape
    sums = np.bincount(cell * n_classes + label, weight, n_cells * n_classes)
    return sums.reshape(shape).astype(np.float64, copy=False)


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
        return sums_over(self._partition(problem), problem)

    def _partition(self, problem: BinaryProblem) -> Edges:
        """Return what finds the bin of a score, between the edges for a problem; refuse what is no edges."""
        edges = np.asarray(self.edges(problem), dtype=np.float64) if problem.size else np.array([0.0, 1.0])
        fits = edges.ndim == 1 and edges.size >= 2 and bool((edges[1:] >= edges[:-1]).all())
        must = f"edges of {type(self).__name__} must be two numbers or more that do not decrease"
        hint = "See that edges(problem) returns an array of shape (n_bins + 1,)"
        require(fits, must, got=f"shape {edges.shape}" if edges.ndim != 1 or edges.size < 2 else f"{edges}", hint=hint)
        return Edges(edges)

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
    whole(name, n_bins, least=1, most=MOST_DRAWS, hint="10 to 20 is usual")


# Bins of equal weight


ROUNDING = 1e-12


@declare("binning", "equal-mass", symbol="EM", source="Zadrozny and Elkan 2001")
@dataclass(frozen=True)
class EqualMass(OrderedBinning):
    """Bins of equal total weight, cut at observed scores; equal scores are never split.

    Where n rows do not divide evenly the first bins hold one row more; whole weights count as rows, others are cut at exact
    shares. Heavy ties make fewer bins than asked for.

    Parameters
    ----------
    n_bins : int, default=15
        Number of bins at most, at least 1. The right choice where scores pile up, as those of neural networks do.
    """

    cuts_by_weight: ClassVar[bool] = True

    n_bins: int = 15

    edges = OrderedBinning.edges

    def __post_init__(self) -> None:
        require_bins(self.n_bins)

    def cut(self, ordered: Ordered) -> FloatArray:
        """Return the scores at which the cumulative weight reaches the equal shares."""
        return equal_mass_edges(ordered, self.n_bins)


def equal_mass_edges(ordered: Ordered, n_bins: int) -> FloatArray:
    """Edges of bins of equal weight, of which there may be more than scores."""
    cuts = ordered.score[ends_of_shares(ordered, n_bins)]
    return np.concatenate([[0.0], cuts[cuts < 1], [1.0]])


def ends_of_shares(ordered: Ordered, n_bins: int) -> IntArray:
    """Return the places of the scores at which one or more of the equal shares are reached, the whole left aside."""
    if ordered.problem.weights.are_counts and n_bins > ordered.score.size:
        return np.flatnonzero(np.diff(shares_reached(ordered, n_bins), prepend=0.0))
    at = np.searchsorted(ordered.reached, equal_shares(ordered, n_bins), side="left")
    # Shares do not decrease, and so neither do the places: equal ones are neighbours.
    at = np.minimum(at, ordered.score.size - 1)
    return at[np.diff(at, prepend=-1) > 0]


def equal_shares(ordered: Ordered, n_bins: int) -> FloatArray:
    """Cumulative weight at which each bin but the last ends."""
    if ordered.problem.weights.are_counts:
        base, remainder = divmod(ordered.total, n_bins)  # the first bins take what is left over
        k = np.arange(1, n_bins)
        return np.asarray(k * base + np.minimum(k, remainder), dtype=np.float64)
    # Sums of fractions are rounded: a share that is reached but for rounding is reached.
    return np.asarray(ordered.total * np.arange(1, n_bins) / n_bins * (1.0 - ROUNDING), dtype=np.float64)


def shares_reached(ordered: Ordered, n_bins: int) -> FloatArray:
    """Shares of whole weights that are reached up to each score: how many, without a list of them, which may be too long."""
    base, remainder = divmod(ordered.total, float(n_bins))
    larger = remainder * (base + 1.0)  # reached by the first bins, of one row more
    if base == 0.0:
        return np.minimum(ordered.reached, float(n_bins - 1))
    beyond = remainder + (ordered.reached - larger) // base
    return np.minimum(np.where(ordered.reached < larger, ordered.reached // (base + 1.0), beyond), float(n_bins - 1))


# Bins of equal width


SAVED = 3e-9
"""Seconds a row that the compiled loop saves."""

MOST_BINS = 1 << 16
"""Bins up to which the arithmetic of the compiled loop is off by one at most: they are wider than single precision rounds."""

PARALLEL_FROM = 1 << 20
"""Rows from which the compiled loop runs in several threads."""


@declare("binning", "equal-width", symbol="EW", source="Naeini et al. 2015")
@dataclass(frozen=True)
class EqualWidth(Binning):
    """Bins of equal width between 0 and 1.

    Parameters
    ----------
    n_bins : int, default=15
        Number of bins, at least 1. The usual choice; comparable between data sets, and empty where no scores are.
    """

    is_fixed: ClassVar[bool] = True

    n_bins: int = 15

    def __post_init__(self) -> None:
        require_bins(self.n_bins)

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return the multiples of 1 / n_bins, each rounded to the precision of the scores, so that 0.6 is an edge of five bins.

        In single precision 0.35 is a little less than in double: it ends the bin (0.25, 0.35] only if that ends there as well.
        """
        return even_edges(self.n_bins, problem.precision).edges

    def _partition(self, problem: BinaryProblem) -> Edges:
        """Find bins by arithmetic and not by search."""
        return even_edges(self.n_bins, problem.precision)

    def __call__(self, problem: BinaryProblem) -> Bins:
        """Sum in a compiled loop where that pays."""
        found = even_edges(self.n_bins, problem.precision)
        if problem.weights.is_unit and self.n_bins <= MOST_BINS and pays(problem.score.size, SAVED):
            return _compiled(found, problem)
        return sums_over(found, problem)


def _compiled(found: EvenEdges, problem: BinaryProblem) -> Bins:
    """Sum rows that weigh one each, chunk by chunk as `sums_over` does, so that both give the same to the last bit."""
    from calibrant._kernels.sums import add_column

    edges = between_infinities(found.edges)

    def read(rows: slice) -> tuple[IntArray, IntArray, FloatArray]:
        count, events = np.zeros((2, found.n_cells), dtype=np.intp)
        scores = np.zeros(found.n_cells)
        # numba would compile another loop for what is strided or cannot be written to.
        score = np.require(problem.score[rows], requirements=("C", "W"))
        outcome = np.require(problem.outcome[rows], requirements=("C", "W"))
        add_column(score, outcome, edges, count, events, scores)
        return count, events, scores

    workers = n_processors() if problem.size >= PARALLEL_FROM else 1
    count, events, scores = _added(in_order(read, list(blocks(problem.size, 1, CHUNK)), workers))
    return Bins(found, count, count.astype(np.float64), scores, events.astype(np.float64))


def between_infinities(edges: FloatArray) -> FloatArray:
    """Return the edges as compiled loops look at them: nothing lies outside the first and the last, of which there are two."""
    return np.concatenate([[-np.inf], edges[1:-1], [np.inf, np.inf]])


@lru_cache(maxsize=8)
def even_edges(n_bins: int, precision: np.dtype[np.floating[Any]]) -> EvenEdges:
    """Return the edges of bins of equal width, in double precision, after they were rounded to this one."""
    return EvenEdges((np.arange(n_bins + 1) / n_bins).astype(precision).astype(np.float64))


# From a number or a word to a binning


NUMBERED = re.compile(r"(.*[^-_ ])[-_ ]([0-9]+)")


def as_binning(binning: int | str | Binning) -> Binning:
    """Return the binning; a number n means ``EqualWidth(n)``, a word the registered one, "equal-mass-20" that of 20 bins."""
    if isinstance(binning, Binning):
        return binning
    if type(binning) is int:
        return _even(binning)
    no_class("binning", binning, wanted="a number, a word or a Binning")
    if isinstance(binning, str):
        found: Binning = of_word("binning", binning)
        return found
    require_bins(binning, "binning")
    return EqualWidth(binning)


@lru_cache
def _even(n_bins: int) -> EqualWidth:
    require_bins(n_bins, "binning")
    return EqualWidth(n_bins)


def of_word(kind: Kind, word: str) -> Any:
    """Return the registered thing of that name; a number behind it is its first parameter."""
    numbered = NUMBERED.fullmatch(word)
    if numbered is None or word in entries(kind):
        return find(kind, word).target()
    name, number = numbered.groups()
    try:
        target = find(kind, name).target
    except ValueError as error:
        raise ValueError(str(error).replace(f"got {name!r}", f"got {word!r}")) from None
    takes_one = is_dataclass(target) and fields(target) and type(fields(target)[0].default) is int
    require(takes_one, f"{kind} {name!r} must stand without a number", value=word, hint=f"Pass {name!r}")
    return target(int(number))


# Some thousands of fixed cells: what needs all scores is computed from their sums, where rows are read in batches


OCTAVES = 40
"""Cells end at 2^-40, below 1e-12, on both sides: what lies between there and 0, or 1, is one cell."""

MANTISSA = 52
"""Bits of a number in double precision behind the leading one."""

FIRST = (1023 - OCTAVES) << MANTISSA
"""The number 2^-40, as its bits."""

MOST_PER_OCTAVE = 1 << 12

MOST_CELLS, FEWEST_PER_OCTAVE = 1 << 18, 16
"""Cells of all problems of a notion, about, and cells to an octave that each problem has at least."""


@dataclass(frozen=True)
class FineGrid(Binning):
    """Fixed cells that are fine where scores are near 0 or 1: about equally wide in log-odds.

    Each octave of p up to 1/2, from 2^-k - 1 to 2^-k, is cut into cells of equal width; so is each of 1 - p above, in mirror
    image. The numbers 0 and 1 are cells of their own. Edges follow from the parameter alone, so that sums of batches add up;
    the cell of a score is read from its bits, without a search or a logarithm.

    Parameters
    ----------
    per_octave : int, default=256
        Cells to an octave, a power of two up to 4096. With 256 there are 19 972 cells; the widest, around 1/2, are
        1/1024 wide.
    """

    is_fixed: ClassVar[bool] = True

    per_octave: int = 256

    def __post_init__(self) -> None:
        whole("per_octave", self.per_octave, least=1, most=MOST_PER_OCTAVE, hint="256 is usual")
        is_power = self.per_octave & (self.per_octave - 1) == 0
        require(is_power, "per_octave must be a power of two", value=self.per_octave, hint="Pass 256")

    @classmethod
    def for_problems(cls, n_problems: int) -> FineGrid:
        """Return the grid for so many problems at once: the more there are, the fewer cells each has.

        Parameters
        ----------
        n_problems : int
            Problems of a notion, such as one of ``binary`` and one a class of ``class-wise``.

        Returns
        -------
        FineGrid
            One of 1024 cells to an octave for up to 3 problems, and fewer for more, down to 16 for 103.
        """
        fitting = MOST_CELLS // (2 * OCTAVES * max(1, n_problems))
        return cls(min(max(1 << max(0, fitting.bit_length() - 1), FEWEST_PER_OCTAVE), 1024))

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return the edges, which are the same for all problems."""
        return fine_edges(self.per_octave).edges

    def _partition(self, problem: BinaryProblem) -> Edges:
        """Find cells by their bits and not by search."""
        return fine_edges(self.per_octave)

    def index(self, score: FloatArray) -> IntArray:
        """Find the cell of each score.

        Parameters
        ----------
        score : ndarray of shape (n,)
            Probabilities in [0, 1].

        Returns
        -------
        ndarray of shape (n,)
            Numbers of cells; cell c is (edges[c], edges[c + 1]], the first is 0 alone.
        """
        return fine_edges(self.per_octave).index(score)


class FineEdges(Edges):
    """Edges of a `FineGrid`: cell c is (edges[c], edges[c + 1]], the first is 0 alone."""

    def index(self, prob: FloatArray) -> IntArray:
        """Read the cell of each probability from its bits."""
        p = prob.astype(np.float64, copy=False)
        upper = p > 0.5
        # Above 1/2 the difference is exact. There a cell holds its upper edge, which is the lower one of 1 - p.
        near = np.where(upper, 1.0 - p, p)
        bits = near.view(np.int64) - ~upper
        per_octave = (self.n_cells // 2 - 1) // (OCTAVES - 1)
        shift = MANTISSA - (per_octave.bit_length() - 1)
        rank = ((bits - FIRST) >> shift) + 2
        np.maximum(rank, 1, out=rank)
        rank[near == 0.0] = 0
        return np.where(upper, self.n_cells - 1 - rank, rank).astype(np.intp, copy=False)


@lru_cache(maxsize=8)
def fine_edges(per_octave: int) -> FineEdges:
    """Return the edges: 0 twice, those of the octaves from 2^-40 on, their mirror images, the last number before 1, and 1."""
    within: NDArray[np.float64] = 1.0 + np.arange(per_octave) / per_octave
    below = np.append(np.outer(2.0 ** -np.arange(OCTAVES, 1, -1), within).ravel(), 0.5)
    above = 1.0 - below[-2::-1]
    return FineEdges(np.concatenate([[0.0, 0.0], below, above, [np.nextafter(1.0, 0.0), 1.0]]))


# Bins of equal weight with a given number of rows each


@declare("binning", "points-per-bin", symbol="PPB", source="Gupta and Ramdas 2022")
@dataclass(frozen=True)
class PointsPerBin(OrderedBinning):
    """Bins of equal mass with a given number of rows each: the more rows, the more bins.

    What the event rate of a bin is worth hangs on the number of its rows, not on the number of bins. So problems of different
    sizes, such as the rows that predict a frequent and a rare class, get bins that are worth the same.

    Parameters
    ----------
    points_per_bin : int, default=50
        Rows in each bin at least, at least 1. n rows make max(1, n // points_per_bin) bins, exactly those of `EqualMass`:
        fewer rows than that make one bin, and heavy ties fewer and unequal ones, some of them with fewer rows.

    Notes
    -----
    Whole weights count as rows; others are scaled to a mean of one.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022 (Algorithm 8).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import reliability_curve
    >>> from calibrant.binning import PointsPerBin
    >>> score = np.arange(110) / 110
    >>> curve = reliability_curve(score > 0.5, score, binning=PointsPerBin(50))
    >>> curve.panels[0].bins.count.tolist()
    [55, 55]
    """

    points_per_bin: int = 50

    def __post_init__(self) -> None:
        whole("points_per_bin", self.points_per_bin, least=1, hint="Pass a number of rows such as 50")

    def cut(self, ordered: Ordered) -> FloatArray:
        """Return the edges of as many bins of equal mass as the rows fill."""
        rows = round(ordered.total * ordered.problem.weights.rows_per_weight)
        return equal_mass_edges(ordered, max(1, rows // int(self.points_per_bin)))


@declare("binning", "unique", symbol="U", source="Gupta and Ramdas 2022")
@dataclass(frozen=True)
class Unique(OrderedBinning):
    """A bin for each distinct score: no averaging at all. For forecasts that take few values."""

    needs_scores: ClassVar[bool] = True

    def cut(self, ordered: Ordered) -> FloatArray:
        """Return 0 and the distinct scores."""
        return np.append(0.0, ordered.score)

    def __call__(self, problem: BinaryProblem) -> Bins:
        """Sum over rows in order and not by search."""
        if problem.size == 0:
            return super().__call__(problem)
        ordered = Ordered.of(problem)
        cut, score_sum = Edges(self.cut(ordered)), ordered.weight * ordered.score
        return Bins(cut, ordered.count, ordered.weight, score_sum, ordered.outcome_sum)
