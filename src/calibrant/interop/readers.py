"""Files of tables: where they are, and how CSV, Parquet and Feather are read, whole or batch by batch."""

from __future__ import annotations

import codecs
import csv
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO, TextIOWrapper
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, NoReturn

from calibrant._core.checks import refuse
from calibrant.binning.bins import CHUNK
from calibrant.interop import columns as _columns
from calibrant.interop.columns import Arrow, FileTable, Text
from calibrant.interop.writing import STREAMED, format_of, is_pattern, is_table, local_files, local_path, warn_of_unread

# Where tables are: paths, folders, patterns and addresses of other file systems, as files in the order of their names


Address = str | os.PathLike[str]


@dataclass(frozen=True)
class File:
    """A file of a file system of pyarrow, and what it is called in messages."""

    system: Any
    path: str
    name: str
    is_local: bool = False

    def __post_init__(self) -> None:
        try:
            self.path.encode()
        except UnicodeEncodeError:
            refuse("the path of a table must be UTF-8 text", value=self.name, hint="Rename it")

    @property
    def kind(self) -> str:
        """Its format, by its ending."""
        kind = format_of(self.path, reading=True)
        if kind not in STREAMED.values():
            must = f"files that are read in batches must be {', '.join(STREAMED)}"
            raise ValueError(f"{must}; got {self.name}. Write Parquet, or read it whole.")
        return kind

    def open(self) -> Any:
        """Open it for reading from its start; what is compressed is unpacked."""
        packed = "gzip" if self.path.lower().endswith(".gz") else None
        return self.system.open_input_stream(self.path, compression=packed)

    @property
    def identity(self) -> tuple[str, str]:
        """What tells it from other files, whatever it was called."""
        return ("", os.path.realpath(self.path)) if self.is_local else (self.system.type_name, self.path)


def files_of(addresses: Sequence[Address]) -> list[File]:
    """List the files of paths, folders, patterns and addresses such as ``s3://bucket/folder``, each of them once.

    Files of a folder are those that end as tables do, in its folders as well, but for hidden ones; by their names.
    """
    found: dict[tuple[str, str], File] = {}
    for address in addresses:
        if not os.fspath(address):
            must = "a path must name a file or a folder"
            raise FileNotFoundError(f"{must}; got an empty text. Name one, '.' for this folder.")
        for file in _files(os.fspath(address)):
            found.setdefault(file.identity, file)
    return list(found.values())


def _files(address: str) -> Iterator[File]:
    path = local_path(address)
    if path is None:
        yield from _remote_files(address)
        return
    from pyarrow import fs

    system, files = fs.LocalFileSystem(), local_files(path)
    is_file = [file.as_posix() for file in files] == [path.absolute().as_posix()]
    require_found(address, files, is_there=os.path.lexists(path) or is_pattern(address))
    warn_of_unread(address, path)
    for file in files:
        yield File(system, file.as_posix(), address if is_file else str(file), is_local=True)


def require_found(address: str, files: Sequence[object], *, is_there: bool = True) -> None:
    """Refuse an address under which there is nothing, or no table."""
    if not is_there:
        raise FileNotFoundError(f"the file must exist; got {address}. Check the path.")
    if not files:
        must = f"{address} must hold files that end in {', '.join(STREAMED)}"
        raise FileNotFoundError(f"{must}; it holds none. Check the path.")


def _remote_files(address: str) -> Iterator[File]:
    """List a file of another file system, or the tables of a folder there."""
    from pyarrow import fs

    try:
        system, path = fs.FileSystem.from_uri(address)
    except (ValueError, NotImplementedError) as error:  # pyarrow's for what it does not know
        try:
            from fsspec.core import url_to_fs

            known, path = url_to_fs(address)
        except (ValueError, ImportError) as unknown:
            must = "an address must be one that pyarrow or fsspec knows"
            raise ValueError(f"{must}; got {address}: {unknown}. Check it, or pip install fsspec.") from error
        system = fs.PyFileSystem(fs.FSSpecHandler(known))
    info = system.get_file_info(path)
    found = [path] if info.type == fs.FileType.File else []
    if info.type == fs.FileType.Directory:
        below = (one for one in system.get_file_info(fs.FileSelector(path, recursive=True)) if one.is_file)
        found = sorted(one.path for one in below if is_table(one.path.removeprefix(path).strip("/")))
    require_found(address, found, is_there=info.type != fs.FileType.NotFound)
    for one in found:
        yield File(system, one, address if found == [path] else one)


