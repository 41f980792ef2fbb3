"""How a file is written: whole or not at all."""

from __future__ import annotations

import csv
import errno
import mmap
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import takewhile
from pathlib import Path, PurePosixPath
from shutil import rmtree
from threading import Lock
from typing import Any, TextIO

from calibrant.interop.columns import FileTable, Text, has_arrow
from calibrant.interop.local_files import STREAMED, fits, local_files, local_path, split

# CSV files, read by pyarrow where it is installed and by Python alone where it is not, and written by Python


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


# How a file is written: whole or not at all


LONGEST = 40
"""Characters of a file's name that stand in the name of what is written beside it: names have a limit."""

NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""What a file system answers that has no hard links."""


PAGES = (".html", ".htm")
"""Endings of a page."""


def require_free(path: Path, *, force: bool, inputs: Sequence[str] = (), endings: Sequence[str] = ()) -> None:
    """Refuse an output path that exists, unless asked to replace it, is no file, is of what is read or has another ending."""
    if path.is_dir():
        raise IsADirectoryError(f"the output must be a file; got the directory {path}. Name a file in it.")
    if (path.exists() and not path.is_file()) or _is_loop(path):
        raise OSError(
            f"the output must be a file; got {path}, which is a device, a pipe or a loop of links. Name a file."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the output's directory must exist; got {path.parent}. Create it first.")
    if path.exists() and not force:
        raise taken(path)
    if path.exists() and any(path.samefile(file) for file in _read(inputs)):
        raise ValueError(f"the output must not be what is read; got {path}, which would be lost. Choose another name.")
    if endings:
        require_ending(path, endings)


def require_ending(path: Path, endings: Sequence[str]) -> None:
    """Refuse an output whose name does not say what is written."""
    if path.suffix.lower() not in endings:
        must = f"the output must end in {' or '.join(endings)}"
        raise ValueError(f"{must}; got {path.name!r}. The ending says what is written: name it so.")


@contextmanager
def whole_file(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Give a path beside ``path`` to write to, and rename it when the block ends without an error.

    Interrupted, or with a full disk, what stood at ``path`` before still stands there. A symbolic link is followed: what it
    points to is written. Without ``force`` a file that another process has put there in the meantime is kept.
    """
    require_free(Path(path), force=force)
    target = Path(os.path.realpath(path))
    # Named before it is made: whenever the process is told to end, there is a name to remove.
    beside = target.with_name(f".{target.name[:LONGEST]}.{secrets.token_hex(4)}.part")
    try:
        try:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            yield beside
            with beside.open("rb") as written:
                os.fsync(written.fileno())
            os.chmod(beside, _mode(target))
            _move(beside, target, force=force)
        finally:
            _remove(beside)
    except FileExistsError:
        raise
    except OSError as error:
        raise failed(target, error) from error
    finally:
        _remove(beside)  # again: a signal may have come between


def _read(inputs: Sequence[str]) -> Iterator[Path]:
    """Yield the files of this machine that are read, those of folders and patterns too."""
    for name in inputs:
        path = local_path(name)
        yield from () if path is None else (file for file in local_files(path) if file.exists())


def _remove(beside: Path) -> None:
    with suppress(OSError):
        beside.unlink()


def _move(beside: Path, target: Path, *, force: bool) -> None:
    """Rename; without force only where nothing stands, even if it was put there a moment ago."""
    if force:
        os.replace(beside, target)
        return
    try:
        os.link(beside, target)  # in one step: it fails where a file stands, and never shows an empty one
    except FileExistsError as error:
        raise taken(target) from error
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _move_without_links(beside, target)


