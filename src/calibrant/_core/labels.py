"""Labels, and the classes that they and the columns stand for. Messages are in four parts, as in `_core/validation.py`."""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Iterable, KeysView, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import NUMERIC, absent, as_array, is_number, more, some
from calibrant._core.one_pass import BLOCK, are_between, blocks
from calibrant._core.problem import BoolArray, IntArray
from calibrant._core.text_columns import text_of

Labels = npt.NDArray[np.generic]

KINDS = {"b": "booleans", "i": "numbers", "u": "numbers", "U": "text", "S": "bytes"}
"""What labels are, by the kind of their dtype."""


UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""Integers without a sign, by their bytes."""

ZERO_AND_ONE = np.array([0, 1])
ZERO_AND_ONE.flags.writeable = False

LARGEST = 2.0**53
"""Size of whole numbers up to which none is skipped in double precision."""


class Named(NamedTuple):
    """What a function calls its labels, its forecast and its weights, for messages."""

    truth: str = "y_true"
    forecast: str = "y_prob"
    weight: str = "sample_weight"


USUAL = Named()


def as_labels(y_true: npt.ArrayLike, name: str = "y_true") -> Labels:
    """Labels as a one-dimensional array of integers, strings or booleans."""
    if (words := text_of(y_true)) is not None:
        return words
    array = as_array(name, y_true)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must hold class labels; got complex numbers. Complex data not supported.")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"{name} must have one dimension, a label a row; got shape {array.shape}. {_way_out(name, array)}"
        )
    if array.size == 0:
        raise ValueError(f"{name} must hold at least one label; got none. Check how the table was read.")
    if array.dtype.kind in "OT":
        array = _plain(name, array)
    if array.dtype.kind == "f":
        if are_between(array, -LARGEST, LARGEST) and np.array_equal(whole := array.astype(np.int64), array):
            return whole
        broken = ~np.isfinite(array) | (array != np.floor(array)) | (np.abs(array) > LARGEST)
        if broken.any():
            at = int(np.argmax(broken))
            hint = (
                "If this is the forecast, the call is metric(y_true, y_prob)." if name == "y_true" else "Convert them."
            )
            raise ValueError(
                f"{name} must hold class labels: integers, strings or booleans; got {array[at]} at index {at}"
                f"{more(broken)}. Unknown label type: continuous or NaN. {hint}"
            )
        return array.astype(np.int64)
    if array.dtype.kind not in "biuUS":
        raise TypeError(f"{name} must hold integers, strings or booleans; got dtype {array.dtype}. Convert the labels.")
    return array


def _way_out(name: str, array: npt.NDArray[Any]) -> str:
    """Say what to do about labels that are a table: one-hot rows name classes, other zeros and ones are events by column."""
    is_table = array.ndim == 2 and array.size and array.dtype.kind in NUMERIC
    if is_table and np.isin(array, (0, 1)).all() and not (array.sum(axis=1) == 1).all():
        return (
            f"Each column of zeros and ones is an event of its own (multilabel): pass one column at a time, "
            f"np.asarray({name})[:, k] with np.asarray(y_prob)[:, k]."
        )
    return f"If it is one-hot encoded, pass {name}.argmax(axis=1); if it is the forecast, the call is metric(y_true, y_prob)."


def event_of_score(
    truth: Labels, *, labels: Sequence[Any] | None, pos_label: Any = None, named: Named = USUAL
) -> tuple[Labels, BoolArray]:
    """The two classes of one column of probabilities, and whether the event occurred."""
    if labels is None and pos_label is None:
        if truth.dtype.kind == "b":
            return np.array([False, True]), truth.view(np.bool_)
        if truth.dtype.kind in "iu" and (occurred := _ones(truth)) is not None:
            return ZERO_AND_ONE, occurred
    classes = classes_of_score(truth, labels=labels, pos_label=pos_label, named=named)
    return classes, truth == classes[1]


def _ones(truth: Labels) -> BoolArray | None:
    """Return where integers are one, if all are 0 or 1; they are read once."""
    if truth.size <= BLOCK:
        return np.not_equal(truth, 0) if _are_below(truth, 2) else None
    occurred: BoolArray = np.empty(truth.size, dtype=np.bool_)
    for rows in blocks(truth.size):
        block = truth[rows]
        if not _are_below(block, 2):
            return None
        np.not_equal(block, 0, out=occurred[rows])
    return occurred


def _are_below(truth: Labels, n_classes: int) -> bool:
    """Whether integers are 0, 1, ..., n_classes - 1: read without their sign, negative ones are the largest."""
    return truth.dtype.isnative and bool(np.maximum.reduce(truth.view(UNSIGNED[truth.dtype.itemsize])) < n_classes)


def classes_of_score(
    truth: Labels, *, labels: Sequence[Any] | None, pos_label: Any = None, named: Named = USUAL
) -> Labels:
    """The negative and the positive label of one column of probabilities."""
    require_label("pos_label", pos_label)
    if labels is not None:
        classes = _given_classes(labels, 2)
        encode(truth, classes, named.truth)
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
            f"{named.truth} must hold at most two labels when {named.forecast} is one column; got {len(present)} "
            f"({some(present)}). Pass {named.forecast} of shape (n_samples, n_classes)."
        )
    if pos_label is not None:
        negative = [v for v in present.tolist() if v != pos_label]
        if len(negative) == 2:
            raise ValueError(
                f"pos_label must be a label in {named.truth}; got {pos_label!r}, seen {some(present)}. Pass one seen."
            )
        return np.array([negative[0] if negative else f"not {pos_label}", pos_label], dtype=object)
    seen = set(present.tolist())
    if truth.dtype.kind == "b":
        return np.array([False, True])
    if seen <= {0, 1}:
        return np.array([0, 1])
    if seen <= {-1, 1}:
        return np.array([-1, 1])
    choices = " or ".join(f"pos_label={label!r}" for label in present.tolist())
    raise ValueError(
        f"{named.truth} must be 0 and 1 when {named.forecast} is one column; got {some(present)}. "
        f"Say which label the probability speaks of: {choices}."
    )


def require_label(name: str, value: object) -> None:
    """Refuse what is no single label; None stands for no label."""
    if value is not None and not (is_number(value) or isinstance(value, (str, bytes))):
        raise TypeError(
            f"{name} must be one label: an integer, a string or a boolean; got {reprlib.repr(value)}. Pass one of the labels."
        )


def codes_of_columns(
    truth: Labels,
    n_classes: int,
    labels: Sequence[Any] | None,
    names: Sequence[Any] | None = None,
    named: Named = USUAL,
) -> tuple[Labels, IntArray]:
    """The class of each column, and the column number of each label."""
    if labels is None and truth.dtype.kind in "iu" and _are_below(truth, n_classes):
        return np.arange(n_classes), truth.astype(np.intp, copy=False)
    classes = classes_of_columns(truth, n_classes, labels, names, named)
    return classes, encode(truth, classes, named.truth)


def classes_of_columns(
    truth: Labels,
    n_classes: int,
    labels: Sequence[Any] | None,
    names: Sequence[Any] | None = None,
    named: Named = USUAL,
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
            f"{named.truth} must be among the columns 0..{n_classes - 1}; got {present[-1]} at index "
            f"{int(np.argmax(truth == present[-1]))}. If the classes are numbered otherwise, pass {hint}."
        )
    if len(present) != n_classes:
        raise ValueError(
            f"{named.truth} must hold as many distinct labels as {named.forecast} has columns, or labels= must name them; "
            f"got {len(present)} ({some(present)}) for {n_classes} columns. Pass labels= in column order."
        )
    return present


def classes_of_pair(truth: Labels, predicted: Labels, labels: Sequence[Any] | None, named: Named = USUAL) -> Labels:
    """The classes that are predicted or true, in the order given or else sorted."""
    kinds = [KINDS[values.dtype.kind] for values in (truth, predicted)]
    if kinds[0] != kinds[1]:
        hint = "If y_pred holds numbers of columns, pass classes[y_pred]."
        if kinds[0] == "booleans":
            hint = "Pass the predicted class of each row, not whether it was right."
        raise TypeError(f"{named.truth} and y_pred must hold labels of one kind; got {kinds[0]} and {kinds[1]}. {hint}")
    if labels is not None:
        return _given_classes(labels)
    # As lists: signed and unsigned numbers together would become fractions.
    return np.unique(np.array([*np.unique(truth).tolist(), *np.unique(predicted).tolist()]))


def encode(truth: Labels, classes: Labels, name: str = "y_true") -> IntArray:
    """The column number of each label."""
    if classes.dtype.kind in "iu" and truth.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes))):
        code = truth.astype(np.intp, copy=False)
        strange = (code < 0) | (code >= len(classes)) if code.min() < 0 or code.max() >= len(classes) else None
    else:
        order = np.argsort(classes)
        at = np.minimum(np.searchsorted(classes, truth, sorter=order), len(classes) - 1)
        code = order[at]
        strange = classes[code] != truth
    if strange is not None and strange.any():
        row = int(np.argmax(strange))
        raise ValueError(
            f"{name} must be among the classes {some(classes)}; got {truth[row].item()!r} at index {row}"
            f"{more(strange)}. Check labels=, or the column that holds the truth."
        )
    return code


def _plain(name: str, array: npt.NDArray[Any]) -> Labels:
    """Labels of dtype object or StringDType as strings, booleans or numbers, if they are all of one kind."""
    cells = array.tolist()
    kinds = {_kind(cell) for cell in dict(zip(map(type, cells), cells, strict=True)).values()}  # one cell of each type
    if len(kinds) == 1 and kinds <= {"text", "boolean", "number"}:
        plain = np.array(cells)
        try:
            return plain.astype(np.float64) if plain.dtype == object else plain  # decimals and fractions
        except OverflowError:
            at = next(at for at, cell in enumerate(cells) if abs(cell) > sys.float_info.max)
            raise ValueError(
                f"{name} must hold labels within the range of float64, up to 1.8e308; got {reprlib.repr(cells[at])} at "
                f"index {at}. Pass such labels as strings."
            ) from None
    found = [_kind(cell) for cell in cells]
    odd = next((at for at, cell in enumerate(cells) if absent(cell)), found.index(min(kinds, key=found.count)))
    hint = "Missing labels cannot be scored: drop these rows, or make all of them strings."
    if name == "labels":
        hint = "Name every class, all by words or all by numbers."
    if len(kinds) == 1 and not absent(cells[0]):
        raise TypeError(
            f"{name} must hold integers, strings or booleans; got {reprlib.repr(cells[0])} ({type(cells[0]).__name__}) at "
            "index 0. Convert the labels, such as to strings."
        )
    raise TypeError(
        f"{name} must hold labels of one kind; got {' and '.join(sorted(kinds))}, the odd one {reprlib.repr(cells[odd])} at "
        f"index {odd}. {hint}"
    )


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    return "number" if is_number(value) else type(value).__name__


def _given_classes(labels: Iterable[Any], n_classes: int | None = None) -> Labels:
    """Return the labels of ``n_classes`` columns, or of as many classes as there are."""
    what = "class" if n_classes is None else f"of the {n_classes} columns"
    unordered = isinstance(labels, Set) and not isinstance(labels, KeysView)  # keys of a dict are in its order
    if isinstance(labels, str) or unordered or not isinstance(labels, Iterable):
        order = " A set has no order." if unordered else ""
        kind = "each class" if n_classes is None else f"the class of each {what}"
        raise TypeError(f"labels must be a sequence, {kind}; got {labels!r}.{order} Pass a list.")
    given: Any = labels if hasattr(labels, "__array__") else list(labels)
    classes = as_labels(given, "labels") if np.size(given) else np.array([])
    wanted = classes.size if n_classes is None else n_classes
    if classes.size != wanted or len(set(classes.tolist())) != classes.size or not classes.size:
        raise ValueError(f"labels must name each {what} once; got {classes.tolist()}. Pass them in column order.")
    return classes


def _few_distinct(truth: Labels) -> Labels:
    """Return the distinct values, without sorting ten million rows to find that they are 0 and 1."""
    low, high = int(truth.min()), int(truth.max())
    if truth.dtype.kind == "b" or high - low <= 1:
        return np.unique(np.array([low, high], dtype=truth.dtype))
    return np.unique(truth)
