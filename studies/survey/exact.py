"""Errors of calibrated forecasts of the survey's test cases, where everything is a function of one feature.

The feature stands on a fine grid, each point with the probability of its cell and with Bayes' probabilities of the classes.
A calibrated forecast is a function on the grid, and every expectation a sum over it: no rows are drawn to measure anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant.datasets import SLOPES, SurveyMixture, make_survey_forecast, survey_network

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
