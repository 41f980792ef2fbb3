"""The cells of a monitor: fixed by its options and classes, before the first row is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray, IntArray
from calibrant.binning import Bins
from calibrant.binning.equal_width import even_edges
from calibrant.monitoring.bets import Cells, Cut
from calibrant.sums import Sums
from calibrant.sums.strata import is_upper


@dataclass(frozen=True, eq=False)
class Place:
    """Cells side by side: whose part each is, its name, and the edges of its bin; all of shape (n_cells,).

    All bins of all parts are cells, whether or not they ever hold rows. Were a bin a cell only from its first row on, that row
    would change what was bet before it, and evidence would be no wealth of a fair game.
    """

    part: IntArray
    names: tuple[str, ...]
    left: FloatArray
    right: FloatArray
    upper: BoolArray

    @classmethod
    def of(cls, n_bins: int, names: Sequence[str]) -> Place:
        """Return the cells of parts of these names, each of so many bins of equal width."""
        edges = even_edges(n_bins, np.dtype(np.float64)).edges
        n, part = len(names), np.repeat(np.arange(len(names)), n_bins)
        of_each = tuple(name for name in names for _ in range(n_bins))
        return cls(part, of_each, np.tile(edges[:-1], n), np.tile(edges[1:], n), np.tile(is_upper(edges), n))

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """How cells are bet on together."""
        return cuts_of(self.upper, self.part)

    def cells(self, every: Sequence[Sums], parts: Sequence[int]) -> Cells:
        """Put the bins of some parts side by side, arrays of shape (n_sums, n_cells); a part without rows is zeros."""
        n = self.part.size // len(parts)

        def of(name: str) -> FloatArray:
            rows = ([_padded(sums.cells[0][k].bins, name, n) for k in parts] for sums in every)
            return np.array([np.concatenate(row) for row in rows], dtype=np.float64)

        return Cells(of("count"), of("score_sum"), of("outcome_sum"))

    def words(self, cells: BoolArray) -> str:
        """Say which cells these are."""
        if cells.all():
            return "all rows" if len(set(self.names)) > 1 or not self.names[0] else f"{self.names[0]}"
        parts = {self.names[k] for k in np.flatnonzero(cells)}
        said = [] if len(parts) > 1 or len(set(self.names)) == 1 else [parts.pop()]
        span = f"probabilities from {self.left[cells].min():.3g} to {self.right[cells].max():.3g}"
        return ", ".join([*said, *([] if cells.sum() > 1 and said else [span])])


def _padded(bins: Bins, name: str, n: int) -> FloatArray:
    """Return sums of n bins; a part without rows may have one bin."""
    values = np.asarray(getattr(bins, name))
    return values if values.size == n else np.zeros(n)


def cuts_of(upper: BoolArray, part: IntArray) -> tuple[Cut, ...]:
    """Return the cuts of cells: all together, those of the lower and of the upper half, those of each part, and each cell.

    Parameters
    ----------
    upper : ndarray of shape (n_cells,)
        Whether a cell lies in the upper half of [0, 1].
    part : ndarray of shape (n_cells,)
        Number of the part of the notion that it is of.
    """
    units = [np.zeros(part.size, dtype=np.intp), upper.astype(np.intp), part, np.arange(part.size)]
    numbered = [np.unique(unit, return_inverse=True)[1] for unit in units]
    distinct = {unit.tobytes(): unit for unit in numbered}
    return tuple(Cut(unit) for unit in distinct.values())
