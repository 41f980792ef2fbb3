"""`calibrant apply` on files that are read and written in batches."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from calibrant.cli.streams import is_large, is_several

if TYPE_CHECKING:
    from calibrant._core.progress import Advance
    from calibrant.interop.batches.addresses import File
    from calibrant.interop.batches.readers import Rows
    from calibrant.interop.files import ForecastTable
    from calibrant.interop.tables import FileTable

AT_A_TIME = 1 << 17
"""Rows that are read, calibrated and written together."""

Change = Callable[["ForecastTable"], tuple["FileTable", list[str]]]
"""What makes of a forecast its calibrated one, and the names of the columns that are new."""


def is_streamed(arguments: argparse.Namespace) -> bool:
    """Whether the file is a folder or a pattern, or so large that it is better read in batches."""
    from calibrant.interop.columns import has_arrow

    if is_several([arguments.file]):
        return True
    to_table = Path(arguments.output).suffix.lower() != ".npz"
    return to_table and arguments.rows is None and has_arrow() and is_large(arguments.file)


def apply_in_batches(arguments: argparse.Namespace, change: Change) -> int:
    """Calibrate a file, or each file of a folder, batch by batch; what is written is there as a whole or not at all."""
    from calibrant._core.progress import progress_bar
    from calibrant.interop.batches.addresses import files_of
    from calibrant.interop.batches.front import require_arrow
    from calibrant.interop.batches.writing import write_tables
    from calibrant.interop.whole_folder import whole_folder
    from calibrant.interop.writing import require_free

    if arguments.rows is not None:
        raise ValueError(
            f"--rows must be left out with files that are read in batches; got {arguments.rows!r}. Leave it out."
        )
    require_arrow("files")
    files, output = files_of(arguments.file), Path(arguments.output)
    job = _Job(arguments, change)
    options = {"escape_formulas": arguments.escape_formulas}
    with progress_bar(None, show=sys.stderr.isatty(), desc="calibrating", unit="row") as advance:
        if is_several([arguments.file]):
            read = [arguments.file, arguments.calibrator]
            with whole_folder(output, force=arguments.force, inputs=read) as beside:
                for file, name in zip(files, _names(files), strict=True):
                    (beside / name).parent.mkdir(parents=True, exist_ok=True)
                    write_tables(beside / name, job.tables(file, advance), **options)
        else:
            require_free(output, force=arguments.force, inputs=[arguments.calibrator, arguments.file])
            write_tables(output, job.tables(files[0], advance), force=arguments.force, **options)
    shown = ", ".join(job.new[:3]) + (", ..." if len(job.new) > 3 else "")
    of = f"{len(files)} files, " if is_several([arguments.file]) else ""
    print(f"wrote {arguments.output}: {of}{job.n_rows} rows, calibrated {shown}")
    return 0


def _names(files: list[File]) -> list[PurePosixPath]:
    """Return what stands of each path below the folder that holds all of them."""
    paths = [PurePosixPath(file.path) for file in files]
    home = paths[0].parent
    while not all(path.is_relative_to(home) for path in paths):
        home = home.parent
    return [path.relative_to(home) for path in paths]


class _Job:
    """What is calibrated, and how many rows it was so far."""

    def __init__(self, arguments: argparse.Namespace, change: Change) -> None:
        self.arguments, self.change = arguments, change
        self.n_rows, self.new = 0, list[str]()

    def tables(self, file: File, advance: Advance) -> Iterator[FileTable]:
        """Yield the calibrated tables of a file."""
        from calibrant._core.threads import ahead
        from calibrant.interop.batches.pieces import Damaged, said_at
        from calibrant.interop.batches.readers import reader_of

        reader = reader_of(file)
        for found in ahead(reader.whole(AT_A_TIME), 1):
            if isinstance(found, Damaged):
                raise found.error
            try:
                forecast = self._forecast(found, reader.separator, is_text=file.kind == "csv")
                table, self.new = self.change(forecast)
            except (ValueError, TypeError) as error:
                raise said_at(found.place, found.row, error) from error
            self.n_rows += len(found.batch)
            advance(len(found.batch))
            yield table

    def _forecast(self, found: Rows, separator: str, *, is_text: bool) -> ForecastTable:
        from calibrant.interop.columns import Arrow, Text
        from calibrant.interop.files import forecast_in
        from calibrant.interop.tables import FileTable

        schema, decimal = found.batch.schema, "," if separator == ";" else "."
        pairs = zip(schema, found.batch.columns, strict=True)
        columns = {f.name: Text(data, decimal=decimal) if is_text else Arrow(data, f) for f, data in pairs}
        table = FileTable(columns, separator=separator, metadata=schema.metadata or {})
        of = self.arguments
        forecast = forecast_in(
            table, label=of.label, prob=of.prob, logit=of.logit, label_optional=True, where=found.place
        )
        if forecast.guessed and not self.n_rows:
            print(f"{of.file}: reading {', '.join(forecast.guessed)}", file=sys.stderr)
        return forecast
