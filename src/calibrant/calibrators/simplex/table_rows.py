"""The rows that a table of parameters is fitted to: in memory, or read in batches for each evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import BoolArray, Forecast, IntArray, Problem, SimplexProblem, as_simplex, row_blocks
from calibrant.solvers.multinomial import Design, Objective, ObjectiveInBatches
from calibrant.sums.unread import UnreadSimplex

EVEN = 1e-12
"""Difference of scores, relative to the largest, that is rounding."""

MOST_PARAMETERS = 1200
"""Parameters up to which second derivatives are summed over batches."""

Entering = Callable[[Forecast], FloatArray]
"""What makes the log-probabilities, or logits, of a forecast that enter a map."""


class TableRows(Protocol):
    """Rows that a table is fitted to."""

    @property
    def largest(self) -> float:
        """Largest size of a log-probability."""

    def in_units(self, size: float) -> TableRows:
        """Return the rows with log-probabilities in units of a size."""

    def objective(self, design: Design, ridge: FloatArray, centre: FloatArray) -> Objective:
        """Return the objective of a design."""

    def occurred(self) -> BoolArray:
        """Which classes occur."""

    def put_right(self, design: Design, ways: Sequence[FloatArray]) -> list[bool]:
        """Whether along each of these tables no row loses and some row gains."""


class RowsInMemory:
    """Rows in memory."""

    def __init__(self, z: FloatArray, problem: SimplexProblem) -> None:
        self.z, self.problem = z, problem

    @property
    def largest(self) -> float:
        """Largest size of a log-probability."""
        return max(float(self.z.max()), -float(self.z.min()))

    def in_units(self, size: float) -> RowsInMemory:
        """Return the rows with log-probabilities in units of a size."""
        return RowsInMemory(self.z / size, self.problem)

    def objective(self, design: Design, ridge: FloatArray, centre: FloatArray) -> Objective:
        """Return the objective of a design."""
        return Objective(design, self.z, self.problem, ridge, centre)

    def occurred(self) -> BoolArray:
        """Which classes occur."""
        occurred = np.zeros(self.z.shape[1], dtype=bool)
        occurred[self.problem.label] = True
        return occurred

    def put_right(self, design: Design, ways: Sequence[FloatArray]) -> list[bool]:
        """Whether along each of these tables no row loses and some row gains."""
        return [self._puts_right(design, way) for way in ways]

    def _puts_right(self, design: Design, way: FloatArray) -> bool:
        """Look at some rows at a time: as a rule one of the first loses, and the others need no look."""
        gains = False
        for rows in row_blocks(self.problem):
            ((lose,), (gain,)) = _moved(design, self.z[rows], self.problem.label[rows], [way])
            if lose:
                return False
            gains |= bool(gain)
        return gains


def _moved(design: Design, z: FloatArray, label: IntArray, ways: Sequence[FloatArray]) -> FloatArray:
    """Count the rows that lose along each table, and those that gain, shape (2, tables)."""
    moved = []
    for way in ways:
        scores = design.scores(z, way)
        of_label = scores[np.arange(len(z)), label]
        rounding = EVEN * float(np.abs(scores).max(initial=0.0))
        lose = of_label < scores.max(axis=1, initial=-np.inf) - rounding
        gain = of_label > scores.min(axis=1, initial=np.inf) + rounding
        moved.append((lose.sum(), gain.sum()))
    return np.array(moved, dtype=np.float64).T


@dataclass(frozen=True, eq=False)
class _Extent:
    """Largest size of a log-probability, the weighted sum of those of the rows, and the weight of each class."""

    largest: float
    sizes: float
    classes: FloatArray

    @classmethod
    def of(cls, z: FloatArray, problem: SimplexProblem) -> _Extent:
        sizes = np.abs(z).max(axis=1, initial=0.0)
        classes = np.bincount(problem.label, problem.weight, z.shape[1]).astype(np.float64)
        return cls(float(sizes.max(initial=0.0)), float(problem.weight @ sizes), classes)

    def __add__(self, other: _Extent) -> _Extent:
        return _Extent(max(self.largest, other.largest), self.sizes + other.sizes, self.classes + other.classes)


class RowsInBatches:
    """Rows that are read in batches, once for each evaluation."""

    def __init__(self, entering: Entering, problem: UnreadSimplex, unit: float = 1.0) -> None:
        self.entering, self.problem, self.unit = entering, problem, unit

    @cached_property
    def _extent(self) -> _Extent:
        return self.problem.reduce(lambda batch, _: _Extent.of(*self._of(batch)))

    def _of(self, batch: Problem) -> tuple[FloatArray, SimplexProblem]:
        """Return what enters the map of a batch, and the batch."""
        simplex = as_simplex(batch)
        z = self.entering(simplex.forecast)
        return (z if self.unit == 1.0 else z / self.unit), simplex

    @property
    def largest(self) -> float:
        """Largest size of a log-probability."""
        return self._extent.largest

    def in_units(self, size: float) -> RowsInBatches:
        """Return the rows with log-probabilities in units of a size."""
        return RowsInBatches(self.entering, self.problem, size)

    def objective(self, design: Design, ridge: FloatArray, centre: FloatArray) -> Objective:
        """Return the objective of a design."""
        require(
            centre.size <= MOST_PARAMETERS,
            f"a map that is fitted to rows in batches must have at most {MOST_PARAMETERS} parameters",
            value=centre.size,
            hint="Take a sample of the rows, predictions.sample(100_000), or a method with fewer parameters",
        )
        total = float(self._extent.classes.sum())

        def read(sums: Callable[[Objective], FloatArray]) -> FloatArray:
            def of_batch(batch: Problem, _: object) -> FloatArray:
                part = Objective(design, *self._of(batch), np.zeros_like(ridge), centre, dense=True)
                part.share = as_simplex(batch).weight / total
                return sums(part)

            return self.problem.reduce(of_batch)

        return ObjectiveInBatches(design, ridge, centre, max(1.0, self._extent.sizes / total), read)

    def occurred(self) -> BoolArray:
        """Which classes occur."""
        return np.asarray(self._extent.classes > 0.0)

    def put_right(self, design: Design, ways: Sequence[FloatArray]) -> list[bool]:
        """Whether along each of these tables no row loses and some row gains."""

        def of_batch(batch: Problem, _: object) -> FloatArray:
            z, simplex = self._of(batch)
            return _moved(design, z, simplex.label, ways)

        return [bool(not lose and gain) for lose, gain in zip(*self.problem.reduce(of_batch), strict=True)]


def rows_of(problem: SimplexProblem, entering: Entering) -> TableRows:
    """Return the rows of a problem, with what of its forecast enters a map."""
    if isinstance(problem, UnreadSimplex):
        return RowsInBatches(entering, problem)
    return RowsInMemory(entering(problem.forecast), problem)
