"""What copies of rows, and rows that coincide, do to a fit: python -m studies.evidence_scaling.copies

Change of the mean log loss of 4000 new rows by `EvidenceScaling`, in nats, on average over draws; once with each row an
observation, and once as it is. It takes some minutes of one core.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from calibrant import log_loss
from calibrant.calibrators import EvidenceScaling
from calibrant.exceptions import CalibrationWarning
from calibrant.fit import folds
from studies.claims import table

DRAWS, NEW, FEW, MANY = 10, 4000, 150, 5000
Rows = tuple[Any, Any, Any]


def drawn(rng: np.random.Generator, n: int, k: int, power: float) -> tuple[Any, Any]:
    """Return a forecast and its labels: calibrated at power 1, over-confident above."""
    truth = np.exp(1.2 * rng.normal(size=(n, k)))
    truth /= truth.sum(axis=1, keepdims=True)
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return truth**power / (truth**power).sum(axis=1, keepdims=True), label


def rounded(prob: Any, parts: int) -> Any:
    """Return a forecast in whole parts: hundredths, or the votes of so many neighbours."""
    whole = np.maximum(np.rint(prob * parts), 1e-3)
    return whole / whole.sum(axis=1, keepdims=True)


def cases(rng: np.random.Generator, k: int, power: float) -> Iterator[tuple[str, Rows]]:
    """Yield what is fitted."""
    prob, label = drawn(rng, FEW, k, power)
    again, rare = rng.integers(0, FEW, 10 * FEW), np.bincount(label, minlength=k).argmin()
    weight = rng.lognormal(0.0, 0.7, FEW)
    yield "150 rows", (prob, label, None)
    yield "each ten times", (np.repeat(prob, 10, axis=0), np.repeat(label, 10), None)
    yield "each with weight 10", (prob, label, np.full(FEW, 10))
    yield "1500 drawn from them", (prob[again], label[again], None)
    yield "the rarest class five times", (prob, label, np.where(label == rare, 5, 1))
    yield "survey weights of mean 1", (prob, label, weight / weight.mean())
    yield "whole survey weights of mean 1000", (prob, label, np.rint(1000.0 * weight / weight.mean()))
    hundredths = rounded(prob, 100)
    yield "150 in hundredths, each ten times", (np.repeat(hundredths, 10, axis=0), np.repeat(label, 10), None)
    yield "1500 drawn from 150 in hundredths", (hundredths[again], label[again], None)
    prob, label = drawn(rng, MANY, k, power)
    yield "5000 rows", (prob, label, None)
    yield "5000 in hundredths", (rounded(prob, 100), label, None)
    yield "5000 as votes of 7", (rounded(prob, 7), label, None)
    leaf = np.argmin(((prob[:, None] - prob[None, :20]) ** 2).sum(axis=2), axis=1)
    yield "5000 in 20 leaves", (np.array([prob[leaf == j].mean(axis=0) for j in range(20)])[leaf], label, None)
    if k == 2:
        prob, label = drawn(rng, 10 * MANY, k, power)
        yield "50 000 rows", (prob, label, None)
        yield "50 000 in hundredths", (rounded(prob, 100), label, None)


def changes(k: int, power: float) -> dict[str, Any]:
    """Return the mean change of each case, with each row an observation, and as it is."""
    found: dict[str, list[list[float]]] = {}
    for seed in range(DRAWS):
        new, label = drawn(np.random.default_rng([seed, 1]), NEW, k, power)
        for name, rows in cases(np.random.default_rng([seed, 0]), k, power):
            change = []
            for no_chance, enough in ((np.inf, 10**9), (2.0, 20)):  # at infinity there are no copies
                folds.NO_CHANCE, folds.ENOUGH = no_chance, enough
                fitted = EvidenceScaling(labels=range(k)).fit(*rows)
                change.append(log_loss(label, fitted.predict_proba(new)) - log_loss(label, new))
            found.setdefault(name, []).append(change)
    return {name: np.mean(change, axis=0) for name, change in found.items()}


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", CalibrationWarning)
    columns = [changes(k, power) for k in (2, 5) for power in (1.0, 2.0)]
    lines = [
        [name, *(f"{c[name][0]:+.3f} / {c[name][1]:+.3f}" if name in c else "" for c in columns)] for name in columns[0]
    ]
    kinds = [f"{k} classes, {truth}" for k in ("2", "5") for truth in ("calibrated", "over-confident")]
    print(table(["fitted", *kinds], lines))


if __name__ == "__main__":
    main()
