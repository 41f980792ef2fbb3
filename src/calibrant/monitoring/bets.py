"""Bets against calibration, whose wealth is evidence that may be looked at after each window.

Take a number λ, and multiply a wealth that begins at 1 by  exp(λ y) / (1 + p (exp(λ) - 1))  at each row of outcome y and
probability p. This is the bet  1 + l (y - p)  with  l = (exp(λ) - 1) / (1 + p (exp(λ) - 1)).  If the event has probability p,
given the past and the prediction, each factor has the mean (1 - p + p exp(λ)) / (1 + p (exp(λ) - 1)) = 1, whatever p is: the
wealth is a nonnegative martingale. So, by Ville's inequality (1939), it ever reaches 1 / α with probability at most α. The
logarithm is concave, so that

    sum of log(1 + p (exp(λ) - 1)) over the rows of a bin  <=  n log(1 + p̄ (exp(λ) - 1)),   p̄ their mean probability,

and the wealth that is computed from the number of rows, the sum of the probabilities and the number of events of each bin is
never above that martingale, in any order of the rows. Averages of bets are martingales, also of bets that begin later, and so
are products of bets on different rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray

SIZES = 0.05 * 2.0 ** np.arange(6)
"""Sizes of bets: by how much log-odds are taken to be wrong. An error below 0.025, a fortieth of the odds, is never found."""

BETS = np.concatenate([-SIZES[::-1], SIZES])
"""All bets λ, shape (12,)."""

FACTOR = np.expm1(BETS)

STARTS_AN_OCTAVE = 8
"""Bets begin at each of the first windows, and then so often while the number of windows doubles."""

MOST_STARTS = 100
"""Starts within 10,000 windows, and a few more."""


@dataclass(frozen=True, eq=False)
class Cut:
    """Units of cells: what is bet on the cells of a unit is one bet. ``unit`` (n_cells,) is the number of that of each cell.

    It is fixed before the first row: each row moves the wealth of one unit, and the product over units is that of one game.
    """

    unit: IntArray

    @cached_property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.unit.max()) + 1

    @property
    def is_of_cells(self) -> bool:
        """Whether each cell is a unit."""
        return self.n_units == self.unit.size

    @property
    def idle(self) -> float:
        """Share of the wealth of a unit that is never bet: of many units most may be as they should."""
        return self.n_units / (self.n_units + 1.0) if self.n_units > 2 else 0.0

    def sums(self, values: FloatArray, axis: int = -2) -> FloatArray:
        """Return the sums over the cells of each unit; every unit has a cell."""
        if self.is_of_cells:
            return values
        order = np.argsort(self.unit, kind="stable")
        first = np.searchsorted(self.unit[order], np.arange(self.n_units))
        return np.asarray(np.add.reduceat(np.take(values, order, axis), first, axis))


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums over the rows of each cell: ``rows``, the sum of their probabilities, and their ``events``; shape (..., n_cells)."""

    rows: FloatArray
    expected: FloatArray
    events: FloatArray

    def at(self, number: int) -> Cells:
        """Return the sums of one along the first axis."""
        return Cells(self.rows[number], self.expected[number], self.events[number])

    @cached_property
    def mean(self) -> FloatArray:
        """Mean probability of each cell, 0 where there are no rows."""
        return np.clip(self.expected / np.maximum(self.rows, 1.0), 0.0, 1.0)

    def log_gains(self) -> FloatArray:
        """Return the logarithm of what each bet multiplies wealth by, shape (..., n_cells, n_bets)."""
        return np.asarray(
            BETS * self.events[..., None] - self.rows[..., None] * np.log1p(self.mean[..., None] * FACTOR)
        )


def starts(windows: int) -> IntArray:
    """Return the windows, counted from 0, at which bets begin: each of the first 16, each second one up to 32, and so on."""
    found, start = [], 0
    while start < windows:
        found.append(start)
        start += max(1, 1 << start.bit_length() >> STARTS_AN_OCTAVE.bit_length())
    return np.array(found, dtype=np.intp)


def log_parts(n: int) -> FloatArray:
    """Return the logarithms of the shares of wealth with which the first n starts begin; those of all starts sum to one.

    Half of the wealth falls as 1 / (j (j + 1)), half is the same for each start within the windows that there may be.
    """
    j = np.arange(1.0, n + 1.0)
    even = np.where(j <= MOST_STARTS, 1.0 / MOST_STARTS, 0.0)
    return np.asarray(np.log(0.5 / (j * (j + 1.0)) + 0.5 * even))


def log_kept(n: int) -> float:
    """Return the logarithm of the share of wealth that is kept for starts behind the first n."""
    return float(np.log(0.5 / (n + 1.0) + 0.5 * max(1.0 - n / MOST_STARTS, 0.0)))


def log_sum(log: FloatArray, axis: int | tuple[int, ...] = -1) -> FloatArray:
    """Return the logarithm of the sum of numbers that are given by their logarithms."""
    largest = log.max(axis=axis, keepdims=True)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(log - safe).sum(axis=axis)) + np.squeeze(safe, axis))


def log_mean(log: FloatArray, axis: int = -1) -> FloatArray:
    """Return the logarithm of the mean of numbers that are given by their logarithms."""
    return np.asarray(log_sum(log, axis) - np.log(log.shape[axis]))
