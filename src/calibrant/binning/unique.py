"""A bin for each score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem
from calibrant._core.registry import declare
from calibrant.binning.base import Bins, OrderedBinning
from calibrant.binning.distinct_scores import Ordered
from calibrant.binning.partition import Edges


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
