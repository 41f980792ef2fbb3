"""The exact two-sided binomial test of many probabilities against the same counts.

The p-value is the probability of all outcomes that are at most as probable as the observed one: the tail from the observed
number of events outward, and as much of the other tail as is no more probable. As a function of the probability that is
tested the first rises toward the event rate; the second falls and jumps, so that a probability can be rejected that lies
between two accepted ones. What never turns back is the first tail and the place where the second ends. They bound the
p-values of neighbours, and where the bounds leave a doubt each p-value is computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincc, gammaln

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray, IntArray

AS_PROBABLE = float(np.log1p(1e-7))
"""Log-ratio up to which an outcome is no more probable than the observed one; SciPy has the same. Ties are rounded."""

ROUNDING = 1e-9
"""Part of the level, or of its distance from one, by which a p-value may exceed it and be equal but for rounding."""

HALVINGS = 54
"""Of any count below 2**53 and the -1 below all counts."""

CHUNK = 32
"""Neighbouring probabilities that are bounded together."""

CELLS = 16
GRID = np.linspace(0.0, 1.0, CELLS + 1)
DIGITS = 16
"""In base 16, of the search for an end: after the first it is found to 1e-18, or to the last place if that is more."""


@dataclass(frozen=True, eq=False)
class Excess:
    """Counts with more events than the tested probabilities let expect: ``k`` of ``n``, arrays of one shape.

    Where there are fewer, the others are in excess: then ``k`` are the non-events, and the counts are ``mirrored``.
    """

    k: FloatArray
    n: FloatArray
    mirrored: bool

    def at(self, rows: IntArray | BoolArray) -> Excess:
        """Return the counts of some rows."""
        return Excess(self.k[rows], self.n[rows], self.mirrored)

    def near(self, p: FloatArray) -> FloatArray:
        """Probability of k or more; it rises toward the event rate."""
        below = self.n - self.k + 1.0
        return np.asarray(betaincc(below, self.k, p) if self.mirrored else betainc(self.k, below, p))

    def far(self, last: FloatArray, p: FloatArray) -> FloatArray:
        """Probability of ``last`` or fewer, 0 where ``last`` is -1; it falls toward the event rate."""
        held = np.maximum(last, 0.0)
        tail = betainc(self.n - held, held + 1.0, p) if self.mirrored else betaincc(held + 1.0, self.n - held, p)
        return np.where(last < 0.0, 0.0, tail)

    def reach(self, p: FloatArray) -> FloatArray:
        """Return the largest number below k that is no more probable than k, or -1; it rises toward the event rate."""
        with np.errstate(divide="ignore"):
            odds = np.log1p(-p) - np.log(p) if self.mirrored else np.log(p) - np.log1p(-p)
        # Ratios of probabilities: the probabilities themselves vanish far out.
        own = _log_choose(self.n, self.k) + AS_PROBABLE
        low, high = np.full(odds.shape, -1.0), np.broadcast_to(self.k, odds.shape)
        for _ in range(HALVINGS):
            if not (high - low > 1.0).any():
                break
            middle = np.floor((low + high) / 2.0)
            # Where the search has ended the middle is low, and is -1 or known to be no more probable.
            as_probable = _log_choose(self.n, middle) - own <= (self.k - middle) * odds
            moved = as_probable | (middle < 0.0)
            low, high = np.where(moved, middle, low), np.where(moved, high, middle)
        return low

    def pvalue(self, p: FloatArray) -> FloatArray:
        """Return the exact two-sided p-value."""
        return np.minimum(self.near(p) + self.far(self.reach(p), p), 1.0)

    def most(self, out: FloatArray, toward: FloatArray) -> FloatArray:
        """Bound the p-values of all probabilities between two from above; the second is nearer to the event rate."""
        return self.near(toward) + self.far(self.reach(toward), out)

    def least(self, out: FloatArray, toward: FloatArray) -> FloatArray:
        """Bound them from below."""
        return self.near(out) + self.far(self.reach(out), toward)

    def rejects(self, p: FloatArray, group: IntArray, level: float) -> BoolArray:
        """Decide on probabilities that run toward the event rate in each group of equal counts."""
        starts = _chunk_starts(group)
        size = np.diff(starts, append=p.size)
        chunks, out, toward = self.at(starts), p[starts], p[starts + size - 1]
        rejected = chunks.most(out, toward) <= level
        doubtful = ~rejected & (chunks.least(out, toward) <= _bar(level, 2.0 * ROUNDING))
        found, rows = np.repeat(rejected, size), np.repeat(doubtful, size)
        found[rows] = self.at(rows).pvalue(p[rows]) <= _bar(level)
        return found

    def outermost(self, level: float) -> FloatArray:
        """Return the accepted probability that is farthest from the event rate, shape (d,) like the counts."""
        bar = _bar(level)
        farthest = (self.n - self.k if self.mirrored else self.k) / self.n  # the event rate is accepted
        row = np.arange(self.k.size)
        out, toward = np.full(self.k.size, 1.0 if self.mirrored else 0.0), farthest.copy()
        for _ in range(DIGITS):
            grid = out[:, None] + (toward - out)[:, None] * GRID
            row, out, toward = np.repeat(row, CELLS), grid[:, :-1].ravel(), grid[:, 1:].ravel()
            cells = self.at(row)
            is_accepted = cells.pvalue(out) > bar
            (np.maximum if self.mirrored else np.minimum).at(farthest, row[is_accepted], out[is_accepted])
            beyond = (out > farthest[row]) if self.mirrored else (out < farthest[row])
            open_cells = np.flatnonzero(beyond & (out != toward) & (cells.most(out, toward) > bar))
            row, out, toward = row[open_cells], out[open_cells], toward[open_cells]
        return farthest


def rejects(p: FloatArray, at: IntArray, k: FloatArray, n: FloatArray, level: float) -> BoolArray:
    """Return which probabilities the exact test rejects against the counts of their bins.

    Assumes that ``p`` (m,) does not fall, nor does ``at`` (m,), the bins; that ``k`` of ``n`` are whole, and n positive where
    there is a probability.
    """
    found = np.zeros(p.size, dtype=bool)
    expected = n[at] * p
    more, fewer = np.flatnonzero(k[at] > expected), np.flatnonzero(k[at] < expected)[::-1]
    found[more] = Excess(k[at[more]], n[at[more]], False).rejects(p[more], at[more], level)
    found[fewer] = Excess((n - k)[at[fewer]], n[at[fewer]], True).rejects(p[fewer], at[fewer], level)
    return found


def accepted(k: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest probability that the exact test accepts against k of n, n positive."""
    lower, upper = np.zeros(k.shape), np.ones(k.shape)
    some, rest = k > 0.0, k < n
    lower[some] = Excess(k[some], n[some], False).outermost(level)
    upper[rest] = Excess((n - k)[rest], n[rest], True).outermost(level)
    return lower, upper


def _bar(level: float, rounding: float = ROUNDING) -> float:
    """Return the highest p-value that reaches the level: below one, which reaches none."""
    return level + rounding * min(level, 1.0 - level)


def _log_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    """Logarithm of the binomial coefficient, but for a term in n alone."""
    return np.asarray(-gammaln(k + 1.0) - gammaln(n - k + 1.0))


def _chunk_starts(group: IntArray) -> IntArray:
    """Return where each group begins, and every so many places in it."""
    place = np.arange(group.size)
    begins = np.diff(group, prepend=-1) != 0
    since = place - np.maximum.accumulate(np.where(begins, place, 0))
    return np.flatnonzero(since % CHUNK == 0)
