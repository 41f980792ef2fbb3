"""Predictions from batches in memory: pairs of labels and probabilities, in a collection or from a function that gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.problem import Problem
from calibrant._core.rows import Rows
from calibrant._core.validation import Input, as_problem
from calibrant.sums.predictions import FEW, M, Predictions, Read
from calibrant.sums.row_sample import RowSample

Batch = tuple[Any, ...]
"""Labels, probabilities, and weights if there are any."""


class Batches(Predictions):
    """Predictions that are given batch by batch: a collection of pairs, or a function that returns a fresh iterator of them."""

    def __init__(
        self,
        batches: Iterable[Batch] | Callable[[], Iterable[Batch]],
        *,
        labels: Sequence[Any] | None = None,
        input: Input = "probability",
        rows: Rows = "as-given",
    ) -> None:
        self._source, self._labels, self._input, self._rows = batches, labels, input, rows

    def _batches(self) -> Iterator[tuple[Problem, int]]:
        """Yield each batch that holds rows, with the number of its first row."""
        source, first = self._source, 0
        for truth, prob, *weight in source() if callable(source) else source:
            if len(truth):
                yield self._problem(truth, prob, *weight), first
            first += len(truth)

    def _problem(self, truth: Any, prob: Any, weight: Any = None) -> Problem:
        return as_problem(truth, prob, sample_weight=weight, labels=self._labels, input=self._input, rows=self._rows)

    @cached_property
    def _head(self) -> Problem:
        for problem, _ in self._batches():
            return problem
        raise ValueError("predictions must hold at least one row; got none. Check what the batches are read from.")

    def head(self) -> Problem:
        """Return the first batch."""
        return self._head

    @property
    def classes(self) -> npt.NDArray[np.generic]:
        """Labels of the columns."""
        return self._head.classes

    @property
    def precision(self) -> np.dtype[np.floating[Any]]:
        """Precision of the first batch."""
        return self._head.precision

    def reduce(self, read: Read[M]) -> M:
        """Read the batches one after the other."""
        total: M | None = None
        for problem, first in self._batches():
            found = read(problem, first)
            total = found if total is None else total + found
        if total is None:
            raise ValueError("predictions must hold at least one row; got none. Check what the batches are read from.")
        return total

    def few(self) -> Problem | None:
        """Stop reading as soon as there are more rows than are few."""
        total: RowSample | None = None
        for problem, first in self._batches():
            found = RowSample.of(problem, first, FEW)
            total = found if total is None else total + found
            if total.n_rows > FEW:
                return None
        return self._head if total is None else total.problem
