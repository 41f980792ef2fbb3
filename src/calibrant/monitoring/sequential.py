"""The two sequential tests of a monitor, as functions of the sums of its windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray
from calibrant.binning import EqualWidth
from calibrant.monitoring.bets import BETS, log_mean, log_sum
from calibrant.monitoring.evidence import Evidence
from calibrant.monitoring.figures import IMPOSSIBLE
from calibrant.monitoring.place import Place
from calibrant.monitoring.reference import Reference
from calibrant.sums import Sums


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
        notion, binning = windows[0].plan.cells[0]
        assert isinstance(binning, EqualWidth)
        names = [one.name for one in windows[0].cells[0]]
        groups, places = [], []
        for parts in [range(len(names))] if notion.one_score_a_row else [[k] for k in range(len(names))]:
            place = Place.of(binning.n_bins, [names[k] for k in parts])
            known = None
            if reference is not None:
                known = Reference.of(place.cells([reference], parts).at(0), place.cuts)
            groups.append(Evidence(place.cells(windows, parts), place.cuts, known))
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
