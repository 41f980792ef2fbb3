"""Metrics as scorers of scikit-learn, for cross-validation and searches."""

from __future__ import annotations

import inspect
import re
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics._scorer import _Scorer

from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_labels
from calibrant._core.checks import nearest, refuse, require
from calibrant._core.registry import named
from calibrant.metrics.kinds import Function, Metric, metric_named

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

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: npt.ArrayLike, **metadata: Any) -> float:
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


def _with_unseen(
    classes: npt.NDArray[Any], table: FloatArray, truth: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], FloatArray]:
    """Return classes and probabilities with those classes that the estimator has not seen: their probability is 0."""
    unseen = np.setdiff1d(truth, classes)
    if not unseen.size:
        return classes, table
    every = np.union1d(classes, unseen)
    wider = np.zeros((len(table), every.size))
    wider[:, np.searchsorted(every, classes)] = table
    return every, wider
