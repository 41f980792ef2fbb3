"""Tables in files: columns are copied as they stand, and parsed only where they are asked for.

CSV and NPZ need NumPy alone; Parquet and Feather, and CSV at speed, need pyarrow.
"""

from __future__ import annotations

import csv
import io
import mmap
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from threading import Lock
from typing import Any, TextIO, TypeVar

import numpy as np

from calibrant._core.warnings import CalibrationWarning
from calibrant.interop.columns import Array, Arrow, Column, Text, Values, has_arrow
from calibrant.interop.local_files import FORMATS as FORMATS
from calibrant.interop.members import Member, members_of
from calibrant.interop.writing import whole_file

Cells = TypeVar("Cells")

ARRAYS = (".npy", ".pt", ".pth")
"""Endings of files of arrays without names: to rename them is of no use."""

OF_ONE_ARRAY = "Read it in Python and write np.savez('forecast.npz', label=y, logits=z), or P=... of probabilities."

FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]", re.DOTALL)
"""How a cell begins that spreadsheets take for a formula, full-width signs too; quotes before it are those of an escape."""

NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)

SEPARATORS = (",", ";", "\t")
"""Of a CSV file: the one that parts its first line into most names, of those that part the next one into as many cells."""

MOST_IN_BLOCK = 2**31 - 1
"""Bytes that pyarrow reads at once, at most, and characters of a cell for Python's csv."""

ROWS = 1 << 14
"""Rows of a CSV file that are written at a time."""

CSV_LIMIT = Lock()
"""Held while the limit of Python's csv, which is one for all threads, is another."""


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
        columns = {
            _escaped(name): Text(list(map(_escaped, _of_name(name, column.cells))))
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns)

    def without(self, left_out: Set[str]) -> FileTable:
        """Return the other columns."""
        return replace(self, columns={name: c for name, c in self.columns.items() if name not in left_out})


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format that a file's ending stands for."""
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        hint = OF_ONE_ARRAY if ending in ARRAYS else "Rename or convert it."
        raise ValueError(f"a table must end in {', '.join(FORMATS)}; got {Path(path).name!r}. {hint}")
    return FORMATS[ending]


# Reading


def read_table(path: str | os.PathLike[str], *, may_be_empty: bool = False) -> FileTable:
    """Read a file as columns by name; one without rows is refused, unless it may be empty."""
    source = Path(path)
    if source.is_dir():
        raise IsADirectoryError(f"a table must be a file; got the directory {source}. Name a file in it.")
    if not source.exists():
        raise FileNotFoundError(f"the file must exist; got {source}. Check the path.")
    kind = format_of(source)
    if source.stat().st_size == 0:
        raise ValueError(f"{source} must hold a table; it is empty. Check how it was written.")
    try:
        table = {"csv": _read_csv, "npz": _read_npz, "parquet": _read_arrow, "feather": _read_arrow}[kind](source)
    except ImportError:
        raise
    except Exception as error:
        raise ValueError(
            f"{source} must be a readable {kind} file; it is not: {first_line(error)}. Was it cut or damaged?"
        ) from error
    if not may_be_empty and not any(map(len, table.columns.values())):
        raise ValueError(f"{source} must hold at least one row; it has none. Check how it was written.")
    return table


def _read_npz(path: Path) -> FileTable:
    return FileTable(members_of(path))


def _read_csv(path: Path) -> FileTable:
    try:
        first = {separator: _first_lines(path, separator) for separator in SEPARATORS}
    except UnicodeDecodeError as error:
        raise ValueError("its text is not UTF-8; save it as UTF-8") from error
    separator = max(first, key=lambda one: parts_alike(*first[one]))  # of equal ones the first
    names, _ = first[separator]
    if not names:
        return FileTable({})
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"its first line has the name {twice[0]!r} more than once")
    quotes = sum(block.count(b'"') for block in _blocks(path))
    if quotes % 2:
        require_closed_quotes(path, separator)
    decimal = "," if separator == ";" else "."
    read = partial(_cells_by_arrow, is_quoted=quotes > 0) if has_arrow() else _cells
    columns = {name: Text(cells, decimal=decimal) for name, cells in read(path, names, separator).items()}
    if any("\n" in cell for cell in columns[names[-1]].sliced(slice(-1, None)).cells()):
        require_closed_quotes(path, separator)  # also where another quote, inside a cell, makes their number even
    return FileTable(columns, separator=separator)


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            yield block


