"""Forecasts that estimators make: of all classes, and of several models as one."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import gmean

from calibrant._core import links
from calibrant._core.finite_numbers import as_numbers
from calibrant._core.links import FloatArray
from calibrant._core.parameters import require

Rows = npt.NDArray[np.intp]
Pooling = Literal["mean", "geometric"]


def forecast_of(estimator: Any, X: Any, columns: Rows, n_classes: int) -> FloatArray:
    """Probabilities of all classes, zero for those that the estimator does not know; or logits."""
    if hasattr(estimator, "predict_proba"):
        known = _numbers_of(estimator, "predict_proba", X)
        absent = np.zeros((len(known), 1))
    else:
        known = _numbers_of(estimator, "decision_function", X)
        if known.ndim == 1:
            known = np.column_stack([np.zeros(len(known)), known])
        of_pairs = len(columns) > 2 and getattr(estimator, "decision_function_shape", "ovr") == "ovo"
        require(
            not of_pairs and known.shape[1] == len(columns),
            f"decision_function must give a value for each of the {len(columns)} classes",
            got=f"{known.shape[1]} of {type(estimator).__name__}, one for each pair",
            hint="Pass decision_function_shape='ovr', or an estimator with predict_proba",
        )
        absent = known.min(axis=1, keepdims=True) - 100.0  # below all others, whatever their scale
    forecast = np.repeat(absent, n_classes, axis=1)
    forecast[:, columns] = known
    return forecast


def columns_known(estimator: Any, classes: npt.NDArray[np.generic]) -> Rows:
    """Return the columns of the classes that the estimator was trained on: a fold may lack one."""
    order = np.argsort(classes)  # those of an estimator that is trained already may stand in any order
    columns: Rows = order[np.searchsorted(classes, estimator.classes_, sorter=order)]
    return columns


def _numbers_of(estimator: Any, method: str, X: Any) -> FloatArray:
    return as_numbers(f"{method} of {type(estimator).__name__}", getattr(estimator, method)(X))


def pooled(forecasts: list[FloatArray], pooling: Pooling) -> FloatArray:
    """Return the mean of forecasts, or the geometric mean of each class, divided by the sum of the row."""
    if len(forecasts) == 1:
        return forecasts[0]
    if pooling == "mean":
        return np.asarray(np.mean(forecasts, axis=0), dtype=np.float64)
    return links.prob_of_logit(np.mean([links.log_prob_of_prob(prob) for prob in forecasts], axis=0))


def pooled_intervals(intervals: FloatArray, pooling: Pooling) -> FloatArray:
    """Return the mean of pairs of probabilities, of shape (n_models, n_samples, 2), or geometric means of p1 and of 1 - p0."""
    if pooling == "mean":
        return np.asarray(intervals.mean(axis=0), dtype=np.float64)
    lower, upper = 1.0 - gmean(1.0 - intervals[:, :, 0], axis=0), gmean(intervals[:, :, 1], axis=0)
    return np.column_stack([lower, upper])
