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
    IsotonicCalibration,
    NormalizedFlattenedIsotonic,
    SortedCumulativeIsotonic,
    TemperatureScaling,
    VectorScaling,
    classwise_calibration_error,
    expected_calibration_error,
    log_loss,
)
from calibrant.calibrators import MatrixScaling
from calibrant.calibrators.base import Calibrator
from calibrant.metrics import mean_class_brier_loss, thresholded_adaptive_calibration_error
from calibrant.metrics.scores import accuracy
from calibrant.significance import resampling_test
from studies.na_isotonic.forecasts import Model, models

RESAMPLES = 199
LEVEL = 0.05

CALIBRATORS: dict[str, Callable[[], Calibrator]] = {
    "NA-FIR": partial(NormalizedFlattenedIsotonic, smoothing="cv"),
    "SCIR": partial(SortedCumulativeIsotonic, epsilon="cv", rise="last"),
    "FIR": lambda: ByNotion(IsotonicCalibration(finite=None), "flattened"),
    "IR-OvR": lambda: ByNotion(IsotonicCalibration(finite=None), "class-wise"),
    "TS": TemperatureScaling,
    "VS": VectorScaling,
    "MS": partial(MatrixScaling, off_diagonal=1e-3, intercept=1e-3),
}
METHODS = [*CALIBRATORS, "Uncalibrated"]
"""The methods that the page ranks, as the paper does, with what the library chooses where the paper leaves it open."""

READINGS: dict[str, Callable[[], Calibrator]] = {
    "NA-FIR, exact": partial(NormalizedFlattenedIsotonic, smoothing=0.0),
    **{
        f"NA-FIR, annealed by {size:g}": partial(
            NormalizedFlattenedIsotonic, smoothing=0.0, solver="annealing", granularity=size, random_state=0
        )
        for size in (0.001, 0.003, 0.01)
    },
    **{
        f"SCIR, {epsilon:g}": partial(SortedCumulativeIsotonic, epsilon=epsilon, rise="last")
        for epsilon in (1e-12, 1e-6, 1e-4, 1e-3)
    },
    "MS, no penalty": partial(MatrixScaling, off_diagonal=0.0, intercept=0.0),
}
"""The same methods as the paper writes them, with several values where it does not say which."""

MEASURED = [*METHODS, *READINGS]


METRICS: dict[str, Callable[..., float]] = {
    "NLL": partial(log_loss, clip=1e-12),
    "conf-ECE": partial(expected_calibration_error, notion="confidence"),
    "BS": mean_class_brier_loss,
    "cw-ECE": classwise_calibration_error,
    "TECE": thresholded_adaptive_calibration_error,
    "accuracy": accuracy,
}
CLIPS = (1e-15, 1e-7)
"""Other values than 1e-12 at which the NLL takes probabilities that are lower: the paper states none."""

CLIPPED: dict[str, Callable[..., float]] = {f"NLL, {clip:g}": partial(log_loss, clip=clip) for clip in CLIPS}
"""NLL again, for the methods that predict zeros."""

RANKED = [name for name in METRICS if name != "accuracy"]
"""The metrics of the paper's Table 2, all of which are better when lower."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A forecast after every calibrator: metrics of shape (n_methods, n_metrics), all else of shape (n_methods,).

    Rows are those of `MEASURED`, columns those of `METRICS` and `CLIPPED`; ``disordered`` is the share of test rows in which
    two classes changed their order.
    """

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
    disordered: np.ndarray
    warned: Counter[str]


def calibrated(model: Model, method: str) -> tuple[np.ndarray, float]:
    """The test rows after a calibrator, and the CPU seconds of its fit."""
    if method == "Uncalibrated":
        return model.test, 0.0
    start = time.process_time()
    fitted = (CALIBRATORS | READINGS)[method]().fit(model.fit, model.y_fit)
    seconds = time.process_time() - start
    return fitted.predict_proba(model.test), seconds


def measure(model: Model) -> Measured:
    """All figures of a forecast."""
    y, warned = model.y_test, Counter[str]()
    values, pvalues, times, disordered = [], [], [], []
    for method in MEASURED:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            prob, seconds = calibrated(model, method)
        warned[method] += bool(said)
        values.append([metric(y, prob) for metric in (METRICS | CLIPPED).values()])
        pvalues.append(p_value(y, prob, RESAMPLES))
        times.append(seconds)
        disordered.append(out_of_order(model.test, prob))
    sure = float(model.test.max(axis=1).mean()) - accuracy(y, model.test)
    size = (model.n_classes, len(model.y_fit), len(y))
    found = tuple(map(np.array, (values, pvalues, times, disordered)))
    return Measured(model.data_set, model.architecture, model.seed, *size, sure, *found, warned)


def p_value(y: np.ndarray, prob: np.ndarray, resamples: int) -> float:
    """P-value of conf-ECE against its values on labels drawn from the predictions."""
    if prob.shape[1] == 2:  # a table of two columns speaks of its second, conf-ECE of the predicted class
        y, prob = (prob.argmax(axis=1) == y).astype(int), prob.max(axis=1)
    return resampling_test(y, prob, metric="ece", n_resamples=resamples).pvalue


def out_of_order(before: np.ndarray, after: np.ndarray) -> float:
    """Share of rows in which a class that was ahead of another is behind it, by more than rounding."""
    order = np.lexsort((-after, -before))  # of equal ones the highest after first: it alone need be compared
    sorted_before, sorted_after = (np.take_along_axis(prob, order, axis=1) for prob in (before, after))
    lowest_ahead = np.minimum.accumulate(sorted_after, axis=1)[:, :-1]
    ahead = sorted_before[:, :-1] > sorted_before[:, 1:]
    return float((ahead & (sorted_after[:, 1:] > lowest_ahead + 1e-12)).any(axis=1).mean())


@cache
def measured() -> tuple[Measured, ...]:
    """Every forecast, measured."""
    started, found = time.process_time(), []
    for model in models():
        found.append(measure(model))
        where = f"{model.data_set}, {model.architecture}, {model.seed}"
        print(f"{time.process_time() - started:6.0f} CPU s  {where}", file=sys.stderr)
    return tuple(found)
