"""Forecasts of the simulation study of test-based calibration error: those of its authors, and drawn anew.

The study (Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023, section 4.1) draws a
label and then one normal feature whose mean depends on it, and fits a logistic regression. Labels of the training rows, labels
of the test rows, features of the training rows, features of the test rows: in this order they come from one stream.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import t as student

from calibrant import (
    EqualMass,
    bin_test_calibration_error,
    calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from calibrant.binning import Binning, Bins, BoundedIsotonic, Isotonic
from calibrant.metrics import calibration_in_the_large
from calibrant.notions import BinaryProblem
from studies.claims import data_dir, table
from studies.tce.imagenet import PRINTED

N_TRAIN, N_TEST = 14_000, 6_000
HALF_DISTANCE, SCALE = 0.5, 2.0
"""The text says that the mean is 2y - 1; the code that made the tables draws 0.5 (2y - 1)."""

SLOPE = 2.0 * HALF_DISTANCE / SCALE**2
"""Coefficient of the feature in the log-odds; the text says 4."""

CASES: dict[str, tuple[float, float]] = {
    case: (int(case[:2]) / 100, int(case[3:]) / 100)
    for case in ("50-50", "50-40", "50-60", "01-01", "01-00", "01-02", "02-02", "02-00")
}
"""Prevalence of the training and of the test rows, by the name that the stored predictions have."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """Test rows: labels, probabilities and the feature, each of shape (n,)."""

    y: np.ndarray
    prob: np.ndarray
    x: np.ndarray


@dataclass(frozen=True, eq=False)
class Draw:
    """Features and labels of training and test rows."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    state: dict[str, Any]

    @cached_property
    def forecast(self) -> Forecast:
        """What the regression says of the test rows."""
        slope, intercept = fitted(self.x_train, self.y_train)
        return Forecast(self.y_test, expit(slope * self.x_test + intercept), self.x_test)

    def perturbed(self, scale: float, number: int) -> Forecast:
        """The forecast with normal noise in the log-odds, drawn after ``number`` other noises of all test rows."""
        of, n = self.forecast, self.y_test.size
        noise = self.stream().standard_normal((number + 1, n))[number]
        return Forecast(of.y, expit(logit(of.prob) + scale * noise), of.x)

    def stream(self) -> np.random.RandomState:
        """The stream that the data came from, where it was left."""
        stream = np.random.RandomState()
        stream.set_state(self.state)
        return stream


@cache
def _stored() -> Mapping[str, np.ndarray]:
    with np.load(data_dir() / "tce_simulation.npz") as data:
        return dict(data)


def stored(case: str) -> Forecast:
    """The predictions that the published code makes with the scikit-learn of its time: the tables come from these."""
    data = _stored()
    return Forecast(data[f"{case}_y"].astype(np.int64), data[f"{case}_p"], data[f"{case}_x"])


def draw(train: float, test: float, *, n_train: int = N_TRAIN, n_test: int = N_TEST, seed: int = 0) -> Draw:
    """Draw both data sets; with seed 0 they are those of the study."""
    # RandomState, the old stream, gives what the published code takes from the global one.
    stream = np.random.RandomState(seed)
    labels = [stream.binomial(1, prevalence, n) for prevalence, n in ((train, n_train), (test, n_test))]
    features = [HALF_DISTANCE * (2 * y - 1) + SCALE * stream.standard_normal(y.size) for y in labels]
    return Draw(features[0], labels[0], features[1], labels[1], stream.get_state(legacy=False))


