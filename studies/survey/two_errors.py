"""Calibrators of two classes on the survey's test cases: fits, and exact errors of what they give."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant import BetaCalibration, HistogramBinning, IsotonicCalibration, PlattScaling
from studies.markdown import table
from studies.survey.cases import Make, over_draws, rows, show, the_case
from studies.survey.exact import CELL, Errors, case, errors, given
from studies.survey.sentences import spelt

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

Region = tuple[float, float]


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
