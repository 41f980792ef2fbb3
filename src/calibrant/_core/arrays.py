"""What people hold as arrays: lists, tables of any library; and words that say where in them something is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, TypeGuard

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray as NDArray
from scipy.special import expit, log_softmax, logsumexp

from calibrant._core.threads import in_order, n_processors

if TYPE_CHECKING:
    import narwhals as nw


NUMERIC = "biuf"
"""Kinds of dtypes that hold real numbers. Whatever is not of them is no number: a length of time, a date, a record, text."""


def is_number(value: object) -> TypeGuard[SupportsFloat]:
    """Whether one value is a real number, by its type; booleans are. Lengths of time, integers to NumPy, are none."""
    return value.dtype.kind in NUMERIC if isinstance(value, np.generic) else isinstance(value, (Real, Decimal))


def is_whole(value: object) -> TypeGuard[int]:
    """Whether one value is a whole number, by its type; booleans are none."""
    return not isinstance(value, bool) and isinstance(value, Integral) and is_number(value)


def as_array(name: str, data: ArrayLike) -> NDArray[Any]:
    """Return lists, arrays and tables as an array of whatever they hold; masked, ragged and sparse ones are refused."""
    if isinstance(data, (list, tuple)):
        return _of_list(name, data)
    if isinstance(data, np.ndarray):
        if np.ma.is_masked(data):
            _refuse_masked(name, np.ma.getmaskarray(data))
        return np.asarray(data)
    if hasattr(data, "toarray"):
        raise TypeError(
            f"{name} must be dense; got a sparse {type(data).__name__}. Sparse input is not supported: call .toarray()."
        )
    return _of_table(name, data)


def stacked(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return columns as a table, in double precision if not all are of one."""
    is_mixed = len({column.dtype for column in columns}) > 1
    return np.column_stack(list(map(as_double, columns)) if is_mixed else columns)


def _of_list(name: str, data: Sequence[Any]) -> NDArray[Any]:
    try:
        if any(isinstance(row, np.ma.MaskedArray) for row in data):  # NumPy would read what lies under the masks
            _refuse_masked(name, np.array([np.ma.getmaskarray(row) for row in data]))
        array = np.array(data)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(
            f"rows must have equal lengths; got a ragged list ({error}). Pass shape (n_samples, n_classes)."
        ) from None
    if array.dtype.kind == "f" and array.ndim == 1 and all(type(cell) is int and cell >= 0 for cell in data):
        return np.array(data, dtype=np.uint64)  # small and very large whole numbers together would become fractions
    if array.dtype.kind in "US" and not all(isinstance(cell, (str, bytes)) for cell in data):
        return np.array(data, dtype=object)  # numbers beside words stay numbers
    return array


