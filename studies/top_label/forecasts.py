"""The forecasts that docs/top-label.md compares on CIFAR-10, and what is measured of them."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import softmax
from sklearn.ensemble import RandomForestClassifier

from calibrant import (
    ByNotion,
    DirichletCalibration,
    EqualMass,
    EqualWidth,
    HistogramBinning,
    TemperatureScaling,
    VectorScaling,
    calibration_error,
    log_loss,
)
from calibrant._core.rows import BinaryProblem
from calibrant.binning import Binning, Bins, PointsPerBin, Unique
from calibrant.curves import ClassErrors, class_errors
from calibrant.metrics import estimate_calibration_error
from calibrant.metrics.bin_losses import Loss
from calibrant.metrics.decompositions import accuracy
from calibrant.metrics.estimate import Estimate
from calibrant.notions import WithinGroups
from studies.claims import data_dir, table
from studies.top_label.claims_printed import lines

LEVEL, RESAMPLES = 0.05, 500
DELTA = 1e-10


@dataclass(frozen=True, eq=False)
class Forecast:
    """A table, the pair of ``predict_top``, or columns that do not sum to one.

    A pair has ``label``, the predicted class of each row. Columns lie one below the other: ``y`` says whether the class in
    ``column`` is the true one, of which a score speaks.
    """

    y: np.ndarray
    prob: np.ndarray
    label: np.ndarray | None = None
    column: np.ndarray | None = None

    @property
    def is_table(self) -> bool:
        return self.prob.ndim == 2

    def asked(self, notion: str) -> dict:
        """The arguments of `calibration_error` that ask for a notion."""
        asked = {"y_true": self.y, "y_prob": self.prob, "notion": notion}
        if self.label is not None:
            return asked | {"y_pred": self.label}
        return asked if self.column is None else asked | {"notion": WithinGroups(self.column)}

    def error(self, notion: str, binning: int | Binning = 15, norm: str = "l1") -> float:
        return calibration_error(**self.asked(notion), binning=binning, norm=norm)

    def estimate(self, notion: str, binning: int | Binning = 15, norm: str = "l1") -> Estimate:
        return estimate_calibration_error(
            **self.asked(notion), binning=binning, norm=norm, level=LEVEL, n_resamples=RESAMPLES, rng=0
        )


@cache
def cifar() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Logits and labels, to calibrate and to test."""
    with np.load(data_dir() / "cifar10_resnet50.npz") as data:
        logits, test_logits = (data[f"logits_{part}"].astype(np.float64) for part in ("cal", "test"))
        return logits, data["y_cal"], test_logits, data["y_test"]


def stored_networks() -> dict[str, tuple[np.ndarray, np.ndarray, bool]]:
    """All rows of the published networks, their labels, and whether they are logits."""
    logits, y, test_logits, test_y = cifar()
    found = {"ResNet-50, CIFAR-10": (np.concatenate([logits, test_logits]), np.concatenate([y, test_y]), True)}
    for file, name in OTHER_NETWORKS.items():
        with np.load(data_dir() / f"{file}.npz") as data:
            found[name] = (data["P"].astype(np.float64), data["y"].ravel(), False)
    return found


OTHER_NETWORKS = {
    "cifar10_lenet5": "LeNet-5, CIFAR-10",
    "cifar100_densenet_bc": "DenseNet-BC, CIFAR-100",
    "cifar100_lenet5": "LeNet-5, CIFAR-100",
}


def top_label_binning(points: int) -> ByNotion:
    """TL-HB: top-label histogram binning."""
    return ByNotion(HistogramBinning(PointsPerBin(points), delta=DELTA, random_state=0), "top-label")


def one_against_rest(*, normalize: bool, n_bins: int = 100) -> ByNotion:
    """N-HB, and without normalisation CW-HB: of 5000 rows 100 bins a class, 50 rows each."""
    return ByNotion(HistogramBinning(EqualMass(n_bins)), "class-wise", normalize=normalize)


