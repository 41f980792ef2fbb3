"""Columns of a file: kept as they stand in the file, and parsed only where their numbers or words are asked for."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from calibrant._core.arrays import ArrayLike, NDArray
from calibrant._core.checks import are_words

Array = NDArray[Any]

Rows = slice | NDArray[np.intp]
"""Some rows, from one to another or by their numbers."""

WHOLE = r"^(0|-?[1-9][0-9]*)$"
"""A whole number as it is printed. With a leading zero it is a code, such as 007, and stays a word."""

CODE = r"^[+-]?0[0-9]"
FIGURE = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf(inity)?|nan)", re.IGNORECASE)
"""A number: what pyarrow parses, and not the other spellings of Python, such as 1_0 and full-width digits."""

BLANKS = " \t"
"""What may stand around a number. Other spaces, such as one that does not break a line, make a cell a word."""

MISSING = ("", "nan", "NaN")
"""Cells that are no number in a column of numbers. In a column of words only an empty cell is missing."""


def is_figure(cell: str) -> bool:
    """Whether a cell is a number, and no code with a leading zero: what a column of numbers may hold."""
    stripped = cell.strip(BLANKS)
    return FIGURE.fullmatch(stripped) is not None and re.match(CODE, stripped) is None


def no_number(cell: Any, column: str, *, where: str, row: int) -> TypeError:
    """Return the error of a column of numbers with a cell that is none."""
    cure = "Correct the column, or choose others with --prob or --logit."
    if re.fullmatch(r"\s*[+-]?[0-9]*,[0-9]+\s*", str(cell)):
        cure = "Write decimals with a point, or separate the columns by semicolons."
    elif isinstance(cell, (list, np.ndarray)):
        cure = "Write lists of one length as such: in polars .list.to_array(LENGTH)."
    return TypeError(f"{where} must hold numbers in the column {column!r}; got {cell!r} in row {row}. {cure}")


def in_python(message: str) -> str:
    """Return a message to users of the command line in the words of the function."""
    message = message.replace("--prob or --logit", "prob=")
    message = message.replace(", or with --correct if it says which answers are correct", "")
    for word in ("label", "prob", "logit", "weight"):
        message = message.replace(f"--{word}", "prob=" if word == "logit" else f"{word}=")
    return message.replace("--classes A,B,...", "labels=")


def has_arrow() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def require_arrow(doing: str) -> None:
    """Refuse what only pyarrow can do where it is not installed."""
    if not has_arrow():
        raise ImportError(f"{doing} needs pyarrow; it is not installed. pip install 'calibrant[table]'")


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says, which is what a sentence of ours quotes."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


class Values:
    """Numbers, booleans or words of a NumPy array: computed, or of an NPZ file, which is read when they are asked for."""

    field: Any = None

    def __init__(
        self, data: ArrayLike | Callable[[], Array], shape: tuple[int, ...] | None = None, *, decimal: str = "."
    ) -> None:
        self._data, self.decimal = data, decimal
        self.shape: tuple[int, ...] = np.shape(data) if shape is None else shape  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 0

    @cached_property
    def data(self) -> Array:
        """The array."""
        return np.asarray(self._data() if callable(self._data) else self._data)

    def values(self) -> Array:
        """Return the array."""
        return self.data

    @property
    def numbers(self) -> Array:
        """The array."""
        return self.data

    def cells(self) -> list[str]:
        """Return numbers in the shortest form that is read back the same, booleans in lower case, NaN as nothing.

        Dates are those of ISO 8601, and bytes are the text that they are in UTF-8.
        """
        self._require_one_axis("CSV has no cells")
        kind, listed = self.data.dtype.kind, self.data.tolist()
        if kind == "V":
            raise TypeError("CSV has no cells for records")
        if kind == "M":
            return ["" if day == "NaT" else day for day in np.datetime_as_string(self.data).tolist()]
        if kind == "S":
            try:
                return [value.decode() for value in listed]
            except UnicodeDecodeError as error:
                raise TypeError("CSV has no cells for binary") from error
        if kind == "b":
            return ["true" if value else "false" for value in listed]
        cells = ["" if value != value or value is None else str(value) for value in listed]
        return [cell.replace(".", self.decimal) for cell in cells] if kind == "f" else cells

    def arrow(self) -> Any:
        """Return the array as one of pyarrow."""
        import pyarrow

        self._require_one_axis("Parquet and Feather have no columns")
        return pyarrow.array(np.ascontiguousarray(self.data))

    def _require_one_axis(self, lacking: str) -> None:
        if len(self.shape) > 1:
            raise TypeError(f"{lacking} for arrays of {len(self.shape)} axes")

    def at(self, rows: Rows) -> Values:
        """Return some of the rows."""
        shape = np.arange(len(self))[rows].size, *self.shape[1:]
        return Values(lambda: self.data[rows], shape, decimal=self.decimal)


class Understood(Values):
    """What the cells of a column mean, such as C and I of answers; where the column is copied it stays as it was."""

    def __init__(self, data: Array, original: Column) -> None:
        super().__init__(data)
        self.original, self.field = original, original.field

    def cells(self) -> list[str]:
        """Return the cells of the file."""
        return self.original.cells()

    def arrow(self) -> Any:
        """Return the column of the file."""
        return self.original.arrow()

    def at(self, rows: Rows) -> Understood:
        """Return some of the rows."""
        return Understood(self.data[rows], self.original.at(rows))


class Arrow:
    """A column of a Parquet or Feather file, of any type; its field holds what is said of it: metadata, whether it has gaps."""

    decimal = "."

    def __init__(self, data: Any, field: Any = None) -> None:
        from pyarrow import types

        self.data, self.field = data, field
        lists = (data.type.list_size,) if types.is_fixed_size_list(data.type) else ()
        self.shape: tuple[int, ...] = (len(data), *lists)

    def __len__(self) -> int:
        return len(self.data)

    def values(self) -> Array:
        """Return numbers, booleans or words; decimals and dictionaries as what they stand for."""
        import pyarrow
        from pyarrow import compute

        data = self.data
        if len(self.shape) > 1:
            if data.null_count:
                must = "a column of lists must have a list in each row"
                raise ValueError(f"{must}; {data.null_count} are missing. Drop these rows.")
            return Arrow(compute.list_flatten(data)).values().reshape(self.shape)
        if pyarrow.types.is_dictionary(data.type):
            data = data.cast(data.type.value_type)
        if pyarrow.types.is_decimal(data.type):
            data = data.cast(pyarrow.string()).cast(pyarrow.float64())  # at once it is a unit off
        found = in_numpy(data)
        if found.dtype == object and are_words(words := found.tolist()):
            if cut := next((word for word in words if word.endswith("\0")), None):
                must = "words must not end in a NUL character, which NumPy drops"
                raise ValueError(f"{must}; got {cut!r}. Write the file without it.")
            return found.astype(str)
        return found

    @property
    def numbers(self) -> Array:
        """The values of a column that is to hold numbers; words show that a cell is none."""
        return self.values()

    def cells(self) -> list[str]:
        """Return text; what is missing is an empty cell."""
        import pyarrow

        if pyarrow.types.is_nested(self.data.type) or pyarrow.types.is_binary(self.data.type):
            raise TypeError(f"CSV has no cells for {self.data.type}")
        return ["" if cell is None else cell for cell in self.data.cast(pyarrow.string()).to_pylist()]

    def arrow(self) -> Any:
        """Return the column itself."""
        return self.data

    def at(self, rows: Rows) -> Arrow:
        """Return some of the rows."""
        return Arrow(self._some(rows), self.field)

    def _some(self, rows: Rows) -> Any:
        import pyarrow

        if isinstance(rows, slice):
            return self.data[rows]
        # Pyarrow takes no rows of views, as polars writes words.
        plain_of = {pyarrow.string_view(): pyarrow.string(), pyarrow.binary_view(): pyarrow.binary()}
        plain = plain_of.get(kind := self.data.type)
        return self.data.take(rows) if plain is None else self.data.cast(plain).take(rows).cast(kind)


def in_numpy(data: Any) -> Array:
    """Return an array of pyarrow, or one in chunks, as one of NumPy: it shares the memory of numbers that are all there."""
    import pyarrow
    from pyarrow import types

    is_number = types.is_integer(data.type) or types.is_floating(data.type)
    if not is_number or data.null_count:
        return np.asarray(data.to_numpy(zero_copy_only=False))
    # pyarrow's own way loads pandas, which takes longer than all else that is read here.
    whole = data.combine_chunks() if isinstance(data, pyarrow.ChunkedArray) else data
    code = "f" if types.is_floating(data.type) else "i" if types.is_signed_integer(data.type) else "u"
    numbers = np.frombuffer(whole.buffers()[1] or b"", dtype=f"{code}{data.type.bit_width // 8}")
    return numbers[whole.offset : whole.offset + len(whole)]


class Text(Arrow):
    """Cells of a CSV file, as they were written.

    Parameters
    ----------
    data : list of str or pyarrow array of strings
        The cells.
    decimal : str, default="."
        What separates the digits of a fraction.
    """

    def __init__(self, data: Any, *, decimal: str = ".") -> None:
        import pyarrow

        super().__init__(pyarrow.array(data, pyarrow.string()) if isinstance(data, list) else data)
        self.decimal = decimal

    def values(self) -> Array:
        """Return whole numbers, numbers, booleans or words: the first of these that all cells are."""
        return self._parsed

    @property
    def numbers(self) -> Array:
        """The cells in double precision, missing ones as NaN; as words where one is neither, or all are missing."""
        return np.array(self.cells()) if self._floats is None else self._floats

    @cached_property
    def _parsed(self) -> Array:
        import pyarrow
        from pyarrow import compute

        trimmed = compute.utf8_trim(self.data, BLANKS)
        if compute.all(compute.match_substring_regex(trimmed, WHOLE), min_count=0).as_py():
            try:
                return in_numpy(trimmed.cast(pyarrow.int64()))
            except ValueError:  # more than 64 bits
                pass
        if self._floats is not None:
            return self._floats
        distinct = set(compute.unique(self.data).to_pylist())
        if distinct <= {"True", "False"} or distinct <= {"true", "false"}:
            return np.isin(self.cells(), ("True", "true"))
        if "" in distinct:
            return np.array([cell or None for cell in self.cells()], dtype=object)
        return super().values()

    @cached_property
    def _floats(self) -> Array | None:
        from pyarrow import compute

        found = _floats(self.data)
        return (
            _floats(compute.replace_substring(self.data, ",", ".")) if found is None and self.decimal == "," else found
        )

    def wrong_cell(self) -> tuple[int, str]:
        """Return the row and the text of the first cell that is no number; of a missing one only if no other is none."""
        point = [cell.replace(",", ".") if self.decimal == "," else cell for cell in self.cells()]
        wrong = [row for row, cell in enumerate(point) if not is_figure(cell)]
        row = next(iter([*(row for row in wrong if point[row].strip(BLANKS) not in MISSING), *wrong]), 0)
        return row, self.cells()[row]

    def at(self, rows: Rows) -> Text:
        """Return some of the rows."""
        return Text(self._some(rows), decimal=self.decimal)


def _floats(cells: Any) -> Array | None:
    """Return cells of pyarrow as numbers, missing ones as NaN; None where all are missing, or one is no number."""
    import pyarrow
    from pyarrow import compute

    def cast(some: Any) -> Array | None:
        try:
            return in_numpy(some.cast(pyarrow.float64()))
        except ValueError:
            return None

    found = cast(cells)  # most often nothing is missing, or has spaces
    if found is None or np.isnan(found).all():
        cells = compute.utf8_trim(cells, BLANKS)
        missing = compute.is_in(cells, value_set=pyarrow.array(MISSING))
        found = None if compute.all(missing).as_py() else cast(compute.if_else(missing, "nan", cells))
    return None if found is None or compute.any(compute.match_substring_regex(cells, CODE)).as_py() else found


Column = Values | Arrow
"""A column: its values, the cells that stand for it in a CSV file, the array of pyarrow, and some of its rows."""


# The arrays of an NPZ file: looked at when the file is opened, decompressed only where their numbers are asked for


MOST_DEFLATED = 1032
"""Bytes that a byte of a deflated file stands for at most."""


def read_npz(path: Path) -> FileTable:
    """Return the arrays in a file, by name: their heads are read and compared with their sizes.

    What is no array (it does not end in .npy) is left alone, and what holds Python objects is not read.
    """
    if not zipfile.is_zipfile(path):
        raise ValueError("it is no zip archive")
    found: dict[str, Column] = {}
    with zipfile.ZipFile(path) as archive:
        for info in (info for info in archive.infolist() if info.filename.endswith(".npy")):
            name = info.filename.removesuffix(".npy")
            if name in found:
                raise ValueError(f"it has the array {name!r} more than once")
            shape, has_objects = _head(archive, info)
            found[name] = Values(partial(_member, path, info, has_objects), shape)
    return FileTable(found)


def _head(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[tuple[int, ...], bool]:
    """Return what the head of an array declares: its shape, which the size must bear out, and whether it holds objects."""
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        read_head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_head(stream)
        size, count = info.file_size - stream.tell(), math.prod(shape)
    packed = info.compress_size * (MOST_DEFLATED if info.compress_type == zipfile.ZIP_DEFLATED else 1)
    known = info.compress_type in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)
    fits = count <= size if dtype.hasobject else count * dtype.itemsize == size  # a pickled object has a byte at least
    if not dtype.itemsize or not fits or min(shape, default=0) < 0 or (known and packed < info.file_size):
        declared = f"the array {info.filename!r} declares a shape, {shape} of {dtype}"
        raise ValueError(f"{declared}, that its size does not bear out")
    return tuple(shape), dtype.hasobject


def _member(path: Path, info: zipfile.ZipInfo, has_objects: bool) -> Array:
    if has_objects:
        raise TypeError(
            f"{path} must hold numbers, booleans or words in {info.filename!r}; it holds Python objects, "
            "which may run code when they are read. Save it with another dtype: .astype(str), or .astype(float)."
        )
    try:
        with zipfile.ZipFile(path) as archive, archive.open(info) as stream:
            found: Array = np.lib.format.read_array(stream, allow_pickle=False)
    except Exception as error:  # of zipfile, zlib and numpy
        must = f"{path} must hold a readable array {info.filename!r}"
        raise ValueError(f"{must}; it is not: {first_line(error)}. Was it cut or damaged?") from error
    return found


# Columns of a file by name


Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class FileTable(Mapping[str, Array]):
    """Columns by name, in the order of the file.

    ``table[name]`` parses a column; ``table.columns[name]`` is the column as it stands.
    """

    columns: Mapping[str, Column]
    separator: str = ","
    metadata: Mapping[bytes, bytes] = field(default_factory=dict)

    @classmethod
    def of_names(cls, names: Iterable[str]) -> FileTable:
        """Return a table without rows."""
        return cls({name: Values(np.empty(0)) for name in names})

    def __getitem__(self, name: str) -> Array:
        return self.columns[name].values()

    def numbers(self, name: str) -> Array:
        """Parse a column that is to hold numbers: words show that a cell is none."""
        return self.columns[name].numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns  # without a look at what it holds

    def __len__(self) -> int:
        return len(self.columns)

    def taken(self, rows: Rows) -> FileTable:
        """Return some of the rows."""
        return replace(self, columns={name: column.at(rows) for name, column in self.columns.items()})

    def axes(self, name: str) -> int:
        """Return how many axes a column has: in an NPZ file it may have none, or several."""
        return len(self.columns[name].shape)

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
