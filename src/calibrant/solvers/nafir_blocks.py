"""The scores of a table cut at those of the true classes, and blocks of such cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray, SimplexProblem
from calibrant._core.weights import Weights
from calibrant.binning.distinct_scores import Ordered
from calibrant.solvers.isotonic import isotonic_fit

CHUNK = 1 << 18
"""Scores looked up at a time."""

ROUNDING = 1e-9
"""Pieces that are this part too small are so by rounding."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A table whose scores are numbers of cells.

    Cell c holds the scores from ``lower[c]`` up to below ``lower[c + 1]``. A cell begins where some true class has its
    score, or at the lowest score of all. Without smoothing and ridge some best map is constant on cells: no true class lies
    between two such scores, and the lower the map is there, the better. With either, another map could be a little better.
    ``at`` has the shape of the table, ``of_true`` is the cell of the true class of each row.
    """

    lower: FloatArray
    at: npt.NDArray[np.int32]
    of_true: IntArray
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
        of_true: IntArray = at[np.arange(problem.size), problem.label].astype(np.intp)
        return cls(lower, at, of_true, np.ascontiguousarray(problem.weight))

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.lower.size

    def of_rows(self, rows: BoolArray) -> Cells:
        """Return some of the rows, over the same cells."""
        return Cells(self.lower, self.at[rows], self.of_true[rows], self.weight[rows])

    def event_starts(self) -> IntArray:
        """Return the cells that hold some true class, and the lowest one."""
        begins = self.events() > 0
        begins[0] = True
        return np.flatnonzero(begins)

    def joined(self, starts: IntArray) -> Cells:
        """Return the rows over fewer cells: those of ``starts``, each with all that follow up to the next."""
        of_cell = block_of_cell(starts, self.size)
        return Cells(self.lower[starts], of_cell.astype(np.int32)[self.at], of_cell[self.of_true], self.weight)

    def mass(self) -> FloatArray:
        """Weight of the scores in each cell."""
        total = np.zeros(self.size)
        for rows in _slices(*self.at.shape):
            at = self.at[rows]
            total += np.bincount(at.ravel(), np.repeat(self.weight[rows], at.shape[1]), self.size)
        return total

    def events(self) -> FloatArray:
        """Weight of the true classes in each cell."""
        return np.bincount(self.of_true, self.weight, self.size).astype(np.float64, copy=False)

    def isotonic_starts(self, mass: FloatArray) -> IntArray:
        """Return at which cell each block of the isotonic regression begins; cells without mass join the block before."""
        events = self.events()
        number = np.arange(self.size, dtype=np.float64)
        weight = np.append(events, np.maximum(mass - events, 0.0))
        is_event = np.arange(2 * self.size) < self.size
        some = weight > 0
        ordered = Ordered.of(BinaryProblem(np.append(number, number)[some], is_event[some], Weights(weight[some])))
        starts: IntArray = ordered.score[isotonic_fit(ordered).starts].astype(np.intp)
        starts[0] = 0
        return starts


def split_blocks(starts: IntArray, mass: FloatArray, min_blocks: int, least: float) -> IntArray:
    """Cut blocks into pieces of about equal mass, none below ``least``, until there are ``min_blocks`` of them if possible.

    The paper (A.2 and its Figure 4) says no more than that. Here the piece that is the largest is made smaller in turn: of
    blocks of mass s with q pieces that can be cut into one more, the next to get it has the largest s / q. Cuts lie between
    cells.
    """
    least *= 1.0 - ROUNDING
    parts = np.split(mass, starts[1:])
    size = np.add.reduceat(mass, starts)
    most = np.array([_first_fit(part, least, min_blocks).size for part in parts])
    pieces = np.ones(starts.size, dtype=np.intp)
    for _ in range(min_blocks - starts.size):
        may = pieces < most
        if not may.any():
            break
        pieces[np.argmax(np.where(may, size / pieces, -np.inf))] += 1
    cut = [_cuts(part, q, least) + first for first, part, q in zip(starts, parts, pieces.tolist(), strict=True)]
    return np.concatenate(cut)


def _first_fit(mass: FloatArray, least: float, most: int) -> IntArray:
    """Return where pieces begin that are as small as they may be, from the first cell on: as many as go, up to ``most``."""
    before = np.cumsum(mass) - mass
    total, begin = float(mass.sum()), [0]
    while len(begin) < most:
        at = _next_cut(before, begin[-1], least)
        if at >= mass.size or total - before[at] < least:
            break
        begin.append(at)
    return np.array(begin, dtype=np.intp)


def _cuts(mass: FloatArray, pieces: int, least: float) -> IntArray:
    """Return where pieces of about equal mass begin, the first at 0: each as near to its place as the others leave room."""
    before = np.cumsum(mass) - mass
    # The smallest pieces from the last cell on say where each must begin at the latest.
    latest = (mass.size - _first_fit(mass[::-1], least, pieces)[1:])[::-1]
    targets = float(mass.sum()) * np.arange(1, latest.size + 1) / (latest.size + 1)
    begin = [0]
    for target, last in zip(targets, latest.tolist(), strict=True):
        first = min(_next_cut(before, begin[-1], least), last)
        begin.append(first + int(np.argmin(np.abs(before[first : last + 1] - target))))
    return np.array(begin, dtype=np.intp)


def _next_cut(before: FloatArray, begin: int, least: float) -> int:
    """Return the first cell at which the piece that begins at some cell is large enough to end."""
    return max(int(np.searchsorted(before, before[begin] + least)), begin + 1)


def block_of_cell(starts: IntArray, n_cells: int) -> IntArray:
    """Return the block of each cell."""
    return np.repeat(np.arange(starts.size), np.diff(starts, append=n_cells))


def _slices(n: int, n_classes: int) -> Iterator[slice]:
    step = max(1, CHUNK // n_classes)
    return (slice(start, start + step) for start in range(0, n, step))
