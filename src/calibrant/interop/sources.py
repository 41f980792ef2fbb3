"""Where pieces come from: files, streams of Arrow, and what a program hands over batch by batch."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from io import StringIO
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

import numpy as np

from calibrant.interop.arrow_batches import Columns, Damaged, Found, Piece, in_python, piece_of
from calibrant.interop.columns import FileTable, Text, first_line
from calibrant.interop.local_files import (
    STREAMED,
    fits,
    is_deep,
    is_table,
    local_files,
    local_path,
    split,
    warn_of_unread,
)
from calibrant.interop.tables import arrow_of, format_of, no_number, require_csv
from calibrant.interop.writing import head_of, require_closed_quotes, whole_file, write_rows

# Where tables are: paths, folders, patterns and addresses of other file systems, as files in the order of their names


Address = str | os.PathLike[str]


@dataclass(frozen=True)
class File:
    """A file of a file system of pyarrow, and what it is called in messages."""

    system: Any
    path: str
    name: str
    is_local: bool = False

    @property
    def kind(self) -> str:
        """Its format, by its ending."""
        kind = format_of(self.path)
        if kind == "npz":
            raise ValueError(
                f"files that are read in batches must not be NPZ; got {self.name}. Write Parquet, or read it whole."
            )
        return kind

    @property
    def identity(self) -> tuple[str, str]:
        """What tells it from other files, whatever it was called."""
        return ("", os.path.realpath(self.path)) if self.is_local else (self.system.type_name, self.path)


def files_of(source: Address | Sequence[Address]) -> list[File]:
    """List the files of paths, folders, patterns and addresses such as ``s3://bucket/folder``, each of them once.

    Files of a folder are those that end as tables do, in its folders as well, but for hidden ones; by their names.
    """
    given = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    found: dict[tuple[str, str], File] = {}
    for address in given:
        if not os.fspath(address):
            raise FileNotFoundError(
                "a path must name a file or a folder; got an empty text. Name one, '.' for this folder."
            )
        for file in _files(os.fspath(address)):
            found.setdefault(file.identity, file)
    if not found:
        raise ValueError("predictions must be in at least one file; got an empty list. Pass paths.")
    return list(found.values())


def _files(address: str) -> Iterator[File]:
    path = local_path(address)
    if path is None:
        yield from _remote_files(address)
        return
    from pyarrow import fs

    system, files = fs.LocalFileSystem(), local_files(path)
    is_file = [file.as_posix() for file in files] == [path.absolute().as_posix()]
    _require_found(address, files, is_there=os.path.lexists(path) or bool(split(_posix(path), os.path.lexists)[1]))
    warn_of_unread(address, path)
    for file in files:
        yield File(system, file.as_posix(), address if is_file else str(file), is_local=True)


def _posix(path: Path) -> PurePosixPath:
    return PurePosixPath(path.absolute().as_posix())


def _require_found(address: str, files: Sequence[object], *, is_there: bool) -> None:
    if not is_there:
        raise FileNotFoundError(f"the file must exist; got {address}. Check the path.")
    if not files:
        raise FileNotFoundError(
            f"{address} must hold files that end in {', '.join(STREAMED)}; it holds none. Check the path."
        )


def _remote_files(address: str) -> Iterator[File]:
    from pyarrow import fs

    system, path = _system(address)

    def exists(path: str) -> bool:
        return bool(system.get_file_info(path).type != fs.FileType.NotFound)

    start, pattern = split(PurePosixPath(path), exists)
    info = system.get_file_info(str(start))
    if info.type == fs.FileType.File and not pattern:
        yield File(system, path, address)
        return
    below = []
    if info.type == fs.FileType.Directory:
        selector = fs.FileSelector(str(start), recursive=is_deep(pattern) or not pattern)
        below = [PurePosixPath(one.path) for one in system.get_file_info(selector) if one.type == fs.FileType.File]
    relative = ((one, one.relative_to(start)) for one in sorted(below, key=str))
    found = [one for one, name in relative if (fits(name.parts, pattern) if pattern else is_table(name))]
    _require_found(address, found, is_there=bool(pattern) or info.type != fs.FileType.NotFound)
    for one in found:
        yield File(system, str(one), str(one))


def _system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path there; of fsspec where pyarrow has none of that name."""
    from pyarrow import fs

    try:
        system, path = fs.FileSystem.from_uri(address)
    except (ValueError, NotImplementedError) as error:  # pyarrow's for what it does not know
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ValueError(
                f"an address must be one that pyarrow or fsspec knows; got {address}: {error}. pip install fsspec."
            ) from error
        try:
            known, path = url_to_fs(address)
        except (ValueError, ImportError) as unknown:
            raise ValueError(
                f"an address must be one that pyarrow or fsspec knows; got {address}: {unknown}. Check it, or install that."
            ) from unknown
        system = fs.PyFileSystem(fs.FSSpecHandler(known))
    return system, path


