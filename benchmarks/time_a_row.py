"""Time a row over rows, twice a decade: where one way to compute hands over to another, it shows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.decades import timed
from benchmarks.measure import OURS, Contender, installed, interleaved, three_digits

LEAST_ROWS, ROUNDS = 100, 5
MOST_RISE = 2.0
"""What was asked for: a row never takes more than twice as long as one of ten times fewer rows."""


@dataclass(frozen=True)
class TimeARow:
    """Contenders, the first of which is ours, at sizes of ``make(rows, *shape)``; ``seconds`` keeps pairs of rows and time."""

    contenders: Sequence[Contender]
    make: Callable[..., tuple[Any, ...]]
    seconds: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def table(self, most_rows: int, *shape: int | str) -> str:
        """Measure and return the table, and how much a row of ours takes longer where there are more."""
        sizes = _half_decades(most_rows)
        self.seconds.clear()
        for rows in sizes:
            calls, _ = installed(self.contenders, *self.make(rows, *shape))
            first = interleaved(calls, 1, warm_up=False)
            for name, timing in timed(calls, ROUNDS, first).items():
                self.seconds.setdefault(name, []).append((rows, timing.median / rows))
        lines = ["| rows | " + " | ".join(f"{rows:,}" for rows in sizes) + " |", "|---" * (len(sizes) + 1) + "|"]
        for name, pairs in self.seconds.items():
            lines.append(f"| {name} | " + " | ".join(three_digits(1e9 * seconds) for _, seconds in pairs) + " |")
        return "\n".join([f"Nanoseconds a row, {shape[-1]}. {self._verdict()}", "", *lines])

    def _verdict(self) -> str:
        times = [seconds for _, seconds in self.seconds[self.contenders[0].name]]
        decades = max(after / before for before, after in zip(times, times[2:], strict=False))
        steps = max(max(before / after, after / before) for before, after in pairwise(times[-6:]))
        met = "met" if decades <= MOST_RISE else "**missed**"
        return (
            f"From one size to ten times as many rows the time a row of {OURS} grows by a factor of at most {decades:.2f} "
            f"(asked for: at most {MOST_RISE:g}; {met}). Between neighbours of the last six sizes it differs by a factor of "
            f"at most {steps:.2f}."
        )

    def draw(self, path: Path) -> None:
        """Draw what was measured last."""
        from studies.na_isotonic.pictures import draw_times  # draws pictures of seconds

        draw_times(self.seconds, "rows", path, "seconds a row")


def _half_decades(most: int) -> list[int]:
    sizes = [round(LEAST_ROWS * 10 ** (step / 2)) for step in range(20)]
    return [rows for rows in sizes if rows <= most]
