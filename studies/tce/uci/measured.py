"""What is measured of each model, and the same of a calibrated forecast with its probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from calibrant import EqualMass, EqualWidth, calibration_error, log_loss
from calibrant.binning import BoundedIsotonic
from calibrant.metrics import BinTest, corp_decomposition, estimate_calibration_error, mean_class_brier_loss
from calibrant.metrics.estimate import Estimate
from studies.tce.uci.data import DATA_SETS
from studies.tce.uci.models import ALGORITHMS, SEEDS, Forecast, forecast

N_BINS, RESAMPLES = 10, 99

SPELLINGS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "TCE": {"binning": BoundedIsotonic(), "loss": BinTest()},
        "TCE(Q)": {"binning": EqualMass(N_BINS), "loss": BinTest()},
        "ECE": {"binning": EqualWidth(N_BINS)},
        "ACE": {"binning": EqualMass(N_BINS)},
        "MCE": {"binning": EqualWidth(N_BINS), "norm": "max"},
        "MCE(Q)": {"binning": EqualMass(N_BINS), "norm": "max"},
        "debiased": {"binning": EqualMass(N_BINS), "loss": "debiased squared gap", "norm": "root"},
    }
)
"""Calibration errors: points of `calibration_error`."""

PROPER: Mapping[str, Callable[[np.ndarray, np.ndarray], float]] = MappingProxyType(
    {
        "NLL": partial(log_loss, clip=1e-12),
        "Brier": mean_class_brier_loss,
        "MCB": lambda y, prob: corp_decomposition(y, prob)["miscalibration"],
        "MCB, log": lambda y, prob: corp_decomposition(y, prob, score="log")["miscalibration"],
    }
)
"""Proper scores, and the miscalibration parts of both, which have no bins to choose."""

METRICS = (*SPELLINGS, *PROPER)


def measure(of: Forecast, metric: str) -> float:
    if metric in PROPER:
        return PROPER[metric](of.y, of.prob)
    return calibration_error(of.y, of.prob, **SPELLINGS[metric])


@cache
def values(metric: str) -> np.ndarray:
    """The metric of every model, shape (n_data_sets, n_algorithms, n_seeds)."""
    return np.array(
        [[[measure(forecast(d, a, s), metric) for s in SEEDS] for a in ALGORITHMS] for d in DATA_SETS], dtype=float
    )


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
    return np.array(
        [[[estimate(d, a, s, metric).noise_floor for s in SEEDS] for a in ALGORITHMS] for d in DATA_SETS], dtype=float
    )


@cache
def pvalues(metric: str) -> np.ndarray:
    """Share of calibrated forecasts with at least the figure, shape (n_data_sets, n_algorithms, n_seeds)."""
    return np.array(
        [[[estimate(d, a, s, metric).pvalue for s in SEEDS] for a in ALGORITHMS] for d in DATA_SETS], dtype=float
    )
