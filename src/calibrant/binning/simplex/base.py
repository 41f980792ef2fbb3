"""What a binning of the simplex is, and what it gives: sums over the rows of each cell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from calibrant._core.problem import SimplexProblem
from calibrant.binning.base import Bins, sums_over
from calibrant.binning.partition import Partition


class SimplexBinning(ABC):
    """How the simplex is cut. Called on a problem, returns `Bins`."""

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

    def __call__(self, problem: SimplexProblem) -> Bins:
        """Cut the forecasts of a problem and sum over the cells."""
        return sums_over(self.partition(problem), problem)
