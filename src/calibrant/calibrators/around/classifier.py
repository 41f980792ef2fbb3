"""A classifier together with its calibrator: what is trained, cross-fitted and deployed as one estimator."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, _routing_enabled
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from calibrant._core.arrays import is_whole
from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, flag, number, require
from calibrant._core.validation import as_weights
from calibrant.calibrators.around.groups import as_groups
from calibrant.calibrators.around.model_output import Pooling, columns_known, forecast_of, pooled, pooled_intervals
from calibrant.calibrators.around.pairs import Pair, Training
from calibrant.calibrators.around.routing import Metadata, asked_for, asking_for_weights, handed_on, router_of
from calibrant.calibrators.around.splitters import groups_of_copies, splitter_of, splitter_of_groups
from calibrant.calibrators.around.training_labels import as_training_labels, classes_to_train
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.by_word import as_calibrator
from calibrant.calibrators.one_score.venn_abers import VennAbers
from calibrant.calibrators.simplex.temperature import TemperatureScaling


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
        as in ``calibrant fit``, `EvidenceScaling`, and above 100 classes `StructuredMatrixScaling`; within `SafeCalibrator`
        where the calibrator has fewer than 1000 rows.
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

    classes_: npt.NDArray[np.generic]
    pairs_: list[Pair]

    def __init__(
        self,
        estimator: Any = None,
        calibrator: str | Calibrator | None = None,
        *,
        cv: Any | Literal["prefit"] = 5,
        ensemble: bool = False,
        pooling: Pooling = "mean",
        label_smoothing: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.calibrator = calibrator
        self.cv = cv
        self.ensemble = ensemble
        self.pooling = pooling
        self.label_smoothing = label_smoothing
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
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
            The fitted classifier.
        """
        self._check_parameters()
        X, truth = indexable(X, as_training_labels(y))
        if groups is not None:
            groups = as_groups(groups)
        elif not self._is_trained():
            groups = groups_of_copies(self.cv, X, truth)
        check_consistent_length(X, groups)
        metadata = self._routed(X, sample_weight, groups, fit_params)
        if self._is_trained():
            check_is_fitted(self.estimator)
            self.classes_ = np.asarray(self.estimator.classes_)
            self.pairs_ = [self._training.behind_trained(X, truth, metadata.weight)]
        else:
            self.classes_ = classes_to_train(truth)
            folds = splitter_of(self.cv, truth, grouped=groups is not None).split(X, truth, **metadata.splitter)
            self.pairs_ = self._training.over_folds(X, truth, metadata, list(folds), ensemble=self.ensemble)
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
        forecasts = [calibrator.predict_proba(self._forecast(estimator, X)) for estimator, calibrator in self.pairs_]
        return self._smoothed(pooled(forecasts, self.pooling))

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

    @available_if(lambda self: hasattr(self._calibrator_known(), "predict_top"))
    def predict_top(self, X: Any) -> tuple[npt.NDArray[np.generic], FloatArray]:
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
        require(
            len(self.pairs_) <= 1,
            "predict_top must have one estimator and its calibrator",
            got=f"an ensemble of {len(self.pairs_)}, whose members may predict different classes",
            hint="Pass ensemble=False or cv='prefit'",
        )
        ((estimator, calibrator),) = self.pairs_
        by_label: Any = calibrator
        label, score = by_label.predict_top(self._forecast(estimator, X))
        return label, self._smoothed(score)

    @available_if(lambda self: isinstance(self._calibrator_known(), VennAbers))
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
        return pooled_intervals(np.array(intervals), self.pooling)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which parts of the metadata of ``fit`` go where.

        Returns
        -------
        MetadataRouter
            Of estimator, calibrator and splitter.
        """
        estimator = asking_for_weights(self._base()) if self.estimator is None else self.estimator
        calibrator = asking_for_weights(
            self.calibrator if isinstance(self.calibrator, Calibrator) else TemperatureScaling()
        )
        return router_of(self, estimator, calibrator, splitter_of_groups(self.cv))

    def _routed(
        self, X: Any, sample_weight: npt.ArrayLike | None, groups: npt.ArrayLike | None, fit_params: dict[str, Any]
    ) -> Metadata:
        weight = None if sample_weight is None else as_weights(sample_weight, _num_samples(X)).values
        if _routing_enabled():
            return asked_for(self, {"sample_weight": weight, "groups": groups, **fit_params})
        return handed_on(None if self._is_trained() else self._base(), weight, groups, fit_params)

    def _check_parameters(self) -> None:
        require(
            not isinstance(self.cv, str) or self.cv == "prefit",
            "cv must be a number of folds, a splitter or 'prefit'",
            value=self.cv,
            hint="Pass cv=5",
        )
        flag("ensemble", self.ensemble)
        choice("pooling", self.pooling, ("mean", "geometric"))
        number("label_smoothing", self.label_smoothing, least=0.0, most=1.0, hint="Pass label_smoothing=0.0 for none")
        require(
            self.n_jobs is None or is_whole(self.n_jobs),
            "n_jobs must be a whole number or None",
            value=self.n_jobs,
            hint="Pass n_jobs=2",
            error=TypeError,
        )
        if self.calibrator is not None:
            as_calibrator(self.calibrator)

    def _is_trained(self) -> bool:
        """Whether the estimator is fitted already, and all rows serve one calibrator."""
        return isinstance(self.cv, str) or (isinstance(self.estimator, FrozenEstimator) and not self.ensemble)

    def _base(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _calibrator_known(self) -> str | Calibrator | None:
        """Return a fitted calibrator, and before ``fit`` the parameter, which may be a word."""
        return self.pairs_[0][1] if hasattr(self, "pairs_") else self.calibrator

    @property
    def _training(self) -> Training:
        return Training(self._base(), self.calibrator, self.classes_, self.n_jobs)

    def _forecast(self, estimator: Any, X: Any) -> FloatArray:
        return forecast_of(estimator, X, columns_known(estimator, self.classes_), len(self.classes_))

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
