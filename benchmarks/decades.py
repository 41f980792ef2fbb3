"""One question at sizes from hundreds to many millions of numbers: who is fastest where, losses included.

A contender whose name begins with "calibrant" is ours, all others are peers.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.measure import OURS, Contender, Timing, installed, interleaved, spelled

ONCE, LEAST, BUDGET = 1.0, 0.005, 4.0
"""Seconds: a call of more is measured once, a round of fewer repeats its call, and all rounds of a size take about so many."""

CLOSE = {"float64": 1e-9, "float32": 1e-3}
SINGLE, CLOSE_IN_SINGLE = ("torchmetrics",), 1e-2
"""Peers that add up in single precision whatever they are given: the more rows, the further off."""


@dataclass(frozen=True)
class Case:
    """One size: timings by contender."""

    rows: int
    timings: dict[str, Timing]

    def fastest(self, ours: bool) -> tuple[str, float]:
        """The name and the seconds of the fastest of ours, or of the peers."""
        seconds = {name: timing.median for name, timing in self.timings.items() if name.startswith(OURS) == ours}
        return min(seconds.items(), key=lambda pair: pair[1])


@dataclass(frozen=True)
class Decades:
    """A race over sizes: ``make(rows, *shape)`` gives the data, and all contenders give one answer, a number or an array.

    ``most`` leaves contenders out where there are more probabilities than so many.
    """

    contenders: Sequence[Contender]
    make: Callable[..., tuple[Any, ...]]
    most: Mapping[str, int] = field(default_factory=dict)
    found: dict[tuple[Any, ...], list[Case]] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def table(self, sizes: Sequence[int], rounds: int, *shape: int | str) -> str:
        """Run the race at each number of rows, and return its table; the last of ``shape`` is the precision."""
        cases: list[Case] = []
        apart: dict[str, float] = {}
        usual = CLOSE[str(shape[-1])]
        close = {one.name: CLOSE_IN_SINGLE if one.module in SINGLE else usual for one in self.contenders}
        for rows in sizes:
            data = self.make(rows, *shape)
            fit = [one for one in self.contenders if data[1].size <= self.most.get(one.name, data[1].size)]
            calls, self.skipped[:] = installed(fit, *data)
            first = interleaved(calls, 1, warm_up=False)
            for name, gap in gaps(first, close).items():
                apart[name] = max(gap, apart.get(name, 0.0))
            cases.append(Case(rows, timed(calls, rounds, first)))
        self.found[shape] = cases
        return "\n".join(lines(cases, apart))

    @property
    def names(self) -> list[str]:
        """The contenders that ran."""
        return list(next(iter(self.found.values()))[0].timings)

    def seconds(self, rows: int, *shape: int | str) -> float | None:
        """What the fastest of ours took; None where that size was not measured."""
        cases = [case for case in self.found.get(shape, []) if case.rows == rows]
        return cases[0].fastest(ours=True)[1] if cases else None


def timed(calls: Mapping[str, Callable[[], Any]], rounds: int, first: dict[str, Timing]) -> dict[str, Timing]:
    """After a first call of each a second one, where it was not slow, then rounds in turns."""
    timings = dict(first)
    # What calibrant compiles in a first call, it compiles once a machine: its second call counts, slow or not.
    again = {name: call for name, call in calls.items() if name.startswith(OURS) or timings[name].median <= ONCE}
    timings |= interleaved(again, 1, warm_up=False)
    seconds = {name: timings[name].median for name in again if timings[name].median <= ONCE}
    times = {name: math.ceil(LEAST / max(one, 1e-9)) for name, one in seconds.items()}
    rounds_each: dict[str, list[float]] = {name: [] for name in seconds}
    for _ in range(min(rounds, max(2, int(BUDGET / max(sum(seconds.values()), LEAST))))):
        for name in seconds:
            rounds_each[name].append(_seconds_of(calls[name], times[name]))
    return timings | {name: Timing(timings[name].result, found) for name, found in rounds_each.items()}


def _seconds_of(call: Callable[[], Any], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def gaps(timings: Mapping[str, Timing], close: Mapping[str, float]) -> dict[str, float]:
    """How far the answer of each is from calibrant's; an error where that is no rounding."""
    ours = next(timing.result for name, timing in timings.items() if name.startswith(OURS))
    found = {name: float(np.max(np.abs(np.asarray(timing.result) - ours))) for name, timing in timings.items()}
    for name, gap in found.items():
        if not gap <= close[name]:
            raise AssertionError(f"{name} says {timings[name].result!r}, calibrant {ours!r}")
    return found


def lines(cases: Sequence[Case], apart: Mapping[str, float]) -> list[str]:
    """A line a contender, the fastest of each size in bold; then ours against the peers."""
    table = [
        "| | " + " | ".join(f"{case.rows:,}" for case in cases) + " | largest difference |",
        "|---" * (len(cases) + 2) + "|",
    ]
    for name, gap in apart.items():
        cells = [_cell(case, name) for case in cases]
        table.append(f"| {name} | {' | '.join(cells)} | {'under 1e-14' if gap < 1e-14 else f'{gap:.0e}'} |")
    return [
        *table,
        f"| calibrant, times as long as the fastest peer | {' | '.join(_against(case) for case in cases)} | |",
    ]


def _cell(case: Case, name: str) -> str:
    if name not in case.timings:
        return "left out"
    seconds, least = case.timings[name].median, min(timing.median for timing in case.timings.values())
    once = " (once)" if seconds > ONCE else ""
    return f"**{spelled(seconds)}**{once}" if seconds == least else f"{spelled(seconds)}{once}"


def _against(case: Case) -> str:
    """Above 1 the peer is faster."""
    peers = [name for name in case.timings if not name.startswith(OURS)]
    if not peers:
        return ""
    (name, theirs), (_, ours) = case.fastest(ours=False), case.fastest(ours=True)
    ratio = ours / theirs
    return f"**{ratio:.2f}**, slower than {name}" if ratio > 1.0 else f"{ratio:.2f} ({name})"
