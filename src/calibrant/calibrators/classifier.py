"""A classifier together with its calibrator: what is trained, cross-fitted and deployed as one estimator."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from scipy.stats import gmean
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, check_cv
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples, check_is_fitted, has_fit_parameter

from calibrant._core import arrays, checks
from calibrant._core.arrays import ArrayLike, FloatArray, NDArray, absent, more
from calibrant._core.border import as_labels, as_problem, as_weights
from calibrant._core.rows import Problem, Weights
from calibrant.calibrators.base import Calibrator, as_calibrator, check_parameters, parameter, unless_it_fails
from calibrant.calibrators.by_notion import calibrator_for
from calibrant.calibrators.parametric import TemperatureScaling
from calibrant.calibrators.safe import Method
from calibrant.fit.folds import copies_of, observed

# What is fitted where no calibrator is named, and what `advise` recommends: one place by classes and rows


SAFE_BELOW, SAFE_BELOW_OF_TWO = 1000, 3000
"""Rows from which on the default stands by itself, and not within `SafeCalibrator`: of three classes or more, and of two."""

MOST_CLASSES = 500
"""Classes up to which it is `EvidenceScaling`, which fits a million numbers: 2000 rows of so many classes, too few of more."""


def default_method(n_classes: int, n_rows: float) -> Method:
    """Return what is fitted to so many classes and rows, for which weights stand, where no method is named.

    It is `EvidenceScaling`, and above 500 classes `StructuredMatrixScaling`; within `SafeCalibrator` below 1000 rows, of two
    classes below 3000. docs/calibrators.md has the reasons.
    """
    safe = not n_rows >= (SAFE_BELOW_OF_TWO if n_classes == 2 else SAFE_BELOW)
    return Method("evidence-scaling" if n_classes <= MOST_CLASSES else "sms", safe=safe)


def default_of(problem: Problem) -> Method:
    """Return what is fitted to a problem where no method is named: copies of a row count as one, as they do in the fit."""
    with warnings.catch_warnings(action="ignore", category=checks.CalibrationWarning):  # the fit says it
        return default_method(problem.classes.size, observed(problem).weights.rows)


# Groups of rows: anything that says which rows belong together


def as_groups(groups: ArrayLike) -> NDArray[Any]:
    """Return a group a row, as splitters take it: objects that have no order, such as words beside numbers, by numbers."""
    array = arrays.as_array("groups", groups)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    must = "groups must have one dimension, a group a row"
    checks.require(array.ndim == 1, must, got=f"shape {array.shape}", hint="Pass one column")
    missing = np.array([absent(cell) or cell != cell for cell in array], dtype=np.bool_)
    if missing.any():
        at = int(np.argmax(missing))
        hint = "Drop these rows, or give each a group of its own"
        checks.refuse(
            "groups must hold a group for each row", got=f"a missing one at index {at}{more(missing)}", hint=hint
        )
    if array.dtype.kind not in "OT":
        return array
    cells = array.tolist()
    if checks.are_words(cells):
        return np.array(cells)
    codes: dict[Any, int] = {}
    return np.array([codes.setdefault(cell, len(codes)) for cell in cells])


# Forecasts that estimators make: of all classes, and of several models as one


Rows = NDArray[np.intp]
Pooling = Literal["mean", "geometric"]


def classes_of(estimator: Any) -> NDArray[Any]:
    """Return the classes of a fitted classifier; refuse what is none."""
    must, got = "estimator must be a classifier, which has classes_ when it is fitted", type(estimator).__name__
    checks.require(hasattr(estimator, "classes_"), must, got=got, hint="Pass one", error=TypeError)
    return np.asarray(estimator.classes_)


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
        must = f"decision_function must give a value for each of the {len(columns)} classes"
        got = f"{known.shape[1]} of {type(estimator).__name__}, one for each pair"
        hint = "Pass decision_function_shape='ovr', or an estimator with predict_proba"
        checks.require(not of_pairs and known.shape[1] == len(columns), must, got=got, hint=hint)
        absent = known.min(axis=1, keepdims=True) - 100.0  # below all others, whatever their scale
    forecast = np.repeat(absent, n_classes, axis=1)
    forecast[:, columns] = known
    return forecast


def _numbers_of(estimator: Any, method: str, X: Any) -> FloatArray:
    return checks.as_numbers(f"{method} of {type(estimator).__name__}", getattr(estimator, method)(X))


def pooled(forecasts: list[FloatArray], pooling: Pooling) -> FloatArray:
    """Return the mean of forecasts, or the geometric mean of each class, divided by the sum of the row."""
    if len(forecasts) == 1:
        return forecasts[0]
    if pooling == "mean":
        return np.asarray(np.mean(forecasts, axis=0), dtype=np.float64)
    return arrays.prob_of_logit(np.mean([arrays.log_prob_of_prob(prob) for prob in forecasts], axis=0))


# What goes where beside X and y: with scikit-learn's metadata routing as each asks, without it by what ``fit`` takes


class Metadata(NamedTuple):
    """Keywords of the estimator's ``fit``, the calibrator's weights, the splitter's groups.

    Weights that are whole in one fold and fractions in another are no numbers of rows in the first either.
    """

    estimator: dict[str, Any]
    weights: Weights
    splitter: dict[str, Any]


def asking_for_weights(estimator: Any) -> Any:
    """Return what an estimator asks for, ``sample_weight`` included if it has not been told otherwise."""
    request = estimator.get_metadata_routing()
    if request.fit.requests.get("sample_weight", False) is None:
        request.fit.add_request(param="sample_weight", alias=True)
    return request


Pair = tuple[Any, Calibrator]


# Folds of a classifier: a number, or a splitter of scikit-learn; of whole groups where there are groups or copies of rows


def groups_of_copies(cv: Any, X: Any, truth: NDArray[Any]) -> NDArray[np.intp] | None:
    """Return groups of equal rows of X for a number of folds, if they are copies: a model of one knows the others.

    There are none where fewer rows than folds are distinct.
    """
    values = None if issparse(X) or not _is_number(cv) else np.asarray(X)
    if values is None or values.ndim not in (1, 2) or not values.size or values.dtype.kind not in "biufOUS":
        return None
    values = values.reshape(len(values), -1)
    if values.dtype.kind in "OUS":
        codes: dict[Any, int] = {}
        try:
            numbers = [codes.setdefault(value, len(codes)) for value in values.ravel().tolist()]
        except TypeError:  # values that cannot be looked up
            return None
        values = np.array(numbers).reshape(values.shape)
    words = np.ascontiguousarray(values.astype(np.float64)).view(np.uint64)
    groups = copies_of(words, np.unique(truth, return_inverse=True)[1])
    return groups if groups is not None and groups.max() + 1 >= (5 if cv is None else cv) else None


def row_numbers(rows: ArrayLike) -> Rows:
    """Return the rows of a fold, given as numbers or as a mask, as numbers."""
    array = np.asarray(rows)
    return np.flatnonzero(array) if array.dtype == np.bool_ else array.astype(np.intp)


def _is_number(cv: Any) -> bool:
    return cv is None or arrays.is_whole(cv)


# Labels that a classifier is trained on, in the type that they have, and their classes


def as_training_labels(y: ArrayLike) -> NDArray[Any]:
    """Return labels as an array, checked as scikit-learn's classifiers check them."""
    got = "CalibratedClassifier requires y to be passed, but the target y is None"
    checks.require(y is not None, "y must be given", given=got, hint="Pass the class of each row")
    truth: NDArray[Any] = column_or_1d(arrays.as_array("y_true", y), warn=True)
    checked = as_labels(truth)
    if truth.dtype == object and checked.dtype.kind != "U":  # words keep their type
        truth = checked
    must = "y must hold numbers or text, as scikit-learn's classifiers do not take bytes"
    checks.require(truth.dtype.kind != "S", must, value=truth[:1], hint="Pass y.astype(str)")
    check_classification_targets(truth)
    return truth


