"""Outside data become problems here, and nowhere else. The only place that raises on data.

Every message says what must hold, what was given, where, and what to do.
"""

from __future__ import annotations

import re
import reprlib
import sys
from collections.abc import Iterable, KeysView, Sequence, Set
from decimal import Decimal
from typing import Any, Literal, NamedTuple, NoReturn, TypedDict, Unpack

import numpy as np

from calibrant._core import arrays
from calibrant._core import rows as _rows
from calibrant._core.arrays import ArrayLike, NDArray
from calibrant._core.checks import by_name, distinct_names, finite_numbers, is_word, refuse, require, some

# Labels, and the classes that they and the columns stand for. Messages are in four parts, as in `_core/border.py`


Labels = NDArray[np.generic]

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


def as_labels(y_true: ArrayLike, name: str = "y_true") -> Labels:
    """Labels as a one-dimensional array of integers, strings or booleans."""
    array = arrays.as_array(name, y_true)
    if array.dtype.kind == "c":
        refuse(f"{name} must hold class labels", got="complex numbers", hint="Complex data not supported")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        must, got = f"{name} must have one dimension, a label a row", f"shape {array.shape}"
        refuse(must, got=got, hint=_way_out(name, array).removesuffix("."))
    if array.size == 0:
        refuse(f"{name} must hold at least one label", got="none", hint="Check how the table was read")
    if array.dtype.kind in "OT":
        array = _plain(name, array)
    if array.dtype.kind == "f":
        broken = ~np.isfinite(array) | (array != np.floor(array)) | (np.abs(array, dtype=np.float64) > LARGEST)
        if broken.any():
            at = int(np.argmax(broken))
            hint = "If this is the forecast, exchange the two arguments." if name == "y_true" else "Convert them."
            hint = "Drop the rows without a label." if np.isnan(array[at]) else hint
            raise ValueError(
                f"{name} must hold class labels: integers, strings or booleans; got {array[at]} at index {at}"
                f"{arrays.more(broken)}. Unknown label type: continuous or NaN. {hint}"
            )
        return array.astype(np.int64)
    if array.dtype.kind not in "biuUS":
        raise TypeError(f"{name} must hold integers, strings or booleans; got dtype {array.dtype}. Convert the labels.")
    return array


def _way_out(name: str, array: NDArray[Any]) -> str:
    """Say what to do about labels that are a table: one-hot rows name classes, other zeros and ones are events by column."""
    if not array.ndim:
        return f"Pass a list or an array: list({name}), where it is a view or a generator."
    is_table = array.ndim == 2 and array.size and array.dtype.kind in arrays.NUMERIC
    if is_table and np.isin(array, (0, 1)).all() and not (array.sum(axis=1) == 1).all():
        return (
            f"Each column of zeros and ones is an event of its own (multilabel): pass one column at a time, "
            f"np.asarray({name})[:, k] with np.asarray(y_prob)[:, k]."
        )
    return f"If it is one-hot encoded, pass {name}.argmax(axis=1); if it is the forecast, exchange the two arguments."


def _are_below(truth: Labels, n_classes: int) -> bool:
    """Whether integers are 0, 1, ..., n_classes - 1: read without their sign, negative ones are the largest."""
    return truth.dtype.isnative and bool(np.maximum.reduce(truth.view(UNSIGNED[truth.dtype.itemsize])) < n_classes)


def classes_of_score(
    truth: Labels,
    *,
    labels: Sequence[Any] | None,
    pos_label: Any = None,
    named: Named = USUAL,
    remedies: _rows.Remedies = _rows.USUAL,
) -> Labels:
    """The negative and the positive label of one column of probabilities."""
    require_label("pos_label", pos_label)
    if labels is not None:
        classes = _given_classes(labels, 2)
        encode(truth, classes, named.truth)
        if pos_label is None or pos_label == classes[1]:
            return classes
        if pos_label != classes[0]:
            refuse(f"pos_label must be among the labels {classes.tolist()}", value=pos_label, hint="Pass one of them")
        return classes[::-1]
    if pos_label is None and truth.dtype.kind == "b":
        return np.array([False, True])
    if pos_label is None and truth.dtype.kind in "iu" and _are_below(truth, 2):
        return ZERO_AND_ONE
    present = np.unique(truth)
    if len(present) > 2:
        must = f"{named.truth} must hold at most two labels when {named.forecast} is one column"
        refuse(
            must,
            got=f"{len(present)} ({arrays.some(present)})",
            hint=f"Pass {named.forecast} of shape (n_samples, n_classes)",
        )
    if pos_label is not None:
        negative = [v for v in present.tolist() if v != pos_label]
        if len(negative) == 2:
            must, got = f"pos_label must be a label in {named.truth}", f"{pos_label!r}, seen {arrays.some(present)}"
            refuse(must, got=got, hint="Pass one seen")
        return np.array([negative[0] if negative else f"not {pos_label}", pos_label], dtype=object)
    seen = set(present.tolist())
    if seen <= {0, 1}:
        return np.array([0, 1])
    if not seen <= {-1, 1}:
        names = [repr(label) for label in present.tolist()]
        others = names[::-1] if len(names) == 2 else ["..."]
        choices = " or ".join(map(remedies.event.format, names, others))
        must = f"{named.truth} must be 0 and 1 when {named.forecast} is one column"
        hint = "Say which label the probability"
        refuse(must, got=arrays.some(present), hint=f"{hint} speaks of: {choices}")
    return np.array([-1, 1])


