"""The survey's cases of sections 5.2 and 5.4, its calibration sets, and figures over them."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Self

import numpy as np
from scipy.optimize import isotonic_regression
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from calibrant import (
    BetaCalibration,
    DirichletCalibration,
    HistogramBinning,
    IsotonicCalibration,
    PlattScaling,
    TemperatureScaling,
    VectorScaling,
)
from calibrant.datasets import SLOPES, SurveyMixture, make_survey_forecast, survey_network
from studies.claims import (
    CLEAR,
    Claim,
    Verdict,
    above_zero,
    all_of,
    below_zero,
    holds,
    mean_and_error,
    on_several,
    table,
    under_all_readings,
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


@dataclass(frozen=True)
class Case:
    """A forecast of the survey on the grid: mass (n,), posterior and forecast (n,) for two classes, (n, 3) for
    three."""

    name: str
    x: np.ndarray
    mass: np.ndarray
    posterior: np.ndarray
    forecast: np.ndarray
    class_3: str = "variance"

    @property
    def n_classes(self) -> int:
        return 2 if self.forecast.ndim == 1 else self.forecast.shape[1]

    def draw(self, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """A calibration set: forecasts and labels."""
        drawn = make_survey_forecast(rows, model=self.name, n_classes=self.n_classes, class_3=self.class_3, rng=seed)
        return np.asarray(drawn.prob), np.asarray(drawn.y)

    def mean(self, values: np.ndarray) -> float:
        """Expectation."""
        return float(self.mass @ values)


def case(name: str, n_classes: int = 2, class_3: str = "variance", *, refined: int = 1) -> Case:
    """A test case: "under-confident", "over-confident", "mlp" or "bayes-optimal"; ``refined`` times as many points."""
    x, width = grid(refined)
    mixture = SurveyMixture(n_classes, class_3)
    mass = np.exp(mixture.log_density(x)).mean(axis=1) * width
    posterior = mixture.posterior(x)
    if name in SLOPES:
        forecast = 1.0 / (1.0 + np.exp(-SLOPES[name] * x))
    else:
        forecast = posterior if name == "bayes-optimal" else survey_network(n_classes)(x)
    return Case(name, x, mass / mass.sum(), posterior, forecast, class_3)


def grid(refined: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The points, and the width of the cell about each."""
    near = np.linspace(-NEAR, NEAR, round(2 * NEAR / FINE) * refined + 1)
    beyond = np.linspace(NEAR, END, round((END - NEAR) / COARSE) * refined + 1)[1:]
    x = np.concatenate([-beyond[::-1], near, beyond])
    between = np.concatenate([[x[0]], (x[1:] + x[:-1]) / 2.0, [x[-1]]])
    return x, np.diff(between)