# Files as batches of Arrow, with nothing more in memory than a few of them


MOST_BEFORE = 1 << 26
"""Bytes in which the first lines of a CSV file are looked for."""

QUEUED = 1 << 22
"""Bytes of a file that are read at a time."""

MOST_OF_ROW = 1 << 23
"""Bytes of a CSV file that are parsed at a time: no row may have more."""


@dataclass(frozen=True, eq=False)
class Damaged:
    """Rows that could not be read: so many, if that is known, and the error."""

    error: Exception
    n_rows: int = 0

    @property
    def batch(self) -> NoReturn:
        """There are none: the error is raised."""
        raise self.error


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

    def as_file_table(self, data: Any) -> FileTable:
        """Return all columns, of a table or of a batch, as they are carried over to another file."""
        columns: dict[str, _columns.Column] = {
            field.name: self._column(column, field) for field, column in zip(data.schema, data.columns, strict=True)
        }
        return FileTable(columns, separator=self.separator, metadata=data.schema.metadata or {})

    def _column(self, data: Any, field: Any) -> Arrow:
        return Arrow(*_decodable(data, field))

    def damaged(self, error: Exception, place: str = "", n_rows: int = 0) -> Damaged:
        """Return what cannot be read, with words that name it."""
        where = f"{self.file.name}, {place}" if place else self.file.name
        said = f"{where} must be readable; it is not: {_columns.first_line(error)}"
        return Damaged(ValueError(f"{said}. Was it cut or damaged?"), n_rows)


def _decodable(data: Any, field: Any) -> tuple[Any, Any]:
    """Return a column that pyarrow can decode: not where the words of codes are views, as polars writes them."""
    import pyarrow
    from pyarrow import types

    kind = field.type
    if not (types.is_dictionary(kind) and types.is_string_view(kind.value_type)):
        return data, field
    words = pyarrow.string()
    chunks = [
        pyarrow.DictionaryArray.from_arrays(one.indices, one.dictionary.cast(words), ordered=kind.ordered)
        for one in getattr(data, "chunks", [data])
    ]
    coded = pyarrow.dictionary(kind.index_type, words, kind.ordered)
    return pyarrow.chunked_array(chunks, coded), field.with_type(coded)


class ArrowReader(Reader):
    """A file of parts, each of which can be read, or be damaged, by itself."""

    @abstractmethod
    def _open(self, columns: Sequence[str] | None = None, label: str | None = None) -> Any: ...

    @abstractmethod
    def _parts(self, file: Any, columns: Sequence[str], rows: int) -> Iterator[tuple[str, int, Iterable[Any]]]:
        """Yield the place of each part, how many rows it has, if that is known, and its batches."""

    def batches(self, columns: Sequence[str], label: str | None, rows: int) -> Iterator[BatchRows | Damaged]:
        """Read one part after the other; one that is damaged is passed over."""
        try:
            file = self._open(columns, label)
        except Exception as error:
            yield self.damaged(error)
            return
        with file:
            for place, n_rows, batches in self._parts(file, columns, rows):
                row = 0
                try:
                    for batch in batches:
                        batch.validate()  # of a damaged file a column can be shorter than it says
                        yield BatchRows(batch, f"{self.file.name}, {place}", row)
                        row += len(batch)
                except Exception as error:
                    yield self.damaged(error, place, max(0, n_rows - row))


