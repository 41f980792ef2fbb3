"""Queries of an engine of one machine: run anew each time they are read, and read as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from calibrant._core.arrays import FloatArray, as_array
from calibrant._core.border import Input
from calibrant._core.checks import choice, flag, whole
from calibrant._core.rows import Problem, Rows, one_of
from calibrant.calibrators.base import Calibrator
from calibrant.interop.arrow_batches import (
    Batches,
    Block,
    Chosen,
    Columns,
    Decoding,
    Piece,
    Streamed,
    numbers_of,
    piece_of,
    pieces_of,
    rows_at_a_time,
)
from calibrant.interop.columns import FileTable, Values, in_python, require_arrow
from calibrant.interop.engines import module_of
from calibrant.interop.readers import Damaged
from calibrant.interop.sources import Files, Source, Stream, Tables, as_arrow, is_addresses, opened
from calibrant.interop.tables import choose_columns
from calibrant.sums.draws import Numbers
from calibrant.sums.reading import Predictions

# Predictions that are read in batches: from files, streams of Arrow tables, iterators and functions that give them


__all__ = ["Batches"]


# From the tables of a partition to batches that are checked: what is sent to the workers of an engine


@dataclass(frozen=True)
class RowReader:
    """What is known of the rows before any is read. Tables are data frames or Arrow, or tuples of arrays side by side.

    Attributes
    ----------
    columns : Columns or None
        The columns that are read; None of arrays, which have no names.
    chosen : Chosen
        What the user says of them.
    """

    columns: Columns | None
    chosen: Chosen

    @property
    def names(self) -> list[str]:
        """The names of all columns that are read, each once."""
        assert self.columns is not None
        key = self.chosen.row_key
        return list(dict.fromkeys([*self.columns.names, *([] if key is None else [key])]))

    def decoding(self, table: Any) -> Decoding:
        """Return what all batches share, from the first rows that there are."""
        piece = next(piece for piece, _ in self.pieces([table], "the first rows", 0))
        return self.chosen.decoding(piece, self.columns)

    def problems(
        self, tables: Iterable[Any], decoding: Decoding, place: str, first: int
    ) -> Iterator[tuple[Problem, int | Numbers]]:
        """Yield batches as problems, with the number of the first row or, of rows with a key, the numbers of all.

        Raises
        ------
        ValueError, TypeError
            If rows are refused; the message names the place, and the row there.
        """
        for piece, number in self.pieces(tables, place, first):
            try:
                problem = decoding.problem(Block(0, (piece,)))
            except (ValueError, TypeError) as error:
                raise piece.said_of(error) from error
            if problem is not None:
                yield problem, numbers_of(number, problem, (piece,))

    def pieces(self, tables: Iterable[Any], place: str, first: int) -> Iterator[tuple[Piece, int | Numbers]]:
        """Yield the rows, so many at a time, and the number of the first or those of all."""
        row, rows, key = 0, self.chosen.batch_rows, self.chosen.row_key
        for table in tables:
            for start in range(0, length(table), rows):
                some = part(table, slice(start, start + rows))
                piece = (
                    _of_arrays(some)
                    if self.columns is None
                    else piece_of(_batch(some, self.names), self.columns, "", 0)
                )
                number = first + row if key is None else _whole_numbers(some[key])
                yield replace(piece, place=place, row=row), number
                row += len(piece)


def length(table: Any) -> int:
    """Return the number of rows of a table, or of arrays side by side."""
    return len(table[0]) if isinstance(table, tuple) else len(table)


def part(table: Any, rows: slice) -> Any:
    """Return some rows."""
    if isinstance(table, tuple):
        return tuple(array[rows] for array in table)
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def _of_arrays(arrays: tuple[Any, ...]) -> Piece:
    (found,) = pieces_of([arrays])
    if isinstance(found, Damaged):
        raise found.error
    return found


def _batch(table: Any, names: Sequence[str]) -> Any:
    """Return these columns as one record batch of Arrow."""
    whole = as_arrow(table)
    if lacking := [name for name in names if name not in whole.schema.names]:
        known = ", ".join(map(repr, whole.schema.names[:12]))
        raise ValueError(
            f"rows must have the column {lacking[0]!r}; got {known}. Write all rows with the same columns."
        )
    (batch,) = whole.select(names).combine_chunks().to_batches()
    return batch


def _whole_numbers(key: Any) -> Numbers:
    """Return the numbers of rows, as the column of their keys has them."""
    number = as_array("row_key", key)
    if number.dtype.kind not in "iu":
        raise TypeError(
            f"row_key must name a column of whole numbers; got {number.dtype}. Number the rows: 0, 1, and so on."
        )
    return number.astype(np.int64)


# What makes predictions that are read in batches, of whatever holds them


def predictions(
    source: Any,
    *,
    label: str | None = None,
    prob: str | Sequence[str] | None = None,
    weight: str | None = None,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    input: Input | None = None,
    rows: Rows = "as-given",
    on_error: Literal["raise", "skip"] = "raise",
    row_key: str | None = None,
    batch_rows: int = 65536,
    progress: bool = False,
) -> Predictions:
    """Read labels and probabilities in batches, from what may be larger than memory.

    What it returns stands in the place of ``y_true`` and ``y_prob``: ``assess(predictions("events/"))``.

    Parameters
    ----------
    source : str, path, list of them, or object
        A file of Parquet, Feather or CSV; a folder of them; a pattern such as ``"events/2026-*.parquet"``; an address such as
        ``"s3://bucket/events/"``; a list of these, of which each file is read once. Or an object that gives Arrow tables
        (``__arrow_c_stream__``): a reader or a data set of pyarrow, a data frame. Or what an engine holds: a data frame of Dask
        or Spark, a tuple of Dask arrays (y_true, y_prob), a relation of DuckDB, a lazy frame of polars. Or batches: an
        iterator, or a function that returns a fresh one, of pairs (y_true, y_prob), of triples with weights, of Arrow tables or
        of data frames. An iterator can be read once.
    label : str, optional
        The column of the true classes. By default it is found by its name, as the command line finds it: ``label``, ``y``,
        ``y_true``, ``target`` or ``class``.
    prob : str or sequence of str, optional
        The columns of the probabilities: names, with commas between them, patterns such as ``"p_*"``, or a range
        ``"first:last"``. By default they are found by their names.
    weight : str, optional
        The column of the weights.
    labels : sequence of length n_classes, optional
        The class of each column; of one column, other and event. By default it is what the names of the columns say, or 0, 1,
        and so on.
    pos_label : label, optional
        The event, of two classes, as in `DataOptions`.
    input : {"probability", "logit"}, optional
        What the columns hold. By default probabilities, or logits where the names of the columns say so.
    rows : {"as-given", "normalize", "percent"}, default="as-given"
        What is done with the numbers before they are checked, as in `DataOptions`.
    on_error : {"raise", "skip"}, default="raise"
        What is done with a batch that is wrong, such as one with NaN, and with a file or row group that is damaged. "skip"
        leaves it out and counts it; of Dask and Spark the whole partition.
    row_key : str, optional
        The column of whole numbers by which rows of Dask or Spark are known, of which no two have the same: intervals are then
        the same however rows are cut into partitions. By default rows are numbered as they stand, by Spark in each partition.
    batch_rows : int, default=65536
        Rows that are read at a time; fewer of more than 64 columns.
    progress : bool, default=False
        Show a bar of the rows that are read (needs tqdm). Dask and Spark have their own.

    Returns
    -------
    Predictions
        What `assess`, `measure`, `calibration_error`, `reliability_curve` and others take. Of functions that need all rows
        ``predictions.sample(n)`` gives the arguments.

    Raises
    ------
    ValueError
        If columns are not found, or are wrong: the message names the file, the row group or batch, and the row.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    Rows are numbered in the order in which they are read. Batches end where the number is a multiple of ``batch_rows``,
    whatever the batches of the source, so that figures do not depend on how rows were cut into files. Up to 4096 rows are put
    together in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import calibration_error, predictions
    >>> def batches():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(100):
    ...         p = rng.random(1000)
    ...         yield rng.random(1000) < p, p
    >>> round(calibration_error(predictions(batches)), 3)
    0.004
    """
    choice("on_error", on_error, ("raise", "skip"))
    one_of(rows)
    flag("progress", progress)
    whole("batch_rows", batch_rows, least=1, hint="65536 is fast")
    if isinstance(source, Predictions):
        return source
    chosen = Chosen(label, prob, weight, labels, pos_label, input, rows, row_key, on_error, int(batch_rows), progress)
    if (engine := module_of(source)) is not None:
        require_arrow("reading tables of engines in batches")
        found: Predictions = engine.predictions_of(source, chosen)
        return found
    if row_key is not None:
        raise TypeError(
            f"row_key must be left out of rows that have an order; got {row_key!r}. They are numbered as they are read."
        )
    tables: Source
    if is_addresses(source):
        require_arrow("reading files in batches")
        tables = Files(source, on_error=on_error)
    elif hasattr(source, "__arrow_c_stream__") or hasattr(source, "scanner"):
        require_arrow("reading tables of Arrow in batches")
        tables = Stream(source)
    elif not callable(source) and not hasattr(source, "__iter__"):
        raise TypeError(
            f"predictions must be files, a stream of Arrow, or batches; got {type(source).__name__}. "
            "Pass a path, or a function that returns an iterator of pairs (y_true, y_prob)."
        )
    else:
        first, batches, reads_once = opened(source)
        if first is None or isinstance(first, tuple):
            return Batches(batches, chosen, reads_once=reads_once)
        require_arrow("reading tables in batches")
        tables = Tables(batches, first, reads_once=reads_once)
    return OfColumns(tables, chosen.columns(tables.names, tables.where), chosen)


class OfColumns(Streamed):
    """Predictions in columns with names."""

    def __init__(self, source: Source, columns: Columns, chosen: Chosen) -> None:
        self.source, self.columns = source, columns
        rows = rows_at_a_time(chosen.batch_rows, len(columns.numbers))
        super().__init__(
            lambda: source.pieces(columns, rows),
            chosen,
            columns,
            is_parsed=source.is_parsed,
            reads_once=source.reads_once,
            n_rows=source.n_rows if chosen.progress else None,
        )

    def __repr__(self) -> str:
        of = self.columns
        shown = ", ".join(map(repr, of.numbers[:3])) + (
            f", ... ({len(of.numbers)} columns)" if len(of.numbers) > 3 else ""
        )
        return f"Predictions({self.source.where}, label={of.label!r}, {of.input} {shown})"


# A forecast in files that are read in batches: which of their columns are the labels and the probabilities


@dataclass(frozen=True, eq=False)
class ForecastStream:
    """A forecast in files that are read in batches, and the names of its columns."""

    predictions: OfColumns
    label_column: str
    forecast_columns: tuple[str, ...]
    input: Input
    file: str

    @property
    def n_rows(self) -> int | None:
        """Number of rows that are as they must be, once they were read."""
        n_rows = self.predictions.n_rows
        return None if n_rows is None else n_rows - self.predictions.left_out[1]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.predictions.classes.size)


# Calibrated probabilities where the rows are: an engine calls a calibrator for each partition, once its result is needed


def calibrated(source: Any, calibrator: Calibrator, *, prob: str | Sequence[str] | None = None) -> Any:
    """Calibrate the predictions that an engine holds, and leave them there.

    Parameters
    ----------
    source : object of an engine
        A data frame of Dask or Spark, a Dask array of predictions, a relation of DuckDB, or a lazy frame of polars.
    calibrator : Calibrator
        A calibrator that was fitted.
    prob : str or sequence of str, optional
        The columns of the predictions, as in `calibrant.predictions`. By default they are found by their names.

    Returns
    -------
    object of the engine
        The same rows. Calibrated probabilities stand in the place of the predictions, in double precision: columns of
        probabilities keep their names, and those of logits become ``p_0``, ``p_1`` and so on, by the classes. Nothing is
        computed before the engine is asked for it, but by DuckDB: its query is run, and the result is a table of Arrow on disk,
        which any connection queries by its name, as often as it likes.

    Raises
    ------
    TypeError
        If the source is not of an engine.
    ValueError
        If the columns are not found, or are not as many as the calibrator was fitted on.
    """
    module = module_of(source)
    if module is None:
        raise TypeError(
            f"source must be an object of Dask, Spark, DuckDB or polars; got {type(source).__name__}. "
            "Rows in memory are calibrated by calibrator.calibrate(y_prob), and files by the command calibrant apply."
        )
    return module.calibrated(source, calibrator, prob)


@dataclass(frozen=True)
class Calibrated:
    """Puts the calibrated probabilities of a table in the place of these columns, under the new names."""

    calibrator: Calibrator
    columns: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, calibrator: Calibrator, known: Iterable[str], prob: str | Sequence[str] | None, where: str
    ) -> Calibrated:
        """Choose the columns as told, or by their names."""
        wanted = prob if prob is None or isinstance(prob, str) else ",".join(prob)
        is_logit = calibrator.input == "logit"
        table = FileTable({name: Values(np.empty(0)) for name in known})
        told = {"prob": None if is_logit else wanted, "logit": wanted if is_logit else None}
        try:
            found = choose_columns(table, label_optional=True, where=where, **told)
        except ValueError as error:
            raise ValueError(in_python(str(error))) from None
        columns = found.forecast_columns
        if (calibrator.n_features_in_, calibrator.input) != (len(columns), found.input):
            raise ValueError(
                f"predictions must be as the calibrator was fitted, {calibrator.n_features_in_} columns of {calibrator.input}; "
                f"{where} gives {len(columns)} of {found.input}: {', '.join(map(repr, columns[:12]))}. Name them with prob=."
            )
        classes = calibrator.classes_ if len(columns) > 1 else calibrator.classes_[1:]
        names = tuple(f"p_{one}" for one in classes) if is_logit else columns
        return cls(calibrator, columns, names)

    def __call__(self, table: Any) -> Any:
        """Return a table of the same kind."""
        import narwhals as nw

        frame = nw.from_native(table, eager_only=True)
        column = dict(zip(self.columns, self._values(frame).T, strict=True))
        new = dict(zip(self.columns, self.names, strict=True))
        made = [
            nw.new_series(name, np.ascontiguousarray(of), backend=frame.implementation) for name, of in column.items()
        ]
        return frame.with_columns(*made).rename(new).to_native()

    def _values(self, frame: Any) -> FloatArray:
        """Return calibrated probabilities, shape (n, columns), of the columns in the order in which they were chosen."""
        shape = len(frame), len(self.columns)
        if not len(frame):
            return np.empty(shape)
        one = self.columns[0]
        given = frame[one] if len(self.columns) == 1 else frame.select(self.columns)
        has_names = hasattr(self.calibrator, "feature_names_in_")  # scikit-learn warns of names where none were fitted
        return self.calibrator.calibrate(given.to_native() if has_names else given.to_numpy()).reshape(shape)


Run = Callable[[list[str], int], Iterable[Any]]
"""Returns the rows of these columns, in tables of so many rows."""


def predictions_of_query(names: Sequence[str], where: str, run: Run, chosen: Chosen) -> OfColumns:
    """Return predictions of a query whose rows have an order: they are numbered as they are read."""
    import pyarrow

    if chosen.row_key is not None:
        raise TypeError(
            f"row_key must be left out of {where}, whose rows are numbered as they are read; got {chosen.row_key!r}. "
            "Sort the query by it."
        )
    columns = chosen.columns(names, where)
    none = pyarrow.table({name: [] for name in columns.names})
    tables = Tables(lambda: run(columns.names, chosen.batch_rows), none, reads_once=False)
    return OfColumns(tables, columns, chosen)
