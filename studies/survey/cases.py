"""The survey's cases of sections 5.2 and 5.4, its calibration sets, exact errors on them, and what verdicts are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit, softmax

from calibrant import (
    BetaCalibration,
    DirichletCalibration,
    HistogramBinning,
    IsotonicCalibration,
    PlattScaling,
    TemperatureScaling,
    VectorScaling,
)
from calibrant.calibrators import MatrixScaling
from calibrant.datasets import SLOPES, SurveyMixture
from studies.claims import (
    Functions,
    Verdict,
    above_zero,
    all_of,
    below_zero,
    each_holds,
    mean_and_error,
    printed_as,
    table,
)

# Errors of calibrated forecasts of the survey's test cases, where everything is a function of one feature.
#
# The feature stands on a fine grid, each point with the probability of its cell and with Bayes' probabilities of the classes.
# A calibrated forecast is a function on the grid, and every expectation a sum over it: no rows are drawn to measure anything.


END, NEAR = 260.0, 20.0
"""The grid reaches seven standard deviations beyond the outermost mean, and is finer about the middle."""

FINE, COARSE = 1e-4, 5e-3
"""Its steps there and beyond. In a step a forecast moves by less than a cell: where a network's forecast is not monotone,
the branches that make the same forecast must meet in one cell."""

CELL = 1e-4
"""Predictions that differ by less are one: the probability of the event given a prediction is a mean over its points."""

LEAST = 1e-300

READINGS = ("variance", "standard deviation")
"""What the 8 of class 3 can be."""

LOGISTIC, NETWORK = ("under-confident", "over-confident"), "neural network"
TWO = (*LOGISTIC, NETWORK)
NETWORKS = tuple(f"network {i}" for i in range(10))
"""Of two classes, and of three for each reading, as tools/make_survey_networks.py of commit 6c24639e trained them."""

HALVED, DOUBLED = "log-odds halved", "log-odds doubled"
"""Under- and over-confidence and nothing else: Bayes' own log-odds of two normal classes of one variance, times a number."""

ROWS, DRAWS, SETS, MANY = 10_000, 20, 5, 60
"""Rows of a calibration set, as in the survey; sets of a logistic case, of each network, and where differences are small."""


class Normals(SurveyMixture):
    """Two classes whose feature is normal with the means -1.5 and 1.5 and variance 3: Bayes' log-odds are the feature."""

    @property
    def components(self) -> np.ndarray:
        return np.array([[(mean, 3.0)] * 2 for mean in (-1.5, 1.5)])


