"""Harm with few rows of EvidenceScaling by itself and within SafeCalibrator: python -m studies.evidence_scaling.safe

The forecasts are those of the arena's data sets for design, or with the word kept-apart of the others, with two random draws
of the rows to fit. It takes three minutes.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np

from calibrant import SafeCalibrator, TemperatureScaling, log_loss
from calibrant.calibrators import EvidenceScaling
from studies.arena.cells import Cell, has_rows, split
from studies.arena.data_sets import DESIGN
from studies.arena.out_of_fold import load, stored
from studies.arena.results import WORSE
from studies.claims import table
from studies.evidence_scaling.__main__ import calibrated_rest as calibrated

ROWS, DRAWS = (100, 300), 2
METHODS = {
    "ES": lambda: EvidenceScaling(),
    "ES, safe": lambda: SafeCalibrator(EvidenceScaling()),
    "temperature, safe": lambda: SafeCalibrator(TemperatureScaling()),
}
HEAD = ["classes", "rows", "data sets", "method", "change of the log loss", "harm, %", "worst case"]


def changes(data_set: str, model: str, rows: int) -> list[list[float]]:
    """Log loss of each method less that without calibration, of each draw."""
    prob, y = load(data_set, model)
    found = []
    for draw in range(DRAWS):
        fit, test = split(Cell(data_set, model, rows, draw), len(y))
        as_it_is = log_loss(y[test], calibrated(None, prob, y, fit, test))
        found.append([log_loss(y[test], calibrated(one(), prob, y, fit, test)) - as_it_is for one in METHODS.values()])
    return found


def main(part: str) -> None:
    """Print the table: means over data sets."""
    of: dict[tuple[bool, int], dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for data_set, model in stored(part):
        prob, y = load(data_set.name, model)
        for rows in ROWS:
            if has_rows(len(y), rows):
                of[prob.shape[1] == 2, rows][data_set.name] += changes(data_set.name, model, rows)
    lines = []
    for (of_two, rows), sets in sorted(of.items(), reverse=True, key=lambda one: (one[0][0], -one[0][1])):
        each = [np.array(one) for one in sets.values()]
        mean = np.mean([one.mean(axis=0) for one in each], axis=0)
        harm = 100 * np.mean([(one > WORSE).mean(axis=0) for one in each], axis=0)
        worst = np.max([one.max(axis=0) for one in each], axis=0)
        for i, name in enumerate(METHODS):
            word = "two" if of_two else "more"
            lines.append(
                [word, f"{rows}", f"{len(each)}", name, f"{mean[i]:+.4f}", f"{harm[i]:.1f}", f"{worst[i]:+.4f}"]
            )
    sys.stdout.write(table(HEAD, lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else DESIGN)
