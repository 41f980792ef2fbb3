"""Assessment with 500 resamples of large forecasts: time on one CPU, and memory."""

import numpy as np

from benchmarks import drawn
from benchmarks.fresh import in_fresh_process, megabytes
from benchmarks.measure import Contender, markdown, spelled, verdict

TITLE = "Assessment of many rows"
AGAIN = True
COLUMN = 1
"""Classes of a column of one event."""

SIZES = {
    (10**6, COLUMN): 0.05,
    (10**6, 10): 0.4,
    (10**6, 100): 2.5,
    (10**4, 1000): 1.0,
}
"""Rows and classes, and the seconds that were asked for."""

QUICK_TIMES = 100
"""So many times fewer rows."""


CONTENDERS = (Contender("assess", "calibrant", "assessed"),)


def make(rows: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and over-confident probabilities, a column where there is one class."""
    return drawn.column(rows) if classes == COLUMN else drawn.table(rows, classes)


def tables(_: int, quick: bool) -> str:
    """Measure each size and return this part of the page."""
    text = (
        "calibrant alone: `assess` with its default metrics and 500 resamples, each figure with interval, noise "
        "floor, bias-corrected value, smallest detectable error and p-value where it has them; no peer gives them at these "
        "sizes. Double precision, each size in a fresh process that runs on one CPU. The first call loads what it needs; the "
        "second is what was asked for (one of more than 30 s is not repeated)."
    )
    head = ["rows x classes", "import and first call", "second call", "extra memory, second call, MB", "input, MB"]
    lines = []
    for (rows, classes), most in SIZES.items():
        rows //= QUICK_TIMES if quick else 1
        run = in_fresh_process("assess_sizes", "assess", rows, classes, one_cpu=True)
        seconds = run["later_call_seconds"]
        lines.append(
            [
                f"{rows:,}, one column" if classes == COLUMN else f"{rows:,} x {classes:,}",
                spelled(run["seconds"]),
                spelled(seconds) if quick else verdict(seconds, most),
                megabytes(run["later_extra_bytes"]),
                f"{run['input_bytes'] / 1e6:.3g}",
            ]
        )
    return f"{text}\n\n{markdown(head, lines)}"
