"""The forecasts that docs/na-isotonic.md compares calibrators on: published ones, and those of classifiers trained here."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest, friedmanchisquare, rankdata
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from calibrant import (
    ByNotion,
    EqualMass,
    HistogramBinning,
    IsotonicCalibration,
    NormalizedFlattenedIsotonic,
    SortedCumulativeIsotonic,
    TemperatureScaling,
    VectorScaling,
    classwise_calibration_error,
    expected_calibration_error,
    log_loss,
)
from calibrant.assessment import mean_ranks
from calibrant.calibrators import MatrixScaling
from calibrant.calibrators.base import Calibrator
from calibrant.metrics import mean_class_brier_loss, thresholded_adaptive_calibration_error
from calibrant.metrics.decompositions import accuracy
from calibrant.significance import resampling_test
from studies.arena.data_sets import prob_of_rows, published, tables
from studies.claims import Verdict, holds, under_all_readings

SEEDS = 3
MOST_TRAINED = 3000

PUBLISHED = {
    "cifar10_resnet50": ("CIFAR-10", "ResNet-50"),
    "cifar10_lenet5": ("CIFAR-10", "LeNet-5"),
    "cifar100_densenet_bc": ("CIFAR-100", "DenseNet-BC"),
    "cifar100_lenet5": ("CIFAR-100", "LeNet-5"),
    "covertype3": ("Covertype, 3 classes", "logistic"),
}

CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "logistic": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
    "naive Bayes": lambda seed: GaussianNB(var_smoothing=1e-6),
    "k-NN": lambda seed: make_pipeline(StandardScaler(), KNeighborsClassifier(20)),
    "tree": lambda seed: DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(100, random_state=seed),
    "boosting": lambda seed: HistGradientBoostingClassifier(max_iter=50, random_state=seed),
    "MLP": lambda seed: make_pipeline(StandardScaler(), overfitted(seed)),
}


def overfitted(seed: int) -> MLPClassifier:
    """A network that is trained until it is far too sure."""
    return MLPClassifier(
        (100, 100), alpha=0.0, learning_rate_init=0.005, max_iter=60, n_iter_no_change=100, random_state=seed
    )


@dataclass(frozen=True, eq=False)
class Model:
    """A forecast of rows to calibrate on and of rows to test."""

    data_set: str
    architecture: str
    seed: int
    y_fit: np.ndarray
    fit: np.ndarray
    y_test: np.ndarray
    test: np.ndarray

    @property
    def n_classes(self) -> int:
        return self.fit.shape[1]


@cache
def trained_on() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Features and labels; of Covertype without the number of the row."""
    found = tables()
    return {
        "digits": load_digits(return_X_y=True),
        "satimage": found["satimage"],
        "Covertype": found["covertype"],
        "spambase": found["spambase"],
    }


