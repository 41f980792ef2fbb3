"""Outside data become problems here, and nowhere else. The only place that raises on data.

Every message says what must hold, what came, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from calibrant import _links
from calibrant._arrays import as_array, columns_of, first, index, more
from calibrant._labels import (
    USUAL,
    Labels,
    Named,
    as_labels,
    classes_of_columns,
    classes_of_pair,
    classes_of_score,
    encode,
)
from calibrant._links import FloatArray
from calibrant._problem import (
    BinaryProblem,
    BoolArray,
    Forecast,
    Predicted,
    Problem,
    SimplexProblem,
    is_unit_weight,
    two_columns,
    unit_weight,
)

MOST_WEIGHT, LEAST_WEIGHT = 1e100, 1e-100
"""Sum of weights up to which, and weight down to which, squares neither overflow nor vanish."""

MOST_LOGIT = 1e100
"""Size of logits up to which their squares do not overflow."""

ROUNDING = 1e-6
"""How far a probability may lie outside [0, 1]: a few units in the last place of single precision."""

SUM_TOLERANCE = 1e-3
"""How far the sum of a row may be from one: half precision and four printed digits pass, logits and percent do not."""

Input = Literal["probability", "logit"]
IF_LOGITS = "If these are logits, pass input='logit'."
NORMALIZE = "Pass normalize=True to divide each row by its sum."
OF_A_PAIR = np.array(["wrong", "right"])
"""What the outcomes of a predicted class are called."""


class DataOptions(TypedDict, total=False):
    """What every metric and curve accepts about its data.

    Attributes
    ----------
    sample_weight : array-like of shape (n_samples,)
        Non-negative weights; an integer weight counts as that many equal rows in every figure. Where rows are resampled
        for an interval or a p-value, a row moves with its weight. One each by default.
    labels : sequence of length n_classes
        The class of each column of ``y_prob``. By default the columns are the classes 0, 1, ..., or the sorted
        distinct labels when there are as many of them as columns.
    pos_label : label
        For one column of probabilities: the label that the probability speaks of. 1 or True by default.
    input : {"probability", "logit"}
        What ``y_prob`` holds. It is never guessed from the values.
    normalize : bool
        Divide each row by its sum instead of refusing rows that do not sum to one.
    y_pred : array-like of shape (n_samples,)
        The predicted class of each row. ``y_prob`` then holds its probability alone, of shape (n_samples,), and the event is
        that it came: so the pair that `ByNotion.predict_top` gives is measured, under ``"top-label"`` or ``"confidence"``.
        ``labels`` are then all classes, by default those seen.
    """

    sample_weight: npt.ArrayLike | None
    labels: Sequence[Any] | None
    pos_label: Any
    input: Input
    normalize: bool
    y_pred: npt.ArrayLike | None


def as_problem(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    input: Input = "probability",
    normalize: bool = False,
    y_pred: npt.ArrayLike | None = None,
    column_names: Sequence[Any] | None = None,
    named: Named = USUAL,
    **unknown: Any,
) -> Problem:
    """Labels and a forecast as a problem: one column (1-D) makes it binary, a table makes it a simplex problem.

    Labels that are words, each the name of a column of a data frame, say which column is which class. One column with the
    predicted classes is a binary problem that knows them.
    """
    if unknown:
        hint = " A number of bins is binning=10." if "n_bins" in unknown else ""
        raise TypeError(
            f"keywords must be those of the function, or of the data: {', '.join(DataOptions.__annotations__)}; got "
            f"{', '.join(map(repr, unknown))}.{hint} See the function's help."
        )
    names = columns_of(y_prob) if column_names is None else column_names
    truth, values = as_labels(y_true, named.truth), as_numbers(named.forecast, y_prob)
    if len(truth) != len(values):
        raise ValueError(
            f"{named.truth} and {named.forecast} must have the same number of rows; got {len(truth)} and {len(values)}. "
            "Pass one label a row."
        )
    if y_pred is not None:
        _require_pair(values, pos_label, named)
    weight = as_weight(sample_weight, len(truth), named.weight)
    kept = slice(None) if is_unit_weight(weight) or weight.all() else weight > 0
    if values.ndim == 1:
        logit = as_logits(values, named.forecast)[kept] if _check_input(input) == "logit" else None
        score = (_links.score_of_logit(values) if logit is not None else as_score(values, named.forecast))[kept]
        if y_pred is not None:
            came, predicted = _pair(truth, as_labels(y_pred, "y_pred"), kept, labels, named)
            return BinaryProblem(score, came, weight[kept], classes=OF_A_PAIR, logit=logit, predicted=predicted)
        classes = classes_of_score(truth, labels=labels, pos_label=pos_label, named=named)
        outcome = truth == classes[1]
        return BinaryProblem(score, outcome[kept], weight[kept], classes=classes, logit=logit)
    if pos_label is not None:
        raise ValueError(
            f"pos_label must be left out when {named.forecast} is a table; got {pos_label!r} for {values.shape[1]} columns. "
            "Pass labels= to name the columns."
        )
    forecast = as_forecast(values, input=input, normalize=normalize, name=named.forecast)
    classes = classes_of_columns(truth, forecast.shape[1], labels, names, named)
    code = encode(truth, classes, named.truth)
    return SimplexProblem(Forecast(forecast.values[kept], forecast.is_logit), code[kept], weight[kept], classes)


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
    """Whether the predicted class came, and which it is, of the rows that are kept."""
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


# Numbers


def as_numbers(name: str, data: npt.ArrayLike) -> FloatArray:
    """Arrays, nested lists and data frames as finite float64 of one or two dimensions, copied only where needed."""
    array = as_array(name, data)
    if array.dtype == object or array.dtype.kind in "USMmV":
        kinds = sorted({type(v).__name__ for v in array.ravel()[:1000].tolist()})
        raise TypeError(
            f"{name} must hold numbers; got {' and '.join(kinds)} (dtype {array.dtype}). "
            "Choose the numeric columns, or convert them first."
        )
    if array.dtype.kind == "c":
        raise TypeError(f"{name} must hold real numbers; got dtype {array.dtype}. Complex data not supported.")
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} must have one or two dimensions; got shape {array.shape}. "
            "Reshape your data to (n_samples,) or (n_samples, n_classes)."
        )
    if array.size == 0:
        raise ValueError(f"{name} must hold at least one row; got shape {array.shape}. Check how the table was read.")
    numbers = array.astype(np.float64, copy=False)
    # One pass decides: a sum is finite only if nothing in it is NaN or infinite (overflow is looked at again).
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(numbers.sum())
    if suspicious and not (finite := np.isfinite(numbers)).all():
        where = first(~finite)
        raise ValueError(
            f"{name} must be finite; got {numbers[where]} at index {index(where)}{more(~finite)}. "
            "Drop or repair these rows (NaN and inf are refused, never imputed)."
        )
    return numbers


def as_score(values: FloatArray, name: str = "y_prob", hint: str = IF_LOGITS) -> FloatArray:
    """One column of probabilities."""
    return _in_unit_interval(name, values, hint)


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
    normalize: bool = False,
    name: str = "y_prob",
    hint: str = IF_LOGITS,
    sum_hint: str = NORMALIZE,
) -> Forecast:
    """Probabilities whose rows sum to one, or logits; one column stands for itself and its complement."""
    if values.ndim == 1:
        is_logit = _check_input(input) == "logit"
        return two_columns(as_logits(values, name) if is_logit else as_score(values, name, hint), is_logit=is_logit)
    n_classes = values.shape[1]
    if n_classes < 2:
        raise ValueError(
            f"{name} must have at least 2 columns when it is a table; got 1. Pass the column itself, of shape (n_samples,)."
        )
    if _check_input(input) == "logit":
        return Forecast(as_logits(values, name), is_logit=True)
    values = _in_unit_interval(name, values, hint)
    sums = values.sum(axis=1)
    if normalize:
        if not sums.all():
            raise ValueError(
                f"rows of {name} must have a positive sum to be normalised; got 0 in row {int(np.argmin(sums))}. "
                "Drop this row."
            )
        return Forecast(values / sums[:, None])
    off = np.abs(sums - 1.0) > SUM_TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        raise ValueError(
            f"rows of {name} must sum to one within {SUM_TOLERANCE:g}; got {sums[row]:.6g} in row {row}{more(off)}. {sum_hint}"
        )
    return Forecast(values)


def as_weight(sample_weight: npt.ArrayLike | None, n: int, name: str = "sample_weight") -> FloatArray:
    """Weights of ``n`` rows; one each by default."""
    if sample_weight is None:
        return unit_weight(n)
    weight = as_numbers(name, sample_weight)
    if 0 in weight.strides:  # a broadcast number: only `unit_weight` may look like that
        weight = weight.copy()
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
    return weight


def _check_input(input: Input) -> Input:
    if input in ("probability", "logit"):
        return input
    raise ValueError(f"input must be 'probability' or 'logit'; got {input!r}. Say what y_prob holds.")


def _in_unit_interval(name: str, values: FloatArray, hint: str) -> FloatArray:
    """Return probabilities; what single precision rounded out of [0, 1] is put back."""
    if values.min() >= 0 and values.max() <= 1:
        return values
    outside = (values < -ROUNDING) | (values > 1 + ROUNDING)
    if not outside.any():
        return np.clip(values, 0.0, 1.0)
    where = first(outside)
    raise ValueError(
        f"{name} must hold probabilities in [0, 1]; got {values[where]:.10g} at index {index(where)}{more(outside)}. {hint}"
    )