# Files as batches of Arrow, with nothing more in memory than a few of them


MOST_BEFORE = 1 << 26
"""Bytes in which the first lines of a CSV file are looked for."""

QUEUED = 1 << 22
"""Bytes of a file that are read at a time."""


class BatchRows(NamedTuple):
    """A record batch, where it stands, and the number of its first row there."""

    batch: Any
    place: str
    row: int


class Reader(ABC):
    """What reads a file. Its ``schema`` has the names and types of the columns, those of a CSV file text."""

    schema: Any
    n_rows: int | None = None
    separator = ","

    def __init__(self, file: File) -> None:
        self.file = file

    @property
    def names(self) -> list[str]:
        """Names of its columns."""
        return list(self.schema.names)

    @abstractmethod
    def batches(self, columns: Sequence[str], label: str | None, rows: int) -> Iterator[BatchRows | Damaged]:
        """Yield these columns in batches of so many rows at most, labels of text by codes."""

    def whole(self, rows: int) -> Iterator[BatchRows | Damaged]:
        """Yield all columns as they stand in the file, those of a CSV file as text."""
        return self.batches(self.names, None, rows)

    def damaged(self, error: Exception, place: str = "", n_rows: int = 0) -> Damaged:
        """Return what cannot be read, with words that name it."""
        where = f"{self.file.name}, {place}" if place else self.file.name
        return Damaged(
            ValueError(f"{where} must be readable; it is not: {first_line(error)}. Was it cut or damaged?"), n_rows
        )


class ParquetReader(Reader):
    """A Parquet file: row group by row group, of each the columns that are asked for."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self.metadata: Any = None
        with self._open() as opened:
            self.metadata = opened.metadata
        self.schema, self.n_rows = self.metadata.schema.to_arrow_schema(), int(self.metadata.num_rows)

    def _open(self, label: str | None = None) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(
            self.file.system.open_input_file(self.file.path),
            metadata=self.metadata,
            buffer_size=QUEUED,
            pre_buffer=False,
            read_dictionary=None if label is None else [label],
        )

    def batches(self, columns: Sequence[str], label: str | None, rows: int) -> Iterator[BatchRows | Damaged]:
        """Read one row group after the other; one that is damaged is passed over."""
        try:
            file = self._open(label)
        except Exception as error:
            yield self.damaged(error)
            return
        with file:
            for group in range(file.num_row_groups):
                place, row = f"row group {group}", 0
                try:
                    for batch in file.iter_batches(batch_size=rows, row_groups=[group], columns=list(columns)):
                        yield BatchRows(batch, f"{self.file.name}, {place}", row)
                        row += len(batch)
                except Exception as error:
                    yield self.damaged(error, place, file.metadata.row_group(group).num_rows - row)


class FeatherReader(Reader):
    """A Feather file, which holds record batches."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        with self._open() as opened:
            self.schema = opened.schema

    def _open(self, columns: Sequence[str] | None = None) -> Any:
        from pyarrow import ipc

        at = None if columns is None else [self.schema.get_field_index(name) for name in columns]
        source = self.file.system.open_input_file(self.file.path)
        return ipc.open_file(source, options=ipc.IpcReadOptions(included_fields=at))

    def batches(self, columns: Sequence[str], label: str | None, rows: int) -> Iterator[BatchRows | Damaged]:
        """Read one record batch after the other."""
        try:
            file = self._open(columns)
        except Exception as error:
            yield self.damaged(error)
            return
        with file:
            for number in range(file.num_record_batches):
                place = f"record batch {number}"
                try:
                    yield BatchRows(file.get_batch(number), f"{self.file.name}, {place}", 0)
                except Exception as error:
                    yield self.damaged(error, place)


