"""The data sets of the study of docs/tce.md that trains models: two of the paper's ten, and three made imbalanced."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product, starmap
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from calibrant import EqualMass, EqualWidth, calibration_error
from calibrant._core.rows import Weights
from calibrant.binning import Bins, BoundedIsotonic, Isotonic
from calibrant.curves import BinningQuality, binning_quality
from calibrant.metrics import BinTest, estimate_calibration_error
from calibrant.metrics.estimate import Estimate
from calibrant.notions import BinaryProblem
from studies.claims import data_dir, table
from studies.tce.imagenet import printed_lines

Data = tuple[np.ndarray, np.ndarray]
"""Features of shape (n, n_features), and whether each row is of the positive class."""

MALIGNANT = 30
"""Malignant rows kept of 212."""

RARE, OTHERS = 120, 3880
"""Rows of Covertype kept of its class 4 and of the rest."""


def satimage() -> Data:
    with gzip.open(data_dir() / "satimage.arff.gz", "rt") as file:
        rows = [line.split(",") for line in file if line.strip() and line[0] not in "@%"]
    values = np.array(rows, dtype=float)
    return values[:, :-1], values[:, -1] == 4


def spambase() -> Data:
    values = np.loadtxt(data_dir() / "spambase.csv", delimiter=",")
    return values[:, :-1], values[:, -1] == 1


def digits() -> Data:
    x, y = load_digits(return_X_y=True)
    return x, y == 8


def cancer() -> Data:
    x, y = load_breast_cancer(return_X_y=True)
    return _thinned(x, y == 0, MALIGNANT, int((y == 1).sum()))


def covertype() -> Data:
    with gzip.open(data_dir() / "covertype_small.csv.gz", "rt") as file:
        values = np.loadtxt(file, delimiter=",", skiprows=1)
    # The first column is a row number, and rows are ordered by class.
    return _thinned(values[:, 1:-1], values[:, -1] == 4, RARE, OTHERS)


def _thinned(x: np.ndarray, positive: np.ndarray, n_positive: int, n_negative: int) -> Data:
    """Some rows of either class, drawn once, in their order."""
    rng = np.random.default_rng(0)
    drawn = (
        rng.choice(np.flatnonzero(of), number, replace=False)
        for of, number in ((positive, n_positive), (~positive, n_negative))
    )
    rows = np.sort(np.concatenate(list(drawn)))
    return x[rows], positive[rows]


DATA_SETS: dict[str, Callable[[], Data]] = {of.__name__: of for of in (satimage, spambase, digits, cancer, covertype)}


@cache
def data_set(name: str) -> Data:
    """Standardised features and the positive class. The means are those of all rows, as in the published code."""
    x, y = DATA_SETS[name]()
    spread = x.std(axis=0)
    return (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y.astype(int)


# The five algorithms of the study, and what they forecast.


SEEDS = range(3)
TEST_SHARE = 0.3

ALGORITHMS: dict[str, Callable[[int], Any]] = {
    "LR": lambda seed: LogisticRegression(max_iter=10_000),
    # SVC(probability=True), which the paper used, is deprecated; this is what scikit-learn offers for it.
    "SVM": lambda seed: CalibratedClassifierCV(SVC(), ensemble=False),
    "RF": lambda seed: RandomForestClassifier(max_depth=10, random_state=seed),
    "GB": lambda seed: GradientBoostingClassifier(random_state=seed),
    "MLP": lambda seed: MLPClassifier((1000,), max_iter=10_000, random_state=seed),
}
"""As scikit-learn has them, but for the depth of the forest and the hidden units: what the paper says (C.2)."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """What a model says of the rows it was not fitted on: outcomes and probabilities, each of shape (n,)."""

    data: str
    algorithm: str
    seed: int
    y: np.ndarray
    prob: np.ndarray


@cache
def forecast(data: str, algorithm: str, seed: int) -> Forecast:
    """Split at random, 70 % to fit and 30 % to measure, and fit."""
    x, x_test, y, y_test = train_test_split(*data_set(data), test_size=TEST_SHARE, random_state=seed)
    model = ALGORITHMS[algorithm](seed).fit(x, y)
    return Forecast(data, algorithm, seed, y_test, model.predict_proba(x_test)[:, 1])


def forecasts(data: str | None = None) -> Iterator[Forecast]:
    """Those of one data set, or of all."""
    yield from starmap(forecast, product((data,) if data else DATA_SETS, ALGORITHMS, SEEDS))


# What is measured of each model, and the same of a calibrated forecast with its probabilities.


N_BINS, RESAMPLES = 10, 99

SPELLINGS: dict[str, Mapping[str, Any]] = {
    "TCE": {"binning": BoundedIsotonic(), "loss": BinTest()},
    "TCE(Q)": {"binning": EqualMass(N_BINS), "loss": BinTest()},
    "ECE": {"binning": EqualWidth(N_BINS)},
    "ACE": {"binning": EqualMass(N_BINS)},
    "MCE": {"binning": EqualWidth(N_BINS), "norm": "max"},
    "MCE(Q)": {"binning": EqualMass(N_BINS), "norm": "max"},
}
"""Calibration errors: points of `calibration_error`."""


def measure(of: Forecast, metric: str) -> float:
    return calibration_error(of.y, of.prob, **SPELLINGS[metric])


def of_each(figure: Callable[[str, str, int], float | None]) -> np.ndarray:
    """A figure of every model."""
    return np.array([[[figure(d, a, s) for s in SEEDS] for a in ALGORITHMS] for d in DATA_SETS], dtype=float)


@cache
def values(metric: str) -> np.ndarray:
    """The metric of every model, shape (n_data_sets, n_algorithms, n_seeds)."""
    return of_each(lambda *of: measure(forecast(*of), metric))


def of_data(metric: str, data: str) -> np.ndarray:
    """The metric of the models of a data set, shape (n_algorithms, n_seeds)."""
    return np.asarray(values(metric)[list(DATA_SETS).index(data)])


@cache
def estimate(data: str, algorithm: str, seed: int, metric: str) -> Estimate:
    """The metric with what a calibrated forecast has, whose outcomes the same probabilities draw."""
    of = forecast(data, algorithm, seed)
    return estimate_calibration_error(of.y, of.prob, **SPELLINGS[metric], n_resamples=RESAMPLES)


@cache
def floors(metric: str) -> np.ndarray:
    """Mean over draws of calibrated outcomes, shape (n_data_sets, n_algorithms, n_seeds)."""
    return of_each(lambda *of: estimate(*of, metric).noise_floor)


@cache
def pvalues(metric: str) -> np.ndarray:
    """Share of calibrated forecasts with at least the figure, shape (n_data_sets, n_algorithms, n_seeds)."""
    return of_each(lambda *of: estimate(*of, metric).pvalue)


# What the paper prints for its ten data sets (Tables 3, 4 and 14) and its three binnings (Table 1).


PAPER_METRICS = ("TCE", "TCE(Q)", "ECE", "ACE", "MCE", "MCE(Q)")


BINS = {"PAVA": (0.040, 0.132), "PAVA-BC": (0.042, 0.077), "10 quantiles": (0.048, 0.047)}
"""Total and averaged within-bin error of the random forest on satimage."""


@cache
def printed() -> dict[str, dict[str, dict[str, float]]]:
    """Figure of each metric, by data set and algorithm; those that are not printed are left out."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for data, algorithm, *figures in printed_lines(14):
        of = {metric: float(figure) for metric, figure in zip(PAPER_METRICS, figures, strict=True) if figure != "-"}
        found.setdefault(data, {})[algorithm] = of
    return found


