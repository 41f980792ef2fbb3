"""Every registered calibrator of calibrant, with its defaults: time to fit and to apply."""

import statistics
import warnings

from benchmarks.calibrators import BINARY, LONG_TABLE, QUICK_BINARY, QUICK_TABLE, TABLE, column, table
from benchmarks.fitting import Run, race
from benchmarks.measure import markdown
from benchmarks.peers.calibrant import registered
from calibrant.registry import entries

TITLE = "Every calibrator"
MOST_ROUNDS = 3
MOST_CLASSES = {"multiclass-irp": 32}
"""Methods that refuse more classes."""

SIZES = ((column, BINARY, QUICK_BINARY), (table, TABLE, QUICK_TABLE), (table, LONG_TABLE, QUICK_TABLE))


def tables(rounds: int, quick: bool) -> str:
    """Measure every calibrator and return its part of the page."""
    names = list(entries("calibrator"))
    runs: list[dict[str, Run]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for make, full, small in SIZES:
            size = small if quick else full
            fitted, other = (make(*size, seed=seed) for seed in (0, 1))
            classes = fitted[1].shape[1] if fitted[1].ndim == 2 else 2
            methods = {name: registered(name)(*fitted) for name in names if classes <= MOST_CLASSES.get(name, classes)}
            runs.append(race(methods, fitted, other, min(rounds, MOST_ROUNDS)))
    heads = [" x ".join(f"{number:,}" for number in (small if quick else full)) for _, full, small in SIZES]
    text = (
        "calibrant alone, with the defaults; a binary calibrator is fitted for each class of a table. Seconds to "
        "fit / to apply to as many other rows, medians of up to three rounds after a first run. Empty: the method refuses so "
        "many classes."
    )
    lines = [[f"`{name}`", *(_cell(run[name]) if name in run else "" for run in runs)] for name in names]
    return f"{text}\n\n{markdown(['', *heads], lines)}"


def _cell(run: Run) -> str:
    return " / ".join(f"{statistics.median(seconds):.3f}" for seconds in (run.fit, run.apply))
