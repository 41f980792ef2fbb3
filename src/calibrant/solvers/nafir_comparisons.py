"""Rows seen by a map that is constant on blocks: the blocks of their classes, and that of the true class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core.links import EPSILON, FloatArray
from calibrant._core.problem import BoolArray, IntArray
from calibrant.solvers.nafir_blocks import Cells, block_of_cell

CAP = -float(np.log(EPSILON))
"""Where an increment of log g ends that should be infinite: the lower value is then 1e-12 of the higher one."""


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Statistics b and C of Appendix A.2: the counts C by row, sparse, and the block of the true class.

    Entry e says that its row has ``count[e]`` classes in block ``block[e]``; entries of row i begin at ``starts[i]`` and come
    in the order of the blocks. Weights sum to one.
    """

    starts: IntArray
    block: IntArray
    count: FloatArray
    of_true: IntArray
    weight: FloatArray
    n_blocks: int
    n_classes: int

    @classmethod
    def of(cls, cells: Cells, starts: IntArray) -> Comparisons:
        """Count the classes of each row in each block."""
        from calibrant._kernels import conditional_logit as kernels  # numba loads only where it is needed

        of_cell, (n, n_classes), n_blocks = block_of_cell(starts, cells.size), cells.at.shape, starts.size
        ends = np.empty(n, dtype=np.intp)
        kernels.entries(cells.at, of_cell, np.full(n_blocks, -1), ends)
        block, count = np.empty(ends[-1], dtype=np.intp), np.empty(ends[-1])
        kernels.row_counts(cells.at, of_cell, np.zeros(n_blocks), block, count)
        weight = cells.weight / cells.weight.sum()
        return cls(np.append(0, ends[:-1]), block, count, of_cell[cells.of_true], weight, n_blocks, n_classes)

    @cached_property
    def row(self) -> IntArray:
        """Row of each entry."""
        return np.repeat(np.arange(self.starts.size), np.diff(self.starts, append=self.block.size))

    @cached_property
    def bottom(self) -> IntArray:
        """Lowest block of each row."""
        return self.block[self.starts]

    @cached_property
    def top(self) -> IntArray:
        """Highest block of each row."""
        highest: IntArray = self.block[np.append(self.starts[1:], self.block.size) - 1]
        return highest

    @cached_property
    def mass(self) -> FloatArray:
        """Weight of the classes in each block; K over all blocks."""
        sums = np.bincount(self.block, self.weight[self.row] * self.count, self.n_blocks)
        return sums.astype(np.float64, copy=False)

    @cached_property
    def events(self) -> FloatArray:
        """Weight of the true classes in each block: b; 1 over all blocks."""
        return np.bincount(self.of_true, self.weight, self.n_blocks).astype(np.float64, copy=False)

    def smoothed(self, smoothing: float) -> FloatArray:
        """Return b with smoothed labels: each class of a row gets smoothing / K, and the true class the rest."""
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

    def shares(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log sum_j C_ij exp(theta_j) of each row, each entry's part in it, and the weight of the parts by block."""
        from calibrant._kernels.conditional_logit import shares

        found = np.empty(self.starts.size), np.empty(self.block.size), np.zeros(self.n_blocks)
        shares(self.starts, self.block, self.count, self.weight, theta, *found)
        return found

    def losses(self, theta: FloatArray) -> FloatArray:
        """Log loss of each row."""
        return self.shares(theta)[0] - theta[self.of_true]

    def loss(self, theta: FloatArray) -> float:
        """Mean log loss: the objective of eq. 4 over the sum of the weights."""
        return float(self.weight @ self.losses(theta))
