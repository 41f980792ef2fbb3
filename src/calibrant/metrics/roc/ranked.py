"""Events and non-events in the order of their scores: what the points of a ROC curve and the areas are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, IntArray
from calibrant.binning.distinct_scores import Ordered
from calibrant.binning.isotonic import block_starts


@dataclass(frozen=True, eq=False)
class Ranked:
    """Weights of events and of non-events on each step of scores; the steps begin at the distinct scores ``first``.

    A step is one distinct score, or a block of them that are taken for equal.
    """

    ordered: Ordered
    first: IntArray

    @classmethod
    def of(cls, problem: BinaryProblem) -> Ranked:
        """Rank the rows of a problem that has rows: each distinct score is a step."""
        ordered = Ordered.of(problem)
        return cls(ordered, np.arange(ordered.score.size))

    def pooled(self) -> Ranked:
        """Take the scores of each block of the isotonic fit for equal.

        The cumulative sum diagram of the outcomes is an affine image of the ROC curve, and the blocks are the pieces of its
        greatest convex minorant: the curve of what is pooled is the convex hull.
        """
        return Ranked(self.ordered, block_starts(self.ordered))

    @cached_property
    def events(self) -> FloatArray:
        """Weight of the events on each step."""
        return self._on_steps(self.ordered.outcome_sum)

    @cached_property
    def others(self) -> FloatArray:
        """Weight of the non-events on each step."""
        return self._on_steps(self.ordered.other_sum)

    @property
    def has_both(self) -> bool:
        """Whether there are events and non-events."""
        outcome = self.ordered.problem.outcome
        return bool(outcome.any() and not outcome.all())

    @cached_property
    def vertex(self) -> IntArray:
        """Number of the point of the ROC curve of distinct scores at which each step ends, from the highest score, and 0."""
        return np.append(0, (self.ordered.score.size - self.first)[::-1])

    @cached_property
    def false(self) -> FloatArray:
        """Share of the non-events above each threshold, from the highest; NaN without non-events."""
        return _shares(self.others)

    @cached_property
    def true(self) -> FloatArray:
        """Share of the events above each threshold, from the highest; NaN without events."""
        return _shares(self.events)

    @property
    def area(self) -> float:
        """Area under the points joined by lines; NaN without rows of both kinds."""
        return float(np.diff(self.false) @ (self.true[1:] + self.true[:-1])) / 2.0

    def placements(self) -> FloatArray:
        """Weight of the rows of the other kind that each row is on the right side of, equal steps by half, shape (n,)."""
        below = np.cumsum(self.others) - self.others / 2.0
        above = np.cumsum(self.events[::-1])[::-1] - self.events / 2.0
        ordered = self.ordered
        count = np.add.reduceat(ordered.count, self.first)
        placed = np.empty(ordered.order.size)
        occurred = ordered.problem.outcome[ordered.order]
        placed[ordered.order] = np.where(occurred, np.repeat(below, count), np.repeat(above, count))
        return placed

    def _on_steps(self, sums: FloatArray) -> FloatArray:
        on_steps: FloatArray = np.add.reduceat(sums, self.first)
        return on_steps


def _shares(weight: FloatArray) -> FloatArray:
    """Return what lies above each threshold as a share: from exactly 0 to exactly 1, or NaN of nothing."""
    reached = np.append(0.0, np.cumsum(weight[::-1]))
    return reached / reached[-1] if reached[-1] > 0 else np.full(reached.size, np.nan)
