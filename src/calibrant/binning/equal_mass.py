"""Bins of equal weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.registry import declare
from calibrant.binning.base import OrderedBinning, require_bins
from calibrant.binning.distinct_scores import Ordered

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

    n_bins: int = 15

    def __post_init__(self) -> None:
        require_bins(self.n_bins)

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


def equal_shares(ordered: Ordered, n_bins: int) -> FloatArray:
    """Cumulative weight at which each bin but the last ends."""
    total, k = ordered.total, np.arange(1, n_bins)
    if ordered.is_whole:  # numbers of rows: the first bins take the remainder
        base, remainder = divmod(total, n_bins)
        return np.asarray(k * base + np.minimum(k, remainder), dtype=np.float64)
    # Sums of fractions are rounded: a share that is reached but for rounding is reached.
    return np.asarray(total * k / n_bins * (1.0 - ROUNDING), dtype=np.float64)


def shares_reached(ordered: Ordered, n_bins: int) -> FloatArray:
    """Shares of whole weights that are reached up to each score: how many, without a list of them, which may be too long."""
    base, remainder = divmod(ordered.total, float(n_bins))
    larger = remainder * (base + 1.0)  # reached by the first bins, of one row more
    if base == 0.0:
        return np.minimum(ordered.reached, float(n_bins - 1))
    beyond = remainder + (ordered.reached - larger) // base
    return np.minimum(np.where(ordered.reached < larger, ordered.reached // (base + 1.0), beyond), float(n_bins - 1))