def given(value: np.ndarray, target: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """E[target | value] at each point of the grid, for one column of values."""
    cell = (value / CELL).astype(np.int64)
    weight = np.maximum(np.bincount(cell, mass), LEAST)
    return np.asarray((np.bincount(cell, mass * target) / weight)[cell])


@dataclass(frozen=True)
class Errors:
    """What is wrong with a forecast of two classes.

    ``calibration`` is E|S - C| with C = P(event | S); the Brier score of the event is ``brier_calibration`` E(S - C)^2 plus
    ``grouping`` E(C - Q)^2 plus what no forecast can avoid; ``log_excess`` is the log loss above that of Bayes' rule.
    """

    calibration: float
    brier_calibration: float
    grouping: float
    log_excess: float


def errors(case: Case, value: np.ndarray) -> Errors:
    """Errors of a forecast of two classes, given on the grid."""
    truth = given(value, case.posterior, case.mass)
    both = (np.column_stack([1.0 - p, p]) for p in (case.posterior, value))
    return Errors(
        case.mean(np.abs(value - truth)),
        case.mean((value - truth) ** 2),
        case.mean((truth - case.posterior) ** 2),
        case.mean(divergence(*both)),
    )


def divergence(truth: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Kullback and Leibler's divergence of each row, infinite where the value rules out a class that can occur."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(truth > 0, truth * (np.log(truth) - np.log(value)), 0.0)
    return np.asarray(terms.sum(axis=1))


def class_wise(case: Case, value: np.ndarray) -> np.ndarray:
    """|S_j - P(class j | S_j)| at each point of the grid, a column a class."""
    return np.column_stack(
        [np.abs(column - given(column, q, case.mass)) for column, q in zip(value.T, case.posterior.T, strict=True)]
    )


Make = Callable[[], Any]

ROWS, DRAWS = 10_000, 20
"""Rows of a calibration set, as in the survey, and sets that the figures are means over."""


@cache
def the_case(name: str, n_classes: int = 2, class_3: str = "variance") -> Case:
    """Return a case on the grid."""
    return case(name, n_classes, class_3)


@cache
def rows(name: str, n_classes: int, seed: int, class_3: str = "variance") -> tuple[np.ndarray, np.ndarray]:
    """Return a calibration set: predicted probabilities and labels."""
    return the_case(name, n_classes, class_3).draw(ROWS, seed)


def over_draws(measure: Callable[[int], float]) -> list[float]:
    """Return a figure of each calibration set."""
    return [float(measure(seed)) for seed in range(DRAWS)]


def less(one: Sequence[float], other: Sequence[float] | float) -> list[float]:
    """Return differences: of pairs, or from one figure."""
    return [float(d) for d in np.asarray(one) - np.asarray(other)]


def show(values: Sequence[float], digits: int = 4, times: float = 1.0, sign: str = "") -> str:
    """Return a mean over calibration sets with its standard error in brackets."""
    mean, error = mean_and_error(values)
    return f"{times * mean:{sign}.{digits}f} ({times * error:.{digits}f})"


def change(values: Sequence[float], digits: int = 4, times: float = 1.0) -> str:
    """Return a mean difference with its sign."""
    return show(values, digits, times, "+")


# Calibrators of three classes on the survey's network: fits, and exact errors of what they give.


CLASSES = (0, 1, 2)
Region = tuple[float, float]


class RelativeMatrix:
    """Matrix scaling as the survey has it: softmax(W z + b) of z_j = log s_j / s_K, a logistic regression on K - 1
    features."""

    def fit(self, prob: np.ndarray, y: np.ndarray) -> Self:
        self.regression = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(self._features(prob), y)
        return self

    def calibrate(self, prob: np.ndarray) -> np.ndarray:
        return np.asarray(self.regression.predict_proba(self._features(prob)))

    def _features(self, prob: np.ndarray) -> np.ndarray:
        log_prob = np.log(np.maximum(prob, 1e-12))
        return np.asarray(log_prob[:, :-1] - log_prob[:, -1:])


ODIR = "dirichlet, ODIR"
OF_THREE: dict[str, Make] = {
    "temperature": TemperatureScaling,
    "vector": VectorScaling,
    "matrix": lambda: RelativeMatrix(),
    "dirichlet": lambda: DirichletCalibration(diagonal=0.0, off_diagonal=0.0, intercept=0.0),
}
MAKES: dict[str, Make] = {
    **OF_THREE,
    ODIR: lambda: DirichletCalibration(diagonal=0.0, off_diagonal=1e-3, intercept=1e-3),
}


# Fits


@cache
def fitted_three(method: str, seed: int) -> Any:
    return MAKES[method]().fit(*rows("mlp", 3, seed))


@cache
def values_three(method: str, seed: int) -> np.ndarray:
    return np.asarray(fitted_three(method, seed).calibrate(the_case("mlp", 3).forecast))


# Errors


@cache
def _off(method: str | None, seed: int) -> np.ndarray:
    """|S_j - C_j| at each point of the grid, a column a class; without a method, before calibration."""
    of = the_case("mlp", 3)
    return class_wise(of, of.forecast if method is None else values_three(method, seed))


def before_of_class(j: int, region: Region = (0.0, 1.0)) -> float:
    """Mean |S_j - C_j| over the forecasts whose probability of class j is in a region."""
    return _inside(j, region, None, 0)


def of_class(j: int, method: str, region: Region = (0.0, 1.0)) -> list[float]:
    """The same after calibration, over the forecasts that were in the region before it."""
    return over_draws(lambda seed: _inside(j, region, method, seed))


def _inside(j: int, region: Region, method: str | None, seed: int) -> float:
    of = the_case("mlp", 3)
    mass = of.mass * ((of.forecast[:, j] >= region[0]) & (of.forecast[:, j] <= region[1]))
    return float(mass @ _off(method, seed)[:, j] / mass.sum())


def mean_of_classes(method: str) -> list[float]:
    return [float(v) for v in np.mean([of_class(j, method) for j in CLASSES], axis=0)]


def excess_before() -> float:
    """Log loss of the network above that of Bayes' rule."""
    of = the_case("mlp", 3)
    return of.mean(divergence(of.posterior, of.forecast))


@cache
def _excess(method: str, seed: int) -> float:
    of = the_case("mlp", 3)
    return of.mean(divergence(of.posterior, values_three(method, seed)))


def excess(method: str) -> list[float]:
    """Log loss above that of Bayes' rule after calibration."""
    return over_draws(lambda seed: _excess(method, seed))


def of_three_classes() -> str:
    """Errors before and after, for the network of three classes."""
    was = [before_of_class(j) for j in CLASSES]
    body = [["before", *(f"{v:.4f}" for v in was), f"{np.mean(was):.4f}", f"{excess_before():.5f}"]]
    for method in OF_THREE:
        cells = (show(of_class(j, method)) for j in CLASSES)
        body.append([method, *cells, show(mean_of_classes(method)), show(excess(method), 5)])
    return table(["", "E abs(S - C), class 1", "class 2", "class 3", "mean", "log loss above Bayes"], body)


# What is measured for single findings


@cache
def on_few_rows(method: str, few: int) -> list[float]:
    """Log loss above that of Bayes' rule after a fit to few rows of the network's forecasts."""
    of = the_case("mlp", 3)

    def excess_of(seed: int) -> float:
        value = MAKES[method]().fit(*of.draw(few, seed)).calibrate(of.forecast)
        return of.mean(divergence(of.posterior, np.asarray(value)))

    return over_draws(excess_of)


@cache
def added_to_bayes(method: str, class_3: str) -> list[float]:
    """Log loss that a calibrator adds to Bayes' own predictions of three classes."""
    of = the_case("bayes-optimal", 3, class_3)

    def added(seed: int) -> float:
        value = MAKES[method]().fit(*rows("bayes-optimal", 3, seed, class_3)).calibrate(of.forecast)
        return of.mean(divergence(of.posterior, np.asarray(value)))

    return over_draws(added)


# Verdicts on the survey's sentences: functions of numbers that `claims.json` holds.
#
# ``before`` is a figure without calibration and ``after`` has one for each calibration set. Sentences about a neural network
# are decided by several networks only, and those of section 5.4 in both worlds that its text allows.


Draws = Sequence[float]
Judge = Callable[..., Verdict]

WELL, LITTLE = 0.3, 0.75
"""Shares of the error that are left where a method works well, and where it does little."""

CLOSE, SAME = 0.02, 0.01
"""Distances on the diagonal, and of predictions that are almost identical."""

CLEARLY = f"by more than {CLEAR:g} standard errors over the calibration sets"
FALLS = f"E abs(S - C) falls {CLEARLY}"
LEFT_OVER = f"less than {WELL:.0%} of E abs(S - C) is left, {CLEARLY}; in part: it falls {CLEARLY}"


def falls(before: float, after: Draws) -> Verdict:
    """Return whether a figure clearly falls."""
    return below_zero(less(after, before))


def left(before: float, after: Draws) -> list[float]:
    """Return the share of a figure that each calibration set leaves."""
    return [value / before for value in after]


def works_well(before: float, after: Draws) -> Verdict:
    """Return "holds" if clearly little of an error is left, "holds in part" if it falls."""
    little = below_zero(less(left(before, after), WELL))
    if little is not Verdict.FAILS:
        return little
    fell = falls(before, after)
    return Verdict.IN_PART if fell is Verdict.HOLDS else fell


def does_little(before: float, after: Draws) -> Verdict:
    """Return whether clearly most of an error is left."""
    return above_zero(less(left(before, after), LITTLE))


def in_each(judge: Judge) -> Judge:
    """Return a verdict on several cases together."""
    return lambda cases: all_of(judge(**of) for of in cases.values())


def in_both_worlds(judge: Judge) -> Judge:
    """Return what all networks say whichever way class 3 is read; a world without networks decides nothing."""
    return lambda worlds: under_all_readings(on_several(judge)(networks) for networks in worlds.values())


# Single sentences


def few_values(cases: Mapping[str, Sequence[int]], bins: int) -> Verdict:
    """Return whether no case has more values than bins, and the under-confident one always fewer."""
    few = all(max(counts) <= bins for counts in cases.values())
    return Verdict.HOLDS if few and max(cases["under-confident"]) < bins else Verdict.FAILS


def many_values(cases: Mapping[str, Sequence[int]], bins: int) -> Verdict:
    """Return whether every fit has more blocks than there are bins."""
    return Verdict.HOLDS if min(map(min, cases.values())) > bins else Verdict.FAILS


def on_the_diagonal(before: float, after: Draws, near: Draws) -> Verdict:
    """Return whether the error falls and most predictions end up close to the diagonal."""
    return all_of([falls(before, after), above_zero(less(near, 0.5))])


def traded(before: Mapping[str, float], after: Mapping[str, Draws]) -> Verdict:
    """Return whether calibration loss falls and grouping loss rises."""
    return all_of([falls(before["calibration"], after["calibration"]), rises(before["grouping"], after["grouping"])])


def rises(before: float, after: Draws) -> Verdict:
    """Return whether a figure clearly rises."""
    return above_zero(less(after, before))


def full_confidence(zero: float, one: float) -> Verdict:
    """Return whether some fit ends at 0 and some at 1."""
    return Verdict.HOLDS if zero > 0 and one > 0 else Verdict.FAILS


def worse_in_regions(before: Sequence[float], after: Sequence[Draws]) -> Verdict:
    """Return whether two regions or more get clearly worse."""
    worse = sum(rises(b, a) is Verdict.HOLDS for b, a in zip(before, after, strict=True))
    return Verdict.HOLDS if worse >= 2 else Verdict.FAILS


def almost_the_same(apart: Draws) -> Verdict:
    """Return whether two sets of predictions differ by little."""
    return below_zero(less(apart, SAME))


def identity(largest_change: float, tolerance: float) -> Verdict:
    """Return whether a map changes nothing."""
    return Verdict.HOLDS if largest_change <= tolerance else Verdict.FAILS


def capped(highest: Mapping[str, Mapping[str, Any]], low: float, high: float) -> Verdict:
    """Return whether the highest probabilities of class 3 are around 0.8, of Bayes' rule and of every network.

    Judged with 8 as a standard deviation, the reading that the sentence picks.
    """

    def of(bayes: float, networks: Sequence[float]) -> Verdict:
        inside = [low < value < high for value in (bayes, *networks)]
        return Verdict.HOLDS if all(inside) else Verdict.IN_PART if any(inside) else Verdict.FAILS

    return of(**highest["standard deviation"])


def outside(shares: Mapping[str, float], barely: float) -> Verdict:
    """Return whether hardly any prediction lies outside a range, with second numbers as variances."""
    return Verdict.HOLDS if shares["variance"] < barely else Verdict.FAILS


# Printed figures


def as_printed(exact: str | float, printed: str, entries: float | None = None) -> Verdict:
    """Return whether an exact value rounds to the printed figure; in part, whether the table's rounded entries do."""
    if rounds_to(Fraction(exact), printed):
        return Verdict.HOLDS
    return Verdict.IN_PART if entries is not None and rounds_to(Fraction(entries), printed) else Verdict.FAILS


def rounds_to(value: Fraction, printed: str) -> bool:
    """Return whether a value is within half a unit of the last printed digit; either way at a tie."""
    digits = len(printed.partition(".")[2])
    return abs(value - Fraction(printed)) <= Fraction(1, 2 * 10**digits) + Fraction(1, 10**12)


def entries_as_printed(off: Sequence[str], n: int) -> Verdict:
    """Return whether every entry of a table is its exact value, rounded."""
    return Verdict.HOLDS if not off else Verdict.IN_PART if len(off) < n else Verdict.FAILS


# Sentences of evidence on the survey's figures 13 to 20, from numbers alone.


Words = Callable[..., str]


ONLY_FOR_THE_CAP = "three quick networks, only for the cap"
"""What there is of networks of three classes with a standard deviation of 8."""


def spelt(name: str) -> str:
    """Return the name of a case in full."""
    return "neural network" if name == "mlp" else name


def each(shown: Mapping[str, str]) -> str:
    """Return a figure for each case."""
    return "; ".join(f"{figure} ({spelt(name)})" for name, figure in shown.items())


def from_to(before: float, after: Draws) -> str:
    """Return an error without and with calibration."""
    return f"E abs(S - C) from {before:.4f} to {show(after)}"


def from_to_in_each(cases: Mapping[str, Mapping[str, Any]]) -> str:
    """Return an error without and with calibration in each case."""
    return "E abs(S - C) from " + each({n: f"{of['before']:.4f} to {show(of['after'])}" for n, of in cases.items()})


def how_much_is_left(before: float, after: Draws) -> str:
    """Return an error without and with calibration, and what share is left."""
    return f"{from_to(before, after)}: {show(left(before, after), 1, 100)} % is left"


def near_the_diagonal(before: float, after: Draws, near: Draws) -> str:
    """Return an error, and the share of predictions that are close to the diagonal."""
    return f"{from_to(before, after)}; {100 * sum(near) / len(near):.0f} % of the predictions are close"


def in_words(words: Words) -> Words:
    """Return the sentences of several cases."""
    return lambda cases: "; ".join(f"{spelt(name)}: {words(**of)}" for name, of in cases.items())


def of_networks(words: Words) -> Words:
    """Return the sentences of the networks."""

    def of(networks: Sequence[Mapping[str, Any]]) -> str:
        said = "; ".join(words(**one) for one in networks)
        return (
            f"on one network, which does not decide it, {said}"
            if len(networks) == 1
            else f"{len(networks)} networks: {said}"
        )

    return of


def of_worlds(words: Words) -> Words:
    """Return the sentences of the networks of both worlds."""

    def of(worlds: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
        return "; ".join(f"with 8 as a {name}: {seen(networks)}" for name, networks in worlds.items())

    def seen(networks: Sequence[Mapping[str, Any]]) -> str:
        return of_networks(words)(networks) if networks else ONLY_FOR_THE_CAP

    return of


def exchanged(before: Mapping[str, float], after: Mapping[str, Draws]) -> str:
    """Return calibration loss and grouping loss without and with calibration."""
    parts = (f"{word} loss {1000 * before[word]:.3f} to {show(after[word], 3, 1000)}" for word in before)
    return ", ".join(parts) + ", both x 1000"


def extent(counts: Sequence[int]) -> str:
    """Return the lowest and the highest of some numbers."""
    return str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def region_by_region(before: Sequence[float], after: Sequence[Draws]) -> str:
    """Return in how many tenths of [0, 1] an error rises."""
    worse = [
        f"[{k / 10:g}, {(k + 1) / 10:g}]"
        for k, (b, a) in enumerate(zip(before, after, strict=True))
        if rises(b, a) is Verdict.HOLDS
    ]
    return f"worse in {len(worse)} of {len(before)} regions{': ' if worse else ''}{', '.join(worse)}"


def compared(one: Draws, other: Draws, first: str, second: str, digits: int = 4) -> str:
    """Return two figures and the difference of pairs."""
    difference = change(less(one, other), digits)
    return f"{show(one, digits)} ({first}), {show(other, digits)} ({second}), difference {difference}"


# Calibrators of two classes on the survey's test cases: fits, and exact errors of what they give.


LOGISTIC = ("under-confident", "over-confident")
TWO = (*LOGISTIC, "mlp")
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

MOVED = 1e-3
"""From which difference on a forecast counts as moved."""


# Fits


@cache
def fitted(name: str, method: str, seed: int) -> Any:
    """A calibrator, fitted to a calibration set of a case of two classes."""
    return METHODS[method]().fit(*rows(name, 2, seed))


@cache
def values(name: str, method: str, seed: int) -> np.ndarray:
    """Calibrated forecast of two classes on the grid."""
    return np.asarray(fitted(name, method, seed).calibrate(the_case(name).forecast))


# Errors


@cache
def before(name: str) -> Errors:
    return errors(the_case(name), the_case(name).forecast)


@cache
def _after(name: str, method: str, seed: int) -> Errors:
    return errors(the_case(name), values(name, method, seed))


def after(name: str, method: str, what: str = "calibration") -> list[float]:
    """One of the errors of a calibrated forecast."""
    return over_draws(lambda seed: getattr(_after(name, method, seed), what))


@cache
def off(name: str, method: str | None, seed: int = 0) -> np.ndarray:
    """|S - P(event | S)| at each point of the grid; without a method, before calibration."""
    of = the_case(name)
    value = of.forecast if method is None else values(name, method, seed)
    return np.abs(value - given(value, of.posterior, of.mass))


def mass_of(name: str, *regions: Region) -> np.ndarray:
    """Probability of the points whose forecast lies in one of the regions before calibration, 0 elsewhere."""
    of = the_case(name)
    inside = [(of.forecast >= low) & (of.forecast < high) for low, high in regions]
    return np.asarray(of.mass * np.any(inside, axis=0))


def off_inside(name: str, method: str, *regions: Region) -> list[float]:
    """Mean |S - C| after calibration, over the forecasts that were in the regions before it."""
    mass = mass_of(name, *regions)
    return over_draws(lambda seed: mass @ off(name, method, seed) / mass.sum())


def off_where(name: str, method: str, region: Region) -> list[float]:
    """Mean |S - C| after calibration, over the predictions that are in the region after it."""

    def measure(seed: int) -> float:
        value = values(name, method, seed)
        mass = the_case(name).mass * ((value >= region[0]) & (value < region[1]))
        return float(mass @ off(name, method, seed) / mass.sum())

    return over_draws(measure)


def off_before(name: str, *regions: Region) -> float:
    mass = mass_of(name, *regions)
    return float(mass @ off(name, None) / mass.sum())


def close_to_diagonal(name: str, method: str, border: float) -> list[float]:
    """Probability of a forecast with |S - C| below a border after calibration."""
    mass = the_case(name).mass
    return over_draws(lambda seed: mass @ (off(name, method, seed) < border))


def of_two(methods: list[str]) -> str:
    """Errors before and after, for the three cases."""
    body = []
    for name in TWO:
        was = before(name)
        was_shown = [was.calibration, 1000 * was.brier_calibration, 1000 * was.grouping]
        body.append([f"{spelt(name)}, before", *_cells(was_shown), f"{was.log_excess:.5f}"])
        for method in methods:
            excess = after(name, method, "log_excess")
            calibration, grouped = after(name, method, "brier_calibration"), after(name, method, "grouping")
            body.append(
                [
                    f"... {method}",
                    show(after(name, method)),
                    show(calibration, 3, 1000),
                    show(grouped, 3, 1000),
                    show(excess, 5) if np.isfinite(excess).all() else "infinite",
                ]
            )
    head = ["", "E abs(S - C)", "calibration loss x 1000", "grouping loss x 1000", "log loss above Bayes"]
    return table(head, body)


def _cells(figures: list[float]) -> list[str]:
    return [f"{figure:.{digits}f}" for figure, digits in zip(figures, (4, 3, 3), strict=True)]


# What is measured for single findings


@dataclass(frozen=True)
class Monotone:
    """The best monotone map of the network's forecast: the grouping loss that it adds, and the share of forecasts that it
    moves from the probability of the event given them."""

    grouping: float
    moved: float


@cache
def best_monotone() -> Monotone:
    """Pool the reliability diagram of the network, known exactly, until it does not fall."""
    of = case("mlp", refined=2)  # where branches meet, the diagram needs more points than a sum over it
    cell = (of.forecast / CELL).astype(np.int64)
    mass = np.bincount(cell, of.mass)
    event = np.bincount(cell, of.mass * of.posterior)
    seen = mass > 0
    truth, mass = event[seen] / mass[seen], mass[seen]
    best = isotonic_regression(truth, weights=mass).x
    # A pool gives its mean, and is calibrated: what it loses is grouping.
    return Monotone(float(mass @ (truth - best) ** 2), float(mass @ (np.abs(truth - best) > MOVED)))


def best_case_added(name: str, make: Make) -> list[float]:
    """Log loss that a calibrator adds to Bayes' own forecast."""
    of = the_case(name)

    def added(seed: int) -> float:
        value = make().fit(*rows(name, 2, seed)).calibrate(of.forecast)
        return errors(of, np.asarray(value)).log_excess

    return over_draws(added)


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a fit, and the peak of NumPy's arrays in it beyond what was held before, in MB."""

    seconds: float
    megabytes: float


def cost(make: Make, rows: int) -> Cost:
    """Cost of a fit to the network's forecasts."""
    prob, y = the_case("mlp").draw(rows, 0)
    make().fit(prob[:1000], y[:1000])
    seconds = []
    for _ in range(3):
        start = time.process_time()
        make().fit(prob, y)
        seconds.append(time.process_time() - start)
    tracemalloc.start()
    make().fit(prob, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Cost(float(np.median(seconds)), peak / 1e6)


# How exact the figures of docs/survey-calibrators.md are: the same on a grid of twice as many points.


LAST_DIGIT = {"calibration": 1e-4, "brier_calibration": 1e-6, "grouping": 1e-6, "log_excess": 1e-5}
"""Of each figure as the tables show it; the class-wise errors have that of ``calibration``."""


def largest_change() -> float:
    """Largest change of a figure of the network, before calibration and after each calibrator, in its last digits shown."""
    moved = []
    for figures in (_of_two, _of_three):
        coarse, fine = figures(refined=False), figures(refined=True)
        moved.append(np.abs(coarse - fine)[np.isfinite(coarse)].max())
    return float(max(moved))


def _of_two(refined: bool) -> np.ndarray:
    of = _case(2, refined)
    forecasts = [of.forecast, *(np.asarray(fitted("mlp", method, 0).calibrate(of.forecast)) for method in METHODS)]
    found = [errors(of, value) for value in forecasts]
    return np.array([[getattr(e, what) / digit for what, digit in LAST_DIGIT.items()] for e in found])


def _of_three(refined: bool) -> np.ndarray:
    of = _case(3, refined)
    forecasts = [of.forecast, *(np.asarray(fitted_three(m, 0).calibrate(of.forecast)) for m in OF_THREE)]
    return np.array([of.mass @ class_wise(of, value) / LAST_DIGIT["calibration"] for value in forecasts])


def _case(n_classes: int, refined: bool) -> Case:
    return case("mlp", n_classes, refined=2) if refined else the_case("mlp", n_classes)


# What is measured of a calibrator of two classes on each calibration set.


def errors_by_measure(name: str, method: str) -> dict[str, Any]:
    """Return E|S - C| before and after."""
    return {"before": before(name).calibration, "after": after(name, method)}


def near(name: str, method: str) -> dict[str, Any]:
    """Return the same, and the share of predictions close to the diagonal."""
    return errors_by_measure(name, method) | {"near": close_to_diagonal(name, method, CLOSE)}


def parts(name: str, method: str) -> dict[str, Any]:
    """Return calibration loss and grouping loss."""
    of = before(name)
    return {
        "before": {"calibration": of.brier_calibration, "grouping": of.grouping},
        "after": {"calibration": after(name, method, "brier_calibration"), "grouping": after(name, method, "grouping")},
    }


def grouped(name: str, method: str) -> dict[str, Any]:
    """Return grouping loss before and after."""
    return {"before": before(name).grouping, "after": after(name, method, "grouping")}


def logistic(measure: Any, method: str) -> Any:
    """Return a measure of both logistic cases."""
    return lambda: {"cases": {name: measure(name, method) for name in LOGISTIC}}


def network(measure: Any, method: str) -> Any:
    """Return a measure of the one network there is."""
    return lambda: {"networks": [measure("mlp", method)]}


# A few networks of three classes, trained as section 5.4 says, in both worlds that its text allows.


SEEDS = (0, 1, 2)
"""Training sets. Sentences about networks will need more: these serve the highest probability of class 3 alone."""

TRAINED = 10_000
"""Rows to train on, as in the survey."""


def highest_of_class_3(class_3: str) -> dict[str, float | list[float]]:
    """Return the highest probability of class 3: of Bayes' rule, and of a network for each training set."""
    x, mixture = np.linspace(-260.0, 260.0, 52_001), SurveyMixture(3, class_3)
    networks = []
    for seed in SEEDS:
        feature, y = mixture.sample(TRAINED, rng=seed)
        network = MLPClassifier((128, 128), random_state=seed).fit(feature[:, None], y)
        networks.append(float(network.predict_proba(x[:, None])[:, 2].max()))
    return {"bayes": float(mixture.posterior(x)[:, 2].max()), "networks": networks}


# Claims about networks of three classes: one network, trained on one of two readings.


WORLDS = ("variance", "standard deviation")
NEAR_DIAGRAMS = 0.005
"""Reliability diagrams are close where E|S - C| of each class differs by less."""

FEW = 200
"""Rows of a small calibration set."""

SEVERAL = "for every one of several networks, with 8 as a variance and as a standard deviation"


OUR_VECTOR = (
    "Vector scaling is fitted to log-probabilities here, while the survey's logit has the last class for reference"
)
ON_TEN = "Measured elsewhere, not by this command, on ten networks with 8 as a standard deviation:"


def in_worlds(measure: Callable[[], Mapping[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Return a measure of the embedded network, trained with a variance of 8; of the other world it serves none."""
    return lambda: {"worlds": {"variance": [dict(measure())], "standard deviation": []}}


def on_the_network(
    key: str, where: str, sentence: str, target: str, measure: Callable[[], Mapping[str, Any]], judge: Judge,
    say: Words, note: str = "",
) -> Claim:  # fmt: skip
    """Return a claim about networks of three classes, undecided until there are several in both worlds."""
    return Claim(
        key=key,
        where=where,
        sentence=sentence,
        target=f"{target}, {SEVERAL}",
        says=Verdict.OPEN,
        measure=in_worlds(measure),
        judge=in_both_worlds(judge),
        words=_noted(of_worlds(say), note),
    )


def _noted(say: Words, note: str) -> Words:
    """Return a sentence with a note after it."""
    return lambda **numbers: f"{say(**numbers)}. {note}" if note else say(**numbers)


def pair(
    key: str, where: str, sentence: str, what: str, one: str, other: str, figure: Callable[[str], list[float]],
    note: str = "",
) -> Claim:  # fmt: skip
    """Return a claim that one method has a lower figure than another."""
    return on_the_network(
        key,
        where,
        sentence,
        f"{what} is lower after {one} than after {other}, {CLEARLY}",
        lambda: {"one": figure(one), "other": figure(other)},
        lower,
        lambda one, other, names=(one, other): f"{what} {compared(one, other, *names, digits=5)}",
        note,
    )


def lower(one: Draws, other: Draws) -> Verdict:
    """Return whether the one is clearly lower."""
    return below_zero(less(one, other))


def class_by_class(one: str, other: str, classes: Sequence[int] = CLASSES) -> Callable[[], dict[str, Any]]:
    """Return E|S - C| of classes after each of two methods."""
    return lambda: {"classes": {f"class {j + 1}": [of_class(j, one), of_class(j, other)] for j in classes}}


def near_in_each(classes: Mapping[str, Sequence[Draws]]) -> Verdict:
    """Return whether two methods differ by little in each class."""
    return holds(all(abs(mean_and_error(less(one, other))[0]) < NEAR_DIAGRAMS for one, other in classes.values()))


def lower_in_each(classes: Mapping[str, Sequence[Draws]]) -> Verdict:
    """Return whether the one method has a lower error in each class."""
    return all_of(lower(one, other) for one, other in classes.values())


def differences(classes: Mapping[str, Sequence[Draws]]) -> str:
    """Return differences of E|S - C| class by class."""
    return "differences of E abs(S - C) " + "; ".join(
        f"{change(less(one, other))} ({name})" for name, (one, other) in classes.items()
    )


def over_fits(key: str, where: str, sentence: str, method: str) -> Claim:
    """Return the claim that a method does worse than temperature scaling on few rows."""
    return on_the_network(
        key,
        where,
        sentence,
        f"fitted to {FEW} rows it is worse than temperature scaling, {CLEARLY}",
        lambda: {"one": on_few_rows(method, FEW), "other": on_few_rows("temperature", FEW)},
        lambda one, other: lower(other, one),
        lambda one, other: (
            f"log loss above Bayes, {FEW} rows: {compared(one, other, method, 'temperature')}; "
            f"without calibration {excess_before():.4f}"
        ),
    )
