"""Pieces: rows as they were read, before anything is known of them but where they stood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

MOST_NUMBERS = 1 << 22
"""Numbers of a block: a few blocks are in memory at a time, also of a thousand columns."""

INDEX = re.compile(r"(at index|in row) (\(?)([0-9]+)")
"""Where a message about rows names one of them."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows of one place: labels, numbers and weights.

    Attributes
    ----------
    truth : ndarray of shape (n,)
        Labels; where there are ``words``, their numbers among these, -1 of a missing one.
    columns : tuple of ndarray
        Columns of numbers, each of shape (n,), or a single table of shape (n, K).
    weight : ndarray of shape (n,) or None
        Weights.
    place : str
        Where the rows stood, such as "part-3.parquet, row group 2".
    row : int
        The number of the first row there.
    words : tuple of str or None
        Labels of text, each once.
    names : tuple of str or None
        Names of the columns.
    """

    truth: Array
    columns: tuple[Array, ...]
    weight: Array | None
    place: str
    row: int
    words: tuple[Any, ...] | None = None
    names: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, rows: slice) -> Piece:
        return replace(
            self,
            truth=self.truth[rows],
            columns=tuple(column[rows] for column in self.columns),
            weight=None if self.weight is None else self.weight[rows],
            row=self.row + (rows.start or 0),
        )

    @property
    def n_columns(self) -> int | None:
        """How many columns the numbers have; None where they are no table."""
        if len(self.columns) > 1:
            return len(self.columns)
        return self.columns[0].shape[1] if self.columns[0].ndim == 2 else None

    @property
    def precision(self) -> np.dtype[Any]:
        """Single precision if all numbers are, else double."""
        single = all(column.dtype.newbyteorder("=").char == "f" for column in self.columns)
        return np.dtype(np.float32 if single else np.float64)

    def said_of(self, error: Exception) -> Exception:
        """Return the error in words that name the place and the row there."""
        return said_at(self.place, self.row, error)


def said_at(place: str, row: int, error: Exception) -> Exception:
    """Return an error in words that name a place, and rows by their numbers there; that of the first row is ``row``."""
    text = INDEX.sub(lambda at: f"{at[1]} {at[2]}{int(at[3]) + row}", str(error))
    kind = type(error) if type(error) in (ValueError, TypeError) else ValueError
    return kind(text if text.startswith(place) else f"{place}: {text}")


@dataclass(frozen=True, eq=False)
class Damaged:
    """Rows that could not be read: so many, if that is known, and the error."""

    error: Exception
    n_rows: int = 0


Found = Piece | Damaged


@dataclass(frozen=True, eq=False)
class Block:
    """Pieces whose rows stand one after the other, of which the first has this number among all; or what was damaged."""

    first: int
    pieces: tuple[Piece, ...]
    damaged: tuple[Damaged, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows, of damaged ones as far as it is known."""
        return sum(map(len, self.pieces)) + sum(one.n_rows for one in self.damaged)

    @property
    def by_piece(self) -> Iterator[Block]:
        """Each piece by itself, with the number of its first row."""
        first = self.first
        for piece in self.pieces:
            yield Block(first, (piece,))
            first += len(piece)


def rows_at_a_time(most: int, n_columns: int | None) -> int:
    """Return how many rows are read together: so many at most, half as many again and again where columns are many."""
    rows = most
    while rows * (n_columns or 1) > MOST_NUMBERS and rows > 1:
        rows //= 2
    return rows


def blocks_of(found: Iterable[Found], most: int) -> Iterator[Block]:
    """Cut pieces into blocks at multiples of a number of rows, counted from the first: however they were cut before."""
    held: list[Piece] = []
    first, n, rows = 0, 0, 0
    for one in found:
        if isinstance(one, Piece):
            rows = rows or rows_at_a_time(most, one.n_columns)
        if isinstance(one, Damaged):
            if held:
                yield Block(first, tuple(held))
            first, held, n = first + n, [], 0
            yield Block(first, (), (one,))
            first += one.n_rows
            continue
        start = 0
        while start < len(one):
            some = one[start : start + rows - (first + n) % rows]
            held.append(some)
            n, start = n + len(some), start + len(some)
            if (first + n) % rows == 0:
                yield Block(first, tuple(held))
                first, held, n = first + n, [], 0
    if held:
        yield Block(first, tuple(held))
