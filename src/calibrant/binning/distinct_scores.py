"""The distinct scores of a problem in increasing order, and what stands on each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, IntArray


@dataclass(frozen=True, eq=False)
class Ordered:
    """A problem with its rows in the ``order`` of their scores; those of each distinct ``score`` begin at ``starts``."""

    problem: BinaryProblem
    order: IntArray
    starts: IntArray
    score: FloatArray

    @classmethod
    def of(cls, problem: BinaryProblem) -> Ordered:
        """Sort a problem that has rows."""
        order = np.argsort(problem.score, kind="stable")
        score = problem.score[order]
        is_first = np.ones(score.size, dtype=bool)
        np.not_equal(score[1:], score[:-1], out=is_first[1:])
        starts = np.flatnonzero(is_first)
        return cls(problem, order, starts, score[starts])

    @cached_property
    def count(self) -> IntArray:
        """Rows on each score."""
        return np.diff(self.starts, append=self.order.size)

    @cached_property
    def weight(self) -> FloatArray:
        """Weight on each score."""
        return self.count.astype(np.float64) if self._is_unit else self._sums(self.problem.weight)

    @cached_property
    def outcome_sum(self) -> FloatArray:
        """Weight of the events on each score."""
        outcome = self.problem.outcome
        return self._sums(outcome if self._is_unit else self.problem.weight * outcome)

    @cached_property
    def reached(self) -> FloatArray:
        """Weight of all rows up to each score."""
        if self._is_unit:
            return np.append(self.starts[1:], self.order.size).astype(np.float64)
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


def between(reached: FloatArray, last: IntArray) -> FloatArray:
    """Return the sums in each bin, of cumulative sums."""
    return np.diff(reached[last], prepend=0.0)
