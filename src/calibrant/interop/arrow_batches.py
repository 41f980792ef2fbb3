"""Batches of pairs: labels and probabilities, as arrays, lists or data frames."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from calibrant._core.arrays import NDArray, as_array, as_double, columns_of, some
from calibrant._core.border import TRUTH_VALUES, Input, as_labels, as_problem
from calibrant._core.checks import are_words, progress_bar, refuse, require
from calibrant._core.rows import DOUBLE, BinaryProblem, M, Problem, Read, Rows
from calibrant._core.threads import ahead, in_order, n_processors
from calibrant.binning.bins import CHUNK
from calibrant.interop.columns import Array, FileTable, Text, Values, in_numpy, in_python, is_figure
from calibrant.interop.readers import Damaged
from calibrant.interop.tables import ForecastTable, choose_columns, select_one
from calibrant.sums.draws import Numbers
from calibrant.sums.reading import FEW, Predictions

# Pieces: rows as they were read, before anything is known of them but where they stood


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
    key : ndarray of shape (n,) or None
        Numbers of the rows among all, where a column has them.
    """

    truth: Array
    columns: tuple[Array, ...]
    weight: Array | None
    place: str
    row: int
    words: tuple[Any, ...] | None = None
    names: tuple[Any, ...] | None = None
    key: Numbers | None = None

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, rows: slice) -> Piece:
        return replace(
            self,
            truth=self.truth[rows],
            columns=tuple(column[rows] for column in self.columns),
            weight=None if self.weight is None else self.weight[rows],
            key=None if self.key is None else self.key[rows],
            row=self.row + (rows.start or 0),
        )

    @property
    def n_columns(self) -> int | None:
        """How many columns the numbers have; None where they are no table."""
        if len(self.columns) > 1:
            return len(self.columns)
        return self.columns[0].shape[1] if self.columns[0].ndim == 2 else None

    @property
    def schema(self) -> Schema:
        """What all pieces must have alike; the precision is single if all numbers are, else double."""
        single = all(column.dtype.newbyteorder("=").char == "f" for column in self.columns)
        kind = np.dtype(np.float32 if single else np.float64)
        return Schema(self.n_columns, kind, self.weight is not None, self.words is not None)

    def said_of(self, error: Exception) -> Exception:
        """Return the error in words that name the place and the row there."""
        return said_at(self.place, self.row, error)


def said_at(place: str, row: int, error: Exception) -> Exception:
    """Return an error in words that name a place, and rows by their numbers there; that of the first row is ``row``."""
    text = INDEX.sub(lambda at: f"{at[1]} {at[2]}{int(at[3]) + row}", str(error))
    kind = type(error) if type(error) in (ValueError, TypeError) else ValueError
    return kind(text if text.startswith(place) else f"{place}: {text}")


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

    def numbers_of(self, problem: Problem) -> int | Numbers:
        """Return the number of the first row of the problem made of it; or of each, with keys or without rows of no weight."""
        keys = [piece.key for piece in self.pieces if piece.key is not None]
        if problem.size == self.n_rows:
            return _joined(keys) if keys else self.first
        kept = np.flatnonzero(_joined([np.asarray(piece.weight) for piece in self.pieces]))
        return _joined(keys)[kept] if keys else self.first + kept


def rows_at_a_time(most: int, n_columns: int | None) -> int:
    """Return how many rows are read together: so many at most, half as many again and again where columns are many."""
    rows = most
    while rows * (n_columns or 1) > MOST_NUMBERS and rows > 1:
        rows //= 2
    return rows


def blocks_of(found: Iterable[Found], most: int, first: int = 0) -> Iterator[Block]:
    """Cut pieces into blocks at multiples of a number of rows, counted from ``first``: however they were cut before."""
    held: list[Piece] = []
    n, rows = 0, 0
    for one in found:
        if isinstance(one, Damaged):
            if held:
                yield Block(first, tuple(held))
            first, held, n = first + n, [], 0
            yield Block(first, (), (one,))
            first += one.n_rows
            continue
        start, rows = 0, rows or rows_at_a_time(most, one.n_columns)
        while start < len(one):
            some = one[start : start + rows - (first + n) % rows]
            held.append(some)
            n, start = n + len(some), start + len(some)
            if (first + n) % rows == 0:
                yield Block(first, tuple(held))
                first, held, n = first + n, [], 0
    if held:
        yield Block(first, tuple(held))


