"""The forecasts that docs/top-label.md compares on CIFAR-10, and what is measured of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.special import softmax

from calibrant import (
    ByNotion,
    DirichletCalibration,
    EqualMass,
    HistogramBinning,
    TemperatureScaling,
    VectorScaling,
    calibration_error,
)
from calibrant.binning import Binning, PointsPerBin
from calibrant.metrics import estimate_calibration_error
from calibrant.metrics.estimate import Estimate
from calibrant.notions import WithinGroups
from studies.data import data_dir

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

    def drawn(self, rows: np.ndarray) -> Forecast:
        """The same of other rows."""
        label, column = (None if of is None else of[rows] for of in (self.label, self.column))
        return replace(self, y=self.y[rows], prob=self.prob[rows], label=label, column=column)


@cache
def cifar() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Logits and labels, to calibrate and to test."""
    with np.load(data_dir() / "cifar10_resnet50.npz") as data:
        return (
            data["logits_cal"].astype(np.float64),
            data["y_cal"],
            data["logits_test"].astype(np.float64),
            data["y_test"],
        )


def top_label_binning(points: int) -> ByNotion:
    """TL-HB: top-label histogram binning."""
    return ByNotion(HistogramBinning(PointsPerBin(points), delta=DELTA, random_state=0), "top-label")


def one_against_rest(*, normalize: bool) -> ByNotion:
    """N-HB, and without normalisation CW-HB: 100 bins a class."""
    return ByNotion(HistogramBinning(EqualMass(100)), "class-wise", normalize=normalize)


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