def split_rows(n: int, seed: int) -> list[np.ndarray]:
    """Half of the rows to train on, at most 3000; of the others a quarter to calibrate on, and the rest to test."""
    n_train = min(n // 2, MOST_TRAINED)
    return np.split(np.random.default_rng(seed).permutation(n), [n_train, n_train + (n - n_train) // 4])


def trained(data_set: str, architecture: str, seed: int) -> Model:
    """A classifier trained on some of the rows."""
    X, y = trained_on()[data_set]
    y = np.unique(y, return_inverse=True)[1]
    train, fit, test = split_rows(len(y), seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the MLP is stopped on purpose
        fitted = CLASSIFIERS[architecture](seed).fit(X[train], y[train])
    prob = [fitted.predict_proba(X[rows]) for rows in (fit, test)]
    return Model(data_set, architecture, seed, y[fit], prob[0], y[test], prob[1])


@cache
def published_models() -> tuple[Model, ...]:
    """The published forecasts as probabilities, in the order above."""
    found = {forecast.name: forecast for forecast in (load() for load in published())}
    return tuple(
        Model(*names, 0, of.y_fit, prob_of_rows(of.fit, of.input), of.y_test, prob_of_rows(of.test, of.input))
        for of, names in ((found[name], names) for name, names in PUBLISHED.items())
    )


def published_model(*names: str) -> Model:
    """The published forecast of a data set and an architecture."""
    return next(model for model in published_models() if (model.data_set, model.architecture) == names)


def models() -> Iterator[Model]:
    """All forecasts, one at a time."""
    yield from published_models()
    for data_set in trained_on():
        for architecture in CLASSIFIERS:
            for seed in range(SEEDS):
                yield trained(data_set, architecture, seed)


# What docs/na-isotonic.md measures: every metric of every forecast after every calibrator.


RESAMPLES = 199
LEVEL = 0.05

CALIBRATORS: dict[str, Callable[[], Calibrator]] = {
    "NA-FIR": partial(NormalizedFlattenedIsotonic, smoothing="cv"),
    "SCIR": partial(SortedCumulativeIsotonic, epsilon="cv", rise="last"),
    "FIR": lambda: ByNotion(IsotonicCalibration(finite=None), "flattened"),
    "IR-OvR": lambda: ByNotion(IsotonicCalibration(finite=None), "class-wise"),
    "TS": TemperatureScaling,
    "VS": VectorScaling,
    "MS": partial(MatrixScaling, off_diagonal=1e-3, intercept=1e-3),
}
METHODS = [*CALIBRATORS, "Uncalibrated"]
"""The methods of the paper; under these names they are measured with the choices of the library."""

READINGS: dict[str, Callable[[], Calibrator]] = {
    "NA-FIR, exact": partial(NormalizedFlattenedIsotonic, smoothing=0.0),
    **{
        f"NA-FIR, annealed by {size:g}": partial(
            NormalizedFlattenedIsotonic, smoothing=0.0, solver="annealing", granularity=size, random_state=0
        )
        for size in (0.001, 0.003, 0.01)
    },
    **{
        f"SCIR, {epsilon:g}": partial(SortedCumulativeIsotonic, epsilon=epsilon, rise="last")
        for epsilon in (1e-12, 1e-6, 1e-4, 1e-3)
    },
    "MS, no penalty": partial(MatrixScaling, off_diagonal=0.0, intercept=0.0),
    "sCW": lambda: ByNotion(IsotonicCalibration(finite=None), "shared-class-wise"),
    "HB-OvR": lambda: ByNotion(HistogramBinning(EqualMass(15)), "class-wise"),
}
"""The same methods as the paper writes them, with several values where it does not say which; and two that it does not run."""

MEASURED = [*METHODS, *READINGS]

NA_FIR = ("NA-FIR, annealed by 0.001", "NA-FIR, annealed by 0.003", "NA-FIR, annealed by 0.01")
EXACT = "NA-FIR, exact"
SCIR = ("SCIR, 1e-12", "SCIR, 1e-06", "SCIR, 0.0001", "SCIR, 0.001")
MS = ("MS, no penalty",)
"""How the paper can be read: it leaves open by how much annealing changes a value, and which epsilon SCIR adds.

The exact optimum of NA-FIR and the defaults of the library were not run by its authors: they stand beside, and decide nothing.
"""

SHOWN_AS = {"NA-FIR": NA_FIR[1], "SCIR": SCIR[1], "MS": MS[0]}
PUBLISHED_AS = tuple(SHOWN_AS.get(name, name) for name in METHODS)
"""The methods as published, in the reading that the tables and pictures show."""


def made(method: str) -> Calibrator:
    """The calibrator of one of the paper's names, as published."""
    return (CALIBRATORS | READINGS)[SHOWN_AS.get(method, method)]()


def measured_methods() -> list[str]:
    """The columns of what is measured, for what is stored of it."""
    return [*MEASURED, *METRICS, *CLIPPED]


METRICS: dict[str, Callable[..., float]] = {
    "NLL": partial(log_loss, clip=1e-12),
    "conf-ECE": partial(expected_calibration_error, notion="confidence"),
    "BS": mean_class_brier_loss,
    "cw-ECE": classwise_calibration_error,
    "TECE": thresholded_adaptive_calibration_error,
    "accuracy": accuracy,
}
CLIPS = (1e-15, 1e-7)
"""Other values than 1e-12 at which the NLL takes probabilities that are lower: the paper states none."""

CLIPPED: dict[str, Callable[..., float]] = {f"NLL, {clip:g}": partial(log_loss, clip=clip) for clip in CLIPS}
"""NLL again, for the methods that predict zeros."""

RANKED = [name for name in METRICS if name != "accuracy"]
"""The metrics of the paper's Table 2, all of which are better when lower."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A forecast after every calibrator: metrics of shape (n_methods, n_metrics), all else of shape (n_methods,).

    Rows are those of `MEASURED`, columns those of `METRICS` and `CLIPPED`; ``disordered`` is the share of test rows in which
    two classes changed their order; ``shift`` what NA-FIR is above FIR, by band of the probability before.
    """

    data_set: str
    architecture: str
    seed: int
    n_classes: int
    n_fit: int
    n_test: int
    overconfidence: float
    value: np.ndarray
    pvalue: np.ndarray
    seconds: np.ndarray
    disordered: np.ndarray
    shift: np.ndarray
    warned: Counter[str]


@cache
def calibrated(model: Model, method: str) -> tuple[np.ndarray, float]:
    """The test rows after a calibrator, and the CPU seconds of its fit."""
    if method == "Uncalibrated":
        return model.test, 0.0
    start = time.process_time()
    fitted = (CALIBRATORS | READINGS)[method]().fit(model.fit, model.y_fit)
    seconds = time.process_time() - start
    return fitted.predict_proba(model.test), seconds


def measure(model: Model) -> Measured:
    """All figures of a forecast."""
    y, warned = model.y_test, Counter[str]()
    values, pvalues, times, disordered, after = [], [], [], [], {}
    for method in MEASURED:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            prob, seconds = calibrated(model, method)
        warned[method] += bool(said)
        values.append([metric(y, prob) for metric in (METRICS | CLIPPED).values()])
        pvalues.append(p_value(y, prob, RESAMPLES))
        times.append(seconds)
        disordered.append(out_of_order(model.test, prob))
        after[method] = prob
    sure = float(model.test.max(axis=1).mean()) - accuracy(y, model.test)
    size = (model.n_classes, len(model.y_fit), len(y))
    shift = shift_by_band(model.test, after[NA_FIR[1]] - after["FIR"])
    found = tuple(map(np.array, (values, pvalues, times, disordered, shift)))
    return Measured(model.data_set, model.architecture, model.seed, *size, sure, *found, warned)


BANDS, LEAST = 5, 0.01
"""Bands of the predicted probability, from the least on, as in the paper's Fig. 2."""


def shift_by_band(before: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Mean change of the probabilities in each band; 0 where there are none."""
    band = np.searchsorted(np.linspace(LEAST, 1.0, BANDS + 1)[1:-1], before.ravel(), side="right")
    some = before.ravel() >= LEAST
    count, total = (np.bincount(band[some], of, BANDS) for of in (np.ones(some.sum()), change.ravel()[some]))
    return total / np.maximum(count, 1)


def p_value(y: np.ndarray, prob: np.ndarray, resamples: int) -> float:
    """P-value of conf-ECE against its values on labels drawn from the predictions."""
    if prob.shape[1] == 2:  # a table of two columns speaks of its second, conf-ECE of the predicted class
        y, prob = (prob.argmax(axis=1) == y).astype(int), prob.max(axis=1)
    return resampling_test(y, prob, metric="ece", n_resamples=resamples).pvalue


def out_of_order(before: np.ndarray, after: np.ndarray) -> float:
    """Share of rows in which a class that was ahead of another is behind it, by more than rounding."""
    order = np.lexsort((-after, -before))  # of equal ones the highest after first: it alone need be compared
    sorted_before, sorted_after = (np.take_along_axis(prob, order, axis=1) for prob in (before, after))
    lowest_ahead = np.minimum.accumulate(sorted_after, axis=1)[:, :-1]
    ahead = sorted_before[:, :-1] > sorted_before[:, 1:]
    return float((ahead & (sorted_after[:, 1:] > lowest_ahead + 1e-12)).any(axis=1).mean())


Name = tuple[str, str]

STORE = Path(__file__).with_name("networks.json")


@cache
def stored() -> tuple[Measured, ...]:
    """What networks.py measured of the networks that it trains."""
    of = json.loads(STORE.read_text(encoding="utf-8"))
    if of["methods"] != measured_methods():
        raise SystemExit(
            "networks.json must have the methods of the study. Run `python -m studies.na_isotonic.networks`."
        )
    arrays = ("value", "pvalue", "seconds", "disordered", "shift")
    return tuple(
        Measured(**{**one, **{name: np.array(one[name]) for name in arrays}, "warned": Counter(one["warned"])})
        for one in of["networks"]
    )


@cache
def measured() -> tuple[Measured, ...]:
    """Every forecast, measured; those of the networks that are trained here as they are stored."""
    started, found = time.process_time(), []
    for model in models():
        found.append(measure(model))
        where = f"{model.data_set}, {model.architecture}, {model.seed}"
        print(f"{time.process_time() - started:6.0f} CPU s  {where}", file=sys.stderr)
    return (*found, *stored())


# Ranks, wins and their uncertainty: a model is a classifier on a data set, its figures are means over seeds.


@cache
def by_model() -> dict[Name, list[Measured]]:
    """What was measured of each model, by data set and architecture."""
    found: dict[Name, list[Measured]] = {}
    for one in measured():
        found.setdefault((one.data_set, one.architecture), []).append(one)
    return found


def names() -> list[Name]:
    """Data set and architecture of each model."""
    return list(by_model())


def data_sets() -> list[str]:
    return list(dict.fromkeys(data_set for data_set, _ in names()))


def architectures() -> list[str]:
    return list(dict.fromkeys(architecture for _, architecture in names()))


def of_data_set(data_set: str) -> np.ndarray:
    return np.array([name[0] == data_set for name in names()])


def of_architecture(*architectures: str) -> np.ndarray:
    return np.array([name[1] in architectures for name in names()])


NETWORKS = ("ResNet-50", "LeNet-5", "DenseNet-BC", "MLP", "deep MLP", "CNN")


def neural() -> np.ndarray:
    """Which models are neural networks, as nearly all of the paper's are."""
    return of_architecture(*NETWORKS)


@cache
def all_values(metric: str) -> np.ndarray:
    """The metric of each model after each method in every reading, shape (n_models, len(MEASURED))."""
    which = list(METRICS | CLIPPED).index(metric)
    return np.array([np.mean([one.value[:, which] for one in of], axis=0) for of in by_model().values()])


def after(metric: str, method: str) -> np.ndarray:
    """The metric of each model after one method in one reading."""
    return all_values(metric)[:, MEASURED.index(method)]


def values(metric: str, methods: Sequence[str] = PUBLISHED_AS) -> np.ndarray:
    """The metric of each model after each method, shape (n_models, n_methods)."""
    return np.column_stack([after(metric, method) for method in methods])


@cache
def ranks(metric: str, methods: tuple[str, ...] = PUBLISHED_AS) -> np.ndarray:
    """Ranks of the methods on each model, 1 the best; equal ones share."""
    of = values(metric, methods)
    return rankdata((-of if metric == "accuracy" else of).round(12), axis=1)


@cache
def wins(metric: str, methods: tuple[str, ...] = PUBLISHED_AS) -> np.ndarray:
    """Share of the win that each method has on each model; equal ones share it."""
    best = ranks(metric, methods) == ranks(metric, methods).min(axis=1, keepdims=True)
    return best / best.sum(axis=1, keepdims=True)


def beats(metric: str) -> np.ndarray:
    """Percent of the models on which the method of the row is better than that of the column; equal ones count half."""
    of = ranks(metric)
    return 100.0 * (0.5 - 0.5 * np.sign(of[:, :, None] - of[:, None, :])).mean(axis=0)


def standardised(metric: str) -> np.ndarray:
    """The metric of each model less its mean over the methods, divided by its standard deviation over them."""
    of = values(metric)
    return (of - of.mean(axis=1, keepdims=True)) / of.std(axis=1, keepdims=True)


def friedman(metric: str) -> float:
    """P-value of the hypothesis that all methods are alike."""
    return float(friedmanchisquare(*values(metric).T).pvalue)


def critical_difference() -> float:
    """Difference of two mean ranks from which on it is clear, of all pairs of methods at once (Nemenyi)."""
    return mean_ranks(dict(zip(METHODS, values("NLL").T, strict=True)), level=LEVEL).critical_difference


def mean_rank(metric: str) -> dict[str, float]:
    """Mean rank of each method over all models, best first."""
    of = dict(zip(METHODS, ranks(metric).mean(axis=0), strict=True))
    return dict(sorted(of.items(), key=lambda item: item[1]))


# Two methods compared on every model: how often the one is better, on which data sets, by how much, and what that decides.


Duel = Mapping[str, Any]
"""Counts of models and data sets, and quartiles of the differences."""

NLLS = ("NLL", "NLL, 1e-15", "NLL, 1e-07")
"""NLL with probabilities clipped at 1e-12, 1e-15 and 1e-7."""


def readings_of(method: str) -> tuple[str, ...]:
    """The names of a method as the paper can be read."""
    return {"NA-FIR": NA_FIR, "SCIR": SCIR, "MS": MS}.get(method, (method,))


def metrics_of(metric: str, *methods: str) -> tuple[str, ...]:
    """NLL is clipped in three ways where a method predicts zeros."""
    return NLLS if metric == "NLL" and {"FIR", "IR-OvR"} & set(methods) else (metric,)


def model_names() -> list[str]:
    """The models, as a list that JSON holds."""
    return [f"{data_set}, {architecture}" for data_set, architecture in names()]


def duel(metric: str, one: str, other: str, here: Any = slice(None)) -> Duel:
    """Compare the one with the other on some models: lower is better."""
    difference = after(metric, one) - after(metric, other)
    return from_differences(difference[here], [of_data_set(name)[here] for name in data_sets()])


def from_differences(difference: np.ndarray, groups: Sequence[np.ndarray]) -> Duel:
    """Count over models, and over the data sets that the masks select."""
    sign = np.sign(np.where(np.abs(difference) < 1e-12, 0.0, difference))
    by_group = [float(sign[group].sum()) for group in groups if group.any()]
    low, middle, high = np.quantile(difference, [0.25, 0.5, 0.75])
    return {
        "better": int((sign < 0).sum()),
        "different": int((sign != 0).sum()),
        "ahead": sum(total < 0 for total in by_group),
        "behind": sum(total > 0 for total in by_group),
        "data_sets": len(by_group),
        "low": float(low),
        "median": float(middle),
        "high": float(high),
    }


def p_value_of_duel(found: Duel) -> float:
    """P-value of the sign test over the models on which the two differ."""
    return float(binomtest(found["better"], found["different"]).pvalue) if found["different"] else 1.0


def judged(found: Duel, level: float = LEVEL) -> Verdict:
    """Whether the one is better: by a sign test over models, with more data sets that say so than say the contrary."""
    is_better = 2 * found["better"] > found["different"]
    agreeing, contrary = (found["ahead"], found["behind"]) if is_better else (found["behind"], found["ahead"])
    if p_value_of_duel(found) > level or agreeing <= contrary:
        return Verdict.OPEN
    return holds(is_better)


def consistently(found: Duel) -> Verdict:
    """Whether the one is better and, since "consistently" is more, not behind on any data set."""
    verdict = judged(found)
    return Verdict.IN_PART if verdict is Verdict.HOLDS and found["behind"] else verdict


def judge_pair(readings: Mapping[str, Duel], judge: Callable[[Duel], Verdict] = judged, **beside: Any) -> Verdict:
    """Judge a pair in every reading of the paper."""
    return under_all_readings(judge(found) for found in readings.values())


def judge_best(readings: Mapping[str, Mapping[str, Duel]], **beside: Any) -> Verdict:
    """Whether a method beats each other one: fails where another clearly beats it, with the level shared among the others.

    ``readings`` has a mapping of opponents for each reading of the method; opponents that differ behind a comma are readings of
    one opponent.
    """
    return under_all_readings(_first(chosen) for duels in readings.values() for chosen in _choices(duels))


def _choices(duels: Mapping[str, Duel]) -> list[tuple[Duel, ...]]:
    """Every way to take one reading of each opponent."""
    of_opponent: dict[str, list[Duel]] = {}
    for name, found in duels.items():
        of_opponent.setdefault(name.split(",")[0], []).append(found)
    return list(product(*of_opponent.values()))


def _first(duels: Sequence[Duel]) -> Verdict:
    if any(judged(found, LEVEL / len(duels)) is Verdict.FAILS for found in duels):
        return Verdict.FAILS
    return Verdict.HOLDS if all(judged(found) is Verdict.HOLDS for found in duels) else Verdict.OPEN


def said(found: Duel) -> str:
    """The counts and the spread of one duel."""
    return (
        f"on {found['better']} of {found['different']} models and {found['ahead']} of {found['data_sets']} data sets "
        f"(sign test p = {p_value_of_duel(found):.2g}; half of the differences {found['low']:+.4f} to {found['high']:+.4f})"
    )


def words_pair(
    one: str,
    models: Sequence[str],
    readings: Mapping[str, Duel],
    neural: Mapping[str, Duel],
    beside: Mapping[str, Duel],
    judge: Callable[[Duel], Verdict] = judged,
) -> str:
    """Say the first reading in full, the range over all, that of the neural networks alone, and what stands beside."""
    text = f"{one} is lower {said(next(iter(readings.values())))}."
    if len(readings) > 1:
        n_clear = sum(judged(found) is not Verdict.OPEN for found in readings.values())
        sets = span([found["ahead"] for found in readings.values()])
        text += (
            f" Over {len(readings)} readings of the paper: {_on(readings)} and {sets} data sets, clear in {n_clear}."
        )
    if judge is consistently:
        everywhere = sum(not found["behind"] for found in readings.values())
        text += f" On most models: {judge_pair(readings)!s}. Behind on no data set in {everywhere} of {len(readings)} readings."
    text += f" Of the neural networks alone: {_on(neural)}, {judge_pair(neural, judge)!s}."
    return text + "".join(f" {name}: on {of['better']} of {of['different']}." for name, of in beside.items())


def _on(readings: Mapping[str, Duel]) -> str:
    better, of = (span([found[count] for found in readings.values()]) for count in ("better", "different"))
    return f"on {better} of {of} models"


def words_best(
    models: Sequence[str],
    readings: Mapping[str, Mapping[str, Duel]],
    neural: Mapping[str, Mapping[str, Duel]],
    at_most: Sequence[int],
    data_sets: int,
) -> str:
    """Say on how many models the method is lower than each other one, by each metric over all readings."""
    counts: dict[str, dict[str, list[int]]] = {}
    for name, duels in readings.items():
        of = counts.setdefault(name.split(",")[0], {})
        for other, found in duels.items():
            of.setdefault(other.split(",")[0], []).append(found["better"])
    parts = [f"{m}: lower than {', '.join(f'{o} on {span(n)}' for o, n in of.items())}" for m, of in counts.items()]
    return (
        f"Of {len(models)} models by {'; by '.join(parts)} (ranges over the readings of the paper). Ahead of each on at most "
        f"{max(at_most)} of {data_sets} data sets in any reading. By the neural networks alone: {judge_best(neural)!s}."
    )


def span(counts: Sequence[int]) -> str:
    """Least and greatest."""
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


SCIR_FIXED = partial(SortedCumulativeIsotonic, epsilon=1e-4, rise="last")


def calibrated_part(model: Model, make: Callable[..., Calibrator]) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where a map ends does not matter here
        return make(labels=range(model.n_classes)).fit(model.fit, model.y_fit).predict_proba(model.test)


def name_of(model: Model) -> str:
    return f"{model.data_set}, {model.architecture}"
