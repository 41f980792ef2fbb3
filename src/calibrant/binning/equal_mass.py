"""Bins of equal weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem
from calibrant._core.registry import declare
from calibrant.binning.base import OrderedBinning, require_bins
from calibrant.binning.distinct_scores import Ordered

ROUNDING = 1e-12

MOST_SELECTED = 100
"""Bins up to which their edges are found sooner than the scores are sorted."""


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

    def __post_init__(self) -> None:
        require_bins(self.n_bins)

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return the scores at which the cumulative weight reaches the equal shares; one bin where there are no rows."""
        if problem.weights.is_unit and 2 <= self.n_bins <= min(MOST_SELECTED, problem.size):
            return selected_edges(problem.score, self.n_bins)
        return super().edges(problem)

    def cut(self, ordered: Ordered) -> FloatArray:
        """Return the scores at which the cumulative weight reaches the equal shares."""
        return equal_mass_edges(ordered, self.n_bins)


def equal_mass_edges(ordered: Ordered, n_bins: int) -> FloatArray:
    """Edges of bins of equal weight, of which there may be more than scores."""
    if ordered.is_whole and n_bins > ordered.score.size:
        at = np.flatnonzero(np.diff(shares_reached(ordered, n_bins), prepend=0.0))
    else:
        at = np.searchsorted(ordered.reached, equal_shares(ordered, n_bins), side="left")
        # Shares do not decrease, and so neither do the places: equal ones are neighbours.
        at = np.minimum(at, ordered.score.size - 1)
        at = at[np.diff(at, prepend=-1) > 0]
    cuts = ordered.score[at]
    return np.concatenate([[0.0], cuts[cuts < 1], [1.0]])


def selected_edges(score: FloatArray, n_bins: int) -> FloatArray:
    """Edges of bins of an equal number of scores, no more of them than scores, which need not be sorted for that."""
    last = _rows_reached(score.size, n_bins) - 1
    cuts = np.unique(np.partition(score, last)[last])
    return np.concatenate([[0.0], cuts[cuts < 1], [1.0]])


def equal_shares(ordered: Ordered, n_bins: int) -> FloatArray:
    """Cumulative weight at which each bin but the last ends."""
    if ordered.is_whole:
        return np.asarray(_rows_reached(ordered.total, n_bins), dtype=np.float64)
    # Sums of fractions are rounded: a share that is reached but for rounding is reached.
    return np.asarray(ordered.total * np.arange(1, n_bins) / n_bins * (1.0 - ROUNDING), dtype=np.float64)


def _rows_reached(total: float, n_bins: int) -> npt.NDArray[Any]:
    """Rows up to the end of each bin but the last: the first bins take what is left over."""
    base, remainder = divmod(total, n_bins)
    k = np.arange(1, n_bins)
    return k * base + np.minimum(k, remainder)


def shares_reached(ordered: Ordered, n_bins: int) -> FloatArray:
    """Shares of whole weights that are reached up to each score: how many, without a list of them, which may be too long."""
    base, remainder = divmod(ordered.total, float(n_bins))
    larger = remainder * (base + 1.0)  # reached by the first bins, of one row more
    if base == 0.0:
        return np.minimum(ordered.reached, float(n_bins - 1))
    beyond = remainder + (ordered.reached - larger) // base
    return np.minimum(np.where(ordered.reached < larger, ordered.reached // (base + 1.0), beyond), float(n_bins - 1))
