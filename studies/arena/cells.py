"""A cell of the arena: a forecast, a number of rows to calibrate on, and a draw of these rows.

Each has a file of its own, build/arena/results/{data set}/{model}/{rows}-{draw}.csv, a line a method. Methods that are in the
file are not run again, so that a run that was stopped goes on, and a new method joins.
"""

from __future__ import annotations

import csv
import importlib
import io
import os
import resource
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, fields
from functools import cache, partial
from pathlib import Path

import numpy as np
from scipy.optimize import isotonic_regression

from studies.arena.out_of_fold import FOLDER as FORECASTS
from studies.arena.out_of_fold import load

# What the arena compares: every registered calibrator by its word, the default, and the peers that are installed.
#
# A method is a function of labels, probabilities (a column a class) and other probabilities; it fits, and returns the other
# rows calibrated. A peer bears the name of its package before its own: ``probmetrics sms``.


NONE, DEFAULT = "uncalibrated", "default"
"""The rows as they are, and what `calibrant fit` takes for so many rows and classes."""

MOST_CLASSES = {"multiclass-irp": 5}
"""Methods that warn above so many classes, and take minutes there: they are not run."""

LEAST = 1e-12
"""Peers that take one probability get none closer to 0 and 1: some take its logarithm."""

Calibrate = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Peer:
    """A method of another package: its module in benchmarks/peers, and its functions for two and for more classes."""

    module: str
    two: str | None
    more: str | None
    takes_event: bool = True
    """Of two classes it takes the probability of the second alone."""


PEERS = {
    "scikit-learn temperature": Peer("scikit_learn", "temperature_scaling", "temperature_scaling", takes_event=False),
    "scikit-learn sigmoid": Peer("scikit_learn", "platt", None),
    "scikit-learn isotonic": Peer("scikit_learn", "isotonic", "isotonic"),
    "probmetrics temperature": Peer("probmetrics", "temperature", "temperature"),
    "probmetrics svs": Peer("probmetrics", "svs", "svs"),
    "probmetrics sms": Peer("probmetrics", "sms", "sms"),
    "probmetrics quadratic": Peer("probmetrics", "quadratic", None),
    "netcal temperature": Peer("netcal", None, "temperature_scaling"),
    "netcal bbq": Peer("netcal", "bbq", None),
    "betacal beta": Peer("betacal", "beta", "beta_by_class"),
    "venn-abers package": Peer("venn_abers", "venn_abers", None),
    "splinecalib": Peer("splinecalib", "spline", None),
    "dirichletcal dirichlet": Peer("dirichletcal", None, "dirichlet"),
}


def methods(n_classes: int, peers: bool = True) -> dict[str, Calibrate]:
    """What can be run on so many classes; NONE first, which leaves the rows as they are."""
    found: dict[str, Calibrate] = {NONE: lambda y, prob, other: other}
    found |= {word: partial(_ours, word) for word in words() if n_classes <= MOST_CLASSES.get(word, n_classes)}
    found[DEFAULT] = _default
    return found | dict(_peers(n_classes)) if peers else found


@cache
def words() -> tuple[str, ...]:
    """The word of each registered calibrator."""
    from calibrant.registry import entries

    return tuple(entries("calibrator"))


