"""The triangle of three classes, cut as Sierpinski's: corners again and again, the middle never."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require, whole
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant._core.registry import declare
from calibrant.binning.partition import Partition
from calibrant.binning.simplex.base import SimplexBinning

DEEPEST = 12
"""Cuts up to which cells can be counted: there are 797 161 of them then."""


@dataclass(frozen=True, eq=False)
class SierpinskiCells(Partition):
    """All cells down to a depth, whether they hold rows or not."""

    depth: int

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of cells."""
        return n_cells_of(self.depth)

    def _check_loaded(self, n_classes: int) -> None:
        Sierpinski(self.depth)
        require(
            n_classes == 3,
            "classes must be three where cells are those of Sierpinski",
            value=n_classes,
            hint="Fit anew",
        )

    def index(self, prob: FloatArray) -> IntArray:
        """Follow each forecast from corner to corner, until it is in the middle of three."""
        cell, row, lower = np.zeros(len(prob), dtype=np.intp), np.arange(len(prob)), np.zeros(prob.shape)
        for depth in range(1, self.depth + 1):
            # Half a triangle above its lower ends begin its corners. All these are multiples of a power of two: nothing is
            # rounded, and the forecast itself is compared.
            half = 0.5**depth
            above = prob[row] > lower + half
            corner = np.where(above.any(axis=1), above.argmax(axis=1), 3)
            cell[row] += corner * n_cells_of(self.depth - depth)
            again = corner < 3
            row, lower, corner = row[again], lower[again], corner[again]
            lower[np.arange(row.size), corner] += half
        return cell


@declare("simplex-binning", "sierpinski", symbol="SP", source="Gupta and Ramdas 2022")
@dataclass(frozen=True)
class Sierpinski(SimplexBinning):
    """The triangle of three classes cut into three corners and the middle, and each corner again (Sierpinski binning).

    The cells do not depend on the data: some may hold no row. They are finest where one class is nearly sure. For other numbers
    of classes take `Projection` or, for few, `SimplexGrid`.

    Parameters
    ----------
    depth : int, default=2
        How often corners are cut, 0 to 12. There are (3^(depth + 1) - 1) / 2 cells: 4, 13, 40, ...

    Raises
    ------
    ValueError
        If it is called on a problem that has not three classes.

    Notes
    -----
    Corner i of the whole triangle holds the forecasts with s_i > 1/2, and the middle those where no probability is that
    high: what lies on a border belongs to the middle, at every depth. In corner i the rule holds for the forecast that is
    stretched to fill a triangle, 2 s - e_i. Corner 1 has the first third of the numbers of cells, corner 2 the next, corner 3
    the next, and the middle the last number; within corners likewise.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant.binning import Sierpinski
    >>> from calibrant.metrics import canonical_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.3, 0.3, 0.4]]
    >>> round(canonical_calibration_error([0, 1, 2], P, binning=Sierpinski(1)), 3)
    0.467
    """

    cells: ClassVar[type[Partition]] = SierpinskiCells

    depth: int = 2

    def __post_init__(self) -> None:
        whole("depth", self.depth, least=0, most=DEEPEST, hint="2 makes 13 cells, 3 makes 40")

    def partition(self, problem: SimplexProblem) -> Partition:
        """Return the cells, if there are three classes."""
        require(
            problem.prob.shape[1] == 3,
            "Sierpinski must have three classes, a triangle",
            value=problem.prob.shape[1],
            hint="Cut with Projection() or SimplexGrid()",
        )
        return SierpinskiCells(self.depth)


def n_cells_of(depth: int) -> int:
    """Return the number of cells: three times those of a corner, and the middle."""
    cells: int = (3 ** (depth + 1) - 1) // 2
    return cells
