"""A classifier together with its calibrator: what is trained, cross-fitted and deployed as one estimator."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from calibrant._links import FloatArray
from calibrant._validation import CalibrationWarning
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.temperature import TemperatureScaling

Pair = tuple[Any, Calibrator]


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Train a classifier and calibrate it on rows that it was not trained on.

    Parameters
    ----------
    estimator : classifier, optional
        Has ``predict_proba``, or ``decision_function``, whose values are then taken for logits. By default a
        `LogisticRegression`. It is cloned, unless ``cv="prefit"``.
    calibrator : Calibrator, optional
        It is cloned. By default `TemperatureScaling`.
    cv : int, splitter, iterable or "prefit", default=5
        Folds (stratified, for a number), or "prefit": the estimator is fitted already and stays as it is, and all rows
        passed to ``fit`` serve the calibrator. They must not be the rows it was trained on.
    ensemble : bool, default=False
        False: one calibrator, fitted on the out-of-fold forecasts of all rows, behind the estimator trained on all rows.
        True: a pair of estimator and calibrator a fold; their forecasts are averaged.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.
    pairs_ : list of (estimator, calibrator)
        One, or one a fold with ``ensemble=True``.
    n_features_in_ : int
        Features of the estimator, where it says so.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Scikit-learn's own, with its three methods.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import CalibratedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> CalibratedClassifier(GaussianNB()).fit(X, y).predict_proba(X[:2]).shape
    (2, 3)
    """

    classes_: npt.NDArray[np.generic]
    pairs_: list[Pair]

    def __init__(
        self,
        estimator: Any = None,
        calibrator: Calibrator | None = None,
        *,
        cv: Any | Literal["prefit"] = 5,
        ensemble: bool = False,
    ) -> None:
        self.estimator = estimator
        self.calibrator = calibrator
        self.cv = cv
        self.ensemble = ensemble

    def fit(self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Train and calibrate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Whatever the estimator takes.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Passed to the calibrator, and to the estimator where its ``fit`` takes weights.

        Returns
        -------
        self
            The fitted classifier.
        """
        check_classification_targets(y)
        X, y = indexable(X, y)
        truth = column_or_1d(y, warn=True)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        if isinstance(self.cv, str):
            if self.cv != "prefit":
                raise ValueError(f"cv must be a number of folds, a splitter or 'prefit'; got {self.cv!r}. Pass cv=5.")
            self._fit_prefit(X, truth, weight)
        else:
            self._fit_folds(X, truth, weight)
        first = self.pairs_[0][0]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Whatever the estimator takes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; rows sum to one.
        """
        check_is_fitted(self)
        n_classes = len(self.classes_)
        forecasts = [
            calibrator.predict_proba(_forecast(estimator, X, self._seen_by(estimator), n_classes))
            for estimator, calibrator in self.pairs_
        ]
        return np.asarray(np.mean(forecasts, axis=0), dtype=np.float64)

    def predict(self, X: Any) -> npt.NDArray[np.generic]:
        """Return the class of the highest calibrated probability; of equal ones the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Whatever the estimator takes.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        prob = self.predict_proba(X)
        label: npt.NDArray[np.generic] = self.classes_[prob.argmax(axis=1)]
        return label

    def _fit_prefit(self, X: Any, truth: npt.NDArray[Any], weight: FloatArray | None) -> None:
        check_is_fitted(self.estimator)
        self.classes_ = np.asarray(self.estimator.classes_)
        forecast = _forecast(self.estimator, X, np.arange(len(self.classes_)), len(self.classes_))
        calibrator = self._new_calibrator(self.estimator, labels=self.classes_)
        self.pairs_ = [(self.estimator, calibrator.fit(forecast, truth, weight))]

    def _fit_folds(self, X: Any, truth: npt.NDArray[Any], weight: FloatArray | None) -> None:
        self.classes_ = LabelEncoder().fit(truth).classes_
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError(
                f"y must hold at least two classes to train a classifier; got {n_classes} (one class or no row). "
                "Check how the rows were chosen."
            )
        self.pairs_, forecasts, scored, strange = [], [], [], 0
        for train, test_rows in check_cv(self.cv, truth, classifier=True).split(X, truth):
            estimator = self._trained(X, truth, weight, train)
            # A model cannot be blamed for a class that its fold did not show it: such rows say nothing of calibration.
            test = test_rows[np.isin(truth[test_rows], estimator.classes_)]
            strange += len(test_rows) - len(test)
            forecast = _forecast(estimator, _rows(X, test), self._seen_by(estimator), n_classes)
            if self.ensemble:
                calibrator = self._new_calibrator(estimator, labels=self.classes_)
                part = None if weight is None else weight[test]
                self.pairs_.append((estimator, calibrator.fit(forecast, truth[test], part)))
            forecasts.append(forecast)
            scored.append(test)
        if strange:
            warnings.warn(
                f"{strange} rows are of a class that was absent when their fold's model was trained: they do not serve to "
                "calibrate. Use fewer folds, or collect more rows of rare classes.",
                CalibrationWarning,
                stacklevel=3,
            )
        if not self.ensemble:
            rows = np.concatenate(scored)
            estimator = self._trained(X, truth, weight, np.arange(_num_samples(X)))
            calibrator = self._new_calibrator(estimator, labels=self.classes_)
            part = None if weight is None else weight[rows]
            self.pairs_ = [(estimator, calibrator.fit(np.concatenate(forecasts), truth[rows], part))]

    def _trained(self, X: Any, truth: npt.NDArray[Any], weight: FloatArray | None, rows: npt.NDArray[np.intp]) -> Any:
        estimator = LogisticRegression() if self.estimator is None else clone(self.estimator)
        if weight is not None and has_fit_parameter(estimator, "sample_weight"):
            return estimator.fit(_rows(X, rows), truth[rows], sample_weight=weight[rows])
        return estimator.fit(_rows(X, rows), truth[rows])

    def _new_calibrator(self, estimator: Any, labels: npt.NDArray[np.generic]) -> Calibrator:
        given = TemperatureScaling() if self.calibrator is None else self.calibrator
        if not isinstance(given, Calibrator):
            raise TypeError(f"calibrator must be a calibrator of calibrant; got {given!r}. Pass TemperatureScaling().")
        calibrator: Calibrator = clone(given)
        calibrator.set_params(input="probability" if hasattr(estimator, "predict_proba") else "logit", labels=labels)
        return calibrator

    def _seen_by(self, estimator: Any) -> npt.NDArray[np.intp]:
        """Columns of the classes that the estimator was trained on: a fold may lack one."""
        columns: npt.NDArray[np.intp] = np.searchsorted(self.classes_, estimator.classes_)
        return columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(LogisticRegression() if self.estimator is None else self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _forecast(estimator: Any, X: Any, columns: npt.NDArray[np.intp], n_classes: int) -> FloatArray:
    """Probabilities of all classes, zero for those that the estimator does not know; or logits."""
    if hasattr(estimator, "predict_proba"):
        known = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        absent = np.zeros((len(known), 1))
    else:
        known = np.asarray(estimator.decision_function(X), dtype=np.float64)
        if known.ndim == 1:
            known = np.column_stack([np.zeros(len(known)), known])
        absent = known.min(axis=1, keepdims=True) - 100.0  # below all others, whatever their scale
    forecast = np.repeat(absent, n_classes, axis=1)
    forecast[:, columns] = known
    return forecast


def _rows(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)