class CsvReader(Reader):
    """A CSV file, of which the first lines tell the separator and the names, as where it is read whole."""

    def __init__(self, file: File) -> None:
        import pyarrow

        super().__init__(file)
        start, quotes = _start(file), _quotes(file)
        self.is_quoted = '"' in start or quotes > 0
        self.separator, names, self.n_lines = head_of(lambda: StringIO(start, newline=""), len(start))
        if any("\ufffd" in name or "\x00" in name for name in names):
            raise ValueError("its text is not UTF-8; save it as UTF-8")
        if quotes % 2:
            require_closed_quotes(Path(file.path), self.separator)
        self.schema = pyarrow.schema([(name, pyarrow.string()) for name in names])

    def whole(self, rows: int) -> Iterator[BatchRows | Damaged]:
        """Yield all cells as text."""
        return self._read({field.name: field.type for field in self.schema})

    def batches(self, columns: Sequence[str], label: str | None, rows: int) -> Iterator[BatchRows | Damaged]:
        """Read block after block; other columns are not parsed."""
        import pyarrow

        kinds = dict.fromkeys(
            columns, pyarrow.string()
        )  # pyarrow's own reader takes other cells for numbers, such as 00.5
        if label is not None:
            kinds[label] = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        for found in self._read(kinds):
            yield found if isinstance(found, Damaged) else self._parsed(found)

    def _parsed(self, found: BatchRows) -> BatchRows | Damaged:
        """Return rows with numbers in the place of text, by the rules of a file that is read whole."""
        import pyarrow

        arrays = []
        for name, column in zip(found.batch.schema.names, found.batch.columns, strict=True):
            if pyarrow.types.is_string(column.type):
                text = Text(column, decimal="," if self.separator == ";" else ".")
                if text.numbers.dtype.kind != "f":
                    row = text.wrong_cell()
                    error = no_number(text.cells()[row], name, where=self.file.name, row=found.row + row)
                    return Damaged(TypeError(in_python(str(error))), len(found.batch))
                column = pyarrow.array(text.numbers)
            arrays.append(column)
        return found._replace(batch=pyarrow.record_batch(arrays, names=found.batch.schema.names))

    def _read(self, kinds: Mapping[str, Any]) -> Iterator[BatchRows | Damaged]:
        import pyarrow
        from pyarrow import csv

        names = self.names
        looked_at = {names[-1]: pyarrow.string(), **kinds} if self.is_quoted else kinds
        try:
            file = csv.open_csv(
                self.file.system.open_input_stream(self.file.path),
                read_options=csv.ReadOptions(column_names=names, skip_rows=self.n_lines, block_size=QUEUED),
                parse_options=csv.ParseOptions(
                    delimiter=self.separator,
                    newlines_in_values=self.is_quoted,
                    ignore_empty_lines=len(names) != 1,
                ),
                convert_options=csv.ConvertOptions(column_types=looked_at, include_columns=list(looked_at)),
            )
        except Exception as error:
            if "Empty CSV file" not in str(error):  # it has names and no rows
                yield self.damaged(_in_words(error))
            return
        row, last = 0, None
        with file:
            while True:
                try:
                    batch = file.read_next_batch()
                except StopIteration:
                    if last is not None and (wrong := self._swallowed(last)) is not None:
                        yield self.damaged(wrong)
                    return
                except Exception as error:
                    yield self.damaged(_in_words(error), f"after row {row}")
                    return
                last = batch.column(names[-1])[-1:] if self.is_quoted and len(batch) else last
                yield BatchRows(batch.select(list(kinds)), self.file.name, row)
                row += len(batch)

    def _swallowed(self, last: Any) -> Exception | None:
        """Return what is wrong where the last cell holds several lines: an open quote, that another one makes even."""
        if self.file.is_local and "\n" in str(last.to_pylist()[0]):
            try:
                require_closed_quotes(Path(self.file.path), self.separator)
            except ValueError as error:
                return error
        return None


