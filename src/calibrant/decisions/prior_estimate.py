"""Shares of the classes in unlabelled rows, estimated from the forecast alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.finite_numbers import as_numbers
from calibrant._core.labels import Named, as_labels, classes_of_score
from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, each, require, together
from calibrant._core.problem import Forecast, SimplexProblem, as_simplex
from calibrant._core.result import Result
from calibrant._core.rows import Rows
from calibrant._core.table import Table
from calibrant._core.validation import Input, as_forecast, as_problem, as_weights
from calibrant._core.warnings import warn
from calibrant._core.weights import Weights
from calibrant.decisions.black_box_shift import black_box_prior
from calibrant.decisions.inputs import Names, Received, classes_of, received, shared_names
from calibrant.decisions.prior_likelihood import standard_errors
from calibrant.decisions.priors import as_prior
from calibrant.solvers.mixture import GAP, most_likely_shares

PriorMethod = Literal["em", "bbse", "bbse-soft"]
METHODS = ("em", "bbse", "bbse-soft")

LEAST_SHARE = 1e-100
"""Old share down to which squares of probabilities over shares do not overflow."""


@dataclass(frozen=True, eq=False)
class PriorEstimate(Result):
    """Shares of the classes in unlabelled rows.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    prior : ndarray of shape (n_classes,)
        Their estimated shares, which sum to one.
    old_prior : ndarray of shape (n_classes,)
        Their shares where the forecast is calibrated.
    standard_error : ndarray of shape (n_classes,)
        Of the shares. EM: NaN for a share at zero, infinite where the rows hold no information on it; with the noise of the old
        shares if they are those of labelled rows. BBSE: before the shares were put on the simplex.
    method : {"em", "bbse", "bbse-soft"}
        How they were found.
    n_iter : int
        Steps; 0 of BBSE.
    gap : float
        The certificate. EM: no other shares have a mean log-likelihood that is higher by more than this, in nats a row. BBSE:
        the largest difference between the observed shares of predictions and those that ``prior`` implies. It is zero
        wherever the solution needed no projection, since K shares can then fit any K shares of predictions. So zero does not
        show that only the shares of the classes changed; more than sampling noise shows that something else changed too.
    condition : float
        Condition number: EM of the information about the shares, BBSE of the confusion matrix. A large one means that classes
        are hard to tell apart.
    """

    _table = Table("class", "class=classes", "prior", "standard_error", "old_prior", "class_weight")

    classes: npt.NDArray[np.generic]
    prior: FloatArray
    old_prior: FloatArray
    standard_error: FloatArray
    method: PriorMethod
    n_iter: int
    gap: float
    condition: float

    @property
    def class_weight(self) -> FloatArray:
        """New share over old share of each class: importance weights for old rows."""
        weight: FloatArray = self.prior / self.old_prior
        return weight

    def __repr__(self) -> str:
        shown = [f"{c}: {q:.4g}" for c, q in zip(self.classes.tolist(), self.prior.tolist(), strict=True)]
        text = ", ".join(shown[:5]) + (", ..." if len(shown) > 5 else "")
        return f"PriorEstimate({text}; {self.method}, steps={self.n_iter}, gap={self.gap:.1e}, condition={self.condition:.3g})"


def estimate_prior(
    y_prob: npt.ArrayLike,
    *,
    method: PriorMethod = "em",
    old_prior: npt.ArrayLike | None = None,
    old_true: npt.ArrayLike | None = None,
    old_prob: npt.ArrayLike | None = None,
    old_weight: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    input: Input = "probability",
    rows: Rows = "as-given",
) -> PriorEstimate:
    """Estimate the shares of the classes in rows without labels, from the forecast alone.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the new rows, as the model gives them.
    method : {"em", "bbse", "bbse-soft"}, default="em"
        Maximum likelihood, or a solved confusion matrix of predictions ("bbse") or of probabilities ("bbse-soft").
    old_prior : array-like of shape (n_classes,), or float, optional
        Shares of the classes where the forecast is calibrated; by default those of the labelled rows.
    old_true, old_prob : array-like, optional
        Labels and forecast of rows from before the change that the model was not trained on. BBSE needs them; EM takes
        only the shares of the classes from them.
    old_weight : array-like, optional
        Weights of the labelled rows.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the new rows; an integer weight counts as that many equal rows.
    labels : sequence of length n_classes, optional
        The class of each column. By default words that name the columns of a data frame, or the classes of the labelled rows.
    pos_label : label, optional
        For one column: the label whose probability it is.
    input : {"probability", "logit"}, default="probability"
        What ``y_prob`` and ``old_prob`` hold.
    rows : {"as-given", "normalize", "percent"}, default="as-given"
        Check that rows sum to one, divide them by their sums, or divide percent by 100: see `DataOptions`.

    Returns
    -------
    PriorEstimate
        A result with ``prior``, ``standard_error``, ``gap``, ``condition``, ``class_weight`` and ``to_frame()``.

    Raises
    ------
    ValueError
        If there are neither old shares nor labelled rows, if BBSE has no labelled rows or none of a class, if an old share
        is zero, or if the columns of two data frames differ or stand in another order.

    Warns
    -----
    ConvergenceWarning
        If the maximum of the likelihood is not certified.
    CalibrationWarning
        If the confusion matrix is singular.

    Notes
    -----
    Both assume label shift: within each class the features are distributed as before. Neither detects a shift of another
    kind: EM always has a maximum, and the ``gap`` of BBSE is zero for every shift whose solution needs no projection. To
    check for one, weight the labelled rows by ``class_weight`` of their classes: under label shift their scores then have the
    distribution of the new ones.

    EM finds shares q that maximise the mean of log sum_k q_k p_k / old_k. It needs a calibrated forecast: calibrate before. Any
    maximum is global; the certificate says how close it is. The steps are those of Saerens et al. at first and of Newton
    then, of up to three classes of Newton alone, so that the answer is the limit of EM. Standard errors take
    ``old_prior`` as known; where the old shares are those of labelled rows, the errors include theirs (delta method), with
    labelled rows that were drawn independently of the new ones.

    BBSE finds the shares under which each class is predicted as often as observed. It needs no calibrated forecast and no old
    shares, only labelled rows of every class, and it is less precise than EM. The nearest shares on the simplex are returned.

    References
    ----------
    Saerens, Latinne, Decaestecker, Adjusting the outputs of a classifier to new a priori probabilities: a simple procedure,
    Neural Computation 2002.
    Lipton, Wang, Smola, Detecting and correcting for label shift with black box predictors, ICML 2018.
    Alexandari, Kundaje, Shrikumar, Maximum likelihood with bias-corrected calibration is hard-to-beat at label shift
    adaptation, ICML 2020.

    Examples
    --------
    >>> from calibrant.decisions import estimate_prior
    >>> found = estimate_prior([0.1, 0.8, 0.9, 0.9], old_prior=0.5)
    >>> found.prior.round(3)
    array([0.203, 0.797])
    """
    choice("method", method, METHODS)
    new = received(y_prob, input=input, rows=rows)
    forecast = new.forecast
    weights = as_weights(sample_weight, forecast.shape[0])
    require(
        pos_label is None or new.is_column,
        "pos_label must be left out when y_prob is a table",
        got=f"{pos_label!r} for {forecast.shape[1]} columns",
        hint="Pass labels= to name the columns",
    )
    names = new.names if old_prob is None else shared_names(y_prob=y_prob, old_prob=old_prob)
    options = {"labels": labels, "pos_label": pos_label, "input": input, "rows": rows}
    labelled = _labelled(old_true, old_prob, old_weight, forecast.shape[1], names, options)
    if labelled is None:
        classes = _classes(new, labels, pos_label)
        require(
            old_prior is not None,
            "old shares of the classes must be known",
            got="neither old_prior nor labelled rows",
            hint="Pass old_prior=, or old_true= and old_prob= of rows from before the change",
        )
        old = as_prior("old_prior", cast("npt.ArrayLike", old_prior), forecast.shape[1], positive=True)
    else:
        classes = labelled.classes
        shares = np.bincount(labelled.label, labelled.weight, forecast.shape[1]) / labelled.weight.sum()
        old = as_prior(
            "old_prior, the shares of old_true," if old_prior is None else "old_prior",
            shares if old_prior is None else old_prior,
            forecast.shape[1],
            positive=method == "em" or old_prior is not None,
        )
    if method == "em":
        rare = "Leave out the column of a class that hardly ever occurs"
        each("old_prior", old, old >= LEAST_SHARE, f"be at least {LEAST_SHARE:g}", hint=rare)
        covariance = _covariance(labelled, old) if labelled is not None and old_prior is None else None
        return _by_likelihood(forecast, weights, classes, old, covariance)
    before = "Pass old_true= and old_prob= of rows from before the change, or method='em'"
    require(labelled is not None, f"method {method!r} needs labelled rows", got="none", hint=before)
    kept = weights.values > 0
    found = black_box_prior(
        cast("SimplexProblem", labelled), forecast.prob[kept], weights.part(kept), soft=method == "bbse-soft"
    )
    return PriorEstimate(classes, found.prior, old, found.standard_error, method, 0, found.residual, found.condition)


def _by_likelihood(
    forecast: Forecast,
    weights: Weights,
    classes: npt.NDArray[np.generic],
    old: FloatArray,
    old_covariance: FloatArray | None,
) -> PriorEstimate:
    kept = weights.values > 0
    prob, weights = (forecast.prob, weights) if kept.all() else (forecast.prob[kept], weights.part(kept))
    found = most_likely_shares(prob / old, weights.values, old)
    if not found.point.gap <= GAP:
        warn(
            f"the maximum of the likelihood is not certified: it may be higher by {found.point.gap:.2g} nats a row after "
            f"{found.n_iter} steps. Check that classes differ.",
            ConvergenceWarning,
        )
    error, condition = standard_errors(found, weights.effective_rows, old, old_covariance)
    return PriorEstimate(classes, found.point.x, old, error, "em", found.n_iter, found.point.gap, condition)


def _covariance(labelled: SimplexProblem, shares: FloatArray) -> FloatArray:
    """Return the covariance matrix of the shares of labelled rows."""
    each = np.bincount(labelled.label, labelled.weights.of_variance, shares.size)
    crossed = np.outer(each, shares)
    away = np.diag(each) - crossed - crossed.T + each.sum() * np.outer(shares, shares)
    covariance: FloatArray = away / labelled.weights.total**2
    return covariance


def _labelled(
    old_true: Any, old_prob: Any, old_weight: Any, n_classes: int, names: Names, options: Any
) -> SimplexProblem | None:
    """Return the labelled rows, if there are any."""
    if not together(old_true=old_true, old_prob=old_prob):
        require(
            old_weight is None,
            "old_weight must be given with labelled rows",
            got="neither old_true nor old_prob",
            hint="Weights of the rows of y_prob are sample_weight",
        )
        return None
    values = as_numbers("old_prob", old_prob)
    forecast = as_forecast(values, input=options["input"], rows=options["rows"], name="old_prob")
    require(
        forecast.shape[1] == n_classes,
        "old_prob and y_prob must have the same columns",
        got=f"{forecast.shape[1]} classes and {n_classes}",
        hint="Pass forecasts of one model",
    )
    named = Named("old_true", "old_prob", "old_weight")
    return as_simplex(
        as_problem(old_true, values, sample_weight=old_weight, column_names=names, named=named, **options)
    )


def _classes(new: Received, labels: Sequence[Any] | None, pos_label: Any) -> npt.NDArray[np.generic]:
    """Return the classes where no row is labelled, by the rules for rows that are."""
    classes = classes_of(new.forecast.shape[1], labels, new.names)
    if not new.is_column or pos_label is None:
        return classes
    return classes_of_score(
        classes if labels is not None else as_labels([pos_label]), labels=labels, pos_label=pos_label
    )
