"""`calibrant fit`: from a calibration set to a calibrator in a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from calibrant.cli.inputs import (
    calibrated_by,
    calibrated_names,
    found_notion,
    is_in_batches,
    is_large,
    is_several,
    labels_of,
    missing,
    missing_of,
    n_rows_of,
    one_row,
    opened,
    read,
    sampled,
    values_of,
    warn_beside_other_rows,
    weight_of,
)

if TYPE_CHECKING:
    from calibrant._core.checks import Advance
    from calibrant.calibrators.base import Calibrator
    from calibrant.interop.columns import FileTable
    from calibrant.interop.readers import BatchRows, File, Reader
    from calibrant.interop.tables import ForecastTable


NOT_FOUND = ("gradient_", "middle_", "row_weight_")
"""Fitted numbers that say how well a fit went, what features measure from, or what a row weighs, and not what was found."""

COUNTS = ("n_bins_", "n_regions_")
"""Whole numbers that were found, and not given by the data."""


FEWEST_SAMPLED = 10_000
"""Rows of streamed rows to which the default is fitted at least, however many classes they have."""


def run_fit(arguments: argparse.Namespace) -> int:
    """Fit a calibrator and save it."""
    from calibrant._core.border import as_problem
    from calibrant._core.checks import left_out
    from calibrant._core.rows import OF_CALIBRATOR
    from calibrant.calibrators.evidence import MANY_NUMBERS
    from calibrant.cli.inputs import calibrator_of, method_of
    from calibrant.interop.save import save_calibrator
    from calibrant.interop.tables import ForecastTable
    from calibrant.interop.writing import require_free

    read_too = [] if arguments.other is None else [arguments.other]
    inputs = [arguments.file, *read_too]
    require_free(Path(arguments.output), force=arguments.force, inputs=inputs, endings=(".json",))
    rows: tuple[Any, ...]
    forecast, of_all, problem = opened(arguments, [arguments.file]), "", None
    if not isinstance(forecast, ForecastTable) and not arguments.method and not arguments.notion:
        stream = forecast  # the default is fitted to rows in memory
        forecast = sampled(stream, max(MANY_NUMBERS // stream.n_classes, FEWEST_SAMPLED))
        if stream.n_rows != forecast.n_rows:
            of_all = f" of {stream.n_rows} rows, drawn at random"
    if isinstance(forecast, ForecastTable):
        warn_beside_other_rows(arguments, forecast)
        prob, weight = values_of(arguments, forecast), weight_of(arguments, forecast)
        rows, labels = (prob, forecast.y_true, weight), labels_of(arguments, forecast)
        n_columns = prob.shape[1] if prob.ndim > 1 else 1
        if not arguments.method and not arguments.notion:
            data: dict[str, Any] = {"sample_weight": weight, "labels": labels, "input": forecast.input}
            problem = as_problem(forecast.y_true, prob, remedies=OF_CALIBRATOR, **data)
    else:
        hint = "Pass --sample N, to fit to some of the rows and to compare these"
        left_out("--other", arguments.other, "with files that are read in batches", hint=hint)
        rows, labels = (forecast.predictions,), None
        n_columns = len(forecast.forecast_columns)
        if forecast.n_classes > 2:
            n_columns = forecast.n_classes  # perhaps in one column of lists
    chosen = method_of(arguments, problem)
    calibrator = calibrator_of(arguments, chosen, n_columns=n_columns, input=forecast.input, labels=labels)
    calibrator.fit(*rows)
    names = forecast.forecast_columns
    if len(names) < calibrator.n_features_in_:  # a column of lists
        names = tuple(f"{names[0]}_{k}" for k in range(calibrator.n_features_in_))
    save_calibrator(calibrator, arguments.output, columns=names, force=arguments.force)
    details = ", ".join(
        f"{name.rstrip('_')} {value:.6g}"
        for name, value in sorted(vars(calibrator).items())
        if (name.endswith("_") and isinstance(value, float) and name not in NOT_FOUND)
        or (name in COUNTS and isinstance(value, int))
    )
    by_default = "" if arguments.method else " (the default; --method NAME takes another)"
    on = f"{n_rows_of(arguments, forecast)}{of_all or ' rows'}{missing_of(forecast)}"
    print(f"fitted {chosen}{by_default} on {on}{': ' if details else ''}{details}")
    if len(calibrator.classes_) == 2:
        print(f"event: class {calibrator.classes_[1]}")
    if (groups := found_notion(arguments, calibrator)) is not None:
        print(f"found {groups!r}")
    print(f"wrote {arguments.output}")
    return 0


# `calibrant apply`: calibrated predictions of a file, or of files that are read and written in batches


Places = dict[str, dict[str, Any]]
"""The columns that stand in the place of each column of a forecast."""

AT_A_TIME = 1 << 17
"""Rows that are read, calibrated and written together."""

Change = Callable[["ForecastTable"], tuple["FileTable", list[str]]]
"""What makes of a forecast its calibrated one, and the names of the columns that are new."""


def run_apply(arguments: argparse.Namespace) -> int:
    """Calibrate the forecasts in a file."""
    from calibrant.interop.local_files import format_of
    from calibrant.interop.save import load_calibrator
    from calibrant.interop.tables import require_csv, write_table
    from calibrant.interop.writing import require_free

    if is_streamed(arguments):
        calibrator = load_calibrator(arguments.calibrator)
        return apply_in_batches(arguments, lambda forecast: _calibrated_table(arguments, calibrator, forecast))
    require_free(Path(arguments.output), force=arguments.force, inputs=[arguments.calibrator, arguments.file])
    format_of(arguments.output)
    if arguments.escape_formulas:
        require_csv(arguments.output)
    calibrator = load_calibrator(arguments.calibrator)
    forecast = read(arguments, arguments.file, label_optional=True)
    table, new = _calibrated_table(arguments, calibrator, forecast)
    write_table(arguments.output, table, force=arguments.force, escape_formulas=arguments.escape_formulas)
    shown = ", ".join(new[:3]) + (", ..." if len(new) > 3 else "")
    print(f"wrote {arguments.output}: {len(table.columns[new[0]])} rows, calibrated {shown}")
    return 0


def _calibrated_table(
    arguments: argparse.Namespace, calibrator: Calibrator, forecast: ForecastTable
) -> tuple[FileTable, list[str]]:
    """Return the table with calibrated columns in the places of the forecast's, and their names."""
    from calibrant.interop.columns import Values

    places: Places
    calibrated = calibrated_by(arguments, calibrator, forecast, top=arguments.top)
    if arguments.top:  # in the place of the whole forecast
        first = next(name for name in forecast.table if name in forecast.forecast_columns)
        pair = dict(zip(("predicted", "probability"), calibrated, strict=True))
        places = {name: {} for name in forecast.forecast_columns} | {first: pair}
    else:
        columns = calibrated[:, None] if calibrated.ndim == 1 else calibrated
        in_turn = zip(forecast.forecast_columns, calibrated_names(forecast), columns.T, strict=True)
        places = {old: {name: column} for old, name, column in in_turn}
    new = [name for columns in places.values() for name in columns]
    if taken := [name for name in new if name in forecast.table and name not in places]:
        raise ValueError(
            f"calibrated columns need names of their own; {arguments.file} already has {', '.join(taken[:3])}. "
            "Rename or remove these columns."
        )
    # Whatever else the file holds is carried over.
    held = {old: {name: Values(column) for name, column in of.items()} for old, of in places.items()}
    return forecast.table.replaced(held), new


