"""Monotone conditional logit: which block's class came, given the blocks of all classes of the row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from calibrant._links import EPSILON, FloatArray
from calibrant._problem import BoolArray, IntArray
from calibrant.calibrators.fits.nafir_blocks import Cells, block_of_cell

TOLERANCE = 1e-8
"""Largest violation of the optimality conditions at a solution, of the mean log loss."""

GOAL = 1e-11
"""Steps are taken until it is smaller than this, as long as they help."""

MOST_STEPS = 500

RIDGE = 1e-9
"""Added to the Hessian relative to its largest entry: it decides only where the objective is flat."""

NEAR = 1e-6
"""Increments up to this that the gradient pushes to zero are put there."""

CAP = -float(np.log(EPSILON))
"""Where an increment ends that should be infinite: the lower value is then 1e-12 of the higher one."""

CELLS = 1 << 20
"""Entries of the dense counts that are made at a time."""


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Statistics b and C of Appendix A.2: the counts C by row, sparse, and the block of the class that came.

    Entry e says that row ``row[e]`` has ``count[e]`` classes in block ``block[e]``; entries of a row begin at ``starts`` and
    come in the order of the blocks. Weights sum to one.
    """

    row: IntArray
    block: IntArray
    count: FloatArray
    starts: IntArray
    came: IntArray
    weight: FloatArray
    n_blocks: int
    n_classes: int

    @classmethod
    def of(cls, cells: Cells, starts: IntArray) -> Comparisons:
        """Count the classes of each row in each block."""
        n, n_classes = cells.at.shape
        of_cell, n_blocks = block_of_cell(starts, cells.size), starts.size
        step = max(1, CELLS // max(n_blocks, n_classes))
        parts = []
        for begin in range(0, n, step):
            block = of_cell[cells.at[begin : begin + step]]
            block += n_blocks * np.arange(len(block))[:, None]
            counts = np.bincount(block.ravel(), minlength=len(block) * n_blocks)
            some = np.flatnonzero(counts)
            parts.append((some // n_blocks + begin, some % n_blocks, counts[some]))
        row, block, count = (np.concatenate(column) for column in zip(*parts, strict=True))
        first = np.flatnonzero(np.diff(row, prepend=-1))
        weight = cells.weight / cells.weight.sum()
        return cls(row, block, count.astype(np.float64), first, of_cell[cells.came], weight, n_blocks, n_classes)

    @cached_property
    def bottom(self) -> IntArray:
        """Lowest block of each row."""
        return self.block[self.starts]

    @cached_property
    def top(self) -> IntArray:
        """Highest block of each row."""
        highest: IntArray = self.block[np.append(self.starts[1:], self.row.size) - 1]
        return highest

    @cached_property
    def mass(self) -> FloatArray:
        """Weight of the classes in each block; K over all blocks."""
        sums = np.bincount(self.block, self.weight[self.row] * self.count, self.n_blocks)
        return sums.astype(np.float64, copy=False)

    @cached_property
    def events(self) -> FloatArray:
        """Weight of the classes that came in each block: b; 1 over all blocks."""
        return np.bincount(self.came, self.weight, self.n_blocks).astype(np.float64, copy=False)

    def smoothed(self, smoothing: float) -> FloatArray:
        """Return b where each class of a row comes with probability smoothing / K, and else the one that did."""
        return (1.0 - smoothing) * self.events + (smoothing / self.n_classes) * self.mass

    def rates(self, smoothing: float) -> FloatArray:
        """Logarithm of the smoothed event rate of each block, clipped, and pooled where it falls: where a search begins."""
        some = self.mass > 0
        rate = np.where(some, self.smoothed(smoothing) / np.where(some, self.mass, 1.0), 0.0)
        return np.maximum.accumulate(np.log(np.maximum(rate, EPSILON)))

    def crossed(self, low: IntArray, high: IntArray) -> BoolArray:
        """Whether any row has ``low`` at or below, and ``high`` above, each boundary between blocks."""
        change = np.bincount(low, minlength=self.n_blocks + 1) - np.bincount(high, minlength=self.n_blocks + 1)
        return np.cumsum(change)[: self.n_blocks - 1] > 0

    def parts(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return count * exp(theta) of each entry and its sum in each row, both over exp of the row's highest, and that."""
        highest = theta[self.top]
        raised = self.count * np.exp(theta[self.block] - highest[self.row])
        return raised, np.add.reduceat(raised, self.starts), highest

    def loss(self, theta: FloatArray) -> float:
        """Mean log loss: the objective of eq. 4 over the sum of the weights."""
        _, total, highest = self.parts(theta)
        return float(self.weight @ (np.log(total) + highest - theta[self.came]))

    def clipped_losses(self, theta: FloatArray) -> FloatArray:
        """Log loss of each row, of probabilities clipped at 1e-12."""
        _, total, highest = self.parts(theta)
        return np.minimum(np.log(total) + highest - theta[self.came], CAP)


class Solution(NamedTuple):
    """Values theta of the blocks, the violation of the optimality conditions, Newton steps, and what was capped."""

    theta: FloatArray
    gradient: float
    n_iter: int
    n_capped: int


def solve(rows: Comparisons, smoothing: float, start: FloatArray | None = None, goal: float = GOAL) -> Solution:
    """Minimise the mean of  log sum_j C_ij exp(theta_j)  minus  b' theta  over non-decreasing theta.

    With u the increments of theta, u >= 0, this is projected Newton (Bertsekas): a Newton step is taken in those above zero
    and, in each pool of equal values, in the one at zero that the gradient pulls up the most; the others stay, and what the
    step makes negative is set to zero.

    The slope of the objective for u_k to infinity is the smoothed weight of what came at or below boundary k in rows that
    have classes above it; as theta is monotone, these slopes add up. Without smoothing, where no such row exists, infinity
    is best for u_k whatever the others are: it is put to ``CAP``. Where no row has classes on both sides, u_k changes
    nothing, and stays as it came.
    """
    theta = rows.rates(smoothing) if start is None else start
    if rows.n_blocks == 1:
        return Solution(np.zeros(1), 0.0, 0, 0)
    target = rows.smoothed(smoothing)
    both = rows.crossed(rows.bottom, rows.top)
    endless = both & ~rows.crossed(rows.came, rows.top) if smoothing == 0.0 else np.zeros_like(both)
    search = _Search(rows, target, both & ~endless)
    u = np.where(endless, CAP, np.maximum(np.diff(theta), 0.0))
    u, residual, steps = search.run(u, goal)
    return Solution(_theta(u), residual, steps, int(endless.sum()))


@dataclass(frozen=True, eq=False)
class _Search:
    """The objective as a function of the increments; those that are not ``free`` stay as they are."""

    rows: Comparisons
    target: FloatArray
    free: BoolArray

    def run(self, u: FloatArray, goal: float) -> tuple[FloatArray, float, int]:
        """Take steps until the optimality conditions hold, or nothing helps."""
        value, slope, mass = self._evaluated(u)
        residual = self._residual(u, slope)
        for steps in range(MOST_STEPS):
            if residual <= goal:
                return u, residual, steps
            step, moves = self._step(u, slope, mass)
            scale = 1.0
            while True:
                new = np.where(self.free, np.maximum(u + scale * step, 0.0), u)
                new_value, new_slope, new_mass = self._evaluated(new)
                gain = float(np.where(moves, -scale * slope * step, slope * (u - new)).sum())
                new_residual = self._residual(new, new_slope)
                # Near the solution the gain is lost in rounding: there the conditions themselves must be met better.
                if new_value <= value - 1e-4 * gain if gain > 1e-12 else new_residual < residual:
                    break
                scale *= 0.5
                if scale < 1e-10:
                    return u, residual, steps
            u, value, slope, mass, residual = new, new_value, new_slope, new_mass, new_residual
        return u, residual, MOST_STEPS

    def _evaluated(self, u: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the objective, its derivatives in the increments, and each entry's part of its row."""
        rows, theta = self.rows, _theta(u)
        raised, total, highest = rows.parts(theta)
        raised /= total[rows.row]
        expected = np.bincount(rows.block, rows.weight[rows.row] * raised, rows.n_blocks)
        value = float(rows.weight @ (np.log(total) + highest) - self.target @ theta)
        return value, _above(expected - self.target), raised

    def _residual(self, u: FloatArray, slope: FloatArray) -> float:
        """Largest derivative that is not zero and does not push against the bound."""
        return float(np.abs(np.where(self.free, np.where(u > 0, slope, np.minimum(slope, 0.0)), 0.0)).max())

    def _step(self, u: FloatArray, slope: FloatArray, mass: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the step, and which increments it moves by Newton's method."""
        moves = self.free & (u > NEAR) | (u > 0) & self.free & (slope <= 0)
        step = np.where(self.free & ~moves, -u, 0.0)
        moves |= self._splits(moves | ~self.free & (u > 0), slope)
        if moves.any():
            step[moves] = _newton(self._curvature(moves, mass), slope[moves])
        return step, moves

    def _splits(self, apart: BoolArray, slope: FloatArray) -> BoolArray:
        """Return the one boundary in each pool of equal values that wants to open the most, if any does."""
        wants = np.where(self.free & ~apart, slope, 0.0)
        pool = np.cumsum(apart)
        least = np.zeros(int(pool[-1]) + 1)
        np.minimum.at(least, pool, wants)
        found = np.flatnonzero((wants < 0.0) & (wants == least[pool]))
        splits = np.zeros_like(apart)
        splits[found[np.unique(pool[found], return_index=True)[1]]] = True
        return splits

    def _curvature(self, moves: BoolArray, mass: FloatArray) -> FloatArray:
        """Hessian in the increments that move: blocks between two of them go together."""
        from calibrant._kernels.conditional_logit import pair_sums  # numba loads only where it is needed

        rows = self.rows
        group = np.append(0, np.cumsum(moves))
        n_groups = int(group[-1]) + 1
        of_entry = group[rows.block]
        total = np.bincount(of_entry, rows.weight[rows.row] * mass, n_groups)
        hessian = np.diag(total) - pair_sums(rows.starts, of_entry, mass, rows.weight, n_groups)
        # An increment raises all that lies above it.
        return np.cumsum(np.cumsum(hessian[::-1, ::-1], axis=0), axis=1)[-2::-1, -2::-1]


def _newton(hessian: FloatArray, slope: FloatArray) -> FloatArray:
    diagonal = hessian.diagonal()
    ridge = max(RIDGE * float(diagonal.max()), np.finfo(float).tiny)
    for _ in range(5):
        try:
            factor = cho_factor(hessian + ridge * np.eye(slope.size), check_finite=False)
        except LinAlgError:
            ridge *= 100.0
        else:
            return np.asarray(cho_solve(factor, -slope, check_finite=False))
    return -slope


def _above(values: FloatArray) -> FloatArray:
    """Sum of what lies above each boundary between blocks."""
    sums: FloatArray = np.cumsum(values[:0:-1])[::-1]
    return sums


def _theta(u: FloatArray) -> FloatArray:
    """Values of the blocks, the highest zero."""
    return np.append(-np.cumsum(u[::-1])[::-1], 0.0)
