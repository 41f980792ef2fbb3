"""Cumulative sums of the residuals in the order of the scores: no bins, nothing to choose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, IntArray
from calibrant.lenses.base import Lens, View
from calibrant.sums.fine_cells import FineCells


@dataclass(frozen=True)
class Cumulative(Lens):
    """Weighted residuals of all rows up to each distinct score, divided by the total weight.

    (Gupta K. et al. 2021; Arrieta-Ibarra et al. 2022.) Equal scores enter together, so the order of rows never matters.
    """

    def __call__(self, problem: BinaryProblem) -> CumulativeView:
        """Sort the scores."""
        order = np.argsort(problem.score, kind="stable")
        score = problem.score[order]
        ends = np.append(np.flatnonzero(np.diff(score)), score.size - 1)
        weight = problem.weight[order]
        return CumulativeView(order, ends, score[ends], weight / weight.sum())


@dataclass(frozen=True, eq=False)
class CumulativeView(View):
    """Where the sums are read: ``score`` are the distinct scores, shape (d,)."""

    order: IntArray
    ends: IntArray
    score: FloatArray
    weight: FloatArray

    def look(self, residual: FloatArray) -> FloatArray:
        """Sum up to each distinct score."""
        sums = np.cumsum(residual[:, self.order] * self.weight, axis=1)
        return sums[:, self.ends]

    @property
    def share(self) -> FloatArray:
        """Share of the weight up to each distinct score, shape (d,)."""
        shares: FloatArray = np.cumsum(self.weight)[self.ends]
        return shares


def end_deviation(problem: BinaryProblem) -> float:
    """Standard deviation of the last sum, the mean residual, if the forecast is calibrated."""
    p, total = problem.score, problem.weights.total
    return float(np.sqrt(problem.weights.of_variance @ (p * (1.0 - p)))) / total


def largest(view: View, seen: FloatArray) -> FloatArray:
    """Largest absolute value: Kolmogorov and Smirnov's distance."""
    distance: FloatArray = np.abs(seen).max(axis=1)
    return distance


def spread(view: View, seen: FloatArray) -> FloatArray:
    """Highest minus lowest value, the zero at the start included: Kuiper's distance."""
    reach: FloatArray = np.maximum(seen.max(axis=1), 0.0) - np.minimum(seen.min(axis=1), 0.0)
    return reach


def largest_within(cells: FineCells, value: float) -> tuple[float, float]:
    """Limits of the largest absolute sum of the rows: that at the ends of cells, and what lies between them at most.

    At the ends of cells the sums are those of the rows. Within a cell they rise by no more than its events do, sum of
    weight * (1 - p), and fall by no more than sum of weight * p over its non-events.
    """
    highest, lowest = _reach(cells)
    return value, max(highest, -lowest)


def spread_within(cells: FineCells, value: float) -> tuple[float, float]:
    """Limits of the highest minus the lowest sum, as `largest_within` has them."""
    highest, lowest = _reach(cells)
    return value, highest - lowest


def _reach(cells: FineCells) -> tuple[float, float]:
    """Return how high and how low the running sums of the rows may go, the zero at the start included."""
    before = cells.reached[:-1]
    highest, lowest = (before + cells.rise).max(initial=0.0), (before - cells.fall).min(initial=0.0)
    return float(highest) / cells.total, float(lowest) / cells.total
