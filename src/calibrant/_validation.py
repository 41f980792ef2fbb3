"""Outside data become problems here, and nowhere else. The only place that raises on data.

Every message says what must hold, what came, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Number
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from calibrant import _links
from calibrant._links import FloatArray
from calibrant._problem import (
    BinaryProblem,
    Forecast,
    IntArray,
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
Labels = npt.NDArray[np.generic]


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
    """

    sample_weight: npt.ArrayLike | None
    labels: Sequence[Any] | None
    pos_label: Any
    input: Input
    normalize: bool


def as_problem(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    input: Input = "probability",
    normalize: bool = False,
    column_names: Sequence[Any] | None = None,
    **unknown: Any,
) -> Problem:
    """Labels and a forecast as a problem: one column (1-D) makes it binary, a table makes it a simplex problem.

    Labels that are words, each the name of a column of a data frame, say which column is which class.
    """
    if unknown:
        hint = " A number of bins is binning=10." if "n_bins" in unknown else ""
        raise TypeError(
            f"keywords must be those of the function, or of the data: {', '.join(DataOptions.__annotations__)}; got "
            f"{', '.join(map(repr, unknown))}.{hint} See the function's help."
        )
    names = _column_names(y_prob) if column_names is None else column_names
    truth, values = as_labels(y_true), as_numbers("y_prob", y_prob)
    if len(truth) != len(values):
        raise ValueError(
            f"y_true and y_prob must have the same number of rows; got {len(truth)} and {len(values)}. "
            "Pass one label a row."
        )
    weight = as_weight(sample_weight, len(truth))
    kept = slice(None) if is_unit_weight(weight) or weight.all() else weight > 0
    if values.ndim == 1:
        logit = as_logits(values)[kept] if _check_input(input) == "logit" else None
        score = _links.score_of_logit(values) if logit is not None else as_score(values)
        classes = classes_of_score(truth, labels=labels, pos_label=pos_label)
        outcome = truth == classes[1]
        return BinaryProblem(score[kept], outcome[kept], weight[kept], classes=classes, logit=logit)
    if pos_label is not None:
        raise ValueError(
            f"pos_label must be left out when y_prob is a table; got {pos_label!r} for {values.shape[1]} columns. "
            "Pass labels= to name the columns."
        )
    forecast = as_forecast(values, input=input, normalize=normalize)
    classes = classes_of_columns(truth, forecast.shape[1], labels, names)
    code = encode(truth, classes)
    return SimplexProblem(Forecast(forecast.values[kept], forecast.is_logit), code[kept], weight[kept], classes)


# Numbers


def as_numbers(name: str, data: npt.ArrayLike) -> FloatArray:
    """Arrays, nested lists and data frames as finite float64 of one or two dimensions, copied only where needed."""
    array = _as_array(name, data)
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
        where = _first(~finite)
        raise ValueError(
            f"{name} must be finite; got {numbers[where]} at index {_index(where)}{_more(~finite)}. "
            "Drop or repair these rows (NaN and inf are refused, never imputed)."
        )
    return numbers


def as_score(values: FloatArray) -> FloatArray:
    """One column of probabilities."""
    return _in_unit_interval(values)


def as_logits(values: FloatArray) -> FloatArray:
    """Logits of a size that can be squared."""
    if max(values.max(), -values.min()) > MOST_LOGIT:
        where = _first(np.abs(values) > MOST_LOGIT)
        raise ValueError(
            f"logits in y_prob must be at most {MOST_LOGIT:g} in size; got {values[where]:g} at index {_index(where)}. "
            "Divide them all by one number."
        )
    return values