def fitted(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and intercept of a logistic regression, with half the square of the slope as a penalty.

    It is the default of scikit-learn 1.2, which made the tables. It scales the loss otherwise than newer versions, so that
    the same tolerance stops elsewhere, 1e-6 away in probabilities: enough to move a rejection.
    """

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        eta = w[0] * x + w[1]
        residual = expit(eta) - y
        value = (np.logaddexp(0.0, eta) - y * eta).sum() + 0.5 * w[0] ** 2
        return float(value), np.array([residual @ x + w[0], residual.sum()])

    slope, intercept = minimize(loss, np.zeros(2), method="L-BFGS-B", jac=True, options={"gtol": 1e-4}).x
    return float(slope), float(intercept)


def draws(case: str, seeds: int, **sizes: int) -> Iterator[Draw]:
    """The data sets of a case, one a seed."""
    return (draw(*CASES[case], seed=seed, **sizes) for seed in range(seeds))


def true_probability(x: np.ndarray, prevalence: float) -> np.ndarray:
    """Probability of the event given the feature, where its prevalence is between 0 and 1."""
    return np.asarray(expit(logit(prevalence) + SLOPE * x))


# A cell of the simulation study of test-based calibration error: its setting, and its metric as published and as here.


@dataclass(frozen=True)
class Setting:
    """One line of a table: the data, the bins and the level."""

    train: float
    test: float
    n_test: int = N_TEST
    sizes: tuple[int, int] | None = None
    n_bins: int = 10
    level: float = 0.05
    noise: tuple[float, int] = (0.0, 0)
    """Scale of the noise in the log-odds, and how many noises were drawn before it."""

    def forecast(self, seed: int) -> Forecast:
        """The forecast of a seed; with seed 0 that of the study."""
        drawn = _drawn(self.train, self.test, self.n_test, seed)
        return drawn.perturbed(*self.noise) if self.noise[0] else drawn.forecast

    @property
    def bounded(self) -> BoundedIsotonic:
        """PAVA-BC of Algorithm 2."""
        return BoundedIsotonic(*(self.sizes or (self.n_test // 20, self.n_test // 5)))

    @property
    def joined(self) -> BoundedIsotonic:
        """PAVA-BC of the authors' code: a last bin that joins the one before is not held to the largest size."""
        return replace(self.bounded, ending="joined")


@lru_cache(maxsize=32)
def _drawn(train: float, test: float, n_test: int, seed: int) -> Draw:
    return draw(train, test, n_train=n_test * 7 // 3, n_test=n_test, seed=seed)


Metric = Callable[[Setting, Forecast], float]
Cut = Callable[[Setting], Binning | int]


@dataclass(frozen=True)
class TruncatedMass(Binning):
    """Bins of equal mass as the authors' code cuts them: products that are a rounding error below a whole number go down."""

    n_bins: int

    def edges(self, problem: BinaryProblem) -> np.ndarray:
        """Return the scores at the places where that code cuts."""
        places = (np.linspace(0.0, 1.0, self.n_bins + 1) * problem.size).astype(int)
        return np.concatenate([[0.0], np.sort(problem.score)[places[1:-1] - 1], [1.0]])


@dataclass(frozen=True)
class VarianceT:
    """Percentage of predictions that the t-test of the authors' code rejects: it divides by the variance. A loss."""

    level: float
    power: float = 1.0
    """One half makes the variance the standard deviation."""

    def __call__(self, problem: BinaryProblem, bins: Bins) -> np.ndarray:
        """Return the percentage of each bin."""
        rows, at = np.maximum(bins.weight, 1.0), bins.index(problem.score)
        rate = bins.event_rate
        with np.errstate(invalid="ignore"):
            reach = student.isf(self.level / 2.0, rows - 1.0) * (rate * (1.0 - rate)) ** self.power / np.sqrt(rows)
        # Where outcomes are all alike that code rejects even a prediction that is exactly right.
        rejects = (np.abs(problem.score - rate[at]) >= reach[at]) | (rate[at] == 0.0) | (rate[at] == 1.0)
        return np.asarray(100.0 * np.bincount(at, rejects, len(bins)) / rows)


def _tested(binning: Cut, test: Any = "binomial") -> Metric:
    def of(s: Setting, f: Forecast) -> float:
        return bin_test_calibration_error(f.y, f.prob, binning=binning(s), test=test, level=s.level, labels=[0, 1])

    return of


def _variance_t(binning: Cut) -> Metric:
    return lambda s, f: calibration_error(f.y, f.prob, binning=binning(s), loss=VarianceT(s.level), labels=[0, 1])


BINNING: dict[str, Cut] = {
    "TCE(P)": lambda s: s.bounded,
    "TCE(Q)": lambda s: EqualMass(s.n_bins),
    "TCE(V)": lambda s: Isotonic(),
}
THEIRS: dict[str, Cut] = {**BINNING, "TCE(P)": lambda s: s.joined, "TCE(Q)": lambda s: TruncatedMass(s.n_bins)}


def _gap(metric: Callable[..., float], binning: Cut) -> Metric:
    return lambda s, f: metric(f.y, f.prob, binning=binning(s), labels=[0, 1])


def metrics_over(cuts: dict[str, Cut], t: Callable[[Cut], Metric]) -> dict[str, Metric]:
    """Metrics by the names that the tables give them; -B is the binomial test, -T the t-test."""
    mass = cuts["TCE(Q)"]
    return {
        **{name: _tested(cut) for name, cut in cuts.items()},
        "ECE": _gap(expected_calibration_error, lambda s: s.n_bins),
        "ACE": _gap(expected_calibration_error, mass),
        "MCE": _gap(maximum_calibration_error, lambda s: s.n_bins),
        "MCE(Q)": _gap(maximum_calibration_error, mass),
        **{f"{name}-B": _tested(cut) for name, cut in cuts.items()},
        **{f"{name}-T": t(cut) for name, cut in cuts.items()},
    }


def _t(cut: Cut) -> Metric:
    return _tested(cut, "t")


PUBLISHED = metrics_over(THEIRS, _variance_t)
"""What the authors' code computes."""

OURS = metrics_over(BINNING, _t)
"""What the library computes: Algorithm 2, bins that are equal but for one row, and the t-test."""

WITH_OURS: dict[str, dict[str, Metric]] = {
    "Equal mass: the place of a cut is a product, and one that rounding puts just below a whole number is cut a row early": (
        metrics_over({**THEIRS, "TCE(Q)": BINNING["TCE(Q)"]}, _variance_t)
    ),
    "PAVA-BC: the last block joins the one before where twice N_min is at most N_max, whatever the two hold": metrics_over(
        {**THEIRS, "TCE(P)": BINNING["TCE(P)"]}, _variance_t
    ),
    "t-test: the variance stands where the standard deviation belongs": metrics_over(THEIRS, _t),
}
"""What that code computes but for one convention, in which it is as the library."""


# The tables of the simulation study of test-based calibration error: their lines, and what each of them is.


CALIBRATED, MISCALIBRATED = (0.5, 0.5), (0.5, 0.4)
"""Prevalences of the training and the test rows where the study speaks of a calibrated and of a miscalibrated model."""


SEVEN = ("TCE(P)", "TCE(Q)", "TCE(V)", "ECE", "ACE", "MCE", "MCE(Q)")
TESTS = ("TCE(P)-B", "TCE(P)-T", "TCE(Q)-B", "TCE(Q)-T", "TCE(V)-B", "TCE(V)-T")

N_BINS = (1000, 500, 100, 50, 10, 5, 1)
PAIRS = ((6, 24), (30, 120), (60, 240), (300, 1200), (600, 2400))
NOISES = (0.0, 0.01, 0.05, 0.1, 0.5, 1.0)
LEVELS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5)
SIZES = (30, 60, 300, 600, 3000, 6000, 30_000, 60_000)
PREVALENCES = (0.5, 0.4, 0.3, 0.2, 0.1, 0.08, 0.06, 0.04, 0.02)


@dataclass(frozen=True)
class Table:
    """A table of the study: a word for its lines, and for each line its name, its setting and its metrics."""

    what: str
    word: str
    lines: tuple[tuple[str, Setting], ...]
    metrics: tuple[str, ...] = SEVEN


def both(
    word: Callable[[Any], str], make: Callable[[tuple[float, float]], Sequence[tuple[Any, Setting]]]
) -> tuple[tuple[str, Setting], ...]:
    """Lines of the calibrated and of the miscalibrated model."""
    return tuple(
        (f"{_percent(*of)}, {word(key)}", setting) for of in (CALIBRATED, MISCALIBRATED) for key, setting in make(of)
    )


def _percent(train: float, test: float) -> str:
    return f"{100 * train:g} % - {100 * test:g} %"


def with_sizes(
    word: str, sizes: Sequence[int], pair: Callable[[int], tuple[int, int]]
) -> tuple[tuple[str, Setting], ...]:
    """Lines of the least or the largest size of a bin."""
    return both(
        lambda size: f"{word} {size}",
        lambda of: [(size, Setting(*of, sizes=pair(size), n_bins=n)) for size, n in zip(sizes, N_BINS, strict=True)],
    )


SMALLEST = with_sizes("N_min", (1, 6, 30, 60, 300, 600, 3000), lambda least: (least, N_TEST))
LARGEST = with_sizes("N_max", (6, 30, 60, 300, 600, 3000, 6000), lambda most: (1, most))
OF_PAIRS = both(
    lambda pair: f"{pair[0]} to {pair[1]}",
    lambda of: [(pair, Setting(*of, sizes=pair, n_bins=N_TEST // (2 * pair[0]))) for pair in PAIRS],
)

TABLES: dict[int, Table] = {
    2: Table(
        "Table 2: three test sets at either prevalence",
        "training - test prevalence",
        tuple(
            (_percent(train, test), Setting(train, test))
            for train, tests in ((0.5, (0.5, 0.4, 0.6)), (0.01, (0.01, 0.0, 0.02)))
            for test in tests
        ),
        ("TCE(P)", "TCE(Q)", "ECE", "ACE"),
    ),
    6: Table("Table 6: the smallest bin", "N_min", SMALLEST),
    7: Table("Table 7: the largest bin", "N_max", LARGEST),
    8: Table("Table 8: both sizes", "N_min to N_max", OF_PAIRS),
    9: Table(
        "Table 9: noise in the log-odds",
        "standard deviation",
        both(
            lambda scale: f"noise {scale:g}",
            lambda of: [(scale, Setting(*of, noise=(scale, k))) for k, scale in enumerate(NOISES)],
        ),
    ),
    10: Table(
        "Table 10: the level",
        "level",
        both(lambda level: f"level {level:g}", lambda of: [(level, Setting(*of, level=level)) for level in LEVELS]),
    ),
    11: Table("Table 11: the test", "N_min to N_max", OF_PAIRS, TESTS),
    12: Table(
        "Table 12: the number of test rows",
        "test rows",
        both(lambda n: f"N {n}", lambda of: [(n, Setting(*of, n_test=n)) for n in SIZES]),
    ),
    13: Table(
        "Table 13: the prevalence",
        "training - test prevalence",
        tuple(
            (_percent(train, test), Setting(train, test))
            for shift in (0, 1)
            for train, test in zip(PREVALENCES, (*PREVALENCES, 0.0)[shift:], strict=False)
        ),
    ),
}


# The simulation study of test-based calibration error with many draws of its data: what is noise in its tables.


SEEDS = 100
FEW_SEEDS = 25
"""Of test sets that are large."""

LARGE = 10_000
"""Rows from which on a test set is large."""

SHOWN: dict[int, tuple[str, ...]] = {
    2: ("TCE(P)", "TCE(Q)", "ECE", "ACE"),
    6: ("TCE(P)", "TCE(Q)", "ECE", "ACE", "MCE(Q)"),
    7: ("TCE(P)",),
    8: ("TCE(P)",),
    9: SEVEN,
    10: ("TCE(P)", "TCE(Q)", "TCE(V)"),
    11: TESTS,
    **dict.fromkeys((12, 13), ("TCE(P)", "TCE(Q)", "TCE(V)", "ECE", "ACE")),
}
"""Metrics of each table that are drawn anew: those of Tables 7, 8 and 10 that are left out stand in Table 6 and 13."""


@cache
def _all_drawn() -> dict[int, list[list[np.ndarray]]]:
    """The metrics of each line of each table, a row a seed. Seeds run outermost: lines of one seed share their data."""
    found: dict[int, list[list[np.ndarray]]] = {number: [[] for _ in TABLES[number].lines] for number in SHOWN}
    for seed in range(SEEDS):
        for number, names in SHOWN.items():
            for i, (_, setting) in enumerate(TABLES[number].lines):
                if seed < seeds_of(setting):
                    forecast = setting.forecast(seed)
                    found[number][i].append(np.array([OURS[name](setting, forecast) for name in names]))
    return found


def seeds_of(setting: Setting) -> int:
    """How many draws there are of a setting."""
    return SEEDS if setting.n_test < LARGE else FEW_SEEDS


def drawn(number: int, line: int, metric: str) -> np.ndarray:
    """A metric of a line of a table, one a seed."""
    return np.array([row[SHOWN[number].index(metric)] for row in _all_drawn()[number][line]])


def seeds_table(number: int) -> str:
    """Mean and 90 % interval of each cell."""
    of, names = TABLES[number], SHOWN[number]
    body = [[name, *(summary(drawn(number, i, metric)) for metric in names)] for i, (name, _) in enumerate(of.lines)]
    return table([of.word, *names], body)


def summary(values: np.ndarray) -> str:
    """Mean and 90 % interval, with the digits that fractions or percentages need."""
    low, high = np.quantile(values, [0.05, 0.95])
    digits = 4 if high <= 1.0 and values.max() <= 1.0 and values.mean() < 0.9 else 1
    return f"{values.mean():.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


# What the test-based calibration error is of a forecast that is exactly calibrated: the true probabilities.


PREVALENCES_NULL = (0.5, 0.1, 0.01)
SIZES_NULL = (1000, 6000, 30_000)
FEW_SEEDS_NULL = 40
BINNINGS = {"TCE(P)": BoundedIsotonic(), "TCE(Q)": EqualMass(10), "TCE(V)": Isotonic()}
TESTS_NULL = ("binomial", "mid-p", "clopper-pearson", "t")


def truth(prevalence: float, n: int, seed: int) -> Forecast:
    """Test rows of the study with their true probabilities."""
    drawn = draw(prevalence, prevalence, n_train=0, n_test=n, seed=seed)
    return Forecast(drawn.y_test, true_probability(drawn.x_test, prevalence), drawn.x_test)


def tce(of: Forecast, binning: str, test: Any = "binomial") -> float:
    """TCE of a forecast over named bins."""
    return bin_test_calibration_error(of.y, of.prob, binning=BINNINGS[binning], test=test, labels=[0, 1])


@cache
def at_prevalence(prevalence: float) -> dict[tuple[str, str], np.ndarray]:
    """TCE of true probabilities of 6000 rows by (binning, test), one a seed."""
    drawn = [truth(prevalence, 6000, seed) for seed in range(SEEDS)]
    return {(name, test): np.array([tce(of, name, test) for of in drawn]) for name in BINNINGS for test in TESTS_NULL}


@cache
def at_size(n: int) -> dict[str, np.ndarray]:
    """TCE of true probabilities by binning at a prevalence of one half, one a seed."""
    drawn = [truth(0.5, n, seed) for seed in range(FEW_SEEDS_NULL)]
    return {name: np.array([tce(of, name) for of in drawn]) for name in BINNINGS}


def test_table() -> str:
    """The four tests side by side."""
    body = [
        [f"{100 * prevalence:g} %", name, *(summary(at_prevalence(prevalence)[name, test]) for test in TESTS_NULL)]
        for prevalence in PREVALENCES_NULL
        for name in BINNINGS
    ]
    return table(["prevalence", "", *TESTS_NULL], body)


def size_table() -> str:
    """The same forecast with more rows."""
    body = [[f"{n:,}", *(summary(at_size(n)[name]) for name in BINNINGS)] for n in SIZES_NULL]
    return table(["rows", *BINNINGS], body)


# The tables of the simulation study: the printed figure beside the one computed here.


STORED = {prevalences: case for case, prevalences in CASES.items()}
"""The predictions that are stored, by prevalence of the training and of the test rows."""


def forecast_of(setting: Setting) -> Forecast:
    """The stored predictions where there are some, else those that the generator makes with the seed of the study."""
    case = STORED.get((setting.train, setting.test))
    is_stored = case is not None and setting.n_test == N_TEST and not setting.noise[0]
    return stored(case) if case is not None and is_stored else setting.forecast(0)


@cache
def cells(number: int, without: str = "") -> np.ndarray:
    """All cells of a table as the published code computes them, or without one of its conventions, (n_lines, n_metrics)."""
    how = WITH_OURS[without] if without else PUBLISHED
    return np.array([_line(setting, TABLES[number].metrics, how) for _, setting in TABLES[number].lines])


def _line(setting: Setting, names: Sequence[str], how: dict[str, Metric]) -> list[float]:
    forecast = forecast_of(setting)
    return [how[name](setting, forecast) for name in names]


def compared(number: int, without: str = "") -> Iterator[tuple[int, int, str, str]]:
    """Line, metric, printed and computed of all cells of a table, with as many digits as are printed."""
    computed = cells(number, without)
    for i, line in enumerate(PRINTED[number]):
        for j, printed in enumerate(line):
            yield i, j, printed, f"{computed[i, j]:.{len(printed.split('.')[1])}f}"


def agreeing(without: str = "") -> tuple[int, int]:
    """How many cells come out as printed, and how many there are."""
    pairs = [(printed, computed) for number in TABLES for _, _, printed, computed in compared(number, without)]
    return sum(printed == computed for printed, computed in pairs), len(pairs)


def side_by_side(number: int) -> str:
    """Printed and computed in each cell; bold where they differ."""
    of = TABLES[number]
    body = [[name, *([""] * len(of.metrics))] for name, _ in of.lines]
    for i, j, printed, computed in compared(number):
        body[i][j + 1] = f"{printed} / {computed}" if printed == computed else f"**{printed} / {computed}**"
    return table([of.word, *of.metrics], body)


def check() -> None:
    """Stop if the authors' own predictions do not give what they print in Table 2."""
    wrong = [f"{printed} is printed, {found} found" for _, _, printed, found in compared(2) if printed != found]
    if wrong:
        sys.exit(f"Table 2 must come out of the stored predictions; {'; '.join(wrong)}")


def generator_error() -> float:
    """Largest difference of the stored predictions and those of the generator."""
    return max(float(np.abs(draw(*CASES[case]).forecast.prob - stored(case).prob).max()) for case in CASES)


def convention_table() -> str:
    """What becomes of the cells where the published code and the library part."""
    body = []
    for without in WITH_OURS:
        moved = [
            (abs(float(found) - float(printed)), number, of.metrics[j], of.lines[i][0], printed, found)
            for number, of in TABLES.items()
            for i, j, printed, found in compared(number, without)
            if printed != found
        ]
        numbers = ", ".join(map(str, sorted({of[1] for of in moved}))) or "none"
        most = "" if not moved else "{5} for {4} ({2}, {3})".format(*max(moved))
        body.append([without, f"{len(moved)}", numbers, most])
    return table(["in the published code", "cells that move", "of tables", "at most"], body)


def t_tests() -> list[list[str]]:
    """Three t-tests and the binomial test of the calibrated model, over the three binnings."""
    setting = Setting(0.5, 0.5)
    of = forecast_of(setting)
    words = ("binomial", "t, as published", "t, with the root of it", "t, of the library")
    found: dict[str, dict[str, float]] = {word: {} for word in words}
    for name, cut in BINNING.items():
        how: dict[str, Any] = {"binning": cut(setting), "labels": [0, 1]}
        found["binomial"][name] = bin_test_calibration_error(of.y, of.prob, **how)
        found["t, of the library"][name] = bin_test_calibration_error(of.y, of.prob, test="t", **how)
        for word, power in (("t, as published", 1.0), ("t, with the root of it", 0.5)):
            found[word][name] = calibration_error(of.y, of.prob, loss=VarianceT(0.05, power), **how)
    return [[word, *(f"{value:.2f}" for value in values.values())] for word, values in found.items()]


def t_table() -> str:
    """The same as a table."""
    return table(["50 % - 50 %", *BINNING], t_tests())


# Monitoring: prevalence drifts while the forecast stays calibrated, or stays as wrong as it was in log-odds.


ROWS, SEEDS_MONITORING = 6000, 60
PREVALENCES_MONITORING = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)

FORECASTS = {"calibrated": 0.0, "shifted": 0.5}
"""How much too high the log-odds are."""

METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "TCE(P)": partial(bin_test_calibration_error, binning=BoundedIsotonic(), labels=[0, 1]),
    "ECE": partial(expected_calibration_error, binning=10, labels=[0, 1]),
    "in the large": partial(calibration_in_the_large, labels=[0, 1]),
}


@cache
def at(prevalence: float, forecast: str, metric: str) -> np.ndarray:
    """A metric of a forecast, one a seed."""
    drawn = [draw(prevalence, prevalence, n_train=0, n_test=ROWS, seed=seed) for seed in range(SEEDS_MONITORING)]
    prob = [expit(logit(prevalence) + SLOPE * d.x_test + FORECASTS[forecast]) for d in drawn]
    return np.array([METRICS[metric](d.y_test, of) for d, of in zip(drawn, prob, strict=True)])


def told_apart(metric: str) -> float:
    """How often the size of a metric is higher for the shifted forecast than for the calibrated one, at any prevalences."""
    wrong, right = (
        np.abs(np.concatenate([at(p, name, metric) for p in PREVALENCES_MONITORING]))
        for name in ("shifted", "calibrated")
    )
    return float(np.mean((wrong[:, None] > right) + 0.5 * (wrong[:, None] == right)))
