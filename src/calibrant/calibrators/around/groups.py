"""Groups of rows: anything that says which rows belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import absent, as_array, more
from calibrant._core.parameters import refuse, require
from calibrant._core.text_columns import text_of


def as_groups(groups: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return a group a row, as splitters take it: objects that have no order, such as words beside numbers, by numbers."""
    if (words := text_of(groups)) is not None:
        return words
    array = as_array("groups", groups)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    require(
        array.ndim == 1,
        "groups must have one dimension, a group a row",
        got=f"shape {array.shape}",
        hint="Pass one column",
    )
    missing = _missing(array)
    if missing.any():
        at = int(np.argmax(missing))
        refuse(
            "groups must hold a group for each row",
            got=f"a missing one at index {at}{more(missing)}",
            hint="Drop these rows, or give each a group of its own",
        )
    return array if array.dtype.kind not in "OT" else _of_objects(array)


def _missing(array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if array.dtype.kind in "fc":
        return np.asarray(np.isnan(array))
    if array.dtype.kind in "mM":
        return np.asarray(np.isnat(array))
    if array.dtype.kind in "OT":
        return np.array([absent(cell) for cell in array.tolist()], dtype=np.bool_)
    return np.zeros(array.shape, dtype=np.bool_)


def _of_objects(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    cells = array.tolist()
    if all(isinstance(cell, str) for cell in cells):
        return np.array(cells)
    try:
        np.unique(array)
    except TypeError:
        codes: dict[Any, int] = {}
        return np.array([codes.setdefault(cell, len(codes)) for cell in cells])
    return array
