"""Six metrics of a table, and three of a column: each by its own function, and all in one call."""

import numpy as np

from benchmarks import drawn
from benchmarks.decades import Decades
from benchmarks.first_calls import TEXT, FirstCalls
from benchmarks.measure import OURS, Contender, verdict

TITLE = "Plain metrics of a table"
BINS, MOST_CELLS = 15, 10**8
CLASSES, PRECISIONS = (2, 10, 100, 1000), ("float64", "float32")
SIZES = (10**2, 10**3, 10**4, 10**5, 10**6, 10**7)
QUICK, QUICK_CELLS = SIZES[:3], 10**5
FEW, TEN, MOST_IN_MEMORY = 1000, 10, 10**6
AGAIN = True
ASKED = ((10**6, 10, 0.040), (10**5, 100, 0.030))
ASKED_OF_COLUMN, MOST_EXTRA = (10**7, 0.050), 0.2
"""What was asked for: seconds by rows and classes, in double precision, and extra memory in units of the input."""

AT_ONCE = f"{OURS}, one call"


def _contenders(what: str) -> tuple[Contender, ...]:
    return (
        Contender(AT_ONCE, "calibrant", f"{what}_at_once"),
        Contender(f"{OURS}, a function each", "calibrant", what),
        Contender("NumPy lines", "numpy_lines", what),
        Contender("scikit-learn", "scikit_learn", what),
        Contender("torch lines", "torch", what),
        Contender("torchmetrics", "torchmetrics", what),
        Contender("torchmetrics, validate_args=False", "torchmetrics", f"{what}_unchecked"),
    )


CONTENDERS = _contenders("six")


def make(rows: int, classes: int, precision: str = "float64") -> tuple[np.ndarray, np.ndarray, int]:
    """Labels, over-confident probabilities of several classes, and the number of bins."""
    return *drawn.table(rows, classes, precision), BINS


def make_column(rows: int, precision: str = "float64") -> tuple[np.ndarray, np.ndarray, int]:
    """Labels, over-confident probabilities of one event, and the number of bins."""
    return *drawn.column(rows, precision), BINS


SLOW = dict.fromkeys((one.name for one in CONTENDERS if one.module in ("scikit_learn", "torchmetrics")), 2 * 10**7)
SIX, THREE = Decades(CONTENDERS, make, SLOW), Decades(_contenders("three"), make_column)
FRESH = FirstCalls("plain_metrics")

TEXT_OF_RACE = (
    f"Of a table: accuracy, log loss, Brier score, ECE and MCE of the predicted class, and class-wise ECE, {BINS} bins of "
    "equal width. calibrant gives them in one call of `measure`, or each by a function of its own, which reads and checks the "
    "table again. NumPy lines and torch lines are short code that gives the same numbers, and check nothing. scikit-learn has "
    "no ECE: sums over its `calibration_curve`, class by class. torchmetrics has neither Brier score nor log loss of "
    "probabilities, for which PyTorch stands in, and no class-wise ECE: its ECE of each class in turn. A call of more than a "
    "second is measured once; scikit-learn and torchmetrics are left out of tables of 10^8 numbers. The largest difference is "
    "from calibrant's answers, over all sizes; torchmetrics adds up some figures in single precision, so that they are the "
    "further off the more rows there are, and PyTorch in the precision of its input."
)


def tables(rounds: int, quick: bool) -> str:
    """Run the comparison and return its part of the page."""
    sizes, cells = (QUICK, QUICK_CELLS) if quick else (SIZES, MOST_CELLS)
    parts = [TEXT_OF_RACE]
    for classes in CLASSES:
        fit = [rows for rows in sizes if rows * classes <= cells]
        parts += [f"{classes:,} classes, {one}:\n\n{SIX.table(fit, rounds, classes, one)}" for one in PRECISIONS]
    parts += ["Accuracy, Brier score and ECE of one column of probabilities:"]
    parts += [f"{one}:\n\n{THREE.table(sizes, rounds, one)}" for one in PRECISIONS]
    most = QUICK[-1] if quick else MOST_IN_MEMORY
    return "\n\n".join([*parts, *_fresh(most, quick), _asked(most), *SIX.skipped])


def _fresh(most: int, quick: bool) -> list[str]:
    names = [(name, True) for name in SIX.names]
    names.insert(1, (names[0][0], False))
    parts = [TEXT, f"{FEW:,} x {TEN}:\n\n{FRESH.table(names, 1, FEW, TEN, 'float64')}"]
    return parts + [f"{most:,} x {TEN}, {one}:\n\n{FRESH.table(names, 1, most, TEN, one)}" for one in PRECISIONS]


def _asked(most: int) -> str:
    """What was asked for, of the sizes that were measured."""
    found = [(f"six metrics of {n:,} x {k}", SIX.seconds(n, k, "float64"), limit) for n, k, limit in ASKED]
    rows, limit = ASKED_OF_COLUMN
    found += [(f"three metrics of a column of {rows:,}", THREE.seconds(rows, "float64"), limit)]
    said = [f"{what} in {verdict(seconds, limit)}" for what, seconds, limit in found if seconds is not None]
    for one in PRECISIONS if most == MOST_IN_MEMORY else ():
        if (extra := FRESH.extra_of_input(SIX.names[0], most, TEN, one)) is not None:
            met = "met" if extra < MOST_EXTRA else "**missed**"
            said.append(f"extra memory of {one} {extra:.2f} of the input (asked for: under {MOST_EXTRA}; {met})")
    return f"calibrant: {', '.join(said)}." if said else "Of these sizes nothing was asked for."
