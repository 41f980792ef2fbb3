"""Rows that are not in memory as a whole: what functions take in the place of ``y_true`` and ``y_prob``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from calibrant._core.problem import Problem


class Mergeable(Protocol):
    """What is read of some rows, and adds up to what is read of all."""

    def __add__(self, other: Self) -> Self: ...


M = TypeVar("M", bound=Mergeable)

Read = Callable[[Problem, int | npt.NDArray[np.int64]], M]
"""A function of a batch and of the number of its first row among all rows; or of the number of each row."""


class InBatches(ABC):
    """Labels and predicted probabilities whose rows are read in batches, and never all at once."""

    @property
    @abstractmethod
    def classes(self) -> npt.NDArray[np.generic]:
        """Labels of the columns, or of no event and the event, shape (K,)."""

    @property
    @abstractmethod
    def precision(self) -> np.dtype[np.floating[Any]]:
        """Precision of the probabilities, which is that of all batches."""

    @abstractmethod
    def head(self) -> Problem:
        """Return some rows, at least one, as a problem: it has the kind, the classes and the weights of all batches.

        Returns
        -------
        BinaryProblem or SimplexProblem
            Rows in memory.
        """

    @abstractmethod
    def reduce(self, read: Read[M]) -> M:
        """Read each batch, and add up what was found, in a fixed order.

        Parameters
        ----------
        read : callable
            A function of a problem, the rows of a batch, and of the number of its first row among all rows; or of the number of
            each row. Where an engine knows no such number, rows have any numbers that differ. Several threads may call it at a
            time, and other processes: it is pickled.

        Returns
        -------
        object
            The sum of what ``read`` returned for the batches; of those without rows nothing is read.
        """

    @property
    def left_out(self) -> tuple[int, int]:
        """How many batches that were wrong the last reading left out, and how many rows of them are known."""
        return 0, 0

    @abstractmethod
    def as_problem(self) -> Problem:
        """Return a problem of these rows: in memory if they are few, else one of which only sums can be had.

        Returns
        -------
        BinaryProblem or SimplexProblem
            What functions work on.
        """
