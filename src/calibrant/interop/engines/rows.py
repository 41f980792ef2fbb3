"""From the tables of a partition to batches that are checked: what is sent to the workers of an engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._core.arrays import as_array
from calibrant._core.problem import Problem
from calibrant._core.rows import Rows
from calibrant._core.validation import Input
from calibrant.interop.batches.arrow import Columns, piece_of
from calibrant.interop.batches.decoding import Decoding, numbers_of
from calibrant.interop.batches.in_memory import labels_of, pieces_of
from calibrant.interop.batches.pieces import Block, Damaged, Piece
from calibrant.interop.batches.sources import as_arrow
from calibrant.sums.kept_rows import Numbers


@dataclass(frozen=True)
class RowReader:
    """What is known of the rows before any is read. Tables are data frames or Arrow, or tuples of arrays side by side.

    Attributes
    ----------
    columns : Columns or None
        The columns that are read; None of arrays, which have no names.
    labels, pos_label
        The class of each column, and the event, as the user says.
    input, rows
        What the numbers are, and what is done with them before they are checked.
    row_key : str or None
        The column of whole numbers by which rows are known, of which no two have the same.
    batch_rows : int
        Rows that are read at a time, at most.
    """

    columns: Columns | None
    labels: Sequence[Any] | None = None
    pos_label: Any = None
    input: Input = "probability"
    rows: Rows = "as-given"
    row_key: str | None = None
    batch_rows: int = 65536

    @property
    def names(self) -> list[str]:
        """The names of all columns that are read, each once."""
        assert self.columns is not None
        return list(dict.fromkeys([*self.columns.names, *([] if self.row_key is None else [self.row_key])]))

    def decoding(self, table: Any) -> Decoding:
        """Return what all batches share, from the first rows that there are."""
        piece = next(piece for piece, _ in self.pieces([table], "the first rows", 0))
        if self.columns is not None:
            said = {"pos_label": self.pos_label, "rows": self.rows}
            return self.columns.decoding(piece, self.labels, is_parsed=False, **said)
        known, event = (
            labels_of(piece, self.labels, self.pos_label),
            None if piece.n_columns is None else self.pos_label,
        )
        return Decoding.of(piece, input=self.input, rows=self.rows, labels=known, pos_label=event)

    def problems(
        self, tables: Iterable[Any], decoding: Decoding, place: str, first: int
    ) -> Iterator[tuple[Problem, int | Numbers]]:
        """Yield batches as problems, with the number of the first row or, of rows with a key, the numbers of all.

        Raises
        ------
        ValueError, TypeError
            If rows are refused; the message names the place, and the row there.
        """
        for piece, number in self.pieces(tables, place, first):
            try:
                problem = decoding.problem(Block(0, (piece,)))
            except (ValueError, TypeError) as error:
                raise piece.said_of(error) from error
            if problem is not None:
                yield problem, numbers_of(number, problem, (piece,))

    def pieces(self, tables: Iterable[Any], place: str, first: int) -> Iterator[tuple[Piece, int | Numbers]]:
        """Yield the rows, so many at a time, and the number of the first or those of all."""
        row = 0
        for table in tables:
            for start in range(0, length(table), self.batch_rows):
                some = part(table, slice(start, start + self.batch_rows))
                piece = (
                    _of_arrays(some)
                    if self.columns is None
                    else piece_of(_batch(some, self.names), self.columns, "", 0)
                )
                number = first + row if self.row_key is None else _whole_numbers(some[self.row_key])
                yield replace(piece, place=place, row=row), number
                row += len(piece)


def length(table: Any) -> int:
    """Return the number of rows of a table, or of arrays side by side."""
    return len(table[0]) if isinstance(table, tuple) else len(table)


def part(table: Any, rows: slice) -> Any:
    """Return some rows."""
    if isinstance(table, tuple):
        return tuple(array[rows] for array in table)
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def _of_arrays(arrays: tuple[Any, ...]) -> Piece:
    (found,) = pieces_of([arrays])
    if isinstance(found, Damaged):
        raise found.error
    return found


def _batch(table: Any, names: Sequence[str]) -> Any:
    """Return these columns as one record batch of Arrow."""
    whole = as_arrow(table)
    if lacking := [name for name in names if name not in whole.schema.names]:
        known = ", ".join(map(repr, whole.schema.names[:12]))
        raise ValueError(
            f"rows must have the column {lacking[0]!r}; got {known}. Write all rows with the same columns."
        )
    (batch,) = whole.select(names).combine_chunks().to_batches()
    return batch


def _whole_numbers(key: Any) -> Numbers:
    """Return the numbers of rows, as the column of their keys has them."""
    number = as_array("row_key", key)
    if number.dtype.kind not in "iu":
        raise TypeError(
            f"row_key must name a column of whole numbers; got {number.dtype}. Number the rows: 0, 1, and so on."
        )
    return number.astype(np.int64)
