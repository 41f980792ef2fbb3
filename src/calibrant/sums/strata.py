"""What noise is drawn from: in each bin, for rows with and without the event, how many there are and how certain.

The sums are whole numbers, so that those of batches add up to those of all rows bit for bit, in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray
from calibrant._core.result import Record
from calibrant.binning import Bins
from calibrant.binning.base import Index

CountArray = npt.NDArray[np.int64]

BITS = 40
UNIT = 1 << BITS
"""Parts of one that are counted. A probability is rounded to one of them, at most 5e-13 away."""

CHUNK = 1 << 12
"""Rows summed at a time in double precision, which is exact up to 2^53: each row adds at most 2^40."""

CHUNK_OF_BINS = 1 << 14
"""Rows of which the bins are found at a time: what is made on the way is small enough for memory that is at hand."""


@dataclass(frozen=True, eq=False)
class Strata(Record):
    """Rows of each bin, those without the event first and then those with it; ``+`` adds them up.

    With m = p in a bin of the lower half of [0, 1] and m = 1 - p in one of the upper half the sums of m and m² are kept, of
    which none cancels where forecasts are nearly certain.

    Attributes
    ----------
    count : ndarray of shape (2, n_bins)
        Number of rows.
    whole, part : ndarray of shape (2, 2, n_bins)
        Sums of m, and sums of m²: whole ones, and what is left over in units of 2^-40.
    """

    count: CountArray
    whole: CountArray
    part: CountArray

    @classmethod
    def of_units(cls, count: CountArray, units: CountArray) -> Strata:
        """Return the strata of sums in units of 2^-40, which must be below 2^63: of less than 2^23 rows."""
        return cls(count, units >> BITS, units & (UNIT - 1))

    @classmethod
    def of(cls, problem: BinaryProblem, bins: Bins, index: Index | None = None) -> Strata:
        """Sum over the rows of a problem, which was cut into these bins; ``index`` finds them where there is a faster way.

        Of weights that are numbers of equal rows the sums are rounded, as numbers in double precision are.
        """
        n_bins, flipped = len(bins), is_upper(bins.edges)
        found = cls(*(np.zeros(shape, dtype=np.int64) for shape in ((2, n_bins), *((2, 2, n_bins),) * 2)))
        for start in range(0, problem.size, CHUNK_OF_BINS):
            rows = slice(start, start + CHUNK_OF_BINS)
            score = problem.score[rows]
            at = bins.index(score) if index is None else index(score)
            counts = problem.weight[rows] if problem.weights.repeat_rows else None
            found += cls._of_chunk(score.astype(np.float64, copy=False), problem.outcome[rows], at, flipped, counts)
        return found

    @classmethod
    def _of_chunk(
        cls, p: FloatArray, outcome: BoolArray, at: IntArray, flipped: BoolArray, counts: FloatArray | None
    ) -> Strata:
        n_bins = flipped.size
        m = np.subtract(flipped[at], p)  # 1 - p, or -p
        np.abs(m, out=m)
        stratum = n_bins * outcome
        stratum += at
        if counts is not None:
            count, *sums = (np.bincount(stratum, counts * power, 2 * n_bins) for power in (1.0, m, m * m))
            units, shape = np.array(sums).reshape(2, 2, n_bins), (2, n_bins)
            left = np.rint((units - np.floor(units)) * UNIT).astype(np.int64)
            return cls(count.reshape(shape).astype(np.int64), np.floor(units).astype(np.int64), left)
        count = np.bincount(stratum, minlength=2 * n_bins).astype(np.int64, copy=False)
        units = np.zeros((2, 2 * n_bins), dtype=np.int64)
        for into, values in zip(units, (m, m * m), strict=True):
            values *= float(UNIT)
            values += 0.5
            np.floor(values, out=values)
            for start in range(0, p.size, CHUNK):
                some = slice(start, start + CHUNK)
                into += np.bincount(stratum[some], values[some], 2 * n_bins).astype(np.int64)
        return cls.of_units(count.reshape(2, n_bins), units.reshape(2, 2, n_bins))

    @property
    def sums(self) -> FloatArray:
        """Sums of m, and of m², shape (2, 2, n_bins)."""
        return np.asarray(self.whole + self.part / UNIT, dtype=np.float64)

    def __add__(self, other: Strata) -> Strata:
        part = self.part + other.part
        return Strata(self.count + other.count, self.whole + other.whole + (part >> BITS), part & (UNIT - 1))

    def put_together(self, at: IntArray, upper: BoolArray, upper_there: BoolArray) -> Strata:
        """Return the strata of bins that cells make up, each in bin ``at``.

        ``upper`` and ``upper_there`` say which cells and bins lie in the upper half. Where a cell turns, 1 - m takes the place
        of m: the sum becomes count - sum m, that of squares count - 2 sum m + sum m².
        """
        sums = []
        turns = upper != upper_there[at]
        for one, (m, square) in ((self.count, self.whole), (0, self.part)):
            turned = np.where(turns, [one - m, one - 2 * m + square], [m, square])
            sums.append(_in_bins(turned, at, upper_there.size))
        whole, part = sums
        return Strata(_in_bins(self.count, at, upper_there.size), whole + (part >> BITS), part & (UNIT - 1))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as lists, of which JSON loses none."""
        return {name: getattr(self, name).tolist() for name in ("count", "whole", "part")}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Strata:
        """Return the strata that `to_dict` wrote down."""
        return cls(*(np.array(plain[name], dtype=np.int64) for name in ("count", "whole", "part")))


def _in_bins(values: CountArray, at: IntArray, n_bins: int) -> CountArray:
    """Add up values of cells, the last axis, in bins; no digit is lost."""
    sums = np.zeros((values.size // at.size, n_bins), dtype=np.int64)
    for into, row in zip(sums, values.reshape(-1, at.size), strict=True):
        np.add.at(into, at, row)
    return sums.reshape(*values.shape[:-1], n_bins)


def is_upper(edges: FloatArray) -> BoolArray:
    """Whether each bin between these edges lies in the upper half of [0, 1]."""
    return np.asarray(edges[:-1].astype(np.float64) + edges[1:] > 1.0, dtype=np.bool_)
