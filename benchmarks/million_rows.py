"""Every registered metric at 10^6 rows: the value alone, of one column and of a table of three classes."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks import drawn
from benchmarks.fresh import in_fresh_process, megabytes
from benchmarks.measure import interleaved, markdown
from calibrant.registry import entries

TITLE = "A million rows"
ROWS, QUICK_ROWS, MOST_ROUNDS = 10**6, 10**5, 3


@dataclass(frozen=True)
class Metric:
    """A registered metric as something to be measured."""

    name: str

    def prepare(self, y: np.ndarray, prob: np.ndarray) -> Callable[[], float]:
        target = entries("metric")[self.name].target
        return lambda: target(y, prob)


CONTENDERS = tuple(Metric(name) for name in entries("metric"))


make = drawn.column


def tables(rounds: int, quick: bool) -> str:
    """Measure every metric and return its part of the page."""
    rows, rounds = QUICK_ROWS if quick else ROWS, min(rounds, MOST_ROUNDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_column, of_table = (_seconds(data, rounds) for data in (drawn.column(rows), drawn.table(rows, 3)))
    text = (
        f"calibrant alone, {rows:,} rows of one column and of a table of three classes: the value without interval. Extra "
        "memory is the peak of a first call on the column in a fresh process above what was held before it (NumPy, and 16 MB "
        "of data); what the call imports counts."
    )
    lines = []
    for metric in CONTENDERS:
        memory = megabytes(in_fresh_process("million_rows", metric.name, rows)["extra_bytes"])
        lines.append([f"`{metric.name}`", of_column[metric.name], of_table[metric.name], memory])
    head = ["", "seconds, column", "seconds, table", "extra memory, MB"]
    return f"{text}\n\n{markdown(head, lines)}"


def _seconds(data: tuple[np.ndarray, np.ndarray], rounds: int) -> dict[str, str]:
    calls = {metric.name: metric.prepare(*data) for metric in CONTENDERS}
    return {name: f"{timing.median:.3f}" for name, timing in interleaved(calls, rounds).items()}
