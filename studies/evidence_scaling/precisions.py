"""What many forecasts say of the prior of precisions: python -m studies.evidence_scaling.precisions [fit | few | learned]

With ``fit``, the logarithms rho of the precisions of most evidence are found for every forecast of the arena's data sets for
design and of networks.py, with up to 3000 rows each, and kept in precisions.csv; this takes some minutes. Without, that file is
read. Printed are constants in the form of hyper_prior.py: mean and spread of rho, by a regression on log(K / 6) and the size of
the logarithm of the exponent. Whether they are better than those that are there is what ``learned`` asks. A table follows: how
far rho is from such lines, and from others, of data sets that the line was not fitted to.

Where rows say little of a precision, rho is what the prior says. So prior and precisions are found in turns (the EM algorithm):
rho has the variance 1 / (gamma / 2 + 1 / s^2), gamma weights of the group being determined by the rows, and s^2 is the mean of
this variance and of the square of what the regression leaves.
"""

from __future__ import annotations

import csv
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibrant import TemperatureScaling, log_loss
from calibrant._core.arrays import prob_of_logit
from calibrant._core.rows import SimplexProblem
from calibrant.calibrators import EnsembleTemperatureScaling, EvidenceScaling
from calibrant.calibrators import evidence as pooling
from calibrant.calibrators import evidence_features as models
from calibrant.calibrators import evidence_features as standard
from calibrant.calibrators.evidence import FEW_OF_TWO
from calibrant.calibrators.evidence_features import (
    CLASSES,
    MOST_AWAY,
    Normal,
    groups_of,
    measured,
    model_of,
    prior_of,
    standard_of,
)
from calibrant.fit.evidence import Prior, most_evident
from studies.arena import out_of_fold
from studies.arena.data_sets import DESIGN
from studies.claims import table
from studies.evidence_scaling import networks
from studies.evidence_scaling.__main__ import calibrated_rest as calibrated

# Log loss and harm with few rows: python -m studies.evidence_scaling.precisions few
#
# Every forecast of the arena's data sets for design and of networks.py, with up to 50 classes, and random rows to fit; up to
# 3000 others are the test. ES is compared with itself as it was before decision 50. What is found is kept in build/, so that a
# run that was stopped goes on; it takes about ten minutes of one core.


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


PRECISIONS = Path(__file__).parent / "precisions.csv"
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
    with PRECISIONS.open("w", encoding="utf-8", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["data_set", "model", "classes", "away", "error", *GROUPS, *(f"{name}_sd" for name in GROUPS)])
        for one in found:
            numbers = [f"{of[name]:.2f}" if name in of else "" for of in (one.rho, one.sd) for name in GROUPS]
            lines.writerow([one.data_set, one.model, one.n_classes, f"{one.away:.3f}", f"{one.error:.4f}", *numbers])


def read() -> list[Found]:
    """Read the file."""
    with PRECISIONS.open(encoding="utf-8", newline="") as file:
        return [
            Found(
                *(line["data_set"], line["model"], int(line["classes"]), float(line["away"]), float(line["error"])),
                rho={name: float(line[name]) for name in GROUPS if line[name]},
                sd={name: float(line[f"{name}_sd"]) for name in GROUPS if line[name]},
            )
            for line in csv.DictReader(file)
        ]


def print_constants() -> None:
    """Print the constants, and the table."""
    for normals in constants(read()).values():
        for name in normals:
            sys.stdout.write(f'    "{name}": Normal({", ".join(f"{value:.2f}" for value in normals[name])}),\n')
        sys.stdout.write("\n")
    body = []
    for word, of_two in (("two", True), ("more", False)):
        part = [one for one in read() if one.is_of_two == of_two]
        body += [[word, name, *(f"{e:.2f}" for e in left_out_errors(part, name))] for name in part[0].rho]
    sys.stdout.write(table(["classes", "group", *COLUMNS], body) + "\n")


# Does a prior of precisions that is learned anew win? python -m studies.evidence_scaling.precisions learned
#
# For each data set the constants are learned from the precisions.csv of all others, and ES is fitted with them to the rows of
# the first draw of ``few``, whose figures must be there. Printed is the change of the log loss in thousandths of a nat, with an
# interval over data sets.


@contextmanager
def prior(normals: OfKind) -> Iterator[None]:
    """ES with other constants."""

    def other(groups: Mapping[str, Any], n_classes: int, exponent: float) -> Any:
        return prior_of(normals[n_classes == 2], n_classes, exponent)

    models.prior_of = other
    try:
        yield
    finally:
        models.prior_of = prior_of


def changes() -> Iterator[tuple[str, bool, int, float]]:
    """Data set, whether there are two classes, rows, and the change of the log loss."""
    known = {tuple(line[:4]): float(line[-1]) for line in lines() if line[4] == "0"}
    found = read()
    for name, model, prob, y in forecasts():
        for n in DRAWS:
            before = known.get((name, model, str(prob.shape[1]), str(n)))
            if before is None:
                continue
            order = np.random.default_rng([0, n, zlib.crc32(f"{name}/{model}".encode())]).permutation(len(y))
            rows, rest = order[:n], order[n : n + MOST_TESTED]
            with prior(constants([one for one in found if one.data_set != name])):
                loss = float(log_loss(y[rest], calibrated(EvidenceScaling(), prob, y, rows, rest)))
            yield name, prob.shape[1] == 2, n, loss - before


def report_of_learned(found: list[tuple[str, bool, int, float]]) -> str:
    """Mean change over data sets."""
    body = []
    for word, of_two in (("two", True), ("more", False)):
        for n in DRAWS:
            part = [one for one in found if one[1] == of_two and one[2] == n]
            names = np.array([one[0] for one in part])
            change = np.array([one[3] for one in part])
            of_sets = np.array([change[names == name].mean() for name in np.unique(names)])
            body.append([word, f"{n}", f"{len(of_sets)}", interval(1e3 * of_sets)])
    return table(["classes", "rows", "sets", "change, 1/1000"], body)


def main(words: list[str]) -> None:
    """Print what the word asks for."""
    if words == ["few"]:
        run()
        print(report(lines()))
    elif words == ["learned"]:
        print(report_of_learned(list(changes())))
    else:
        if words == ["fit"]:
            write(fitted())
        print_constants()


if __name__ == "__main__":
    main(sys.argv[1:])