@dataclass(frozen=True)
class Case:
    """A forecast on the grid: mass (n,), posterior and forecast (n,) for two classes, (n, 3) for three."""

    x: np.ndarray
    mass: np.ndarray
    posterior: np.ndarray
    forecast: np.ndarray
    model: Callable[[np.ndarray], np.ndarray]
    mixture: SurveyMixture
    first: int

    def draw(self, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """A calibration set: forecasts and labels. A network never sees its training set again."""
        x, y = self.mixture.sample(rows, rng=self.first + seed)
        return self.model(x), y

    def mean(self, values: np.ndarray) -> float:
        """Expectation."""
        return float(self.mass @ values)


@cache
def grid(refined: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The points, and the width of the cell about each; ``refined`` times as many points."""
    near = np.linspace(-NEAR, NEAR, round(2 * NEAR / FINE) * refined + 1)
    beyond = np.linspace(NEAR, END, round((END - NEAR) / COARSE) * refined + 1)[1:]
    x = np.concatenate([-beyond[::-1], near, beyond])
    between = np.concatenate([[x[0]], (x[1:] + x[:-1]) / 2.0, [x[-1]]])
    return x, np.diff(between)


@lru_cache(4)
def world(of: str | None, refined: int = 1) -> tuple[SurveyMixture, np.ndarray, np.ndarray]:
    """The mixture of two classes, or of three by a reading of class 3, or normals, with mass and posterior on the grid."""
    x, width = grid(refined)
    mixture = SurveyMixture(2) if of is None else Normals() if of == "normals" else SurveyMixture(3, of)
    mass = np.exp(mixture.log_density(x)).mean(axis=1) * width
    return mixture, mass / mass.sum(), mixture.posterior(x)


@lru_cache(4)
def the_case(name: str, class_3: str | None = None, refined: int = 1) -> Case:
    """A test case: "under-confident", "over-confident", "bayes-optimal", of normals, or a network such as "network 0"."""
    times = {HALVED: 0.5, DOUBLED: 2.0}
    x, (mixture, mass, posterior) = grid(refined)[0], world("normals" if name in times else class_3, refined)
    model, first = mixture.posterior, 0
    if name in SLOPES or name in times:
        model = lambda x: expit({**SLOPES, **times}[name] * x)  # noqa: E731
    elif name in NETWORKS:
        number = NETWORKS.index(name)
        model, first = trained(class_3, number), 1000 * (number + 1)
    return Case(x, mass, posterior, model(x), model, mixture, first)


@cache
def trained(class_3: str | None, number: int) -> Callable[[np.ndarray], np.ndarray]:
    """A network, from its log-odds where it bends: it is linear between."""
    with np.load(Path(__file__).with_name("networks.npz")) as file:
        points, *log_odds = file[f"{class_3 or 'two classes'}, {number}"].astype(np.float64).T

    def of(x: np.ndarray) -> np.ndarray:
        z = np.column_stack([np.interp(x, points, column) for column in log_odds])
        return expit(z[:, 0]) if class_3 is None else softmax(np.column_stack([z, np.zeros(len(x))]), axis=1)

    return of


def given(value: np.ndarray, target: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """E[target | value] at each point of the grid, for one column of values."""
    cell = (value / CELL).astype(np.int64)
    weight = np.maximum(np.bincount(cell, mass), LEAST)
    return np.asarray((np.bincount(cell, mass * target) / weight)[cell])


def divergence(truth: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Kullback and Leibler's divergence of each row, infinite where the value rules out a class that can occur."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(truth > 0, truth * (np.log(truth) - np.log(value)), 0.0)
    return np.asarray(terms.sum(axis=1))


def by_tenth(where: np.ndarray, mass: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Sums over tenths of [0, 1]: of the mass, of |S - C| and of C - S."""
    tenth = np.minimum((where * 10).astype(np.int64), 9)
    return np.stack([np.bincount(tenth, mass * of, minlength=10) for of in (1.0, np.abs(gap), gap)])


Draws = Sequence[float]
Judge = Callable[..., Verdict]
Make = Callable[[], Any]
Words = Callable[..., str]
Pick = str | Callable[[Any], float]
Figure = float | list[float]
Region = tuple[int, ...]


# Two classes: fits, and exact errors of what they give


PLATT, STRAIGHT = "on log-odds", "on probabilities"
BINARY: dict[str, dict[str, Make]] = {
    "binning": {"10 bins": lambda: HistogramBinning(10)},
    "isotonic": {"isotonic": lambda: IsotonicCalibration(interpolate=True, finite=None)},
    # A straight line through the probabilities themselves: they are passed as if they were logits.
    "platt": {STRAIGHT: lambda: PlattScaling(input="logit"), PLATT: PlattScaling},
    "beta": {"beta": BetaCalibration},
}
METHODS: dict[str, Make] = {name: make for family in BINARY.values() for name, make in family.items()}
"""By their own names, which do not collide."""

STEPS = "isotonic, constant on pieces"
METHODS[STEPS] = lambda: IsotonicCalibration(finite=None)

CLOSE, SAME, MOVED = 0.02, 0.01, 1e-3
"""Distances that are close in a diagram; of predictions that are almost identical; from which on a forecast counts as moved."""


@dataclass(frozen=True)
class Errors:
    """What is wrong with a forecast of two classes.

    ``calibration`` is E|S - C| with C = P(event | S); the Brier score of the event is ``brier_calibration`` E(S - C)^2 plus
    ``grouping`` E(C - Q)^2 plus what no forecast can avoid; ``log_excess`` is the log loss above that of Bayes' rule. ``near``
    is the probability of |S - C| below CLOSE, and ``before`` and ``here`` are sums by tenths of the prediction before and after
    calibration.
    """

    calibration: float
    brier_calibration: float
    grouping: float
    log_excess: float
    near: float
    before: np.ndarray
    here: np.ndarray


def errors(case: Case, value: np.ndarray) -> Errors:
    """Errors of a forecast of two classes, given on the grid."""
    truth = given(value, case.posterior, case.mass)
    both = (np.column_stack([1.0 - p, p]) for p in (case.posterior, value))
    gap = truth - value
    points = np.abs(gap), gap**2, (truth - case.posterior) ** 2, divergence(*both), np.abs(gap) < CLOSE
    return Errors(*map(case.mean, points), *(by_tenth(where, case.mass, gap) for where in (case.forecast, value)))


@cache
def fitted(name: str, method: str, seed: int) -> Any:
    """A calibrator, fitted to a calibration set of a case of two classes."""
    return METHODS[method]().fit(*the_case(name).draw(ROWS, seed))


def values(name: str, method: str, seed: int) -> np.ndarray:
    """Calibrated forecast of two classes on the grid."""
    return np.asarray(fitted(name, method, seed).calibrate(the_case(name).forecast))


@cache
def found(name: str, method: str | None, seed: int = 0) -> Errors:
    """Errors of a case, before calibration or after a method was fitted to a calibration set."""
    of = the_case(name)
    return errors(of, of.forecast if method is None else values(name, method, seed))


def before(name: str, pick: Pick = "calibration") -> Figure:
    """A figure without calibration: one for a logistic case, one for each network."""
    get = attrgetter(pick) if isinstance(pick, str) else pick
    return [get(found(n, None)) for n in NETWORKS] if name == NETWORK else get(found(name, None))


def after(name: str, method: str, pick: Pick = "calibration", draws: int = DRAWS) -> list[float]:
    """A figure after calibration: of each calibration set of a logistic case, or the mean over the sets of each network."""
    get = attrgetter(pick) if isinstance(pick, str) else pick
    if name == NETWORK:
        return [float(np.mean([get(found(n, method, seed)) for seed in range(SETS)])) for n in NETWORKS]
    return [get(found(name, method, seed)) for seed in range(draws)]


def both(name: str, method: str, pick: Pick = "calibration") -> dict[str, Any]:
    """A figure before and after calibration."""
    return {"before": before(name, pick), "after": after(name, method, pick)}


def inside(region: Region, where: str = "before") -> Pick:
    """Mean |S - C| over the predictions that were, before calibration, in some tenths of [0, 1]; or that are ``here``."""
    return lambda errors: float(np.divide(*getattr(errors, where)[[1, 0]][:, list(region)].sum(axis=1)))


def over_draws(measure: Callable[[int], float]) -> list[float]:
    """Return a figure of each calibration set."""
    return [float(measure(seed)) for seed in range(DRAWS)]


@cache
def best_monotone(name: str) -> tuple[float, float]:
    """Pool the reliability diagram of a network, known exactly, until it does not fall: the grouping loss that this best
    monotone map adds, and the share of forecasts that it moves from the probability of the event given them."""
    of = the_case(name, refined=2)  # where branches meet, the diagram needs more points than a sum over it
    cell = (of.forecast / CELL).astype(np.int64)
    mass, event = (np.bincount(cell, weight) for weight in (of.mass, of.mass * of.posterior))
    truth, mass = event[mass > 0] / mass[mass > 0], mass[mass > 0]
    best = isotonic_regression(truth, weights=mass).x
    # A pool gives its mean, and is calibrated: what it loses is grouping.
    return float(mass @ (truth - best) ** 2), float(mass @ (np.abs(truth - best) > MOVED))


def added_to_bayes(make: Make, class_3: str | None = None) -> list[float]:
    """Log loss that a calibrator adds to Bayes' own predictions."""
    of = the_case("bayes-optimal", class_3)

    def added(seed: int) -> float:
        value = np.asarray(make().fit(*of.draw(ROWS, seed)).calibrate(of.forecast))
        return errors(of, value).log_excess if class_3 is None else of.mean(divergence(of.posterior, value))

    return over_draws(added)


# Three classes: the same


CLASSES = (0, 1, 2)
ANYWHERE: Region = tuple(range(10))
ODIR, FEW = "dirichlet, ODIR", 200
"""A method that the survey names beside its figures, and the rows of a small calibration set."""

OF_THREE: dict[str, Make] = {
    "temperature": TemperatureScaling,
    "vector": lambda: VectorScaling(logits="reference"),
    "matrix": lambda: MatrixScaling(logits="reference", off_diagonal=0.0, intercept=0.0),
    "dirichlet": lambda: DirichletCalibration(diagonal=0.0, off_diagonal=0.0, intercept=0.0),
}
MAKES = OF_THREE | {ODIR: lambda: DirichletCalibration(diagonal=0.0, off_diagonal=1e-3, intercept=1e-3)}


@cache
def fitted_three(class_3: str, name: str, method: str, seed: int, rows: int = ROWS) -> Any:
    """A calibrator of three classes, fitted to a calibration set of a network."""
    return MAKES[method]().fit(*the_case(name, class_3).draw(rows, seed))


@cache
def found_three(
    class_3: str, name: str, method: str | None, seed: int = 0, rows: int = ROWS
) -> tuple[float, list[np.ndarray]]:
    """Log loss above that of Bayes' rule, and sums by tenths of each class's uncalibrated probability (not of few rows)."""
    of = the_case(name, class_3)
    value = of.forecast
    if method is not None:
        value = np.asarray(fitted_three(class_3, name, method, seed, rows).calibrate(value))
    return of.mean(divergence(of.posterior, value)), [] if rows == FEW else class_wise(of, value)


def class_wise(of: Case, value: np.ndarray) -> list[np.ndarray]:
    """Sums of |S_j - P(class j | S_j)| by tenths of the uncalibrated probability of each class."""
    return [by_tenth(of.forecast[:, j], of.mass, gap(of, value, j)) for j in CLASSES]


def gap(of: Case, value: np.ndarray, j: int) -> np.ndarray:
    """P(class j | S_j) - S_j at each point of the grid: how far its diagram is from the diagonal there."""
    return given(value[:, j], of.posterior[:, j], of.mass) - value[:, j]


def apart(one: str, other: str) -> Callable[[str], dict[str, Any]]:
    """Return how far the diagrams after two methods are apart for each class and network: the mean absolute difference of their
    gaps; and beside it how far the diagram before calibration is from that after the other."""

    def of(class_3: str, name: str, seed: int) -> list[list[float]]:
        case = the_case(name, class_3)
        fits = [fitted_three(class_3, name, method, seed) for method in (one, other)]
        values = [case.forecast, *(np.asarray(fit.calibrate(case.forecast)) for fit in fits)]
        gaps = [[gap(case, value, j) for value in values] for j in CLASSES]
        return [[case.mean(np.abs(of - last)) for of in (first, before)] for before, first, last in gaps]

    def measure(class_3: str) -> dict[str, Any]:
        found = np.mean([[of(class_3, name, seed) for name in NETWORKS] for seed in range(SETS)], axis=0)
        return {"classes": {f"class {j + 1}": found[:, j].T.tolist() for j in CLASSES}}

    return measure


def of_networks(class_3: str, method: str | None, get: Callable[[Any], float], rows: int = ROWS) -> list[float]:
    """Return a figure of each network: before calibration, or the mean over its calibration sets."""
    seeds = range(SETS if method else 1)
    return [float(np.mean([get(found_three(class_3, n, method, s, rows)) for s in seeds])) for n in NETWORKS]


def of_class(class_3: str, j: int, method: str | None, region: Region = ANYWHERE) -> list[float]:
    """E|S - C| of a class over the forecasts whose probability of it was in some tenths of [0, 1] before calibration."""
    return of_networks(class_3, method, lambda of: np.divide(*of[1][j][[1, 0]][:, list(region)].sum(axis=1)))


def excess(class_3: str, method: str | None, rows: int = ROWS) -> list[float]:
    """Log loss above that of Bayes' rule."""
    return of_networks(class_3, method, lambda of: of[0], rows)


# Tables of the page


def of_two(methods: list[str]) -> str:
    """Errors before and after, for the three cases."""
    body = []
    for name in TWO:
        for method in (None, *methods):
            whats = [("calibration", 4, 1), ("brier_calibration", 3, 1000), ("grouping", 3, 1000), ("log_excess", 5, 1)]
            cells = [shown(after(name, method, w) if method else before(name, w), *how) for w, *how in whats]
            body.append([f"... {method}" if method else f"{name}, before", *cells])
    return table(["", "E abs(S - C)", "calibration loss x 1000", "grouping loss x 1000", "log loss above Bayes"], body)


def of_three_classes(class_3: str) -> str:
    """Errors before and after, for the networks of three classes."""
    body = []
    for method in (None, *OF_THREE):
        classes = [of_class(class_3, j, method) for j in CLASSES]
        mean = [float(v) for v in np.mean(classes, axis=0)]
        cells = [*map(shown, [*classes, mean]), shown(excess(class_3, method), 5)]
        body.append([method or "before", *cells])
    return table(["", "E abs(S - C), class 1", "class 2", "class 3", "mean", "log loss above Bayes"], body)


# Verdicts on the survey's sentences: functions of numbers that `claims.json` holds.
#
# ``before`` is a figure without calibration and ``after`` has one for each calibration set; about neural networks both have one
# for each network. Sentences of section 5.4 are decided by both readings of class 3, unless they contradict each other.


WELL, LITTLE = 0.3, 0.75
"""Shares of the error that are left where a method works well, and where it does little."""

COUNTS = 0.05
"""Share of an error from which on a difference counts for a single network."""


def less(one: Figure | Draws, other: Figure | Draws) -> list[float]:
    """Return differences: of pairs, or from one figure."""
    return [float(d) for d in np.atleast_1d(np.asarray(one) - np.asarray(other))]


def falls(before: Figure, after: Draws) -> Verdict:
    """Return whether a figure clearly falls."""
    return below_zero(less(after, before)) if isinstance(before, float) else lower(after, before)


def rises(before: Figure, after: Draws) -> Verdict:
    """Return whether a figure clearly rises."""
    return above_zero(less(after, before)) if isinstance(before, float) else lower(before, after)


def lower(one: Draws, other: Draws) -> Verdict:
    """Return whether the one is clearly lower on the mean over networks; in part, where it depends on the network."""
    verdict = below_zero(less(one, other))
    return Verdict.IN_PART if verdict is Verdict.OPEN and min(ways(one, other)) > 1 else verdict


def ways(one: Draws, other: Draws) -> tuple[int, int]:
    """Return in how many networks the one is lower, and higher, by enough to count."""
    share = np.asarray(one) / np.asarray(other) - 1.0
    return int((share < -COUNTS).sum()), int((share > COUNTS).sum())


def left(before: Figure, after: Draws) -> list[float]:
    """Return the share of a figure that is left."""
    return [float(v) for v in np.asarray(after) / np.asarray(before)]


def works_well(before: Figure, after: Draws) -> Verdict:
    """Return "holds" if clearly little of an error is left, "holds in part" if it falls."""
    little, fell = below_zero(less(left(before, after), WELL)), falls(before, after)
    return little if little is Verdict.HOLDS else Verdict.IN_PART if fell is Verdict.HOLDS else fell


def does_little(before: Figure, after: Draws) -> Verdict:
    """Return whether clearly most of an error is left."""
    return above_zero(less(left(before, after), LITTLE))


def in_each(judge: Judge) -> Judge:
    """Return a verdict on several cases together."""
    return lambda cases: all_of(judge(**of) for of in cases.values())


def in_both_worlds(judge: Judge) -> Judge:
    """Return what both readings of class 3 say together; not decided where they contradict each other."""

    def of(readings: Mapping[str, Mapping[str, Any]]) -> Verdict:
        found = [judge(**numbers) for numbers in readings.values()]
        return Verdict.OPEN if {Verdict.HOLDS, Verdict.FAILS} <= set(found) else all_of(found)

    return of


def on_the_diagonal(before: Figure, after: Draws, near: Draws) -> Verdict:
    """Return whether the error falls and most predictions end up close to the diagonal."""
    return all_of([falls(before, after), above_zero(less(near, 0.5))])


def traded(calibration: Mapping[str, Any], grouping: Mapping[str, Any]) -> Verdict:
    """Return whether calibration loss falls and grouping loss rises."""
    return all_of([falls(**calibration), rises(**grouping)])


def mostly_worse(worse: Draws, better: Draws, regions: int) -> Verdict:
    """Return whether more than half of the regions get worse on the mean over networks; in part, whether any do."""
    most = above_zero(less(worse, regions / 2))
    return Verdict.IN_PART if most is not Verdict.HOLDS and above_zero(worse) is Verdict.HOLDS else most


def capped(highest: Mapping[str, Mapping[str, Any]], low: float, high: float) -> Verdict:
    """Return whether the highest probabilities of class 3 are around 0.8, of Bayes' rule and of every network.

    Judged with 8 as a standard deviation, the reading that the sentence picks.
    """
    of = highest["standard deviation"]
    return each_holds(low < value < high for value in (of["bayes"], *of["networks"]))


def near(classes: Mapping[str, Sequence[Draws]]) -> Verdict:
    """Return whether two diagrams are nearer to each other than the one before calibration is to the second: no calibration at
    all is not near."""
    return below_zero(np.mean([less(*pair) for pair in classes.values()], axis=0).tolist())


def lower_in_each(classes: Mapping[str, Sequence[Draws]]) -> Verdict:
    """Return whether the one method has a lower error in each class."""
    return all_of(lower(one, other) for one, other in classes.values())


def class_3_not_as_bad(before: Figure, temperature: Draws, vector: Draws) -> Verdict:
    """Return whether temperature scaling worsens class 3, and vector scaling does so less."""
    return all_of([rises(before, temperature), lower(vector, temperature)])


def balanced(few_vector: Draws, few_matrix: Draws, vector: Draws, temperature: Draws) -> Verdict:
    """Return whether vector scaling beats matrix scaling on few rows and temperature scaling on many."""
    return all_of([lower(few_vector, few_matrix), lower(vector, temperature)])


def as_printed(exact: str | float, printed: str, entries: float | None = None) -> Verdict:
    """Return whether an exact value rounds to the printed figure; a misprint, where the table's rounded entries do, and it is
    within what their rounding can move: the authors' own data contradict it."""
    value = Fraction(exact)
    if rounds_to(value, printed):
        return Verdict.HOLDS
    by_entries = entries is not None and rounds_to(Fraction(entries), printed)
    return printed_as(False, by_entries and abs(value - Fraction(printed)) <= OF_ENTRIES)


OF_ENTRIES = Fraction(1, 100)
"""What two digits can move a gap: two entries, each by half a unit."""


def rounds_to(value: Fraction, printed: str) -> bool:
    """Return whether a value is within half a unit of the last printed digit; either way at a tie."""
    digits = len(printed.partition(".")[2])
    return abs(value - Fraction(printed)) <= Fraction(1, 2 * 10**digits) + Fraction(1, 10**12)


# Sentences of evidence, from numbers alone.


def shown(figure: Figure | Draws, digits: int = 4, times: float = 1.0, sign: str = "") -> str:
    """Return a figure, or a mean over calibration sets or networks with its standard error in brackets."""
    if not np.isfinite(figure).all():
        return "infinite"
    if isinstance(figure, float | int):
        return f"{times * figure:{sign}.{digits}f}"
    mean, error = mean_and_error(figure)
    return f"{times * mean:{sign}.{digits}f} ({times * error:.{digits}f})"


def each(shown: Mapping[str, str]) -> str:
    """Return a figure for each case."""
    return "; ".join(f"{figure} ({name})" for name, figure in shown.items())


def in_words(words: Words) -> Words:
    """Return the sentences of several cases."""
    return lambda cases: "; ".join(f"{name}: {words(**of)}" for name, of in cases.items())


def of_readings(words: Words) -> Words:
    """Return the sentences of both readings of class 3."""
    return lambda readings: "; ".join(f"with 8 as a {name}: {words(**of)}" for name, of in readings.items())


def from_to(before: Figure, after: Draws) -> str:
    """Return an error without and with calibration, and in how many networks it falls."""
    said = f"E abs(S - C) from {shown(before)} to {shown(after)}"
    return said if isinstance(before, float) else f"{said}, lower in {count(after, before)}"


def count(one: Draws, other: Draws) -> str:
    """Return in how many networks the one is lower."""
    fewer, more = ways(one, other)
    return f"{fewer} of {len(one)} networks and higher in {more}"


def how_much_is_left(before: Figure, after: Draws) -> str:
    """Return an error without and with calibration, and what share is left."""
    return f"{from_to(before, after)}: {shown(left(before, after), 1, 100)} % is left"


def near_the_diagonal(before: Figure, after: Draws, near: Draws) -> str:
    """Return an error, and the share of predictions that are close to the diagonal."""
    return f"{from_to(before, after)}; {100 * sum(near) / len(near):.0f} % of the predictions are close"


def exchanged(**parts: Mapping[str, Any]) -> str:
    """Return calibration loss and grouping loss without and with calibration."""
    ends = {word: [shown(of[when], 3, 1000) for when in ("before", "after")] for word, of in parts.items()}
    return ", ".join(f"{word} loss {' to '.join(of)}" for word, of in ends.items()) + ", both x 1000"


def extent(counts: Sequence[int]) -> str:
    """Return the lowest and the highest of some numbers."""
    return str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def region_by_region(worse: Draws, better: Draws, regions: int) -> str:
    """Return in how many regions an error rises and falls."""
    return f"of {regions} regions worse in {shown(worse, 1)}, better in {shown(better, 1)}"


def turns(before: Sequence[Draws], after: Sequence[Draws]) -> dict[str, Any]:
    """Return in how many regions the error of each network rises and falls by enough to count."""
    share = np.asarray(after) / np.asarray(before) - 1.0
    return {
        "worse": [float(n) for n in (share > COUNTS).sum(axis=0)],
        "better": [float(n) for n in (share < -COUNTS).sum(axis=0)],
        "regions": len(before),
    }


def compared(one: Draws, other: Draws, first: str, second: str, digits: int = 4) -> str:
    """Return two figures and the difference of pairs."""
    difference = shown(less(one, other), digits, sign="+")
    return f"{shown(one, digits)} ({first}), {shown(other, digits)} ({second}), difference {difference}"


def differences(classes: Mapping[str, Sequence[Draws]]) -> str:
    """Return differences of E|S - C| class by class."""
    return "differences of E abs(S - C) " + each({n: shown(less(*pair), sign="+") for n, pair in classes.items()})


def distances(classes: Mapping[str, Sequence[Draws]]) -> str:
    """Return how far two diagrams are apart, and that before calibration from the second."""
    said = {name: " and ".join(map(shown, pair)) for name, pair in classes.items()}
    return f"the two are apart, and the second from that before calibration, by {each(said)}"


# Claims about networks of three classes have one shape


def on_networks(measure: Callable[[str], Mapping[str, Any]], judge: Judge, say: Words) -> Functions:
    """Return the functions of a claim about networks of three classes, decided where both readings of class 3 say the same."""
    return (
        lambda: {"readings": {reading: dict(measure(reading)) for reading in READINGS}},
        in_both_worlds(judge),
        of_readings(say),
    )


def pair(what: str, one: str, other: str, figure: Callable[[str, str], list[float]]) -> Functions:
    """Return the functions of a claim that one method has a lower figure than another."""
    return on_networks(
        lambda reading: {"one": figure(reading, one), "other": figure(reading, other)},
        lower,
        lambda one, other, names=(one, other): (
            f"{what} {compared(one, other, *names, digits=5)}, lower in {count(one, other)}"
        ),
    )


def over_fits(method: str) -> Functions:
    """Return the functions of the claim that a method does worse than temperature scaling on few rows."""
    return on_networks(
        lambda reading: {
            "before": excess(reading, None),
            "one": excess(reading, method, FEW),
            "other": excess(reading, "temperature", FEW),
        },
        lambda before, one, other: lower(other, one),
        lambda before, one, other: (
            f"log loss above Bayes, {FEW} rows: {compared(one, other, method, 'temperature')}; "
            f"without calibration {shown(before)}"
        ),
    )