def best(metric: str) -> dict[str, str]:
    """The algorithm with the smallest figure on each data set."""
    return {data: min(of, key=lambda name: of[name][metric]) for data, of in printed().items()}


# What PAVA, PAVA with bounds and quantiles make of the same probabilities: Table 1 and Figures 2 to 4, on other data.


BINNINGS = {"PAVA": Isotonic(), "PAVA-BC": BoundedIsotonic(), "10 quantiles": EqualMass(N_BINS)}

ROUNDING = 1e-9


@cache
def quality(of: Forecast, name: str) -> BinningQuality:
    return binning_quality(of.y, of.prob, binning=BINNINGS[name])


def bins_of(of: Forecast, name: str) -> Bins:
    return quality(of, name).panels[0].bins


def shown() -> Forecast:
    """The model of the paper's Table 1: the random forest on satimage, first split."""
    return forecast("satimage", "RF", 0)


def bins_table() -> str:
    """Table 1, first split, beside the range over splits and the paper's figures."""
    errors = ["total error", "paper", "averaged within-bin error", "paper"]
    head = ["binning", *errors, "bins", "rows of a bin", "violations"]
    body = []
    for name in BINNINGS:
        of, every = quality(shown(), name), [quality(forecast("satimage", "RF", seed), name) for seed in SEEDS]
        total, within = ([getattr(one, word) for one in every] for word in ("criterion", "within_bin_error"))
        figures = []
        for own, every, paper in ((of.criterion, total, BINS[name][0]), (of.within_bin_error, within, BINS[name][1])):
            figures += [f"{own:.3f} ({min(every):.3f} to {max(every):.3f})", f"{paper:.3f}"]
        size = f"{of.smallest:.0f} to {of.largest:.0f}"
        body.append([name, *figures, str(of.n_bins), size, str(of.n_violations)])
    return table(head, body)


