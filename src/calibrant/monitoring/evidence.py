"""Evidence after each window, against calibration or against a reference, from the sums of the windows alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.monitoring.bets import BETS, Cells, Cut, log_kept, log_mean, log_parts, log_sum, starts
from calibrant.monitoring.reference import Reference


@dataclass(frozen=True, eq=False)
class Evidence:
    """Bets on windows, in their order; leading axes are streams side by side.

    Attributes
    ----------
    windows : Cells
        Sums of each window, arrays of shape (n_windows, ..., n_cells).
    cuts : tuple of Cut
        How cells are bet on together. The evidence is the mean over cuts.
    reference : Reference or None
        What calibration is to have been; None if the predictions are to be calibrated.
    """

    windows: Cells
    cuts: tuple[Cut, ...]
    reference: Reference | None = None

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray | None]:
        """Gains, and slopes, before each window and after the last, shape (n_windows + 1, ..., n_cells, n_bets)."""
        if self.reference is None:
            return _running(self.windows.log_gains()), None
        gain, slope = self.reference.terms(self.windows)
        return _running(gain), _running(slope)

    def units(self, after: int, number: int) -> FloatArray:
        """Return the logarithm of the wealth of each bet after so many windows, shape (..., n_starts, n_units, n_bets)."""
        begun = starts(after)
        gain, slope = ((None if x is None else np.moveaxis(x[after] - x[begun], 0, -3)) for x in self._sums)
        assert gain is not None
        cut = self.cuts[number]
        log = (
            cut.sums(gain)
            if self.reference is None or slope is None
            else self.reference.log_wealth(gain, slope, number)
        )
        return np.asarray(log + log_parts(begun.size)[:, None, None] - np.log(BETS.size))

    def by_unit(self, after: int, number: int) -> FloatArray:
        """Return the logarithm of the wealth of each unit of a cut, shape (..., n_units)."""
        log = log_sum(self.units(after, number), (-3, -1))
        if self.reference is None:  # what is kept for bets that begin later
            log = np.logaddexp(log, log_kept(starts(after).size))
        idle = self.cuts[number].idle
        if idle > 0.0:
            log = np.logaddexp(np.log(idle), np.log1p(-idle) + log)
        return log if self.reference is None else np.where(self.reference.known[number], log, 0.0)

    def after(self, windows: int) -> FloatArray:
        """Return the logarithm of the evidence after so many windows, at least one; shape (...)."""
        found = [self.by_unit(windows, number).sum(axis=-1) for number in range(len(self.cuts))]
        return log_mean(np.stack(found, axis=-1))

    @cached_property
    def path(self) -> FloatArray:
        """Logarithm of the evidence after each window, shape (n_windows, ...)."""
        n = self.windows.rows.shape[0]
        return np.array([self.after(t) for t in range(1, n + 1)]).reshape(n, *self.windows.rows.shape[1:-1])


def _running(terms: FloatArray) -> FloatArray:
    return np.concatenate([np.zeros((1, *terms.shape[1:])), np.cumsum(terms, axis=0)])