# From pieces to problems: what is known of all batches, and how a block of them becomes a batch that is checked


class Schema(NamedTuple):
    """What all batches must have alike: how many columns (None of single scores), of which precision, and what beside."""

    n_columns: int | None
    precision: np.dtype[Any]
    has_weight: bool
    has_words: bool

    def __str__(self) -> str:
        columns = "one column" if self.n_columns is None else f"{self.n_columns} columns"
        said = f"{columns} of {self.precision}, labels that are {'text' if self.has_words else 'numbers'}"
        return f"{said}, and weights" if self.has_weight else said


SINGLE = np.dtype(np.float32)

TILE = 1 << 12
"""Rows of a table that are filled at a time, column after column: they stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Decoding:
    """What all batches share: their schema, the ``labels`` of the columns or None for 0, 1, ..., and what the numbers are.

    ``pos_label`` is the event of two columns, where it is not the second. ``is_parsed`` says whether words are what stands in
    a CSV file: 1 may be a number. ``names`` are those of the columns, if they have any.
    """

    schema: Schema
    input: Input = "probability"
    rows: Rows = "as-given"
    labels: Sequence[Any] | None = None
    pos_label: Any = None
    is_parsed: bool = False
    names: tuple[Any, ...] | None = None

    def problem(self, block: Block) -> Problem | None:
        """Return the rows of a block as a valid problem; None where none of them has a weight."""
        for piece in block.pieces:
            self._require_same(piece)
        weight = _joined([np.asarray(piece.weight) for piece in block.pieces]) if self.schema.has_weight else None
        is_coded = self.schema.has_words
        weighs = weight is None or weight.dtype.kind not in "biuf" or bool((weight != 0).any())
        event = self.pos_label
        problem = as_problem(
            _joined([self._coded(piece) for piece in block.pieces]),
            self._values(block.pieces),
            sample_weight=weight if weighs else None,
            labels=None if is_coded else self.labels,
            pos_label=self._places[event] if is_coded and event is not None else event,
            input=self.input,
            rows=self.rows,
        )
        if is_coded:
            classes = self._classes[problem.classes.astype(np.intp)]
            event = {"name": f"class {classes[1]}"} if isinstance(problem, BinaryProblem) else {}
            problem = replace(problem, classes=classes, **event)
        return problem if weighs else None

    def _require_same(self, piece: Piece) -> None:
        ours, theirs = self.schema, piece.schema
        if ours in (theirs, theirs._replace(precision=DOUBLE)):  # single precision is double without loss
            if self.names and piece.names and self.names != piece.names:
                known, came = (", ".join(map(repr, names[:5])) for names in (self.names, piece.names))
                refuse(f"columns must be those of the first batch, {known}", got=came, hint="Put them in that order")
            return
        is_wider = ours == theirs._replace(precision=SINGLE)
        first = "Name one of double precision before the others" if is_wider else "Convert them to one schema"
        raise ValueError(f"all batches must have the columns of the first, {ours}; got {theirs}. {first}.")

    def _coded(self, piece: Piece) -> Array:
        """Return labels, of words the numbers of their classes."""
        if piece.words is None:
            return piece.truth
        place = np.array([*(self._places.get(self._key(word), -1) for word in piece.words), -1], dtype=np.intp)
        code = place[piece.truth]
        if (code < 0).any():
            row = int(np.argmax(code < 0))
            word = "a missing label" if piece.truth[row] < 0 else repr(piece.words[piece.truth[row]])
            hint = "Check labels=, or the column that holds the truth"
            refuse(f"y_true must be among the classes {some(self._classes)}", got=f"{word} at index {row}", hint=hint)
        return code

    @cached_property
    def _classes(self) -> NDArray[np.generic]:
        return np.array(self.labels)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {label: place for place, label in enumerate(self._classes.tolist())}

    def _key(self, word: str) -> Any:
        """Return what a cell of a CSV file stands for, where labels are numbers or truth values."""
        kind = self._classes.dtype.kind if self.is_parsed else "U"
        if kind in "iuf" and is_figure(word):
            if word.strip().lstrip("+-").isdigit():
                return int(word)  # as a float it would be its neighbour beyond 2**53
            return int(float(word)) if float(word).is_integer() else word
        return TRUTH_VALUES.get(word.lower(), word) if kind == "b" else word

    def _values(self, pieces: Sequence[Piece]) -> Array:
        """Return the numbers as one array, row after row; a single piece of one column or table as it stands."""
        precision = self.schema.precision
        change = as_double if precision == DOUBLE else np.asarray
        if len(pieces[0].columns) == 1:
            return _joined([change(piece.columns[0]) for piece in pieces])
        table, start = np.empty((sum(map(len, pieces)), len(pieces[0].columns)), dtype=precision), 0
        for piece in pieces:
            for at in range(0, len(piece), TILE):
                into = table[start + at : start + min(at + TILE, len(piece))]
                for k, column in enumerate(piece.columns):
                    into[:, k] = change(column[at : at + TILE])
            start += len(piece)
        return table


def _joined(parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


# From batches of Arrow to pieces: which columns hold the labels, the probabilities and the weights, and their numbers


@dataclass(frozen=True)
class Columns:
    """Names of the columns that are read, what the numbers are, and what was guessed, in words."""

    label: str
    numbers: tuple[str, ...]
    weight: str | None
    input: Input
    guessed: tuple[str, ...] = ()
    key: str | None = None

    @property
    def names(self) -> list[str]:
        """All of them, each once."""
        others = [name for name in (self.weight, self.key) if name is not None]
        return list(dict.fromkeys([self.label, *self.numbers, *others]))


def labels_as_read(piece: Piece, *, is_parsed: bool) -> Array:
    """Return labels; words of a CSV file are numbers or truth values if all are."""
    if piece.words is None:
        return piece.truth
    words = Text(list(piece.words)).values() if is_parsed else np.array(piece.words)
    return words[piece.truth[piece.truth >= 0]]


def piece_of(batch: Any, columns: Columns, place: str, row: int) -> Piece:
    """Return the rows of a record batch that holds the columns chosen; numbers without gaps are not copied."""
    truth, words = _labels(batch.column(columns.label))
    numbers = tuple(_numbers(batch.column(name), name) for name in columns.numbers)
    names = columns.numbers
    if len(numbers) == 1 and numbers[0].ndim == 2:
        names = tuple(f"{names[0]}_{k}" for k in range(numbers[0].shape[1]))
    weight = None if columns.weight is None else _numbers(batch.column(columns.weight), columns.weight)
    key = None if columns.key is None else _whole_numbers(batch.column(columns.key))
    return Piece(truth, numbers, weight, place, row, words, names, key)


def _whole_numbers(key: Any) -> Numbers:
    found = in_numpy(key)  # of a column with gaps they are floats
    if found.dtype.kind not in "iu":
        hint = "Number the rows: 0, 1, and so on"
        refuse("row_key must name a column of whole numbers", got=str(found.dtype), hint=hint, error=TypeError)
    return np.asarray(found.astype(np.int64))


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
        if are_words(words):
            codes = column.indices.cast("int32")  # those of polars have no sign
            return in_numpy(codes.fill_null(-1)), tuple(words)
        column = column.cast(kind.value_type)
    return in_numpy(column), None


def _missing(row: int) -> ValueError:
    return ValueError(
        f"y_true must hold a label in each row; got a missing one at index {row}. "
        "Drop these rows, or leave out what is wrong with on_error='skip'."
    )


def _numbers(column: Any, name: str) -> Array:
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_fixed_size_list(kind):
        if column.null_count:
            must = f"the column {name!r} must have a list in each row"
            refuse(must, given=f"{column.null_count} are missing", hint="Drop these rows")
        return _numbers(column.flatten(), name).reshape(-1, kind.list_size)
    if not (types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind) or types.is_boolean(kind)):
        raise TypeError(f"the column {name!r} must hold numbers; got {kind}. Correct it, or choose others with prob=.")
    if types.is_decimal(kind):
        column = column.cast(pyarrow.string()).cast(pyarrow.float64())  # at once it is a unit off
    return in_numpy(column)


# What the user says of predictions


def columns_told(
    names: Iterable[str], prob: str | Sequence[str] | None, *, is_logit: bool, where: str, **said: Any
) -> ForecastTable:
    """Choose columns of these names as a user of Python tells, or by their names."""
    said["logit" if is_logit else "prob"] = prob
    try:
        return choose_columns(FileTable.of_names(names), where=where, **said)
    except ValueError as error:
        raise ValueError(in_python(str(error))) from None


OnError = Literal["raise", "skip"]


@dataclass(frozen=True)
class Chosen:
    """What the user says of predictions; see `calibrant.predictions`."""

    label: str | None = None
    prob: str | Sequence[str] | None = None
    weight: str | None = None
    labels: Sequence[Any] | None = None
    pos_label: Any = None
    input: Input | None = None
    rows: Rows = "as-given"
    row_key: str | None = None
    on_error: OnError = "raise"
    batch_rows: int = CHUNK
    progress: bool = False

    def columns(self, names: Sequence[str], where: str) -> Columns:
        """Choose columns as told, or by their names, but for the one that numbers the rows."""
        if self.row_key is not None:
            select_one(names, self.row_key, "row_key=", where=where)
        weight = None if self.weight is None else select_one(names, self.weight, "weight=", where=where)
        rest = [name for name in names if name not in (self.row_key, self.weight)]
        found = columns_told(rest, self.prob, is_logit=self.input == "logit", where=where, label=self.label)
        if self.input not in (None, found.input):
            got = f"{self.input!r}, and {where} has {', '.join(found.guessed)}"
            refuse("input must be that of the columns", got=got, hint="Name the columns with prob=")
        assert found.label_column is not None
        return Columns(found.label_column, found.forecast_columns, weight, found.input, found.guessed, self.row_key)

    def decoding(self, piece: Piece, columns: Columns | None, *, is_parsed: bool = False) -> Decoding:
        """Return what all batches share, from the first piece."""
        labels, event = self.labels, None if piece.n_columns is None else self.pos_label
        seen = piece
        if columns is not None:
            if piece.words is not None and (piece.truth < 0).any():
                raise _missing(int(np.argmax(piece.truth < 0)))
            truth, names = labels_as_read(piece, is_parsed=is_parsed), tuple(piece.names or columns.numbers)
            if labels is None:  # what the names of the columns say
                table, named = FileTable({"label": Values(truth)}), names if len(names) > 1 else ("p",)
                try:
                    labels = ForecastTable(table, "label", named, columns.input, ()).labels()
                except ValueError as error:
                    raise ValueError(in_python(str(error))) from None
            seen = replace(piece, truth=truth, words=None, names=None)
        found = labels_of(seen, labels, self.pos_label)
        if found is None and piece.words is not None:  # numbers or truth values of a CSV file
            found = [False, True] if seen.truth.dtype.kind == "b" else list(range(piece.n_columns or 2))
        kind = self.input or "probability" if columns is None else columns.input
        return Decoding(piece.schema, kind, self.rows, found, event, is_parsed, piece.names)


# Predictions that are read piece by piece, block by block, once for each question


AHEAD = 2
"""Blocks that are read before they are asked for."""

Batch = tuple[Problem, int | Numbers]
"""A batch, and the number of its first row; or of each, where some weigh nothing."""


class Streamed(Predictions):
    """Predictions whose pieces a function gives anew, each time it is called.

    Parameters
    ----------
    pieces : callable
        Returns an iterator of pieces, and of what is damaged.
    chosen : Chosen
        What the user says of them.
    columns : Columns, optional
        The columns that are read, where they have names.
    is_parsed : bool, default=False
        Whether words of labels are what stands in a CSV file.
    reads_once : bool, default=False
        Whether the pieces can be had once alone.
    n_rows : int, optional
        Number of rows, if it is known, for the bar.
    """

    def __init__(
        self,
        pieces: Callable[[], Iterator[Found]],
        chosen: Chosen,
        columns: Columns | None = None,
        *,
        is_parsed: bool = False,
        reads_once: bool = False,
        n_rows: int | None = None,
    ) -> None:
        self._pieces, self._chosen, self._columns = pieces, chosen, columns
        self._is_parsed, self._reads_once, self._n_rows = is_parsed, reads_once, n_rows
        self._rest: Iterator[Block] | None = None
        self._is_all = self._was_read = False
        self._wrong: Exception = ValueError(
            "predictions must hold at least one row; got none, or none with a weight. Check what they are read from."
        )

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if it is known: once they were read it is, those left out with it as far as they are known."""
        return sum(block.n_rows for block in self._first_blocks) if self._is_all else self._n_rows

    # What is known before all rows are read

    def head(self) -> Problem:
        """Return the first rows that are as they must be."""
        return self._head

    @cached_property
    def _head(self) -> Problem:
        for block in self._first_blocks:
            for problem, _ in self._batches(block)[0]:
                return problem
        raise self._wrong

    @cached_property
    def _decoding(self) -> Decoding:
        for block in self._first_blocks:
            for damaged in block.damaged:
                self._pass_over(damaged.error)
            for piece in block.pieces:
                try:
                    return self._chosen.decoding(piece, self._columns, is_parsed=self._is_parsed)
                except (ValueError, TypeError) as error:
                    self._pass_over(piece.said_of(error))
        raise self._wrong

    def _pass_over(self, error: Exception) -> None:
        """Raise an error, unless what is wrong is left out; then it is raised if nothing else is left."""
        if self._chosen.on_error == "raise":
            raise error
        self._wrong = error

    @cached_property
    def _first_blocks(self) -> list[Block]:
        """Begin to read: the first blocks, with more rows than are few, or all there are."""
        held: list[Block] = []
        blocks = self._blocks()
        for block in blocks:
            held.append(block)
            if sum(len(piece) for one in held for piece in one.pieces) > FEW:
                self._rest = blocks
                return held
        self._is_all = True
        return held

    @property
    def is_many(self) -> bool:
        """Whether there are more rows than are few, which the first blocks tell."""
        return bool(self._first_blocks) and not self._is_all

    # Reading

    def reduce(self, read: Read[M]) -> M:
        """Read the batches by as many threads as there are processors, and add up what they gave in their order."""

        def work(block: Block) -> tuple[list[M], int, int]:
            batches, pieces, rows = self._batches(block)
            return [read(problem, first) for problem, first in batches], pieces, rows

        total: M | None = None
        pieces = rows = 0
        for found, some_pieces, some_rows in in_order(work, self._again(), n_processors()):
            pieces, rows = pieces + some_pieces, rows + some_rows
            for one in found:
                total = one if total is None else total + one
        self.left_out = pieces, rows
        if total is None:
            raise self._wrong
        return total

    def _batches(self, block: Block) -> tuple[list[Batch], int, int]:
        """Return the problems of a block with the numbers of their first rows, and how many pieces and rows are left out.

        A block that is wrong is read piece by piece, to name the one that is wrong, or to leave it out.
        """
        if block.damaged:
            self._pass_over(block.damaged[0].error)
            return [], len(block.damaged), block.n_rows
        decoding = self._decoding
        try:
            problem = decoding.problem(block)
        except (ValueError, TypeError) as error:
            if len(block.pieces) == 1:
                self._pass_over(block.pieces[0].said_of(error))
                return [], 1, block.n_rows
            found, pieces, rows = zip(*map(self._batches, block.by_piece), strict=True)
            if self._chosen.on_error == "raise":
                raise
            return list(chain.from_iterable(found)), sum(pieces), sum(rows)
        return [] if problem is None else [(problem, block.numbers_of(problem))], 0, 0

    def _blocks(self) -> Iterator[Block]:
        return ahead(blocks_of(self._pieces(), self._chosen.batch_rows), AHEAD)

    def _again(self) -> Iterator[Block]:
        """Yield all blocks: those that were read already, and the rest; or all anew."""
        first = self._first_blocks
        if self._is_all:
            yield from first
            return
        held: list[Block] = []
        if self._rest is not None:
            held, rest, self._rest = first, self._rest, None
        elif self._reads_once:
            hint = "Pass a function that returns a fresh iterator, or ask for all figures in one call"
            refuse("predictions must be read again for this", got="an iterator, which can be read once", hint=hint)
        else:
            rest = self._blocks()
        n = 0
        with (
            progress_bar(self._n_rows, show=self._chosen.progress, desc="reading", unit="row") as advance,
            closing(rest),  # type: ignore[type-var]
        ):
            for block in chain(held, rest):
                yield block
                n += block.n_rows
                advance(block.n_rows)
        if self._was_read and n != self._n_rows:
            must = "predictions must hold the same rows each time they are read"
            refuse(must, got=f"{n} after {self._n_rows}", hint="Pass a function that returns a fresh iterator")
        self._was_read, self._n_rows = True, n


