"""What many forecasts say of the prior of precisions: python -m studies.evidence_scaling.precisions [fit]

With ``fit``, the logarithms rho of the precisions of most evidence are found for every forecast of the arena's data sets for
design and of networks.py, with up to 3000 rows each, and kept in precisions.csv; this takes some minutes. Without, that file is
read. Printed are constants in the form of hyper_prior.py: mean and spread of rho, by a regression on log(K / 6) and the size of
the logarithm of the exponent. Whether they are better than those that are there is what learned.py asks. A table follows: how
far rho is from such lines, and from others, of data sets that the line was not fitted to.

Where rows say little of a precision, rho is what the prior says. So prior and precisions are found in turns (the EM algorithm):
rho has the variance 1 / (gamma / 2 + 1 / s^2), gamma weights of the group being determined by the rows, and s^2 is the mean of
this variance and of the square of what the regression leaves.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibrant._core.arrays import prob_of_logit
from calibrant._core.rows import SimplexProblem
from calibrant.calibrators import EvidenceScaling
from calibrant.calibrators.evidence_features import (
    CLASSES,
    MOST_AWAY,
    Normal,
    groups_of,
    measured,
    model_of,
    standard_of,
)
from calibrant.fit.evidence import Prior, most_evident
from studies.arena import out_of_fold
from studies.arena.data_sets import DESIGN
from studies.evidence_scaling import networks
from studies.markdown import table

FILE = Path(__file__).parent / "precisions.csv"
MOST_ROWS, MOST_CLASSES, ROUNDS = 3000, 50, 3
TEMP = "temp"
"""The group whose prior stays."""

GROUPS = tuple(dict.fromkeys(name for k in (2, 3) for name in groups_of(k) if name != TEMP))
LEAST_SPREAD, MOST_SPREAD = 0.5, 3.0

Normals = Mapping[str, Normal]
OfKind = Mapping[bool, Normals]
"""Constants of two classes (True) and of more."""

TODAY: OfKind = {True: groups_of(2), False: groups_of(3)}


@dataclass(frozen=True)
class Found:
    """The precisions of a forecast: rho of each group, and its standard deviation."""

    data_set: str
    model: str
    n_classes: int
    away: float
    error: float
    rho: Mapping[str, float]
    sd: Mapping[str, float]

    @property
    def is_of_two(self) -> bool:
        """Whether there are two classes."""
        return self.n_classes == 2


class _Problem(EvidenceScaling):
    """A calibrator that keeps the problem, instead of a fit."""

    problem: SimplexProblem

    def _fit(self, problem: SimplexProblem) -> None:
        self.problem = problem


def forecasts() -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
    """Data set, model, probabilities and labels of the forecasts that are there, of data sets for design alone."""
    for one, model in out_of_fold.stored(DESIGN):
        yield one.name, model, *out_of_fold.load(one.name, model)
    for name, recipe in networks.stored():
        yield name, f"network-{recipe}", *out_of_fold.load(name, recipe, networks.FOLDER)


def prior_with(normals: Normals, n_classes: int, away: float) -> Prior:
    """Mean and spread of rho of each group."""
    line = np.array([1.0, np.log(n_classes / CLASSES), away])
    mean, spread = [line @ np.array(one[:3]) for one in normals.values()], [one.spread for one in normals.values()]
    return Prior(np.array(mean), np.array(spread))


def precisions(name: str, model: str, prob: np.ndarray, y: np.ndarray, normals: Normals) -> Found:
    """Precisions of most evidence under a prior."""
    rows, n_classes = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS], prob.shape[1]
    problem = _Problem(labels=range(n_classes)).fit(prob[rows], y[rows]).problem
    weight = problem.weight * problem.weights.rows_per_weight
    standard = standard_of(problem, weight)
    z = standard.of(problem.forecast)
    fitted = model_of(z, problem.label, weight, measured(z, weight), standard.exponent)
    away = min(abs(float(np.log(standard.exponent))), MOST_AWAY)
    prior = prior_with(normals, n_classes, away)
    found = most_evident(fitted.logit, fitted.group, prior)
    sd = (0.5 * found.determined + 1.0 / prior.spread**2) ** -0.5
    rho, sd_of = (dict(zip(fitted.names, values.tolist(), strict=True)) for values in (found.rho, sd))
    return Found(name, model, n_classes, away, float(np.mean(1.0 - prob_of_logit(z).max(axis=1))), rho, sd_of)


def regression(found: list[Found], today: Normals) -> dict[str, Normal]:
    """Constants from precisions, of forecasts of two classes or of forecasts of more; temp stays as it is today."""
    of_two = found[0].is_of_two
    lines = np.array([[1.0, 0.0 if of_two else np.log(one.n_classes / CLASSES), one.away] for one in found])
    # The forecasts of a data set are alike: together they have the root of their number for a weight.
    names = np.array([one.data_set for one in found])
    share = np.array([1.0 / np.sqrt((names == name).sum()) for name in names])
    new = dict(today)
    for name in today.keys() - {TEMP}:
        rho, sd = (np.array([of[name] for of in both]) for both in zip(*((o.rho, o.sd) for o in found), strict=True))
        line = np.linalg.lstsq(np.sqrt(share)[:, None] * lines, np.sqrt(share) * rho)[0]
        spread = float(np.sqrt(np.average((rho - lines @ line) ** 2 + sd**2, weights=share)))
        new[name] = Normal(*map(float, line), float(np.clip(spread, LEAST_SPREAD, MOST_SPREAD)))
    return new


def constants(found: list[Found]) -> OfKind:
    """Constants of two classes and of more."""
    return {of_two: regression([one for one in found if one.is_of_two == of_two], TODAY[of_two]) for of_two in TODAY}


COLUMNS: Mapping[str, tuple[str, ...]] = {
    "one mean": (),
    "K and exponent": ("classes", "away"),
    "and expected errors": ("classes", "away", "error"),
    "and network or not": ("classes", "away", "network"),
}
"""What rho is regressed on, beside a constant; the logarithm of the expected share of errors plus 0.001."""


def left_out_errors(found: list[Found], group: str) -> list[float]:
    """Root of the mean square by which rho differs from a line fitted to the other data sets, by `COLUMNS`; mean over sets."""
    names, rho = np.array([one.data_set for one in found]), np.array([one.rho[group] for one in found])
    of_two = found[0].is_of_two
    known = {
        "classes": np.log([one.n_classes / CLASSES for one in found]),
        "away": np.array([one.away for one in found]),
        "error": np.log([one.error + 1e-3 for one in found]),
        "network": np.array([float(one.model.startswith("network-")) for one in found]),
    }
    errors = []
    for columns in COLUMNS.values():
        taken = [known[name] for name in columns if not (of_two and name == "classes")]
        lines, squares = np.column_stack([np.ones(len(found)), *taken]), []
        for name in np.unique(names):
            others = names != name
            line = np.linalg.lstsq(lines[others], rho[others])[0]
            squares.append(np.mean((rho[~others] - lines[~others] @ line) ** 2))
        errors.append(float(np.sqrt(np.mean(squares))))
    return errors


def fitted() -> list[Found]:
    """Find precisions and constants in turns; return the last precisions."""
    normals, found = TODAY, []
    for _ in range(ROUNDS):
        found = [
            precisions(name, model, prob, y, normals[prob.shape[1] == 2])
            for name, model, prob, y in forecasts()
            if prob.shape[1] <= MOST_CLASSES
        ]
        normals = constants(found)
    return found


def write(found: list[Found]) -> None:
    """Write the file: a line a forecast, empty where it has no such group."""
    with FILE.open("w", encoding="utf-8", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["data_set", "model", "classes", "away", "error", *GROUPS, *(f"{name}_sd" for name in GROUPS)])
        for one in found:
            numbers = [f"{of[name]:.2f}" if name in of else "" for of in (one.rho, one.sd) for name in GROUPS]
            lines.writerow([one.data_set, one.model, one.n_classes, f"{one.away:.3f}", f"{one.error:.4f}", *numbers])


def read() -> list[Found]:
    """Read the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return [
            Found(
                *(line["data_set"], line["model"], int(line["classes"]), float(line["away"]), float(line["error"])),
                rho={name: float(line[name]) for name in GROUPS if line[name]},
                sd={name: float(line[f"{name}_sd"]) for name in GROUPS if line[name]},
            )
            for line in csv.DictReader(file)
        ]


def main() -> None:
    """Print the constants, and the table."""
    if sys.argv[1:] == ["fit"]:
        write(fitted())
    for normals in constants(read()).values():
        for name in normals:
            sys.stdout.write(f'    "{name}": Normal({", ".join(f"{value:.2f}" for value in normals[name])}),\n')
        sys.stdout.write("\n")
    body = []
    for word, of_two in (("two", True), ("more", False)):
        part = [one for one in read() if one.is_of_two == of_two]
        body += [[word, name, *(f"{e:.2f}" for e in left_out_errors(part, name))] for name in part[0].rho]
    sys.stdout.write(table(["classes", "group", *COLUMNS], body) + "\n")


if __name__ == "__main__":
    main()
