"""Probabilities for other shares of the classes: known new shares, and what sampling or weights did in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from numbers import Number
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from calibrant._core import arrays as links
from calibrant._core import border
from calibrant._core.arrays import FloatArray, columns_of
from calibrant._core.checks import as_numbers, choice, each, left_out, number, one_each, require, some, together
from calibrant._core.result import Result, Table
from calibrant._core.rows import SUM_TOLERANCE, Forecast, Rows, SimplexProblem, Weights, as_simplex
from calibrant.exceptions import warn
from calibrant.fit.minimise import GAP, Minimum, Shares, most_likely_shares

# Standard errors of the shares of the classes under which the forecasts of unlabelled rows are most likely


def standard_errors(
    found: Minimum[Shares], n_rows: float, old: FloatArray, old_covariance: FloatArray | None
) -> tuple[FloatArray, float]:
    """Return the standard error of each share, and the condition number of the information.

    Shares at zero are held there, and have none (NaN). The rest move within their sum; where the rows hold no information on
    a direction its error is infinite.

    Old shares that were estimated add their part. The gradient g_k = mean of ratio_k / mixture moves with them by
    dg_k / do_l = I_kl q_l / o_l - (k = l) g_k / o_k, where g_k = 1 at the maximum, and the shares that put it back move by
    dq = B (B'IB)^-1 B' (I diag(q / o) - diag(1 / o)) do, with the information I and B a basis of what leaves the sum alone.
    """
    error = np.full(found.point.x.size, np.nan)
    free = np.flatnonzero(found.point.x > 0)
    if free.size == 1:
        error[free] = 0.0
        return error, 1.0
    # An orthonormal basis of what leaves the sum alone: all right singular vectors of a row of ones but the first.
    basis = np.linalg.svd(np.ones((1, free.size)))[2][1:].T
    information = found.point.hessian[np.ix_(free, free)]
    value, vector = np.linalg.eigh(basis.T @ information @ basis)
    flat = value <= 1e-12 * max(value.max(), 1.0)
    direction = basis @ vector
    along = direction**2
    variance = along[:, ~flat] @ (1.0 / value[~flat]) / n_rows
    if old_covariance is not None:
        pulled = information * (found.point.x / old)[free] - np.diag(1.0 / old[free])
        moved = (direction[:, ~flat] / value[~flat]) @ direction[:, ~flat].T @ pulled
        variance += np.einsum("kl,lm,km->k", moved, old_covariance[np.ix_(free, free)], moved)
    variance[(along[:, flat] > 1e-12).any(axis=1)] = np.inf
    error[free] = np.sqrt(variance)
    return error, float("inf") if flat.any() else float(value.max() / value.min())


# The shares of the classes that explain how often each class is predicted (BBSE)


WORST = 1e10
"""A larger condition number means that the predictions cannot tell some classes apart."""


def black_box_prior(
    labelled: SimplexProblem, new: FloatArray, new_weights: Weights, *, soft: bool
) -> tuple[FloatArray, FloatArray, float, float]:
    """Return the shares, their standard errors, what they leave unexplained, and the condition of the confusion matrix.

    ``soft`` averages the probabilities, otherwise the predicted classes count.
    """
    n_classes = new.shape[1]
    old_said, new_said = (prob if soft else np.eye(n_classes)[prob.argmax(axis=1)] for prob in (labelled.prob, new))
    confusion, spread = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes, n_classes))
    must = "old_true must hold every class for a confusion matrix"
    hint = "Pass labelled rows of each, or method='em' with old_prior"
    for j, name in enumerate(labelled.classes.tolist()):
        rows = labelled.label == j
        require(rows.any(), must, got=f"none of {name!r}", hint=hint)
        confusion[:, j], spread[j] = _mean(old_said[rows], labelled.weights.part(rows))
    mean, mean_spread = _mean(new_said, new_weights)
    condition = float(np.linalg.cond(confusion))
    start = np.bincount(labelled.label, labelled.weight, n_classes) / labelled.weight.sum()
    inverse = np.linalg.pinv(confusion, rcond=1.0 / WORST)
    if not condition < WORST:
        condition = float("inf")
        warn(
            "the predictions must tell all classes apart; their confusion matrix is singular, and shares that it does not "
            "see are those of the labelled rows. Pass a forecast that predicts every class, or method='em'."
        )
    raw = start + inverse @ (mean - confusion @ start)
    prior = on_simplex(raw)
    covariance = inverse @ (mean_spread + np.tensordot(raw**2, spread, 1)) @ inverse.T
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return prior, error, float(np.abs(confusion @ prior - mean).max()), condition


def on_simplex(values: FloatArray) -> FloatArray:
    """Return the shares, positive or zero with the sum one, that are nearest to ``values``."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, values.size + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    shares: FloatArray = np.maximum(values - shift, 0.0)
    shares /= shares.sum()
    return shares


def _mean(rows: FloatArray, weights: Weights) -> tuple[FloatArray, FloatArray]:
    """Return the weighted mean of rows, and its covariance matrix."""
    mean = weights.values @ rows / weights.total
    away = rows - mean
    return mean, (away * weights.of_variance[:, None]).T @ away / weights.total**2


# Input forecasts and sequences, checked under the name of their argument, with the names of their columns


Names = Sequence[Any] | None


class Received(NamedTuple):
    """A valid forecast, whether it was given as one column, and the names of its columns, if it has any."""

    forecast: Forecast
    is_column: bool
    names: Names

    def reweighed(self, log_factor: FloatArray) -> FloatArray:
        """Return the probabilities times a factor for each class, scaled so that rows sum to one, in the shape given.

        Rows of which no class stays possible are left as they are.
        """
        forecast = self.forecast
        log_prob = forecast.values if forecast.is_logit else _log(forecast.values)
        logarithm = log_prob + log_factor
        impossible = np.isneginf(logarithm).all(axis=1)
        logarithm[impossible] = log_prob[impossible]
        prob = links.prob_of_logit(logarithm)
        return prob[:, 1].copy() if self.is_column else prob


def received(y_prob: npt.ArrayLike, *, input: border.Input, rows: Rows) -> Received:
    """Return the forecast that a function is called with."""
    values = as_numbers("y_prob", y_prob)
    return Received(border.as_forecast(values, input=input, rows=rows), values.ndim == 1, names_of(y_prob))


def numbers_of(name: str, values: npt.ArrayLike, hint: str) -> FloatArray:
    """Return the numbers of a parameter that is a sequence or a matrix."""
    require(not is_single(values), f"{name} must be a sequence of numbers", value=values, hint=hint, error=TypeError)
    if isinstance(values, Sized):
        some(name, values, "number", hint=hint)
    return as_numbers(name, values)


def is_single(values: object) -> bool:
    """Whether it is one number, or one word, and no sequence."""
    return isinstance(values, (Number, np.generic, str, bytes)) or getattr(values, "ndim", None) == 0


def names_of(data: npt.ArrayLike) -> Names:
    """Return the names of the columns of a data frame; mere numbers from 0 on, which pandas invents, are none."""
    names = columns_of(data)
    return None if names is None or list(names) == list(range(len(names))) else names


def shared_names(y_prob: npt.ArrayLike | None, name: str, other: npt.ArrayLike | None) -> Names:
    """Return the names of the columns of forecasts that belong together, the ones and the others in the same order."""
    own, others = (None if one is None else names_of(one) for one in (y_prob, other))
    if own is None or others is None:
        return others if own is None else own
    must = f"y_prob and {name} must have the same columns in the same order"
    got, hint = f"{_some(own)} and {_some(others)}", "Put the columns of one in the order of the other"
    require(list(own) == list(others), must, got=got, hint=hint)
    return own


def classes_of(n_classes: int, labels: Sequence[Any] | None, names: Names) -> border.Labels:
    """Return the class of each column where no row is labelled: as told, or the columns' names if they are words."""
    if labels is None and names is not None and all(isinstance(name, str) for name in names):
        return border.classes_of_columns(np.asarray(names), n_classes, None, names)
    return border.classes_of_columns(np.zeros(1, dtype=np.intp), n_classes, labels)


def _some(names: Sequence[Any], most: int = 5) -> str:
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")


# Shares of the classes: given as numbers, checked, and put into a forecast


def as_event_share(name: str, value: object, *, positive: bool = False) -> float:
    """Return the share of events in [0, 1], or in (0, 1) if both classes must occur."""
    if positive:
        hint = "A forecast knows nothing of a class that never occurred; of a ratio r of events to the rest pass r / (1 + r)"
        return number(name, value, above=0.0, below=1.0, hint=hint)
    return number(name, value, least=0.0, most=1.0, hint="Of a ratio r of events to the rest it is r / (1 + r)")


def as_prior(name: str, prior: npt.ArrayLike, n_classes: int, *, positive: bool = False) -> FloatArray:
    """Return the share of each class, summing to one; of two classes one number is the share of the event."""
    if is_single(prior):
        must = f"{name} must hold a share for each of the {n_classes} classes"
        require(n_classes == 2, must, value=prior, hint="Pass a sequence in column order")
        share = as_event_share(name, np.asarray(prior).item(), positive=positive)
        return np.array([1.0 - share, share])
    shares = numbers_of(name, prior, "Pass the share of each class in column order")
    one_each(name, shares, n_classes, "share")
    each(name, shares, shares >= 0, "not be negative", hint="Pass shares that sum to one")
    must = f"{name} must sum to one within {SUM_TOLERANCE:g}"
    require(abs(shares.sum() - 1.0) <= SUM_TOLERANCE, must, got=f"{shares.sum():.6g}", hint="Divide them by their sum")
    unknown = "A forecast knows nothing of a class that never occurred: leave its column out"
    each(name, shares, (shares > 0) | (not positive), "be positive", hint=unknown)
    return np.asarray(shares / shares.sum())


def _log(share: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(share)


Factor = npt.ArrayLike | Mapping[Any, float]


def shift_prior(
    y_prob: npt.ArrayLike,
    *,
    old_prior: npt.ArrayLike,
    new_prior: npt.ArrayLike,
    input: border.Input = "probability",
    rows: Rows = "as-given",
) -> FloatArray:
    """Adjust calibrated probabilities to new shares of the classes.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities, calibrated for the old shares.
    old_prior, new_prior : array-like of shape (n_classes,), or float
        Shares of the classes in column order; of two classes one number is the share of the event. Old shares are positive. A
        class whose new share is zero gets probability zero.
    input : {"probability", "logit"}, default="probability"
        What ``y_prob`` holds. Logits are shifted exactly.
    rows : {"as-given", "normalize", "percent"}, default="as-given"
        Check that rows sum to one, divide them by their sums, or divide percent by 100: see `DataOptions`.

    Returns
    -------
    ndarray of the shape of ``y_prob``
        Probabilities.

    Raises
    ------
    ValueError
        If shares are negative or do not sum to one, or if an old share is zero.

    See Also
    --------
    estimate_prior : New shares that are not known.

    Notes
    -----
    If only the shares change, and within each class everything stays as it was, Bayes' rule multiplies the probability of
    each class by new / old share, and divides by the sum. A row whose probability is all on classes of new share zero
    contradicts the new shares and stays as it is.

    References
    ----------
    Saerens, Latinne, Decaestecker, Adjusting the outputs of a classifier to new a priori probabilities: a simple procedure,
    Neural Computation 2002.

    Examples
    --------
    >>> from calibrant.decisions import shift_prior
    >>> shift_prior([0.2, 0.5], old_prior=0.5, new_prior=0.8)
    array([0.5, 0.8])
    """
    new = received(y_prob, input=input, rows=rows)
    old = as_prior("old_prior", old_prior, new.forecast.shape[1], positive=True)
    return new.reweighed(_log(as_prior("new_prior", new_prior, new.forecast.shape[1])) - np.log(old))


def undo_undersampling(
    y_prob: npt.ArrayLike,
    kept: Factor,
    *,
    labels: Sequence[Any] | None = None,
    input: border.Input = "probability",
    rows: Rows = "as-given",
) -> FloatArray:
    """Correct the probabilities of a model that was trained on classes sampled at different rates.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of a model that was trained on the sample.
    kept : float, sequence of length n_classes or dict
        Share of the rows of each class that the sample kept, in column order or by class. One number, of two classes, is the
        share of the rows without the event that was kept; all events were. Only ratios matter: over-sampling an event by 5 is
        ``[1, 5]``.
    labels : sequence of length n_classes, optional
        The class of each column, for a dict; by default the names of the columns of a data frame if the keys are such, else
        0, 1, ....
    input : {"probability", "logit"}, default="probability"
        What ``y_prob`` holds.
    rows : {"as-given", "normalize", "percent"}, default="as-given"
        Check that rows sum to one, divide them by their sums, or divide percent by 100: see `DataOptions`.

    Returns
    -------
    ndarray of the shape of ``y_prob``
        Probabilities.

    Raises
    ------
    ValueError
        If a share is not positive, or if there is not one for each class.

    Notes
    -----
    Keeping a share of a class multiplies its odds by that share; dividing puts them back. With one share b of the rows
    without the event, p becomes b p / (b p - p + 1).

    References
    ----------
    Dal Pozzolo, Caelen, Johnson, Bontempi, Calibrating probability with undersampling for unbalanced classification,
    IEEE SSCI 2015.

    Examples
    --------
    >>> from calibrant.decisions import undo_undersampling
    >>> undo_undersampling([0.5], 0.25)
    array([0.2])
    """
    new = received(y_prob, input=input, rows=rows)
    if new.forecast.shape[1] == 2 and is_single(kept):
        hint = "Pass the share of the rows without the event that was kept, or a number for each class"
        kept = [number("kept", np.asarray(kept).item(), above=0.0, hint=hint), 1.0]
    return new.reweighed(-np.log(_factors("kept", kept, new, labels)))


def undo_class_weight(
    y_prob: npt.ArrayLike,
    class_weight: Factor | str,
    *,
    train_prior: npt.ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    input: border.Input = "probability",
    rows: Rows = "as-given",
) -> FloatArray:
    """Correct the probabilities of a model that was trained with class weights.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the model.
    class_weight : {"balanced"}, sequence of length n_classes or dict
        The ``class_weight`` of scikit-learn with which it was trained. Classes that a dict leaves out have weight one.
    train_prior : array-like of shape (n_classes,), or float, optional
        Shares of the classes in training, without weights; needed for ``"balanced"``.
    labels : sequence of length n_classes, optional
        The class of each column, for a dict; by default the names of the columns of a data frame if the keys are such, else
        0, 1, ....
    input : {"probability", "logit"}, default="probability"
        What ``y_prob`` holds.
    rows : {"as-given", "normalize", "percent"}, default="as-given"
        Check that rows sum to one, divide them by their sums, or divide percent by 100: see `DataOptions`.

    Returns
    -------
    ndarray of the shape of ``y_prob``
        Probabilities.

    Raises
    ------
    ValueError
        If a weight is not positive, if there is not one for each class, or if "balanced" comes without shares.

    Notes
    -----
    A class of weight w counts as w rows of it: a model that fits its data well gives it w times the odds, and dividing by w
    puts them back. This is exact for the probabilities that weighted data have. A model that cannot follow them (a linear one
    whose classes are not linear, trees of few leaves) keeps errors of its own: calibrate it on rows without weights instead.

    Examples
    --------
    >>> from calibrant.decisions import undo_class_weight
    >>> undo_class_weight([0.5], "balanced", train_prior=0.1)
    array([0.1])
    >>> undo_class_weight([0.5], {1: 9})
    array([0.1])
    """
    new = received(y_prob, input=input, rows=rows)
    if not isinstance(class_weight, str):
        left_out("train_prior", train_prior, "unless class_weight is 'balanced'", hint="Weights say all")
        return new.reweighed(-np.log(_factors("class_weight", class_weight, new, labels, rest=1.0)))
    must = "class_weight must be numbers, or 'balanced' with train_prior"
    got = f"{class_weight!r} and train_prior={train_prior!r}"
    hint = "Pass the weights, or the shares in training"
    require(class_weight == "balanced" and train_prior is not None, must, got=got, hint=hint)
    classes_of(new.forecast.shape[1], labels, new.names)
    prior = as_prior("train_prior", cast("npt.ArrayLike", train_prior), new.forecast.shape[1], positive=True)
    return new.reweighed(np.log(prior))


def _factors(
    name: str, factor: Factor, new: Received, labels: Sequence[Any] | None, rest: float | None = None
) -> FloatArray:
    """Return the number of each class in column order, of a dict by its keys; ``rest`` is that of classes it leaves out."""
    n_classes, names = new.forecast.shape[1], new.names
    classes = classes_of(n_classes, labels, names).tolist()  # labels that make no sense are refused, needed or not
    if isinstance(factor, Mapping):
        if labels is None and not (names is not None and set(factor) <= set(names)):
            classes = classes_of(n_classes, None, None).tolist()  # keys are no names of columns: the classes by number
        given = factor if rest is None else dict.fromkeys(classes, rest) | dict(factor)
        must = f"{name} must have a number for each class, {', '.join(map(repr, classes[:5]))}"
        got, hint = f"keys {', '.join(map(repr, list(given)[:5]))}", "Pass labels= if the columns are other classes"
        require(set(given) == set(classes), must, got=got, hint=hint)
        factor = [given[c] for c in classes]
    must = f"{name} must hold a number for each of the {n_classes} classes"
    require(not is_single(factor), must, value=factor, hint="Pass a sequence in column order")
    numbers = numbers_of(name, factor, "Pass a number for each class in column order")
    one_each(name, numbers, n_classes, "number")
    each(name, numbers, numbers > 0, "be positive", hint="A class that training never saw cannot be put back")
    return numbers


# Shares of the classes in unlabelled rows, estimated from the forecast alone


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
        return np.asarray(self.prior / self.old_prior)

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
    input: border.Input = "probability",
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
    n_rows, n_classes = new.forecast.shape
    weights = border.as_weights(sample_weight, n_rows)
    must, got = "pos_label must be left out when y_prob is a table", f"{pos_label!r} for {n_classes} columns"
    require(pos_label is None or new.is_column, must, got=got, hint="Pass labels= to name the columns")
    names = shared_names(y_prob, "old_prob", old_prob)
    options = {"labels": labels, "pos_label": pos_label, "input": input, "rows": rows}
    labelled = _labelled(old_true, old_prob, old_weight, n_classes, names, options)
    if labelled is None:
        classes = _classes(new, labels, pos_label)
        hint = "Pass old_prior=, or old_true= and old_prob= of rows from before the change"
        must = "old shares of the classes must be known"
        require(old_prior is not None, must, got="neither old_prior nor labelled rows", hint=hint)
    else:
        classes = labelled.classes
    name, shares, positive = "old_prior", old_prior, True
    if labelled is not None and old_prior is None:
        name, positive = "old_prior, the shares of old_true,", method == "em"
        shares = np.bincount(labelled.label, labelled.weight, n_classes) / labelled.weight.sum()
    old = as_prior(name, cast("npt.ArrayLike", shares), n_classes, positive=positive)
    kept = weights.values > 0
    prob, part = new.forecast.prob[kept], weights.part(kept)
    if method != "em":
        hint = "Pass old_true= and old_prob= of rows from before the change, or method='em'"
        require(labelled is not None, f"method {method!r} needs labelled rows", got="none", hint=hint)
        soft = method == "bbse-soft"
        prior, error, residual, condition = black_box_prior(cast("SimplexProblem", labelled), prob, part, soft=soft)
        return PriorEstimate(classes, prior, old, error, method, 0, residual, condition)
    rare = "Leave out the column of a class that hardly ever occurs"
    each("old_prior", old, old >= LEAST_SHARE, f"be at least {LEAST_SHARE:g}", hint=rare)
    covariance = _covariance(labelled, old) if labelled is not None and old_prior is None else None
    found = most_likely_shares(prob / old, part.values, old)
    if not found.point.gap <= GAP:
        warn(
            f"the maximum of the likelihood is not certified: it may be higher by {found.point.gap:.2g} nats a row after "
            f"{found.n_iter} steps. Check that classes differ.",
            ConvergenceWarning,
        )
    error, condition = standard_errors(found, part.effective_rows, old, covariance)
    return PriorEstimate(classes, found.point.x, old, error, "em", found.n_iter, found.point.gap, condition)


def _covariance(labelled: SimplexProblem, shares: FloatArray) -> FloatArray:
    """Return the covariance matrix of the shares of labelled rows."""
    of_class = np.bincount(labelled.label, labelled.weights.of_variance, shares.size)
    crossed = np.outer(of_class, shares)
    away = np.diag(of_class) - crossed - crossed.T + of_class.sum() * np.outer(shares, shares)
    return np.asarray(away / labelled.weights.total**2)


def _labelled(
    old_true: Any, old_prob: Any, old_weight: Any, n_classes: int, names: Names, options: Any
) -> SimplexProblem | None:
    """Return the labelled rows, if there are any."""
    if not together(old_true=old_true, old_prob=old_prob):
        must, hint = "old_weight must be given with labelled rows", "Weights of the rows of y_prob are sample_weight"
        require(old_weight is None, must, got="neither old_true nor old_prob", hint=hint)
        return None
    values = as_numbers("old_prob", old_prob)
    own = border.as_forecast(values, input=options["input"], rows=options["rows"], name="old_prob").shape[1]
    must, got = "old_prob and y_prob must have the same columns", f"{own} classes and {n_classes}"
    require(own == n_classes, must, got=got, hint="Pass forecasts of one model")
    options = {**options, "column_names": names, "named": border.Named("old_true", "old_prob", "old_weight")}
    return as_simplex(border.as_problem(old_true, values, sample_weight=old_weight, **options))


def _classes(new: Received, labels: Sequence[Any] | None, pos_label: Any) -> npt.NDArray[np.generic]:
    """Return the classes where no row is labelled, by the rules for rows that are."""
    classes = classes_of(new.forecast.shape[1], labels, new.names)
    if not new.is_column or pos_label is None:
        return classes
    known = border.as_labels([pos_label]) if labels is None else classes
    return border.classes_of_score(known, labels=labels, pos_label=pos_label)
