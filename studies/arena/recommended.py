"""What the recommendation of `compare` costs on held-out rows: python -m studies.arena.recommended --part kept-apart

Each forecast that out_of_fold.py stored is cut at random into rows to compare on and rows to test, twice. It prints, for each
number of rows, how much the test log loss after the recommended calibrator is above that of the best candidate and of the
forecast as it is, and fails where it misses what docs/decisions/0057 promises. About a quarter of an hour on two cores.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np

from calibrant import compare, log_loss
from calibrant.assessment.held_out import IDENTITY, maker_of
from studies.arena.data_sets import DESIGN, KEPT_APART
from studies.arena.out_of_fold import load, stored

ROWS, DRAWS, TEST, MOST_CLASSES = (500, 2000), 2, 6000, 60
"""Rows to compare on, cuts of each forecast, at most so many rows to test, and classes above which fits take minutes."""

SAFE = "evidence-scaling --safe"

ABOVE_BEST, HARM = 0.003, 0.002
"""Nats: the mean distance from the best candidate, and the worst one from the forecast as it is, that are promised."""


@dataclass(frozen=True)
class Outcome:
    """What the recommendation was, and the test log loss of each candidate."""

    forecast: str
    rows: int
    recommended: str
    losses: dict[str, float]

    @property
    def above_best(self) -> float:
        return self.losses[self.recommended] - min(self.losses.values())

    @property
    def change(self) -> float:
        return self.losses[self.recommended] - self.losses[IDENTITY]


def candidates(n_classes: int) -> list[str]:
    """The words to compare: a simple method, one with more freedom, and the default within `SafeCalibrator`."""
    return ["temperature", "beta" if n_classes == 2 else "svs", SAFE]


def outcome(job: tuple[str, str, int, int]) -> Outcome | None:
    """Follow the recommendation on one cut of a forecast; None where there are too few rows, or too many classes."""
    data_set, model, rows, seed = job
    prob, y = load(data_set, model)
    n_classes = prob.shape[1]
    if len(y) < rows + 500 or n_classes > MOST_CLASSES:
        return None
    warnings.simplefilter("ignore")  # a class that is absent from a fold, an impossible event: all of them are results
    order = np.random.default_rng(seed).permutation(len(y))
    fit, test = order[:rows], order[rows : rows + TEST]
    values = prob[:, 1] if n_classes == 2 else prob
    labels = list(range(n_classes))
    words = candidates(n_classes)
    found = compare(y[fit], values[fit], calibrators=words, labels=labels)
    losses = {IDENTITY: log_loss(y[test], values[test], labels=labels)}
    for word in words:
        calibrator = maker_of(word)(n_classes).set_params(labels=labels).fit(values[fit], y[fit])
        losses[word] = log_loss(y[test], calibrator.calibrate(values[test]), labels=labels)
    return Outcome(f"{data_set}, {model}", rows, found.recommended, losses)


def lines(found: list[Outcome]) -> list[str]:
    """A line for each number of rows, and for always taking one of the words."""
    told = [
        "| rows | cases | taken | above the best, mean | highest | above the forecast, highest |",
        "|---|---|---|---|---|---|",
    ]
    for rows in ROWS:
        some = [one for one in found if one.rows == rows]
        taken = sum(one.recommended != IDENTITY for one in some)
        above, change = ([getattr(one, name) for one in some] for name in ("above_best", "change"))
        told.append(
            f"| {rows} | {len(some)} | a calibrator in {taken} | {np.mean(above):.4f} | {max(above):.4f} | {max(change):+.4f} |"
        )
        for word in (IDENTITY, SAFE, "temperature"):
            always = [one.losses[word] - min(one.losses.values()) for one in some]
            harm = max(one.losses[word] - one.losses[IDENTITY] for one in some)
            told.append(
                f"| {rows} | {len(some)} | always {word} | {np.mean(always):.4f} | {max(always):.4f} | {harm:+.4f} |"
            )
    return told


def broken(found: list[Outcome]) -> list[str]:
    """What of the promise does not hold, in sentences."""
    said = []
    for rows in ROWS:
        some = [one for one in found if one.rows == rows]
        if (mean := float(np.mean([one.above_best for one in some]))) > ABOVE_BEST:
            said.append(f"{rows} rows: {mean:.4f} nats above the best on average")
        said += [f"{one.forecast}, {rows} rows: harm of {one.change:.4f}" for one in some if one.change > HARM]
    return said


def main() -> int:
    """Print the table, and what does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=[DESIGN, KEPT_APART], default=KEPT_APART, help="which data sets")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    chosen = parser.parse_args()
    jobs = [
        (one.name, model, rows, seed) for (one, model), rows, seed in product(stored(chosen.part), ROWS, range(DRAWS))
    ]
    with ProcessPoolExecutor(chosen.jobs) as workers:
        found = [one for one in workers.map(outcome, jobs) if one is not None]
    failures = broken(found)
    sys.stdout.write("\n".join([*lines(found), "", *(failures or ["All of the promise holds."])]) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
