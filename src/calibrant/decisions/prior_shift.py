"""Probabilities for other shares of the classes: known new shares, and what sampling or weights did in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from numbers import Number
from typing import Any, NamedTuple, cast

import numpy as np

from calibrant._core import border
from calibrant._core.arrays import ArrayLike, FloatArray, as_array, columns_of, prob_of_logit
from calibrant._core.checks import as_numbers, each, finite_numbers, left_out, number, one_each, require, some
from calibrant._core.rows import SUM_TOLERANCE, Forecast, Rows, precision_of
from calibrant.fit.minimise import most_likely_shares

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
        prob = prob_of_logit(logarithm)
        return prob[:, 1].copy() if self.is_column else prob


def received(y_prob: ArrayLike, *, input: border.Input, rows: Rows) -> Received:
    """Return the forecast that a function is called with."""
    given = as_array("y_prob", y_prob)
    forecast = border.as_forecast(finite_numbers("y_prob", given, y_prob), input=input, rows=rows)
    forecast.precision = precision_of(given, input, rows)
    return Received(forecast, given.ndim == 1, names_of(y_prob))


def numbers_of(name: str, values: ArrayLike, hint: str) -> FloatArray:
    """Return the numbers of a parameter that is a sequence or a matrix."""
    require(not is_single(values), f"{name} must be a sequence of numbers", value=values, hint=hint, error=TypeError)
    if isinstance(values, Sized):
        some(name, values, "number", hint=hint)
    return as_numbers(name, values)


def is_single(values: object) -> bool:
    """Whether it is one number, or one word, and no sequence."""
    return isinstance(values, (Number, np.generic, str, bytes)) or getattr(values, "ndim", None) == 0


def names_of(data: ArrayLike) -> Names:
    """Return the names of the columns of a data frame; mere numbers from 0 on, which pandas invents, are none."""
    names = columns_of(data)
    return None if names is None or list(names) == list(range(len(names))) else names


def classes_of(n_classes: int, labels: Sequence[Any] | None, names: Names) -> border.Labels:
    """Return the class of each column where no row is labelled: as told, or as the columns are named, such as cat or p_cat."""
    if labels is None and names is not None and set(map(type, names)) in ({str}, {int}, {bool}):
        named = border.bare(names) if isinstance(names[0], str) else names
        return border.classes_of_columns(np.asarray(named), n_classes, None, named)
    return border.classes_of_columns(np.zeros(1, dtype=np.intp), n_classes, labels)


# Shares of the classes: given as numbers, checked, and put into a forecast


def as_event_share(name: str, value: object, *, positive: bool = False) -> float:
    """Return the share of events in [0, 1], or in (0, 1) if both classes must occur."""
    if positive:
        hint = "A forecast knows nothing of a class that never occurred; of a ratio r of events to the rest pass r / (1 + r)"
        return number(name, value, above=0.0, below=1.0, hint=hint)
    return number(name, value, least=0.0, most=1.0, hint="Of a ratio r of events to the rest it is r / (1 + r)")


def as_prior(name: str, prior: ArrayLike, n_classes: int, *, positive: bool = False) -> FloatArray:
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


Factor = ArrayLike | Mapping[Any, float]


def shift_prior(
    y_prob: ArrayLike,
    *,
    old_prior: ArrayLike,
    new_prior: ArrayLike,
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
    y_prob: ArrayLike,
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
        The class of each column, for a dict; by default the names of the columns of a data frame if the keys are such, as words
        or as whole numbers, else 0, 1, ....
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
    y_prob: ArrayLike,
    class_weight: Factor | str,
    *,
    train_prior: ArrayLike | None = None,
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
        The class of each column, for a dict; by default the names of the columns of a data frame if the keys are such, as words
        or as whole numbers, else 0, 1, ....
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
    got, hint = f"{class_weight!r} and train_prior={train_prior!r}", "Pass the weights, or the shares in training"
    require(class_weight == "balanced" and train_prior is not None, must, got=got, hint=hint)
    classes_of(new.forecast.shape[1], labels, new.names)
    prior = as_prior("train_prior", cast("ArrayLike", train_prior), new.forecast.shape[1], positive=True)
    return new.reweighed(np.log(prior))


def _factors(
    name: str, factor: Factor, new: Received, labels: Sequence[Any] | None, rest: float | None = None
) -> FloatArray:
    """Return the number of each class in column order, of a dict by its keys; ``rest`` is that of classes it leaves out."""
    n_classes, names = new.forecast.shape[1], new.names
    classes = classes_of(n_classes, labels, names).tolist()  # labels that make no sense are refused, needed or not
    if isinstance(factor, Mapping):
        if labels is None:  # keys that are no names of columns are the classes by number
            keys, words = np.asarray(list(factor)), list(map(str, names or ()))
            by_name = words and keys.ndim == 1 and border.classes_by_name(keys, words)
            classes = by_name or classes_of(n_classes, None, None).tolist()
        given = factor if rest is None else dict.fromkeys(classes, rest) | dict(factor)
        must = f"{name} must have a number for each class, {', '.join(map(repr, classes[:5]))}"
        got = f"keys {', '.join(map(repr, list(given)[:5]))}"
        hint = "Pass 1 for a class that is as it was, or labels= if the columns are other classes"
        require(set(given) == set(classes), must, got=got, hint=hint)
        factor = [given[c] for c in classes]
    must = f"{name} must hold a number for each of the {n_classes} classes"
    require(not is_single(factor), must, value=factor, hint="Pass a sequence in column order")
    numbers = numbers_of(name, factor, "Pass a number for each class in column order")
    one_each(name, numbers, n_classes, "number")
    each(name, numbers, numbers > 0, "be positive", hint="A class that training never saw cannot be put back")
    return numbers


# Shares of the classes in unlabelled rows, estimated from the forecast alone


LEAST_SHARE = 1e-100
"""Old share down to which squares of probabilities over shares do not overflow."""


def estimate_prior(
    y_prob: ArrayLike,
    *,
    old_prior: ArrayLike,
    sample_weight: ArrayLike | None = None,
    input: border.Input = "probability",
    rows: Rows = "as-given",
) -> FloatArray:
    """Estimate the shares of the classes in rows without labels, from a calibrated forecast alone.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the new rows, calibrated for the old shares.
    old_prior : array-like of shape (n_classes,), or float
        Shares of the classes where the forecast is calibrated, in column order; of two classes one number is the share of the
        event.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the new rows; an integer weight counts as that many equal rows.
    input : {"probability", "logit"}, default="probability"
        What ``y_prob`` holds.
    rows : {"as-given", "normalize", "percent"}, default="as-given"
        Check that rows sum to one, divide them by their sums, or divide percent by 100: see `DataOptions`.

    Returns
    -------
    ndarray of shape (n_classes,)
        The most likely shares, in column order; they sum to one. Divided by ``old_prior`` they are importance weights of old
        rows.

    Raises
    ------
    ValueError
        If old shares are not positive, or do not sum to one.

    Notes
    -----
    The shares q maximise the mean of log sum_k q_k p_k / old_k: they are the limit of the EM algorithm of Saerens et al. It
    assumes label shift: within each class the features are distributed as before. There is always a most likely answer, so
    that it cannot show that something else changed.

    References
    ----------
    Saerens, Latinne, Decaestecker, Adjusting the outputs of a classifier to new a priori probabilities: a simple procedure,
    Neural Computation 2002.
    Alexandari, Kundaje, Shrikumar, Maximum likelihood with bias-corrected calibration is hard-to-beat at label shift
    adaptation, ICML 2020.

    Examples
    --------
    >>> from calibrant.decisions import estimate_prior
    >>> estimate_prior([0.1, 0.8, 0.9, 0.9], old_prior=0.5).round(3)
    array([0.203, 0.797])
    """
    forecast = received(y_prob, input=input, rows=rows).forecast
    weights = border.as_weights(sample_weight, len(forecast.values))
    old = as_prior("old_prior", old_prior, forecast.shape[1], positive=True)
    rare = "Leave out the column of a class that hardly ever occurs"
    each("old_prior", old, old >= LEAST_SHARE, f"be at least {LEAST_SHARE:g}", hint=rare)
    kept = weights.values > 0
    return most_likely_shares(forecast.prob[kept] / old, weights.values[kept], old).point.x