def is_streamed(arguments: argparse.Namespace) -> bool:
    """Whether the file is a folder or a pattern, or so large that it is better read in batches."""
    from calibrant.interop.columns import has_arrow

    if is_in_batches(arguments, [arguments.file]):
        return True
    to_table = Path(arguments.output).suffix.lower() != ".npz"
    return to_table and arguments.rows is None and has_arrow() and is_large(arguments.file)


def apply_in_batches(arguments: argparse.Namespace, change: Change) -> int:
    """Calibrate a file, or each file of a folder, batch by batch; what is written is there as a whole or not at all."""
    from calibrant._core.checks import progress_bar
    from calibrant.interop.columns import require_arrow
    from calibrant.interop.readers import files_of, reader_of
    from calibrant.interop.tables import write_table
    from calibrant.interop.writing import require_free, whole_folder

    if arguments.rows is not None:
        raise ValueError(
            f"--rows must be left out with files that are read in batches; got {arguments.rows!r}. Leave it out."
        )
    require_arrow("reading files in batches")
    files, output = files_of(arguments.file), Path(arguments.output)
    job = _Job(arguments, change)
    options = {"escape_formulas": arguments.escape_formulas}
    with progress_bar(None, show=sys.stderr.isatty(), desc="calibrating", unit="row") as advance:
        if is_several([arguments.file]):
            read = [arguments.file, arguments.calibrator]
            with whole_folder(output, force=arguments.force, inputs=read) as beside:
                for file, name in zip(files, _names(files), strict=True):
                    if (reader := job.reader(file)) is None:
                        continue
                    (beside / name).parent.mkdir(parents=True, exist_ok=True)
                    write_table(beside / name, job.tables(reader, advance), **options)
        else:
            require_free(output, force=arguments.force, inputs=[arguments.calibrator, arguments.file])
            write_table(output, job.tables(reader_of(files[0]), advance), force=arguments.force, **options)
    shown = ", ".join(job.new[:3]) + (", ..." if len(job.new) > 3 else "")
    files_done = "1 file" if job.n_files == 1 else f"{job.n_files} files"
    of = f"{files_done}, " if is_several([arguments.file]) else ""
    print(f"wrote {arguments.output}: {of}{job.n_rows} rows{missing(*job.left_out)}, calibrated {shown}")
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
        self.n_files, self.n_rows, self.left_out, self.new = 0, 0, (0, 0), list[str]()

    def reader(self, file: File) -> Reader | None:
        """Return what reads a file, or None of one that is left out."""
        from calibrant.interop.readers import reader_of

        try:
            return reader_of(file)
        except ValueError as error:
            self._leave_out(error, 0)
            return None

    def tables(self, reader: Reader, advance: Advance) -> Iterator[FileTable]:
        """Yield the calibrated tables of a file, of one without rows a table without rows."""
        from calibrant._core.threads import ahead
        from calibrant.interop.arrow_batches import said_at
        from calibrant.interop.readers import Damaged

        is_begun = False
        self.n_files += 1
        for found in ahead(reader.whole(AT_A_TIME), 1):
            if isinstance(found, Damaged):
                self._leave_out(found.error, found.n_rows)
                continue
            if not len(found.batch):
                continue
            try:
                table = self._changed(found, reader)
            except (ValueError, TypeError) as error:
                self._leave_out(said_at(found.place, found.row, error), len(found.batch))
                continue
            self.n_rows += len(found.batch)
            advance(len(found.batch))
            is_begun = True
            yield table
        if not is_begun:
            row = one_row(reader, self.arguments)
            yield self._changed(row, reader).sliced(slice(0, 0), 1)

    def _leave_out(self, error: Exception, n_rows: int) -> None:
        """Raise the error, or say it and count the rows, as the command asks."""
        if self.arguments.on_error == "raise":
            raise error
        self.left_out = self.left_out[0] + 1, self.left_out[1] + n_rows
        print(f"calibrant: warning: left out: {error}", file=sys.stderr)

    def _changed(self, found: BatchRows, reader: Reader) -> FileTable:
        from calibrant.interop.tables import forecast_in

        table, of = reader.as_file_table(found.batch), self.arguments
        forecast = forecast_in(
            table, label=of.label, prob=of.prob, logit=of.logit, label_optional=True, where=found.place
        )
        if forecast.guessed and not self.n_rows:
            print(f"{of.file}: reading {', '.join(forecast.guessed)}", file=sys.stderr)
        changed, self.new = self.change(forecast)
        return changed
