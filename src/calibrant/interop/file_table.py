"""Columns of a file by name: copied as they stand, and parsed only where they are asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from calibrant.interop.columns import Array, Column, Text, Values
from calibrant.interop.first_line import first_line
from calibrant.interop.members import Member

Made = TypeVar("Made")

FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]", re.DOTALL)
"""How a cell begins that spreadsheets take for a formula, full-width signs too; quotes before it are those of an escape."""

NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class FileTable(Mapping[str, Array]):
    """Columns by name, in the order of the file.

    ``table[name]`` parses a column; ``table.columns[name]`` is the column as it stands. ``apart`` are the arrays of an NPZ
    file that have another number of rows, or none: they are carried to another NPZ file alone.
    """

    columns: Mapping[str, Column]
    separator: str = ","
    metadata: Mapping[bytes, bytes] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()

    @classmethod
    def of_names(cls, names: Iterable[str]) -> FileTable:
        """Return a table without rows."""
        return cls({name: Values(np.empty(0)) for name in names})

    def __getitem__(self, name: str) -> Array:
        return self.columns[name].values()

    def numbers(self, name: str) -> Array:
        """Parse a column that is to hold numbers: words show that a cell is none."""
        column = self.columns[name]
        return column.numbers if isinstance(column, Text) else column.values()

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns  # without a look at what it holds

    def __len__(self) -> int:
        return len(self.columns)

    def sliced(self, rows: slice, n_rows: int) -> FileTable:
        """Return some of so many rows."""
        apart = frozenset(name for name, column in self.columns.items() if len(column) != n_rows)
        columns = {name: c if name in apart else c.sliced(rows) for name, c in self.columns.items()}
        return replace(self, columns=columns, apart=apart)

    def axes(self, name: str) -> int:
        """Return how many axes a column has: in an NPZ file it may have none, or several."""
        column = self.columns[name]
        return len(column.shape) if isinstance(column, Member) else 1

    def replaced(self, places: Mapping[str, Mapping[str, Column]]) -> FileTable:
        """Return the table with other columns in the place of some."""
        columns: dict[str, Column] = {}
        for name, column in self.columns.items():
            columns |= places.get(name, {name: column})
        gone = not columns.keys() >= self.columns.keys()  # pandas describes its columns there, and looks for each
        metadata = {key: value for key, value in self.metadata.items() if not (gone and key == b"pandas")}
        return replace(self, columns=columns, metadata=metadata)

    def extended(self, new: Mapping[str, Column]) -> FileTable:
        """Return the table with more columns at its end."""
        return replace(self, columns={**self.columns, **new})

    def escaped(self) -> FileTable:
        """Return the table with a quote before each cell and name that would be a formula in a spreadsheet.

        One that begins with quotes and then as a formula gets another quote, so that taking one away gives back what was.
        """
        columns = self.each(lambda column: Text(list(map(_escaped, column.cells()))))
        return replace(self, columns={_escaped(name): column for name, column in columns.items()})

    def each(self, make: Callable[[Column], Made]) -> dict[str, Made]:
        """Return what a format has for each column; that it has nothing is said with the name of the column."""
        made = {}
        for name, column in self.columns.items():
            try:
                made[name] = make(column)
            except (TypeError, NotImplementedError) as error:  # pyarrow's for what it cannot do is one of the latter
                raise TypeError(f"{first_line(error)}, for the column {name!r}") from error
        return made

    def without(self, left_out: Set[str]) -> FileTable:
        """Return the other columns."""
        return replace(self, columns={name: c for name, c in self.columns.items() if name not in left_out})


def _escaped(cell: str) -> str:
    return f"'{cell}" if FORMULA.match(cell) and not NUMBER.fullmatch(cell) else cell
