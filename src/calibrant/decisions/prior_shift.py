"""Probabilities for other shares of the classes: known new shares, and what sampling or weights did in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from calibrant._core.labels import classes_of_columns
from calibrant._core.links import FloatArray
from calibrant._core.parameters import each, left_out, number, one_each, require
from calibrant._core.rows import Rows
from calibrant._core.validation import Input
from calibrant.decisions.inputs import Names, classes_of, is_single, numbers_of, received
from calibrant.decisions.priors import as_prior, log_of, reweighed

Factor = npt.ArrayLike | Mapping[Any, float]


def shift_prior(
    y_prob: npt.ArrayLike,
    *,
    old_prior: npt.ArrayLike,
    new_prior: npt.ArrayLike,
    input: Input = "probability",
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
    forecast, is_column, _ = received(y_prob, input=input, rows=rows)
    n_classes = forecast.shape[1]
    old = as_prior("old_prior", old_prior, n_classes, positive=True)
    new = as_prior("new_prior", new_prior, n_classes)
    return _shaped(reweighed(forecast, log_of(new) - np.log(old)), is_column)


def undo_undersampling(
    y_prob: npt.ArrayLike,
    kept: Factor,
    *,
    labels: Sequence[Any] | None = None,
    input: Input = "probability",
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
    forecast, is_column, names = received(y_prob, input=input, rows=rows)
    if forecast.shape[1] == 2 and is_single(kept):
        hint = "Pass the share of the rows without the event that was kept, or a number for each class"
        kept = [number("kept", np.asarray(kept).item(), above=0.0, hint=hint), 1.0]
    factor = _factors("kept", kept, forecast.shape[1], labels, names)
    return _shaped(reweighed(forecast, -np.log(factor)), is_column)


def undo_class_weight(
    y_prob: npt.ArrayLike,
    class_weight: Factor | str,
    *,
    train_prior: npt.ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    input: Input = "probability",
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
    forecast, is_column, names = received(y_prob, input=input, rows=rows)
    n_classes = forecast.shape[1]
    if isinstance(class_weight, str):
        require(
            class_weight == "balanced" and train_prior is not None,
            "class_weight must be numbers, or 'balanced' with train_prior",
            got=f"{class_weight!r} and train_prior={train_prior!r}",
            hint="Pass the weights, or the shares of the classes in training",
        )
        classes_of(n_classes, labels, names)
        log_factor = np.log(as_prior("train_prior", cast("npt.ArrayLike", train_prior), n_classes, positive=True))
    else:
        left_out("train_prior", train_prior, "unless class_weight is 'balanced'", hint="Weights say all")
        if isinstance(class_weight, Mapping):
            classes = _classes_of_keys(class_weight, n_classes, labels, names)
            class_weight = dict.fromkeys(classes, 1.0) | dict(class_weight)
        log_factor = -np.log(_factors("class_weight", class_weight, n_classes, labels, names))
    return _shaped(reweighed(forecast, log_factor), is_column)


def _factors(name: str, factor: Factor, n_classes: int, labels: Sequence[Any] | None, names: Names) -> FloatArray:
    """Return a positive number for each class."""
    classes_of(n_classes, labels, names)  # labels that make no sense are refused, needed or not
    if isinstance(factor, Mapping):
        classes = _classes_of_keys(factor, n_classes, labels, names)
        require(
            set(factor) == set(classes),
            f"{name} must have a number for each class, {', '.join(map(repr, classes[:5]))}",
            got=f"keys {', '.join(map(repr, list(factor)[:5]))}",
            hint="Pass labels= if the columns are other classes",
        )
        factor = [factor[c] for c in classes]
    must = f"{name} must hold a number for each of the {n_classes} classes"
    require(not is_single(factor), must, value=factor, hint="Pass a sequence in column order")
    numbers = numbers_of(name, factor, "Pass a number for each class in column order")
    one_each(name, numbers, n_classes, "number")
    each(name, numbers, numbers > 0, "be positive", hint="A class that training never saw cannot be put back")
    return numbers


def _classes_of_keys(
    keys: Mapping[Any, float], n_classes: int, labels: Sequence[Any] | None, names: Names
) -> list[Any]:
    """Return the classes of the columns: their names, if all keys are such."""
    if labels is None and names is not None and set(keys) <= set(names):
        return list(classes_of(n_classes, None, names).tolist())
    return list(classes_of_columns(np.zeros(1, dtype=np.intp), n_classes, labels).tolist())


def _shaped(prob: FloatArray, is_column: bool) -> FloatArray:
    return prob[:, 1].copy() if is_column else prob
