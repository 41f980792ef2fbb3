"""A grid on the simplex: each probability is cut by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import numbers, refuse, require
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant._core.registry import declare
from calibrant.binning.base import require_bins
from calibrant.binning.even_index import UNITS
from calibrant.binning.partition import Partition
from calibrant.binning.simplex.base import SimplexBinning

CODES = 1 << 31
"""Numbers that the digits of some columns are put together to; twice as many bits fit into an integer."""


@dataclass(frozen=True, eq=False)
class GridCells(Partition):
    """Cells of a grid: the bins of ``width`` columns make a number, whose place among the ``known`` ones leads the next."""

    n_bins: int
    width: int
    known: tuple[IntArray, ...]

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of cells that held rows."""
        return self.known[-1].size

    def _check_loaded(self, n_classes: int) -> None:
        SimplexGrid(self.n_bins)
        require(
            isinstance(self.known, (list, tuple)),
            "known must be a list of arrays",
            got=type(self.known).__name__,
            hint="Fit anew",
            error=TypeError,
        )
        if self.width != _width(self.n_bins) or len(self.known) != -(-n_classes // self.width):
            refuse(
                f"known must have an array for every {_width(self.n_bins)} of {n_classes} classes, and width say so",
                got=f"{len(self.known)} and {self.width!r}",
                hint="Fit anew",
            )
        for known in self.known:
            require(
                numbers("known", known, shape=(None,), least=0, order="rising").size,
                "known must hold a cell",
                got="none",
                hint="Fit anew",
            )

    def index(self, prob: FloatArray) -> IntArray:
        """Look up the numbers, some columns at a time."""
        at, is_known = np.zeros(len(prob), dtype=np.int64), np.ones(len(prob), dtype=bool)
        for number, known in enumerate(self.known):
            code = _append(at, prob[:, number * self.width : (number + 1) * self.width], self.n_bins)
            at = np.minimum(np.searchsorted(known, code), known.size - 1)
            is_known &= known[at] == code
        return np.where(is_known, at, -1)


@declare("simplex-binning", "grid", symbol="SG", source="Vaicenavicius et al. 2019; Gupta and Ramdas 2022")
@dataclass(frozen=True)
class SimplexGrid(SimplexBinning):
    """Each probability cut into bins of equal width; forecasts whose probabilities share all bins share a cell.

    Only cells that hold rows are kept, so that many classes cost no memory. But with many classes nearly every row is alone in
    its cell: a grid is for two to five classes.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins of each probability, right-closed, with 0 in the first.

    Notes
    -----
    Of Gupta and Ramdas this is the grid-style binning with K = ``n_bins`` steps of tau = 1 / K.

    References
    ----------
    Vaicenavicius, Widmann, Andersson, Lindsten, Roll, Schön, Evaluating model calibration in classification, AISTATS 2019.
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant.binning import SimplexGrid
    >>> from calibrant.metrics import canonical_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.3, 0.3, 0.4]]
    >>> round(canonical_calibration_error([0, 1, 2], P, binning=SimplexGrid(2)), 3)
    0.467
    """

    cells: ClassVar[type[Partition]] = GridCells

    n_bins: int = 5

    def __post_init__(self) -> None:
        require_bins(self.n_bins)

    def partition(self, problem: SimplexProblem) -> Partition:
        """Number the cells that hold rows."""
        width = _width(self.n_bins)
        code, known = np.zeros(problem.size, dtype=np.int64), []
        for start in range(0, problem.prob.shape[1], width):
            code = _append(code, problem.prob[:, start : start + width], self.n_bins)
            found, code = np.unique(code, return_inverse=True)
            known.append(found)
        return GridCells(self.n_bins, width, tuple(known))


def _width(n_bins: int) -> int:
    """Return how many columns are put together to a number."""
    return max(1, int(np.log(CODES) / np.log(max(n_bins, 2))))


def _append(code: IntArray, prob: FloatArray, n_bins: int) -> IntArray:
    """Append the bins of columns to a code, as digits of a number."""
    for column in prob.T:
        code = code * n_bins + _bin(column, n_bins)
    return code


def _bin(score: FloatArray, n_bins: int) -> IntArray:
    """Return the number of edges below each score, as `even_index` does, without an array of all edges, which may be many."""
    place = score * n_bins
    at: IntArray = np.ceil(place).astype(np.int64) - 1
    unsure = np.flatnonzero(np.abs(place - np.rint(place)) <= UNITS * n_bins * np.finfo(np.float64).eps)
    if unsure.size:  # next to an edge, which has the last word
        near, beside = np.clip(at[unsure], 0, n_bins - 1), score[unsure]
        near -= (near > 0) & (near / n_bins >= beside)
        near += (near < n_bins - 1) & ((near + 1) / n_bins < beside)
        at[unsure] = near
    return at
