"""CSV files, read by pyarrow where it is installed and by Python alone where it is not, and written by Python."""

from __future__ import annotations

import csv
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from pathlib import Path
from threading import Lock
from typing import Any, TextIO

from calibrant.interop.columns import Text, has_arrow
from calibrant.interop.file_table import FileTable

SEPARATORS = (",", ";", "\t")
"""Of a CSV file: the one that parts its first line into most names, of those that part the next one into as many cells."""

MOST_IN_BLOCK = 2**31 - 1
"""Bytes that pyarrow reads at once, at most, and characters of a cell for Python's csv."""

ROWS = 1 << 14
"""Rows of a CSV file that are written at a time."""

CSV_LIMIT = Lock()
"""Held while the limit of Python's csv, which is one for all threads, is another."""


# Reading


def read_csv(path: Path) -> FileTable:
    """Read a file as columns of text by the names in its first line; numbers are parsed where they are asked for."""
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


# Writing


def write_rows(target: TextIO, table: FileTable, *, names: bool) -> None:
    """Write the rows of a table as lines of CSV, with the names before them or without."""
    cells = list(table.each(lambda column: column.cells()).values())
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
