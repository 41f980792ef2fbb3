"""What a reference tells of the gaps of bins, and how the test of drift pays for its noise.

If nothing has drifted the gap of a cell, event rate minus mean probability, is the same number g in the reference and in each
later window. If all g were known, a bet λ on later rows would be a martingale M(g), as in `bets`, with p̄ + g in the place of
p̄; and bets μ on the rows of the reference would have a wealth N(g) of mean at most 1, if no prediction of the reference
depends on an outcome of the reference: the sizes of these bets are taken from all its predictions. So N(g) M(g), averaged
over bets, reaches 1 / α with probability at most α. As g is not known, N(g) M(g) is replaced by a lower bound that is the
same for all g:

* Each exponent is bounded by its tangent at the gap that was seen, so that it is linear in the error e = g - (gap seen).
* An average of two bets is at least their weighted geometric mean, whose exponent is linear in e as well. There are six
  bets μ on each unit of cells, of which two neighbours are used, and within them two on each cell, a little more and a little
  less. Their weights are chosen so that the error of each cell cancels: what the later rows gain from an error, the reference
  loses.

Where no weights between 0 and 1 do that, a bet has no wealth. Cells with fewer than FEWEST rows in the reference are not bet
on, and a unit of such cells keeps a wealth of 1: the predictions of the reference decide this, before later windows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray
from calibrant.monitoring.bets import BETS, FACTOR, Cells, Cut

SmallArray = npt.NDArray[np.int8]

DEVIATIONS = np.array([-6.0, -3.0, -1.0, 1.0, 3.0, 6.0])
"""Bets on the reference, in units of the standard deviation that the events of a unit have if they are calibrated."""

PARTS = np.array([0.1, 0.15, 0.25, 0.25, 0.15, 0.1])
"""Share of the wealth with which they begin."""

SPREAD = 0.4
"""How much more and less is bet on a cell, in units of its own standard deviation. More costs wealth where predictions fall
into the same cells as before, less leaves no bet on many cells where they do not."""

FEWEST = 10
"""Rows of a cell in the reference from which on it is bet on."""


@dataclass(frozen=True, eq=False)
class OnReference:
    """Bets on the reference by the units of a cut.

    Attributes
    ----------
    base : tuple of ndarray of shape (..., n_cells, 6)
        Logarithm of the wealth of each bet if the gaps are those seen, with a little less bet on each cell, and a little more.
    slope : tuple of ndarray of shape (..., n_cells, 6)
        How it falls as the gap of a cell rises.
    total : ndarray of shape (..., n_units, 6)
        Slope of a unit, between those of less and more; it rises from bet to bet.
    """

    cut: Cut
    base: tuple[FloatArray, FloatArray]
    slope: tuple[FloatArray, FloatArray]
    total: FloatArray

    @classmethod
    def of(cls, reference: Cells, rate: FloatArray, cut: Cut) -> OnReference:
        """Return the bets on the rows of a reference with these event rates."""
        variance = reference.rows * reference.mean * (1.0 - reference.mean)
        unit = np.take(np.sqrt(np.maximum(cut.sums(variance, axis=-1), 1.0)), cut.unit, axis=-1)
        bet = DEVIATIONS / unit[..., None]
        apart = (0.0 if cut.is_of_cells else SPREAD) / np.sqrt(np.maximum(variance, 1.0))[..., None]
        base, slope = [], []
        for own in (bet - apart, bet + apart):
            factor = np.expm1(own)
            inside = 1.0 + rate[..., None] * factor
            base.append(own * reference.events[..., None] - reference.rows[..., None] * np.log(inside))
            slope.append(reference.rows[..., None] * factor / inside)
        return cls(cut, (base[0], base[1]), (slope[0], slope[1]), cut.sums((slope[0] + slope[1]) / 2.0))

    def log_wealth(self, gain: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the least wealth for all gaps; see `Reference.log_wealth`."""
        wanted = -self.cut.sums(slope)
        upper: SmallArray = np.zeros(wanted.shape, dtype=np.int8)
        for k in range(DEVIATIONS.size):
            upper += _each(self.total, k) <= wanted
        low, high = _chosen(self.total, upper, -1), _chosen(self.total, upper, 0)
        cancels = (upper > 0) & (upper < DEVIATIONS.size) & (high > low)
        part = np.where(cancels, (high - wanted) / np.where(cancels, high - low, 1.0), 0.5)
        first, second = (np.take(np.log(PARTS), np.clip(upper + step, 0, PARTS.size - 1)) for step in (-1, 0))
        paid = part * first + (1.0 - part) * second + entr(part) + entr(1.0 - part)
        at, of = np.take(upper, self.cut.unit, axis=-2), np.take(part, self.cut.unit, axis=-2)
        if self.cut.is_of_cells:  # the error of the one cell has cancelled
            return np.where(cancels, gain + _between(self.base[0], at, of) + paid, -np.inf)
        less, more = (_between(values, at, of) for values in self.slope)
        base_less, base_more = (_between(values, at, of) for values in self.base)
        width = more - less
        share = np.where(width > 0.0, (-slope - less) / np.where(width > 0.0, width, 1.0), 0.5)
        cancels &= self.cut.sums(((share < 0.0) | (share > 1.0)).astype(np.int8)) == 0
        share = np.clip(share, 0.0, 1.0)
        own = gain + share * base_more + (1.0 - share) * base_less + entr(share) + entr(1.0 - share) - np.log(2.0)
        return np.where(cancels, self.cut.sums(own) + paid, -np.inf)


