"""Predictions that are read in batches: files, streams and tables of other engines, larger than memory."""

from __future__ import annotations

from typing import Any

from calibrant._core.in_batches import InBatches, M, Mergeable, Read
from calibrant._core.problem import Problem
from calibrant.sums.kept_rows import MOST
from calibrant.sums.row_sample import RowSample
from calibrant.sums.unread import unread

__all__ = ["FEW", "M", "Mergeable", "Predictions", "Read"]

FEW = MOST
"""Rows up to which predictions are put together in memory: then all functions take them, and give the same digits."""


class Predictions(InBatches):
    """Labels and predicted probabilities whose rows are read in batches, and never all at once.

    An object stands where a function has ``y_true`` and ``y_prob``. What an engine implements is ``reduce``, and what must be
    known before rows are read: ``classes``, ``precision`` and ``head``. What needs all rows takes a ``sample``.
    """

    def as_problem(self) -> Problem:
        """Return the rows as a problem in memory where they are few, else one of which only sums can be had.

        Returns
        -------
        BinaryProblem or SimplexProblem
            What functions work on.
        """
        few = self.few()
        return unread(self) if few is None else few

    def few(self) -> Problem | None:
        """Return all rows as a problem if they are at most 4096. An engine may know without reading all.

        Returns
        -------
        BinaryProblem, SimplexProblem or None
            None of more rows.
        """
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
            taken depends on their numbers alone. Rows are numbered in the order in which they are read, so that the sample is
            the same in batches of any size, and another one in another order. A ``row_key`` numbers rows in any order.
        """
        return self.reduce(lambda batch, first: RowSample.of(batch, first, n)).arguments
