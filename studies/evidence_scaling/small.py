"""Log loss and harm with few rows: python -m studies.evidence_scaling.small

Every forecast of the arena's data sets for design and of networks.py, with up to 50 classes, and random rows to fit; up to 3000
others are the test. ES is compared with itself as it was before decision 50. What is found is kept in build/, so that a run
that was stopped goes on; it takes about ten minutes of one core.
"""

from __future__ import annotations

import csv
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from calibrant import TemperatureScaling, log_loss
from calibrant.calibrators import EnsembleTemperatureScaling, EvidenceScaling
from calibrant.calibrators import evidence as pooling
from calibrant.calibrators import evidence_features as standard
from calibrant.calibrators.evidence import FEW_OF_TWO
from studies.evidence_scaling.__main__ import calibrated
from studies.evidence_scaling.precisions import MOST_CLASSES, forecasts
from studies.markdown import table

FILE = Path(__file__).parents[2] / "build" / "networks" / "small.csv"
DRAWS = {100: 2, 300: 1, 1000: 1}
MOST_TESTED, FEWEST_TESTED = 3000, 200
WORSE, RESAMPLED = 1e-4, 4000
METHODS = ("as it is", "temperature", "ETS", "ES before", "ES")
HEAD = ("data set", "model", "classes", "rows", "draw", *METHODS)


@contextmanager
def before(n: int, n_classes: int) -> Iterator[None]:
    """ES as it was: a flat prior of the uniform share, another path, and no evidence in the shares of folds."""
    is_fast = n_classes == 2 and n < FEW_OF_TWO
    old = {
        (standard, "LEAST_BEFORE"): standard.MOST_BEFORE,
        (pooling, "PATH"): (-2.0, 0.0, 1.0, 2.0),
        (pooling, "PATH_OF_TWO"): (-2.0, 0.0, 2.0, 4.0),
        (pooling, "FOR_THE_MAP"): 2.0 if is_fast else np.inf,
    }
    today = {(module, name): getattr(module, name) for module, name in old}
    try:
        for (module, name), value in old.items():
            setattr(module, name, value)
        yield
    finally:
        for (module, name), value in today.items():
            setattr(module, name, value)


def losses(prob: np.ndarray, y: np.ndarray, rows: np.ndarray, rest: np.ndarray) -> list[float]:
    """Mean log loss of each method on the rest."""

    def of(method: Any) -> float:
        return float(log_loss(y[rest], calibrated(method, prob, y, rows, rest)))

    found = [of(method) for method in (None, TemperatureScaling(), EnsembleTemperatureScaling())]
    with before(len(rows), prob.shape[1]):
        found.append(of(EvidenceScaling()))
    return [*found, of(EvidenceScaling())]


def run() -> None:
    """Run what was not run, and add it to the file."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    known = {tuple(line[:5]) for line in lines()} if FILE.is_file() else set()
    with FILE.open("a", encoding="utf-8", newline="") as out:
        for name, model, prob, y in forecasts():
            if prob.shape[1] > MOST_CLASSES:
                continue
            for n, draw in ((n, draw) for n, draws in DRAWS.items() for draw in range(draws)):
                key = (name, model, str(prob.shape[1]), str(n), str(draw))
                seed = [draw, n, zlib.crc32(f"{name}/{model}".encode())]
                order = np.random.default_rng(seed).permutation(len(y))
                rows, rest = order[:n], order[n : n + MOST_TESTED]
                if key in known or len(rest) < FEWEST_TESTED or len(np.unique(y[rows])) == 1:
                    continue
                csv.writer(out).writerow([*key, *(f"{loss:.6f}" for loss in losses(prob, y, rows, rest))])
                out.flush()


def lines() -> list[list[str]]:
    """What was found, a line a forecast, size and draw."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def report(found: list[list[str]]) -> str:
    """Means over data sets, and the change of ES in thousandths with an interval over data sets."""
    body = []
    for word, of_two in (("two classes", True), ("more", False)):
        for kind in ("arena", "networks"):
            for n in DRAWS:
                part = [
                    line
                    for line in found
                    if (line[2] == "2") == of_two
                    and line[1].startswith("network-") == (kind == "networks")
                    and line[3] == str(n)
                ]
                body.append([word, kind, f"{n}", *cells(part)])
    change = ("ES less ES before, 1/1000", "harm before, %", "harm, %", "below temperature, %", "below ETS, %")
    head = ["classes", "forecasts of", "rows", "sets", *METHODS, *change]
    return table(head, body)


def cells(part: list[list[str]]) -> list[str]:
    """Number of data sets, mean log losses, change and shares of a part of the lines."""
    names = np.array([line[0] for line in part])
    loss = np.array([line[5:] for line in part], dtype=np.float64)
    harm = loss[:, -2:] - loss[:, :1] > WORSE
    of_sets = np.array([loss[names == name].mean(axis=0) for name in np.unique(names)])
    share = 100.0 * np.column_stack([harm, loss[:, [-1]] < loss[:, 1:3]])
    share_of_sets = np.array([share[names == name].mean(axis=0) for name in np.unique(names)])
    change = 1e3 * (of_sets[:, -1] - of_sets[:, -2])
    return [
        f"{len(of_sets)}",
        *(f"{value:.4f}" for value in of_sets.mean(axis=0)),
        interval(change),
        *(f"{value:.0f}" for value in share_of_sets.mean(axis=0)),
    ]


def interval(change: np.ndarray) -> str:
    """Mean over data sets, with a bootstrap interval."""
    again = np.random.default_rng(0).choice(change, (RESAMPLED, len(change))).mean(axis=1)
    low, high = np.quantile(again, [0.025, 0.975])
    return f"{change.mean():+.2f} ({low:+.2f} to {high:+.2f})"


def main() -> None:
    """Run, and print the table."""
    run()
    sys.stdout.write(report(lines()) + "\n")


if __name__ == "__main__":
    main()
