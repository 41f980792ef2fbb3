"""Some thousands of fixed cells: what needs all scores is computed from their sums, where rows are read in batches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require, whole
from calibrant._core.problem import BinaryProblem, IntArray
from calibrant.binning.base import Binning, Bins, sums_over
from calibrant.binning.partition import Edges

OCTAVES = 40
"""Cells end at 2^-40, below 1e-12, on both sides: what lies between there and 0, or 1, is one cell."""

MANTISSA = 52
"""Bits of a number in double precision behind the leading one."""

FIRST = (1023 - OCTAVES) << MANTISSA
"""The number 2^-40, as its bits."""

MOST_PER_OCTAVE = 1 << 12

MOST_CELLS, FEWEST_PER_OCTAVE = 1 << 18, 16
"""Cells of all problems of a notion, about, and cells to an octave that each problem has at least."""


@dataclass(frozen=True)
class FineGrid(Binning):
    """Fixed cells that are fine where scores are near 0 or 1: about equally wide in log-odds.

    Each octave of p up to 1/2, from 2^-k - 1 to 2^-k, is cut into cells of equal width; so is each of 1 - p above, in mirror
    image. The numbers 0 and 1 are cells of their own. Edges follow from the parameter alone, so that sums of batches add up;
    the cell of a score is read from its bits, without a search or a logarithm.

    Parameters
    ----------
    per_octave : int, default=256
        Cells to an octave, a power of two up to 4096. With 256 there are 19 972 cells; the widest, around 1/2, are
        1/1024 wide.
    """

    is_fixed: ClassVar[bool] = True

    per_octave: int = 256

    def __post_init__(self) -> None:
        whole("per_octave", self.per_octave, least=1, most=MOST_PER_OCTAVE, hint="256 is usual")
        is_power = self.per_octave & (self.per_octave - 1) == 0
        require(is_power, "per_octave must be a power of two", value=self.per_octave, hint="Pass 256")

    @classmethod
    def for_problems(cls, n_problems: int) -> FineGrid:
        """Return the grid for so many problems at once: the more there are, the fewer cells each has.

        Parameters
        ----------
        n_problems : int
            Problems of a notion, such as one of ``binary`` and one a class of ``class-wise``.

        Returns
        -------
        FineGrid
            One of 1024 cells to an octave for up to 3 problems, and fewer for more, down to 16 for 103.
        """
        fitting = MOST_CELLS // (2 * OCTAVES * max(1, n_problems))
        return cls(min(max(1 << max(0, fitting.bit_length() - 1), FEWEST_PER_OCTAVE), 1024))

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return the edges, which are the same for all problems."""
        return fine_edges(self.per_octave).edges

    def __call__(self, problem: BinaryProblem) -> Bins:
        """Cut by arithmetic and not by search."""
        return sums_over(fine_edges(self.per_octave), problem, self.index)

    def index(self, score: FloatArray) -> IntArray:
        """Find the cell of each score.

        Parameters
        ----------
        score : ndarray of shape (n,)
            Probabilities in [0, 1].

        Returns
        -------
        ndarray of shape (n,)
            Numbers of cells; cell c is (edges[c], edges[c + 1]], the first is 0 alone.
        """
        p = score.astype(np.float64, copy=False)
        upper = p > 0.5
        # Above 1/2 the difference is exact. There a cell holds its upper edge, which is the lower one of 1 - p.
        near = np.where(upper, 1.0 - p, p)
        bits = near.view(np.int64) - ~upper
        shift = MANTISSA - (self.per_octave.bit_length() - 1)
        rank = ((bits - FIRST) >> shift) + 2
        np.maximum(rank, 1, out=rank)
        rank[near == 0.0] = 0
        last = fine_edges(self.per_octave).n_cells - 1
        return np.where(upper, last - rank, rank).astype(np.intp, copy=False)


@lru_cache(maxsize=8)
def fine_edges(per_octave: int) -> Edges:
    """Return the edges: 0 twice, those of the octaves from 2^-40 on, their mirror images, the last number before 1, and 1."""
    within: npt.NDArray[np.float64] = 1.0 + np.arange(per_octave) / per_octave
    below = np.append(np.outer(2.0 ** -np.arange(OCTAVES, 1, -1), within).ravel(), 0.5)
    above = 1.0 - below[-2::-1]
    edges = np.concatenate([[0.0, 0.0], below, above, [np.nextafter(1.0, 0.0), 1.0]])
    edges.flags.writeable = False
    return Edges(edges)
