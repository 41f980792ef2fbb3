"""Where pieces come from: files, streams of Arrow, and what a program hands over batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Literal

from calibrant._core.checks import refuse
from calibrant.interop.arrow_batches import Chosen, Columns, Found, Streamed, piece_of, rows_at_a_time
from calibrant.interop.readers import Address, Damaged, File, Reader, files_of, reader_of


class Source(ABC):
    """Batches of Arrow with named columns, which can be asked for again: their ``names``, and what it is called in messages."""

    names: list[str]
    where: str
    reads_once = False
    is_parsed = False
    n_rows: int | None = None

    @abstractmethod
    def pieces(self, columns: Columns, rows: int) -> Iterator[Found]:
        """Yield the rows of these columns, in batches of so many at most if that can be chosen."""


class Files(Source):
    """Files of tables, one after the other."""

    def __init__(self, addresses: Sequence[Address], *, on_error: Literal["raise", "skip"] = "raise") -> None:
        self.files = files_of(addresses)
        first = _first_readable(self.files if on_error == "skip" else self.files[:1])
        self.is_parsed = first.file.kind == "csv"
        if other := next((file.name for file in self.files if (file.kind == "csv") != self.is_parsed), None):
            must, hint = "files of one table must be CSV, or none of them", "Write them in one format"
            refuse(must, got=f"{first.file.name} and {other}", hint=hint)
        self.names, self.where = first.names, first.file.name

    @cached_property
    def n_rows(self) -> int | None:  # type: ignore[override]
        """Number of rows of all files, where each says it."""
        try:
            known = [reader_of(file).n_rows if file.kind == "parquet" else None for file in self.files]
        except (ValueError, OSError):  # it is said where it is read
            return None
        return None if None in known else sum(n for n in known if n)

    def pieces(self, columns: Columns, rows: int) -> Iterator[Found]:
        """Read one file after the other; a file that cannot be read, or lacks a column, is damaged."""
        for file in self.files:
            try:
                reader = reader_of(file)
                require_columns(columns, file.name, reader.names)
            except (ValueError, OSError) as error:
                yield Damaged(error)
                continue
            for one in reader.batches(columns.names, columns.label, rows):
                yield one if isinstance(one, Damaged) else _piece(one.batch, columns, one.place, one.row)


def _first_readable(files: Sequence[File]) -> Reader:
    """Return what reads the first file that can be read; if none can, what is wrong with the last is raised."""
    for file in files[:-1]:
        try:
            return reader_of(file)
        except ValueError:
            continue
    return reader_of(files[-1])


Run = Callable[[list[str], int], Iterable[Any]]
"""Returns the rows of these columns, in tables of so many rows."""


class Tables(Source):
    """Tables of Arrow or data frames, which ``read`` gives each time: a function of the columns and of the rows of a table."""

    def __init__(self, names: Iterable[str], where: str, read: Run, *, reads_once: bool = False) -> None:
        self.names, self.where, self.read, self.reads_once = list(names), where, read, reads_once

    def pieces(self, columns: Columns, rows: int) -> Iterator[Found]:
        """Turn each table into batches of Arrow."""
        yield from pieces_of_tables(map(as_arrow, self.read(columns.names, rows)), columns)


def stream_of(source: Any) -> Tables:
    """Return the tables of an object with ``__arrow_c_stream__``, or the columns that are read of a data set of pyarrow."""
    import pyarrow

    where, opened = f"the {type(source).__name__}", pyarrow.RecordBatchReader.from_stream
    if hasattr(source, "scanner"):
        return Tables(
            source.schema.names, where, lambda names, rows: source.scanner(names, batch_size=rows).to_reader()
        )
    begun = [opened(source)]
    is_reader = isinstance(source, pyarrow.RecordBatchReader)
    names = begun[0].schema.names
    return Tables(names, where, lambda *_: begun.pop() if begun else opened(source), reads_once=is_reader)


def pieces_of_tables(tables: Iterable[Any], columns: Columns, where: str | None = None) -> Iterator[Found]:
    """Yield the batches of tables, which are numbered, or are all of one place."""
    row = 0
    for number, table in enumerate(tables):
        place, row = where or f"batch {number}", row if where else 0
        try:
            require_columns(columns, place, table.schema.names)
        except ValueError as error:
            yield Damaged(error)
            continue
        for batch in table.to_batches() if hasattr(table, "to_batches") else (table,):
            yield _piece(batch, columns, place, row)
            row += len(batch)


def _piece(batch: Any, columns: Columns, place: str, row: int) -> Found:
    """Return the rows of a batch; one whose columns are no labels or numbers is damaged."""
    try:
        return piece_of(batch, columns, place, row)
    except (ValueError, TypeError) as error:
        return Damaged(type(error)(f"{place}: {error}"), len(batch))


def require_columns(columns: Columns, where: str, names: Sequence[str]) -> None:
    """Refuse rows that lack a column."""
    for name in columns.names:
        if name not in names:
            known = ", ".join(map(repr, names[:12]))
            raise ValueError(f"{where} must have the column {name!r}, as the first; it has {known}. Rename it.")


def as_arrow(table: Any) -> Any:
    """Return a table or a record batch of Arrow."""
    import pyarrow

    if isinstance(table, (pyarrow.Table, pyarrow.RecordBatch)):
        return table
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return pyarrow.table(table)
    if hasattr(table, "dtypes") and hasattr(table, "columns"):
        return pyarrow.Table.from_pandas(table, preserve_index=False)
    must = "a batch must be a pair (y_true, y_prob), a table of Arrow or a data frame"
    raise TypeError(f"{must}; got {type(table).__name__}. Convert it.")


def opened(source: Any) -> tuple[Any, Callable[[], Iterable[Any]], bool]:
    """Return the first batch of an iterable or a function, a function that gives all of them, and whether only once."""
    if callable(source):
        given = source()
        if not hasattr(given, "__iter__"):
            raise TypeError(
                f"predictions must be batches that a function returns; it returned {type(given).__name__}. "
                "Return an iterator of pairs (y_true, y_prob)."
            )
        begun = [iter(given)]
        first = next(begun[0], None)
        head = [] if first is None else [first]
        return first, lambda: chain(head, begun.pop()) if begun else source(), False
    batches = iter(source)
    first = next(batches, None)
    if batches is not source:
        return first, lambda: source, False
    rest: Iterable[Any] = chain([] if first is None else [first], batches)
    return first, lambda: rest, True


class OfColumns(Streamed):
    """Predictions in columns with names."""

    def __init__(self, source: Source, columns: Columns, chosen: Chosen) -> None:
        if chosen.row_key is not None:
            raise TypeError(
                f"row_key must be left out of {source.where}, whose rows are numbered as they are read; "
                f"got {chosen.row_key!r}. Sort them by it."
            )
        self.source, self.columns = source, columns
        rows = rows_at_a_time(chosen.batch_rows, len(columns.numbers))
        super().__init__(
            lambda: source.pieces(columns, rows),
            chosen,
            columns,
            is_parsed=source.is_parsed,
            reads_once=source.reads_once,
            n_rows=source.n_rows if chosen.progress else None,
        )

    def __repr__(self) -> str:
        of = self.columns
        shown, n = ", ".join(map(repr, of.numbers[:3])), len(of.numbers)
        more = f", ... ({n} columns)" if n > 3 else ""
        return f"Predictions({self.source.where}, label={of.label!r}, {of.input} {shown}{more})"