def require_label(name: str, value: object) -> None:
    """Refuse what is no single label; None stands for no label."""
    if value is not None and not (arrays.is_number(value) or isinstance(value, (str, bytes))):
        must, hint = f"{name} must be one label: an integer, a string or a boolean", "Pass one of the labels"
        refuse(must, got=reprlib.repr(value), hint=hint, error=TypeError)


TRUTH_VALUES = dict.fromkeys(("true", "yes", "1", "1.0"), True) | dict.fromkeys(("false", "no", "0", "0.0"), False)
"""What names of columns call the classes of labels that are booleans."""


def as_booleans(names: Sequence[str]) -> list[bool] | None:
    """Return the truth values that two names spell, or None."""
    spelled = [TRUTH_VALUES.get(name.lower()) for name in names]
    return [name is True for name in spelled] if spelled in ([False, True], [True, False]) else None


def whole_numbers(names: Sequence[str]) -> list[int] | None:
    """Return the whole numbers that all names spell, such as 1, +1, 1.0 or 1e5; or None."""
    spell = all(re.fullmatch(r"[+-]?\d+(\.0*)?([eE]\+?\d\d?)?", name) for name in names)
    return [int(Decimal(name)) for name in names] if spell else None


def _as_whole_numbers(names: Sequence[str], seen: Set[int]) -> list[int] | None:
    """Return the whole numbers that names spell; class_1 or c1, if these are all seen; True, if 0 and 1 or -1 and 1 are."""
    if (found := whole_numbers(names)) is not None:
        return found
    ends = [re.fullmatch(r"(\D+)(\d+)", name) for name in names]
    if (
        all(ends)
        and len({end[1] for end in ends if end}) == 1
        and seen <= set(of_ends := [int(end[2]) for end in ends if end])
    ):
        return of_ends
    if (booleans := as_booleans(names)) is None or not (seen <= {0, 1} or seen <= {-1, 1}):
        return None
    return [1 if event else -1 if -1 in seen else 0 for event in booleans]


def bare(names: Sequence[str]) -> list[str]:
    """Return what is left of names of columns without their common prefix, if that names every column once."""
    # p_cat, p_dog: the prefix ends with the first separator, and all columns share it.
    split = [re.fullmatch(r"([^_.:\- ]*[_.:\- ])(.+)", name) for name in names]
    if all(split) and len({match[1] for match in split if match}) == 1:
        return [match[2] for match in split if match]
    return list(names)


def classes_named(names: Sequence[str], truth: Labels) -> list[Any] | None:
    """Return the classes that names of columns spell, of the kind of the labels; None where they spell none."""
    if truth.dtype.kind == "b":
        return as_booleans(names)
    return _as_whole_numbers(names, set(np.unique(truth).tolist())) if truth.dtype.kind in "iu" else list(names)


def classes_by_name(truth: Labels, names: Sequence[str]) -> list[Any] | None:
    """Return the classes that the columns are named after; None where the names do not have all that are seen."""
    words = bare(names)
    if truth.dtype.kind in "biu":
        in_order = words == list(map(str, range(len(words))))
        known = None if in_order else classes_named(words, truth)
        return known if known is not None and np.isin(truth, known).all() else None
    seen: set[Any] = set(truth.tolist())
    spelled = [[one.encode() for one in said] if truth.dtype.kind == "S" else list(said) for said in (names, words)]
    return next((said for said in spelled if seen <= set(said)), None)


