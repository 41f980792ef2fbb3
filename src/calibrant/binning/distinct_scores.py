"""The distinct scores of a problem in increasing order, and what stands on each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Ordered:
    """The distinct scores of a problem; its rows in their order have those of each ``score`` from ``starts`` on.

    ``occurred`` are the outcomes of the rows in that order, if they are known without it.
    """

    problem: BinaryProblem
    starts: IntArray
    score: FloatArray
    occurred: BoolArray | None = None

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
        ordered = cls(problem, starts, score[starts])
        ordered.__dict__["order"] = order
        return ordered

    @cached_property
    def order(self) -> IntArray:
        """Rows in the order of their scores; equal ones as they stand in the problem."""
        return np.argsort(self.problem.score, kind="stable")

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
            sums: FloatArray = np.add.reduceat(self.occurred, self.starts, dtype=np.float64)
            return sums
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

    @cached_property
    def is_whole(self) -> bool:
        """Whether weights are whole, in all of the problem that this may be a part of, so that they count as rows."""
        return self.problem.weights.are_counts

    @cached_property
    def rows_per_weight(self) -> float:
        """Rows that a weight of one stands for."""
        return self.problem.weights.rows_per_weight

    def last_of(self, edges: FloatArray) -> IntArray:
        """Return the number of the last score in each bin that holds rows."""
        ends = np.searchsorted(self.score, edges[1:-1], side="right")
        ends = np.append(ends, self.score.size)
        return ends[np.diff(ends, prepend=0) > 0] - 1

    @property
    def _is_unit(self) -> bool:
        return self.problem.weights.is_unit

    def _sums(self, values: npt.NDArray[np.generic]) -> FloatArray:
        sums: FloatArray = np.add.reduceat(values[self.order], self.starts, dtype=np.float64)
        return sums


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