def _of_table(name: str, data: Any) -> NDArray[Any]:
    import narwhals as nw

    try:
        native: Any = nw.from_native(data, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(
            f"the columns of {name} must have different names; got a table with one twice ({' '.join(str(error).split())}). "
            "Rename them, or pass .to_numpy()."
        ) from None
    if isinstance(native, nw.LazyFrame):
        raise TypeError(
            f"{name} must be in memory; got a {type(data).__name__}. Pass calibrant.predictions(...) of it, or bring "
            "it into memory: .collect(), .compute() or .df()."
        )
    if not ((is_frame := isinstance(native, nw.DataFrame)) or isinstance(native, nw.Series)):
        try:
            return np.asarray(data)
        except (TypeError, RuntimeError) as error:
            if not hasattr(data, "detach"):
                raise
            raise TypeError(  # torch converts no tensor on a GPU, in bfloat16 or with a gradient
                f"{name} must be an array, or a tensor that NumPy can read; got a {type(data).__name__} ({error}). "
                "Pass .detach().cpu().numpy() of it; of bfloat16 .detach().cpu().float().numpy()."
            ) from None
    table: Any = native
    kinds = list(table.schema.values()) if is_frame else [table.dtype]
    shown = ", ".join(map(str, kinds))
    is_mixed = (
        nw.Float32 in kinds
        and len(set(kinds)) > 1
        and all(kind.is_float() or kind.is_integer() or kind == nw.Boolean for kind in kinds)
    )
    if is_frame and (
        _is_of_arrow_numbers(table) or (is_mixed and not any(column.null_count() for column in table.iter_columns()))
    ):
        return stacked([column.to_numpy() for column in table.iter_columns()])
    if table.implementation.is_pyarrow():
        data = _decoded(data)
    try:
        if any(kind in (nw.Int128, nw.UInt128) for kind in kinds):
            raise TypeError("it has no integers of 128 bits")  # before older versions of polars panic
        array = np.asarray(nw.from_native(data, allow_series=True).to_numpy())
    except Exception as error:  # polars has one of its own
        raise TypeError(
            f"{name} must have columns that NumPy can hold; got {shown} ({error}). Cast them first, such as to Float64."
        ) from None
    if array.ndim == 2 and not is_frame and kinds == [nw.Struct]:
        raise TypeError(
            f"{name} must have one value in a cell; got {shown}. Make columns of its fields first: .struct.unnest()."
        )
    return array


def _decoded(data: Any) -> Any:
    """Return a column or table of pyarrow without dictionaries, since NumPy is told of no nulls in those that are in chunks."""
    import pyarrow

    if hasattr(data, "column_names"):
        return pyarrow.table([_decoded(column) for column in data.columns], names=data.column_names)
    return data.cast(data.type.value_type) if pyarrow.types.is_dictionary(data.type) else data


def _is_of_arrow_numbers(table: nw.DataFrame[Any]) -> bool:
    """Whether pandas keeps numbers of pyarrow, none missing: of columns it makes arrays, of the table an object a cell."""
    return (
        any(hasattr(dtype, "pyarrow_dtype") for dtype in getattr(table.to_native(), "dtypes", ()))
        and all(dtype.is_numeric() or str(dtype) == "Boolean" for dtype in table.schema.values())
        and not any(column.null_count() for column in table.iter_columns())
    )


def _refuse_masked(name: str, masked: NDArray[np.bool_]) -> None:
    if masked.any():
        raise ValueError(
            f"{name} must not be masked; got a masked value at index {index(first(masked))}{more(masked)}. "
            "Drop the masked rows from all arrays, or fill them."
        )


PLACES = {"e": 3, "f": 6}
"""Decimal places that half and single precision tell apart in [0, 1]; two fewer in percent."""


def as_double(values: NDArray[Any]) -> FloatArray:
    """Return numbers in double precision; decimals of few places become those of double precision, so that .35 is .35."""
    double: FloatArray = values.astype(np.float64, copy=False)
    if (places := PLACES.get(values.dtype.char)) is None:
        return double
    with np.errstate(over="ignore", invalid="ignore"):
        decimal = np.where(np.abs(double) > 1.0, double.round(places - 2), double.round(places))
        return np.where(decimal.astype(values.dtype) == values, decimal, double)


def columns_of(data: ArrayLike) -> Sequence[Any] | None:
    """Return the names of the columns of a table that has some; of names with levels those in which they differ, as one."""
    names = getattr(data, "column_names", getattr(data, "columns", None))  # pyarrow, pandas and polars
    if names is None or callable(names):
        return None
    names = list(names)
    if len(names) < 2 or not all(isinstance(one, tuple) for one in names):
        return names
    levels = [level for level in zip(*names, strict=False) if len(set(level)) > 1]
    return ["_".join(map(str, one)) for one in zip(*levels, strict=True)] or names


def absent(value: object) -> bool:
    """Whether a cell of dtype object is a missing value."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def first(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the index of the first that is true."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def index(where: tuple[int, ...]) -> str:
    """Return an index as people write it."""
    return str(where[0]) if len(where) == 1 else str(where)


def more(mask: NDArray[np.bool_]) -> str:
    """Say how many are true besides the first."""
    count = int(mask.sum()) - 1
    return f", and {count} more" if count else ""


def some(values: NDArray[Any], most: int = 5) -> str:
    """Show the first few values."""
    shown = ", ".join(repr(v) for v in values[:most].tolist())
    return shown + (", ..." if len(values) > most else "")


# Between probabilities and the real line. The two epsilons of the library live here: one to fit with, one to measure with


FloatArray = NDArray[np.float64]

EPSILON = 1e-12
"""What calibrators raise probabilities to before a logarithm: what they fit stays within 27.6 of zero in log-odds."""

CLIP = float(np.finfo(np.float64).eps)
"""What a log loss raises probabilities to by default, 2.2e-16, as scikit-learn does: a row costs at most 36.04 nats."""

LEAST_SCORE = -700.0
"""A calibrated score ends this far below the highest of its row, so that no probability becomes zero."""

UNITS = 1e12
"""Sums, differences and products of probabilities that agree to 1 / UNITS are ties; `grouped` makes them one number."""

EXACT = 2.0**53
"""Sums of whole numbers below this are exact."""

SLACK = 8.0 * CLIP
"""How far rounding moves decimals and sums of them, relative to them."""

AT_A_TIME = 1 << 15
"""Numbers summed at a time: they stay in the processor's cache."""

MANY_COLUMNS = 64
"""Length of rows along which NumPy sums as fast as down columns; along shorter ones it takes up to six times as long."""


def grouped(sums: FloatArray) -> FloatArray:
    """Round sums of probabilities to multiples of 1e-12, so that .8 + .1 and .7 + .2 are one number.

    What a sum becomes depends on nothing but itself: it is the same in ``fit`` and for new rows. Two sums of decimals with up
    to twelve digits are one number afterwards if and only if they are equal: half a unit lies between each and the next
    border. Probabilities themselves are never grouped: as given they are equal or not, and tiny ones keep their digits.
    """
    units: FloatArray = np.rint(sums * UNITS)
    units /= UNITS
    return units


def quotients(table: FloatArray, sums: FloatArray) -> FloatArray:
    """Divide rows by their sums, shape (n, 1), so that equal quotients of decimals are equal numbers.

    A row of decimals is one of whole multiples of 1e-12, whose quotients are rounded once. A sum of other numbers, such as
    thirds, that rounding alone parts from a decimal is that decimal: divided by 0.9999999999999999 in one row, and by 1 in the
    next, equal numbers would become two.
    """
    whole = np.rint(table * UNITS)
    total = whole.sum(axis=1, keepdims=True)
    is_exact = (total < EXACT) & (np.abs(whole / UNITS - table) <= SLACK * table).all(axis=1, keepdims=True)
    near = grouped(sums)
    divisor = np.where(np.abs(near - sums) <= SLACK * sums, near, sums)
    return np.where(is_exact, whole, table) / np.where(is_exact, total, divisor)


def sum_of_rows(table: FloatArray) -> FloatArray:
    """Sum up each row of numbers in [0, 2], shape (n, 1), to the last bit the same in whatever order the columns come.

    Whole multiples of a power of two are summed, without rounding; sums below 1/2, which need finer ones, in sorted order.
    Else rows that hold the same numbers in another order, as votes do, would be divided by two sums.
    """
    n, n_columns = table.shape
    unit = 2.0 ** (61 - int(n_columns - 1).bit_length())
    sums = np.empty((n, 1))
    for rows in blocks(n, n_columns, AT_A_TIME):
        sums[rows, 0] = (table[rows] * unit).astype(np.int64).sum(axis=1)
    sums /= unit
    low = sums[:, 0] < 0.5
    if low.any():
        sums[low] = np.sort(table[low], axis=1).sum(axis=1, keepdims=True)
    return sums


def clipped(prob: FloatArray) -> FloatArray:
    """Probabilities raised to ``EPSILON`` from below."""
    return np.maximum(prob, EPSILON)


def log_prob_of_prob(prob: FloatArray) -> FloatArray:
    """Logarithms of probabilities, clipped at ``EPSILON``."""
    raised = clipped(prob)
    np.log(raised, out=raised)
    return raised


def log_cost(prob: FloatArray, clip: float = CLIP) -> FloatArray:
    """Negative logarithms of probabilities, raised to ``clip`` from below; with ``clip`` 0 that of 0 is infinite."""
    cost: FloatArray = np.asarray(np.maximum(prob, clip))
    with np.errstate(divide="ignore"):
        np.log(cost, out=cost)
    return np.negative(cost, out=cost)


def log_odds_of_prob(prob: FloatArray) -> FloatArray:
    """Log-odds of probabilities, clipped at ``EPSILON`` from 0 and from 1: within 27.6, and of all beyond the same."""
    return difference_of_logs(prob, 1.0 - prob)


def difference_of_logs(event: FloatArray, other: FloatArray) -> FloatArray:
    """Log-odds of the first of two probabilities that sum to one; where one of them is clipped the other counts as 1."""
    first = np.where(other > EPSILON, clipped(event), 1.0)
    second = np.where(event > EPSILON, clipped(other), 1.0)
    return np.log(first) - np.log(second)


def log_prob_of_logit(logit: FloatArray) -> FloatArray:
    """Log-probabilities of logits, exact: nothing is clipped."""
    result: Any = log_softmax(np.ascontiguousarray(logit), axis=1)
    return np.asarray(result, dtype=np.float64)


def log_odds_of_logits(logits: FloatArray) -> FloatArray:
    """Log-odds of each class against all others, shape (n, K): exact where the probability has long become 0 or 1.

    As in `prob_of_logit`, neither the order of columns nor that in memory makes a difference.
    """
    logits = np.ascontiguousarray(logits)
    rows = np.arange(len(logits))
    top = logits.argmax(axis=1)
    below = logits - logits[rows, top][:, None]
    others = np.exp(below)
    others[rows, top] = 0.0
    rest = np.sort(others, axis=1).sum(axis=1)
    log_odds: FloatArray = below - np.log(1.0 + rest[:, None] - others)
    # Seen from the highest logit itself, the others count from the highest among them.
    below[rows, top] = -np.inf
    log_odds[rows, top] = -np.asarray(logsumexp(np.sort(below, axis=1), axis=1))
    return np.where(below == 0.0, log_odds[rows, top][:, None], log_odds)  # what is as high has the same


def score_of_logit(logit: FloatArray) -> FloatArray:
    """Logistic function of the logits of one event."""
    result: Any = expit(logit)
    return np.asarray(result, dtype=np.float64)


def prob_of_logit(logit: FloatArray) -> FloatArray:
    """Softmax over the columns, to the last bit the same in whatever order they come, and lie in memory.

    Else a step of a map, which begins at the score of some row, would lie above that score when the row comes again.
    """
    prob = np.array(logit, dtype=np.float64, order="C")
    prob -= prob.max(axis=1, keepdims=True)
    np.exp(prob, out=prob)
    prob /= sum_of_rows(prob)
    return prob


def prob_of_scores(scores: FloatArray, temperature: float = 1.0) -> FloatArray:
    """Softmax of scores / temperature over the columns, never zero: they end `LEAST_SCORE` below the highest of their row.

    Of few columns the table that is returned has its columns one after the other in memory.
    """
    order: Literal["F", "C"] = "F" if scores.shape[1] < MANY_COLUMNS else "C"
    powers: FloatArray = np.divide(scores, temperature, dtype=np.float64, order=order)
    powers -= powers.max(axis=1, keepdims=True)
    np.maximum(powers, LEAST_SCORE, out=powers)
    np.exp(powers, out=powers)
    powers /= sum_of_rows(powers)
    return powers


# One look at numbers that tells whether all is well with them


BLOCK = 1 << 16
"""Numbers looked at together: half a megabyte in double precision."""

PARALLEL_FROM = 1 << 21
"""Numbers from which several threads look."""

UNIT_OF = {code: float(np.finfo(code).eps) for code in "fd"}
"""Distance from one to the next number, in single and double precision."""

ROOM = 0.1
"""Part of the tolerance of a sum that the rounding of a fast sum may use up; where it would be more, sums are in float64."""


def are_within(values: NDArray[Any], low: float, high: float, tolerance: float | None = None) -> bool:
    """Whether numbers lie from ``low`` to ``high``, and rows of a table sum to one within a tolerance, with room for rounding.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n, K)
        In any order in memory.
    low, high : float
        Limits of every number; NaN lies nowhere.
    tolerance : float, optional
        How far the sum of a row of a table may be from one; by default sums are not looked at.

    Returns
    -------
    bool
        True only of numbers in single or double precision, as this machine writes them. False says nothing.
    """
    kind, ones = values.dtype, None
    if not (kind.char in "fd" and kind.isnative and values.ndim in (1, 2) and values.size > 0):
        return False
    if values.size > BLOCK and len(values) > 1:
        rows = list(blocks(len(values), values[0].size, BLOCK))
        workers = n_processors() if values.size >= PARALLEL_FROM else 1
        shares = [rows[number::workers] for number in range(workers)]
        each = in_order(
            lambda own: all(are_within(values[some], low, high, tolerance) for some in own), shares, workers
        )
        return all(each)
    if tolerance is not None and values.ndim == 2:
        # A sum of K numbers that are not negative is off by at most K units in the last place, in whatever order it is taken.
        n_classes = values.shape[1]
        ones = np.ones(n_classes, dtype=kind if n_classes * UNIT_OF[kind.char] <= ROOM * tolerance else np.float64)
        off = tolerance - n_classes * UNIT_OF[ones.dtype.char]
    # A comparison with NaN fails, and the least of numbers with NaN among them is NaN. As double: 1e100 is inf in single.
    if not (float(np.minimum.reduce(values, None)) >= low and float(np.maximum.reduce(values, None)) <= high):
        return False
    if ones is None:
        return True
    sums = values.astype(ones.dtype, copy=False) @ ones
    return bool(float(np.minimum.reduce(sums)) >= 1.0 - off and float(np.maximum.reduce(sums)) <= 1.0 + off)


def blocks(n: int, n_columns: int = 1, most: int = BLOCK) -> Iterable[slice]:
    """Cut n rows of a table of so many columns into blocks of at most so many numbers."""
    step = max(1, most // n_columns)
    return [slice(0, n)] if 0 < n <= step else (slice(start, min(start + step, n)) for start in range(0, n, step))


def ratio(part: ArrayLike, whole: ArrayLike, otherwise: float = np.nan) -> FloatArray:
    """Divide where there is a whole above zero; give another number elsewhere."""
    found, positive = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), otherwise), np.asarray(whole) > 0
    np.divide(part, whole, out=found, where=positive)
    return found
