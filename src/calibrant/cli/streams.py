"""Files that are read in batches: several of them, folders, patterns, addresses, and a file that is large."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.cli.inputs import asked_of_rows, binning_of, labels_of, pos_label_of, read
from calibrant.interop.local_files import is_pattern

if TYPE_CHECKING:
    from calibrant.interop.batches.forecast_stream import ForecastStream
    from calibrant.interop.batches.sources import Files
    from calibrant.interop.files import ForecastTable

LARGE = 1 << 26
"""Bytes of a file from which it is read in batches, where what is asked for can be had so."""

AT_A_TIME = 1 << 16
"""Rows that tell what the labels are."""


def is_several(files: Sequence[str]) -> bool:
    """Whether it is more than a file: several, a folder, a pattern, or an address of another file system."""
    return len(files) > 1 or "://" in files[0] or Path(files[0]).is_dir() or is_pattern(files[0])


def is_in_batches(arguments: argparse.Namespace, files: Sequence[str]) -> bool:
    """Whether files must be read in batches: if they are several, or what is wrong in them is to be left out."""
    return is_several(files) or arguments.on_error == "skip"


def is_large(file: str) -> bool:
    """Whether a file is so large that it is better read in batches."""
    path = Path(file)
    return path.suffix.lower() != ".npz" and path.is_file() and path.stat().st_size >= LARGE


def open_stream(arguments: argparse.Namespace, files: Sequence[str]) -> ForecastStream:
    """Open files for reading in batches, and say what was guessed."""
    from calibrant.interop.batches.arrow import Columns
    from calibrant.interop.batches.forecast_stream import ForecastStream
    from calibrant.interop.batches.front import OfColumns, require_arrow
    from calibrant.interop.batches.sources import Files
    from calibrant.interop.file_table import FileTable
    from calibrant.interop.files import choose_columns, select_one

    if arguments.rows is not None:
        raise ValueError(
            f"--rows must be left out with files that are read in batches; got {arguments.rows!r}. "
            "Pass --sample N for some of the rows."
        )
    require_arrow("files")
    source = Files(list(files), on_error=arguments.on_error)
    where = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    rest = [name for name in source.names if name != arguments.weight]
    found = choose_columns(
        FileTable.of_names(rest), label=arguments.label, prob=arguments.prob, logit=arguments.logit, where=source.where
    )
    weight = arguments.weight
    if weight is not None:
        weight = select_one(source.names, weight, "--weight", where=source.where)
    if found.guessed:
        print(f"{where}: reading {', '.join(found.guessed)}", file=sys.stderr)
    assert found.label_column is not None
    columns = Columns(found.label_column, found.forecast_columns, weight, found.input, found.guessed)
    head = _head(source, columns, where)
    predictions = OfColumns(
        source,
        columns,
        labels_of(arguments, head),
        asked_of_rows(arguments),
        pos_label=pos_label_of(arguments, head) if hasattr(arguments, "pos_label") else None,
        batch_rows=AT_A_TIME,
        on_error=arguments.on_error,
        progress=sys.stderr.isatty(),
    )
    return ForecastStream(predictions, columns.label, columns.numbers, columns.input, where)


def _head(source: Files, columns: Any, where: str) -> ForecastTable:
    """Return the first rows as a table, whose labels tell of what kind they are."""
    from calibrant.interop.batches.arrow import labels_as_read
    from calibrant.interop.batches.pieces import Damaged
    from calibrant.interop.columns import Values
    from calibrant.interop.file_table import FileTable
    from calibrant.interop.files import ForecastTable

    wrong: Exception = ValueError(f"{where} must hold at least one row; it has none. Check how it was written.")
    for piece in source.pieces(columns, AT_A_TIME):
        if isinstance(piece, Damaged):
            wrong = piece.error
        elif len(piece):
            truth = labels_as_read(piece, is_parsed=source.is_parsed)
            if not len(truth):  # all are missing, which is said where the rows are read
                continue
            table = FileTable({columns.label: Values(truth)})
            return ForecastTable(table, columns.label, columns.numbers, columns.input, (), where)
    raise wrong


def sampled(stream: ForecastStream, n: int) -> ForecastTable:
    """Return some rows of a stream as a table in memory."""
    from calibrant.interop.columns import Column, Values
    from calibrant.interop.file_table import FileTable
    from calibrant.interop.files import ForecastTable

    rows, weight = stream.predictions.sample(n), stream.predictions.columns.weight
    if left_out := missing_of(stream):
        print(f"calibrant: warning: {stream.n_rows} rows{left_out}", file=sys.stderr)
    values = rows["y_prob"] if rows["y_prob"].ndim == 2 else rows["y_prob"][:, None]
    names = stream.forecast_columns
    if len(names) < values.shape[1]:
        names = tuple(f"{names[0]}_{k}" for k in range(values.shape[1]))
    columns: dict[str, Column] = {name: Values(column) for name, column in zip(names, values.T, strict=True)}
    if weight is not None:
        columns[weight] = Values(rows["sample_weight"])
    table = FileTable({stream.label_column: Values(rows["y_true"]), **columns})
    return ForecastTable(table, stream.label_column, names, stream.input, (), stream.file)


def missing_of(forecast: ForecastTable | ForecastStream) -> str:
    """Return what was left out of a forecast, in words that follow the number of its rows."""
    from calibrant.interop.files import ForecastTable

    return "" if isinstance(forecast, ForecastTable) else missing(*forecast.predictions.left_out)


def missing(n_batches: int, n_rows: int) -> str:
    """Return how much was left out, in words that follow the number of rows; nothing of nothing."""
    batches = "1 batch" if n_batches == 1 else f"{n_batches} batches"
    return f", {batches} of {n_rows or 'unknown'} rows left out" if n_batches else ""


def opened(
    arguments: argparse.Namespace, files: Sequence[str], metrics: Sequence[str] = ()
) -> ForecastTable | ForecastStream:
    """Return the forecast of files: in memory, but of several files, and of a large one whose figures are sums."""
    from calibrant.interop.columns import has_arrow

    if arguments.sample is not None:
        return sampled(open_stream(arguments, files), arguments.sample)
    if is_in_batches(arguments, files):
        return open_stream(arguments, files)
    if metrics and arguments.rows is None and arguments.weight is None and has_arrow() and is_large(files[0]):
        stream = open_stream(arguments, files)
        if _are_sums(arguments, stream, metrics):
            return stream
    return read(arguments, files[0])


def _are_sums(arguments: argparse.Namespace, stream: ForecastStream, metrics: Sequence[str]) -> bool:
    """Whether all figures are had from one reading in batches."""
    from calibrant.binning import EqualWidth
    from calibrant.metrics.kinds.metric import metric_named
    from calibrant.metrics.uncertainty.several import cells_of, is_of_sums

    chosen, cut, head = [metric_named(name) for name in metrics], binning_of(arguments), stream.predictions.head()
    fixed = all(type(binning) is EqualWidth for _, binning in cells_of(chosen, head, cut, arguments.notion))
    return fixed and type(cut) is EqualWidth and all(is_of_sums(one, head, cut, arguments.notion) for one in chosen)