@dataclass(frozen=True, eq=False)
class Reference:
    """The gaps of cells in a reference, and bets on its rows.

    Attributes
    ----------
    gap : ndarray of shape (..., n_cells)
        Event rate minus mean probability.
    counts : ndarray of shape (..., n_cells)
        Whether there are enough rows to bet on the cell.
    known : tuple of ndarray of shape (..., n_units)
        For each cut, whether a unit has such cells. The wealth of others stays as it is, whatever later windows hold.
    bets : tuple of OnReference
        One a cut.
    """

    gap: FloatArray
    counts: BoolArray
    known: tuple[BoolArray, ...]
    bets: tuple[OnReference, ...]

    @classmethod
    def of(cls, reference: Cells, cuts: tuple[Cut, ...]) -> Reference:
        """Return what a reference tells, from its sums."""
        counts = np.asarray(reference.rows >= FEWEST, dtype=np.bool_)
        kept = Cells(*(np.where(counts, x, 0.0) for x in (reference.rows, reference.expected, reference.events)))
        rate = np.clip(kept.events / np.maximum(kept.rows, 1.0), 0.0, 1.0)
        known = tuple(np.asarray(cut.sums(kept.rows, axis=-1) > 0.0) for cut in cuts)
        bets = tuple(OnReference.of(kept, rate, cut) for cut in cuts)
        return cls(np.where(counts, rate - kept.mean, 0.0), counts, known, bets)

    def terms(self, window: Cells) -> tuple[FloatArray, FloatArray]:
        """Return the logarithm of what bets gain if the gaps are those seen, and its slopes; shape (..., n_cells, n_bets)."""
        mean = window.mean + self.gap
        x = np.clip(mean, 0.0, 1.0)[..., None]
        rows, events = (np.where(self.counts, values, 0.0)[..., None] for values in (window.rows, window.events))
        slope = rows * FACTOR / (1.0 + x * FACTOR)
        gain = BETS * events - rows * np.log1p(x * FACTOR)
        return gain - slope * (mean[..., None] - x), slope

    def log_wealth(self, gain: FloatArray, slope: FloatArray, number: int) -> FloatArray:
        """Return the least wealth for all gaps, of what bets on later rows gained, by units of the cut of that number.

        Parameters
        ----------
        gain, slope : ndarray of shape (..., n_starts, n_cells, n_bets)
            Sums of `terms`.
        number : int
            Which cut.

        Returns
        -------
        ndarray of shape (..., n_starts, n_units, n_bets)
            Its logarithm.
        """
        return self.bets[number].log_wealth(gain, slope)


def _each(values: FloatArray, bet: int) -> FloatArray:
    """Return the values (..., n, 6) of a bet, beside starts and bets of windows: (..., 1, n, 1)."""
    return values[..., None, :, bet, None]


def _chosen(values: FloatArray, upper: SmallArray, step: int) -> FloatArray:
    """Return the values (..., n, 6) of the bet  upper + step  in each place, (..., n_starts, n, n_bets)."""
    found = _each(values, 1 + step)
    for k in range(2, DEVIATIONS.size):
        found = np.where(upper >= k, _each(values, k + step), found)
    return found


def _between(values: FloatArray, upper: SmallArray, part: FloatArray) -> FloatArray:
    """Return the mean of the values of two bets, of which the lower one has this weight."""
    return np.asarray(part * _chosen(values, upper, -1) + (1.0 - part) * _chosen(values, upper, 0))
