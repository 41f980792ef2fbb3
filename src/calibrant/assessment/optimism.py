"""How much better a model looks on the rows that it was fitted to than on new ones, by the bootstrap."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from calibrant._core.arrays import FloatArray
from calibrant._core.border import as_labels, as_problem
from calibrant._core.checks import flag, refuse, require, require_jobs, resamples, tracked
from calibrant._core.result import Result, Table, in_columns
from calibrant.assessment.comparison import metrics_of
from calibrant.calibrators.classifier import forecast_of
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics.kinds import Function, Metric
from calibrant.sums.draws import Rng, as_rng

OF_MODELS = ("calibration-slope", "calibration-intercept", "roc-auc", "brier")
"""What a clinical model of one event is validated by."""

REDRAWN = 100
"""Samples drawn for one that holds every class."""


@dataclass(frozen=True, eq=False)
class OptimismCorrected(Result):
    """Metrics of a model on the rows that it was fitted to, and what is to be expected on new rows.

    Attributes
    ----------
    metric : tuple of str
        Their names.
    apparent : ndarray of shape (n_metrics,)
        On the rows that the model was fitted to.
    optimism : ndarray of shape (n_metrics,)
        Mean over bootstrap samples of the metric of a model fitted to the sample, on the sample less on all rows.
    corrected : ndarray of shape (n_metrics,)
        ``apparent`` less ``optimism``.
    standard_error : ndarray of shape (n_metrics,)
        Of ``optimism``, from the number of samples; it does not say how far ``corrected`` is from the truth.
    n_resamples : int
        Bootstrap samples on which every metric was a number.
    """

    _table = Table(None, "metric", "apparent", "optimism", "corrected", "standard_error")
    _summary = "metrics={metric:n}, samples={n_resamples}"

    metric: tuple[str, ...]
    apparent: FloatArray
    optimism: FloatArray
    corrected: FloatArray
    standard_error: FloatArray
    n_resamples: int

    def __str__(self) -> str:
        """Return a line for each metric."""
        columns = self.apparent, self.optimism, self.corrected, self.standard_error
        rows = [["metric", "apparent", "optimism", "corrected", "std. error"]]
        rows += [[name, *(f"{one:.4f}" for one in of)] for name, *of in zip(self.metric, *columns, strict=True)]
        said = f"{self.n_resamples} bootstrap samples; the standard error is that of drawing so many"
        return "\n".join([*in_columns(rows, 1), said])


def optimism_corrected(
    estimator: Any,
    X: Any,
    y_true: npt.ArrayLike,
    *,
    metrics: Sequence[str | Function] = OF_MODELS,
    n_resamples: int = 200,
    rng: Rng = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> OptimismCorrected:
    """Validate a model on the rows that it is fitted to, corrected for optimism by the bootstrap.

    Parameters
    ----------
    estimator : classifier of scikit-learn
        With ``predict_proba``. All that was chosen with the labels, such as predictors, must be chosen in it.
    X : array-like of shape (n_samples, n_features)
        Predictors.
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans. Of two, the second in sorted order is the event.
    metrics : sequence of str or callable
        Registered metrics, or functions of (y_true, y_prob). By default slope and intercept, c-statistic and Brier score of
        one event.
    n_resamples : int, default=200
        Bootstrap samples, to each of which a model is fitted.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    n_jobs : int, optional
        Models that are fitted at the same time, in processes of their own; -1 means as many as there are cores.
    progress : bool, default=False
        Whether a bar shows how many samples are done, where tqdm is installed.

    Returns
    -------
    OptimismCorrected
        A result with ``apparent``, ``optimism``, ``corrected`` and ``to_frame()``; printed, it is a table.

    Raises
    ------
    ValueError
        If most samples lack a class, or have a metric that is no number.

    Notes
    -----
    With T(m, D) the metric of a model on rows D, and m_D the model fitted to D, optimism is the mean of T(m_S, S) - T(m_S, D)
    over bootstrap samples S of the rows D, and the corrected metric is T(m_D, D) less it, as ``validate`` of the R package
    rms finds it. A corrected slope of 0.8 says that the log-odds of new rows must be shrunk to 0.8 of their size. Samples
    without one of the classes are drawn anew; those on which a metric is no number, as the slope where classes are separated,
    are left out.

    References
    ----------
    Harrell, Lee, Mark, Multivariable prognostic models, Statistics in Medicine 1996.
    Efron, Gong, A leisurely look at the bootstrap, the jackknife, and cross-validation, The American Statistician 1983.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from calibrant.assessment import optimism_corrected
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 8))
    >>> y = rng.random(150) < 1 / (1 + np.exp(-X[:, 0]))
    >>> found = optimism_corrected(LogisticRegression(C=1e4), X, y, n_resamples=50)
    >>> bool(found.apparent[0] > 0.99), bool(found.corrected[0] < 0.9)
    (True, True)
    """
    resamples(n_resamples, least=2, hint="200 is usual")
    measured, truth = metrics_of(metrics, None), as_labels(y_true)
    require_jobs(n_jobs)
    hint = "Pass a classifier with it, or wrap this one in CalibratedClassifier"
    require(hasattr(estimator, "predict_proba"), "estimator must have predict_proba", value=estimator, hint=hint)
    n_classes = np.unique(truth).size
    require(n_classes > 1, "y_true must have two classes or more", got=str(n_classes), hint="Pass all rows")
    apparent = _values(clone(estimator).fit(X, truth), X, truth, measured)
    seeds = as_rng(rng).integers(0, 2**63, n_resamples).tolist()
    calls = (delayed(_optimism)(estimator, X, truth, measured, seed) for seed in seeds)
    done = Parallel(n_jobs=n_jobs, return_as="generator")(calls)
    drawn = np.array(list(tracked(done, n_resamples, show=flag("progress", progress), desc="bootstrap", unit="fit")))
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    must, hint = "metrics must be numbers on most samples of the rows", "Choose other metrics, or pass more rows"
    fits = 2 * len(drawn) >= n_resamples and len(drawn) >= 2 and bool(np.isfinite(apparent).all())
    require(fits, must, got=f"{len(drawn)} of {n_resamples}", hint=hint)
    optimism = drawn.mean(axis=0)
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    names = tuple(metric.name for metric in measured)
    return OptimismCorrected(names, apparent, optimism, apparent - optimism, error, len(drawn))


def _optimism(estimator: Any, X: Any, truth: npt.NDArray[Any], metrics: Sequence[Metric], seed: int) -> FloatArray:
    """Return the metrics of a model of a bootstrap sample, on the sample less on all rows; NaN where there are none."""
    rng = np.random.default_rng(seed)
    for _ in range(REDRAWN):
        rows = rng.integers(0, truth.size, truth.size)
        if np.unique(truth[rows]).size == np.unique(truth).size:
            break
    else:
        must, hint = "bootstrap samples must hold every class", "Pass more rows of the rarest class"
        refuse(must, got=f"{REDRAWN} samples without one", hint=hint)
    sample, labels = _safe_indexing(X, rows), truth[rows]
    model = clone(estimator).fit(sample, labels)
    with warnings.catch_warnings(action="ignore", category=CalibrationWarning), np.errstate(invalid="ignore"):
        # Such samples are left out; an infinite slope less another is no number.
        return _values(model, sample, labels, metrics) - _values(model, X, truth, metrics)


def _values(model: Any, X: Any, truth: npt.NDArray[Any], metrics: Sequence[Metric]) -> FloatArray:
    """Return the metrics of a model on rows that hold every class; NaN where one is not defined."""
    classes = np.unique(truth)
    prob = forecast_of(model, X, np.arange(classes.size), classes.size)
    one: Any = {"y_prob": prob[:, 1], "pos_label": classes[1]} if classes.size == 2 else {"y_prob": prob}
    problem = as_problem(truth, labels=classes.tolist(), **one)
    found = []
    for metric in metrics:
        try:
            found.append(metric.value(problem))
        except ValueError:
            found.append(np.nan)
    return np.array(found)
