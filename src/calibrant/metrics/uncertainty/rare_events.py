"""Numbers of events of cells in which few occur, at one event rate after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray
from calibrant.sums.noise import Mixture

LevelArray = npt.NDArray[np.float32]
SmallArray = npt.NDArray[np.int8]

MOST = 60.0
"""Expected events, or rows without one, up to which the probabilities of 0, 1, 2 ... are summed."""

LEFT = 1e-8
"""Probability of more events that is left out."""


@dataclass(frozen=True, eq=False)
class RareEvents:
    """Cells of ``n`` rows, shape (n_cells,), and the ``level`` of each draw of their events, shape (n_cells, n_draws).

    At an event rate a draw is the quantile of its level: where the rate rises events are added, and none is moved. It is
    fastest where the cells in which most events occur come first.
    """

    n: FloatArray
    level: LevelArray

    @classmethod
    def of(cls, events: FloatArray, n: FloatArray, rate: FloatArray, rng: np.random.Generator) -> RareEvents:
        """Find levels at which these numbers of events, shape (n_cells, n_draws), are the quantiles at these rates."""
        often = rate > 0.5
        count = np.where(often[:, None], n[:, None] - events, events)
        seldom = np.where(often, 1.0 - rate, rate)
        many = n * seldom > MOST
        below, width = _table(n, np.where(many, 0.0, seldom))
        at = np.minimum(count, len(below) - 1).astype(np.intp), np.arange(n.size)[:, None]
        level = width[at]
        level *= rng.random(events.shape)
        level += below[at]
        mean, spread = (n * seldom)[many, None], np.sqrt(n * seldom * (1.0 - seldom))[many, None]
        level[many] = np.clip(ndtr((count[many] - mean) / spread), LEFT, 1.0 - LEFT)
        return cls(n, np.where(often[:, None], 1.0 - level, level).astype(np.float32))

    def at(self, rate: FloatArray) -> FloatArray | SmallArray:
        """Return the numbers of events at rates (n_cells,), shape (n_cells, n_draws); small whole ones where all are small."""
        often, many = rate > 0.5, self.n * np.minimum(rate, 1.0 - rate) > MOST
        found = _quantiles(self.n, np.where(often | many, 0.0, rate), self.level)
        if not (often.any() or many.any()):
            return found
        events, mostly = found.astype(np.float64), np.flatnonzero(often & ~many)
        below = np.float32(1.0) - self.level[mostly]
        events[mostly] = self.n[mostly, None] - _quantiles(self.n[mostly], 1.0 - rate[mostly], below)
        if many.any():
            n, level = self.n[many], np.clip(self.level[many].astype(np.float64), LEFT, 1.0 - LEFT)
            events[many] = np.clip(np.rint(Mixture(n * rate[many], n).quantiles(level)), 0.0, n[:, None])
        return events


def _table(n: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return for k = 0, 1, ... the probabilities of fewer than k events, and of k, shape (n_numbers, n_cells).

    In the last row, and of cells in which so many events hardly occur, they are one but for what is left out, and zero.
    """
    terms = list(_terms(n, rate))
    below, width = np.full((len(terms) + 1, n.size), 1.0 - LEFT), np.zeros((len(terms) + 1, n.size))
    for cells, k, fewer, reached in terms:
        below[k, cells], width[k, cells] = fewer, reached - fewer
    return below, width


def _quantiles(n: FloatArray, rate: FloatArray, level: LevelArray) -> SmallArray:
    """Return the numbers of events at levels (n_cells, n_draws); where `MOST` are expected they are below 128."""
    found = np.zeros(level.shape, dtype=np.int8)
    for cells, _, _, reached in _terms(n, rate):
        found[cells] += (level[cells] > reached[:, None].astype(np.float32)).view(np.int8)
    return found


def _terms(n: FloatArray, rate: FloatArray) -> Iterator[tuple[slice, int, FloatArray, FloatArray]]:
    """Yield for k = 0, 1, ... the probabilities of fewer than k events and of at most k, of the first cells.

    The last of them is the last one in which more events may occur.
    """
    odds, term = rate / (1.0 - rate), np.exp(n * np.log1p(-rate))
    below, reached, k, size = np.zeros(n.size), term.copy(), 0, n.size
    while size:
        yield slice(0, size), k, below[:size], reached[:size]
        term = term[:size] * np.maximum(n[:size] - k, 0.0) / (k + 1.0) * odds[:size]
        below, reached, k = reached[:size], reached[:size] + term, k + 1
        more: BoolArray = (1.0 - below > LEFT) & (n[:size] >= k)
        size = int(np.flatnonzero(more)[-1]) + 1 if more.any() else 0
