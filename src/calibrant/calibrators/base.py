"""What calibrators share: they take predicted probabilities and return calibrated ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from calibrant._core.arrays import as_array, columns_of
from calibrant._core.finite_numbers import as_numbers
from calibrant._core.in_batches import InBatches
from calibrant._core.labels import as_labels
from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse, require
from calibrant._core.problem import BinaryProblem, Forecast, Problem
from calibrant._core.registry import find
from calibrant._core.rows import OF_CALIBRATOR
from calibrant._core.text_columns import text_of
from calibrant._core.validation import Input, as_forecast, as_problem
from calibrant._core.warnings import warn
from calibrant.calibrators.problems import problem_of_batches, say_how_to_fit
from calibrant.calibrators.reading_and_writing import Writing
from calibrant.sums.unread import is_unread

MOST_COEFFICIENT = 1e200
"""Coefficients of log-odds and logits in a file are at most so large: times the largest logit they are still numbers."""

LOOKED_AT = 1 << 12
"""Of the numbers that a map gives about so many are checked, evenly spread: that takes some microseconds."""

ROUNDING = 1e-9
"""How far beyond 0 and 1 rounding may take a calibrated probability."""

OWN = "See that _apply, or _map_log_odds, returns a calibrated probability, or its log-odds, for each that it is given"
"""What to do about a map that gives something else; only one that is written outside calibrant should."""

OF_FILE = frozenset({"input", "labels"})
"""Parameters that a file keeps beside the method."""


class Calibrator(ClassifierMixin, BaseEstimator, ABC):
    """A scikit-learn classifier whose features are the probabilities (or logits) of another one.

    Subclasses say what they fit (`_fit_problem`) and how they map (`_map_forecast`). Every parameter that
    fitting finds is an attribute whose name ends in an underscore: that is what is saved and loaded.
    """

    block: ClassVar[int] = 1 << 16
    """Numbers mapped at a time: what is made of a block on the way stays in the processor's cache."""

    unstored: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Parameters that older files do not hold, with the value that they had when there was no such parameter."""

    unrecorded: ClassVar[frozenset[str]] = frozenset()
    """Fitted attributes that older files do not hold."""

    choices: ClassVar[Mapping[str, Callable[[Any], Any]]] = MappingProxyType({})
    """Parameters that are frozen dataclasses, each with the function that makes one of a number or a word."""

    input: Input
    labels: Sequence[Any] | None
    classes_: npt.NDArray[np.generic]
    n_features_in_: int

    def fit(
        self,
        X: npt.ArrayLike | InBatches,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
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
        A fit that fails or is interrupted leaves the calibrator as it was.
        """
        in_batches = isinstance(X, InBatches)
        require(
            in_batches or y is not None,
            "y must be given",
            given=f"{type(self).__name__} requires y to be passed, but the target y is None",
            hint="Pass the class of each row",
        )
        before = dict(self.__dict__)
        try:
            if isinstance(X, InBatches):
                problem, self.n_features_in_ = problem_of_batches(
                    X, y, sample_weight, input=self.input, labels=self.labels
                )
                self._fit_checked(problem)
            else:
                self._fit_data(X, y, sample_weight)
        except BaseException as error:  # also when interrupted from the keyboard
            self.__dict__ = before
            if isinstance(error, SystemError) and isinstance(error.__cause__, KeyboardInterrupt):
                raise error.__cause__ from None  # numba was just handing back an array
            if in_batches:
                say_how_to_fit(error)
            raise
        return self

    def _fit_data(self, X: npt.ArrayLike, y: Any, sample_weight: npt.ArrayLike | None) -> None:
        values = self._received(X, reset=True)
        words = text_of(y)
        truth = as_labels(column_or_1d(as_array("y_true", y), warn=True)) if words is None else words
        problem = as_problem(
            truth,
            values,
            sample_weight=sample_weight,
            labels=self.labels,
            input=self.input,
            column_names=getattr(self, "feature_names_in_", None),
            remedies=OF_CALIBRATOR,
        )
        self._fit_checked(problem)

    def _fit_checked(self, problem: Problem) -> None:
        """Fit, and say so if rows in memory are of one class."""
        self.classes_ = problem.classes
        if not is_unread(problem):
            occurred = problem.outcome if isinstance(problem, BinaryProblem) else problem.label
            if occurred.min() == occurred.max():
                warn_of_one_class(self.classes_[int(occurred[0])], problem.size)
        self._fit_problem(problem)

    def calibrate(self, y_prob: npt.ArrayLike) -> FloatArray:
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
        check_is_fitted(self)
        values = self._received(y_prob, reset=False)
        return self._map_column(values) if values.ndim == 1 else self._map_table(self._forecast(values))

    def predict_proba(self, X: npt.ArrayLike) -> FloatArray:
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
        check_is_fitted(self)
        return self._map_table(self._forecast(self._received(X, reset=False)))

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.generic]:
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
        prob = self.predict_proba(X)
        label: npt.NDArray[np.generic] = self.classes_[prob.argmax(axis=1)]
        return label

    @abstractmethod
    def _fit_problem(self, problem: Problem) -> None: ...

    def _check_loaded(self) -> None:
        """Refuse, by a ValueError or TypeError that names it, an attribute from a file that no fit gives.

        Called when a file has been read: all annotated attributes are there and have the types that are annotated. A map that
        passes gives valid probabilities for every forecast, in time and memory in proportion to what the attributes hold.
        """

    def _accept_loaded(self) -> None:
        """Check what a file holds: the classes, and what this class asks of its attributes."""
        self._check_loaded()

    def _described(self, write: Writing) -> dict[str, Any]:
        """Return what a file holds: what it was told, and what fitting found, if it is fitted."""
        is_fitted = any(name.endswith("_") and not name.startswith("_") for name in vars(self))
        return self._told(write) | (self._found(write) if is_fitted else {})

    def _told(self, write: Writing) -> dict[str, Any]:
        """Return the method and its parameters."""
        parameters = {name: write.value(value) for name, value in self._stored_parameters().items()}
        return {"method": write.word("calibrator", self), "parameters": parameters}

    def _found(self, write: Writing) -> dict[str, Any]:
        """Return what fitting found."""
        return {"fitted": write.state(self)}

    def _stored_parameters(self) -> dict[str, Any]:
        """Return the parameters as a file holds them, but ``input`` and ``labels``, which stand elsewhere."""
        stored = {name: value for name, value in self.get_params(deep=False).items() if name not in OF_FILE}
        if isinstance(word := stored.get("calibrator"), str):  # what it is declared by, however it was spelled
            stored["calibrator"] = find("calibrator", word).name
        return stored

    @classmethod
    def _restored_parameters(cls, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is passed to the class, given what a file holds."""
        reserved = sorted(stored.keys() & OF_FILE)
        require(
            not reserved, "parameters must not hold what stands elsewhere", got=", ".join(reserved), hint="Fit anew"
        )
        return {**cls.unstored, **stored}

    @abstractmethod
    def _map_forecast(self, forecast: Forecast) -> FloatArray: ...

    def _map_column(self, values: FloatArray) -> FloatArray:
        return self._map_table(self._forecast(values))[:, 1]

    def _map_table(self, forecast: Forecast) -> FloatArray:
        """Map some rows at a time: a row's result depends on that row alone."""
        n, n_classes = forecast.shape
        if n * n_classes <= self.block:
            return np.ascontiguousarray(self._map_forecast(forecast))
        calibrated = np.empty((n, n_classes))
        for rows, part in blocks(forecast, self.block):
            calibrated[rows] = self._map_forecast(part)
        return calibrated

    def _checked(self, found: FloatArray, shape: tuple[int, ...]) -> FloatArray:
        """Return what a map gave, if it has this shape and is probabilities; of many rows some are looked at."""
        found = self._as_numbers(found)
        seen = found[:: max(1, found.size // LOOKED_AT)] if found.shape == shape else found
        if found.shape != shape or (seen.size and not (seen.min() >= -ROUNDING and seen.max() <= 1.0 + ROUNDING)):
            of = f"the map of {type(self).__name__} must"
            require(found.shape == shape, f"{of} keep the shape {shape}", value=found.shape, hint=OWN)
            wrong = seen[~((seen >= -ROUNDING) & (seen <= 1.0 + ROUNDING))][0]  # NaN is not in the range
            refuse(f"{of} give probabilities from 0 to 1", got=f"{wrong:g}", hint=OWN)
        return found

    def _as_numbers(self, found: object) -> FloatArray:
        """Return what a map gave in double precision, if it is real numbers."""
        if type(found) is np.ndarray and found.dtype == np.float64:
            return found
        array = (
            np.ma.filled(found.astype(np.float64), np.nan)
            if isinstance(found, np.ma.MaskedArray)
            else np.asarray(found)
        )
        must = f"the map of {type(self).__name__} must give real numbers"
        require(array.dtype.kind in "fiub", must, got=f"dtype {array.dtype}", hint=OWN, error=TypeError)
        return array.astype(np.float64, copy=False)

    def _forecast(self, values: FloatArray) -> Forecast:
        """Return a valid forecast of the classes that were fitted; one column as two."""
        forecast, wanted = as_forecast(values, input=self.input, remedies=OF_CALIBRATOR), len(self.classes_)
        if forecast.shape[1] != wanted:
            given = "one" if values.ndim == 1 else str(forecast.shape[1])
            refuse(f"y_prob must have {wanted} columns", got=given, hint="Reshape your data to (n_samples, n_classes)")
        return forecast

    def _received(self, X: npt.ArrayLike, *, reset: bool) -> FloatArray:
        values = as_numbers("y_prob", X)
        if values.ndim == 1:
            if reset:
                self.n_features_in_ = 1
            return values
        # scikit-learn counts and names the columns; whether the numbers will do is for our own validation to say.
        validate_data(self, values if columns_of(X) is None else X, reset=reset, skip_check_array=True)
        return values[:, 0] if values.shape[1] == 1 else values


def warn_of_one_class(label: object, n_rows: int) -> None:
    """Say that the rows are of one class."""
    warn(
        f"only the class {label!s} occurs in the {n_rows} calibration rows: the map is "
        "fitted all the same, without evidence on other classes. Fit on more rows."
    )


def blocks(forecast: Forecast, size: int) -> Iterator[tuple[slice, Forecast]]:
    """Cut a forecast into rows of at most so many numbers at a time."""
    n, n_classes = forecast.shape
    step = max(1, size // n_classes)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        yield rows, Forecast(forecast.values[rows], forecast.is_logit)
