"""What the arena compares: every registered calibrator by its word, the default, and the peers that are installed.

A method is a function of labels, probabilities (a column a class) and other probabilities; it fits, and returns the other rows
calibrated. A peer bears the name of its package before its own: ``probmetrics sms``.
"""

from __future__ import annotations

import importlib
import io
import resource
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

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

    calibrator = default_method(prob.shape[1], len(y)).calibrator().set_params(labels=np.arange(prob.shape[1]))
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