def _ours(word: str, y: np.ndarray, prob: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Fit with the defaults; a method of one score is fitted to each class where there are more than two."""
    from calibrant import ByNotion
    from calibrant.calibrators import BinaryCalibrator
    from calibrant.registry import entries

    calibrator = entries("calibrator")[word].target()
    if prob.shape[1] > 2 and isinstance(calibrator, BinaryCalibrator):
        calibrator = ByNotion(calibrator, "class-wise")
    return np.asarray(calibrator.set_params(labels=np.arange(prob.shape[1])).fit(prob, y).predict_proba(other))


def _default(y: np.ndarray, prob: np.ndarray, other: np.ndarray) -> np.ndarray:
    from calibrant.calibrators.classifier import default_method

    calibrator = (
        default_method(prob.shape[1], len(y)).calibrator(prob.shape[1]).set_params(labels=np.arange(prob.shape[1]))
    )
    return np.asarray(calibrator.fit(prob, y).predict_proba(other))


def _peers(n_classes: int) -> Iterator[tuple[str, Calibrate]]:
    for name, peer in PEERS.items():
        function = peer.two if n_classes == 2 else peer.more
        if function and (module := _installed(peer.module)) is not None:
            event = peer.takes_event and n_classes == 2
            yield name, partial(_of_peer, getattr(module, function), event)


@cache
def _installed(module: str) -> object | None:
    """The module of a peer, None where the package or what it needs is not installed."""
    try:
        return importlib.import_module(f"benchmarks.peers.{module}")
    except ImportError:
        return None


def _of_peer(
    prepare: Callable[..., object], event: bool, y: np.ndarray, prob: np.ndarray, other: np.ndarray
) -> np.ndarray:
    """Fit and apply a peer, silent. Rows are divided by their sums."""
    rows, new = (prob[:, 1].clip(LEAST, 1.0 - LEAST), other[:, 1].clip(LEAST, 1.0 - LEAST)) if event else (prob, other)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        method = prepare(y, rows)
        found = np.asarray(method.apply(method.fit(), new), dtype=np.float64)  # type: ignore[attr-defined]
    table = np.column_stack([1.0 - found, found]) if found.ndim == 1 else found
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def warm_up(gigabytes: float = np.inf) -> None:
    """Load and compile what the calibrators need, so that no fit is timed with it; one thread a process.

    A fit that asks for more memory than the limit of the process fails, and the arena goes on.
    """
    if np.isfinite(gigabytes):
        resource.setrlimit(resource.RLIMIT_DATA, (int(gigabytes * 2**30), resource.getrlimit(resource.RLIMIT_DATA)[1]))
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
        prob, y = rng.dirichlet(np.ones(n_classes), 60), rng.integers(n_classes, size=60)
        for calibrate in methods(n_classes, peers=False).values():
            calibrate(y, prob, prob)


FOLDER = FORECASTS.parent / "results"
SIZES = (50, 100, 300, 1000, 3000, 10_000)
REPETITIONS = {50: 8, 100: 8, 300: 6, 1000: 4, 3000: 2, 10_000: 2}
FEWEST_TESTED, MOST_TESTED = 50, 5000
MOST_SECONDS = 30.0
"""A fit that takes more processor time than this ends, and is a line with the note "too slow"."""

LEAST_LOSS, BINS = 1e-12, 15
TOO_SLOW, ABSENT = "too slow", "not installed"


@dataclass(frozen=True)
class Cell:
    """Which rows of which forecast are fitted."""

    data_set: str
    model: str
    rows: int
    draw: int

    @property
    def path(self) -> str:
        """Where its lines lie in the folder of results."""
        return f"{self.data_set}/{self.model}/{self.rows}-{self.draw}.csv"


@dataclass(frozen=True)
class Line:
    """How well a method did on the test rows of a cell; NaN, and a note, where it gave no probabilities."""

    method: str
    logloss: float = np.nan
    brier: float = np.nan
    ece: float = np.nan
    accuracy: float = np.nan
    seconds: float = np.nan
    refinement: float = np.nan
    note: str = ""


def has_rows(n_rows: int, size: int) -> bool:
    """Whether enough rows are left to test: a quarter of those to calibrate on, and at least 50."""
    return n_rows >= size + max(size // 4, FEWEST_TESTED)


def split(cell: Cell, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to calibrate on and rows to test, without replacement, by the number of the draw."""
    order = np.random.default_rng(cell.draw).permutation(n_rows)
    return order[: cell.rows], order[cell.rows :][:MOST_TESTED]


def run(
    cell: Cell,
    only: Iterable[str] | None = None,
    peers: bool = True,
    deadline: float = np.inf,
    forecasts: Path = FORECASTS,
    results: Path = FOLDER,
) -> int:
    """Run the methods that have no line yet, until the deadline (in the seconds of `time.time`); return how many were run."""
    prob, y = load(cell.data_set, cell.model, forecasts)
    fit, test = split(cell, len(y))
    known = read(results / cell.path)
    slow = _slow_before(cell, results)
    wanted, done = None if only is None else {NONE, *only}, {}
    for name, calibrate in methods(prob.shape[1], peers).items():
        if name in known or (wanted is not None and name not in wanted):
            continue
        if time.time() > deadline:
            break
        done[name] = Line(name, note=TOO_SLOW)
        if name not in slow:
            done[name] = measured(name, calibrate, (y[fit], prob[fit]), (y[test], prob[test]))
    here = [line for line in done.values() if line.note != ABSENT]
    if here:
        write(results / cell.path, [*known.values(), *here])
    return len(here)


def _slow_before(cell: Cell, results: Path) -> set[str]:
    """Methods that were too slow in another draw of the same number of rows."""
    others = (results / Cell(cell.data_set, cell.model, cell.rows, draw).path for draw in range(cell.draw))
    return {line.method for file in others for line in read(file).values() if line.note == TOO_SLOW}


def measured(
    name: str,
    calibrate: Calibrate,
    fitted: tuple[np.ndarray, np.ndarray],
    tested: tuple[np.ndarray, np.ndarray],
    most_seconds: float = MOST_SECONDS,
) -> Line:
    """Fit a method, and score it on the test rows; whatever it raises is a note."""
    warnings.simplefilter("ignore")  # a class that is absent, a temperature without optimum: the result is defined
    start = time.process_time()
    try:
        with at_most(most_seconds):
            prob = calibrate(*fitted, tested[1])
    except OutOfTime:
        return Line(name, seconds=time.process_time() - start, note=TOO_SLOW)
    except Exception as error:  # of whatever kind: the arena goes on
        absent = name in PEERS and isinstance(error, ImportError)
        return Line(name, note=ABSENT if absent else f"failed: {type(error).__name__}")
    seconds = time.process_time() - start
    if prob.shape != tested[1].shape or not np.isfinite(prob).all():
        return Line(name, seconds=seconds, note="failed: no probabilities")
    return Line(name, **scores(tested[0], prob), seconds=seconds)


class OutOfTime(BaseException):
    """The time of a fit is over. Not an `Exception`, which a method might catch."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End the block with `OutOfTime` after so much processor time of this process."""

    def end(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def scores(y: np.ndarray, prob: np.ndarray) -> dict[str, float]:
    """Mean log loss (probabilities of at least 1e-12), Brier score (sum over the classes, of two classes as well) and its
    refinement, ECE of the predicted class over 15 bins of equal width, and accuracy."""
    from calibrant import expected_calibration_error

    occurred, top = prob[np.arange(len(y)), y], prob.argmax(axis=1)
    brier = (prob**2).sum(axis=1) - 2.0 * occurred + 1.0
    confidence = np.clip(prob.max(axis=1), 0.0, 1.0)
    return {
        "logloss": float(-np.log(np.maximum(occurred, LEAST_LOSS)).mean()),
        "brier": float(brier.mean()),
        "refinement": refinement(y, prob),
        "ece": float(expected_calibration_error((top == y).astype(int), confidence, binning=BINS)),
        "accuracy": float((top == y).mean()),
    }


def refinement(y: np.ndarray, prob: np.ndarray) -> float:
    """The part of the Brier score that no monotone map of the probabilities of a class can remove, summed over the classes.

    The rest of the score is miscalibration (the CORP decomposition; Dimitriadis, Gneiting and Jordan, 2021). A calibrator that
    keeps the order of the probabilities of each class leaves the refinement as it is.
    """
    total = 0.0
    for k, column in enumerate(prob.T):
        _, inverse, count = np.unique(column, return_inverse=True, return_counts=True)
        rate = np.bincount(inverse, weights=y == k) / count
        fitted = isotonic_regression(rate, weights=count).x
        total += float(count @ (fitted * (1.0 - fitted))) / len(y)
    return total


# Files

_NAMES = [one.name for one in fields(Line)]


def read(file: Path) -> dict[str, Line]:
    """The lines of a cell by method, none where there is no file."""
    if not file.is_file():
        return {}
    numbers = _NAMES[1:-1]
    with file.open(encoding="utf-8", newline="") as lines:
        found = [
            Line(one["method"], **{name: float(one.get(name, "nan")) for name in numbers}, note=one["note"])
            for one in csv.DictReader(lines)
        ]
    return {line.method: line for line in found}


def write(file: Path, lines: Iterable[Line]) -> None:
    """Write beside the file, and rename: a process that is killed leaves the old file or the new one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}.part")
    with beside.open("w", encoding="utf-8", newline="") as out:
        table = csv.DictWriter(out, _NAMES, lineterminator="\n")
        table.writeheader()
        table.writerows(_rounded(line) for line in lines)
    beside.replace(file)


def forget(methods: Iterable[str], results: Path = FOLDER) -> int:
    """Take the lines of methods out of every cell, so that the next run fits them again; return how many there were."""
    gone, left_out = 0, set(methods)
    for file in sorted(results.glob("*/*/*.csv")):
        known = read(file)
        kept = [line for name, line in known.items() if name not in left_out]
        if len(kept) < len(known):
            write(file, kept)
            gone += len(known) - len(kept)
    return gone


def _rounded(line: Line) -> dict[str, object]:
    return {name: f"{value:.7g}" if isinstance(value, float) else value for name, value in asdict(line).items()}


def plan(
    forecasts: Iterable[tuple[str, str]], sizes: Iterable[int] = SIZES, rows_of: Callable[[str, str], int] | None = None
) -> list[Cell]:
    """Every cell in the order of running: all forecasts and sizes in one draw before the next, so that a stop leaves a balanced
    table."""
    count = rows_of or (lambda data_set, model: len(load(data_set, model)[1]))
    known = [(data_set, model, count(data_set, model)) for data_set, model in forecasts]
    return [
        Cell(data_set, model, size, draw)
        for draw in range(max(REPETITIONS.values()))
        for size in sizes
        if draw < REPETITIONS[size]
        for data_set, model, n_rows in known
        if has_rows(n_rows, size)
    ]
