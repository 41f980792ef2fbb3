"""What people hold as arrays: lists, tables of any library; and words that say where in them something is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeGuard

import numpy as np
import numpy.typing as npt

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


def as_array(name: str, data: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return lists, arrays and tables as an array of whatever they hold; masked, ragged and sparse ones are refused."""
    if isinstance(data, (list, tuple)):
        return _of_list(name, data)
    if isinstance(data, np.ma.MaskedArray):
        _refuse_masked(name, np.ma.getmaskarray(data))
    if isinstance(data, np.ndarray):
        return np.asarray(data)
    if hasattr(data, "toarray"):
        raise TypeError(
            f"{name} must be dense; got a sparse {type(data).__name__}. Sparse input is not supported: call .toarray()."
        )
    return _of_table(name, data)


def _of_list(name: str, data: Sequence[Any]) -> npt.NDArray[Any]:
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


def _of_table(name: str, data: Any) -> npt.NDArray[Any]:
    import narwhals as nw

    try:
        native = nw.from_native(data, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(
            f"the columns of {name} must have different names; got a table with one twice ({' '.join(str(error).split())}). "
            "Rename them, or pass .to_numpy()."
        ) from None
    if isinstance(native, nw.LazyFrame):
        raise TypeError(f"{name} must be in memory; got a {type(data).__name__}. Call .collect() first.")
    if isinstance(native, nw.DataFrame) and _is_of_arrow_numbers(native):
        return np.column_stack([column.to_numpy() for column in native.iter_columns()])
    if isinstance(native, (nw.DataFrame, nw.Series)):
        if native.implementation.is_pyarrow():
            native = nw.from_native(_decoded(data), allow_series=True)
        return _of_columns(name, native)
    return _of_object(name, data)


def _of_columns(name: str, native: nw.DataFrame[Any] | nw.Series[Any]) -> npt.NDArray[Any]:
    import narwhals as nw

    try:
        array = np.asarray(native.to_numpy())
    except Exception as error:  # polars has one of its own for 128 bits
        kinds = native.dtype if isinstance(native, nw.Series) else ", ".join(map(str, native.schema.values()))
        raise TypeError(
            f"{name} must have columns that NumPy can hold; got {kinds} ({error}). Cast them first, such as to Float64."
        ) from None
    if array.ndim == 2 and isinstance(native, nw.Series) and native.dtype == nw.Struct:
        raise TypeError(
            f"{name} must have one value in a cell; got {native.dtype}. Make columns of its fields first: .struct.unnest()."
        )
    return array


def _decoded(data: Any) -> Any:
    """Return a column or table of pyarrow without dictionaries, since NumPy is told of no nulls in those that are in chunks."""
    import pyarrow

    if isinstance(data, pyarrow.Table):
        return pyarrow.table([_decoded(column) for column in data.columns], names=data.column_names)
    return data.cast(data.type.value_type) if pyarrow.types.is_dictionary(data.type) else data


def _is_of_arrow_numbers(table: nw.DataFrame[Any]) -> bool:
    """Whether pandas keeps numbers of pyarrow, none missing: of columns it makes arrays, of the table an object a cell."""
    import narwhals as nw

    return (
        any(hasattr(dtype, "pyarrow_dtype") for dtype in getattr(table.to_native(), "dtypes", ()))
        and all(dtype.is_numeric() or dtype == nw.Boolean for dtype in table.schema.values())
        and not any(column.null_count() for column in table.iter_columns())
    )


def _of_object(name: str, data: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(data)
    except (TypeError, RuntimeError) as error:
        if not hasattr(data, "detach"):
            raise
        raise TypeError(  # torch converts no tensor on a GPU, in bfloat16 or with a gradient
            f"{name} must be an array, or a tensor that NumPy can read; got a {type(data).__name__} ({error}). "
            "Pass .detach().cpu().numpy() of it; of bfloat16 .detach().cpu().float().numpy()."
        ) from None


def _refuse_masked(name: str, masked: npt.NDArray[np.bool_]) -> None:
    if masked.any():
        raise ValueError(
            f"{name} must not be masked; got a masked value at index {index(first(masked))}{more(masked)}. "
            "Drop the masked rows from all arrays, or fill them."
        )


def columns_of(data: npt.ArrayLike) -> Sequence[Any] | None:
    """Return the names of the columns of a table that has some."""
    names = getattr(data, "column_names", getattr(data, "columns", None))  # pyarrow, pandas and polars
    return None if names is None or callable(names) else list(names)


def absent(value: object) -> bool:
    """Whether a cell of dtype object is a missing value."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def first(mask: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the index of the first that is true."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def index(where: tuple[int, ...]) -> str:
    """Return an index as people write it."""
    return str(where[0]) if len(where) == 1 else str(where)


def more(mask: npt.NDArray[np.bool_]) -> str:
    """Say how many are true besides the first."""
    count = int(mask.sum()) - 1
    return f", and {count} more" if count else ""


def some(values: npt.NDArray[Any], most: int = 5) -> str:
    """Show the first few values."""
    shown = ", ".join(repr(v) for v in values[:most].tolist())
    return shown + (", ..." if len(values) > most else "")