Pair = tuple[Any, ...]
"""Labels, probabilities, and weights if there are any."""

Pairs = Iterable[Pair] | Callable[[], Iterable[Pair]]


class Batches(Streamed):
    """Predictions that are given as pairs: a collection of them, an iterator, or a function that returns a fresh iterator.

    Parameters
    ----------
    batches : iterable of tuples, or callable that returns one
        Labels, probabilities, and weights if there are any, of each batch.
    chosen : Chosen, optional
        What the user says of them; or its fields as keywords.
    reads_once : bool, default=False
        Whether the batches can be had once alone, as those of an iterator.
    """

    def __init__(self, batches: Pairs, chosen: Chosen | None = None, *, reads_once: bool = False, **said: Any) -> None:
        chosen = Chosen(**said) if chosen is None else chosen
        for name in ("label", "prob", "weight", "row_key"):
            said, hint = getattr(chosen, name), "Pairs have no named columns"
            require(said is None, f"{name} must be left out of pairs", value=said, hint=hint, error=TypeError)
        super().__init__(
            lambda: pieces_of(batches() if callable(batches) else batches),
            chosen,
            reads_once=reads_once or (not callable(batches) and iter(batches) is batches),
        )


def pieces_of(pairs: Iterable[Pair]) -> Iterator[Found]:
    """Turn pairs into pieces; a batch without rows is none."""
    for number, pair in enumerate(pairs):
        place = f"batch {number}"
        n_parts = len(pair) if isinstance(pair, (tuple, list)) else None
        if n_parts not in (2, 3):
            got = type(pair).__name__ + ("" if n_parts is None else f" of length {n_parts}")
            hint = "Pass a tuple of these"
            refuse(f"{place} must be y_true and y_prob, perhaps with weights", got=got, hint=hint, error=TypeError)
        truth, prob = pair[:2]
        if not (_is_empty(truth) and _is_empty(prob)):
            yield _piece(place, *pair)


