"""The first call of a process and the calls after it: seconds, and memory beside the input. Each in a process of its own."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.fresh import in_fresh_process
from benchmarks.measure import spelled, three_digits

TEXT = (
    "First calls: each contender in a fresh process that has loaded NumPy and holds the data. Cold is the import and the first "
    "call, warm the second call on the same data. Extra memory is the peak of a call above what was held before it; in the "
    "first call what is loaded late counts, numba above all, and the second is shown in units of the input."
)


@dataclass(frozen=True)
class FirstCalls:
    """First and second calls of contenders of a module of benchmarks; ``found`` keeps the last run by contender and size."""

    comparison: str
    found: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)

    def table(self, names: Sequence[tuple[str, bool]], rounds: int, *size: int | str) -> str:
        """Measure: ``names`` are contenders and whether what they compile is cached. Figures are medians of ``rounds``."""
        lines = [
            "| | import | first call | second call | extra memory, first call, MB | second call / input |",
            "|---|---|---|---|---|---|",
        ]
        for name, cached in names:
            runs = [in_fresh_process(self.comparison, name, *size, cached=cached) for _ in range(rounds)]
            self.found[name, cached, *size] = runs[-1]
            waits = [_median(runs, field) for field in ("import_seconds", "call_seconds", "later_call_seconds")]
            label = name if cached else f"{name}, nothing compiled yet"
            lines.append(f"| {label} | {' | '.join([*map(spelled, waits), *_extra(runs)])} |")
        return "\n".join(lines)

    def extra_of_input(self, name: str, *size: int | str) -> float | None:
        """Extra memory of the second call in units of the input; None where it cannot be measured."""
        run = self.found[name, True, *size]
        extra: float | None = run["later_extra_bytes"]
        return None if extra is None else extra / run["input_bytes"]


def _extra(runs: Sequence[dict[str, Any]]) -> list[str]:
    if runs[0]["extra_bytes"] is None:
        return ["not measured here"] * 2
    first, second = (_median(runs, field) for field in ("extra_bytes", "later_extra_bytes"))
    return [three_digits(first / 1e6), f"{second / runs[0]['input_bytes']:.2f}"]


def _median(runs: Sequence[dict[str, Any]], field: str) -> float:
    return statistics.median(run[field] for run in runs)
