"""The predictions of a problem, each tested against the events of its bin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse, require
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray
from calibrant.binning import Bins
from calibrant.binning.distinct_scores import Ordered
from calibrant.metrics.rejections import binomial
from calibrant.metrics.rejections.acceptance import TestName, accepted, outside

MOST_ROWS = 2.0**53
"""Below it whole numbers are numbers of floating point, one by one."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The distinct scores of a problem in order, with the weight on each, its bin and whether its bin rejects it."""

    score: FloatArray
    weight: FloatArray
    bin: IntArray
    is_rejected: BoolArray

    def rejected(self, n_bins: int) -> FloatArray:
        """Return the weight of the rejected predictions of each bin, shape (n_bins,)."""
        return np.bincount(self.bin, self.weight * self.is_rejected, n_bins).astype(np.float64)


def verdicts(problem: BinaryProblem, bins: Bins, test: TestName, level: float) -> Verdicts:
    """Test each prediction of a problem that has rows against the events of its bin.

    Raises
    ------
    ValueError
        If weights are no counts, or sum to 2**53 or more: a test counts rows.
    """
    require(
        problem.weights.are_counts,
        "sample_weight must hold whole numbers where predictions are tested in their bins, for a test counts rows",
        got="fractions",
        hint="Pass numbers of equal rows, or leave sample_weight out",
    )
    if not (rows := problem.weights.total) < MOST_ROWS:
        refuse(
            "sample_weight must have a sum below 2**53 where predictions are tested in their bins, for a test counts rows",
            got=f"{rows:g}",
            hint="Pass numbers of rows",
        )
    ordered = Ordered.of(problem)
    at = bins.index(ordered.score)
    return Verdicts(ordered.score, ordered.weight, at, _rejects(ordered.score, at, bins, test, level))


def _rejects(score: FloatArray, at: IntArray, bins: Bins, test: TestName, level: float) -> BoolArray:
    if test == "binomial":
        return binomial.rejects(score, at, bins.outcome_sum, bins.weight, level)
    lower, upper = accepted(test, bins.outcome_sum, bins.weight, level)
    return outside(score, lower[at], upper[at])
