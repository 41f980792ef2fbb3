"""Outside data become problems here, and nowhere else. The only place that raises on data.

Every message says what must hold, what was given, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from calibrant._core import links
from calibrant._core import rows as row_sums
from calibrant._core.arrays import as_array, columns_of, first, index, more
from calibrant._core.finite_numbers import as_numbers, finite_numbers
from calibrant._core.in_batches import InBatches
from calibrant._core.labels import (
    USUAL,
    Labels,
    Named,
    as_labels,
    classes_of_pair,
    codes_of_columns,
    encode,
    event_of_score,
    require_label,
)
from calibrant._core.links import FloatArray
from calibrant._core.one_pass import are_between, are_probabilities, is_real
from calibrant._core.problem import (
    DOUBLE,
    BinaryProblem,
    BoolArray,
    Forecast,
    Predicted,
    Problem,
    SimplexProblem,
    two_columns,
)
from calibrant._core.rows import Remedies, Rows
from calibrant._core.weights import Weights

MOST_WEIGHT, LEAST_WEIGHT = 1e100, 1e-100
"""Sum of weights up to which, and weight down to which, squares neither overflow nor vanish."""

MOST_LOGIT = 1e100
"""Size of logits up to which their squares do not overflow."""

Input = Literal["probability", "logit"]

RENAMED = {
    "n_bins": " A number of bins is binning=10.",
    "normalize": " Rows are divided by their sums with rows='normalize'.",
}
"""What to say of keywords that others have, or that were here once."""

OF_A_PAIR = np.array(["wrong", "right"])
"""What the outcomes of a predicted class are called."""


class DataOptions(TypedDict, total=False):
    """What every metric and curve accepts about its data.

    Attributes
    ----------
    sample_weight : array-like of shape (n_samples,)
        Non-negative weights, one each by default. If all are whole, each is a number of equal rows, in every figure: so are
        intervals and p-values those of the repeated rows. If any is a fraction, weights say how much each row counts: a row
        is one observation and moves with its weight where labels or rows are drawn. Rows of weight zero are left out.
    labels : sequence of length n_classes
        The class of each column of ``y_prob``. By default the columns are the classes 0, 1, ..., or the sorted
        distinct labels when there are as many of them as columns. Whole numbers that begin at 1 or below and go beyond the
        last column, such as 0, 1 and 5 of three columns, are refused: name the classes.
    pos_label : label
        The event, of two classes: the label that one column of probabilities speaks of, by default 1 or True; or the label of
        the column of a table of two that is spoken of where no notion is given, by default the second. The classes stand in
        the order other, event: so do results, and matrices of costs.
    input : {"probability", "logit"}
        What ``y_prob`` holds. It is never guessed from the values.
    rows : {"as-given", "normalize", "percent"}
        What is done with the numbers of ``y_prob`` before they are checked. By default nothing: rows of a table must sum to
        one within 0.001. ``"normalize"`` divides each row of a table by its sum, whatever its numbers, such as votes or
        rounded percent. ``"percent"`` divides a table, or one column, by 100; the rows must then sum to one.
    y_pred : array-like of shape (n_samples,)
        The predicted class of each row. ``y_prob`` then holds its probability alone, of shape (n_samples,), and the event is
        that it is true: so the pair that `ByNotion.predict_top` gives is measured, under ``"top-label"`` or ``"confidence"``.
        ``labels`` are then all classes, by default those seen.
    """

    sample_weight: npt.ArrayLike | None
    labels: Sequence[Any] | None
    pos_label: Any
    input: Input
    rows: Rows
    y_pred: npt.ArrayLike | None


def as_problem(
    y_true: npt.ArrayLike | InBatches,
    y_prob: npt.ArrayLike | None = None,
    *,
    sample_weight: npt.ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    input: Input = "probability",
    rows: Rows = "as-given",
    y_pred: npt.ArrayLike | None = None,
    column_names: Sequence[Any] | None = None,
    named: Named = USUAL,
    remedies: Remedies = row_sums.USUAL,
    **unknown: Any,
) -> Problem:
    """Labels and a forecast as a problem: one column (1-D) makes it binary, a table makes it a simplex problem.

    Labels that are words, each the name of a column of a data frame, say which column is which class. One column with the
    predicted classes is a binary problem that knows them.
    """
    if unknown:
        hint = "".join(text for word, text in RENAMED.items() if word in unknown)
        raise TypeError(
            f"keywords must be those of the function, or of the data: {', '.join(DataOptions.__annotations__)}; got "
            f"{', '.join(map(repr, unknown))}.{hint} See the function's help."
        )
    if isinstance(y_true, InBatches):
        said = {
            "y_prob": y_prob,
            "sample_weight": sample_weight,
            "labels": labels,
            "pos_label": pos_label,
            "y_pred": y_pred,
        }
        return _of_batches(y_true, [name for name, value in said.items() if value is not None])
    if y_prob is None:
        raise TypeError(
            f"{named.forecast} must be given beside {named.truth}; it is missing. Pass the predicted probabilities, or "
            "calibrant.predictions(...) alone, which has both."
        )
    truth, array = as_labels(y_true, named.truth), as_array(named.forecast, y_prob)
    all_is_well = _is_well(array, input, rows)
    values: FloatArray = array if all_is_well else finite_numbers(named.forecast, array, y_prob)
    names = columns_of(y_prob) if column_names is None else column_names
    if len(truth) != len(values):
        raise ValueError(
            f"{named.truth} and {named.forecast} must have the same number of rows; got {len(truth)} and {len(values)}. "
            "Pass one label a row."
        )
    if y_pred is not None:
        _require_pair(values, pos_label, named)
    weights = as_weights(sample_weight, len(truth), named.weight)
    kept = slice(None) if weights.is_unit or weights.values.all() else weights.values > 0
    weights = weights if isinstance(kept, slice) else Weights(weights.values[kept])
    if not all_is_well:
        values = _as_declared(values, input, rows, named.forecast, remedies)
    given = array.dtype.newbyteorder("=")  # single precision in any order of bytes
    precision = given if given.char in "fd" and input == "probability" and rows == "as-given" else DOUBLE
    if values.ndim == 1:
        logit = values.astype(np.float64, copy=False)[kept] if input == "logit" else None
        score = values.astype(np.float64, copy=False)[kept] if logit is None else links.score_of_logit(logit)
        if y_pred is not None:
            outcome, predicted = _pair(truth, as_labels(y_pred, "y_pred"), kept, labels, named)
            classes = OF_A_PAIR
        else:
            classes, occurred = event_of_score(truth, labels=labels, pos_label=pos_label, named=named)
            outcome, predicted = occurred[kept], None
        return BinaryProblem(
            score, outcome, weights, classes=classes, logit=logit, predicted=predicted, precision=precision
        )
    classes, code = codes_of_columns(truth, values.shape[1], labels, names, named)
    forecast = Forecast(values.astype(precision, copy=False)[kept], input == "logit")
    problem = SimplexProblem(forecast, code[kept], weights, classes)
    return problem if pos_label is None else _with_event_last(problem, pos_label, named)


def _of_batches(predictions: InBatches, said: Sequence[str]) -> Problem:
    """Return the problem of rows that are read in batches, which know all that there is to say of them."""
    if "y_prob" in said:
        raise TypeError(
            "y_prob must be left out beside predictions that are read in batches, which have probabilities; got both. "
            "Leave it out, or take a sample of the rows: function(**predictions.sample(n))."
        )
    if said:
        raise TypeError(
            f"{', '.join(said)} must be left out beside predictions that are read in batches; got both. "
            "Say it where they are made: calibrant.predictions(...)."
        )
    return predictions.as_problem()


def _is_well(array: npt.NDArray[Any], input: Input, rows: Rows) -> bool:
    """Whether one look at the numbers shows that they are what they are declared as; False says nothing."""
    if not (is_real(array) and isinstance(input, str) and isinstance(rows, str) and rows == "as-given"):
        return False
    if array.ndim == 2 and array.shape[1] < 2:
        return False
    if input == "logit":
        return are_between(array, -MOST_LOGIT, MOST_LOGIT)
    return input == "probability" and are_probabilities(array, row_sums.SUM_TOLERANCE)


def _as_declared(values: FloatArray, input: Input, rows: Rows, name: str, remedies: Remedies) -> FloatArray:
    """Return numbers that are probabilities or logits, as is declared; or refuse them."""
    if values.ndim == 2:
        return as_forecast(values, input=input, rows=rows, name=name, remedies=remedies).values
    if _check_input(input, rows) == "logit":
        return as_logits(values, name)
    return as_score(values, name, rows, remedies)


def _with_event_last(problem: SimplexProblem, pos_label: Any, named: Named) -> SimplexProblem:
    """Put the column of the event second, where two columns speak."""
    classes = problem.classes.tolist()
    if len(classes) > 2:
        raise ValueError(
            f"pos_label must be left out when {named.forecast} has more than two columns; got {pos_label!r} for "
            f"{len(classes)}. Say what is spoken of by notion=OneVsRest(...), where the function has a notion."
        )
    require_label("pos_label", pos_label)
    if pos_label not in classes:
        raise ValueError(f"pos_label must be among the labels {classes}; got {pos_label!r}. Pass one of them.")
    if pos_label == classes[1]:
        return problem
    forecast = replace(problem.forecast, values=np.ascontiguousarray(problem.forecast.values[:, ::-1]))
    return SimplexProblem(forecast, 1 - problem.label, problem.weights, problem.classes[::-1])


def _require_pair(values: FloatArray, pos_label: Any, named: Named) -> None:
    """Refuse what cannot stand beside predicted classes."""
    if values.ndim != 1:
        raise ValueError(
            f"{named.forecast} must be one column, of shape (n_samples,), where y_pred is given; got shape {values.shape}. "
            "Pass the probability of the predicted class of each row, or leave y_pred out."
        )
    if pos_label is not None:
        raise ValueError(
            f"pos_label must be left out where y_pred is given; got {pos_label!r}. The event is that the prediction is right."
        )


def _pair(
    truth: Labels, predicted: Labels, kept: slice | BoolArray, labels: Sequence[Any] | None, named: Named
) -> tuple[BoolArray, Predicted]:
    """Whether the predicted class is the true one, and which it is, of the rows that are kept."""
    if len(truth) != len(predicted):
        raise ValueError(
            f"{named.truth} and y_pred must have the same number of rows; got {len(truth)} and {len(predicted)}. "
            "Pass one predicted class a row."
        )
    if labels is None:  # a class that only rows of weight zero have is none
        truth, predicted, kept = truth[kept], predicted[kept], slice(None)
    classes = classes_of_pair(truth, predicted, labels, named)
    label, code = encode(truth, classes, named.truth), encode(predicted, classes, "y_pred")
    return (label == code)[kept], Predicted(code[kept], classes)


# Forecasts and weights


def as_score(
    values: FloatArray, name: str = "y_prob", rows: Rows = "as-given", remedies: Remedies = row_sums.USUAL
) -> FloatArray:
    """One column of probabilities."""
    return row_sums.as_probabilities(name, values, rows, remedies)


def as_logits(values: FloatArray, name: str = "y_prob") -> FloatArray:
    """Logits of a size that can be squared."""
    if max(values.max(), -values.min()) > MOST_LOGIT:
        where = first(np.abs(values) > MOST_LOGIT)
        raise ValueError(
            f"logits in {name} must be at most {MOST_LOGIT:g} in size; got {values[where]:g} at index {index(where)}. "
            "Divide them all by one number."
        )
    return values


def as_forecast(
    values: FloatArray,
    *,
    input: Input,
    rows: Rows = "as-given",
    name: str = "y_prob",
    remedies: Remedies = row_sums.USUAL,
) -> Forecast:
    """Probabilities whose rows sum to one, or logits; one column stands for itself and its complement."""
    is_logit = _check_input(input, rows) == "logit"
    if values.ndim == 1:
        column = as_logits(values, name) if is_logit else as_score(values, name, rows, remedies)
        return two_columns(column, is_logit=is_logit)
    n_classes = values.shape[1]
    if n_classes < 2:
        raise ValueError(
            f"{name} must have at least 2 columns when it is a table; got 1. Pass the column itself, of shape (n_samples,)."
        )
    if is_logit:
        return Forecast(as_logits(values, name), is_logit=True)
    return Forecast(row_sums.as_probabilities(name, values, rows, remedies))


def as_weights(sample_weight: npt.ArrayLike | None, n: int, name: str = "sample_weight") -> Weights:
    """Weights of ``n`` rows; one each by default."""
    if sample_weight is None:
        return Weights.one_each(n)
    weight = as_numbers(name, sample_weight)
    if weight.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},); got {weight.shape}. Pass one weight a row.")
    if weight.min() < 0:
        row = int(np.argmin(weight))
        raise ValueError(
            f"{name} must not be negative; got {weight[row]:g} at index {row}{more(weight < 0)}. "
            "Remove the rows you do not want to count."
        )
    if not float(weight.sum()) <= MOST_WEIGHT:
        raise ValueError(
            f"{name} must have a sum of at most {MOST_WEIGHT:g}; it is more. Divide the weights by their largest."
        )
    if not weight.any():
        raise ValueError(f"{name} must have a positive sum; got only zeros. Give some row a weight.")
    if (tiny := (weight > 0) & (weight < LEAST_WEIGHT)).any():
        row = int(np.argmax(tiny))
        raise ValueError(
            f"{name} must be 0 or at least {LEAST_WEIGHT:g}; got {weight[row]:g} at index {row}{more(tiny)}. "
            "Multiply the weights by one number."
        )
    return Weights(weight)


def _check_input(input: Input, rows: Rows) -> Input:
    if not isinstance(input, str) or input not in ("probability", "logit"):
        raise ValueError(f"input must be 'probability' or 'logit'; got {input!r}. Say what y_prob holds.")
    if row_sums.one_of(rows) == "percent" and input == "logit":
        raise ValueError(
            "rows must not be 'percent' where input='logit'; got both. Logits are no percent: leave one out."
        )
    return input
