"""Calibrators of three classes on the survey's network: fits, and exact errors of what they give."""

from __future__ import annotations

from functools import cache
from typing import Any, Self

import numpy as np
from sklearn.linear_model import LogisticRegression

from calibrant import DirichletCalibration, TemperatureScaling, VectorScaling
from studies.markdown import table
from studies.survey.cases import Make, over_draws, rows, show, the_case
from studies.survey.exact import class_wise, divergence

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
