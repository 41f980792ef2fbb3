"""The columns of a result's data frame, declared by where each is read."""

from __future__ import annotations

import re
import sys
from dataclasses import is_dataclass
from inspect import get_annotations
from textwrap import fill
from typing import Any

import numpy as np
import numpy.typing as npt


class Table:
    """What one row of a data frame stands for, and where its columns are read.

    Parameters
    ----------
    row : str or None
        What a row stands for, such as "bin"; None where there is a single row.
    *columns : str
        Each is the path of an attribute of the result, such as ``"panels.bins.weight"``, whose last step names the column, or
        ``"name=path"``. A name that ends in ``_*`` stands for a column ``name_0``, ``name_1``, ... for each column of an array
        of shape (rows, k), and for ``name`` of an array of one dimension. One that ends in ``?`` is left out where it is None.

    Notes
    -----
    What a path finds along ``panels`` is one block of rows for each panel. The values of a block are broadcast against each
    other, so that a name, a number of the panel, or an array of the whole result is repeated as far as the block needs it.
    """

    def __init__(self, row: str | None, *columns: str) -> None:
        self.row, self.columns = row, columns

    @property
    def docstring(self) -> str:
        """Docstring of the ``to_frame`` of a class."""
        rows = "of one row" if self.row is None else f"with one row per {self.row}"
        names = ", ".join(_named(column)[0] for column in self.columns)
        some = ", of which some may be missing" if "?" in names else ""
        names = names.replace("?", "").replace("_*", "_0 ...")
        columns = fill(f"Columns {names}{some}.", 116, initial_indent="    ", subsequent_indent="    ")
        return TO_FRAME.format(rows=rows, columns=columns)

    @property
    def paths(self) -> list[str]:
        """Where the columns are read."""
        return [_named(column)[1] for column in self.columns]

    def of(self, result: object) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of a result, by name."""
        panels = len(getattr(result, "panels", ())) or 1
        blocks: dict[str, list[Any]] = {}
        for name, path in map(_named, self.columns):
            value = read(result, path)
            for key, parts in _spread(name, list(value) if path.startswith("panels.") else [value] * panels):
                blocks[key] = parts
        rows = [np.broadcast_arrays(*block) for block in zip(*blocks.values(), strict=True)]
        return {key: np.concatenate([row[k].ravel() for row in rows]) for k, key in enumerate(blocks)}


def under(part: str, *columns: str) -> tuple[str, ...]:
    """Return columns that are read at a part of the result, such as ``under("panels", "score", "panel=name")``."""
    return tuple(f"{name}={part}.{path}" for name, path in map(_named, columns))


def read(of: Any, path: str) -> Any:
    """Return the attribute at the end of a path; along a tuple of parts the list of those of each part, of None none."""
    for step in path.split("."):
        if of is None:
            return None
        of = [getattr(part, step) for part in of] if isinstance(of, (tuple, list)) else getattr(of, step)
    return of


def missing_step(kind: type, path: str) -> str | None:
    """Return the first step of a path that a class, or a dataclass of its fields, does not have, as far as annotations tell."""
    step, _, rest = path.partition(".")
    for base in kind.__mro__:
        if step in (hints := get_annotations(base)):
            missing = [missing_step(part, rest) for part in _dataclasses(str(hints[step]), base)] if rest else []
            return missing[0] if missing and all(missing) else None
        if step in vars(base):
            return None
    return step


def _dataclasses(hint: str, base: type) -> list[type]:
    """Return the dataclasses that an annotation in the module of a class names."""
    names = vars(sys.modules[base.__module__])
    return [
        found for name in re.findall(r"\w+", hint) if is_dataclass(found := names.get(name)) and isinstance(found, type)
    ]


def _named(column: str) -> tuple[str, str]:
    """Return the name and the path of a column."""
    name, _, path = column.rpartition("=")
    return (name, path) if name else (path.rpartition(".")[2], path.rstrip("?").removesuffix("_*"))


def _spread(name: str, parts: list[Any]) -> list[tuple[str, list[Any]]]:
    """Return the columns that a name stands for, each with its values in every block."""
    if name.endswith("?") and parts[0] is None:
        return []
    bare = name.rstrip("?").removesuffix("_*")
    if "_*" not in name or np.ndim(parts[0]) == 1:
        return [(bare, parts)]
    return [(f"{bare}_{k}", [part[:, k] for part in parts]) for k in range(parts[0].shape[1])]


TO_FRAME = """Return a data frame {rows}.

Parameters
----------
backend : {{"pandas", "polars", "pyarrow"}}, optional
    By default the first that is installed.

Returns
-------
DataFrame
{columns}
"""