def as_forecast(values: FloatArray, *, input: Input, normalize: bool = False) -> Forecast:
    """Probabilities whose rows sum to one, or logits; one column stands for itself and its complement."""
    if values.ndim == 1:
        is_logit = _check_input(input) == "logit"
        return two_columns(as_logits(values) if is_logit else as_score(values), is_logit=is_logit)
    n_classes = values.shape[1]
    if n_classes < 2:
        raise ValueError(
            "y_prob must have at least 2 columns when it is a table; got 1. Pass the column itself, of shape (n_samples,)."
        )
    if _check_input(input) == "logit":
        return Forecast(as_logits(values), is_logit=True)
    values = _in_unit_interval(values)
    sums = values.sum(axis=1)
    if normalize:
        if not sums.all():
            raise ValueError(
                f"rows of y_prob must have a positive sum to be normalised; got 0 in row {int(np.argmin(sums))}. "
                "Drop this row."
            )
        return Forecast(values / sums[:, None])
    off = np.abs(sums - 1.0) > SUM_TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        raise ValueError(
            f"rows of y_prob must sum to one within {SUM_TOLERANCE:g}; got {sums[row]:.6g} in row {row}{_more(off)}. "
            "Pass normalize=True to divide each row by its sum."
        )
    return Forecast(values)


def as_weight(sample_weight: npt.ArrayLike | None, n: int) -> FloatArray:
    """Weights of ``n`` rows; one each by default."""
    if sample_weight is None:
        return unit_weight(n)
    weight = as_numbers("sample_weight", sample_weight)
    if 0 in weight.strides:  # a broadcast number: only `unit_weight` may look like that
        weight = weight.copy()
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},); got {weight.shape}. Pass one weight a row.")
    if weight.min() < 0:
        row = int(np.argmin(weight))
        raise ValueError(
            f"sample_weight must not be negative; got {weight[row]:g} at index {row}{_more(weight < 0)}. "
            "Remove the rows you do not want to count."
        )
    if not float(weight.sum()) <= MOST_WEIGHT:
        raise ValueError(
            f"sample_weight must have a sum of at most {MOST_WEIGHT:g}; it is more. Divide the weights by their largest."
        )
    if not weight.any():
        raise ValueError("sample_weight must have a positive sum; got only zeros. Give some row a weight.")
    if (tiny := (weight > 0) & (weight < LEAST_WEIGHT)).any():
        row = int(np.argmax(tiny))
        raise ValueError(
            f"sample_weight must be 0 or at least {LEAST_WEIGHT:g}; got {weight[row]:g} at index {row}{_more(tiny)}. "
            "Multiply the weights by one number."
        )
    return weight


# Labels


def as_labels(y_true: npt.ArrayLike) -> Labels:
    """Labels as a one-dimensional array of integers, strings or booleans."""
    array = _as_array("y_true", y_true)
    if array.dtype.kind == "c":
        raise ValueError("y_true must hold class labels; got complex numbers. Complex data not supported.")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"y_true must have one dimension, a label a row; got shape {array.shape}. "
            "If it is one-hot encoded, pass y_true.argmax(axis=1); if it is the forecast, the call is metric(y_true, y_prob)."
        )
    if array.size == 0:
        raise ValueError("y_true must hold at least one label; got none. Check how the table was read.")
    if array.dtype.kind in "OT":
        array = _plain(array)
    if array.dtype.kind == "f":
        broken = ~np.isfinite(array) | (array != np.floor(array)) | (np.abs(array) > 2.0**53)
        if broken.any():
            at = int(np.argmax(broken))
            raise ValueError(
                f"y_true must hold class labels: integers, strings or booleans; got {array[at]} at index {at}"
                f"{_more(broken)}. Unknown label type: continuous or NaN. "
                "If this is the forecast, the call is metric(y_true, y_prob)."
            )
        return array.astype(np.int64)
    if array.dtype.kind not in "biuUS":
        raise TypeError(f"y_true must hold integers, strings or booleans; got dtype {array.dtype}. Convert the labels.")
    return array


