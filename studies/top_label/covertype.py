"""Random forests on Covertype: the error of each predicted class after points per bin and after a fixed number of bins."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from calibrant import ByNotion, EqualMass, EqualWidth, HistogramBinning
from calibrant._core.rows import BinaryProblem
from calibrant.binning import Binning, Bins, PointsPerBin, Unique
from calibrant.curves import ClassErrors, class_errors
from calibrant.metrics.bin_losses import Loss
from studies.data import data_dir
from studies.top_label.forecasts import DELTA

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
        y[test],
        test_prob.argmax(axis=1) + 1,
        score,
        (design.share / here)[y[test] - 1],
        np.bincount(prob.argmax(axis=1), minlength=4),
    )


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
        of.y,
        of.score[name],
        y_pred=of.label,
        labels=CLASSES,
        notion="top-label",
        binning=EqualWidth(15) if name == "forest" else Unique(),
        loss=loss,
        n_resamples=0,
        sample_weight=of.weight,
    )


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