def _is_empty(values: Any) -> bool:
    return hasattr(values, "__len__") and not len(values)


def _piece(place: str, truth: Any, prob: Any, weight: Any = None) -> Found:
    n = len(truth) if hasattr(truth, "__len__") else 0
    try:
        values, found = as_array("y_prob", prob), as_labels(truth, "y_true")
        weights = None if weight is None else as_array("sample_weight", weight)
        if not (found.ndim and values.ndim):
            must = "y_true and y_prob must be arrays with a place for each row"
            refuse(must, got="a single value", hint="Pass lists", error=TypeError)
        if len(found) != len(values):
            got = f"{len(found)} and {len(values)}"
            refuse("y_true and y_prob must have the same number of rows", got=got, hint="Pass one label a row")
        if weights is not None and weights.shape != found.shape:
            got = f"shape {weights.shape}"
            refuse(f"sample_weight must hold a weight for each of the {len(found)} rows", got=got, hint="Pass as many")
    except (ValueError, TypeError) as error:
        return Damaged(type(error)(f"{place}: {error}"), n)
    names = columns_of(prob)
    return Piece(found, (values,), weights, place, 0, names=None if names is None else tuple(names))


def labels_of(piece: Piece, labels: Sequence[Any] | None, pos_label: Any = None) -> list[Any] | None:
    """Return the class of each column for all batches, from the first one: those given, its columns' names, or 0, 1, ...

    Of one column it is no event and the event, which may be named.
    """
    n, k = len(piece), piece.n_columns
    names = None if piece.names is None else list(piece.names)
    # Probabilities that are wrong are no matter of the classes.
    even = np.full(n, 0.5) if k is None else np.full((n, k), 1.0 / k)
    event = pos_label if k is None else None
    if labels is None and event is not None and not (as_labels(piece.truth, "y_true") != event).any():
        must, hint = "the first batch must show both labels, or labels= name them", f"Pass labels=[other, {event!r}]"
        require(event in (0, 1), must, got=f"{event!r} alone", hint=hint)
        labels = [type(event)(1 - event), event]
    classes = as_problem(piece.truth, even, labels=labels, column_names=names, pos_label=event).classes
    return None if labels is None and k is not None and np.array_equal(classes, np.arange(k)) else classes.tolist()