def table_off() -> tuple[float, float]:
    """How far both errors of Table 1 are at most from the paper's."""
    found = np.array([[quality(shown(), name).criterion, quality(shown(), name).within_bin_error] for name in BINNINGS])
    total, within = np.abs(found - [BINS[name] for name in BINNINGS]).max(axis=0)
    return float(total), float(within)


def totals() -> np.ndarray:
    """Total error of each binning, a row a model."""
    return np.array([[quality(of, name).criterion for name in BINNINGS] for of in forecasts()])


def withins() -> np.ndarray:
    """Within-bin error averaged over bins of each binning, a row a model."""
    return np.array([[quality(of, name).within_bin_error for name in BINNINGS] for of in forecasts()])


def least(of: np.ndarray, name: str) -> int:
    """On how many models a binning has the smallest figure."""
    return int((of[:, list(BINNINGS).index(name)] <= of.min(axis=1) + ROUNDING).sum())


def between(of: np.ndarray) -> int:
    """On how many models PAVA-BC lies between the other two."""
    ends = of[:, [0, 2]]
    return int(((of[:, 1] >= ends.min(axis=1) - ROUNDING) & (of[:, 1] <= ends.max(axis=1) + ROUNDING)).sum())


def drops_of(of: Forecast, name: str) -> np.ndarray:
    """By how much the event rate of each bin is below that of the bin before."""
    return quality(of, name).panels[0].drop


def drops(of: Forecast, name: str) -> np.ndarray:
    """Each violation of monotonicity in standard errors of the difference of the two rates."""
    bins = bins_of(of, name)
    held = bins.weight > 0
    rate, weight = bins.event_rate[held], bins.weight[held]
    fall = -np.diff(rate)
    # Under one rate for both bins: the larger rate is never 0 where there is a fall.
    pooled = (rate[1:] * weight[1:] + rate[:-1] * weight[:-1]) / (weight[1:] + weight[:-1])
    error = np.sqrt(pooled * (1.0 - pooled) * (1.0 / weight[1:] + 1.0 / weight[:-1]))
    is_drop = fall > ROUNDING
    return fall[is_drop] / error[is_drop]


def violations_table() -> str:
    """How often each binning violates monotonicity, by algorithm."""
    head = ["binning", *ALGORITHMS, "bins in all", "violations", "largest drop", "in standard errors"]
    body = []
    for name in BINNINGS:
        every = list(forecasts())
        counts = []
        for algorithm in ALGORITHMS:
            own = [of for of in every if of.algorithm == algorithm]
            counts.append(f"{sum(quality(of, name).n_violations > 0 for of in own)} of {len(own)}")
        apart = np.concatenate([drops(of, name) for of in every])
        largest = max(quality(of, name).largest_violation for of in every)
        total = sum(quality(of, name).n_bins for of in every)
        sizes = [f"{largest:.3f}", f"{apart.max():.1f}"] if apart.size else ["", ""]
        body.append([name, *counts, str(total), str(apart.size), *sizes])
    return table(head, body)


