"""Log loss of a thousand classes: one number a row is needed of a table of probabilities, all of them of one of logits."""

import numpy as np

from benchmarks import drawn
from benchmarks.decades import Decades
from benchmarks.first_calls import TEXT, FirstCalls
from benchmarks.measure import Contender, contenders

TITLE = "Log loss of 1,000 classes"
CLASSES, SIZES, QUICK = 1000, (10**3, 10**4, 10**5), (10**2,)
AGAIN = True

CONTENDERS = (
    *contenders("log_loss", "numpy_lines", "scikit_learn", "torch"),
    Contender("torch, nll_loss of the table's logarithm", "torch", "log_loss_of_table"),
)
OF_LOGITS = (
    *contenders("log_loss_of_logits", "numpy_lines"),
    Contender("torch, cross_entropy", "torch", "log_loss_of_logits"),
)


def make(rows: int, precision: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities."""
    return drawn.table(rows, CLASSES, precision)


def make_logits(rows: int, precision: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Labels and logits."""
    return drawn.logits(rows, CLASSES, precision)


PROB, LOGIT, FRESH = Decades(CONTENDERS, make), Decades(OF_LOGITS, make_logits), FirstCalls("log_loss")


def tables(rounds: int, quick: bool) -> str:
    """Run the comparison and return its part of the page."""
    sizes = QUICK if quick else SIZES
    parts = [
        "NumPy lines and torch lines take the probability of the true class of each row, and its logarithm; they do not look "
        "at the others. calibrant and scikit-learn read the whole table, to check it. Of logits every number is needed."
    ]
    for race, of in ((PROB, "Probabilities"), (LOGIT, "Logits")):
        parts += [f"{of}, {one}, by rows:\n\n{race.table(sizes, rounds, one)}" for one in ("float64", "float32")]
    names = [(name, True) for name in PROB.names]
    first = f"{sizes[-1]:,} x {CLASSES:,}:\n\n{FRESH.table(names, 1, sizes[-1], 'float64')}"
    return "\n\n".join([*parts, TEXT, first, *PROB.skipped])