def classes_of_columns(
    truth: Labels,
    n_classes: int,
    labels: Sequence[Any] | None,
    names: Sequence[Any] | None = None,
    named: Named = USUAL,
) -> Labels:
    """The class of each column."""
    words = [] if names is None else list(map(str, names))
    if labels is not None:
        given = _given_classes(labels, n_classes)
        known = classes_by_name(given, words) if words else None
        if known is not None and known != given.tolist() and set(known) == set(given.tolist()):
            got, hint = f"{given.tolist()} for columns named {words}", "Pass them in column order, or leave labels out"
            refuse("labels must name the columns as they are named", got=got, hint=hint)
        return given
    if words and (known := classes_by_name(truth, words)) is not None:
        return _given_classes(known, n_classes)
    if truth.dtype.kind in "US" and (seen := set(truth.tolist())) & set(bare(words)):
        got = f"columns {words} and the label {min(seen - set(bare(words)))!r}"
        must = "columns that are named after classes must be named after all of them"
        refuse(must, got=got, hint="Rename them, or pass labels=")
    if truth.dtype.kind in "iu" and truth.min() >= 0 and truth.max() < n_classes:
        return np.arange(n_classes)
    if truth.dtype.kind == "b" and n_classes == 2:
        return np.array([False, True])
    present = np.unique(truth)
    if truth.dtype.kind in "iu" and present[-1] >= n_classes and len(present) <= n_classes and present[0] <= 1:
        hint = f"labels=range(1, {n_classes + 1})" if present[-1] == n_classes else "labels="
        got = f"{present[-1]} at index {int(np.argmax(truth == present[-1]))}"
        hint = f"If the classes are numbered otherwise, pass {hint}"
        refuse(f"{named.truth} must be among the columns 0..{n_classes - 1}", got=got, hint=hint)
    if len(present) != n_classes:
        must = f"{named.truth} must hold as many distinct labels as {named.forecast} has columns, or labels= must name them"
        hint = "Pass labels= in column order"
        refuse(must, got=f"{len(present)} ({arrays.some(present)}) for {n_classes} columns", hint=hint)
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


def encode(truth: Labels, classes: Labels, name: str = "y_true") -> _rows.IntArray:
    """The column number of each label."""
    if classes.dtype.kind in "iu" and truth.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes))):
        code = truth.astype(np.intp, copy=False)
        if _are_below(truth, len(classes)):
            return code
        strange = (code < 0) | (code >= len(classes))
    else:
        order = np.argsort(classes)
        at = np.minimum(np.searchsorted(classes, truth, sorter=order), len(classes) - 1)
        code = order[at]
        strange = classes[code] != truth
    if strange.any():
        row = int(np.argmax(strange))
        got = f"{truth[row].item()!r} at index {row}{arrays.more(strange)}"
        hint = "Check labels=, or the column that holds the truth"
        refuse(f"{name} must be among the classes {arrays.some(classes)}", got=got, hint=hint)
    return code


def _plain(name: str, array: NDArray[Any]) -> Labels:
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
    odd = next((at for at, cell in enumerate(cells) if arrays.absent(cell)), found.index(min(kinds, key=found.count)))
    hint = "Missing labels cannot be scored: drop these rows, or make all of them strings."
    if name == "labels":
        hint = "Name every class, all by words or all by numbers."
    if len(kinds) == 1 and not arrays.absent(cells[0]):
        must, hint = f"{name} must hold integers, strings or booleans", "Convert the labels, such as to strings"
        refuse(must, got=f"{reprlib.repr(cells[0])} ({type(cells[0]).__name__}) at index 0", hint=hint, error=TypeError)
    raise TypeError(
        f"{name} must hold labels of one kind; got {' and '.join(sorted(kinds))}, the odd one {reprlib.repr(cells[odd])} at "
        f"index {odd}. {hint}"
    )


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    return "number" if arrays.is_number(value) else type(value).__name__


