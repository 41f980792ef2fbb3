"""The scores of a table cut at those of the classes that came, and blocks of such cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibrant._links import FloatArray
from calibrant._problem import BinaryProblem, BoolArray, IntArray, SimplexProblem
from calibrant.binning.ordered import Ordered
from calibrant.isotonic import isotonic_fit

CHUNK = 1 << 18
"""Scores looked up at a time."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A table whose scores are numbers of cells.

    Cell c holds the scores from ``lower[c]`` up to below ``lower[c + 1]``. A cell begins where some class that came has its
    score, or at the lowest score of all: between two such scores no class came, and a monotone map that is worth having is
    constant. ``at`` has the shape of the table, ``came`` is the cell of the class that came in each row.
    """

    lower: FloatArray
    at: npt.NDArray[np.int32]
    came: IntArray
    weight: FloatArray

    @classmethod
    def of(cls, problem: SimplexProblem) -> Cells:
        """Cut the forecast of a problem."""
        prob = problem.prob
        event = np.unique(prob[np.arange(problem.size), problem.label])
        least = float(prob.min())
        lower = event if least == event[0] else np.append(least, event)
        at = np.empty(prob.shape, dtype=np.int32)
        for rows in _slices(*prob.shape):
            at[rows] = np.searchsorted(lower[1:], prob[rows], side="right")
        came: IntArray = at[np.arange(problem.size), problem.label].astype(np.intp)
        return cls(lower, at, came, np.ascontiguousarray(problem.weight))

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.lower.size

    def of_rows(self, rows: BoolArray) -> Cells:
        """Return some of the rows, over the same cells."""
        return Cells(self.lower, self.at[rows], self.came[rows], self.weight[rows])

    def mass(self) -> FloatArray:
        """Weight of the scores in each cell."""
        total = np.zeros(self.size)
        for rows in _slices(*self.at.shape):
            at = self.at[rows]
            total += np.bincount(at.ravel(), np.repeat(self.weight[rows], at.shape[1]), self.size)
        return total

    def events(self) -> FloatArray:
        """Weight of the classes that came in each cell."""
        return np.bincount(self.came, self.weight, self.size).astype(np.float64, copy=False)

    def isotonic_starts(self, mass: FloatArray) -> IntArray:
        """Return at which cell each block of the isotonic regression begins; cells without mass join the block before."""
        events = self.events()
        number = np.arange(self.size, dtype=np.float64)
        weight = np.append(events, np.maximum(mass - events, 0.0))
        is_event = np.arange(2 * self.size) < self.size
        some = weight > 0
        ordered = Ordered.of(BinaryProblem(np.append(number, number)[some], is_event[some], weight[some]))
        starts: IntArray = ordered.score[isotonic_fit(ordered).starts].astype(np.intp)
        starts[0] = 0
        return starts


def split_blocks(starts: IntArray, mass: FloatArray, min_blocks: int, least: float) -> IntArray:
    """Cut blocks into pieces of about equal mass, none below ``least``, until there are ``min_blocks`` of them if possible.

    The paper (A.2 and its Figure 4) says no more than that. Here the piece that is the largest is made smaller in turn: a
    block of mass s with q pieces is the next to get one more if s / q is the largest and s / (q + 1) is at least
    ``least``. Cuts lie between cells.
    """
    ends = np.append(starts[1:], mass.size)
    size = np.add.reduceat(mass, starts)
    pieces = np.ones(starts.size, dtype=np.intp)
    for _ in range(min_blocks - starts.size):
        may = (size >= least * (pieces + 1)) & (pieces < ends - starts)
        if not may.any():
            break
        pieces[np.argmax(np.where(may, size / pieces, -np.inf))] += 1
    cut = [
        _cuts(mass[first:end], q, least) + first for first, end, q in zip(starts, ends, pieces.tolist(), strict=True)
    ]
    return np.concatenate(cut)


def _cuts(mass: FloatArray, pieces: int, least: float) -> IntArray:
    """Return where pieces of about equal mass begin, the first at 0."""
    before = np.cumsum(mass) - mass
    total = float(mass.sum())
    begin = [0]
    for target in total * np.arange(1, pieces) / pieces:
        at = int(np.argmin(np.abs(before - target)))
        if at > begin[-1] and before[at] - before[begin[-1]] >= least and total - before[at] >= least:
            begin.append(at)
    return np.array(begin, dtype=np.intp)


def block_of_cell(starts: IntArray, n_cells: int) -> IntArray:
    """Return the block of each cell."""
    return np.repeat(np.arange(starts.size), np.diff(starts, append=n_cells))


def _slices(n: int, n_classes: int) -> Iterator[slice]:
    step = max(1, CHUNK // n_classes)
    return (slice(start, start + step) for start in range(0, n, step))
