"""How the simplex is cut into cells, for statements about the whole forecast and not about one score of it.

A simplex binning is a frozen object of parameters. Called on a problem it gives `SimplexBins`: sums over the rows of each cell
that holds rows. The cell of a row depends on its forecast alone, so equal forecasts always share a cell and the order of rows
never matters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from calibrant._links import FloatArray
from calibrant._problem import IntArray, SimplexProblem
from calibrant._result import read_only
from calibrant.binning import locate
from calibrant.binning.base import require_bins

CODES = 1 << 31
"""Numbers that the digits of some columns are put together to; twice as many bits fit into an integer."""


class Partition(ABC):
    """Cells of the simplex, numbered from 0."""

    n_cells: int

    @abstractmethod
    def index(self, prob: FloatArray) -> IntArray:
        """Find the cell of each forecast.

        Parameters
        ----------
        prob : ndarray of shape (n, K)
            Forecasts, not necessarily those that were summed.

        Returns
        -------
        ndarray of shape (n,)
            Numbers of cells; -1 where no row was summed.
        """


@dataclass(frozen=True, eq=False)
class SimplexBins:
    """Sums over the rows in each cell that holds rows.

    Attributes
    ----------
    partition : Partition
        Which forecast is in which cell.
    count : ndarray of shape (n_cells,)
        Number of rows.
    weight : ndarray of shape (n_cells,)
        Sum of the weights.
    prob_sum, class_sum : ndarray of shape (n_cells, K)
        Sums of the weighted probabilities, and of the weights of the rows of each class.
    """

    partition: Partition
    count: IntArray
    weight: FloatArray
    prob_sum: FloatArray
    class_sum: FloatArray

    def __post_init__(self) -> None:
        for name in ("count", "weight", "prob_sum", "class_sum"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def mean_prob(self) -> FloatArray:
        """Mean forecast of each cell, shape (n_cells, K)."""
        return self.prob_sum / self.weight[:, None]

    @property
    def class_rate(self) -> FloatArray:
        """Share of each class in each cell, shape (n_cells, K)."""
        return self.class_sum / self.weight[:, None]

    @property
    def gap(self) -> FloatArray:
        """Class rate minus mean forecast."""
        return (self.class_sum - self.prob_sum) / self.weight[:, None]

    def __len__(self) -> int:
        return self.count.size


class SimplexBinning(ABC):
    """How the simplex is cut. Called on a problem, returns `SimplexBins`."""

    @abstractmethod
    def partition(self, problem: SimplexProblem) -> Partition:
        """Find the cells for a problem.

        Parameters
        ----------
        problem : SimplexProblem
            What is to be cut.

        Returns
        -------
        Partition
            Cells, each of which holds a row of the problem.
        """

    def __call__(self, problem: SimplexProblem) -> SimplexBins:
        """Cut the forecasts of a problem and sum over the cells."""
        partition = self.partition(problem)
        cell, n_cells, weight = partition.index(problem.prob), partition.n_cells, problem.weight
        n_classes = problem.prob.shape[1]
        prob_sum = [np.bincount(cell, weight * problem.prob[:, j], n_cells) for j in range(n_classes)]
        class_sum = np.bincount(cell * n_classes + problem.label, weight, n_cells * n_classes)
        return SimplexBins(
            partition,
            count=np.bincount(cell, minlength=n_cells),
            weight=np.bincount(cell, weight, n_cells).astype(np.float64, copy=False),
            prob_sum=np.column_stack(prob_sum),
            class_sum=class_sum.reshape(n_cells, n_classes).astype(np.float64, copy=False),
        )


@dataclass(frozen=True)
class SimplexGrid(SimplexBinning):
    """Each probability cut into bins of equal width; forecasts whose probabilities share all bins share a cell.

    Only cells that hold rows are kept, so that many classes cost no memory. But with many classes nearly every row is alone in
    its cell: a grid is for two to five classes.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins of each probability, right-closed, with 0 in the first.

    Examples
    --------
    >>> from calibrant import SimplexGrid, simplex_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.3, 0.3, 0.4]]
    >>> round(simplex_calibration_error([0, 1, 2], P, binning=SimplexGrid(2)), 3)
    0.467
    """

    n_bins: int = 5

    def __post_init__(self) -> None:
        require_bins(self.n_bins)

    def partition(self, problem: SimplexProblem) -> Partition:
        """Number the cells that hold rows."""
        n_classes = problem.prob.shape[1]
        step = max(1, int(np.log(CODES) / np.log(max(self.n_bins, 2))))
        code, known = np.zeros(problem.size, dtype=np.int64), []
        columns = [slice(start, min(start + step, n_classes)) for start in range(0, n_classes, step)]
        for some in columns:
            found, code = np.unique(_append(code, problem.prob[:, some], self.n_bins), return_inverse=True)
            known.append(found)
        return GridCells(self.n_bins, tuple(columns), tuple(known))


@dataclass(frozen=True, eq=False)
class GridCells(Partition):
    """Cells of a grid: the bins of some columns make a number, whose place among the ``known`` ones leads the next number."""

    n_bins: int
    columns: tuple[slice, ...]
    known: tuple[IntArray, ...]

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of cells that held rows."""
        return self.known[-1].size

    def index(self, prob: FloatArray) -> IntArray:
        """Look up the numbers, some columns at a time."""
        at, is_known = np.zeros(len(prob), dtype=np.int64), np.ones(len(prob), dtype=bool)
        for some, known in zip(self.columns, self.known, strict=True):
            code = _append(at, prob[:, some], self.n_bins)
            at = np.minimum(np.searchsorted(known, code), known.size - 1)
            is_known &= known[at] == code
        return np.where(is_known, at, -1)


def _append(code: IntArray, prob: FloatArray, n_bins: int) -> IntArray:
    """Append the bins of columns to a code, as digits of a number."""
    edges = np.arange(n_bins + 1) / n_bins
    for j in range(prob.shape[1]):
        code = code * n_bins + locate(edges, prob[:, j])
    return code


def as_simplex_binning(binning: int | SimplexBinning) -> SimplexBinning:
    """Return the simplex binning; a number n means ``SimplexGrid(n)``."""
    if isinstance(binning, SimplexBinning):
        return binning
    if not isinstance(binning, (int, np.integer)) or isinstance(binning, bool):
        raise TypeError(
            f"binning must be a whole number or cut the whole simplex; got {binning!r}. "
            "Pass SimplexGrid(5): 5 bins for each class."
        )
    return SimplexGrid(int(binning))