def _given_classes(labels: Iterable[Any], n_classes: int | None = None) -> Labels:
    """Return the labels of ``n_classes`` columns, or of as many classes as there are."""
    what = "class" if n_classes is None else f"of the {n_classes} columns"
    unordered = isinstance(labels, Set) and not isinstance(labels, KeysView)  # keys of a dict are in its order
    if isinstance(labels, str) or unordered or not isinstance(labels, Iterable):
        order = " A set has no order." if unordered else ""
        kind = "each class" if n_classes is None else f"the class of each {what}"
        raise TypeError(f"labels must be a sequence, {kind}; got {labels!r}.{order} Pass a list.")
    given: Any = labels if hasattr(labels, "__array__") else list(labels)
    classes = as_labels(given, "labels").copy() if np.size(given) else np.array([])  # the caller may change theirs
    wanted = classes.size if n_classes is None else n_classes
    if classes.size != wanted or len(set(classes.tolist())) != classes.size or not classes.size:
        raise ValueError(f"labels must name each {what} once; got {classes.tolist()}. Pass them in column order.")
    return classes


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
        The class of each column of ``y_prob``. By default the classes that the columns of a data frame are named after, such
        as cat or p_cat; else 0, 1, ..., or the sorted distinct labels when there are as many of them as columns. Whole
        numbers that begin at 1 or below and go beyond the last column, such as 0, 1 and 5 of three columns, are refused: name
        the classes.
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

    sample_weight: ArrayLike | None
    labels: Sequence[Any] | None
    pos_label: Any
    input: Input
    rows: _rows.Rows
    y_pred: ArrayLike | None


def as_problem(
    y_true: ArrayLike | _rows.InBatches,
    y_prob: ArrayLike | None = None,
    *,
    column_names: Sequence[Any] | None = None,
    named: Named = USUAL,
    remedies: _rows.Remedies = _rows.USUAL,
    all_rows: str = "",
    **data: Unpack[DataOptions],
) -> _rows.Problem:
    """Labels and a forecast as a problem: one column (1-D) makes it binary, a table makes it a simplex problem.

    Labels that are words, each the name of a column of a data frame, say which column is which class. One column with the
    predicted classes is a binary problem that knows them. ``all_rows`` names what needs all rows in memory: it is refused for
    predictions that are read in batches, of which there are more than fit.
    """
    if not data.keys() <= DataOptions.__annotations__.keys():
        unknown = [word for word in data if word not in DataOptions.__annotations__]
        hint = "".join(text for word, text in RENAMED.items() if word in unknown)
        raise TypeError(
            f"keywords must be those of the function, or of the data: {', '.join(DataOptions.__annotations__)}; got "
            f"{', '.join(map(repr, unknown))}.{hint} See the function's help."
        )
    if isinstance(y_true, _rows.InBatches):
        problem: _rows.Problem = _of_batches(y_true, ["y_prob"] * (y_prob is not None), data)
        if all_rows and isinstance(problem, _rows.InBatches):
            refuse_rows(all_rows)
        return problem
    if y_prob is None:
        raise TypeError(
            f"{named.forecast} must be given beside {named.truth}; it is missing. Pass the predicted probabilities, or "
            "calibrant.predictions(...) alone, which has both."
        )
    labels, pos_label, y_pred = data.get("labels"), data.get("pos_label"), data.get("y_pred")
    input, rows = data.get("input", "probability"), data.get("rows", "as-given")
    truth, array = as_labels(y_true, named.truth), arrays.as_array(named.forecast, y_prob)
    all_is_well = _is_well(array, input, rows)
    values: arrays.FloatArray = array
    if not all_is_well:
        exact = arrays.as_double(array) if array.dtype.char in arrays.PLACES else array
        values = finite_numbers(named.forecast, exact, y_prob)
    names = column_names if column_names is not None or array is y_prob else arrays.columns_of(y_prob)
    if len(truth) != len(values):
        must = f"{named.truth} and {named.forecast} must have the same number of rows"
        several = "Transpose a table whose columns are rows; pass several forecasts as a dict, {'a': p, 'b': q}"
        hint = several if values.shape[-1] == len(truth) else "Pass one label a row"
        refuse(must, got=f"{len(truth)} and {len(values)}", hint=hint)
    if y_pred is not None:
        _require_pair(values, pos_label, named)
    weights = as_weights(data.get("sample_weight"), len(truth), named.weight)
    kept = slice(None) if weights.is_unit or weights.values.all() else weights.values > 0
    weights = weights if isinstance(kept, slice) else _rows.Weights(weights.values[kept])
    if not all_is_well:
        values = declared(values, input=input, rows=rows, name=named.forecast, remedies=remedies)
    precision = _rows.precision_of(array, input, rows)
    if values.ndim == 1:
        logit = values.astype(np.float64, copy=False)[kept] if input == "logit" else None
        given = values.astype(precision, copy=False).astype(np.float64, copy=False)[kept]
        score = given if logit is None else arrays.score_of_logit(logit)
        if y_pred is not None:
            outcome, predicted = _pair(truth, as_labels(y_pred, "y_pred"), kept, labels, named)
            classes, name = OF_A_PAIR, ""
        else:
            classes = classes_of_score(truth, labels=labels, pos_label=pos_label, named=named, remedies=remedies)
            outcome, predicted, name = (truth == classes[1])[kept], None, f"class {classes[1]}"
        return _rows.BinaryProblem(
            score, outcome, weights, 1.0, name, classes, logit=logit, predicted=predicted, precision=precision
        )
    classes = classes_of_columns(truth, values.shape[1], labels, names, named)
    code = encode(truth, classes, named.truth)
    forecast = _rows.Forecast(values.astype(precision, copy=False)[kept], input == "logit")
    problem = _rows.SimplexProblem(forecast, code[kept], weights, classes)
    return problem if pos_label is None else _with_event_last(problem, pos_label, named)