@dataclass(eq=False, repr=False, match_args=False)
class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Train a classifier and calibrate it on rows that it was not trained on.

    Parameters
    ----------
    estimator : classifier, optional
        Has ``predict_proba``, or ``decision_function``, whose values are then taken for logits. By default a
        `LogisticRegression`. It is cloned, unless ``cv="prefit"``; a `sklearn.frozen.FrozenEstimator` stays as it is.
    calibrator : str or Calibrator, optional
        A word such as ``"isotonic"`` or ``"temperature"``, those of ``calibrant fit --method`` (``calibrant list
        calibrators`` prints them), or an object, which is cloned. A word of a method of one score stands for
        `ByNotion` of it where there are more than two classes, as on the command line: each class is calibrated against the
        rest, and rows are divided by their sums. An object says so itself: ``ByNotion("isotonic", "top-label")``. By default,
        as in ``calibrant fit``, `EvidenceScaling`, and above 500 classes `StructuredMatrixScaling`; within `SafeCalibrator`
        where the calibrator has fewer than 1000 rows, of two classes fewer than 3000.
    cv : int, splitter, iterable or "prefit", default=5
        Folds (stratified, for a number; and of whole groups, where ``fit`` gets groups, or where rows are copies, as after
        upsampling: equal rows whose labels hardly ever differ), or "prefit": the estimator is fitted already and stays as it
        is, and all rows passed to ``fit`` serve the calibrator. They must not be the rows it was trained on. Without an
        ensemble a frozen estimator needs no folds, and gets none.
    ensemble : bool, default=False
        False: one calibrator, fitted on the out-of-fold forecasts of all rows, behind the estimator trained on all rows.
        True: a pair of estimator and calibrator a fold; their forecasts are pooled. Platt's scheme is ``cv=3,
        ensemble=True``.
    pooling : {"mean", "geometric"}, default="mean"
        How an ensemble's forecasts become one: the mean, or the geometric mean of each class, divided by the row's sum
        (zeros count as 1e-12). With `VennAbers` the latter is the cross Venn-Abers predictor.
    label_smoothing : float, default=0.0
        Share of the uniform forecast in the final one, in [0, 1].
    n_jobs : int, optional
        Folds that are trained at a time, as in scikit-learn: None is one, -1 as many as there are processors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.
    pairs_ : list of (estimator, calibrator)
        One, or one a fold with ``ensemble=True``.
    n_features_in_ : int
        Features of the estimator, where it says so.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where the estimator knows them.

    See Also
    --------
    SafeCalibrator : A calibrator that leaves a good forecast alone.
    sklearn.calibration.CalibratedClassifierCV : Scikit-learn's own, with its three methods.

    Notes
    -----
    With scikit-learn's metadata routing, ``sample_weight`` goes to the calibrator, unless it says otherwise
    (``TemperatureScaling().set_fit_request(sample_weight=False)``), to the estimator where it was told so
    (``LogisticRegression().set_fit_request(sample_weight=True)``); ``groups`` go to the splitter; anything else to the
    estimator that asks for it. Without routing, ``sample_weight`` goes to the calibrator, and to the estimator if its
    ``fit`` has such a parameter; all other keywords go to the estimator.

    References
    ----------
    Platt, Probabilistic outputs for support vector machines, 1999 (three folds, three pairs, their mean).
    Vovk, Petej, Fedorova, Large-scale probabilistic predictors with and without guarantees of validity, NeurIPS 2015
    (the geometric mean).
    Müller, Kornblith, Hinton, When does label smoothing help?, NeurIPS 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import CalibratedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> CalibratedClassifier(GaussianNB()).fit(X, y).predict_proba(X[:2]).shape
    (2, 3)

    A word chooses the calibrator, in a grid too:

    >>> from sklearn.model_selection import GridSearchCV
    >>> words = {"calibrator": ["temperature", "isotonic"]}
    >>> search = GridSearchCV(CalibratedClassifier(GaussianNB()), words, scoring="neg_log_loss").fit(X, y)
    >>> search.best_params_
    {'calibrator': 'temperature'}
    """

    # Inside a search or another meta-estimator weights and groups are wanted, without a word of the user's.
    __metadata_request__fit = {"sample_weight": True, "groups": True}  # noqa: RUF012 - scikit-learn reads it so

    estimator: Any = None
    calibrator: str | Calibrator | None = None
    _: KW_ONLY
    cv: Any | Literal["prefit"] = 5
    ensemble: bool = parameter(default=False)
    pooling: Pooling = "mean"
    label_smoothing: float = parameter(default=0.0, least=0.0, most=1.0, hint="Pass label_smoothing=0.0 for none")
    n_jobs: int | None = None
    classes_: NDArray[np.generic] = field(init=False)
    pairs_: list[Pair] = field(init=False)

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Train and calibrate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Whatever the estimator takes.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Passed to the calibrator, and to the estimator where its ``fit`` takes weights. See the notes of the class.
        groups : array-like of shape (n_samples,), optional
            Rows of one group stay in one fold: a number of folds becomes `StratifiedGroupKFold`, and a splitter gets them.
        **fit_params : dict
            Further keywords of the estimator's ``fit``; what has a value a row is cut to the rows of a fold.

        Returns
        -------
        self
            The fitted classifier; a fit that fails or is interrupted leaves it as it was.
        """
        with unless_it_fails(self):
            self._check_parameters()
            X, truth = indexable(X, as_training_labels(y))
            groups = None if groups is None else as_groups(groups)
            check_consistent_length(X, groups)
            metadata = self._routed(X, sample_weight, groups, fit_params)
            if self._is_trained():
                check_is_fitted(self.estimator)
                self.classes_ = classes_of(self.estimator)
                self.pairs_ = [self._pair(self.estimator, self._forecast(self.estimator, X), truth, metadata.weights)]
            else:
                if _is_number(self.cv) and not metadata.weights.values.all():
                    rows = np.flatnonzero(metadata.weights.values)  # others are in no fold
                    estimator, splitter = (_check_method_params(X, metadata[part], indices=rows) for part in (0, 2))
                    metadata = Metadata(estimator, metadata.weights.part(rows), splitter)
                    X, truth = _safe_indexing(X, rows), truth[rows]
                if groups is None and (groups := groups_of_copies(self.cv, X, truth)) is not None:
                    metadata = metadata._replace(splitter={"groups": groups})
                self.classes_ = LabelEncoder().fit(truth).classes_
                must, hint = "y must hold at least two classes to train a classifier", "Check how the rows were chosen"
                checks.require(
                    len(self.classes_) >= 2, must, got=f"{len(self.classes_)} (one class or no row)", hint=hint
                )
                self.pairs_ = self._over_folds(X, truth, metadata, grouped=groups is not None)
            first = self.pairs_[0][0]
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(first, name):
                    setattr(self, name, getattr(first, name))
                elif hasattr(self, name):  # that of an earlier fit
                    delattr(self, name)
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
        forecasts = [calibrator.predict_proba(self._forecast(estimator, X)) for estimator, calibrator in self.pairs_]
        return self._smoothed(pooled(forecasts, self.pooling))

    def predict(self, X: Any) -> NDArray[np.generic]:
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
        prob = self.predict_proba(X)  # first: it says that nothing is fitted yet
        return np.asarray(self.classes_[prob.argmax(axis=1)])

    @available_if(lambda self: hasattr(self._calibrator_known(), "predict_top"))
    def predict_top(self, X: Any) -> tuple[NDArray[np.generic], FloatArray]:
        """Return the label that the estimator predicts, and its calibrated probability: `ByNotion.predict_top`.

        It is there where the calibrator has it, for a pair of estimator and calibrator: ``cv="prefit"``, a frozen estimator,
        or ``ensemble=False``. An ensemble's calibrators were each fitted to what their own estimator predicts, and none speaks
        of a label on which the estimators agreed: it is refused. ``label_smoothing`` mixes the probability as it does rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Whatever the estimator takes.

        Returns
        -------
        label : ndarray of shape (n_samples,)
            Class of the highest probability before calibration; of equal ones the first.
        score : ndarray of shape (n_samples,)
            What the calibrator of that class makes of it.

        Raises
        ------
        ValueError
            If there are several pairs.
        """
        check_is_fitted(self)
        must = "predict_top must have one estimator and its calibrator"
        got = f"an ensemble of {len(self.pairs_)}, whose members may predict different classes"
        checks.require(len(self.pairs_) <= 1, must, got=got, hint="Pass ensemble=False or cv='prefit'")
        ((estimator, calibrator),) = self.pairs_
        by_label: Any = calibrator
        label, score = by_label.predict_top(self._forecast(estimator, X))
        return label, self._smoothed(score)

    @available_if(lambda self: self._calibrator_known()._interval)  # that of `VennAbers`
    def predict_interval(self, X: Any) -> FloatArray:
        """Return the pair of probabilities of `VennAbers`, pooled over the folds of an ensemble as ``pooling`` says.

        With ``pooling="geometric"`` p1 is the geometric mean of the folds', and 1 - p0 that of theirs: cross Venn-Abers,
        whose merged probability p1 / (1 - p0 + p1) is what ``predict_proba`` gives.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Whatever the estimator takes.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The probabilities p0 and p1 of the positive label, p0 < p1.
        """
        check_is_fitted(self)
        pairs: list[tuple[Any, Any]] = self.pairs_
        intervals = [calibrator.predict_interval(self._forecast(estimator, X)) for estimator, calibrator in pairs]
        if self.pooling == "mean":
            return np.asarray(np.mean(intervals, axis=0), dtype=np.float64)
        lower, upper = np.moveaxis(np.array(intervals), 2, 0)
        return np.column_stack([1.0 - gmean(1.0 - lower, axis=0), gmean(upper, axis=0)])

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which parts of the metadata of ``fit`` go where.

        Returns
        -------
        MetadataRouter
            Of estimator, calibrator and splitter.
        """
        estimator = asking_for_weights(self._base()) if self.estimator is None else self.estimator
        own = self.calibrator if isinstance(self.calibrator, Calibrator) else TemperatureScaling()
        calibrator = asking_for_weights(own)
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=estimator, method_mapping=to_fit)
        router.add(calibrator=calibrator, method_mapping=to_fit)
        splitter = StratifiedGroupKFold() if _is_number(self.cv) else self.cv  # as soon as there are groups
        return router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def _routed(
        self, X: Any, sample_weight: ArrayLike | None, groups: ArrayLike | None, fit_params: dict[str, Any]
    ) -> Metadata:
        weights = as_weights(sample_weight, _num_samples(X))
        if _routing_enabled():
            given = {**weights.keyword, "groups": groups, **fit_params}
            routed = process_routing(self, "fit", **{name: one for name, one in given.items() if one is not None})
            weights = as_weights(routed.calibrator.fit.get("sample_weight"), _num_samples(X))
            return Metadata(routed.estimator.fit, weights, routed.splitter.split)
        if not weights.is_unit and not self._is_trained():
            estimator = self._base()
            if has_fit_parameter(estimator, "sample_weight"):
                fit_params = fit_params | weights.keyword
            elif not any(name.endswith("__sample_weight") for name in fit_params):
                checks.warn(
                    f"fit of {type(estimator).__name__} takes no sample_weight: only the calibrator uses the weights. "
                    "Weigh the estimator too by scikit-learn's metadata routing, or by a keyword such as step__sample_weight."
                )
        return Metadata(fit_params, weights, {} if groups is None else {"groups": groups})

    def _over_folds(self, X: Any, truth: NDArray[Any], metadata: Metadata, *, grouped: bool) -> list[Pair]:
        """Return a pair a fold; or a single one, of the out-of-fold forecasts of all rows and a model of all rows."""
        if grouped and _is_number(self.cv):
            splitter: Any = StratifiedGroupKFold(5 if self.cv is None else self.cv)
        else:
            splitter = check_cv(self.cv, truth, classifier=True)
        folds = [(row_numbers(a), row_numbers(b)) for a, b in splitter.split(X, truth, **metadata.splitter)]
        checks.require(folds, "cv must have at least one fold", got="none", hint="Pass cv=5")
        calls = (delayed(_trained)(self._base(), X, truth, metadata, train) for train, _ in folds)
        models = Parallel(n_jobs=self.n_jobs, return_as="generator")(calls)
        strange, pairs, forecasts, tests = 0, list[Pair](), list[FloatArray](), list[Rows]()
        for estimator, (_, test_rows) in zip(models, folds, strict=True):
            # A model cannot be blamed for a class that its fold did not show it: such rows say nothing of calibration.
            test = test_rows[np.isin(truth[test_rows], classes_of(estimator))]
            strange += len(test_rows) - len(test)
            must = "each fold must hold a row with a weight, of a class in its model's training rows"
            got = f"a fold of {len(test_rows)} rows without one"
            hint = "Use fewer folds, or a splitter that keeps the classes in proportion"
            checks.require(len(test) and metadata.weights.values[test].any(), must, got=got, hint=hint)
            forecast = self._forecast(estimator, _safe_indexing(X, test))
            if self.ensemble:
                pairs.append(self._pair(estimator, forecast, truth[test], metadata.weights.part(test)))
            else:  # without the models, which are large
                tests.append(test)
                forecasts.append(forecast)
        if strange:
            said = f"{strange} rows are of a class that was absent when their fold's model was trained"
            checks.warn(
                f"{said}: they are not used to calibrate. Use fewer folds, or collect more rows of rare classes."
            )
        if self.ensemble:
            return pairs
        rows = np.concatenate(tests)
        estimator = _trained(self._base(), X, truth, metadata, np.arange(_num_samples(X)))
        return [self._pair(estimator, np.concatenate(forecasts), truth[rows], metadata.weights.part(rows))]

    def _pair(self, estimator: Any, forecast: FloatArray, truth: NDArray[Any], weights: Weights) -> Pair:
        """Fit a calibrator to what an estimator makes of rows that it was not trained on."""
        kind = "probability" if hasattr(estimator, "predict_proba") else "logit"
        given: Any = {"input": kind, "labels": self.classes_}
        weight = weights.keyword.get("sample_weight")
        if self.calibrator is None:
            method = default_of(as_problem(truth, forecast, sample_weight=weight, **given))
            calibrator = method.calibrator(len(self.classes_))
        else:
            calibrator = calibrator_for(self.calibrator, len(self.classes_))
        return estimator, calibrator.set_params(**given).fit(forecast, truth, weight)

    def _check_parameters(self) -> None:
        must = "cv must be a number of folds, a splitter or 'prefit'"
        checks.require(not isinstance(self.cv, str) or self.cv == "prefit", must, value=self.cv, hint="Pass cv=5")
        check_parameters(self)
        checks.choice("pooling", self.pooling, ("mean", "geometric"))
        checks.require_jobs(self.n_jobs)
        if self.calibrator is not None:
            as_calibrator(self.calibrator)

    def _is_trained(self) -> bool:
        """Whether the estimator is fitted already, and all rows serve one calibrator."""
        return checks.is_word(self.cv, "prefit") or (isinstance(self.estimator, FrozenEstimator) and not self.ensemble)

    def _base(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _calibrator_known(self) -> str | Calibrator | None:
        """Return a fitted calibrator, and before ``fit`` the parameter, which may be a word."""
        return self.pairs_[0][1] if hasattr(self, "pairs_") else self.calibrator

    def _forecast(self, estimator: Any, X: Any) -> FloatArray:
        """Return its forecast of all classes, of which a fold may have lacked one; they may stand in any order."""
        order = np.argsort(self.classes_)
        columns = order[np.searchsorted(self.classes_, estimator.classes_, sorter=order)]
        return forecast_of(estimator, X, columns, len(self.classes_))

    def _smoothed(self, prob: FloatArray) -> FloatArray:
        """Mix probabilities with the uniform forecast."""
        share = self.label_smoothing
        return (1.0 - share) * prob + share / len(self.classes_) if share else prob

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _trained(estimator: Any, X: Any, truth: NDArray[Any], metadata: Metadata, rows: Rows) -> Any:
    keywords = _check_method_params(X, metadata.estimator, indices=rows)
    return clone(estimator).fit(_safe_indexing(X, rows), truth[rows], **keywords)