SCALINGS = {
    "TS": TemperatureScaling(input="logit"),
    "VS": VectorScaling(logits="log-softmax", input="logit"),
    "DS": DirichletCalibration(input="logit", diagonal=1e-3, off_diagonal=1e-3, intercept=1e-3),
}


@cache
def forecasts() -> dict[str, Forecast]:
    """The predictions of the test rows by the name of the method."""
    return dict(_forecasts())


def _forecasts() -> Iterator[tuple[str, Forecast]]:
    logits, y, test_logits, test_y = cifar()
    prob, test = softmax(logits, axis=1), softmax(test_logits, axis=1)
    yield "Base", Forecast(test_y, test)
    for name, scaling in SCALINGS.items():
        yield name, Forecast(test_y, scaling.fit(logits, y).predict_proba(test_logits))
    yield "N-HB", Forecast(test_y, one_against_rest(normalize=True).fit(prob, y).predict_proba(test))
    for points in (50, 100):
        label, score = top_label_binning(points).fit(prob, y).predict_top(test)
        yield f"TL-HB ({points})", Forecast(test_y, score, label)
    columns = one_against_rest(normalize=False).fit(prob, y).predict_proba(test)
    each = np.broadcast_to(np.arange(columns.shape[1]), columns.shape)
    yield "CW-HB", Forecast((test_y[:, None] == each).ravel(), columns.ravel(), column=each.ravel())


# The paper's tables of a ResNet-50 on CIFAR-10, one of its eight rows of networks, ours beside its figures.


FACTS = {
    ("Base", "confidence"): 0.0155164,
    ("Base", "top-label"): 0.0222267,
    ("Base", "class-wise"): 0.00421983,
    ("TS", "confidence"): 0.00972077,
    ("TS", "top-label"): 0.0221599,
    ("TL-HB (50)", "confidence"): 0.00654177,
    ("TL-HB (50)", "top-label"): 0.0126185,
    ("TL-HB (100)", "confidence"): 0.00679501,
    ("TL-HB (100)", "top-label"): 0.00993186,
}
"""Figures of independent implementations, 15 bins of equal width. The tool stops if one does not come out."""

BINS = range(5, 26)
"""Numbers of bins of the paper's figure of errors against bins."""

NOTION = {"TL-ECE": "top-label", "TL-MCE": "top-label", "CW-ECE": "class-wise"}


def check_facts() -> None:
    """Stop if a figure that others computed does not come out."""
    for (method, notion), figure in FACTS.items():
        found = forecasts()[method].error(notion)
        if abs(found - figure) > 1e-6:
            raise SystemExit(f"{notion} of {method} must be {figure}; got {found:.8f}")


def of_metric(metric: str) -> list[str]:
    """The methods that a metric can be asked of."""
    without = "TL-HB" if metric == "CW-ECE" else "CW-HB"
    return [name for name in forecasts() if not name.startswith(without)]


@cache
def estimate(method: str, metric: str) -> Estimate:
    norm = "max" if metric == "TL-MCE" else "l1"
    return forecasts()[method].estimate(NOTION[metric], norm=norm)


def printed(method: str, metric: str) -> float:
    """The paper's figure of the ResNet-50 on CIFAR-10; it has one TL-HB."""
    return lines(metric)["ResNet-50 (CIFAR-10)"][method.split(" ")[0]]


# The tables


def top_label_table() -> str:
    head = [
        "method", "TL-ECE, 15 equal width", "bias-corrected", "expected if calibrated", "15 equal mass", "each value", "paper",
    ]  # fmt: skip
    body = []
    for name in of_metric("TL-ECE"):
        e, of = estimate(name, "TL-ECE"), forecasts()[name]
        own = f"{of.error('top-label', Unique()):.4f}" if name.startswith("TL-HB") else ""
        mass = f"{of.error('top-label', EqualMass(15)):.4f}"
        figures = [interval(e), f"{e.debiased:.4f}", f"{e.noise_floor:.4f}", mass, own]
        body.append([name, *figures, f"{printed(name, 'TL-ECE'):.3f}"])
    return table(head, body)


