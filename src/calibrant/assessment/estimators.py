"""With estimators of scikit-learn: metrics as scorers, the calibrator that `compare` recommends, correction for optimism."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics._scorer import _Scorer
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from calibrant._core.arrays import ArrayLike, FloatArray, NDArray, quotients, sum_of_rows
from calibrant._core.border import DataOptions, Input, as_labels, as_problem
from calibrant._core.checks import CalibrationWarning, flag, nearest, refuse, require, require_jobs, resamples, tracked
from calibrant._core.registry import named
from calibrant._core.result import Result, Table, in_columns
from calibrant._core.rows import Forecast, Problem
from calibrant.assessment.advice import OF_CLASSES, OF_ONE_EVENT
from calibrant.assessment.compared_rows import IDENTITY, CrossValidation, HeldOut, maker_of, named_calibrators
from calibrant.assessment.comparison import DRAWS, Comparison, comparison_of, metrics_of
from calibrant.calibrators.base import Calibrator, fitted, parameter
from calibrant.calibrators.classifier import default_of, forecast_of
from calibrant.calibrators.safe import Method, in_order
from calibrant.fit.folds import observed
from calibrant.metrics.kinds import Function, Metric, as_metric, metric_named
from calibrant.sums.draws import Rng, as_rng

NEGATED = re.compile(r"neg[-_ ](.+)", re.IGNORECASE)
"""What scikit-learn calls a loss whose sign is turned around."""

OF_ESTIMATOR = frozenset({"sample_weight", "labels", "y_pred", "input"})
"""Arguments of a metric that estimator and metadata give."""

METHOD = ("predict_proba",)
"""Our key in scikit-learn's cache of predictions: under "predict_proba" stands the column of any scorer's ``pos_label``."""


class MetricScorer(_Scorer):  # type: ignore[misc]  # scikit-learn ships no types
    """What `scorer` returns: a function of (estimator, X, y), as `sklearn.metrics.make_scorer` makes one.

    It differs in two points: the metric gets the classes of the estimator, and the table of all of them also where there are
    two.
    """

    def __init__(self, metric: Metric, parameters: dict[str, Any]) -> None:
        measure = partial(_measured, metric.target, metric.ideal)
        super().__init__(measure, 1 if metric.higher_is_better else -1, parameters, response_method="predict_proba")
        self._name = metric.name

    def __repr__(self) -> str:
        """Return the call that makes it."""
        given = [f"{name}={value!r}" for name, value in self._kwargs.items()]
        return f"scorer({', '.join([repr(self._name), *given])})"

    def _get_pos_label(self) -> None:
        return None  # the column is chosen by the metric

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: ArrayLike, **metadata: Any) -> float:
        self._warn_overlap("A parameter of the scorer is passed as metadata as well.", metadata)
        found = np.asarray(method_caller(estimator, METHOD, X, pos_label=None))
        table = np.column_stack([1.0 - found, found]) if found.ndim == 1 else found
        truth = as_labels(y_true)
        classes, table = _with_unseen(as_labels(estimator.classes_, "classes_"), table, truth)
        return float(self._sign * self._score_func(truth, table, labels=classes.tolist(), **self._kwargs | metadata))


def scorer(metric: str | Function, **parameters: Any) -> MetricScorer:
    """Return a metric as a scorer for ``cross_val_score``, ``cross_validate`` and ``GridSearchCV``: greater is better.

    Parameters
    ----------
    metric : str or callable
        A name that ``calibrant list metrics`` prints, in any case, such as ``"ece"``, or the function itself, such as
        `expected_calibration_error`. As in `sklearn.metrics.get_scorer`, ``"neg_ece"`` is the same: an error or a loss has its
        sign turned around, whether its name says so or not.
    **parameters : dict
        Parameters of the metric, such as ``binning=EqualMass(10)`` or ``notion="class-wise"``, and of the data ``pos_label``
        and ``rows``.

    Returns
    -------
    scorer
        A function of (estimator, X, y) that calls ``predict_proba`` and returns one number. Of an error or a loss it is minus
        the metric; of a metric that should be 1 or 0, such as the calibration slope, minus the distance to that number;
        of a metric where higher is better the metric itself.

    Raises
    ------
    ValueError
        If there is no metric of that name, or "neg" stands before one where higher is better.
    TypeError
        If the metric has no such parameter, or a function is not one of calibrant's.

    See Also
    --------
    sklearn.metrics.make_scorer : A scorer of any function.

    Notes
    -----
    The classes are those of the estimator, so labels may be words, and a class may be absent from the rows of a fold. Rows of a
    class that the estimator has not seen count: it gave that class probability 0. Of two classes the event is the
    second one, or ``pos_label``.

    Weights reach the metric by scikit-learn's metadata routing, as with ``make_scorer``:
    ``scorer("ece").set_score_request(sample_weight=True)``.

    A calibration error of few rows is mostly noise, and larger the fewer there are. To choose a model take a proper score,
    ``"nll"`` or ``"brier"``, and look at calibration errors beside it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import EqualMass, scorer
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> names = load_iris().target_names[y]
    >>> scoring = {"ece": scorer("ece", binning=EqualMass(5)), "nll": scorer("nll")}
    >>> found = cross_validate(GaussianNB(), X, names, scoring=scoring)
    >>> bool((found["test_ece"] <= 0).all()), scoring["ece"]
    (True, scorer('ece', binning=EqualMass(n_bins=5)))
    """
    chosen = _metric_of(metric)
    known = _parameters_of(chosen.target)
    for name in parameters:
        given = "The estimator gives it" if name != "sample_weight" else "Call set_score_request(sample_weight=True)"
        near = next(map(repr, nearest(name, known)), "one of them")
        hint = given if name in OF_ESTIMATOR else f"Pass {near}"
        must = f"a parameter of scorer({chosen.name!r}) must be one of {', '.join(map(repr, known))}"
        require(name in known, must, value=name, hint=hint, error=TypeError)
    return MetricScorer(chosen, parameters)


def _measured(
    function: Function, ideal: float | None, y_true: Any, y_prob: Any, *, sample_weight: Any = None, **parameters: Any
) -> float:
    """Return the metric, or its distance to the ideal."""
    weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
    value = function(y_true, y_prob, **parameters, **weighted)
    return value if ideal is None else abs(value - ideal)


def _metric_of(metric: str | Function) -> Metric:
    if not isinstance(metric, str):
        entry = named(metric)
        if not isinstance(entry, Metric):
            hint = "Make a scorer of another function with sklearn.metrics.make_scorer"
            refuse("metric must be a name or a metric of calibrant", value=metric, hint=hint, error=TypeError)
        return entry
    negated = NEGATED.fullmatch(metric)
    found = metric_named(negated[1] if negated else metric)
    must = f"'neg' must stand before an error or a loss; a high {found.name} is good"
    require(not (negated and found.higher_is_better), must, value=metric, hint=f"Pass {found.name!r}")
    return found


def _parameters_of(function: Function) -> list[str]:
    """Return the parameters of a metric, and those of its data, that a scorer may fix."""
    own = inspect.signature(function).parameters.values()
    names = [parameter.name for parameter in own if parameter.kind is inspect.Parameter.KEYWORD_ONLY]
    data = DataOptions.__annotations__ if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in own) else ()
    return [name for name in dict.fromkeys((*names, *data)) if name not in OF_ESTIMATOR]


def _with_unseen(classes: NDArray[Any], table: FloatArray, truth: NDArray[Any]) -> tuple[NDArray[Any], FloatArray]:
    """Return classes and probabilities with those classes that the estimator has not seen: their probability is 0."""
    unseen = np.setdiff1d(truth, classes)
    if not unseen.size:
        return classes, table
    every = np.union1d(classes, unseen)
    wider = np.zeros((len(table), every.size))
    wider[:, np.searchsorted(every, classes)] = table
    return every, wider


NLL = as_metric("nll", None)


class CalibratorSelector(Calibrator):
    """Choose among calibrators by cross-validation, as `compare` recommends by log loss, and fit the chosen one.

    Parameters
    ----------
    calibrators : sequence or dict of str or Calibrator, optional
        What to choose among; the forecast as it is stands beside them in any case. A word is one that ``calibrant list
        calibrators`` prints; with " --safe" behind it the method stands within `SafeCalibrator`. By default those that `advise`
        compares, with the default within `SafeCalibrator`.
    n_folds : int, default=5
        Each is fitted as often, on the rows outside one fold, and judged on that fold.
    level : float, default=0.05
        A calibrator takes the place of the forecast where its p-value, adjusted by Holm's method, is below;
        `EvidenceScaling` within `SafeCalibrator` where it is not shown to be worse. See `compare`.
    nested : bool, default=True
        Find the log loss of choosing and fitting on held-out rows, by as many choices as folds. It takes that many times as
        long; the choice is the same without.
    random_state : int, default=0
        Which rows make a fold.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    method_ : str
        The name of the chosen calibrator, "identity" for the forecast as it is.
    calibrator_ : Calibrator or None
        The chosen calibrator, fitted on all rows; None for the forecast as it is. `save_calibrator` and exports take this one.
    comparison_ : Comparison
        The cross-validated candidates, with the reason for the choice. The value of the chosen one is a little too good, since
        it was chosen by it.
    nested_loss_, identity_loss_ : float
        Mean log loss, in nats, of choosing and fitting without a fold, on the rows of that fold; and of the forecast as it is
        on the same rows. NaN where ``nested`` is False.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    References
    ----------
    Varma, Simon, Bias in error estimation when using cross-validation for model selection, BMC Bioinformatics 2006 (nested
    cross-validation).

    Examples
    --------
    >>> from calibrant import CalibratorSelector, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> selector = CalibratorSelector(["temperature", "svs"], nested=False).fit(prob[:748], y[:748])
    >>> selector.method_
    'svs'
    """

    calibrators: Any = field(default=None, kw_only=False)
    n_folds: int = parameter(default=5, least=2, hint="Pass n_folds=5")
    level: float = parameter(default=0.05, above=0.0, below=1.0, hint="Pass level=0.05")
    nested: bool = parameter(default=True)
    random_state: int = parameter(default=0, least=0, hint="Pass random_state=0")
    input: Input = "probability"
    labels: Sequence[Any] | None = None
    method_: str = fitted()
    calibrator_: Calibrator | None = fitted()
    comparison_: Comparison = fitted()
    nested_loss_: float = fitted()
    identity_loss_: float = fitted()

    def _fit_problem(self, problem: Problem) -> None:
        self.comparison_, self.calibrator_ = self._chosen(problem)
        self.method_, self.nested_loss_, self.identity_loss_ = self.comparison_.recommended, np.nan, np.nan
        if self.nested:
            rows, counts = in_order(observed(problem))
            held_out = HeldOut(counts, self.n_folds, as_rng(self.random_state))
            chosen = held_out.calibrated(rows, lambda n_classes: clone(self).set_params(nested=False))
            self.identity_loss_, self.nested_loss_ = map(NLL.value, (held_out.of(rows), chosen))

    def _chosen(self, problem: Problem) -> tuple[Comparison, Calibrator | None]:
        """Return how the candidates compare on some rows, and the recommended one, fitted on them."""
        named = named_calibrators(self._candidates(problem) if self.calibrators is None else self.calibrators)
        rng = as_rng(self.random_state)
        cv = CrossValidation(self.n_folds)
        found = comparison_of({IDENTITY: problem}, named, [NLL], cv, self.level, DRAWS, rng, unnamed=True)
        found = replace(found, problems={})  # a fitted estimator keeps no rows
        if found.recommended == IDENTITY:
            return found, None
        calibrator = maker_of(named[found.recommended])(len(self.classes_))
        return found, calibrator._fit_inside(self, problem)

    def _candidates(self, problem: Problem) -> list[str]:
        methods = OF_ONE_EVENT if len(self.classes_) == 2 else OF_CLASSES
        return [*methods, str(Method(default_of(problem).word, safe=True))]

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        if self.calibrator_ is None:
            return quotients(forecast.prob, sum_of_rows(forecast.prob))
        return self.calibrator_._map_forecast(forecast)


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
    y_true: ArrayLike,
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


def _optimism(estimator: Any, X: Any, truth: NDArray[Any], metrics: Sequence[Metric], seed: int) -> FloatArray:
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


def _values(model: Any, X: Any, truth: NDArray[Any], metrics: Sequence[Metric]) -> FloatArray:
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
