"""Arrays, lists and data frames as finite numbers, or refused. Messages are in four parts, as in `_core/validation.py`."""

from __future__ import annotations

import reprlib
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import NUMERIC, absent, as_array, first, index, is_number, more
from calibrant._core.links import FloatArray


def as_numbers(name: str, data: npt.ArrayLike) -> FloatArray:
    """Arrays, nested lists and data frames as finite float64 of one or two dimensions, copied only where needed."""
    return finite_numbers(name, as_array(name, data), data)


def finite_numbers(name: str, array: npt.NDArray[Any], data: npt.ArrayLike) -> FloatArray:
    """Return what ``data`` holds as finite float64."""
    if array.dtype.kind not in (*NUMERIC, "c"):
        if array.ndim == 0:
            raise TypeError(
                f"{name} must hold numbers; got {type(data).__name__}, which is no sequence of them. Pass an array, a list or "
                "a data frame."
            )
        array = _of_objects(name, array)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must hold real numbers; got dtype {array.dtype}. Complex data not supported.")
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} must have one or two dimensions; got shape {array.shape}. "
            "Reshape your data to (n_samples,) or (n_samples, n_classes)."
        )
    if array.ndim == 2 and array.shape[1] == 0:
        raise ValueError(
            f"{name} must hold at least one column; got 0 feature(s) (shape={array.shape}) while a minimum of 1 is required. "
            "Check how the table was read."
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
            "Drop or correct these rows (NaN and inf are refused, never imputed)."
        )
    return numbers


def _of_objects(name: str, array: npt.NDArray[Any]) -> FloatArray:
    """Return cells of any type as float64 if each is a real number; the first that is none is refused by its place."""
    cells = array.ravel().tolist() if array.dtype.kind in "OUST" else list(array.ravel())
    strange = np.array([not is_number(cell) for cell in cells], dtype=bool).reshape(array.shape)
    if strange.any():
        where = first(strange)
        cell = cells[int(np.argmax(strange))]
        if absent(cell):
            raise ValueError(
                f"{name} must be finite; got a missing value ({cell}) at index {index(where)}{more(strange)}. "
                "Drop or correct these rows (missing values are refused, never imputed)."
            )
        raise TypeError(
            f"{name} must hold numbers; got {reprlib.repr(cell)} ({type(cell).__name__}) at index "
            f"{index(where)}{more(strange)}. {_hint_of_cell(cell)}"
        )
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise ValueError(
            f"{name} must hold numbers up to {np.finfo(float).max:.1g}; got a larger one. Divide them."
        ) from None


def _hint_of_cell(cell: object) -> str:
    """Say what to do about a cell that is no number."""
    if isinstance(cell, (str, bytes)):
        return "Choose the numeric columns, or convert the text first, as with .astype(float)."
    if isinstance(cell, (timedelta, np.timedelta64)):
        return (
            "Choose the numeric columns, or divide by a unit of time first: np.asarray(times) / np.timedelta64(1, 's')."
        )
    try:
        float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:  # in Python's words, as scikit-learn's checks ask
        return f"Choose the numeric columns: {error}."
    return "Choose the numeric columns, or convert them first."