def _move_without_links(beside: Path, target: Path) -> None:
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError as error:
        raise taken(target) from error
    try:
        os.replace(beside, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _is_loop(path: Path) -> bool:
    """Whether a symbolic link leads to itself."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def taken(path: Path) -> FileExistsError:
    """Return the error of an output that exists."""
    return FileExistsError(f"{path} already exists. Pass --force (force=True in Python), or choose another name.")


def failed(target: Path, error: OSError) -> OSError:
    """Return the error of an output that could not be written, with what became of what stood there."""
    kept = "what stood there still does" if target.exists() else "nothing was written"
    return OSError(
        error.errno,
        f"the output must be written whole; {target} could not be: {error.strerror or error}; {kept}. "
        "Make room, or choose another place",
    )


def _mode(target: Path) -> int:
    """Return the permissions of the file replaced, or those that a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


# How a folder of tables is written: whole or not at all, and never in the place of anything else


ELSEWHERE = "Choose another folder."


def require_free_folder(path: Path, *, force: bool, inputs: Sequence[str] = ()) -> None:
    """Refuse the output of a folder that stands there, unless it holds tables alone and is to be replaced.

    Refused too, ``force`` or not, is one that is what is read, holds it, or lies in it, and a symbolic link.
    """
    if path.is_symlink():
        raise ValueError(
            f"the output must be a folder, and no symbolic link; got {path}. Name the folder that it points to."
        )
    real = Path(os.path.realpath(path))
    for name in inputs:
        if _touches(real, name):
            raise ValueError(
                f"the output must be apart from what is read; got {path}, which is {name}, holds it or lies in it. {ELSEWHERE}"
            )
    if real.exists():
        if not real.is_dir():
            raise NotADirectoryError(f"the output must be a folder; got the file {path}. {ELSEWHERE}")
        if not force:
            raise taken(path)
        if Path.cwd().is_relative_to(real):
            raise ValueError(f"the output must not be the folder where you are; got {path}. {ELSEWHERE}")
        _require_tables(real, path)
    if not real.parent.is_dir():
        raise FileNotFoundError(f"the output's directory must exist; got {path.absolute().parent}. Create it first.")


@contextmanager
def whole_folder(path: Path, *, force: bool = False, inputs: Sequence[str] = ()) -> Iterator[Path]:
    """Give a folder beside ``path`` to write files to, and rename it when the block ends without an error.

    With ``force`` a folder of tables that stands there is replaced; what stood in it is gone once the new one is there, and
    is put back after an error or an interruption.
    """
    require_free_folder(path, force=force, inputs=inputs)
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name[:LONGEST]}.{secrets.token_hex(4)}.part")
    before = beside.with_suffix(".old")
    try:
        try:
            _make(beside, target)
            yield beside
            _put(beside, target, before, force=force)
        finally:
            _clean(beside, target, before)
    finally:
        _clean(beside, target, before)  # again: a signal may have come between


def _make(beside: Path, target: Path) -> None:
    try:
        beside.mkdir()
    except OSError as error:
        raise failed(target, error) from error


def _put(beside: Path, target: Path, before: Path, *, force: bool) -> None:
    try:
        if target.exists():
            if not force:
                raise taken(target)
            target.rename(before)
            _require_tables(before, target)  # again: something else may have been put there in the meantime
        beside.rename(target)
    except FileExistsError:
        raise
    except OSError as error:
        if before.exists() and target.exists():
            raise FileExistsError(
                f"the output must not be written by two at a time; {target} was. What stood there is {_kept(target, before)}. "
                f"{ELSEWHERE}"
            ) from error
        raise (taken(target) if target.exists() else failed(target, error)) from error


def _clean(beside: Path, target: Path, before: Path) -> None:
    """Remove what is not needed; what stood there before is put back unless the new folder is in its place."""
    if before.exists() and (beside.exists() or not target.exists()):
        before.rename(_kept(target, before))
    rmtree(beside, ignore_errors=True)
    rmtree(before, ignore_errors=True)


def _kept(target: Path, before: Path) -> Path:
    """Return where the old folder is put back to: another name, that is seen, if another process took the place."""
    return target.with_name(f"{target.name}{before.suffixes[-2]}.old") if target.exists() else target


def _require_tables(folder: Path, path: Path) -> None:
    """Refuse to replace a folder that holds anything but tables: it is none that was written here."""
    for at, folders, files in os.walk(folder):
        links = [name for name in folders if Path(at, name).is_symlink()]
        others = [name for name in files if Path(name).suffix.lower() not in STREAMED or Path(at, name).is_symlink()]
        if strange := [*links, *others]:
            found = Path(at, strange[0]).relative_to(folder)
            raise FileExistsError(
                f"the folder to replace must hold tables alone, as calibrant apply writes them; {path} holds {found}. "
                f"{ELSEWHERE}"
            )


def _touches(output: Path, address: str) -> bool:
    """Whether a folder is what an address stands for, holds it, or lies in it."""
    path = local_path(address)
    if path is None:
        return False
    if any(Path(os.path.realpath(file)).is_relative_to(output) for file in local_files(path)):  # by links, too
        return True
    start, pattern = split(PurePosixPath(path.absolute().as_posix()), os.path.lexists)
    real = Path(os.path.realpath(start))
    if not pattern:
        return real.is_relative_to(output) or output.is_relative_to(real)
    if real.is_relative_to(output) or not output.is_relative_to(real):
        return real.is_relative_to(output)
    inside, last = output.relative_to(real).parts, "**" if pattern[-1] == "**" else "*"
    return any(fits((*inside, *("a" * deep)), (*pattern[:-1], last)) for deep in range(1, len(pattern) + 1))
