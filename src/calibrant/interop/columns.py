"""A column of a file: kept as it stands in the file, and parsed only where its numbers or words are asked for."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import coded, text_of

# A column of a file: kept as it stands in the file, and parsed only where its numbers or words are asked for


Array = npt.NDArray[Any]

WHOLE = r"^(0|-?[1-9][0-9]*)$"
"""A whole number as it is printed. With a leading zero it is a code, such as 007, and stays a word."""

CODE = r"^[+-]?0[0-9]"
FIGURE = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf(inity)?|nan)", re.IGNORECASE)
"""A number: what pyarrow parses, and not the other spellings of Python, such as 1_0 and full-width digits."""

BLANKS = " \t"
"""What may stand around a number. Other spaces, such as one that does not break a line, make a cell a word."""

PLUS, MINUS, ZERO, BASE = *map(np.uint8, b"+-0"), np.uint8(10)
"""Signs, and the bytes of digits: so many from that of zero on."""

SAMPLE = 1000
"""Cells at the beginning of a column that tell whether most of its cells differ."""

MISSING = ("", "nan", "NaN")
"""Cells that are no number in a column of numbers. In a column of words only an empty cell is missing."""


class Column(Protocol):
    """What each kind of column gives."""

    def __len__(self) -> int: ...

    def values(self) -> Array:
        """Return the numbers, booleans or words; what is missing is NaN or None."""

    def cells(self) -> Sequence[str]:
        """Return what stands in a CSV file."""

    def arrow(self) -> Any:
        """Return an array of pyarrow."""

    def sliced(self, rows: slice) -> Column:
        """Return some of the rows."""


class Values:
    """Numbers, booleans or words of a NumPy array: of an NPZ file, or computed."""

    def __init__(self, data: Array) -> None:
        self.data = np.asarray(data)

    def __len__(self) -> int:
        return len(self.data)

    def values(self) -> Array:
        """Return the array itself."""
        return self.data

    def cells(self) -> list[str]:
        """Return numbers in the shortest form that is read back the same, booleans in lower case, NaN as nothing.

        Dates are those of ISO 8601, and bytes are the text that they are in UTF-8.
        """
        self._require_one_axis("CSV has no cells")
        if self.data.dtype.kind == "V":
            raise TypeError("CSV has no cells for records")
        if self.data.dtype.kind == "M":
            return ["" if day == "NaT" else day for day in np.datetime_as_string(self.data).tolist()]
        listed = self.data.tolist()
        if self.data.dtype.kind == "S":
            return [_as_text(value) for value in listed]
        if self.data.dtype.kind == "b":
            return ["true" if value else "false" for value in listed]
        return ["" if value != value or value is None else str(value) for value in listed]

    def arrow(self) -> Any:
        """Return the array as one of pyarrow."""
        import pyarrow

        self._require_one_axis("Parquet and Feather have no columns")
        return pyarrow.array(np.ascontiguousarray(self.data))

    def _require_one_axis(self, lacking: str) -> None:
        if self.data.ndim > 1:
            raise TypeError(f"{lacking} for arrays of {self.data.ndim} axes")

    def sliced(self, rows: slice) -> Values:
        """Return some of the rows."""
        return Values(self.data[rows])


def _as_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise TypeError("CSV has no cells for binary") from error


class Text:
    """Cells of a CSV file, as they were written.

    Parameters
    ----------
    data : list of str or pyarrow array of strings
        The cells.
    decimal : str, default="."
        What separates the digits of a fraction.
    """

    def __init__(self, data: Any, *, decimal: str = ".") -> None:
        self.data = data
        self.decimal = decimal

    def __len__(self) -> int:
        return len(self.data)

    def values(self) -> Array:
        """Return whole numbers, numbers, booleans or words: the first of these that all cells are."""
        return self._parsed

    @cached_property
    def _parsed(self) -> Array:
        distinct, code = _distinct(self.data)
        found = _of_one_kind(distinct, self.decimal)
        return found if code is None else found[code]

    @cached_property
    def numbers(self) -> Array:
        """The cells in double precision, missing ones as NaN; as words where one is neither, or all are missing."""
        distinct, code = _distinct(self.data)
        found = (_floats_of_list if isinstance(distinct, list) else _floats_of_arrow)(distinct)
        if found is None and self.decimal == ",":
            found = _floats_of_list([cell.replace(",", ".") for cell in _listed(distinct)])
        if found is None:
            return np.array(self.cells())
        return found if code is None else found[code]

    def wrong_cell(self) -> int:
        """Return the row of the first cell for which the column is none of numbers; of a missing one only if no other is."""
        point = [cell.replace(",", ".") if self.decimal == "," else cell for cell in self.cells()]
        wrong = [row for row, cell in enumerate(point) if not is_figure(cell)]
        known = [row for row in wrong if point[row].strip(BLANKS) not in MISSING]
        return next(iter([*known, *wrong]), int(np.argmax([len(cell.strip(BLANKS)) for cell in point])))

    def cells(self) -> list[str]:
        """Return the cells."""
        return _listed(self.data)

    def arrow(self) -> Any:
        """Return the cells as strings of pyarrow."""
        import pyarrow

        return pyarrow.array(self.data) if isinstance(self.data, list) else self.data

    def sliced(self, rows: slice) -> Text:
        """Return some of the rows."""
        return Text(self.data[rows], decimal=self.decimal)


def _distinct(cells: Any) -> tuple[Any, Array | None]:
    """Return the cells that differ, and which of them stands in each row; where most differ all cells, and nothing."""
    sample = _listed(cells[:SAMPLE])
    if 2 * len(set(sample)) >= len(sample):
        return cells, None
    if not isinstance(cells, list):
        found = coded(cells)
        return found.dictionary, found.indices.to_numpy()
    place = {cell: at for at, cell in enumerate(dict.fromkeys(cells))}
    return list(place), np.fromiter(map(place.__getitem__, cells), dtype=np.intp, count=len(cells))


def _of_one_kind(data: Any, decimal: str) -> Array:
    """Return whole numbers, numbers, booleans or words: it depends on which cells there are, not on how many."""
    numbers = _numbers_of_list if isinstance(data, list) else _numbers_of_arrow
    found = numbers(data)
    cells = _listed(data) if found is None else []
    if found is None and decimal == ",":
        found = _numbers_of_list([cell.replace(",", ".") for cell in cells])
    if found is not None:
        return found
    distinct = set(cells)
    if distinct <= {"True", "False"} or distinct <= {"true", "false"}:
        return np.isin(np.array(cells), ("True", "true"))
    if "" in distinct:
        return np.array([cell or None for cell in cells], dtype=object)
    if cut := next((cell for cell in distinct if cell.endswith("\0")), None):
        raise ValueError(
            f"words must not end in a NUL character, which NumPy drops; got {cut!r}. Write the file without it."
        )
    return np.array(cells)


def _listed(data: Any) -> list[str]:
    found: list[str] = data if isinstance(data, list) else data.to_pylist()
    return found


def _numbers_of_list(cells: list[str]) -> Array | None:
    stripped = [cell.strip(BLANKS) for cell in cells]
    if all(re.fullmatch(WHOLE, cell) for cell in stripped):
        return _or_none(lambda: np.array(stripped).astype(np.int64))
    return _floats_of_list(stripped)


def _floats_of_list(cells: list[str]) -> Array | None:
    stripped = [cell.strip(BLANKS) for cell in cells]
    if all(cell in MISSING for cell in stripped) or not all(cell in MISSING or is_figure(cell) for cell in stripped):
        return None
    return _or_none(lambda: np.array(["nan" if cell in MISSING else cell for cell in stripped]).astype(np.float64))


def _numbers_of_arrow(cells: Any) -> Array | None:
    import pyarrow
    from pyarrow import compute

    def trimmed(some: Any) -> Any:
        return compute.utf8_trim(some, BLANKS)

    chunks = getattr(cells, "chunks", [cells])
    if all(compute.all(compute.match_substring_regex(trimmed(chunk), WHOLE), min_count=0).as_py() for chunk in chunks):
        return _or_none(lambda: trimmed(cells).cast(pyarrow.int64()).to_numpy())
    return _floats_of_arrow(cells)


def _floats_of_arrow(cells: Any) -> Array | None:
    import pyarrow
    from pyarrow import compute

    found = _or_none(lambda: cells.cast(pyarrow.float64()).to_numpy())  # most often nothing is missing, or has spaces
    if found is None or np.isnan(found).all():
        cells = compute.utf8_trim(cells, BLANKS)
        missing = compute.is_in(cells, value_set=pyarrow.array(MISSING))
        if compute.all(missing).as_py():
            return None
        cells = compute.if_else(missing, "nan", cells)
        found = _or_none(lambda: cells.cast(pyarrow.float64()).to_numpy())
    return None if found is None or _has_code(cells) else found


def _has_code(cells: Any) -> bool:
    """Whether a cell of pyarrow, none of which has spaces around it, is as ``CODE``: that is seen in its first three bytes."""
    for chunk in getattr(cells, "chunks", [cells]):
        _, offsets, data = chunk.buffers()
        if not len(chunk) or data is None:
            continue
        ends = np.frombuffer(offsets, dtype=np.int32, count=chunk.offset + len(chunk) + 1)[chunk.offset :]
        letter = np.append(np.frombuffer(data, dtype=np.uint8, count=int(ends[-1])), np.zeros(3, dtype=np.uint8))
        first = letter[ends[:-1]]
        start = ends[:-1] + ((first == PLUS) | (first == MINUS))
        if ((start + 1 < ends[1:]) & (letter[start] == ZERO) & (letter[start + 1] - ZERO < BASE)).any():
            return True
    return False


def is_figure(cell: str) -> bool:
    """Whether a cell is a number, and no code with a leading zero: what a column of numbers may hold."""
    stripped = cell.strip(BLANKS)
    return FIGURE.fullmatch(stripped) is not None and re.match(CODE, stripped) is None


def _or_none(parse: Callable[[], Array]) -> Array | None:
    """Return what is parsed, or None where a cell is no number or does not fit 64 bits."""
    try:
        return parse()
    except (ValueError, OverflowError):  # pyarrow's errors are ValueErrors
        return None


class Arrow:
    """A column of a Parquet or Feather file, of any type; its field holds what is said of it: metadata, whether it has gaps."""

    def __init__(self, data: Any, field: Any) -> None:
        self.data = data
        self.field = field

    def __len__(self) -> int:
        return len(self.data)

    def values(self) -> Array:
        """Return numbers, booleans or words; decimals and dictionaries as what they stand for."""
        import pyarrow

        data = self.data
        if (words := text_of(data)) is not None:
            return words
        if pyarrow.types.is_dictionary(data.type):
            data = data.cast(data.type.value_type)
        if pyarrow.types.is_decimal(data.type):
            data = data.cast(pyarrow.float64())
        is_one = isinstance(
            data, pyarrow.Array
        )  # of a batch; a column of a table may have several, and is always copied
        found: Array = data.to_numpy(zero_copy_only=False) if is_one else data.to_numpy()
        if found.dtype == object and all(isinstance(value, str) for value in found.tolist()):
            return found.astype(str)
        return found

    def cells(self) -> list[str]:
        """Return text; what is missing is an empty cell."""
        import pyarrow

        if pyarrow.types.is_nested(self.data.type) or pyarrow.types.is_binary(self.data.type):
            raise TypeError(f"CSV has no cells for {self.data.type}")
        return ["" if cell is None else cell for cell in self.data.cast(pyarrow.string()).to_pylist()]

    def arrow(self) -> Any:
        """Return the column itself."""
        return self.data

    def sliced(self, rows: slice) -> Arrow:
        """Return some of the rows."""
        start, stop, _ = rows.indices(len(self.data))
        return Arrow(self.data.slice(start, max(stop - start, 0)), self.field)


def has_arrow() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


# The arrays of an NPZ file: looked at when the file is opened, decompressed only where their numbers are asked for


MOST_DEFLATED = 1032
"""Bytes that a byte of a deflated file stands for at most."""


@dataclass(frozen=True, eq=False)
class Member:
    """A column that is an array of an NPZ file; ``rows`` of it, once it has been sliced."""

    path: Path
    info: zipfile.ZipInfo
    shape: tuple[int, ...]
    has_objects: bool = False
    rows: range = field(default=range(0))

    def __len__(self) -> int:
        return len(self.rows)

    def values(self) -> Array:
        """Return the array."""
        return self._read[self.rows.start : self.rows.stop : self.rows.step] if self.shape else self._read

    def cells(self) -> list[str]:
        """Return what stands in a CSV file."""
        return Values(self.values()).cells()

    def arrow(self) -> Any:
        """Return an array of pyarrow."""
        return Values(self.values()).arrow()

    def sliced(self, rows: slice) -> Member:
        """Return some of the rows."""
        return replace(self, rows=self.rows[rows])

    @cached_property
    def _read(self) -> Array:
        if self.has_objects:
            raise TypeError(
                f"{self.path} must hold numbers, booleans or words in {self.info.filename!r}; it holds Python objects, "
                "which may run code when they are read. Save it with another dtype: .astype(str), or .astype(float)."
            )
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.info) as stream:
                found: Array = np.lib.format.read_array(stream, allow_pickle=False)
        except Exception as error:  # of zipfile, zlib and numpy
            raise ValueError(
                f"{self.path} must hold a readable array {self.info.filename!r}; it is not: "
                f"{str(error).splitlines()[0] if str(error) else type(error).__name__}. Was it cut or damaged?"
            ) from error
        return found


def members_of(path: Path) -> dict[str, Member]:
    """Return the arrays in a file, by name: their heads are read and compared with their sizes.

    What is no array (it does not end in .npy) is left alone, and what holds Python objects is not read.
    """
    if not zipfile.is_zipfile(path):
        raise ValueError("it is no zip archive")
    found: dict[str, Member] = {}
    with zipfile.ZipFile(path) as archive:
        for info in (info for info in archive.infolist() if info.filename.endswith(".npy")):
            name = info.filename.removesuffix(".npy")
            if name in found:
                raise ValueError(f"it has the array {name!r} more than once")
            shape, has_objects = _head(archive, info)
            found[name] = Member(path, info, shape, has_objects, range(shape[0] if shape else 0))
    return found


def _head(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[tuple[int, ...], bool]:
    """Return what the head of an array declares: its shape, which the size must bear out, and whether it holds objects."""
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        read_head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_head(stream)
        head = stream.tell()
    packed = info.compress_size * (MOST_DEFLATED if info.compress_type == zipfile.ZIP_DEFLATED else 1)
    known = info.compress_type in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)
    size = info.file_size - head
    borne_out = math.prod(shape) <= size if dtype.hasobject else math.prod(shape) * dtype.itemsize == size
    if (
        not dtype.itemsize
        or not borne_out  # a pickled object has a byte at least
        or (known and packed < info.file_size)
    ):
        raise ValueError(
            f"the array {info.filename!r} declares a shape, {shape} of {dtype}, that its size does not bear out"
        )
    return tuple(shape), dtype.hasobject


# The first line of an error, which is what a sentence of ours quotes


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


# Columns of a file by name: copied as they stand, and parsed only where they are asked for


Made = TypeVar("Made")

FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]", re.DOTALL)
"""How a cell begins that spreadsheets take for a formula, full-width signs too; quotes before it are those of an escape."""

NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)


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

    def numbers(self, name: str) -> Array:
        """Parse a column that is to hold numbers: words show that a cell is none."""
        column = self.columns[name]
        return column.numbers if isinstance(column, Text) else column.values()

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
        columns = self.each(lambda column: Text(list(map(_escaped, column.cells()))))
        return replace(self, columns={_escaped(name): column for name, column in columns.items()})

    def each(self, make: Callable[[Column], Made]) -> dict[str, Made]:
        """Return what a format has for each column; that it has nothing is said with the name of the column."""
        made = {}
        for name, column in self.columns.items():
            try:
                made[name] = make(column)
            except (TypeError, NotImplementedError) as error:  # pyarrow's for what it cannot do is one of the latter
                raise TypeError(f"{first_line(error)}, for the column {name!r}") from error
        return made

    def without(self, left_out: Set[str]) -> FileTable:
        """Return the other columns."""
        return replace(self, columns={name: c for name, c in self.columns.items() if name not in left_out})


def _escaped(cell: str) -> str:
    return f"'{cell}" if FORMULA.match(cell) and not NUMBER.fullmatch(cell) else cell
