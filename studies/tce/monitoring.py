"""Monitoring: prevalence drifts while the forecast stays calibrated, or stays as wrong as it was in log-odds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import itemgetter

import numpy as np
from scipy.special import expit, logit

from calibrant import EqualMass, bin_test_calibration_error, calibration_slope, expected_calibration_error
from calibrant.binning import BoundedIsotonic
from calibrant.metrics import calibration_in_the_large, debiased_calibration_error
from calibrant.significance import cox_test
from studies.markdown import table
from studies.tce.forecasts import SLOPE, draw

ROWS, SEEDS = 6000, 60
PREVALENCES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
SIZES = (1000, 3000, 10_000, 30_000, 100_000)
FEW_SEEDS = 20
AT = 0.1
"""Prevalence of the drift in size."""

SHIFT, STRETCH = 0.5, 2.0

FORECASTS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "calibrated": lambda x, prevalence: expit(logit(prevalence) + SLOPE * x),
    "shifted": lambda x, prevalence: expit(logit(prevalence) + SLOPE * x + SHIFT),
    "too sure": lambda x, prevalence: expit(logit(prevalence) + STRETCH * SLOPE * x),
}
"""Log-odds that are right, too high by SHIFT, and STRETCH times as far from those of the prevalence."""

METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "TCE(P)": lambda y, p: bin_test_calibration_error(y, p, binning=BoundedIsotonic(), labels=[0, 1]),
    "TCE(Q)": lambda y, p: bin_test_calibration_error(y, p, binning=EqualMass(10), labels=[0, 1]),
    "ECE": lambda y, p: expected_calibration_error(y, p, binning=10, labels=[0, 1]),
    "ACE": lambda y, p: expected_calibration_error(y, p, binning=EqualMass(10), labels=[0, 1]),
    "debiased": lambda y, p: debiased_calibration_error(y, p, binning=EqualMass(10), labels=[0, 1]),
    "ACE / prevalence": lambda y, p: expected_calibration_error(y, p, binning=EqualMass(10), labels=[0, 1]) / y.mean(),
    "in the large": lambda y, p: calibration_in_the_large(y, p, labels=[0, 1]),
    "slope": lambda y, p: calibration_slope(y, p, labels=[0, 1]),
    "p-value": lambda y, p: cox_test(y, p, labels=[0, 1]).pvalue,
}

Key = tuple[str, str]


@cache
def measured(prevalence: float, rows: int) -> dict[Key, np.ndarray]:
    """Metrics by (forecast, metric), one a seed."""
    seeds = SEEDS if rows == ROWS else FEW_SEEDS
    drawn = [draw(prevalence, prevalence, n_train=0, n_test=rows, seed=seed) for seed in range(seeds)]
    return {
        (name, metric): np.array([of(d.y_test, make(d.x_test, prevalence)) for d in drawn])
        for name, make in FORECASTS.items()
        for metric, of in METRICS.items()
    }


def at(prevalence: float, forecast: str, metric: str, rows: int = ROWS) -> np.ndarray:
    """A metric of a forecast, one a seed."""
    return measured(prevalence, rows)[forecast, metric]


def shown(values: np.ndarray, metric: str) -> str:
    """Mean and standard deviation; of a p-value the share below 5 %."""
    if metric == "p-value":
        return f"{np.mean(values < 0.05):.0%}"
    digits = {"TCE(P)": 1, "TCE(Q)": 1, "ECE": 4, "ACE": 4, "debiased": 4}.get(metric, 2)
    mean = round(float(values.mean()), digits) + 0.0  # no minus before a zero
    return f"{mean:.{digits}f} ± {values.std(ddof=1):.{digits}f}"


AS_THEY_ARE = ("TCE(P)", "TCE(Q)", "ECE", "ACE", "debiased", "ACE / prevalence")

ALARMS: dict[str, Callable[[dict[str, np.ndarray]], np.ndarray]] = {
    **{name: itemgetter(name) for name in AS_THEY_ARE},
    "abs(in the large)": lambda of: np.abs(of["in the large"]),
    "abs(slope - 1)": lambda of: np.abs(of["slope"] - 1.0),
    "1 - p-value": lambda of: 1.0 - of["p-value"],
}
"""What a monitor may compare with one threshold."""


def pooled(forecast: str) -> dict[str, np.ndarray]:
    """All metrics of a forecast, over all prevalences and draws."""
    return {metric: np.concatenate([at(p, forecast, metric) for p in PREVALENCES]) for metric in METRICS}


def told_apart(forecast: str, alarm: str) -> float:
    """How often an alarm is higher for a wrong forecast than for the calibrated one, over pairs of any prevalences."""
    wrong, right = (ALARMS[alarm](pooled(name))[:, None] for name in (forecast, "calibrated"))
    return float(np.mean((wrong > right.T) + 0.5 * (wrong == right.T)))


def alarm_table() -> str:
    """How well one threshold for all prevalences can do."""
    body = [
        [name, *(f"{told_apart(name, alarm):.1%}" for alarm in ALARMS)] for name in FORECASTS if name != "calibrated"
    ]
    return table(["", *ALARMS], body)


HEAD = [*[*METRICS][:-1], "test rejects"]


def prevalence_table(forecast: str) -> str:
    """All metrics of a forecast as prevalence falls."""
    body = [
        [f"{100 * prevalence:g} %", *(shown(at(prevalence, forecast, metric), metric) for metric in METRICS)]
        for prevalence in PREVALENCES
    ]
    return table(["prevalence", *HEAD], body)


def size_table(forecast: str) -> str:
    """All metrics of a forecast as rows grow in number."""
    body = [[f"{rows:,}", *(shown(at(AT, forecast, metric, rows), metric) for metric in METRICS)] for rows in SIZES]
    return table(["rows", *HEAD], body)
