"""Bins of equal width."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem
from calibrant._core.registry import declare
from calibrant.binning.base import Binning, Bins, require_bins, sums_over
from calibrant.binning.even_index import even_index
from calibrant.binning.partition import Edges

KERNEL_PAYS_FROM = 1 << 22
"""Rows from which the compiled loop is used. It saves some 20 ns a row; loading numba takes half a second, and compiling,
once a machine, a few more."""


@declare("binning", "equal-width", symbol="EW", source="Naeini et al. 2015")
@dataclass(frozen=True)
class EqualWidth(Binning):
    """Bins of equal width between 0 and 1.

    Parameters
    ----------
    n_bins : int, default=15
        Number of bins, at least 1. The usual choice; comparable between data sets, and empty where no scores are.
    """

    n_bins: int = 15

    def __post_init__(self) -> None:
        require_bins(self.n_bins)

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return the multiples of 1 / n_bins, each rounded to the precision of the scores, so that 0.6 is an edge of five bins.

        In single precision 0.35 is a little less than in double: it ends the bin (0.25, 0.35] only if that ends there as well.
        """
        return even_edges(self.n_bins, problem.precision).edges

    def __call__(self, problem: BinaryProblem) -> Bins:
        """Cut by arithmetic and not by search."""
        found = even_edges(self.n_bins, problem.precision)
        if problem.size >= KERNEL_PAYS_FROM:
            from calibrant._kernels.binned import equal_width_sums

            count, *sums = equal_width_sums(problem.score, problem.outcome, problem.weight, found.edges)
            return Bins(found, count.astype(np.intp), *sums)
        unit = float(np.finfo(problem.precision).eps)
        return sums_over(found, problem, lambda score: even_index(found.edges, score, unit))


@lru_cache(maxsize=8)
def even_edges(n_bins: int, precision: np.dtype[np.floating[Any]]) -> Edges:
    """Return the edges of bins of equal width, in double precision, after they were rounded to this one."""
    return Edges((np.arange(n_bins + 1) / n_bins).astype(precision).astype(np.float64))
