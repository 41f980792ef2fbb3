"""What a binning of the simplex is, and what it gives: sums over the rows of each cell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import whole
from calibrant._core.problem import BoolArray, IntArray, SimplexProblem
from calibrant._core.result import Record


class Partition(ABC):
    """Cells of the simplex, numbered from 0.

    A dataclass whose fields are numbers, arrays and tuples of arrays can be saved with the calibrator that it serves.
    """

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
            Numbers of cells; -1 where a forecast is in none of them.
        """

    def _check_loaded(self, n_classes: int) -> None:
        """Refuse, by a ValueError or TypeError that names it, a field from a file that no binning of so many classes gives."""
        whole("n_cells", self.n_cells, least=1, hint="Fit anew")

    def is_boundary(self, prob: FloatArray) -> BoolArray:
        """Whether forecasts lie on a cut that the data made: nowhere, unless a partition says otherwise.

        Parameters
        ----------
        prob : ndarray of shape (n, K)
            Forecasts.

        Returns
        -------
        ndarray of shape (n,)
            Rows that are no independent evidence of the class rates of their cell.
        """
        return np.zeros(len(prob), dtype=bool)


@dataclass(frozen=True, eq=False)
class SimplexBins(Record):
    """Sums over the rows in each cell.

    Attributes
    ----------
    partition : Partition
        Which forecast is in which cell.
    count : ndarray of shape (n_cells,)
        Number of rows; 0 where none is.
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

    @property
    def mean_prob(self) -> FloatArray:
        """Mean forecast of each cell, shape (n_cells, K); NaN where no row is."""
        return self._mean(self.prob_sum)

    @property
    def class_rate(self) -> FloatArray:
        """Share of each class in each cell, shape (n_cells, K); NaN where no row is."""
        return self._mean(self.class_sum)

    @property
    def gap(self) -> FloatArray:
        """Class rate minus mean forecast, shape (n_cells, K); NaN where no row is."""
        return self._mean(self.class_sum - self.prob_sum)

    def __len__(self) -> int:
        return self.count.size

    def _mean(self, total: FloatArray) -> FloatArray:
        mean = np.full(total.shape, np.nan)
        weight = self.weight[:, None]
        np.divide(total, weight, out=mean, where=weight > 0)
        return mean


class SimplexBinning(ABC):
    """How the simplex is cut. Called on a problem, returns `SimplexBins`."""

    cells: ClassVar[type[Partition] | None] = None
    """What `partition` returns, where that can be saved: a dataclass of numbers and arrays."""

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
            Cells, each row of the problem in one of them.
        """

    def __call__(self, problem: SimplexProblem) -> SimplexBins:
        """Cut the forecasts of a problem and sum over the cells."""
        partition = self.partition(problem)
        return sums_over(partition, partition.index(problem.prob), problem)


def sums_over(partition: Partition, cell: IntArray, problem: SimplexProblem) -> SimplexBins:
    """Sum a problem over cells; ``cell`` is the number of the cell of each row."""
    n_cells, n_classes, weight = partition.n_cells, problem.prob.shape[1], problem.weight
    prob_sum = [np.bincount(cell, weight * problem.prob[:, j], n_cells) for j in range(n_classes)]
    return SimplexBins(
        partition,
        count=np.bincount(cell, minlength=n_cells),
        weight=np.bincount(cell, weight, n_cells).astype(np.float64, copy=False),
        prob_sum=np.column_stack(prob_sum),
        class_sum=class_sums(cell, problem.label, weight, (n_cells, n_classes)),
    )


def class_sums(cell: IntArray, label: IntArray, weight: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """Sum the weights of the rows of each class in each cell, of shape (n_cells, K)."""
    n_cells, n_classes = shape
    sums = np.bincount(cell * n_classes + label, weight, n_cells * n_classes)
    return sums.reshape(shape).astype(np.float64, copy=False)
