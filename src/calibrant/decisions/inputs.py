"""Input forecasts and sequences, checked under the name of their argument, with the names of their columns."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import columns_of
from calibrant._core.finite_numbers import as_numbers
from calibrant._core.labels import Labels, classes_of_columns
from calibrant._core.links import FloatArray
from calibrant._core.parameters import require, some
from calibrant._core.problem import Forecast
from calibrant._core.rows import Rows
from calibrant._core.validation import Input, as_forecast

Names = Sequence[Any] | None


class Received(NamedTuple):
    """A valid forecast, whether it was given as one column, and the names of its columns, if it has any."""

    forecast: Forecast
    is_column: bool
    names: Names


def received(y_prob: npt.ArrayLike, *, input: Input, rows: Rows) -> Received:
    """Return the forecast that a function is called with."""
    values = as_numbers("y_prob", y_prob)
    return Received(as_forecast(values, input=input, rows=rows), values.ndim == 1, names_of(y_prob))


def numbers_of(name: str, values: npt.ArrayLike, hint: str) -> FloatArray:
    """Return the numbers of a parameter that is a sequence or a matrix."""
    require(not is_single(values), f"{name} must be a sequence of numbers", value=values, hint=hint, error=TypeError)
    if isinstance(values, Sized):
        some(name, values, "number", hint=hint)
    return as_numbers(name, values)


def is_single(values: object) -> bool:
    """Whether it is one number, or one word, and no sequence."""
    return isinstance(values, (Number, np.generic, str, bytes)) or getattr(values, "ndim", None) == 0


def names_of(data: npt.ArrayLike) -> Names:
    """Return the names of the columns of a data frame; mere numbers from 0 on, which pandas invents, are none."""
    names = columns_of(data)
    return None if names is None or list(names) == list(range(len(names))) else names


def shared_names(**forecasts: npt.ArrayLike | None) -> Names:
    """Return the names of the columns of forecasts that belong together, the ones and the others in the same order."""
    named = [
        (argument, found)
        for argument, data in forecasts.items()
        if data is not None and (found := names_of(data)) is not None
    ]
    for argument, found in named[1:]:
        require(
            list(found) == list(named[0][1]),
            f"{named[0][0]} and {argument} must have the same columns in the same order",
            got=f"{_some(named[0][1])} and {_some(found)}",
            hint="Put the columns of one in the order of the other",
        )
    return named[0][1] if named else None


def classes_of(n_classes: int, labels: Sequence[Any] | None, names: Names) -> Labels:
    """Return the class of each column where no row is labelled: as told, or the columns' names if they are words."""
    if labels is None and names is not None and all(isinstance(name, str) for name in names):
        return classes_of_columns(np.asarray(names), n_classes, None, names)
    return classes_of_columns(np.zeros(1, dtype=np.intp), n_classes, labels)


def _some(names: Sequence[Any], most: int = 5) -> str:
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")
