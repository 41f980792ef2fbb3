"""Bins of equal width."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.loading import pays
from calibrant._core.problem import BinaryProblem, IntArray
from calibrant._core.registry import declare
from calibrant._core.threads import in_order, n_processors
from calibrant.binning.base import Binning, Bins, added, chunks, require_bins, sums_over
from calibrant.binning.even_index import even_index
from calibrant.binning.partition import Edges

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

    def __call__(self, problem: BinaryProblem) -> Bins:
        """Cut by arithmetic and not by search."""
        found = even_edges(self.n_bins, problem.precision)
        if problem.weights.is_unit and self.n_bins <= MOST_BINS and pays(problem.size, SAVED):
            return _compiled(found, problem)
        unit = float(np.finfo(problem.precision).eps)
        return sums_over(found, problem, lambda score: even_index(found.edges, score, unit))


def _compiled(found: Edges, problem: BinaryProblem) -> Bins:
    """Sum rows that weigh one each, chunk by chunk as `sums_over` does, so that both give the same to the last bit."""
    from calibrant._kernels.binned import add_column

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
    count, events, scores = added(in_order(read, list(chunks(problem.size)), workers))
    return Bins(found, count, count.astype(np.float64), scores, events.astype(np.float64))


def between_infinities(edges: FloatArray) -> FloatArray:
    """Return the edges as compiled loops look at them: nothing lies outside the first and the last, of which there are two."""
    return np.concatenate([[-np.inf], edges[1:-1], [np.inf, np.inf]])


@lru_cache(maxsize=8)
def even_edges(n_bins: int, precision: np.dtype[np.floating[Any]]) -> Edges:
    """Return the edges of bins of equal width, in double precision, after they were rounded to this one."""
    return Edges((np.arange(n_bins + 1) / n_bins).astype(precision).astype(np.float64))
