"""What people hold as arrays: lists, tables of any library; and words that say where in them something is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def as_array(name: str, data: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return lists, arrays and tables as an array of whatever they hold; masked, ragged and sparse ones are refused."""
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


def is_column(data: npt.ArrayLike) -> bool:
    """Whether the data have one dimension."""
    if isinstance(data, (list, tuple)):
        return np.ndim(data[0]) == 0 if data else True
    if (shape := getattr(data, "shape", None)) is not None:
        return len(shape) == 1
    import narwhals as nw

    return isinstance(nw.from_native(data, allow_series=True, pass_through=True), nw.Series)


def columns_of(data: npt.ArrayLike) -> Sequence[Any] | None:
    """Return the names of the columns of a table that has some."""
    names = getattr(data, "column_names", getattr(data, "columns", None))  # pyarrow, pandas and polars
    return None if names is None or callable(names) else list(names)


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