def as_problems(y_true: Any, y_prob: Any, data: Any, unnamed: str = "forecast") -> dict[str, _rows.Problem]:
    """Each of several forecasts, a dict by their names, as a problem; a single one may have no name."""
    forecasts = by_name(y_prob, unnamed)
    some("y_prob", forecasts, "forecast", hint="Pass {'before': p, 'after': q}")
    distinct_names("forecasts", forecasts)
    called = {name: Named(forecast=f"y_prob[{name!r}]") if forecasts is y_prob else USUAL for name in forecasts}
    remedies = _rows.OF_SEVERAL if len(forecasts) > 1 else _rows.USUAL
    return {
        str(name): as_problem(y_true, one, named=called[name], remedies=remedies, **data)
        for name, one in forecasts.items()
    }


def _of_batches(predictions: _rows.InBatches, said: list[str], data: DataOptions) -> _rows.Problem:
    """Return the problem of rows that are read in batches, which know all that there is to say of them."""
    usual = {"input": "probability", "rows": "as-given"}
    said += [name for name, value in data.items() if value is not None and (name not in usual or value != usual[name])]
    if "y_prob" in said:
        must = "y_prob must be left out beside predictions that are read in batches, which have probabilities"
        hint = "Leave it out, or take a sample of the rows: function(**predictions.sample(n))"
        refuse(must, got="both", hint=hint, error=TypeError)
    if said:
        must = f"{', '.join(said)} must be left out beside predictions that are read in batches"
        refuse(must, got="both", hint="Say it where they are made: calibrant.predictions(...)", error=TypeError)
    return predictions.as_problem()


SAMPLED = "function(**predictions.sample(100_000))"
"""How a function takes a sample, in words of an error."""


def refuse_rows(what: str = "this") -> NoReturn:
    """Refuse to have all rows in memory."""
    got = "predictions that are read in batches, of which there are only sums"
    refuse(f"{what} needs all rows in memory", got=got, hint=f"Take a sample, {SAMPLED}, or leave it out")


def _is_well(array: NDArray[Any], input: Input, rows: _rows.Rows) -> bool:
    """Whether a single pass shows that the numbers are as declared; False leaves it open."""
    if not (isinstance(input, str) and isinstance(rows, str) and rows == "as-given") or array.shape[1:] == (1,):
        return False
    if input == "logit":
        return arrays.are_within(array, -MOST_LOGIT, MOST_LOGIT)
    return input == "probability" and arrays.are_within(array, 0.0, 1.0, _rows.SUM_TOLERANCE)


def _with_event_last(problem: _rows.SimplexProblem, pos_label: Any, named: Named) -> _rows.SimplexProblem:
    """Put the column of the event second, where two columns speak."""
    classes = problem.classes.tolist()
    if len(classes) > 2:
        got = f"{pos_label!r} for {len(classes)}"
        hint = "Say what is spoken of by notion=OneVsRest(...), where the function has a notion"
        refuse(f"pos_label must be left out when {named.forecast} has more than two columns", got=got, hint=hint)
    require_label("pos_label", pos_label)
    if pos_label not in classes:
        refuse(f"pos_label must be among the labels {classes}", value=pos_label, hint="Pass one of them")
    if pos_label == classes[1]:
        return problem
    of = problem.forecast
    forecast = _rows.Forecast(np.ascontiguousarray(of.values[:, ::-1]), of.is_logit, of.precision)
    return _rows.SimplexProblem(forecast, 1 - problem.label, problem.weights, problem.classes[::-1])


