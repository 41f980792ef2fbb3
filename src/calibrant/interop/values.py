"""What a saved calibrator is made of, spelled out: JSON has no arrays, no infinities and no methods."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from itertools import chain
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from calibrant._core.registry import Kind, entries, find, named
from calibrant.binning import Binning, Partition
from calibrant.binning.simplex import SimplexBinning
from calibrant.calibrators.base import Calibrator
from calibrant.interop.old_names import current, renamed

DTYPES = {
    "float64": (float, int),
    "float32": (float, int),
    "int64": (int,),
    "int32": (int,),
    "bool": (bool,),
}
"""What arrays of a file may be, and what they may hold."""

MOST_AXES = 3

NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
"""Numbers that JSON has not."""

KINDS: tuple[Kind, ...] = ("binning", "simplex-binning")
CELLS = "cells of"


def encode(value: Any, of_calibrator: Callable[[Calibrator], dict[str, Any]]) -> Any:
    """Spell out a value; ``of_calibrator`` describes a calibrator that another one holds."""
    if isinstance(value, Calibrator):
        return {"calibrator": of_calibrator(value)}
    if isinstance(value, (Binning, SimplexBinning)) and (entry := named(type(value))):
        return {entry.kind: entry.name, "parameters": {k: encode(v, of_calibrator) for k, v in vars(value).items()}}
    if isinstance(value, Partition) and (name := _binning_of(value)):
        names = (field.name for field in fields(cast(Any, value)))
        return {CELLS: name, "parameters": {k: encode(getattr(value, k), of_calibrator) for k in names}}
    if isinstance(value, np.ndarray) and str(value.dtype) in DTYPES:
        return {"array": [encode(v, of_calibrator) for v in value.tolist()], "dtype": str(value.dtype)}
    if isinstance(value, np.generic):
        return encode(value.item(), of_calibrator)
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [encode(v, of_calibrator) for v in value]
    raise TypeError(
        "a saved calibrator holds numbers, strings, booleans, arrays of these, and binnings and calibrators that are "
        f"registered; got {value!r}. Choose a parameter that can be written down, such as a number for a random state."
    )


def decode(value: Any, to_calibrator: Callable[[Any], Calibrator]) -> Any:
    """Return what is spelled out, in time and memory in proportion to it; ``to_calibrator`` builds a calibrator."""
    if isinstance(value, list):
        return [decode(v, to_calibrator) for v in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return _array(value["array"], value.get("dtype"))
    if "number" in value:
        return _number(value)
    if "calibrator" in value:
        return to_calibrator(value["calibrator"])
    for kind in (*KINDS, CELLS):
        if kind in value:
            return _made(kind, current(kind, value[kind]), value.get("parameters"), to_calibrator)
    raise ValueError(f"a value must be an array, a number, a binning or a calibrator; got one of {sorted(value)[:5]}")


def _made(kind: str, name: Any, parameters: Any, to_calibrator: Callable[[Any], Calibrator]) -> Any:
    """Make a binning, or the cells of one, of its parameters."""
    if not isinstance(name, str) or not isinstance(parameters, dict):
        raise TypeError(f"{kind} must be a word with parameters; got {name!r}")
    target: Any = find("simplex-binning" if kind == CELLS else cast(Kind, kind), name).target
    if kind == CELLS and (target := target.cells) is None:
        raise ValueError(f"{CELLS} must be a simplex binning whose cells can be saved; got {name!r}")
    return target(**{k: decode(v, to_calibrator) for k, v in renamed(kind, name, parameters).items()})


def _array(values: Any, dtype: Any) -> npt.NDArray[Any]:
    """Return nested lists as an array of the dtype: its size is that of the lists."""
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}; got {dtype!r}")
    flat, shape = _flat(values)
    if dtype.startswith("float"):
        flat = [_number(value) if isinstance(value, dict) else value for value in flat]
    if strange := set(map(type, flat)) - set(DTYPES[dtype]):
        raise TypeError(f"array must hold {dtype} alone; got {min(kind.__name__ for kind in strange)}")
    try:
        return np.array(flat, dtype=dtype).reshape(shape)
    except OverflowError:
        raise ValueError(f"array must hold numbers that are {dtype}; got larger ones") from None


def _flat(values: Any) -> tuple[list[Any], list[int]]:
    """Return what nested lists hold, and their shape."""
    if not isinstance(values, list):
        raise TypeError(f"array must be a list; got {type(values).__name__}")
    flat, shape = values, [len(values)]
    while flat and isinstance(flat[0], list):
        size = len(flat[0])
        if len(shape) == MOST_AXES or not all(isinstance(row, list) and len(row) == size for row in flat):
            raise ValueError(f"array must have rows of one length, and at most {MOST_AXES} axes; got others")
        flat, shape = list(chain.from_iterable(flat)), [*shape, size]
    return flat, shape


def _number(value: dict[str, Any]) -> float:
    word = value.get("number")
    if not isinstance(word, str) or word not in NUMBERS:
        raise ValueError(f"number must be one of {', '.join(NUMBERS)}; got {word!r}")
    return NUMBERS[word]


def _binning_of(partition: Partition) -> str | None:
    """Return the name of the registered simplex binning whose cells these are."""
    known = entries("simplex-binning").items()
    return next((name for name, entry in known if getattr(entry.target, "cells", None) is type(partition)), None)