class ParquetReader(ArrowReader):
    """A Parquet file: row group by row group, of each the columns that are asked for."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self.metadata: Any = None
        with self._open() as opened:
            self.metadata = opened.metadata
        self.schema, self.n_rows = self.metadata.schema.to_arrow_schema(), int(self.metadata.num_rows)

    def _open(self, columns: Sequence[str] | None = None, label: str | None = None) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(
            self.file.system.open_input_file(self.file.path),
            metadata=self.metadata,
            buffer_size=QUEUED,
            pre_buffer=False,
            read_dictionary=None if label is None else [label],
        )

    def _parts(self, file: Any, columns: Sequence[str], rows: int) -> Iterator[tuple[str, int, Iterable[Any]]]:
        for group in range(file.num_row_groups):
            batches = file.iter_batches(batch_size=rows, row_groups=[group], columns=list(columns))
            yield f"row group {group}", file.metadata.row_group(group).num_rows, batches


class FeatherReader(ArrowReader):
    """A Feather file, which holds record batches."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        with self._open() as opened:
            self.schema = opened.schema

    def _open(self, columns: Sequence[str] | None = None, label: str | None = None) -> Any:
        from pyarrow import ipc

        at = None if columns is None else [self.schema.get_field_index(name) for name in columns]
        source = self.file.system.open_input_file(self.file.path)
        return ipc.open_file(source, options=ipc.IpcReadOptions(included_fields=at))

    def _parts(self, file: Any, columns: Sequence[str], rows: int) -> Iterator[tuple[str, int, Iterable[Any]]]:
        for number in range(file.num_record_batches):
            yield f"record batch {number}", 0, map(file.get_batch, [number])


class CsvReader(Reader):
    """A CSV file, of which the first lines tell the separator and the names, as where it is read whole."""

    def __init__(self, file: File) -> None:
        import pyarrow

        super().__init__(file)
        start, quotes = _start(file), _quotes(file)
        self.is_quoted = '"' in start or quotes > 0
        self.separator, names, self.n_lines = _head_of(start)
        if any("\x00" in name for name in names):
            raise ValueError("its text is not UTF-8; save it as UTF-8")
        if quotes % 2:
            _require_closed_quotes(file, self.separator)
        self.decimal = "," if self.separator == ";" else "."
        self.schema = pyarrow.schema([(name, pyarrow.string()) for name in names])

    def _column(self, data: Any, field: Any) -> Text:
        return Text(data, decimal=self.decimal)

    def whole(self, rows: int) -> Iterator[BatchRows | Damaged]:
        """Yield all cells as text."""
        return self._read(self._as_text(self.names))

    def batches(self, columns: Sequence[str], label: str | None, rows: int) -> Iterator[BatchRows | Damaged]:
        """Read block after block; other columns are not parsed."""
        import pyarrow

        kinds = self._as_text(columns)  # pyarrow's own reader takes other cells for numbers, such as 00.5
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
                text = Text(column, decimal=self.decimal)
                if text.numbers.dtype.kind != "f":
                    row, cell = text.wrong_cell()
                    error = _columns.no_number(cell, name, where=self.file.name, row=found.row + row)
                    return Damaged(TypeError(_columns.in_python(str(error))), len(found.batch))
                column = pyarrow.array(text.numbers)
            arrays.append(column)
        return found._replace(batch=pyarrow.record_batch(arrays, names=found.batch.schema.names))

    def _as_text(self, names: Sequence[str]) -> dict[str, Any]:
        import pyarrow

        return dict.fromkeys(names, pyarrow.string())

    def _read(self, kinds: Mapping[str, Any]) -> Iterator[BatchRows | Damaged]:
        from pyarrow import csv

        names = self.names
        kinds_of_all = self._as_text(names[-1:] if self.is_quoted else []) | dict(kinds)
        options = {
            "read_options": csv.ReadOptions(column_names=names, skip_rows=self.n_lines, block_size=MOST_OF_ROW),
            "parse_options": csv.ParseOptions(
                delimiter=self.separator,
                newlines_in_values=self.is_quoted,  # without, it is twice as fast
                ignore_empty_lines=len(names) != 1,  # of one column an empty line is a missing cell
            ),
            "convert_options": csv.ConvertOptions(column_types=kinds_of_all, include_columns=list(kinds_of_all)),
        }
        try:
            file = csv.open_csv(self.file.open(), **options)
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
                last = batch.column(self.names[-1])[-1:] if self.is_quoted and len(batch) else last
                yield BatchRows(batch.select(list(kinds)), self.file.name, row)
                row += len(batch)

    def _swallowed(self, last: Any) -> Exception | None:
        """Return what is wrong where the last cell holds several lines: an open quote, that another one makes even."""
        if self.file.is_local and "\n" in str(last.to_pylist()[0]):
            try:
                _require_closed_quotes(self.file, self.separator)
            except ValueError as error:
                return error
        return None