def n_violated(name: str) -> int:
    """Models on which a binning violates monotonicity."""
    return sum(quality(of, name).n_violations > 0 for of in forecasts())


def n_too_large() -> int:
    """Models on which equal scores make a bin of PAVA-BC larger than a fifth of the rows."""
    return sum(quality(of, "PAVA-BC").largest > of.y.size / 5.0 for of in forecasts())


def most_violated() -> Forecast:
    """The model on which PAVA-BC violates monotonicity most."""
    return max(forecasts(), key=lambda of: quality(of, "PAVA-BC").largest_violation)


def title(of: Forecast) -> str:
    return f"{of.algorithm} on {of.data}, split {of.seed + 1}"


# How calibration errors rank the five models of a split, and whether they rank them alike.


LEVEL = 0.05


def best_by_rank(metric: str) -> np.ndarray:
    """Number of the best model of each ranking, one a data set and split."""
    return np.asarray(values(metric).argmin(axis=1).ravel())


def same_best(one: str, other: str) -> int:
    """In how many rankings two metrics name the same best model."""
    return int((best_by_rank(one) == best_by_rank(other)).sum())


def n_rankings() -> int:
    return len(DATA_SETS) * len(SEEDS)


def paper_same_best(one: str, other: str) -> tuple[int, int]:
    """In how many of the paper's tables two metrics name the same best model, and of how many."""
    tables = printed().values()
    both = [of for of in tables if all(one in figures and other in figures for figures in of.values())]
    agree = [min(of, key=lambda name: of[name][one]) == min(of, key=lambda name: of[name][other]) for of in both]
    return sum(agree), len(agree)


# How many models each error tells from calibrated ones, and what the ECE is made of.


NOMINAL = 100.0 * LEVEL

IMBALANCED = tuple(name for name in DATA_SETS if name != "spambase")

CLEAR_METRICS = PAPER_METRICS


def n_models() -> int:
    return len(DATA_SETS) * len(ALGORITHMS) * len(SEEDS)


def clear_table() -> str:
    """How many models each error tells from calibrated ones, and what calibrated ones have."""
    body = []
    for metric in CLEAR_METRICS:
        digits = 1 if metric.startswith("TCE") else 3
        floor, found = floors(metric).mean(axis=-1), values(metric).mean(axis=-1)
        ranges = (f"{of.min():.{digits}f} to {of.max():.{digits}f}" for of in (found, floor))
        none = int((pvalues(metric) > LEVEL).all(axis=-1).sum())
        clear = [f"{n_clear(metric)} of {n_models()}", f"{none} of {n_models() // len(SEEDS)}"]
        body.append([metric, *ranges, *clear])
    head = ["error", "models", "calibrated forecasts with their probabilities", "clear", "clear in no split"]
    return table(head, body)


def n_clear(metric: str) -> int:
    """Models whose figure at most a twentieth of calibrated forecasts reach."""
    return int((pvalues(metric) <= LEVEL).sum())


def fullest() -> dict[str, float]:
    """Share of the rows in the fullest of ten bins of equal width, mean over the models of a data set."""
    return {name: float(np.mean([_fullest(of.y, of.prob) for of in forecasts(name)])) for name in DATA_SETS}


def _fullest(y: np.ndarray, prob: np.ndarray) -> float:
    bins = EqualWidth(N_BINS)(BinaryProblem(prob, y.astype(bool), Weights.one_each(prob.size)))
    return float(bins.count.max() / prob.size)


def of_averages() -> dict[str, float]:
    """How much of the ECE the gap of the two averages over all rows is, median over the models of a data set."""
    return {
        name: float(np.median([abs(of.y.mean() - of.prob.mean()) / measure(of, "ECE") for of in forecasts(name)]))
        for name in DATA_SETS
    }