def require_closed_quotes(path: Path, separator: str) -> None:
    """Refuse a cell that begins with a quote and has no end: it holds all the rest of the file.

    Quotes inside a cell that begins otherwise are characters as any: 5" pipe.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        _require_closed(data, separator)


def _require_closed(data: mmap.mmap, separator: str) -> None:
    before = (separator.encode(), b"\n", b"\r", b"")
    at = data.find(b'"')
    while at >= 0:
        end = at
        if data[max(at - 1, 0) : at] in before or (at == 3 and data[:3] == b"\xef\xbb\xbf"):
            end = data.find(b'"', at + 1)
            while end >= 0 and data[end + 1 : end + 2] == b'"':
                end = data.find(b'"', end + 2)
            # Text behind the quote that ends lines of cells: it was to open a cell.
            if end < 0 or (data[end + 1 : end + 2] not in before and b"\n" in data[at:end]):
                line = data[:at].count(b"\n") + 1
                raise ValueError(f"line {line} has a quote at the start of a cell that is never closed")
        at = data.find(b'"', end + 1)


@contextmanager
def _reader(path: Path, separator: str) -> Iterator[Any]:
    """Give the lines of a file as lists of cells, however long a cell is."""
    with cells_of(path.stat().st_size), path.open(newline="", encoding="utf-8-sig") as lines:
        yield csv.reader(lines, delimiter=separator)


@contextmanager
def cells_of(size: int) -> Iterator[None]:
    """Let Python's csv read cells of so many characters."""
    with CSV_LIMIT:
        before = csv.field_size_limit(min(max(csv.field_size_limit(), size), MOST_IN_BLOCK))
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _first_lines(path: Path, separator: str) -> tuple[list[str], list[str]]:
    """Return the names, and the cells of the next line: of the first two that are not empty."""
    with _reader(path, separator) as reader:
        filled = (row for row in reader if row)
        return next(filled, []), next(filled, [])


def parts_alike(names: list[str], cells: list[str]) -> tuple[bool, int]:
    """Return whether a separator parts two lines alike, and into how many."""
    return 1 < len(names) == len(cells), len(names)


def _blank_lines(path: Path) -> int:
    """Return how many empty lines a file begins with."""
    with path.open(encoding="utf-8-sig") as lines:
        return sum(1 for _ in takewhile("\n".__eq__, lines))


def _cells_by_arrow(path: Path, names: list[str], separator: str, *, is_quoted: bool) -> dict[str, Any]:
    import pyarrow
    from pyarrow import csv as arrow_csv

    options = arrow_csv.ReadOptions(column_names=names, skip_rows=_blank_lines(path), encoding="utf8")
    read = partial(
        arrow_csv.read_csv,
        path,
        read_options=options,
        parse_options=arrow_csv.ParseOptions(
            delimiter=separator,
            newlines_in_values=is_quoted,  # without, it is twice as fast
            ignore_empty_lines=len(names) != 1,  # of one column an empty line is a missing cell
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pyarrow.string()), strings_can_be_null=False
        ),
    )
    try:
        table = read()
    except pyarrow.ArrowInvalid:
        size = min(path.stat().st_size + 1, MOST_IN_BLOCK)
        if size <= options.block_size:
            raise
        options.block_size = size  # a cell may be longer than a block: of one block, the file has none that is
        table = read()
    return {name: table[name].slice(1) for name in names}  # the first row is that of the names


def _cells(path: Path, names: list[str], separator: str) -> dict[str, list[str]]:
    rows: list[list[str]] = []
    with _reader(path, separator) as reader:
        next(row for row in reader if row)  # the names
        line = reader.line_num + 1
        for row in reader:
            cells = row if row or len(names) > 1 else [""]
            if cells and len(cells) != len(names):
                raise ValueError(f"line {line} has {len(cells)} values for {len(names)} columns")
            rows += [cells] if cells else []
            line = reader.line_num + 1
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def _read_arrow(path: Path) -> FileTable:
    _require_arrow("reading", path)
    import pyarrow.feather
    import pyarrow.parquet

    if format_of(path) == "parquet":
        with pyarrow.parquet.ParquetFile(path) as file:
            found = file.read()
    else:
        found = pyarrow.feather.read_table(path)
    if len(set(found.column_names)) < len(found.column_names):
        raise ValueError("it has a column name more than once")
    columns = {field.name: Arrow(column, field) for field, column in zip(found.schema, found.columns, strict=True)}
    return FileTable(columns, metadata=found.schema.metadata or {})


# Writing


def require_csv(path: str | os.PathLike[str]) -> None:
    """Refuse to escape the cells of what is no CSV file."""
    if format_of(path) != "csv":
        raise ValueError(
            f"--escape-formulas must be of a CSV output; got {Path(path).name}, whose cells are never formulas. Leave it out."
        )


def write_table(
    path: str | os.PathLike[str],
    table: FileTable | Mapping[str, Array],
    *,
    force: bool = False,
    escape_formulas: bool = False,
) -> None:
    """Write columns to a file, whole or not at all; of a CSV file no cell is a formula, if that is asked for."""
    kind = format_of(path)
    whole = table if isinstance(table, FileTable) else FileTable({name: Values(c) for name, c in table.items()})
    if escape_formulas:
        require_csv(path)
    whole = whole.without(_left_out(whole, kind, Path(path).name))
    write = {"csv": _write_csv, "npz": _write_npz, "parquet": _write_arrow, "feather": _write_arrow}[kind]
    with whole_file(path, force=force) as beside:
        try:
            write(beside, whole.escaped() if escape_formulas else whole, kind)
        except (OSError, ImportError):
            raise
        except Exception as error:  # pyarrow has errors of its own, also for a full disk
            if (end := _ending_behind(error)) is not None:
                raise end from None
            raise ValueError(
                f"the table must be writable as {kind}; {path} could not be: {first_line(error)}. "
                "Make room, drop the column, or choose another format."
            ) from error


