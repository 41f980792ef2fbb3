"""What a reference tells of the gaps of bins, and how the test of drift pays for its noise.

Under the null the gap of a cell, event rate minus mean probability, is the same number g in the reference and in each later
window. If g were known, a bet λ on later rows would be a martingale M(g), as in `bets`, with p̄ + g in the place of p̄; and a bet
μ on the rows of the reference would have a wealth N(g) of mean 1. So N(g) M(g), averaged over many μ and λ, reaches 1 / α with
probability at most α. As g is not known, it is replaced by a lower bound for all g at once:

* Each exponent is bounded by its tangent at the gap that was seen, so that it is linear in the error e = g - (gap seen).
* Of two bets μ on the reference the average is at least their weighted geometric mean. The weights are chosen so that the
  errors of all rows of a unit cancel: what the later rows gain from an error, the reference loses.
* What does not cancel, as predictions fall into other cells than before, is bounded by an interval of e for each cell.

The intervals hold together but for a tenth of the false-alarm rate α (`RISK`), and the rest of it is spent on the bets: an alarm
is raised where 0.9 times the wealth reaches 1 / α.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import entr, rel_entr

from calibrant._core.links import FloatArray
from calibrant.monitoring.bets import BETS, FACTOR, Cells, Cut

DEVIATIONS = np.array([-4.0, -1.5, 1.5, 4.0])
"""Bets on the reference, in units of the standard deviation that its events have if they are calibrated."""

RISK = 0.1
"""Part of the false-alarm rate that is spent on the intervals of the cells."""

HALVINGS = 50
"""Steps by which ends of intervals are found, far below rounding of what they are compared with."""


@dataclass(frozen=True, eq=False)
class OnReference:
    """Bets on the reference by the units of a cut.

    Attributes
    ----------
    base : ndarray of shape (..., n_units, 4)
        Logarithm of the wealth of each bet if the gaps are those seen; never above 0.
    slope : ndarray of shape (..., n_cells, 4)
        How it falls as the gap of a cell rises.
    total : ndarray of shape (..., n_units, 4)
        The same for a unit; it rises from bet to bet.
    """

    base: FloatArray
    slope: FloatArray
    total: FloatArray

    @classmethod
    def of(cls, reference: Cells, rate: FloatArray, cut: Cut) -> OnReference:
        spread = np.sqrt(cut.sums(reference.rows * reference.mean * (1.0 - reference.mean), axis=-1))
        bet = DEVIATIONS / np.maximum(spread, 1.0)[..., None]
        bet = np.take(bet, cut.unit, axis=-2)
        factor = np.expm1(bet)
        base = bet * reference.events[..., None] - reference.rows[..., None] * np.log1p(rate[..., None] * factor)
        slope = reference.rows[..., None] * factor / (1.0 + rate[..., None] * factor)
        return cls(cut.sums(base), slope, cut.sums(slope))


@dataclass(frozen=True, eq=False)
class Reference:
    """The gaps of cells in a reference, and how far they may be from the true ones.

    Attributes
    ----------
    rows, gap : ndarray of shape (..., n_cells)
        Number of rows, and event rate minus mean probability.
    off : ndarray of shape (..., n_cells)
        How far the true gap is from that at most; 1 where there are no rows.
    bets : tuple of OnReference
        One a cut.
    """

    rows: FloatArray
    gap: FloatArray
    off: FloatArray
    cuts: tuple[Cut, ...]
    bets: tuple[OnReference, ...]

    @classmethod
    def of(cls, reference: Cells, cuts: tuple[Cut, ...], risk: float, parts: int = 1) -> Reference:
        rows = reference.rows
        rate = np.clip(reference.events / np.maximum(rows, 1.0), 0.0, 1.0)
        low, high = chernoff_interval(rate, rows, float(np.log(2.0 * parts * rows.shape[-1] / risk)))
        gap = np.where(rows > 0.0, rate - reference.mean, 0.0)
        off = np.where(rows > 0.0, np.maximum(high - rate, rate - low), 1.0)
        return cls(rows, gap, off, cuts, tuple(OnReference.of(reference, rate, cut) for cut in cuts))

    def terms(self, window: Cells) -> tuple[FloatArray, FloatArray]:
        """Return the logarithm of what bets gain if the gaps are those seen, and its slopes; shape (..., n_cells, n_bets)."""
        mean = window.mean + self.gap
        x = np.clip(mean, 0.0, 1.0)[..., None]
        slope = window.rows[..., None] * FACTOR / (1.0 + x * FACTOR)
        gain = BETS * window.events[..., None] - window.rows[..., None] * np.log1p(x * FACTOR)
        return gain - slope * (mean[..., None] - x), slope

    def log_wealth(self, gain: FloatArray, slope: FloatArray, number: int) -> FloatArray:
        """Return the least wealth for all gaps, of what bets on later rows gained; shape (..., n_starts, n_units, n_bets).

        ``gain`` and ``slope`` are sums of `terms`, of shape (..., n_starts, n_cells, n_bets).
        """
        cut, own = self.cuts[number], self.bets[number]
        wanted = -cut.sums(slope)
        upper = sum((_each(own.total, k) <= wanted).astype(np.int8) for k in range(DEVIATIONS.size))
        low, high = _chosen(own.total, upper, -1), _chosen(own.total, upper, 0)
        cancels = (upper > 0) & (upper < DEVIATIONS.size) & (high > low)
        part = np.where(cancels, (high - wanted) / np.where(cancels, high - low, 1.0), 0.5)
        paid = part * _chosen(own.base, upper, -1) + (1.0 - part) * _chosen(own.base, upper, 0)
        paid += entr(part) + entr(1.0 - part) - np.log(DEVIATIONS.size)
        if not cut.is_of_cells:
            at, of = np.take(upper, cut.unit, axis=-2), np.take(part, cut.unit, axis=-2)
            left = slope + of * _chosen(own.slope, at, -1) + (1.0 - of) * _chosen(own.slope, at, 0)
            paid -= cut.sums(np.abs(left) * self.off[..., None, :, None])
        found = np.where(cancels, cut.sums(gain) + paid, -np.inf)
        known = cut.sums(self.rows, axis=-1)[..., None, :, None] > 0.0
        return np.where(known, found, 0.0)


def _each(values: FloatArray, bet: int) -> FloatArray:
    """Return the values (..., n, 4) of a bet, beside starts and bets of windows: (..., 1, n, 1)."""
    return values[..., None, :, bet, None]


def _chosen(values: FloatArray, upper: npt.NDArray[np.int8], step: int) -> FloatArray:
    """Return the values (..., n, 4) at the places  upper + step,  (..., n_starts, n, n_bets); those beside the ends are the ends'."""
    found = _each(values, 1 + step)
    for k in range(2, DEVIATIONS.size):
        found = np.where(upper >= k, _each(values, k + step), found)
    return found


def chernoff_interval(rate: FloatArray, rows: FloatArray, size: float) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest true mean rate q with  rows kl(rate, q) <= size;  0 and 1 where there are no rows.

    ``kl`` is the relative entropy of two events, in nats. Each end is missed with probability at most exp(-size): the moment
    generating function of a number of events is at most that of a binomial one of the same mean.
    """
    ends = []
    for outside in (np.zeros_like(rate), np.ones_like(rate)):
        inside = rate.copy()
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2.0
            fits = rows * (rel_entr(rate, middle) + rel_entr(1.0 - rate, 1.0 - middle)) <= size
            inside, outside = np.where(fits, middle, inside), np.where(fits, outside, middle)
        ends.append(outside)
    return ends[0], ends[1]
