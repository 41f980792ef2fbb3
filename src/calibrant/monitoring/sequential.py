"""The two sequential tests of a monitor, as functions of the sums of its windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray, IntArray
from calibrant.monitoring.bets import BETS, Cells, log_mean, log_sum
from calibrant.monitoring.evidence import Evidence, cuts_of
from calibrant.monitoring.figures import IMPOSSIBLE
from calibrant.monitoring.reference import Reference
from calibrant.sums import Sums
from calibrant.sums.strata import is_upper


@dataclass(frozen=True, eq=False)
class Place:
    """The cells of a group that hold rows: whose part each is, its name, and the edges of its bin; all of shape (n_cells,)."""

    part: IntArray
    names: tuple[str, ...]
    left: FloatArray
    right: FloatArray
    upper: BoolArray

    def words(self, cells: BoolArray) -> str:
        """Say which cells these are."""
        if cells.all():
            return "all rows" if len(set(self.names)) > 1 or not self.names[0] else f"{self.names[0]}"
        parts = {self.names[k] for k in np.flatnonzero(cells)}
        said = [] if len(parts) > 1 or len(set(self.names)) == 1 else [parts.pop()]
        span = f"probabilities from {self.left[cells].min():.3g} to {self.right[cells].max():.3g}"
        return ", ".join([*said, *([] if cells.sum() > 1 and said else [span])])


@dataclass(frozen=True, eq=False)
class Sequential:
    """A test after each window.

    Attributes
    ----------
    groups : tuple of Evidence
        Bets on rows that stand in one cell each; a row may stand in several groups. The evidence is the mean over groups.
    places : tuple of Place
        What the cells of each group are.
    certain : ndarray of shape (n_windows,)
        Whether an event of probability 0 has occurred by the end of the window: bets on it have no limit.
    of_predictions : bool
        Whether the event is that a predicted class is true.
    """

    groups: tuple[Evidence, ...]
    places: tuple[Place, ...]
    certain: BoolArray
    of_predictions: bool

    @classmethod
    def of(cls, windows: Sequence[Sums], reference: Sums | None = None) -> Sequential:
        """Return the test of these windows: against a reference, if there is one, else against calibration."""
        notion = windows[0].plan.cells[0][0]
        every = [*windows, *([] if reference is None else [reference])]
        n_parts = len(every[0].cells[0])
        parts = [range(n_parts)] if notion.one_score_a_row else [[k] for k in range(n_parts)]
        groups, places = [], []
        for group in parts:
            cells, place = _cells(every, group)
            cuts = cuts_of(place.upper, place.part)
            own = Cells(*(getattr(cells, name)[: len(windows)] for name in ("rows", "expected", "events")))
            known = None
            if reference is not None:
                last = Cells(*(getattr(cells, name)[-1] for name in ("rows", "expected", "events")))
                known = Reference.of(last, cuts)
            groups.append(Evidence(own, cuts, known))
            places.append(place)
        impossible = (
            np.array([sums.total(IMPOSSIBLE) for sums in windows]) if reference is None else np.zeros(len(windows))
        )
        return cls(tuple(groups), tuple(places), np.cumsum(impossible) > 0.0, notion.of_predictions)

    @cached_property
    def path(self) -> FloatArray:
        """Logarithm of the evidence after each window."""
        found = log_mean(np.stack([group.path for group in self.groups], axis=-1))
        return np.where(self.certain, np.inf, found)

    def first(self, alpha: float) -> int | None:
        """Return the number of the first window after which the evidence is at least 1 / alpha, None if there is none."""
        reached = np.flatnonzero(self.path >= -np.log(alpha))
        return int(reached[0]) if reached.size else None

    def where(self, window: int) -> str:
        """Say which bets gained most by the end of a window."""
        if self.certain[window]:
            return "an event of probability 0 occurred, or one of probability 1 did not"
        number = int(np.argmax([group.path[window] for group in self.groups]))
        group, place = self.groups[number], self.places[number]
        wealth = [group.by_unit(window + 1, k) for k in range(len(group.cuts))]
        best = int(np.argmax([each.sum() for each in wealth]))
        unit = int(np.argmax(wealth[best]))
        bets = log_sum(group.units(window + 1, best)[:, unit], 0)
        is_more = log_sum(bets[BETS > 0.0]) > log_sum(bets[BETS < 0.0])
        rows = place.words(group.cuts[best].unit == unit)
        if group.reference is None:
            event = "the predicted class is true" if self.of_predictions else "the event occurs"
            return f"{rows}: {event} {'more' if is_more else 'less'} often than predicted"
        gap = "accuracy minus confidence" if self.of_predictions else "event rate minus prediction"
        return f"{rows}: {gap} is {'higher' if is_more else 'lower'} than in the reference"


def _cells(every: Sequence[Sums], group: Sequence[int]) -> tuple[Cells, Place]:
    """Put the cells of some parts side by side, those that hold rows in any of the sums; arrays (n_sums, n_cells)."""
    found = [[one for number, one in enumerate(sums.cells[0]) if number in group] for sums in every]
    widest = [max(column, key=lambda one: len(one.bins)) for column in zip(*found, strict=True)]
    lengths = [len(one.bins) for one in widest]  # a part without rows may have one bin

    def side_by_side(name: str) -> FloatArray:
        rows = (zip(row, lengths, strict=True) for row in found)
        return np.array([np.concatenate([_padded(getattr(one.bins, name), n) for one, n in row]) for row in rows])

    arrays = [side_by_side(name) for name in ("count", "score_sum", "outcome_sum")]
    held = np.atleast_1d((arrays[0] > 0.0).any(axis=0))
    held[0] |= not held.any()  # one cell at least
    part = np.concatenate([np.full(len(one.bins), k) for k, one in enumerate(widest)])[held]
    names = tuple(one.name for one in widest)
    left, right, upper = (
        np.concatenate([of(one) for one in widest])[held]
        for of in (lambda one: one.bins.left, lambda one: one.bins.right, lambda one: is_upper(one.bins.edges))
    )
    place = Place(part, tuple(names[k] for k in part), left, right, upper)
    return Cells(*(array[:, held].astype(np.float64) for array in arrays)), place


def _padded(values: FloatArray, n: int) -> FloatArray:
    return values if values.size == n else np.zeros(n)
