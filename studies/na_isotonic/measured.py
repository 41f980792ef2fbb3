"""What docs/na-isotonic.md measures: every metric of every forecast after every calibrator."""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from calibrant import (
    ByNotion,
    IsotonicCalibrator,
    MatrixScaling,
    NormalizedFlattenedIsotonic,
    SortedCumulativeIsotonic,
    TemperatureScaling,
    VectorScaling,
    accuracy,
    classwise_calibration_error,
    expected_calibration_error,
    mean_brier_loss,
    negative_log_likelihood,
    resampling_test,
    thresholded_adaptive_calibration_error,
)
from calibrant.calibrators.base import Calibrator
from studies.na_isotonic.forecasts import Model, models

RESAMPLES = 199
LEVEL = 0.05

CALIBRATORS: dict[str, Callable[[], Calibrator]] = {
    "NA-FIR": NormalizedFlattenedIsotonic,
    "SCIR": lambda: SortedCumulativeIsotonic(rise="last"),
    "FIR": lambda: ByNotion(IsotonicCalibrator(finite=None), "flattened"),
    "IR-OvR": lambda: ByNotion(IsotonicCalibrator(finite=None), "class-wise"),
    "TS": TemperatureScaling,
    "VS": VectorScaling,
    "MS": MatrixScaling,
}
METHODS = [*CALIBRATORS, "Uncalibrated"]

METRICS: dict[str, Callable[..., float]] = {
    "NLL": partial(negative_log_likelihood, clip=1e-12),
    "conf-ECE": expected_calibration_error,
    "BS": mean_brier_loss,
    "cw-ECE": classwise_calibration_error,
    "TECE": thresholded_adaptive_calibration_error,
    "accuracy": accuracy,
}
RANKED = [name for name in METRICS if name != "accuracy"]
"""The metrics of the paper's Table 2, all of which are better when lower."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A forecast after every calibrator: metrics of shape (n_methods, n_metrics), p-values and seconds of (n_methods,)."""

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
    warned: Counter[str]


def calibrated(model: Model, method: str) -> tuple[np.ndarray, float]:
    """The test rows after a calibrator, and the CPU seconds of its fit."""
    if method == "Uncalibrated":
        return model.test, 0.0
    start = time.process_time()
    fitted = CALIBRATORS[method]().fit(model.fit, model.y_fit)
    seconds = time.process_time() - start
    return fitted.predict_proba(model.test), seconds


def measure(model: Model) -> Measured:
    """All figures of a forecast."""
    y, warned = model.y_test, Counter[str]()
    values, pvalues, times = [], [], []
    for method in METHODS:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            prob, seconds = calibrated(model, method)
        warned[method] += bool(said)
        values.append([metric(y, prob) for metric in METRICS.values()])
        pvalues.append(p_value(y, prob, RESAMPLES))
        times.append(seconds)
    sure = float(model.test.max(axis=1).mean()) - accuracy(y, model.test)
    size = (model.n_classes, len(model.y_fit), len(y))
    found = (np.array(values), np.array(pvalues), np.array(times))
    return Measured(model.data_set, model.architecture, model.seed, *size, sure, *found, warned)


def p_value(y: np.ndarray, prob: np.ndarray, resamples: int) -> float:
    """P-value of conf-ECE against its values on labels drawn from the forecast."""
    return resampling_test(y, prob, metric="ece", n_resamples=resamples).pvalue


@cache
def measured() -> tuple[Measured, ...]:
    """Every forecast, measured."""
    started, found = time.process_time(), []
    for model in models():
        found.append(measure(model))
        where = f"{model.data_set}, {model.architecture}, {model.seed}"
        print(f"{time.process_time() - started:6.0f} CPU s  {where}", file=sys.stderr)
    return tuple(found)