def maximum_table() -> str:
    head = ["method", "TL-MCE, 15 equal width", "expected if calibrated", "p-value", "paper"]
    body = []
    for name in of_metric("TL-MCE"):
        e = estimate(name, "TL-MCE")
        body.append([name, interval(e, 3), f"{e.noise_floor:.3f}", f"{e.pvalue:.3f}", f"{printed(name, 'TL-MCE'):.3f}"])
    return table(head, body)


def class_table() -> str:
    head = [
        "method", "CW-ECE x 100, 15 equal width", "bias-corrected", "expected if calibrated", "15 equal mass", "paper",
    ]  # fmt: skip
    body = []
    for name in of_metric("CW-ECE"):
        e, mass = estimate(name, "CW-ECE"), 100 * forecasts()[name].error("class-wise", EqualMass(15))
        figures = [interval(e, 3, 100), f"{100 * e.debiased:.3f}", f"{100 * e.noise_floor:.3f}", f"{mass:.3f}"]
        body.append([name, *figures, f"{printed(name, 'CW-ECE'):.2f}"])
    return table(head, body)


def other_table() -> str:
    """Accuracy, log loss, conf-ECE. A pair has the accuracy of the forecast that it came from, and no log loss."""
    head = ["method", "conf-ECE, 15 equal width", "bias-corrected", "15 equal mass", "accuracy", "NLL"]
    body = []
    for name in of_metric("TL-ECE"):
        of = forecasts()[name]
        e, mass = of.estimate("confidence"), of.error("confidence", EqualMass(15))
        right = accuracy(of.y, of.prob) if of.is_table else float(np.mean(of.y == of.label))
        nll = f"{log_loss(of.y, of.prob, clip=1e-12):.4f}" if of.is_table else "not defined"
        body.append([name, interval(e), f"{e.debiased:.4f}", f"{mass:.4f}", f"{right:.4f}", nll])
    return table(head, body)


def interval(e: Estimate, digits: int = 4, times: float = 1.0) -> str:
    value, lower, upper = (f"{times * figure:.{digits}f}" for figure in (e.value, e.lower, e.upper))
    return f"{value} [{lower}, {upper}]"


# Random forests on Covertype: the error of each predicted class after points per bin and after a fixed number of bins.


SEEDS = 20
TREES = 200
CLASSES = (1, 2, 3, 4)

METHODS: dict[str, Binning | None] = {
    "forest": None,
    "100 points a bin": PointsPerBin(100),
    "50 bins a class": EqualMass(50),
    "10 bins a class": EqualMass(10),
}


@dataclass(frozen=True)
class Design:
    """How many rows of each class are learned from and calibrated on; the others test."""

    train: tuple[int, ...]
    calibrate: tuple[int, ...]

    @property
    def share(self) -> np.ndarray:
        """Shares of the classes where predictions are wanted."""
        counts = np.array(self.calibrate, dtype=float)
        return counts / counts.sum()


RARE = Design((600, 800, 200, 67), (1440, 1920, 480, 160))
"""One class twelve times as frequent as another."""

ALIKE = Design((600, 600, 600, 412), (1440, 1440, 1440, 989))
"""As the file has them."""


@cache
def covertype() -> tuple[np.ndarray, np.ndarray]:
    """Features and classes."""
    with gzip.open(data_dir() / "covertype_small.csv.gz", "rt") as file:
        rows = list(csv.reader(file))[1:]
    values = np.array([row[1:] for row in rows], dtype=float)
    return values[:, :-1], values[:, -1].astype(int)


@dataclass(frozen=True, eq=False)
class Run:
    """Predictions of one forest on test rows, before and after calibration: label, scores, and the weight of each row."""

    y: np.ndarray
    label: np.ndarray
    score: dict[str, np.ndarray]
    weight: np.ndarray
    fitted: np.ndarray
    """Rows to calibrate on that predict each class."""