def _left_out(table: FileTable, kind: str, file: str) -> Set[str]:
    """Warn of the arrays that a file is written without: rows have no place for them, or reading them may run code."""
    left_out = [name for name in table if name in table.apart and (kind != "npz" or _has_objects(table.columns[name]))]
    if left_out:
        more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        why = "hold Python objects" if kind == "npz" else f"are no columns of {kind}: they have another number of rows"
        cure = "Save them with another dtype" if kind == "npz" else "Write an .npz file"
        warnings.warn(
            f"{file} is written without the arrays {', '.join(map(repr, left_out[:3]))}{more}, which {why}. "
            f"{cure} to keep them.",
            CalibrationWarning,
            stacklevel=3,
        )
    return frozenset(left_out)


def _has_objects(column: Column) -> bool:
    return isinstance(column, Member) and column.has_objects


def _ending_behind(error: BaseException) -> BaseException | None:
    """Return the signal that ended the process, where an error hides it: zipfile raises one of its own."""
    while isinstance(error, Exception) and error.__context__ is not None:
        error = error.__context__
    return None if isinstance(error, Exception) else error


def _write_npz(path: Path, table: FileTable, kind: str) -> None:
    arrays: dict[str, Any] = {name: np.asarray(table[name]) for name in table}
    if mixed := [name for name, array in arrays.items() if array.dtype == object]:
        raise TypeError(f"NPZ has no arrays for the column {mixed[0]!r}, which holds more than numbers or words")
    packed = io.BytesIO()  # of a file that a signal closes the half-made archive would complain
    with zipfile.ZipFile(
        packed, "w", zipfile.ZIP_DEFLATED
    ) as archive:  # numpy.savez has names of its own, such as file
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)
    path.write_bytes(packed.getbuffer())


def _escaped(cell: str) -> str:
    return f"'{cell}" if FORMULA.match(cell) and not NUMBER.fullmatch(cell) else cell


def _write_csv(path: Path, table: FileTable, kind: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as target:
        write_rows(target, table, names=True)


def write_rows(target: TextIO, table: FileTable, *, names: bool) -> None:
    """Write the rows of a table as lines of CSV, with the names before them or without."""
    cells = [_of_name(name, column.cells) for name, column in table.columns.items()]
    writer = csv.writer(target, lineterminator="\n", delimiter=table.separator)
    if names:
        writer.writerow(table)
    for start in range(0, max(map(len, cells), default=0), ROWS):
        some = [column[start : start + ROWS] for column in cells]
        lines = "\n".join(map(table.separator.join, zip(*some, strict=True))) + "\n"
        if _needs_quotes(lines, len(some[0]), len(some), table.separator):
            writer.writerows(zip(*some, strict=True))
        else:  # joined, they are written several times as fast
            target.write(lines)


def _needs_quotes(lines: str, n: int, n_columns: int, separator: str) -> bool:
    """Whether a cell of n joined rows is not to be written as it stands: it would end a cell or a line."""
    parts = lines.count(separator), lines.count("\n")
    return n_columns == 1 or parts != (n * (n_columns - 1), n) or '"' in lines or "\r" in lines


def _write_arrow(path: Path, table: FileTable, kind: str) -> None:
    _require_arrow("writing", path)
    import pyarrow.feather
    import pyarrow.parquet

    arrow = arrow_of(table)
    _ = pyarrow.parquet.write_table(arrow, path) if kind == "parquet" else pyarrow.feather.write_feather(arrow, path)


def arrow_of(table: FileTable) -> Any:
    """Return columns as a table of pyarrow, with what is said of them in their file."""
    import pyarrow

    arrays = [_of_name(name, column.arrow) for name, column in table.columns.items()]
    fields = [
        column.field if isinstance(column, Arrow) else pyarrow.field(name, array.type)
        for (name, column), array in zip(table.columns.items(), arrays, strict=True)
    ]
    return pyarrow.table(arrays, schema=pyarrow.schema(fields, metadata=dict(table.metadata) or None))


def _of_name(name: str, make: Callable[[], Cells]) -> Cells:
    """Return what a format has for a column; that it has nothing is said with the name of the column."""
    try:
        return make()
    except (TypeError, NotImplementedError) as error:  # pyarrow's for what it cannot do is one of the latter
        raise TypeError(f"{first_line(error)}, for the column {name!r}") from error


def _require_arrow(job: str, path: Path) -> None:
    if not has_arrow():
        raise ImportError(
            f"{job} {path.suffix.lstrip('.')} needs pyarrow; it is not installed. pip install 'calibrant[table]'"
        )


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
