"""From batches of Arrow to pieces: which columns hold the labels, the probabilities and the weights, and their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core.validation import Input
from calibrant.interop.batches.decoding import Decoding
from calibrant.interop.batches.pieces import Array, Piece
from calibrant.interop.columns import Text, Values
from calibrant.interop.file_table import FileTable
from calibrant.interop.files import ForecastTable, choose_columns, select_one


@dataclass(frozen=True)
class Columns:
    """Names of the columns that are read, what the numbers are, and what was guessed, in words."""

    label: str
    numbers: tuple[str, ...]
    weight: str | None
    input: Input
    guessed: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All of them."""
        return [self.label, *self.numbers, *([] if self.weight is None else [self.weight])]

    @classmethod
    def chosen(
        cls,
        names: Sequence[str],
        *,
        label: str | None = None,
        prob: str | Sequence[str] | None = None,
        weight: str | None = None,
        input: Input | None = None,
        where: str,
    ) -> Columns:
        """Choose columns as told, or by their names as the command line does."""
        wanted = prob if prob is None or isinstance(prob, str) else ",".join(prob)
        rest = [name for name in names if name != weight]
        table = FileTable.of_names(rest)
        try:
            found = choose_columns(
                table,
                label=label,
                prob=None if input == "logit" else wanted,
                logit=wanted if input == "logit" else None,
                where=where,
            )
            if weight is not None:
                weight = select_one(names, weight, "weight=", where=where)
        except ValueError as error:
            raise ValueError(in_python(str(error))) from None
        if input is not None and input != found.input:
            raise ValueError(
                f"input must be that of the columns; got {input!r}, and {where} has {', '.join(found.guessed)}. "
                "Name the columns with prob=."
            )
        assert found.label_column is not None
        return cls(found.label_column, found.forecast_columns, weight, found.input, found.guessed)

    def labels_of(self, piece: Piece, labels: Sequence[Any] | None, *, is_parsed: bool) -> list[Any] | None:
        """Return the class of each column: those given, or what the names of the columns say; None for 0, 1, ..."""
        if labels is not None:
            return list(labels)
        truth = labels_as_read(piece, is_parsed=is_parsed)
        names = tuple(piece.names or self.numbers)
        table = FileTable({"label": Values(truth)})
        try:
            found = ForecastTable(table, "label", names if len(names) > 1 else ("p",), self.input, ()).labels()
        except ValueError as error:
            raise ValueError(in_python(str(error))) from None
        return found

    def decoding(
        self, piece: Piece, labels: Sequence[Any] | None, *, is_parsed: bool, pos_label: Any = None, **options: Any
    ) -> Decoding:
        """Return what all batches share, from the first piece."""
        from calibrant.interop.batches.in_memory import labels_of

        if piece.words is not None and (piece.truth < 0).any():
            raise _missing(int(np.argmax(piece.truth < 0)))
        known = self.labels_of(piece, labels, is_parsed=is_parsed)
        seen = Piece(labels_as_read(piece, is_parsed=is_parsed), piece.columns, None, piece.place, piece.row)
        found = labels_of(seen, known, pos_label)
        if found is None and piece.words is not None:  # numbers of a CSV file
            found = list(range(piece.n_columns or 2))
        event = None if piece.n_columns is None else pos_label
        return Decoding.of(piece, input=self.input, labels=found, pos_label=event, is_parsed=is_parsed, **options)


def labels_as_read(piece: Piece, *, is_parsed: bool) -> Array:
    """Return labels; words of a CSV file are numbers or truth values if all are."""
    if piece.words is None:
        return piece.truth
    words = Text(list(piece.words)).values() if is_parsed else np.array(piece.words)
    return words[piece.truth[piece.truth >= 0]]


def in_python(message: str) -> str:
    """Return a message to users of the command line in the words of the function."""
    message = message.replace("--prob or --logit", "prob=")
    for word in ("label", "prob", "logit", "weight"):
        message = message.replace(f"--{word}", "prob=" if word == "logit" else f"{word}=")
    return message.replace("--classes A,B,...", "labels=")


def piece_of(batch: Any, columns: Columns, place: str, row: int) -> Piece:
    """Return the rows of a record batch that holds the columns chosen; numbers without gaps are not copied."""
    truth, words = _labels(batch.column(columns.label))
    numbers = tuple(_numbers(batch.column(name), name) for name in columns.numbers)
    names = columns.numbers
    if len(numbers) == 1 and numbers[0].ndim == 2:
        names = tuple(f"{names[0]}_{k}" for k in range(numbers[0].shape[1]))
    weight = None if columns.weight is None else _numbers(batch.column(columns.weight), columns.weight)
    return Piece(truth, numbers, weight, place, row, words, names)


def _labels(column: Any) -> tuple[Array, tuple[Any, ...] | None]:
    from pyarrow import types

    kind = column.type
    if types.is_null(kind):
        raise _missing(0)
    if not types.is_dictionary(kind) and (types.is_string(kind) or types.is_large_string(kind)):
        column = column.dictionary_encode()
        kind = column.type
    if types.is_dictionary(kind):
        words = column.dictionary.to_pylist()
        if all(isinstance(word, str) for word in words):
            return column.indices.fill_null(-1).to_numpy(zero_copy_only=False), tuple(words)
        column = column.cast(kind.value_type)
    return column.to_numpy(zero_copy_only=False), None


def _missing(row: int) -> ValueError:
    return ValueError(
        f"y_true must hold a label in each row; got a missing one at index {row}. "
        "Drop these rows, or leave out what is wrong with on_error='skip'."
    )


def _numbers(column: Any, name: str) -> Array:
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_fixed_size_list(kind):
        if column.null_count:
            raise ValueError(
                f"the column {name!r} must have a list in each row; {column.null_count} are missing. Drop these rows."
            )
        values = _numbers(column.flatten(), name)
        return values.reshape(-1, kind.list_size)
    if not (types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind) or types.is_boolean(kind)):
        raise TypeError(f"the column {name!r} must hold numbers; got {kind}. Correct it, or choose others with prob=.")
    if types.is_decimal(kind):
        column = column.cast(pyarrow.float64())
    found: Array = column.to_numpy(zero_copy_only=False)
    return found
