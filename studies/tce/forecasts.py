"""Forecasts of the simulation study of test-based calibration error: those of its authors, and drawn anew.

The study (Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023, section 4.1) draws a
label and then one normal feature whose mean depends on it, and fits a logistic regression. Labels of the training rows, labels
of the test rows, features of the training rows, features of the test rows: in this order they come from one stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from studies.data import data_dir

N_TRAIN, N_TEST = 14_000, 6_000
HALF_DISTANCE, SCALE = 0.5, 2.0
"""The text says that the mean is 2y - 1; the code that made the tables draws 0.5 (2y - 1)."""

SLOPE = 2.0 * HALF_DISTANCE / SCALE**2
"""Coefficient of the feature in the log-odds; the text says 4."""

CASES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "50-50": (0.50, 0.50),
        "50-40": (0.50, 0.40),
        "50-60": (0.50, 0.60),
        "01-01": (0.01, 0.01),
        "01-00": (0.01, 0.00),
        "01-02": (0.01, 0.02),
        "02-02": (0.02, 0.02),
        "02-00": (0.02, 0.00),
    }
)
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
