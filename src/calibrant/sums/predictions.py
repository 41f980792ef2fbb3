"""Predictions that are read in batches: files, streams and tables of other engines, larger than memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from calibrant._core.in_batches import InBatches
from calibrant._core.problem import Problem
from calibrant.sums.kept_rows import MOST
from calibrant.sums.row_sample import RowSample
from calibrant.sums.unread import unread

FEW = MOST
"""Rows up to which predictions are put together in memory: then all functions take them, and give the same digits."""


class Mergeable(Protocol):
    """What is read of some rows, and adds up to what is read of all."""

    def __add__(self, other: Self) -> Self: ...


M = TypeVar("M", bound=Mergeable)

Read = Callable[[Problem, int], M]
"""A function of a batch and of the number of its first row among all rows."""


class Predictions(InBatches):
    """Labels and predicted probabilities whose rows are read in batches, and never all at once.

    An object stands where a function has ``y_true`` and ``y_prob``. What an engine implements is `reduce`, and what must be
    known before rows are read: `classes`, `precision` and `head`.
    """

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
        """Return some rows, at least one, as a problem: it has the kind, the classes and the weights of all batches."""

    @abstractmethod
    def reduce(self, read: Read[M]) -> M:
        """Read each batch, and add up what was found, in a fixed order.

        Parameters
        ----------
        read : callable
            A function of a problem, the rows of a batch, and of the number of its first row among all rows. Where an engine
            knows no such number, rows have any numbers that differ.

        Returns
        -------
        object
            The sum of what ``read`` returned for the batches; of those without rows nothing is read.
        """

    def as_problem(self) -> Problem:
        """Return the rows as a problem in memory where they are few, else one of which only sums can be had."""
        few = self.few()
        return unread(self) if few is None else few

    def few(self) -> Problem | None:
        """Return all rows as a problem if they are at most 4096; None of more. An engine may know without reading all."""
        found = self.reduce(lambda batch, first: RowSample.of(batch, first, FEW))
        return found.problem if found.n_rows <= FEW else None

    def sample(self, n: int) -> dict[str, Any]:
        """Return some rows in memory, as the arguments of a function: ``log_loss(**predictions.sample(10_000))``.

        Parameters
        ----------
        n : int
            Number of rows; all of them if there are no more.

        Returns
        -------
        dict
            ``y_true``, ``y_prob`` and what has to be said of them: ``labels``, ``input``, ``sample_weight``. Which rows are
            taken depends on their numbers alone, so that the sample is the same in any order and size of batches.
        """
        return self.reduce(lambda batch, first: RowSample.of(batch, first, n)).arguments