def classes_of_score(truth: Labels, *, labels: Sequence[Any] | None, pos_label: Any = None) -> Labels:
    """The negative and the positive label of one column of probabilities."""
    if labels is not None:
        classes = _given_classes(labels, 2)
        encode(truth, classes)
        if pos_label is None or pos_label == classes[1]:
            return classes
        if pos_label != classes[0]:
            raise ValueError(
                f"pos_label must be among the labels {classes.tolist()}; got {pos_label!r}. Pass one of them."
            )
        return classes[::-1]
    present = np.unique(truth) if truth.dtype.kind not in "biu" else _few_distinct(truth)
    if len(present) > 2:
        raise ValueError(
            f"y_true must hold at most two labels when y_prob is one column; got {len(present)} ({_some(present)}). "
            "Pass y_prob of shape (n_samples, n_classes)."
        )
    if pos_label is not None:
        negative = [v for v in present.tolist() if v != pos_label]
        if len(negative) == 2:
            raise ValueError(
                f"pos_label must be a label in y_true; got {pos_label!r}, seen {_some(present)}. Pass one seen."
            )
        return np.array([negative[0] if negative else f"not {pos_label}", pos_label], dtype=object)
    seen = set(present.tolist())
    if truth.dtype.kind == "b":
        return np.array([False, True])
    if seen <= {0, 1}:
        return np.array([0, 1])
    if seen <= {-1, 1}:
        return np.array([-1, 1])
    raise ValueError(
        f"y_true must be 0 and 1 when y_prob is one column; got {_some(present)}. "
        f"Say which label the probability speaks of: pos_label={present[-1].item()!r}."
    )


def classes_of_columns(
    truth: Labels, n_classes: int, labels: Sequence[Any] | None, names: Sequence[Any] | None = None
) -> Labels:
    """The class of each column."""
    if labels is not None:
        return _given_classes(labels, n_classes)
    if names is not None and truth.dtype.kind in "US" and set(truth.tolist()) <= set(names):
        return _given_classes(names, n_classes)
    if truth.dtype.kind in "iu" and truth.min() >= 0 and truth.max() < n_classes:
        return np.arange(n_classes)
    if truth.dtype.kind == "b" and n_classes == 2:
        return np.array([False, True])
    present = np.unique(truth)
    if truth.dtype.kind in "iu" and present[-1] >= n_classes and len(present) <= n_classes and present[0] <= 1:
        hint = f"labels=range(1, {n_classes + 1})" if present[-1] == n_classes else "labels="
        raise ValueError(
            f"y_true must be among the columns 0..{n_classes - 1}; got {present[-1]} at index "
            f"{int(np.argmax(truth == present[-1]))}. If the classes are numbered otherwise, pass {hint}."
        )
    if len(present) != n_classes:
        raise ValueError(
            f"y_true must hold as many distinct labels as y_prob has columns, or labels= must name them; "
            f"got {len(present)} ({_some(present)}) for {n_classes} columns. Pass labels= in column order."
        )
    return present


def encode(truth: Labels, classes: Labels) -> IntArray:
    """The column number of each label."""
    if classes.dtype.kind in "iu" and truth.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes))):
        code = truth.astype(np.intp)
        strange = (code < 0) | (code >= len(classes)) if code.min() < 0 or code.max() >= len(classes) else None
    else:
        order = np.argsort(classes)
        at = np.minimum(np.searchsorted(classes, truth, sorter=order), len(classes) - 1)
        code = order[at]
        strange = classes[code] != truth
    if strange is not None and strange.any():
        row = int(np.argmax(strange))
        raise ValueError(
            f"y_true must be among the classes {_some(classes)}; got {truth[row].item()!r} at index {row}"
            f"{_more(strange)}. Check labels=, or the column that holds the truth."
        )
    return code


# Small words


def _column_names(data: npt.ArrayLike) -> Sequence[Any] | None:
    names = getattr(data, "column_names", getattr(data, "columns", None))  # pyarrow, pandas and polars
    return None if names is None or callable(names) else list(names)


