"""Cells of a fine grid in place of scores: a problem that stands for rows that are not in memory, and what it leaves open."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray, Problem
from calibrant._core.weights import Weights
from calibrant.notions import Binary
from calibrant.sums.sums import BinnedProblem, Unit


@dataclass(frozen=True, eq=False)
class FineCells:
    """The cells of a fine grid that hold rows, each with its limits, in the order of their scores.

    Nothing is known of the scores within a cell but their number, their mean and that of the outcomes. So of the weighted
    residuals y - p of its rows the sum is known, and of their running sums how far they reach at most.

    Attributes
    ----------
    left, right : ndarray of shape (d,)
        Limits of each cell: it holds the scores in (left, right], the first and the last one 0 and 1 alone.
    count, weight, score_sum, events : ndarray of shape (d,)
        Number of rows, their weight, and the weighted sums of scores and of outcomes.
    rows_per_weight : float
        How many rows a weight of one stands for.
    """

    left: FloatArray
    right: FloatArray
    count: IntArray
    weight: FloatArray
    score_sum: FloatArray
    events: FloatArray
    rows_per_weight: float

    @classmethod
    def of(cls, one: BinnedProblem) -> FineCells:
        """Take the cells of a problem that hold rows."""
        bins = one.bins
        held = np.flatnonzero(bins.count)
        left, right = bins.left[held], bins.right[held]
        left = np.where(right == 1.0, 1.0, left)  # the last cell holds 1 alone
        sums = (bins.count[held], bins.weight[held], bins.score_sum[held], bins.outcome_sum[held])
        return cls(left, right, *sums, one.weights.rows_per_weight)

    @cached_property
    def is_one_score(self) -> BoolArray:
        """Whether all rows of a cell have one score: a single row, and rows whose mean is the upper limit."""
        return np.asarray((self.count == 1) | (self.mean == self.right))

    @cached_property
    def lowest(self) -> FloatArray:
        """Lower limit of the scores of each cell, or the score if there is one."""
        return np.where(self.is_one_score, self.mean, self.left)

    @cached_property
    def highest(self) -> FloatArray:
        """Upper limit of the scores of each cell, or the score if there is one."""
        return np.where(self.is_one_score, self.mean, self.right)

    @cached_property
    def mean(self) -> FloatArray:
        """Mean score of each cell."""
        return np.clip(self.score_sum / self.weight, self.left, self.right)

    @cached_property
    def others(self) -> FloatArray:
        """Weight of the rows of each cell without the event."""
        return np.asarray(np.maximum(self.weight - self.events, 0.0))

    @cached_property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.weight.sum())

    @property
    def rows(self) -> float:
        """Number of rows that the weights stand for."""
        return self.total * self.rows_per_weight

    @cached_property
    def net(self) -> FloatArray:
        """Sum of the residuals of each cell."""
        return self.events - self.score_sum

    @cached_property
    def rise(self) -> FloatArray:
        """Largest possible sum of the positive residuals of each cell, those of its events."""
        most = np.minimum(self.events * (1.0 - self.lowest), self.net + self.others * self.highest)
        return np.asarray(np.maximum(most, np.maximum(self.net, 0.0)))

    @cached_property
    def fall(self) -> FloatArray:
        """Largest possible sum of the negative residuals of each cell, as a positive number."""
        return np.asarray(np.maximum(self.rise - self.net, 0.0))

    @cached_property
    def reached(self) -> FloatArray:
        """Sum of the residuals up to the beginning of each cell, and of all, shape (d + 1,)."""
        return np.append(0.0, np.cumsum(self.net))

    @cached_property
    def in_best_order(self) -> tuple[FloatArray, FloatArray]:
        """Weight and events of points in the order that tells the outcomes apart best: within each cell the events above."""
        weight = np.column_stack([self.others, self.events]).ravel()
        events = np.column_stack([np.zeros(self.events.size), self.events]).ravel()
        held = weight > 0.0
        return weight[held], events[held]


@dataclass(frozen=True, eq=False, repr=False)
class CellProblem(BinaryProblem):
    """A binary problem of which the scores were rounded to the means of fine cells: a row for each cell and outcome.

    Its weights count rows, or are sums of weights that do not. Values of it differ from those of the rows by what `cells`
    leave open.
    """

    cells: FineCells = field(kw_only=True)

    def at(self, rows: IntArray | BoolArray | slice, weights: Weights | None = None) -> BinaryProblem:  # type: ignore[override]
        """Return some of these rows, whose cells are not those of all."""
        return plain(self).at(rows, weights)


def rounded(one: BinnedProblem, of: Problem | None = None) -> CellProblem:
    """Return the problem of cells, a row for each cell and outcome that occurred there; ``of`` is what was cut."""
    cells = FineCells.of(one)
    by_outcome = np.stack([cells.others, cells.events])
    outcome, at = np.nonzero(by_outcome > 0.0)
    return CellProblem(
        score=cells.mean[at],
        outcome=outcome.astype(np.bool_),
        weights=SummedWeights.of(by_outcome[outcome, at], one.weights),
        share=one.share,
        name=one.name,
        classes=np.array([0, 1]) if of is None or of.classes.size != 2 else of.classes,
        cells=cells,
    )


def in_cells(problem: BinaryProblem) -> BinaryProblem:
    """Return a problem whose rows are in memory as it is, and one that is read in batches with scores rounded to cells."""
    known = problem.summed_parts(Binary())
    return problem if known is None else next(iter(known))


def outward(problem: BinaryProblem, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Move scores at which something begins, and others at which it ends, to the ends of their cells; of rows they stay."""
    if not isinstance(problem, CellProblem):
        return low, high
    cells = problem.cells
    first = np.where(cells.left < cells.right, np.nextafter(cells.left, 1.0), cells.right)
    return first[np.searchsorted(cells.mean, low)], cells.right[np.searchsorted(cells.mean, high)]


def plain(problem: CellProblem) -> BinaryProblem:
    """Return the same rows without what is known of the cells."""
    return BinaryProblem(**{name: getattr(problem, name) for name in BinaryProblem.__dataclass_fields__})


@dataclass(frozen=True, eq=False)
class SummedWeights(Weights):
    """Weights of cells: sums of those of rows, which mean what the weights of the rows meant."""

    @classmethod
    def of(cls, values: FloatArray, unit: Unit) -> SummedWeights:
        """Sum weights of this unit."""
        return cls(values, whole=cast(Weights, unit))

    @property
    def of_variance(self) -> FloatArray:
        """The counts; of other weights the squares are not known."""
        self._require_counts()
        return self.values

    @cached_property
    def effective_rows_per_weight(self) -> float:
        """One of counts; of other weights it is not known."""
        self._require_counts()
        return 1.0

    @property
    def importance(self) -> FloatArray:
        """One of counts; of other weights it is not known."""
        self._require_counts()
        return np.ones(len(self))

    @property
    def are_rows(self) -> bool:
        """Whether each row of the cells stands for one."""
        return self.are_counts and bool((self.values == 1.0).all())

    def _require_counts(self) -> None:
        require(
            self.are_counts,
            "weights must be whole, or none given, for intervals and tests of predictions that are read in batches",
            got="fractions, of which cells know the sums alone",
            hint="Take a sample of the rows: predictions.sample(100_000)",
        )
