"""Bins as a lens: the mean residual of the rows of each bin, its gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, IntArray, Problem
from calibrant.binning import Binning, Bins, EqualWidth
from calibrant.lenses.base import Lens, View
from calibrant.notions import Notion

USUAL = EqualWidth(15)
"""How scores are cut where neither the metric nor the caller says how."""


@dataclass(frozen=True)
class InBins(Lens):
    """Means of the residuals in bins: those that are asked for, or its own."""

    binning: Binning | None = None

    def __call__(self, problem: BinaryProblem) -> BinView:
        """Cut the scores."""
        bins = self.cut(problem)
        return BinView(bins, problem.score, problem.weight)

    @property
    def cut(self) -> Binning:
        """Its bins, or the usual ones."""
        return USUAL if self.binning is None else self.binning

    @property
    def has_bins(self) -> bool:
        """Yes."""
        return True

    @property
    def has_own_bins(self) -> bool:
        """Whether it keeps its bins, whatever binning is asked for."""
        return self.binning is not None

    def recut(self, binning: Binning) -> InBins:
        """Return the lens over these bins."""
        return InBins(binning)

    def cells(self, problem: Problem, notion: Notion) -> Binning:
        """Return the bins: their event rates are known, and noise is that of these rates."""
        return self.cut

    def over_cells(self, cells: BinaryProblem) -> View:
        """Each cell is a bin."""
        return EachCell()


@dataclass(frozen=True, eq=False)
class BinView(View):
    """The ``bins`` of rows with these scores and weights, each (n,); what is seen is the gap of each bin that holds weight."""

    bins: Bins
    score: FloatArray
    weight: FloatArray

    def look(self, residual: FloatArray) -> FloatArray:
        """Mean residuals of the bins, shape (m, d)."""
        index: IntArray = self.bins.index(self.score)
        sums = np.stack([np.bincount(index, self.weight * one, len(self.bins)) for one in residual])
        held = self.bins.weight > 0
        return np.asarray(sums[:, held] / self.bins.weight[held], dtype=np.float64)


class EachCell(View):
    """Cells that are bins already."""

    def look(self, residual: FloatArray) -> FloatArray:
        """Return the gaps as they are."""
        return residual