def _in_words(error: Exception) -> Exception:
    """Return an error of pyarrow without a hint that is of no use here."""
    long = f"a row is longer than {QUEUED >> 20} MiB: read the file whole, or leave out the column of long text"
    return ValueError(long) if "straddling" in str(error) else error


READERS: dict[str, Callable[[File], Reader]] = {"parquet": ParquetReader, "feather": FeatherReader, "csv": CsvReader}


def reader_of(file: File) -> Reader:
    """Return what reads a file; that it cannot be read at all is said with its name."""
    made = READERS[file.kind]
    try:
        found = made(file)
        if not (names := found.names):
            raise ValueError("it has no columns")
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"it has the column name {twice[0]!r} more than once")
    except Exception as error:
        raise ValueError(
            f"{file.name} must be a readable {file.kind} file; it is not: {first_line(error)}. Was it cut or damaged?"
        ) from error
    return found


def _quotes(file: File) -> int:
    """Return how many quotes a file of this machine has: only where there are some a line may end within a cell."""
    if not file.is_local:
        return 0
    with Path(file.path).open("rb") as source:
        return sum(block.count(b'"') for block in iter(lambda: source.read(QUEUED), b""))


def _start(file: File) -> str:
    """Return the beginning of a file, with its first lines."""
    start = b""
    with file.system.open_input_stream(file.path) as source:
        while len(start.strip().splitlines()) <= 2 and len(start) < MOST_BEFORE and (block := source.read(1 << 20)):
            start += block
    return start.decode("utf-8-sig", errors="replace")


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

    def __init__(self, source: Address | Sequence[Address], *, on_error: Literal["raise", "skip"] = "raise") -> None:
        self.files = files_of(source)
        first = _first_readable(self.files if on_error == "skip" else self.files[:1])
        self.is_parsed = first.file.kind == "csv"
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
                found = one if isinstance(one, Damaged) else _piece(one.batch, columns, one.place, one.row)
                yield found if isinstance(found, Damaged) else self._alike(found, is_text=file.kind == "csv")

    def _alike(self, piece: Piece, *, is_text: bool) -> Piece:
        """Return labels of the kind of the first file: of CSV files the text of numbers, of others numbers."""
        if is_text == self.is_parsed:
            return piece
        if piece.words is None and piece.truth.dtype.kind in "iub":
            distinct, code = np.unique(piece.truth, return_inverse=True)
            return replace(piece, truth=code, words=tuple(map(str, distinct.tolist())))
        known = np.empty(0) if piece.words is None or not is_text else Text(list(piece.words)).values()
        if known.dtype.kind in "iub" and known.size and (piece.truth >= 0).all():
            return replace(piece, truth=known[piece.truth], words=None)
        return piece


def _first_readable(files: Sequence[File]) -> Reader:
    """Return what reads the first file that can be read; if none can, what is wrong with the last is raised."""
    for file in files[:-1]:
        try:
            return reader_of(file)
        except ValueError:
            continue
    return reader_of(files[-1])


