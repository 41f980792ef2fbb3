"""A look at windows in their order: figures, evidence and alarms."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, reduce
from operator import add

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.monitoring.figures import Figures
from calibrant.monitoring.sequential import Sequential
from calibrant.monitoring.table import CALIBRATION, DRIFT, Alarm, MonitorTable
from calibrant.sums import Sums


@dataclass(frozen=True, eq=False)
class Look:
    """A look at windows.

    Attributes
    ----------
    names : tuple of str
        What the windows are called.
    windows : tuple of Sums
        Their sums, in their order.
    first : int
        How many of the first windows are the reference.
    given : Sums or None
        A reference that is not among the windows.
    alpha : float
        False-alarm rate of each test.
    """

    names: tuple[str, ...]
    windows: tuple[Sums, ...]
    first: int
    given: Sums | None
    alpha: float

    @cached_property
    def calibration(self) -> Sequential | None:
        """The test of calibration; None without windows."""
        return Sequential.of(self.windows) if self.windows else None

    @cached_property
    def drift(self) -> Sequential | None:
        """The test of drift; None without a reference, or without windows beside it."""
        reference = reduce(add, self.windows[: self.first]) if self.first else self.given
        later = self.windows[self.first :]
        return Sequential.of(later, reference) if later and reference is not None else None

    @cached_property
    def alarms(self) -> tuple[Alarm, ...]:
        """The first alarm of each test, in the order of their windows."""
        found = []
        for test, seen, skipped in ((CALIBRATION, self.calibration, 0), (DRIFT, self.drift, self.first)):
            at = None if seen is None else seen.first(self.alpha)
            if seen is not None and at is not None:
                evidence = float(_evidence(seen.path[at : at + 1])[0])
                alarm = Alarm(test, self.names[at + skipped], evidence, self.alpha, seen.where(at))
                found.append((at + skipped, alarm))
        return tuple(alarm for _, alarm in sorted(found, key=lambda pair: pair[0]))

    def table(self, level: float, n_resamples: int) -> MonitorTable:
        """Return figures of each window, and the evidence after it."""
        n = len(self.windows)
        figures = [Figures.of(sums, level, n_resamples) for sums in self.windows]
        columns = {field.name: np.array([getattr(one, field.name) for one in figures]) for field in fields(Figures)}
        by_test = []
        for seen in (self.calibration, self.drift):
            path = np.empty(0) if seen is None else _evidence(seen.path)
            by_test.append(np.concatenate([np.full(n - path.size, np.nan), path]))
        return MonitorTable(
            window=self.names,
            is_reference=np.arange(n) < self.first,
            evidence=by_test[0],
            drift_evidence=by_test[1],
            alarms=self.alarms,
            notion=self.windows[0].plan.cells[0][0].name,
            alpha=self.alpha,
            level=level,
            **columns,
        )


def _evidence(log: FloatArray) -> FloatArray:
    """Return the evidence of its logarithm; it is infinite only where an event of probability 0 occurred."""
    most = np.log(np.finfo(np.float64).max)
    return np.exp(np.where(log == np.inf, log, np.minimum(log, most)))
