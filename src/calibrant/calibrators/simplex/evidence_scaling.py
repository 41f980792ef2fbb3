"""Evidence scaling: curves, features of rows and interactions of classes on top of a forecast, each as strong as rows say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from calibrant._core.links import FloatArray, prob_of_scores
from calibrant._core.parameters import choice, flag, fraction, require, whole
from calibrant._core.problem import Forecast, SimplexProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant._core.warnings import warn
from calibrant.calibrators.kinds import MulticlassCalibrator
from calibrant.calibrators.simplex.evidence.bands import Posterior, packed
from calibrant.calibrators.simplex.evidence.class_features import ClassFeatures, table_groups
from calibrant.calibrators.simplex.evidence.hinges import Hinges
from calibrant.calibrators.simplex.evidence.hyper_prior import groups_of
from calibrant.calibrators.simplex.evidence.keeping import keeping_top, rising
from calibrant.calibrators.simplex.evidence.loaded import check_fitted
from calibrant.calibrators.simplex.evidence.log_odds_features import LogOddsFeatures
from calibrant.calibrators.simplex.evidence.maps import Maps
from calibrant.calibrators.simplex.evidence.model import Features, Model, measured, model_of, n_shared_of
from calibrant.calibrators.simplex.evidence.parts import EvidenceParts, Group, parts_of
from calibrant.calibrators.simplex.evidence.pooling import Pool, fast_pool, folds_pool
from calibrant.calibrators.simplex.evidence.standard import LEAST_LOG, Standard, standard_of
from calibrant.solvers.evidence.precisions import Evidence, most_evident
from calibrant.solvers.evidence.softmax_curvature import MOST_DENSE
from calibrant.solvers.folds import observed

Pooling = Literal["auto", "folds", "fast"]
"""How the shares of maps are found: on held-out rows, or by the evidence; ``"auto"`` takes the first where it is cheap."""

Keep = Literal["argmax", "order"]
"""What stays in each row: the class of highest probability, or the order of all."""

FEW_OF_TWO, MANY_NUMBERS = 200, 1_000_000
"""Rows of two classes below which, and numbers of a forecast above which, ``"auto"`` is ``"fast"``."""

CERTAIN = 1e-3
"""Largest component of the gradient of a mean penalised log loss at which weights are optimal enough."""


@declare(
    "calibrator",
    "evidence-scaling",
    symbol="ES",
    source="calibrant",
    guarantees={"permutation equivariant", "finite log loss"},
)
class EvidenceScaling(MulticlassCalibrator):
    """Softmax of curves, features of rows and interactions of classes, each as strong as its evidence (ES).

    Use it where the log loss on new rows is what counts. It holds temperature, vector and matrix scaling, curves shared by
    all classes and, of two classes, Platt scaling, beta calibration and splines, and finds from the rows how much of each they
    bear, so that you choose no penalty. Where few rows say that the forecast needs it, it changes little. With 100 rows it did
    harm in one experiment of eight; `SafeCalibrator` around it prevents most of that.

    Parameters
    ----------
    pool : {"auto", "folds", "fast"}, default="auto"
        ``"folds"`` fits maps with stronger and weaker priors, and finds their shares on rows held out in four folds.
        ``"fast"`` takes one map, with a share by its evidence: quicker, a little worse. ``"auto"`` is ``"folds"``, but for
        two classes with fewer than 200 rows, and for more than a million numbers in the forecast.
    keep : {"argmax", "order"}, optional
        ``"order"`` takes only features that keep the order of the classes in each row; ``"argmax"`` mixes both kinds of map
        so that the predicted class of each row stays. By default neither is asked for.
    intervals : bool, default=False
        Keep what `predict_interval` and the band of the curve need: the second derivatives of the log loss, 51,681 numbers of
        ten classes and 2016 of four. Maps of more than 800 weights, from 17 classes on, refuse it, but for ``keep="order"``.
    max_numbers : int or None, default=1_000_000
        Rows times classes that are fitted. Of more a random part of the rows is drawn, the same for the same table; they keep
        their weights. None fits all rows, in a time that grows with them.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logits are turned into log-probabilities, exactly; probabilities are
        clipped at 1e-12.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    exponent_, floor_, uniform_ : float
        The standardisation: probabilities plus floor / K, to the power of the exponent, mixed with a share of the uniform
        forecast. An exponent below 1 says that the forecast was over-confident.
    groups_ : dict of str to Group
        For each group of features the prior variance of its weights, and how many of them the rows determine.
    weights_ : ndarray of shape (n_maps + 1,)
        Share of each map, from the strongest prior to the weakest, and last of the prediction itself.
    shared_ : ndarray of shape (n_maps, n_shared)
        Weights of features that all classes share; of two classes all weights.
    coef_ : ndarray of shape (n_maps, n_classes, n_features)
        Weights that a class has for itself.
    evidence_ : float
        Logarithm of the evidence of the map against the prediction as it is, in nats of all rows, less one for the
        standardisation: far above 0 the rows say that calibration is needed.
    gradient_ : float
        Largest component of the gradient of a map's penalised mean log loss: the certificate.
    n_iter_ : int
        Newton steps taken on all rows.
    log_precision_, degrees_of_freedom_ : ndarray of shape (n_groups,)
        What `groups_` is made of.
    centre_, unit_, knots_, middle_, ranks_ : ndarray or float
        What the features measure from: means, units, knots of the curve and their middle, and ranks of log-odds.
    ordered_, ordered_weights_ : ndarray
        Weights and shares of the maps that keep the order, where ``keep="argmax"``; else empty.
    hessian_, path_ : ndarray of shape (n_weights * (n_weights + 1) / 2,) and (n_maps, n_groups)
        Second derivatives of the log loss of all rows at the weights of most evidence, on and below the diagonal, and the
        logarithms of the precisions of each map, where ``intervals=True``; else empty.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    With z the standardised log-probabilities a map is the softmax of z plus weights times features. The log loss of all rows
    is convex in the weights. Those of a group are normal, with one variance, and the variances maximise Laplace's
    approximation of the evidence under a prior that was learned from other forecasts. ``docs/evidence-scaling.md`` has all
    formulas, what was tried, and figures. Beyond 800 weights steps come from conjugate gradients, and variances from a block
    for each class; beyond 150 classes the score of a class depends on its own probability and on the row, and no longer on that
    of each other class.

    Rows are as much evidence as there are independent ones. Copies, as of rows that were upsampled, are found by their labels
    and count as one row, with a `CalibrationWarning`. Weights that are not whole are (sum of weights)^2 / sum of squares rows
    (Kish), whatever their scale.

    References
    ----------
    MacKay, Bayesian interpolation, Neural Computation, 1992.

    Berta, Holzmüller, Jordan, Bach, Structured matrix scaling for multi-class calibration, arXiv 2511.03685, 2025.

    Examples
    --------
    >>> from calibrant import EvidenceScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> scaling = EvidenceScaling(pool="fast").fit(prob, y)
    >>> scaling.groups_["temp"].n_weights
    1
    """

    exponent_: float
    floor_: float
    uniform_: float
    centre_: FloatArray
    unit_: FloatArray
    knots_: FloatArray
    middle_: float
    ranks_: FloatArray
    shared_: FloatArray
    coef_: FloatArray
    weights_: FloatArray
    ordered_: FloatArray
    ordered_weights_: FloatArray
    hessian_: FloatArray
    path_: FloatArray
    log_precision_: FloatArray
    degrees_of_freedom_: FloatArray
    evidence_: float
    gradient_: float
    n_iter_: int

    def __init__(
        self,
        *,
        pool: Pooling = "auto",
        keep: Keep | None = None,
        intervals: bool = False,
        max_numbers: int | None = MANY_NUMBERS,
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.pool = pool
        self.keep = keep
        self.intervals = intervals
        self.max_numbers = max_numbers

    def _fit(self, problem: SimplexProblem) -> None:
        self._check_parameters()
        if self.max_numbers is not None and problem.size > (most := max(1, self.max_numbers // len(self.classes_))):
            problem = problem.taken(np.sort(np.random.default_rng(0).choice(problem.size, most, replace=False)))
        problem = observed(problem)
        weight = problem.weight * problem.weights.effective_rows_per_weight
        standard = standard_of(problem, weight)
        z = standard.of(problem.forecast)
        ordered = self._ordered
        features = measured(z, weight, ordered=ordered)
        self._require_few_weights(features)
        fit = partial(self._pooled, problem, z, weight, features, standard.exponent)
        _, evidence, pool = fit(ordered=ordered)
        self.exponent_, self.floor_, self.uniform_ = standard.exponent, standard.floor, standard.uniform
        self._keep_features(features)
        n_shared = n_shared_of(features)
        self.shared_, self.weights_ = pool.weights[:, :n_shared], pool.shares
        self.coef_ = pool.weights[:, n_shared:].reshape(len(pool.weights), z.shape[1], -1)
        self.ordered_, self.ordered_weights_ = np.empty(0), np.empty(0)
        if self.keep == "argmax" and not ordered:
            *_, aside = fit(ordered=True)
            self.ordered_, self.ordered_weights_ = aside.weights, aside.shares
        self.hessian_, self.path_ = np.empty(0), np.empty(0)
        if self.intervals:
            self.hessian_, self.path_ = packed(evidence.look.curvature, evidence.w.size), pool.log_precisions
        self.log_precision_, self.degrees_of_freedom_ = evidence.rho, evidence.determined
        self.evidence_ = _advantage(problem, weight, evidence)
        self.gradient_, self.n_iter_ = pool.gradient, evidence.n_iter + pool.n_iter
        self._warn_if_unfinished(problem)

    def _pooled(
        self,
        problem: SimplexProblem,
        z: FloatArray,
        weight: FloatArray,
        features: Features,
        exponent: float,
        *,
        ordered: bool,
    ) -> tuple[Model, Evidence, Pool]:
        """Fit maps of the features, and find their shares."""
        model = model_of(z, problem.label, weight, features, exponent, ordered=ordered)
        evidence = most_evident(model.logit, model.group, model.prior)
        advantage = _advantage(problem, weight, evidence)
        if self.pool == "folds" or (self.pool == "auto" and _is_cheap(problem)):
            pool = folds_pool(model, evidence, problem, advantage)
        else:
            pool = fast_pool(model, evidence, advantage)
        if ordered and isinstance(features, ClassFeatures):
            pool = replace(pool, weights=np.stack([rising(weights, features) for weights in pool.weights]))
        return model, evidence, pool

    def _warn_if_unfinished(self, problem: SimplexProblem) -> None:
        if not self.gradient_ <= CERTAIN:
            warn(
                f"the largest component of the gradient must fall below {CERTAIN:g}; it is {self.gradient_:.1e} after "
                f"{self.n_iter_} steps on {problem.size} rows. The last weights are used. Fit on more rows.",
                ConvergenceWarning,
            )

    @property
    def groups_(self) -> dict[str, Group]:
        """How much of each group of features is used."""
        check_is_fitted(self)
        names, each = list(groups_of(len(self.classes_), ordered=self._ordered)), self._group_of_each()
        found = zip(names, self.log_precision_, self.degrees_of_freedom_, strict=True)
        return {name: Group(float(np.exp(-rho)), float(dof), each.count(name)) for name, rho, dof in found}

    def predict_interval(self, X: npt.ArrayLike, *, level: float = 0.05) -> FloatArray:
        """Return intervals of the calibrated probabilities, by Laplace's approximation; fitted with ``intervals=True``.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_classes)
            Forecast of the kind that was fitted.
        level : float, default=0.05
            One minus the coverage that is aimed at, a fraction in (0, 1).

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, n_classes, 2)
            Both ends for the second of two classes, or for each of more. They hold the probability of ``predict_proba``.

        Notes
        -----
        Weights are about normal, with the inverse of the penalised Hessian as covariance. That of the log-odds follows by the
        delta method. The pool counts as a mixture of its maps and of the prediction itself: how far these are apart widens the
        interval. The standardisation and the precisions count as known. ``docs/evidence-scaling.md`` has the measured coverage.
        """
        check_is_fitted(self)
        fraction("level", level, hint="For intervals of 95 % pass level=0.05")
        forecast = self._forecast(self._received(X, reset=False))
        z, prob = self._standardised(forecast)
        found = self._posterior().interval(z, prob, level)
        return found[:, 1] if len(self.classes_) == 2 else found

    def parts(self, *, level: float = 0.05) -> EvidenceParts:
        """Return what the parts of the map do: groups, curve, biases and interactions of classes.

        Parameters
        ----------
        level : float, default=0.05
            One minus the coverage of the band of the curve, which is there if the map was fitted with ``intervals=True``.

        Returns
        -------
        EvidenceParts
            A result with ``to_frame()``, a row a group, and ``plot()``.
        """
        fraction("level", level, hint="For a band of 95 % pass level=0.05")
        posterior = self._posterior() if self.path_.size else None
        return parts_of(self.groups_, self._maps(), self._features(), self.classes_, posterior, level)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the curve, with its band if there is one, the largest biases and the strongest interactions: ``parts().plot()``.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes, or ndarray of Axes
            What was drawn on.
        """
        return self.parts().plot(ax=ax)

    def _group_of_each(self) -> list[str]:
        """Group of each weight."""
        features = self._features()
        if isinstance(features, LogOddsFeatures):
            return features.groups
        own = table_groups(len(self.classes_)) if self.coef_.shape[2] else []
        return [*features.shared_groups, *(name for row in own for name in row)]

    def _maps(self) -> Maps:
        return Maps(self.shared_, self.coef_, self.weights_)

    def _posterior(self) -> Posterior:
        """Return the posterior of the weights, if it was kept."""
        require(
            self.path_.size,
            "what intervals are made of must have been kept",
            given="intervals was False when it was fitted",
            hint="Fit EvidenceScaling(intervals=True)",
        )
        names, each = list(groups_of(len(self.classes_), ordered=self._ordered)), self._group_of_each()
        ridges = np.exp(self.path_[:, [names.index(name) for name in each]])
        return Posterior.of(self._maps(), self._features(), self.hessian_, ridges)

    def _keep_features(self, features: Features) -> None:
        self.knots_, self.middle_ = features.curve.knots, features.curve.middle
        if isinstance(features, LogOddsFeatures):
            self.centre_, self.unit_, self.ranks_ = features.centre, features.unit, features.ranked
            return
        of_rows = np.array([features.entropy, features.top])
        self.centre_ = np.concatenate([features.log_prob_mean, features.prob_mean, of_rows])
        self.unit_, self.ranks_ = np.array([features.unit, features.prob_unit]), np.empty((2, 0))

    def _features(self) -> Features:
        curve, k = Hinges(self.knots_, self.middle_), len(self.classes_)
        if k == 2 and not self._ordered:
            return LogOddsFeatures(self.centre_, self.unit_, curve, self.ranks_)
        units = float(self.unit_[0]), float(self.unit_[1])
        of_rows = float(self.centre_[-2]), float(self.centre_[-1])
        return ClassFeatures(self.centre_[:k], self.centre_[k : 2 * k], *of_rows, *units, curve)

    def _standardised(self, forecast: Forecast) -> tuple[FloatArray, FloatArray]:
        """Return standardised log-probabilities, and the prediction itself."""
        z = Standard(self.exponent_, self.floor_, self.uniform_).of(forecast)
        return z, prob_of_scores(forecast.values) if forecast.is_logit else forecast.prob

    def _apply(self, forecast: Forecast) -> FloatArray:
        (z, prob), features = self._standardised(forecast), self._features()
        free = self._maps().mixed(z, prob, features)
        if not self.ordered_.size:
            return free
        none = np.empty((len(self.ordered_), z.shape[1], 0))
        ordered = Maps(self.ordered_, none, self.ordered_weights_).mixed(z, prob, features)
        top = prob.argmax(axis=1)[:, None] == np.arange(z.shape[1])
        return keeping_top(free, ordered, top)

    @property
    def _ordered(self) -> bool:
        """Whether maps keep the order of classes; of two classes that is to keep the higher one."""
        return self.keep == "order" or (self.keep == "argmax" and len(self.classes_) == 2)

    def _require_few_weights(self, features: Features) -> None:
        """Refuse a matrix of second derivatives that is too large to be kept."""
        n_classes = len(self.classes_)
        own = 0 if self._ordered or n_classes == 2 else n_classes * len(table_groups(n_classes)[0])
        size = n_shared_of(features) + own
        require(
            not self.intervals or size <= MOST_DENSE,
            f"intervals must be of at most {MOST_DENSE} weights",
            got=f"{size}, of {n_classes} classes",
            hint="Pass keep='order', whose weights all classes share, or leave intervals out",
        )
        require(
            not self.intervals or self._ordered or self.keep is None,
            "intervals must be of maps that are not mixed row by row",
            got=f"keep={self.keep!r}",
            hint="Pass keep='order' or leave keep out",
        )

    def _check_parameters(self) -> None:
        flag("intervals", self.intervals)
        if self.max_numbers is not None:
            whole("max_numbers", self.max_numbers, least=1, hint="Pass max_numbers=1_000_000, or None for all rows")
        choice("pool", self.pool, get_args(Pooling))
        if self.keep is not None:
            choice("keep", self.keep, get_args(Keep), also=" or None")

    def _check_loaded(self) -> None:
        self._check_parameters()
        check_fitted(self, self._ordered)


def _advantage(problem: SimplexProblem, weight: FloatArray, evidence: Evidence) -> float:
    """Evidence of the map against the prediction as it is, in nats; the standardisation costs one."""
    of_true = problem.forecast.log_prob[np.arange(problem.size), problem.label]
    return float(evidence.log_evidence - weight @ np.maximum(of_true, LEAST_LOG)) - 1.0


def _is_cheap(problem: SimplexProblem) -> bool:
    n_classes, rows = problem.forecast.shape[1], problem.weights.effective_rows
    return problem.size * n_classes <= MANY_NUMBERS and (n_classes > 2 or rows >= FEW_OF_TWO)