@cache
def run(design: Design, seed: int) -> Run:
    """Split at random, fit, calibrate. The test rows are weighted to the classes' shares in the rows fitted on."""
    x, y = covertype()
    train, calibrate, test = _split(y, design, np.random.default_rng(seed))
    forest = RandomForestClassifier(TREES, random_state=seed, n_jobs=1).fit(x[train], y[train])
    prob, test_prob = forest.predict_proba(x[calibrate]), forest.predict_proba(x[test])
    score = {"forest": test_prob.max(axis=1)}
    for name, binning in METHODS.items():
        if binning is not None:
            method = ByNotion(HistogramBinning(binning, delta=DELTA, random_state=0), "top-label", labels=CLASSES)
            score[name] = method.fit(prob, y[calibrate]).predict_top(test_prob)[1]
    here = np.bincount(y[test], minlength=5)[1:] / len(test)
    return Run(
        y[test], test_prob.argmax(axis=1) + 1, score, (design.share / here)[y[test] - 1],
        np.bincount(prob.argmax(axis=1), minlength=4),
    )  # fmt: skip


def _split(y: np.ndarray, design: Design, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    parts: list[list[np.ndarray]] = [[], [], []]
    for number, (first, second) in zip(CLASSES, zip(design.train, design.calibrate, strict=True), strict=True):
        rows = rng.permutation(np.flatnonzero(y == number))
        for part, own in zip(parts, np.split(rows, [first, first + second]), strict=True):
            part.append(own)
    train, calibrate, test = (np.sort(np.concatenate(part)) for part in parts)
    return train, calibrate, test


def square_without_bias(problem: BinaryProblem, bins: Bins) -> np.ndarray:
    """Squared gap less the variance of the weighted event rate; 0 where a bin has a single row.

    Rows of one class weigh more than those of another: the weight goes with the outcome, and its square into the variance.
    """
    at = bins.index(problem.score)
    squares = np.bincount(at, (problem.weight * (problem.outcome - bins.event_rate[at])) ** 2, len(bins))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = bins.gap**2 - squares / bins.weight**2 * bins.count / (bins.count - 1.0)
    return np.where(bins.count > 1, value, 0.0)


def errors(design: Design, seed: int, name: str, loss: str | Loss = "gap") -> ClassErrors:
    """The error of each predicted class: of values after binning as they are, of the forest's scores in 15 bins."""
    of = run(design, seed)
    return class_errors(
        of.y, of.score[name], y_pred=of.label, labels=CLASSES, notion="top-label",
        binning=EqualWidth(15) if name == "forest" else Unique(), loss=loss, n_resamples=0, sample_weight=of.weight,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class ByClass:
    """A row a seed, a column a predicted class."""

    error: np.ndarray
    square: np.ndarray
    """Mean squared gaps less their variance: one can be negative, and they are right on average."""
    share: np.ndarray

    @property
    def root(self) -> np.ndarray:
        """Root of the mean square over seeds, bias-corrected."""
        return np.sqrt(np.maximum(self.square.mean(axis=0), 0.0))

    @property
    def root_error(self) -> np.ndarray:
        """Its standard error."""
        return self.square.std(axis=0, ddof=1) / np.sqrt(len(self.square)) / (2.0 * np.maximum(self.root, 1e-3))


@cache
def by_class(design: Design, name: str) -> ByClass:
    """Errors of each predicted class, over the seeds."""
    plain = [errors(design, seed, name) for seed in range(SEEDS)]
    squares = [errors(design, seed, name, square_without_bias).value for seed in range(SEEDS)]
    return ByClass(np.array([one.value for one in plain]), np.array(squares), np.array([one.share for one in plain]))


@cache
def fitted_rows(design: Design) -> np.ndarray:
    """Rows to calibrate on that predict each class, on average."""
    return np.mean([run(design, seed).fitted for seed in range(SEEDS)], axis=0)
