"""Expected calibration error of one event, 15 bins of equal width, from hundreds to millions of rows."""

import numpy as np

from benchmarks import drawn
from benchmarks.decades import Decades
from benchmarks.first_calls import TEXT, FirstCalls
from benchmarks.measure import OURS, Contender, contenders, verdict

TITLE = "Expected calibration error"
BINS = 15
SIZES = (10**2, 10**3, 10**4, 10**5, 10**6, 10**7)
QUICK = SIZES[:3]
FEW = 1000
AGAIN = True
MOST_SECONDS, MOST_TIMES, TIMES_FROM = 40e-6, 2.0, 10**4
"""What was asked for: so many seconds up to ``FEW`` rows, and from ``TIMES_FROM`` on so many times as long as NumPy lines."""

NUMPY = "NumPy lines"
CONTENDERS = (
    *contenders("ece", "numpy_lines", "scikit_learn", "netcal", "torch", "torchmetrics"),
    Contender("torchmetrics, validate_args=False", "torchmetrics", "ece_unchecked"),
)

TEXT_OF_RACE = (
    f"One column of probabilities and int64 labels, {BINS} bins of equal width. calibrant checks labels and probabilities in "
    "every call; NumPy lines and torch lines are the shortest code that gives the same number, and check nothing. "
    "scikit-learn has no ECE: a sum over its `calibration_curve`. A call of more than a second is measured once. The largest "
    "difference is from calibrant's answer, over all sizes; PyTorch and torchmetrics add up in the precision of their input."
)


def make(rows: int, precision: str = "float64") -> tuple[np.ndarray, np.ndarray, int]:
    """Labels, over-confident probabilities, and the number of bins."""
    return *drawn.column(rows, precision), BINS


RACE, FRESH = Decades(CONTENDERS, make), FirstCalls("ece")


def tables(rounds: int, quick: bool) -> str:
    """Run the comparison and return its part of the page."""
    sizes = QUICK if quick else SIZES
    races = [f"{precision}:\n\n{RACE.table(sizes, rounds, precision)}" for precision in ("float64", "float32")]
    names = [(name, True) for name in RACE.names]
    names.insert(1, (OURS, False))
    parts = [
        TEXT_OF_RACE,
        *races,
        _asked(),
        TEXT,
        f"{FEW:,} rows:\n\n{FRESH.table(names, 1, FEW, 'float64')}",
        f"{sizes[-1]:,} rows:\n\n{FRESH.table(names, 1, sizes[-1], 'float64')}",
    ]
    return "\n\n".join([*parts, *RACE.skipped])


def _asked() -> str:
    """The two figures that were asked for, in double precision."""
    cases = RACE.found["float64",]
    slowest = max(case.timings[OURS].median for case in cases if case.rows <= FEW)
    times = max(case.timings[OURS].median / case.timings[NUMPY].median for case in cases if case.rows >= TIMES_FROM)
    met = "met" if times <= MOST_TIMES else "**missed**"
    return (
        f"Up to {FEW:,} rows of float64: {verdict(slowest, MOST_SECONDS)}. From {TIMES_FROM:,} rows on at most {times:.2f} "
        f"times as long as NumPy lines (asked for: at most {MOST_TIMES:g}; {met})."
    )