def _in_words(error: Exception) -> Exception:
    """Return an error of pyarrow without a hint that is of no use here."""
    long = f"a row is longer than {MOST_OF_ROW >> 20} MiB: leave out the column of long text"
    return ValueError(long) if "straddling" in str(error) else error


READERS: dict[str, Callable[[File], Reader]] = {"parquet": ParquetReader, "feather": FeatherReader, "csv": CsvReader}


def reader_of(file: File) -> Reader:
    """Return what reads a file; that it cannot be read at all is said with its name."""
    made = READERS[file.kind]
    with readable(file.name, file.kind):
        found = made(file)
        if not (names := found.names):
            raise ValueError("it has no columns")
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"it has the column name {twice[0]!r} more than once")
    return found


@contextmanager
def readable(name: str, kind: str) -> Iterator[None]:
    """Say with the name of the file what is wrong in it."""
    try:
        yield
    except ImportError:
        raise
    except Exception as error:
        must = f"{name} must be a readable {kind} file"
        raise ValueError(f"{must}; it is not: {_columns.first_line(error)}. Was it cut or damaged?") from error


def read_whole(path: Path) -> FileTable:
    """Read a file of this machine at once."""
    _columns.require_arrow(f"reading {path.suffix.lstrip('.')}")
    import pyarrow
    from pyarrow import fs

    reader = reader_of(File(fs.LocalFileSystem(), path.as_posix(), str(path), is_local=True))
    batches = [found.batch for found in reader.whole(CHUNK)]
    return reader.as_file_table(pyarrow.Table.from_batches(batches) if batches else reader.schema.empty_table())


def _quotes(file: File) -> int:
    """Return how many quotes a file of this machine has: only where there are some a line may end within a cell."""
    if not file.is_local:
        return 0
    with file.open() as source:
        return sum(block.count(b'"') for block in iter(lambda: source.read(QUEUED), b""))


def _start(file: File) -> str:
    """Return the beginning of a file, with its first lines."""
    start = b""
    with file.open() as source:
        while len(start.strip().splitlines()) <= 2 and len(start) < MOST_BEFORE and (block := source.read(1 << 20)):
            start += block
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError as error:
        raise ValueError("its text is not UTF-8; save it as UTF-8") from error


# CSV


SEPARATORS = (",", ";", "\t")
"""Of a CSV file: the one that parts its first line into most names, of those that part the next one into as many cells."""

CSV_LIMIT = Lock()
"""Held while the limit of Python's csv, which is one for all threads, is another."""


def _head_of(start: str) -> tuple[str, list[str], int]:
    """Return the separator of a CSV file that begins so, the names of its columns, and the lines up to them."""
    found: dict[tuple[bool, int], tuple[str, list[str], int]] = {}
    for separator in SEPARATORS:
        with _long_cells():
            reader = csv.reader(StringIO(start, newline=""), delimiter=separator)
            names = [name.strip(_columns.BLANKS) for name in next(filter(None, reader), [])]
            n_lines, cells = reader.line_num, next(filter(None, reader), [])
        # Of equal ones the first.
        found.setdefault((1 < len(names) == len(cells), len(names)), (separator, names, n_lines))
    return found[max(found)]


def _require_closed_quotes(file: File, separator: str) -> None:
    """Refuse a cell that begins with a quote and has no end: it holds all the rest of the file.

    Quotes inside a cell that begins otherwise are characters as any: 5" pipe.
    """
    with _long_cells(), TextIOWrapper(file.open(), newline="", encoding="utf-8-sig") as lines:
        reader, n_lines = csv.reader(lines, delimiter=separator, strict=True), 0
        while True:
            try:
                if next(reader, ...) is ...:
                    return
            except csv.Error as error:  # a cell that goes on behind its quotes is one all the same: "a" b
                if "end of data" in str(error) or reader.line_num > n_lines + 1:
                    must = f"line {n_lines + 1} has a quote at the start of a cell that is never closed"
                    raise ValueError(must) from error
            n_lines = reader.line_num


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let Python's csv read cells of any length."""
    with CSV_LIMIT:
        before = csv.field_size_limit(2**31 - 1)
        try:
            yield
        finally:
            csv.field_size_limit(before)
