"""What calibrators share: they take predicted probabilities and return calibrated ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from inspect import get_annotations, signature
from types import MappingProxyType, NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, cast, dataclass_transform, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_n_features, check_is_fitted, column_or_1d, has_fit_parameter, validate_data

from calibrant._core import arrays as links
from calibrant._core import checks
from calibrant._core import rows as _rows
from calibrant._core.arrays import ArrayLike, FloatArray, NDArray, as_array, columns_of
from calibrant._core.border import SAMPLED, Input, as_forecast, as_problem, classes_by_name, declared
from calibrant._core.registry import declare, find
from calibrant._core.rows import BinaryProblem, Forecast, InBatches, Problem, SimplexProblem, as_simplex
from calibrant._core.threads import one_blas_thread
from calibrant.notions import Binary
from calibrant.sums.reading import Predictions, UnreadPart, UnreadSimplex, is_unread

# The problems that calibrators are fitted to: of one score, and of predictions that are read in batches


SAMPLE_FITTED = (
    "rows = predictions.sample(100_000), and pass labels=rows['labels'] to the calibrator and rows['y_prob'], rows['y_true'], "
    "rows.get('sample_weight') to fit"
)
"""How a sample is fitted: the arguments of ``fit`` are not those of a function."""


def with_scores_of_logits(problem: BinaryProblem) -> BinaryProblem:
    """Return the problem with scores made of its log-odds, as those of new rows are: rounding must not part the two."""
    return problem if problem.logit is None else replace(problem, score=links.score_of_logit(problem.logit))


def one_score(problem: Problem) -> BinaryProblem:
    """Return a problem of two classes as one of the score of the second; log-odds are made of both columns."""
    if isinstance(problem, BinaryProblem):
        return problem
    forecast = problem.forecast
    binary = replace(next(Binary().split(problem)), logit=forecast.log_odds)
    return with_scores_of_logits(binary) if forecast.is_logit else binary


class _InDouble(Predictions):
    """Predictions in single precision as a calibrator takes all numbers, also those of new rows: in double."""

    def __init__(self, predictions: InBatches) -> None:
        self.predictions = predictions

    @property
    def is_many(self) -> bool:
        return bool(getattr(self.predictions, "is_many", True))

    def head(self) -> Problem:
        return in_double(self.predictions.head())

    def reduce(self, read: _rows.Read[_rows.M]) -> _rows.M:
        return self.predictions.reduce(lambda batch, first: read(in_double(batch), first))


def in_double(problem: Problem) -> Problem:
    """Return a problem of probabilities in single precision in double."""
    if isinstance(problem, SimplexProblem):
        return replace(problem, forecast=Forecast(problem.prob))
    return replace(problem, precision=np.dtype(np.float64))


def problem_of_batches(
    predictions: InBatches, *beside: object, input: Input, labels: Sequence[Any] | None
) -> tuple[Problem, int]:
    """Return the problem of predictions that are read in batches, and its number of columns.

    ``beside`` are labels and weights, which must not be given; ``input`` and ``labels`` must be those of the predictions.
    """
    must = "y and sample_weight must be left out beside predictions that are read in batches"
    hint = "Say them where they are made: calibrant.predictions(...)"
    checks.require(all(one is None for one in beside), must, got="both", hint=hint, error=TypeError)
    predictions = predictions if predictions.precision == np.float64 else _InDouble(predictions)
    problem, some = predictions.as_problem(), predictions.head()
    is_logit, n_columns = some.is_logit, some.classes.size if some.values.ndim == 2 else 1
    got = f"{input!r} for {'logits' if is_logit else 'probabilities'}"
    hint = f"Pass input={'logit' if is_logit else 'probability'!r}"
    checks.require(is_logit == (input == "logit"), "input must be that of the predictions", got=got, hint=hint)
    must = f"labels must be those of the predictions, {problem.classes.tolist()}"
    checks.require(
        labels is None or list(labels) == problem.classes.tolist(), must, value=labels, hint="Leave them out"
    )
    return problem, n_columns


MOST_COEFFICIENT = 1e200
"""Coefficients of log-odds and logits in a file are at most so large: times the largest logit they are still numbers."""

LOOKED_AT = 1 << 12
"""Of the numbers that a map gives about so many are checked, evenly spread: that takes some microseconds."""

ROUNDING = 1e-9
"""How far beyond 0 and 1 rounding may take a calibrated probability."""

OWN = "See that _apply, or _map_log_odds, returns a calibrated probability, or its log-odds, for each that it is given"
"""What to do about a map that gives something else; only one that is written outside calibrant should."""


method = partial(declare, "calibrator")
"""Register the decorated calibrator."""


def parameter(*, default: Any, kw_only: bool = True, **limits: Any) -> Any:
    """Declare a parameter that its type, and these limits of a number, check before a fit and when a file is read."""
    return field(default=default, kw_only=kw_only, metadata={"limits": limits})


def fitted(shape: str | None = None, *, init: Literal[False] = False, **limits: Any) -> Any:
    """Declare an attribute that fitting finds, and what a file must hold of it: the lengths of its axes, and limits.

    A length is a number, a letter, or a letter and a number such as ``n+1``. A letter is one length in all attributes, and
    ``K`` the number of classes; a plain number has the shape "". Without a shape its own class checks it, or nobody need.
    """
    return field(init=init, metadata={} if shape is None else {"shape": shape, "limits": limits})


declared_types = cache(get_type_hints)
"""The types of what a class declares."""


def check_parameters(calibrator: Any) -> None:
    """Refuse a parameter that is not as it was declared."""
    for of in fields(calibrator):
        if "limits" not in of.metadata or not of.init:
            continue
        value, kind = getattr(calibrator, of.name), declared_types(calibrator.__class__)[of.name]
        kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        words = [word for one in kinds if get_origin(one) is Literal for word in get_args(one)]
        if (value is None and NoneType in kinds) or any(checks.is_word(value, word) for word in words):
            continue
        if np.random.Generator in kinds:
            checks.source(of.name, value)
        elif bool in kinds:
            checks.flag(of.name, value)
        elif int in kinds:
            checks.whole(of.name, value, **of.metadata["limits"])
        elif float in kinds and not (isinstance(value, str) and len(words) > 1):
            checks.number(of.name, value, **of.metadata["limits"])
        else:
            checks.choice(of.name, value, words, also=" or None" if NoneType in kinds else "")


@contextmanager
def unless_it_fails(estimator: object) -> Iterator[None]:
    """Fit an estimator, which stays as it was where that fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        for name in vars(estimator).keys() - before:
            delattr(estimator, name)
        for name, value in before.items():
            setattr(estimator, name, value)
        raise


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field, parameter, fitted))
class Calibrator(ClassifierMixin, BaseEstimator, ABC):
    """A scikit-learn classifier whose features are the probabilities (or logits) of another one.

    Its parameters are declared as the fields of a dataclass, which makes the constructor.

    Subclasses say what they fit (`_fit_problem`) and how they map (`_map_forecast`). Every parameter that
    fitting finds is an attribute whose name ends in an underscore: that is what is saved and loaded.
    """

    block: ClassVar[int] = 1 << 16
    """Numbers mapped at a time: what is made of a block on the way stays in the processor's cache."""

    choices: ClassVar[Mapping[str, Callable[[Any], Any]]] = MappingProxyType({})
    """Parameters that are frozen dataclasses, each with the function that makes one of a number or a word."""

    made_safe: ClassVar[Mapping[str, float]] = MappingProxyType({})
    """Parameters of a `SafeCalibrator` around it, where they are not the usual ones."""

    input: Input
    labels: Sequence[Any] | None
    classes_: NDArray[np.generic]
    n_features_in_: int

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = {name: kind for name, kind in get_annotations(cls).items() if "ClassVar" not in str(kind)}
        for name in own:
            if "_" in (name[0], name[-1]) and name not in vars(cls):
                setattr(cls, name, fitted())
        makes = "__init__" not in vars(cls) and any("_" not in (name[0], name[-1]) for name in own)
        dataclass(cls, init=makes, kw_only=True, eq=False, repr=False, match_args=False)
        if makes:  # what a class adds comes first
            order = [name for of in cls.__mro__ for name in get_annotations(of)]
            made = signature(cls.__init__)
            rest = sorted(list(made.parameters.values())[1:], key=lambda one: (one.kind, order.index(one.name)))
            ordered = made.replace(parameters=[made.parameters["self"], *rest])
            cls.__init__.__signature__ = ordered  # type: ignore[attr-defined]

    def fit(self, X: ArrayLike | InBatches, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the map on rows that the classifier has not been trained on.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_classes)
            Forecast: probabilities, or logits where ``input="logit"``; or predictions that are read in batches, which have
            labels and weights with them.
        y : array-like of shape (n_samples,), optional
            Class labels; left out beside predictions that are read in batches, and there only.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; an integer weight counts as that many equal rows.

        Returns
        -------
        self
            The fitted calibrator.

        Notes
        -----
        A fit that fails or is interrupted leaves the calibrator as it was. While it runs, BLAS has one thread in the whole
        process.
        """
        try:
            with unless_it_fails(self):
                if hasattr(self, "feature_names_in_"):  # those of an earlier fit
                    del self.feature_names_in_
                if isinstance(X, InBatches):
                    problem, self.n_features_in_ = problem_of_batches(
                        X, y, sample_weight, input=self.input, labels=self.labels
                    )
                else:
                    problem = self._problem_of(X, y, sample_weight)
                self.classes_ = problem.classes
                check_parameters(self)
                if not is_unread(problem) and (code := problem.code).min() == code.max():
                    warn_of_one_class(self.classes_[code[0]], problem.size)
                with one_blas_thread():
                    self._fit_problem(problem)
        except BaseException as error:  # also when interrupted from the keyboard
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise error.__cause__ from None  # numba was just handing back an array
            if SAMPLED in str(error):  # a function takes a sample in another way than a fit does
                error.args = (str(error).replace(SAMPLED, SAMPLE_FITTED),)
            raise
        return self

    def _problem_of(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None) -> Problem:
        if y is None:
            got = f"{type(self).__name__} requires y to be passed, but the target y is None"
            checks.refuse("y must be given", given=got, hint="Pass the class of each row")
        values = self._received(X, reset=True)
        truth = column_or_1d(as_array("y_true", y), warn=True)
        return as_problem(
            truth,
            values,
            sample_weight=sample_weight,
            labels=self.labels,
            input=self.input,
            column_names=columns_of(X),
            remedies=_rows.OF_CALIBRATOR,
        )

    def calibrate(self, y_prob: ArrayLike) -> FloatArray:
        """Calibrate a forecast.

        Parameters
        ----------
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        ndarray of the same shape
            Calibrated probabilities.
        """
        values = self._received(y_prob, reset=False)
        return self._map_column(values) if values.ndim == 1 else self._map_table(self._forecast(values))

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Calibrate a forecast; one column is returned as two.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Calibrated probabilities, columns in the order of ``classes_``.
        """
        return self._map_table(self._fitted_forecast(X))

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Return the class of the highest calibrated probability; of equal ones the first.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        prob = self.predict_proba(X)  # first: it says that nothing is fitted yet
        return np.asarray(self.classes_[prob.argmax(axis=1)])

    @abstractmethod
    def _fit_problem(self, problem: Problem) -> None: ...

    def _fit_inside(self, outer: Calibrator, problem: Problem) -> Self:
        """Fit to what a calibrator is fitted to that has this one inside."""
        self.set_params(input=outer.input, labels=outer.labels)
        self.classes_, self.n_features_in_ = outer.classes_, outer.n_features_in_
        self._fit_problem(problem)
        return self

    def _sizes(self) -> dict[str, int]:
        """Return the lengths that letters stand for in the shapes of fitted attributes."""
        return {"K": len(self.classes_)} if hasattr(self, "classes_") else {}

    def _check_loaded(self) -> None:
        """Refuse, by a ValueError or TypeError that names it, an attribute from a file that no fit gives.

        Called when a file has been read: all annotated attributes are there and have the types that are annotated. A map that
        passes gives valid probabilities for every forecast, in time and memory in proportion to what the attributes hold.
        """
        check_parameters(self)
        sizes = self._sizes()
        for of in fields(self):
            if of.init or not of.metadata:
                continue
            value, words = getattr(self, of.name), of.metadata["shape"].split()
            if not words:
                checks.number(of.name, value, hint="Fit anew", **of.metadata["limits"])
                continue
            parts = [word.partition("+") for word in words]
            shape = [
                int(a) if a.isdigit() else sizes[a] + int(more or 0) if a in sizes else None for a, _, more in parts
            ]
            checks.numbers(of.name, value, shape=tuple(shape), **of.metadata["limits"])
            sizes = dict(zip(words, value.shape, strict=True)) | sizes

    @abstractmethod
    def _map_forecast(self, forecast: Forecast) -> FloatArray: ...

    def _map_column(self, values: FloatArray) -> FloatArray:
        return self._map_table(self._forecast(values))[:, 1]

    def _map_table(self, forecast: Forecast) -> FloatArray:
        """Map some rows at a time: a row's result depends on that row alone."""
        calibrated = np.empty(forecast.shape)
        for rows, part in blocks(forecast, self.block):
            calibrated[rows] = self._map_forecast(part)
        return calibrated

    def _checked(self, found: FloatArray, shape: tuple[int, ...]) -> FloatArray:
        """Return what a map gave, if it has this shape and is probabilities; of many rows some are looked at."""
        array = np.asarray(found)
        if array.dtype.kind not in "fiub":
            must = f"the map of {type(self).__name__} must give real numbers"
            checks.refuse(must, got=f"dtype {array.dtype}", hint=OWN, error=TypeError)
        found = array.astype(np.float64, copy=False)
        seen = found[:: max(1, found.size // LOOKED_AT)] if found.shape == shape else found
        if found.shape != shape or (seen.size and not (seen.min() >= -ROUNDING and seen.max() <= 1.0 + ROUNDING)):
            of = f"the map of {type(self).__name__} must"
            checks.require(found.shape == shape, f"{of} keep the shape {shape}", value=found.shape, hint=OWN)
            wrong = seen[~((seen >= -ROUNDING) & (seen <= 1.0 + ROUNDING))][0]  # NaN is not in the range
            checks.refuse(f"{of} give probabilities from 0 to 1", got=f"{wrong:g}", hint=OWN)
        return found

    def _fitted_forecast(self, X: ArrayLike) -> Forecast:
        check_is_fitted(self)
        return self._forecast(self._received(X, reset=False))

    def _forecast(self, values: FloatArray) -> Forecast:
        """Return a valid forecast of the classes that were fitted; one column as two."""
        forecast, wanted = as_forecast(values, input=self.input, remedies=_rows.OF_CALIBRATOR), len(self.classes_)
        if forecast.shape[1] != wanted:
            # Tables of other widths were refused by `_received`.
            checks.refuse(
                f"y_prob must have {wanted} columns", got="one", hint="Reshape your data to (n_samples, n_classes)"
            )
        return forecast

    def _received(self, X: ArrayLike, *, reset: bool) -> FloatArray:
        if not reset and not hasattr(self, "classes_"):
            check_is_fitted(self)
        values = checks.as_numbers("y_prob", X)
        if values.ndim == 1:
            if reset:
                self.n_features_in_ = 1
            return values
        # scikit-learn counts and names the columns; whether the numbers will do is for our own validation to say.
        names = columns_of(X)
        if names is None and not reset:  # an array has no names to compare, and is no reason for a warning
            if values.shape[1] != self.n_features_in_:
                _check_n_features(self, values, reset=False)
        else:
            validate_data(self, values if names is None else X, reset=reset, skip_check_array=True)
        if not reset and names is not None:  # numbers are no names to scikit-learn
            known, classes = classes_by_name(self.classes_, list(map(str, names))), self.classes_.tolist()
            must = f"columns of y_prob must be those of the classes {classes}, in this order"
            checks.require(known in (None, classes), must, value=known, hint="Put them in this order, or pass an array")
        return values[:, 0] if values.shape[1] == 1 else values


def warn_of_one_class(label: object, n_rows: int) -> None:
    """Say that the rows are of one class."""
    said = f"only the class {label!s} occurs in the {n_rows} calibration rows"
    checks.warn(f"{said}: the map is fitted all the same, without evidence on other classes. Fit on more rows.")


def warn_unless_certain(what: str, gradient: float, most: float, n_iter: int, n_rows: int, then: str) -> None:
    """Say that a search ended where the gradient is larger than it must be, and what is used all the same."""
    if not gradient <= most:
        said = f"{what} below {most:g}; got {gradient:.2g} after {n_iter} steps on {n_rows} rows"
        checks.warn(f"{said}. {then}.", ConvergenceWarning)


def blocks(forecast: Forecast, size: int) -> Iterator[tuple[slice, Forecast]]:
    """Cut a forecast into rows of at most so many numbers at a time."""
    for rows in links.blocks(*forecast.shape, size):
        yield rows, Forecast(forecast.values[rows], forecast.is_logit)


# The kinds of calibrators: a map of one score, of the log-odds of one event, or of the whole simplex


HIGHEST_LOGIT, LOWEST_LOGIT = 36.7, -709.7
"""Beyond these the logistic function is 1 and 0 to the last digit."""

MOST_LOG_ODDS = 700.0
"""Calibrated log-odds end here: beyond it the smaller of two probabilities would be zero."""


BOTH_SIGNS = np.array([-1.0, 1.0])
"""Times the log-odds of the second of two classes: those of both."""


class BinaryCalibrator(Calibrator):
    """A map of one score. Implement ``_fit(problem)`` and ``_apply(score)``; no classes are known there.

    `ByNotion` makes a multiclass calibrator of it.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.
    """

    input: Input = "probability"
    labels: Sequence[Any] | None = None

    @abstractmethod
    def _fit(self, problem: BinaryProblem) -> None: ...

    @abstractmethod
    def _apply(self, score: FloatArray) -> FloatArray: ...

    def _apply_logit(self, log_odds: FloatArray) -> FloatArray:
        """Map scores that were given as log-odds; a method that reads log-odds takes them exactly."""
        return self._apply(links.score_of_logit(log_odds))

    def _fit_one(self, problem: BinaryProblem) -> None:
        """Fit a binary problem, and say so if its logits are lost on the method."""
        if (
            not is_unread(problem)
            and problem.logit is not None
            and type(self)._apply_logit is BinaryCalibrator._apply_logit
        ):
            lost = problem.logit[(problem.logit > HIGHEST_LOGIT) | (problem.logit < LOWEST_LOGIT)]
            if np.unique(lost).size > 1:
                checks.warn(
                    f"logits above {HIGHEST_LOGIT:g} are one probability to {type(self).__name__}, and so are those below "
                    f"{LOWEST_LOGIT:g}; got {lost.size} of {problem.size}, up to {np.abs(lost).max():g}. Divide them by a "
                    "number, or take a method of log-odds such as PlattScaling."
                )
        self._fit(problem)

    def _fit_problem(self, problem: Problem) -> None:
        got, hint = f"{problem.classes.size} classes", f"Say how: ByNotion({type(self).__name__}(), 'class-wise')"
        checks.require(problem.classes.size == 2, f"{type(self).__name__} maps one score", got=got, hint=hint)
        if isinstance(problem, UnreadSimplex):
            self._fit(UnreadPart(problem, Binary(), 0, one_score))
            for bins in (cells[0].bins for _, cells in problem.fixed[:1]):
                if (rate := bins.outcome_sum.sum() / bins.weight.sum()) in (0.0, 1.0):
                    warn_of_one_class(problem.classes[int(rate)], problem.size)
        else:
            self._fit_one(one_score(problem))

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        values = forecast.log_odds if forecast.is_logit else forecast.prob[:, 1]
        column = self._mapped(values, is_logit=forecast.is_logit)
        return np.column_stack([1.0 - column, column])

    def _map_column(self, values: FloatArray) -> FloatArray:
        is_logit = self.input == "logit"
        valid = declared(values, input=self.input, remedies=_rows.OF_CALIBRATOR)
        calibrated = np.empty(valid.size)
        for rows in links.blocks(valid.size, 1, self.block):
            calibrated[rows] = self._mapped(valid[rows], is_logit=is_logit)
        return calibrated

    def _mapped(self, values: FloatArray, *, is_logit: bool) -> FloatArray:
        """Map scores, or log-odds, and check what the method made of them."""
        return self._checked(self._apply_logit(values) if is_logit else self._apply(values), values.shape)


class LogOddsCalibrator(BinaryCalibrator):
    """A map of the log-odds of one event. Implement ``_fit(problem)`` and ``_map_log_odds(log_odds)``.

    Logits are taken as they are; probabilities are clipped so that their log-odds lie within 27.6. Both classes keep a
    probability above zero.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.
    """

    @abstractmethod
    def _map_log_odds(self, log_odds: FloatArray) -> FloatArray:
        """Return the calibrated log-odds."""

    def _apply(self, score: FloatArray) -> FloatArray:
        return self._apply_logit(links.log_odds_of_prob(score))

    def _apply_logit(self, log_odds: FloatArray) -> FloatArray:
        return links.score_of_logit(self._finite_log_odds(log_odds))

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        log_odds = self._finite_log_odds(forecast.log_odds)
        return self._checked(links.score_of_logit(log_odds[:, None] * BOTH_SIGNS), forecast.shape)

    def _finite_log_odds(self, log_odds: FloatArray) -> FloatArray:
        return np.minimum(np.maximum(self._map_log_odds(log_odds), -MOST_LOG_ODDS), MOST_LOG_ODDS)


class MulticlassCalibrator(Calibrator):
    """A map of the whole simplex. Implement ``_fit(problem)`` and ``_apply(forecast)``.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.
    """

    input: Input = "probability"
    labels: Sequence[Any] | None = None

    @abstractmethod
    def _fit(self, problem: SimplexProblem) -> None: ...

    @abstractmethod
    def _apply(self, forecast: Forecast) -> FloatArray: ...

    def _fit_problem(self, problem: Problem) -> None:
        self._fit(as_simplex(problem))

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        return self._checked(self._apply(forecast), forecast.shape)


# From a word to a calibrator of one score or of all classes: the words are those of `calibrant list calibrators`


def as_calibrator(calibrator: str | Calibrator) -> Calibrator:
    """Return a new, unfitted calibrator: that of a word, with its default parameters, or a copy of an object."""
    if isinstance(calibrator, str):
        made: Calibrator = find("calibrator", calibrator).target()
        return made
    hint = "Pass 'temperature', or TemperatureScaling()"
    checks.of_type("calibrator", calibrator, Calibrator, "a word or a calibrator of calibrant", hint=hint)
    copied: Calibrator = clone(calibrator)
    check_parameters(copied)
    return copied


class OfEstimator(BinaryCalibrator):
    """A classifier or regressor of scikit-learn as the map of one score; what it gives is cut to [0, 1].

    Where all outcomes are the same there is nothing to fit: the map is that outcome.
    """

    estimator: Any = field(kw_only=False)
    estimator_: Any = fitted()
    constant_: float | None = fitted()

    def _fit(self, problem: BinaryProblem) -> None:
        outcome = problem.outcome.astype(np.intp)
        self.constant_ = float(outcome[0]) if outcome.min() == outcome.max() else None
        weights = {} if problem.weights.is_unit else {"sample_weight": problem.weight}
        fits = not weights or has_fit_parameter(self.estimator, "sample_weight")
        hint = "Leave sample_weight out, or pass one such as LogisticRegression()"
        checks.require(
            fits, "calibrator must be an estimator whose fit takes sample_weight", value=self.estimator, hint=hint
        )
        self.estimator_ = clone(self.estimator)
        if self.constant_ is None:
            self.estimator_.fit(problem.score[:, None], outcome, **weights)
            gives = hasattr(self.estimator_, "predict_proba") or not hasattr(self.estimator_, "classes_")
            must = "calibrator must be a classifier with predict_proba, or a regressor"
            hint = "Other classifiers give classes and no probabilities: pass one such as LogisticRegression()"
            checks.require(gives, must, value=self.estimator, hint=hint, error=TypeError)

    def _apply(self, score: FloatArray) -> FloatArray:
        if self.constant_ is not None:
            return np.full(score.size, self.constant_)
        if hasattr(self.estimator_, "predict_proba"):
            made = self.estimator_.predict_proba(score[:, None])[:, 1]
        else:
            made = self.estimator_.predict(score[:, None])
        return np.clip(np.asarray(made, dtype=np.float64), 0.0, 1.0)


def as_binary_calibrator(calibrator: str | BinaryCalibrator, *, hint: str) -> BinaryCalibrator:
    """Return a new, unfitted map of one score, of a word or of an object; refuse what maps all classes."""
    made: Any = as_calibrator(calibrator) if isinstance(calibrator, (str, BinaryCalibrator)) else calibrator
    if not isinstance(made, (type, Calibrator)) and hasattr(made, "fit") and hasattr(made, "predict"):
        made = OfEstimator(made)
    must = "calibrator must be a BinaryCalibrator, a map of one score"
    hint = f"Pass an object: {calibrator.__name__}()" if isinstance(calibrator, type) else hint
    checks.require(isinstance(made, BinaryCalibrator), must, value=calibrator, hint=hint, error=TypeError)
    return cast("BinaryCalibrator", made)


# What is said of classes, and of problems of a notion, that the calibration rows lack


def tell_of_absent(simplex: SimplexProblem, without_event: list[str]) -> None:
    """Say which classes did not occur, where others did: of a single class every calibrator says it."""
    if is_unread(simplex):
        said = f"no calibration row has the event of {first_names(without_event)}"
        checks.warn(f"{said}: its map is fitted all the same. Fit on more rows.")
        return
    seen = np.bincount(simplex.label, minlength=len(simplex.classes)) > 0
    if 1 < seen.sum() < seen.size:
        names = first_names([str(name) for name in simplex.classes[~seen]])
        said = f"no calibration row is of class {names} among {simplex.size}"
        checks.warn(f"{said}: its map is fitted all the same, on rows without the event. Fit on more rows.")


def first_names(names: list[str]) -> str:
    """Return the first few names, and how many there are in all."""
    return "; ".join(names[:5]) + (f"; ... ({len(names)} in all)" if len(names) > 5 else "")