def is_column(data: npt.ArrayLike) -> bool:
    """Whether the data have one dimension."""
    if isinstance(data, (list, tuple)):
        return np.ndim(data[0]) == 0 if data else True
    if (shape := getattr(data, "shape", None)) is not None:
        return len(shape) == 1
    import narwhals as nw

    return isinstance(nw.from_native(data, allow_series=True, pass_through=True), nw.Series)


def _as_array(name: str, data: npt.ArrayLike) -> npt.NDArray[Any]:
    if isinstance(data, np.ma.MaskedArray) and np.ma.getmaskarray(data).any():
        raise ValueError(
            f"{name} must not be masked; got {int(np.ma.getmaskarray(data).sum())} masked values. Drop these rows first."
        )
    if isinstance(data, np.ndarray):
        return np.asarray(data)
    if isinstance(data, (list, tuple)):
        try:
            return np.array(data)
        except ValueError as error:
            raise ValueError(
                f"rows must have equal lengths; got a ragged list ({error}). Pass shape (n_samples, n_classes)."
            ) from None
    if hasattr(data, "toarray"):
        raise TypeError(
            f"{name} must be dense; got a sparse {type(data).__name__}. Sparse input is not supported: call .toarray()."
        )
    import narwhals as nw

    native = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    return np.asarray(native.to_numpy() if isinstance(native, (nw.DataFrame, nw.Series)) else data)


def _plain(array: npt.NDArray[Any]) -> Labels:
    """Labels of dtype object or StringDType as strings, booleans or numbers, if they are all of one kind."""
    kinds = {_kind(v) for v in array.tolist()}
    if len(kinds) == 1 and kinds <= {"text", "boolean", "number"}:
        return np.array(array.tolist())
    raise TypeError(
        f"y_true must hold labels of one kind; got {' and '.join(sorted(kinds))}. "
        "Missing labels cannot be scored: drop these rows, or make all of them strings."
    )


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    return "number" if isinstance(value, Number) else type(value).__name__


def _given_classes(labels: Sequence[Any], n_classes: int) -> Labels:
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(
            f"labels must be a sequence, the class of each of the {n_classes} columns; got {labels!r}. Pass a list."
        )
    classes = np.asarray(list(labels))
    if classes.shape != (n_classes,) or len(set(classes.tolist())) != n_classes:
        raise ValueError(
            f"labels must name each of the {n_classes} columns once; got {classes.tolist()}. Pass them in column order."
        )
    return classes


def _few_distinct(truth: Labels) -> Labels:
    """Return the distinct values, without sorting ten million rows to find that they are 0 and 1."""
    low, high = int(truth.min()), int(truth.max())
    if truth.dtype.kind == "b" or high - low <= 1:
        return np.unique(np.array([low, high], dtype=truth.dtype))
    return np.unique(truth)


def _check_input(input: Input) -> Input:
    if input in ("probability", "logit"):
        return input
    raise ValueError(f"input must be 'probability' or 'logit'; got {input!r}. Say what y_prob holds.")


def _in_unit_interval(values: FloatArray) -> FloatArray:
    """Return probabilities; what single precision rounded out of [0, 1] is put back."""
    if values.min() >= 0 and values.max() <= 1:
        return values
    outside = (values < -ROUNDING) | (values > 1 + ROUNDING)
    if not outside.any():
        return np.clip(values, 0.0, 1.0)
    where = _first(outside)
    raise ValueError(
        f"y_prob must hold probabilities in [0, 1]; got {values[where]:.10g} at index {_index(where)}{_more(outside)}. "
        "If these are logits, pass input='logit'."
    )


def _first(mask: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def _index(where: tuple[int, ...]) -> str:
    return str(where[0]) if len(where) == 1 else str(where)


def _more(mask: npt.NDArray[np.bool_]) -> str:
    count = int(mask.sum()) - 1
    return f", and {count} more" if count else ""


def _some(values: npt.NDArray[Any], most: int = 5) -> str:
    shown = ", ".join(repr(v) for v in values[:most].tolist())
    return shown + (", ..." if len(values) > most else "")
