"""Tables that are written batch by batch, whole or not at all."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from calibrant.interop.csv_files import write_rows
from calibrant.interop.file_table import FileTable
from calibrant.interop.tables import arrow_of, format_of, require_csv
from calibrant.interop.writing import whole_file


class Writer(ABC):
    """What writes a file."""

    @abstractmethod
    def write(self, table: FileTable) -> None:
        """Write some more rows."""

    @abstractmethod
    def close(self) -> None:
        """End the file."""


class CsvWriter(Writer):
    """A CSV file."""

    def __init__(self, path: Path) -> None:
        self.target, self.is_begun = path.open("w", newline="", encoding="utf-8"), False

    def write(self, table: FileTable) -> None:
        """Write some more lines; the first ones follow the names."""
        write_rows(self.target, table, names=not self.is_begun)
        self.is_begun = True

    def close(self) -> None:
        """Close the file."""
        self.target.close()


class ArrowWriter(Writer):
    """A Parquet or Feather file: all batches are of the schema of the first."""

    def __init__(self, path: Path, open_writer: Callable[[Path, Any], Any]) -> None:
        self.path, self.open_writer = path, open_writer
        self.writer: Any = None

    def write(self, table: FileTable) -> None:
        """Write some more rows."""
        arrow = _without_dictionaries(arrow_of(table))
        if self.writer is None:
            self.writer, self.schema = self.open_writer(self.path, arrow.schema), arrow.schema
        self.writer.write_table(arrow.cast(self.schema))

    def close(self) -> None:
        """Write the end of the file."""
        if self.writer is not None:
            self.writer.close()


def _without_dictionaries(arrow: Any) -> Any:
    """Return a table with words in place of their codes: in a file of batches each has its own."""
    import pyarrow
    from pyarrow import types

    fields = [
        field.with_type(field.type.value_type) if types.is_dictionary(field.type) else field for field in arrow.schema
    ]
    return arrow.cast(pyarrow.schema(fields, metadata=arrow.schema.metadata))


def _writer(path: Path, kind: str) -> Writer:
    if kind == "csv":
        return CsvWriter(path)
    if kind == "parquet":
        from pyarrow import parquet

        return ArrowWriter(path, parquet.ParquetWriter)
    from pyarrow import ipc

    options = ipc.IpcWriteOptions(compression="lz4")
    return ArrowWriter(path, lambda to, schema: ipc.new_file(str(to), schema, options=options))


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
    with whole_file(path, force=force) as beside:
        writer = _writer(beside, kind)
        try:
            for table in tables:
                writer.write(table.escaped() if escape_formulas else table)
        finally:
            writer.close()