def _require_pair(values: arrays.FloatArray, pos_label: Any, named: Named) -> None:
    """Refuse what cannot stand beside predicted classes."""
    if values.ndim != 1:
        got = f"shape {values.shape}"
        hint = "Pass the probability of the predicted class of each row, or leave y_pred out"
        refuse(f"{named.forecast} must be one column, of shape (n_samples,), where y_pred is given", got=got, hint=hint)
    if pos_label is not None:
        hint = "The event is that the prediction is right"
        refuse("pos_label must be left out where y_pred is given", value=pos_label, hint=hint)


def _pair(
    truth: Labels, predicted: Labels, kept: slice | _rows.BoolArray, labels: Sequence[Any] | None, named: Named
) -> tuple[_rows.BoolArray, _rows.Predicted]:
    """Whether the predicted class is the true one, and which it is, of the rows that are kept."""
    if len(truth) != len(predicted):
        must = f"{named.truth} and y_pred must have the same number of rows"
        refuse(must, got=f"{len(truth)} and {len(predicted)}", hint="Pass one predicted class a row")
    if labels is None:  # a class that only rows of weight zero have is none
        truth, predicted, kept = truth[kept], predicted[kept], slice(None)
    classes = classes_of_pair(truth, predicted, labels, named)
    label, code = encode(truth, classes, named.truth), encode(predicted, classes, "y_pred")
    return (label == code)[kept], _rows.Predicted(code[kept], classes)


# Forecasts and weights


def declared(
    values: arrays.FloatArray,
    *,
    input: Input,
    rows: _rows.Rows = "as-given",
    name: str = "y_prob",
    remedies: _rows.Remedies = _rows.USUAL,
) -> arrays.FloatArray:
    """Return one column or a table of numbers that are probabilities, or logits that can be squared; or refuse them."""
    if not (is_word(input, "probability") or is_word(input, "logit")):
        raise ValueError(f"input must be 'probability' or 'logit'; got {input!r}. Say what y_prob holds.")
    if _rows.one_of(rows) == "percent" and input == "logit":
        hint = "Logits are no percent: leave one out"
        refuse("rows must not be 'percent' where input='logit'", got="both", hint=hint)
    if values.ndim == 2 and values.shape[1] < 2:
        must, hint = f"{name} must have at least 2 columns when it is a table", "Pass the column itself, of shape"
        refuse(must, got="1", hint=f"{hint} (n_samples,)")
    if input == "probability":
        return _rows.as_probabilities(name, values, rows, remedies)
    if max(values.max(), -values.min()) > MOST_LOGIT:
        where = arrays.first(np.abs(values) > MOST_LOGIT)
        must = f"logits in {name} must be at most {MOST_LOGIT:g} in size"
        refuse(must, got=f"{values[where]:g} at index {arrays.index(where)}", hint="Divide them all by one number")
    return values


def as_forecast(values: arrays.FloatArray, *, input: Input, **said: Any) -> _rows.Forecast:
    """Probabilities whose rows sum to one, or logits; one column stands for itself and its complement."""
    found, is_logit = declared(values, input=input, **said), input == "logit"
    return _rows.Forecast(found, is_logit) if found.ndim == 2 else _rows.two_columns(found, is_logit=is_logit)


def as_weights(sample_weight: ArrayLike | None, n: int, name: str = "sample_weight") -> _rows.Weights:
    """Weights of ``n`` rows; one each by default."""
    if sample_weight is None:
        return _rows.Weights.one_each(n)
    given = arrays.as_array(name, sample_weight)
    require(given.shape == (n,), f"{name} must have shape ({n},)", got=f"{given.shape}", hint="Pass one weight a row")
    weight = finite_numbers(name, given, sample_weight)
    if weight.min() < 0:
        got = f"{weight.min():g} at index {int(np.argmin(weight))}{arrays.more(weight < 0)}"
        refuse(f"{name} must not be negative", got=got, hint="Remove the rows you do not want to count")
    if not float(weight.sum()) <= MOST_WEIGHT:
        must, hint = f"{name} must have a sum of at most {MOST_WEIGHT:g}", "Divide the weights by their largest"
        refuse(must, given="it is more", hint=hint)
    require(weight.any(), f"{name} must have a positive sum", got="only zeros", hint="Give some row a weight")
    if (tiny := (weight > 0) & (weight < LEAST_WEIGHT)).any():
        got = f"{weight[tiny][0]:g} at index {int(np.argmax(tiny))}{arrays.more(tiny)}"
        refuse(f"{name} must be 0 or at least {LEAST_WEIGHT:g}", got=got, hint="Multiply the weights by one number")
    return _rows.Weights(weight)
