"""Files as batches of Arrow, with nothing more in memory than a few of them."""

from __future__ import annotations

import csv as lines_of
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from calibrant.interop.batches.addresses import File
from calibrant.interop.batches.arrow import in_python
from calibrant.interop.batches.pieces import Damaged
from calibrant.interop.columns import Text
from calibrant.interop.csv_files import SEPARATORS, cells_of, parts_alike, require_closed_quotes
from calibrant.interop.files import no_number
from calibrant.interop.first_line import first_line

MOST_BEFORE = 1 << 26
"""Bytes in which the first lines of a CSV file are looked for."""

QUEUED = 1 << 22
"""Bytes of a file that are read at a time."""


class Rows(NamedTuple):
    """A record batch, where it stands, and the number of its first row there."""

    batch: Any
    place: str
    row: int


class Reader(ABC):
    """What reads a file."""

    def __init__(self, file: File) -> None:
        self.file = file

    @property
    @abstractmethod
    def schema(self) -> Any:
        """Names and types of its columns, those of a CSV file text."""

    @property
    def names(self) -> list[str]:
        """Names of its columns."""
        return list(self.schema.names)

    @property
    def n_rows(self) -> int | None:
        """Number of its rows, where that is known before they are read."""
        return None

    @abstractmethod
    def batches(self, columns: Sequence[str], label: str | None, rows: int) -> Iterator[Rows | Damaged]:
        """Yield these columns in batches of so many rows at most, labels of text by codes."""

    @property
    def separator(self) -> str:
        """What separates the cells of a CSV file."""
        return ","

    def whole(self, rows: int) -> Iterator[Rows | Damaged]:
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

    def _open(self, label: str | None = None) -> Any:
        from pyarrow import parquet

        source = self.file.system.open_input_file(self.file.path)
        words, known = None if label is None else [label], vars(self).get("metadata")
        return parquet.ParquetFile(source, metadata=known, buffer_size=QUEUED, pre_buffer=False, read_dictionary=words)

    @cached_property
    def metadata(self) -> Any:
        """What its end says."""
        with self._open() as file:
            return file.metadata

    @property
    def schema(self) -> Any:
        """Names and types of its columns."""
        return self.metadata.schema.to_arrow_schema()

    @property
    def n_rows(self) -> int:
        """Number of its rows."""
        return int(self.metadata.num_rows)

    def batches(self, columns: Sequence[str], label: str | None, rows: int) -> Iterator[Rows | Damaged]:
        """Read one row group after the other; one that is damaged is passed over."""
        try:
            file = self._open(label)
        except Exception as error:
            yield self.damaged(error)
            return
        with file:
            for group in range(file.num_row_groups):
                place, row = f"row group {group}", 0
                n_rows = file.metadata.row_group(group).num_rows
                found = file.iter_batches(batch_size=rows, row_groups=[group], columns=list(columns))
                try:
                    for batch in found:
                        yield Rows(batch, f"{self.file.name}, {place}", row)
                        row += len(batch)
                except Exception as error:
                    yield self.damaged(error, place, n_rows - row)


class FeatherReader(Reader):
    """A Feather file, which holds record batches."""

    def _open(self, columns: Sequence[str] | None = None) -> Any:
        from pyarrow import ipc

        source = self.file.system.open_input_file(self.file.path)
        file = ipc.open_file(source)
        if columns is None:
            return file
        at = [file.schema.get_field_index(name) for name in columns]
        return ipc.open_file(source, options=ipc.IpcReadOptions(included_fields=at))

    @cached_property
    def schema(self) -> Any:
        """Names and types of its columns."""
        with self._open() as file:
            return file.schema

    def batches(self, columns: Sequence[str], label: str | None, rows: int) -> Iterator[Rows | Damaged]:
        """Read one record batch after the other."""
        try:
            file = self._open(columns)
        except Exception as error:
            yield self.damaged(error)
            return
        with file:
            for number in range(file.num_record_batches):
                try:
                    batch = file.get_batch(number)
                except Exception as error:
                    yield self.damaged(error, f"record batch {number}")
                    continue
                yield Rows(batch, f"{self.file.name}, record batch {number}", 0)


class CsvReader(Reader):
    """A CSV file, of which the first lines tell the separator and the names, as where it is read whole."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        start, quotes = _start(file), _quotes(file)
        self.is_quoted = '"' in start or quotes > 0
        first = {separator: _first_two(start, separator) for separator in SEPARATORS}
        self._separator = max(first, key=lambda one: parts_alike(*first[one][:2]))  # of equal ones the first
        self._names, _, self.n_lines = first[self._separator]
        if any("\ufffd" in name or "\x00" in name for name in self._names):
            raise ValueError("its text is not UTF-8; save it as UTF-8")
        if quotes % 2:
            require_closed_quotes(Path(file.path), self._separator)

    @property
    def schema(self) -> Any:
        """Names in its first line, of text."""
        import pyarrow

        return pyarrow.schema([(name, pyarrow.string()) for name in self._names])

    @property
    def separator(self) -> str:
        """What separates its cells."""
        return self._separator

    def whole(self, rows: int) -> Iterator[Rows | Damaged]:
        """Yield all cells as text."""
        return self._read({field.name: field.type for field in self.schema})

    def batches(self, columns: Sequence[str], label: str | None, rows: int) -> Iterator[Rows | Damaged]:
        """Read block after block; other columns are not parsed."""
        import pyarrow

        kinds = dict.fromkeys(
            columns, pyarrow.string()
        )  # pyarrow's own reader takes other cells for numbers, such as 00.5
        if label is not None:
            kinds[label] = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        for found in self._read(kinds):
            yield found if isinstance(found, Damaged) else self._parsed(found)

    def _parsed(self, found: Rows) -> Rows | Damaged:
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

    def _read(self, kinds: Mapping[str, Any]) -> Iterator[Rows | Damaged]:
        import pyarrow
        from pyarrow import csv

        looked_at = {self._names[-1]: pyarrow.string(), **kinds} if self.is_quoted else kinds
        try:
            file = csv.open_csv(
                self.file.system.open_input_stream(self.file.path),
                read_options=csv.ReadOptions(column_names=self._names, skip_rows=self.n_lines, block_size=QUEUED),
                parse_options=csv.ParseOptions(
                    delimiter=self.separator,
                    newlines_in_values=self.is_quoted,
                    ignore_empty_lines=len(self._names) != 1,
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
                last = batch.column(self._names[-1])[-1:] if self.is_quoted and len(batch) else last
                yield Rows(batch.select(list(kinds)), self.file.name, row)
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


def _first_two(start: str, separator: str) -> tuple[list[str], list[str], int]:
    """Return the names, the cells of the next line, and how many lines there are up to the names."""
    with cells_of(len(start)):
        lines = lines_of.reader(StringIO(start, newline=""), delimiter=separator)
        names = next((row for row in lines if row), [])
        n_lines = lines.line_num
        return names, next((row for row in lines if row), []), n_lines
