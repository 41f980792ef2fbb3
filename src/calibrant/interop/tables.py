"""Tables in files: columns are copied as they stand, and parsed only where they are asked for.

CSV and NPZ need NumPy alone; Parquet and Feather, and CSV at speed, need pyarrow.
"""

from __future__ import annotations

import io
import os
import warnings
import zipfile
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._core.warnings import CalibrationWarning
from calibrant.interop.columns import Array, Arrow, Column, Values, has_arrow
from calibrant.interop.csv_files import read_csv, write_rows
from calibrant.interop.file_table import FileTable
from calibrant.interop.first_line import first_line
from calibrant.interop.local_files import FORMATS
from calibrant.interop.members import Member, members_of
from calibrant.interop.writing import whole_file

ARRAYS = (".npy", ".pt", ".pth")
"""Endings of files of arrays without names: to rename them is of no use."""

OF_ONE_ARRAY = "Read it in Python and write np.savez('forecast.npz', label=y, logits=z), or P=... of probabilities."


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
        table = {"csv": read_csv, "npz": _read_npz, "parquet": _read_arrow, "feather": _read_arrow}[kind](source)
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


def _write_csv(path: Path, table: FileTable, kind: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as target:
        write_rows(target, table, names=True)


def _write_arrow(path: Path, table: FileTable, kind: str) -> None:
    _require_arrow("writing", path)
    import pyarrow.feather
    import pyarrow.parquet

    arrow = arrow_of(table)
    _ = pyarrow.parquet.write_table(arrow, path) if kind == "parquet" else pyarrow.feather.write_feather(arrow, path)


def arrow_of(table: FileTable) -> Any:
    """Return columns as a table of pyarrow, with what is said of them in their file."""
    import pyarrow

    arrays = table.each(lambda column: column.arrow())
    fields = [
        column.field if isinstance(column, Arrow) else pyarrow.field(name, array.type)
        for (name, column), array in zip(table.columns.items(), arrays.values(), strict=True)
    ]
    return pyarrow.table(list(arrays.values()), schema=pyarrow.schema(fields, metadata=dict(table.metadata) or None))


def _require_arrow(job: str, path: Path) -> None:
    if not has_arrow():
        raise ImportError(
            f"{job} {path.suffix.lstrip('.')} needs pyarrow; it is not installed. pip install 'calibrant[table]'"
        )