class Stream(Source):
    """An object with ``__arrow_c_stream__``, or a data set of pyarrow, of which only the columns chosen are read."""

    def __init__(self, source: Any) -> None:
        import pyarrow

        self.source, self.reads_once = source, isinstance(source, pyarrow.RecordBatchReader)
        self._reader = None if hasattr(source, "scanner") else pyarrow.RecordBatchReader.from_stream(source)
        self.names = list((self._reader or source).schema.names)
        self.where = f"the {type(source).__name__}"

    def pieces(self, columns: Columns, rows: int) -> Iterator[Found]:
        """Open the stream, and read it to its end."""
        import pyarrow

        reader, self._reader = self._reader, None
        if hasattr(self.source, "scanner"):
            reader = self.source.scanner(columns=columns.names, batch_size=rows).to_reader()
        yield from _pieces(reader or pyarrow.RecordBatchReader.from_stream(self.source), columns)


class Tables(Source):
    """Tables that a program hands over one by one: of Arrow, or data frames; the first one tells the names of the columns."""

    where = "the first batch"

    def __init__(self, tables: Callable[[], Iterable[Any]], first: Any, *, reads_once: bool) -> None:
        self.tables, self.reads_once = tables, reads_once
        self.names = list(as_arrow(first).schema.names)

    def pieces(self, columns: Columns, rows: int) -> Iterator[Found]:
        """Turn each table into batches of Arrow."""
        yield from _pieces(map(as_arrow, self.tables()), columns)


def _pieces(tables: Iterable[Any], columns: Columns) -> Iterator[Found]:
    """Number the tables; a table may hold its columns in several chunks."""
    for number, table in enumerate(tables):
        place, row = f"batch {number}", 0
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
    raise TypeError(
        f"a batch must be a pair (y_true, y_prob), a table of Arrow or a data frame; got {type(table).__name__}. Convert it."
    )


def is_addresses(source: Any) -> bool:
    """Whether it is a path, or a list of paths."""
    given = source if isinstance(source, (list, tuple)) and len(source) else [source]
    return all(isinstance(one, (str, os.PathLike)) for one in given)


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


# Tables that are written batch by batch, whole or not at all


@contextmanager
def _writing(path: Path, kind: str) -> Iterator[Callable[[FileTable], None]]:
    """Open a file, and give what writes some more rows into it; those of Arrow are of the schema of the first."""
    with ExitStack() as opened:
        writer: Any = None
        schema: Any = None

        def write(table: FileTable) -> None:
            nonlocal writer, schema
            is_first = writer is None
            if kind == "csv":
                writer = opened.enter_context(path.open("w", newline="", encoding="utf-8")) if is_first else writer
                write_rows(writer, table, names=is_first)
                return
            arrow = _without_dictionaries(arrow_of(table))
            if is_first:
                schema = arrow.schema
                writer = opened.enter_context(_arrow_writer(path, kind, schema))
            writer.write_table(arrow.cast(schema))

        yield write


def _arrow_writer(path: Path, kind: str, schema: Any) -> Any:
    from pyarrow import ipc, parquet

    if kind == "parquet":
        return parquet.ParquetWriter(path, schema)
    return ipc.new_file(str(path), schema, options=ipc.IpcWriteOptions(compression="lz4"))


def _without_dictionaries(arrow: Any) -> Any:
    """Return a table with words in place of their codes: in a file of batches each has its own."""
    import pyarrow
    from pyarrow import types

    fields = [
        field.with_type(field.type.value_type) if types.is_dictionary(field.type) else field for field in arrow.schema
    ]
    return arrow.cast(pyarrow.schema(fields, metadata=arrow.schema.metadata))


def write_tables(
    path: str | os.PathLike[str], tables: Iterable[FileTable], *, force: bool = False, escape_formulas: bool = False
) -> None:
    """Write tables one after the other to a file, which is whole or not there; what reads them may raise."""
    kind = format_of(path)
    if kind == "npz":
        raise ValueError(
            f"the output must be Parquet, Feather or CSV where rows are read in batches; got {path}. Rename it."
        )
    if escape_formulas:
        require_csv(path)
    with whole_file(path, force=force) as beside, _writing(beside, kind) as write:
        for table in tables:
            write(table.escaped() if escape_formulas else table)
