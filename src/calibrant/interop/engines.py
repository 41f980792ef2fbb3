"""Engines that hold the rows: Dask, Spark, DuckDB and polars. Each reads its rows where they lie, and sends sums."""

from __future__ import annotations

import pickle
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property, reduce
from importlib import import_module
from itertools import chain
from operator import add
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, get_args

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.border import Input, classes_by_name
from calibrant._core.checks import choice, flag, left_out, refuse, warn, whole
from calibrant._core.rows import M, Problem, Read, Rows, one_of
from calibrant.calibrators.base import Calibrator
from calibrant.interop import sources
from calibrant.interop.arrow_batches import Batches, Chosen, Columns, Decoding, Piece, blocks_of, columns_told
from calibrant.interop.columns import first_line, require_arrow
from calibrant.interop.readers import Damaged
from calibrant.interop.save import parts_of
from calibrant.sums.draws import Numbers, RowSample
from calibrant.sums.reading import FEW, Predictions

if TYPE_CHECKING:
    from calibrant.calibrators.classifier import CalibratedClassifier

# Calibrated probabilities in the place of predictions, table by table


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
        """Choose the columns as told, or by their names, and put those of classes in the order of the classes."""
        is_logit = calibrator.input == "logit"
        found = columns_told(known, prob, is_logit=is_logit, where=where, label_optional=True)
        columns = found.forecast_columns
        if (calibrator.n_features_in_, calibrator.input) != (len(columns), found.input):
            raise ValueError(
                f"predictions must be as the calibrator was fitted, {calibrator.n_features_in_} columns of {calibrator.input}; "
                f"{where} gives {len(columns)} of {found.input}: {', '.join(map(repr, columns[:12]))}. Name them with prob=."
            )
        classes = calibrator.classes_ if len(columns) > 1 else calibrator.classes_[1:]
        if (named := classes_by_name(calibrator.classes_, columns)) is not None:
            columns = tuple(columns[named.index(one)] for one in classes.tolist())
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
        given = frame[self.columns[0]] if len(self.columns) == 1 else frame.select(self.columns)
        has_names = hasattr(self.calibrator, "feature_names_in_")  # scikit-learn warns of names where none were fitted
        return self.calibrator.calibrate(given.to_native() if has_names else given.to_numpy()).reshape(shape)


# DuckDB: relations, which give their rows as a stream of Arrow


RELATION = "the DuckDB relation"

ROWS = 65536
"""Rows that are calibrated at a time."""


def calibrated_relation(source: Any, calibrator: Calibrator, prob: str | Sequence[str] | None) -> Any:
    """Return a table of Arrow, which DuckDB takes for one of its own where a query has its name.

    A connection runs one query at a time. A reader of rows would keep that of the relation busy, and wait for ever for a query
    of the same connection that reads it. So the query is run here, and its rows stand in a file that is mapped into memory and
    goes with the table (a system that keeps mapped files removes it with the other temporary files).
    """
    import pyarrow
    from pyarrow import ipc

    change = Calibrated.of(calibrator, source.columns, prob, RELATION)
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, closing(_opened(source, ROWS)) as reader:
        path = str(Path(folder) / "calibrated.arrow")
        with ipc.new_file(path, change(reader.schema.empty_table()).schema) as file:
            for batch in reader:
                file.write_table(change(pyarrow.Table.from_batches([batch])))
        return ipc.open_file(pyarrow.memory_map(path)).read_all()


def predictions_of_relation(source: Any, chosen: Chosen) -> Predictions:
    """Return predictions of a relation. While it is read its connection is busy: other queries take a ``cursor()`` of it."""
    if not hasattr(source, "project"):
        hint = "Pass connection.sql('SELECT ...')"
        refuse("predictions of DuckDB must be a relation", got=type(source).__name__, hint=hint, error=TypeError)

    def run(names: list[str], rows: int) -> Iterable[Any]:
        some = source.project(", ".join('"' + name.replace('"', '""') + '"' for name in names))
        yield from _opened(some, rows)

    columns = chosen.columns(source.columns, RELATION)
    return sources.OfColumns(sources.Tables(source.columns, RELATION, run), columns, chosen)


def _opened(relation: Any, rows: int) -> Any:
    """Run the query of a relation, and return its rows as a stream; its method has another name in old versions."""
    return relation.to_arrow_reader(rows) if hasattr(relation, "to_arrow_reader") else relation.fetch_arrow_reader(rows)


# Polars: lazy frames, which are collected batch by batch. A data frame is in memory, and a stream of Arrow


QUERY = "the polars query"


def calibrated_query(source: Any, calibrator: Calibrator, prob: str | Sequence[str] | None) -> Any:
    """Return a lazy frame with calibrated columns."""
    import polars

    schema = source.collect_schema()
    change = Calibrated.of(calibrator, schema.names(), prob, QUERY)
    new = dict(zip(change.columns, change.names, strict=True))
    types = {new.get(name, name): polars.Float64 if name in new else kind for name, kind in schema.items()}
    return source.map_batches(change, schema=types, streamable=True)


def predictions_of_lazy_frame(source: Any, chosen: Chosen) -> Predictions:
    """Return predictions of a lazy frame."""
    if not hasattr(source, "collect_schema"):
        must = "predictions of polars must be a frame, lazy or not"
        refuse(must, got=type(source).__name__, hint="Pass the frame with its columns", error=TypeError)

    def run(names: list[str], rows: int) -> Iterable[Any]:
        frame = source.select(names)
        if hasattr(frame, "collect_batches"):
            yield from frame.collect_batches(chunk_size=rows, maintain_order=True)
        else:  # before polars 1.34 the columns that are read are in memory
            yield from frame.collect().iter_slices(rows)

    names = source.collect_schema().names()
    return sources.OfColumns(sources.Tables(names, QUERY, run), chosen.columns(names, QUERY), chosen)


# From the tables of a partition to batches that are checked: what is sent to the workers of an engine


def pieces_in(tables: Iterable[Any], columns: Columns, place: str) -> Iterator[Piece]:
    """Yield the rows of tables, data frames or Arrow."""
    for one in sources.pieces_of_tables(map(sources.as_arrow, tables), columns, place):
        if isinstance(one, Damaged):
            raise one.error
        yield one


def problems_in(
    pieces: Iterable[Piece], decoding: Decoding, batch_rows: int, first: int = 0
) -> Iterator[tuple[Problem, int | Numbers]]:
    """Yield batches as problems, with the number of the first row or, of rows with a key, the numbers of all.

    Raises
    ------
    ValueError, TypeError
        If rows are refused; the message names the place, and the row there.
    """
    for block in blocks_of(pieces, batch_rows, first):
        try:
            problem = decoding.problem(block)
        except (ValueError, TypeError) as error:
            raise block.pieces[0].said_of(error) from error
        if problem is not None:
            yield problem, block.numbers_of(problem)


def part(table: Any, rows: slice) -> Any:
    """Return some rows."""
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


# Partitions of an engine: each is read where it lies, and only sums are sent


ROWS_OF_A_PARTITION = 1 << 33
"""Numbers of rows that each partition has for its own, where nobody knows how many rows stand before it."""

SLICE = 64
"""Rows of which some are looked at, where the first rows are wrong."""

REFUSED = (ValueError, TypeError, OSError)
"""What rows are refused with, and what a damaged file is read with."""


class Fault(NamedTuple):
    """A partition in which something is wrong: its number, what it is, and how many rows it has, as far as that is known."""

    partition: int
    message: str
    n_rows: int = 0


@dataclass(frozen=True)
class Part(Generic[M]):
    """What was found in some partitions, and which of them were left out."""

    found: M | None
    faults: tuple[Fault, ...] = ()

    def __add__(self, other: Part[M]) -> Part[M]:
        found = other.found if self.found is None else self.found
        if self.found is not None and other.found is not None:
            found = self.found + other.found
        return Part(found, self.faults + other.faults)


@dataclass(frozen=True)
class PartitionReader(Generic[M]):
    """Reads one partition, on whatever machine has it: ``read`` is called with each of its batches."""

    columns: Columns
    batch_rows: int
    decoding: Decoding
    read: Read[M]

    def __call__(self, number: int, tables: Iterable[Any], first: int | None = None) -> Part[M]:
        """Read the tables of the partition of this number, whose first row has the number ``first`` among all rows.

        A partition is read as a whole or not at all: where rows are refused, the part says so, and no error is raised. So one
        run finds what is wrong anywhere, whatever the engine does with errors.
        """
        at, found = number * ROWS_OF_A_PARTITION if first is None else first, None
        n_rows, given = 0, iter(tables)

        def counted() -> Iterator[Any]:
            nonlocal n_rows
            for table in given:
                n_rows += len(table)
                yield table

        try:
            pieces = pieces_in(counted(), self.columns, f"partition {number}")
            for problem, numbers in problems_in(pieces, self.decoding, self.batch_rows, at):
                one = self.read(problem, numbers)
                found = one if found is None else found + one
        except REFUSED as error:
            return Part(None, (Fault(number, str(error), n_rows + sum(map(len, given))),))
        return Part(found)


class Partitioned(Predictions):
    """Predictions in the partitions of an engine.

    Attributes
    ----------
    faults : tuple of Fault
        The partitions that the last reading left out, and why.
    """

    where: str
    """What holds the partitions, in the words of the engine."""

    def __init__(self, columns: Columns, chosen: Chosen) -> None:
        self._columns, self._chosen = columns, chosen
        self.faults: tuple[Fault, ...] = ()

    @abstractmethod
    def _added(self, task: PartitionReader[M]) -> Part[M]:
        """Run a task on each partition, in the engine, and add up what it returns, in a fixed order."""

    @abstractmethod
    def _beginning(self) -> Iterator[Any]:
        """Yield tables of the first rows, up to all of them: only as many are made as are asked for."""

    @cached_property
    def _first_tables(self) -> list[Any]:
        """Tables with more rows than are few, or with all there are."""
        found: list[Any] = []
        for table in self._beginning():
            found += [table] if len(table) else []
            if sum(map(len, found)) > FEW:
                break
        return found

    @cached_property
    def _decoding(self) -> Decoding:
        error: Exception = self._nothing()
        slices = (
            part(table, slice(start, start + SLICE))
            for table in self._first_tables
            for start in range(0, min(len(table), FEW), SLICE)
        )
        for table in chain(self._first_tables, slices):
            try:
                return self._chosen.decoding(next(pieces_in([table], self._columns, "the first rows")), self._columns)
            except REFUSED as refused:  # of one wrong label: others are in other rows
                error = refused
        raise error

    @cached_property
    def _head(self) -> Problem:
        for table in self._first_tables:
            with suppress(*REFUSED):
                pieces = pieces_in([table], self._columns, "")
                return next(problem for problem, _ in problems_in(pieces, self._decoding, self._chosen.batch_rows))
        return self.reduce(lambda batch, first: RowSample.of(batch, first, 1)).problem

    def head(self) -> Problem:
        """Return the first rows that are not refused."""
        return self._head

    @property
    def is_many(self) -> bool:
        """Whether there are more rows than are few, which the first partitions tell."""
        return sum(map(len, self._first_tables)) > FEW

    def reduce(self, read: Read[M]) -> M:
        """Read each partition where it lies, and add up what was found, in the order of the partitions.

        Raises
        ------
        ValueError
            If rows of a partition are refused. All partitions are read before, so that the message can count them.

        Warns
        -----
        CalibrationWarning
            If partitions were left out, with ``on_error="skip"``.
        """
        total = self._added(PartitionReader(self._columns, self._chosen.batch_rows, self._decoding, read))
        self.faults = tuple(sorted(total.faults))
        self.left_out = len(self.faults), sum(fault.n_rows for fault in self.faults)
        if self.faults:
            self._report(self.faults)
        if total.found is None:
            raise self._nothing()
        return total.found

    def _report(self, faults: tuple[Fault, ...]) -> None:
        first = faults[0].message.removesuffix(".")
        others = "" if len(faults) == 1 else f" ({len(faults)} partitions are refused)"
        if self._chosen.on_error == "skip":
            said = f"partitions of {self.where} were left out: {len(faults)}, of {self.left_out[1]} rows"
            warn(f"{said}; the first: {first}.")
            return
        raise ValueError(f"{self.where}, {first}{others}. To leave such partitions out: on_error='skip'.")

    def _nothing(self) -> ValueError:
        return ValueError(f"predictions must hold at least one row; {self.where} has none. Check how it was made.")


# Dask: data frames


FAN_IN_OF_DASK = 8
"""Sums that one task of the tree adds up."""


def _require_frame(source: Any) -> None:
    if not hasattr(source, "npartitions") or not hasattr(source, "columns"):
        must = "predictions of Dask must be a data frame"
        hint = "Convert it: bag.to_dataframe(), dask.dataframe.from_dask_array(...)"
        refuse(must, got=type(source).__name__, hint=hint, error=TypeError)


def predictions_of_dask(source: Any, chosen: Chosen) -> DaskPredictions:
    """Return predictions of a data frame."""
    _require_frame(source)
    return DaskPredictions(source, chosen.columns(list(source.columns), DaskPredictions.where), chosen)


def calibrated_by_dask(source: Any, calibrator: Calibrator, prob: str | Sequence[str] | None) -> Any:
    """Return a data frame with calibrated columns."""
    _require_frame(source)
    change = Calibrated.of(calibrator, source.columns, prob, DaskPredictions.where)
    return source.map_partitions(change, meta=change(source._meta))


class DaskPredictions(Partitioned):
    """Predictions in the partitions of a Dask data frame.

    Rows are numbered as they stand: a partition waits until those before it have been counted, which Dask does as soon as it
    has them. No partition is made twice.
    """

    where = "the Dask data frame"

    def __init__(self, source: Any, columns: Columns, chosen: Chosen) -> None:
        super().__init__(columns, chosen)
        self._source = source[columns.names]

    def _beginning(self) -> Iterator[Any]:
        """Compute the first rows of one partition after the other; one that cannot be computed is left out."""
        for block in self._source.to_delayed():
            with suppress(Exception):
                yield _delayed(part)(block, slice(0, FEW + 1)).compute()

    def _added(self, task: PartitionReader[M]) -> Part[M]:
        """Let Dask add up in a tree. Where it fails, go through the partitions one by one, to find which it is."""
        blocks = list(self._source.to_delayed())
        given, first, parts = _delayed(task), 0, list[Any]()
        for number, block in enumerate(blocks):
            parts.append(_delayed(_read)(given, number, block, first))
            first = _delayed(add)(first, _delayed(len)(block))
        while len(parts) > 1:
            groups = range(0, len(parts), FAN_IN_OF_DASK)
            parts = [_delayed(reduce)(add, parts[start : start + FAN_IN_OF_DASK]) for start in groups]
        try:
            found: Part[M] = parts[0].compute()
        except Exception:  # of any kind: what a task met, or what workers died of
            found = reduce(add, _one_by_one(task, blocks))
        return found


def _delayed(work: Any) -> Any:
    """Return a function that Dask calls wherever its scheduler is; a cluster takes tasks of the same name for the same."""
    delayed: Any = import_module("dask.delayed")
    return delayed.delayed(work, pure=False, traverse=False)


def _one_by_one(task: PartitionReader[M], blocks: Sequence[Any]) -> Iterator[Part[M]]:
    """Read the blocks in turn; one that Dask cannot compute is a fault."""
    first = 0
    for number, block in enumerate(blocks):
        try:
            found, n_rows = _delayed(_read_and_count)(_delayed(task), number, block, first).compute()
        except Exception as error:
            fault = Fault(number, f"partition {number} must be computed; it is not: {type(error).__name__}: {error}")
            found, n_rows = Part(None, (fault,)), 0
        first += n_rows
        yield found


# Tasks: what the workers do.


def _read(task: PartitionReader[M], number: int, table: Any, first: int) -> Part[M]:
    return task(number, [table], first)


def _read_and_count(task: PartitionReader[M], number: int, table: Any, first: int) -> tuple[Part[M], int]:
    return task(number, [table], first), len(table)


# Spark: data frames, each partition of which is read by a Python worker of Spark


FAN_IN_OF_SPARK = 64
"""Sums of partitions that one task adds up, where there are more of them than that."""

KIND = re.compile(r"\[[A-Z_.]+\] .*")
"""What Spark says went wrong, which may be the hundredth line of an error."""

SCHEMA = "partition long, part binary"


def predictions_of_spark(source: Any, chosen: Chosen) -> SparkPredictions:
    """Return predictions of a data frame of Spark."""
    if not hasattr(source, "mapInArrow"):
        hint = "Convert it: spark.createDataFrame(...)"
        refuse("predictions of Spark must be a data frame", got=type(source).__name__, hint=hint, error=TypeError)
    return SparkPredictions(source, chosen.columns(list(source.columns), SparkPredictions.where), chosen)


def calibrated_by_spark(source: Any, calibrator: Calibrator, prob: str | Sequence[str] | None) -> Any:
    """Return a data frame with calibrated columns."""
    from pyspark.sql.types import DoubleType, StructField, StructType

    change = Calibrated.of(calibrator, source.columns, prob, SparkPredictions.where)
    new = dict(zip(change.columns, change.names, strict=True))
    fields = [StructField(new[one.name], DoubleType()) if one.name in new else one for one in source.schema.fields]

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            yield from change(pyarrow.Table.from_batches([batch])).to_batches()

    return source.mapInArrow(read, StructType(fields))


class SparkPredictions(Partitioned):
    """Predictions in the partitions of a Spark data frame.

    A row has the number of its partition and its place in it, and not its place among all rows, which Spark does not know. Give
    ``row_key`` where intervals are to be the same in any partition.
    """

    where = "the Spark data frame"

    def __init__(self, source: Any, columns: Columns, chosen: Chosen) -> None:
        super().__init__(columns, chosen)
        self._source = source.select(*(f"`{name}`" for name in columns.names))

    def _beginning(self) -> Iterator[Any]:
        yield self._computed(self._source.limit(FEW + 1).toArrow)

    def _added(self, task: PartitionReader[M]) -> Part[M]:
        """Let each partition give one row with its sums; of many partitions Spark adds groups of them up first."""

        def read(batches: Iterator[Any]) -> Iterator[Any]:
            from pyspark import TaskContext

            number = TaskContext.get().partitionId()
            yield _row(number, task(number, batches))

        parts = self._source.mapInArrow(read, SCHEMA)
        if self._n_partitions() > FAN_IN_OF_SPARK:
            parts = parts.groupBy((parts.partition / FAN_IN_OF_SPARK).cast("long")).applyInArrow(_total_of_rows, SCHEMA)
        found = sorted((row.partition, row.part) for row in self._computed(parts.collect))
        return reduce(add, (pickle.loads(part) for _, part in found), Part(None))

    def _computed(self, compute: Callable[[], Any]) -> Any:
        """Let Spark compute, and shorten its messages."""
        try:
            return compute()
        except Exception as error:
            why = (KIND.findall(str(error)) or [f"{first_line(error)}."])[-1]
            raise ValueError(
                f"{self.where} must be computed; it is not: {why} To leave damaged files out: "
                "spark.conf.set('spark.sql.files.ignoreCorruptFiles', 'true')."
            ) from error

    def _n_partitions(self) -> int:
        try:
            return int(self._source.rdd.getNumPartitions())
        except Exception:  # Spark Connect has no RDD
            return FAN_IN_OF_SPARK + 1


def _total_of_rows(parts: Any) -> Any:
    """Add up the sums of some partitions, in their order."""
    import pyarrow

    found = sorted(zip(parts["partition"].to_pylist(), parts["part"].to_pylist(), strict=True))
    total = reduce(add, (pickle.loads(part) for _, part in found))
    return pyarrow.Table.from_batches([_row(found[0][0], total)])


def _row(number: int, part: Part[Any]) -> Any:
    import pyarrow
    from pyspark import cloudpickle

    schema = pyarrow.schema([("partition", pyarrow.int64()), ("part", pyarrow.binary())])
    return pyarrow.RecordBatch.from_pydict({"partition": [number], "part": [cloudpickle.dumps(part)]}, schema=schema)


# Which engine an object is of


class Engine(NamedTuple):
    """What makes predictions of an object of an engine, and what calibrates it there."""

    predictions: Callable[[Any, Chosen], Predictions]
    calibrated: Callable[[Any, Calibrator, str | Sequence[str] | None], Any]


ENGINES = {
    "dask": Engine(predictions_of_dask, calibrated_by_dask),
    "duckdb": Engine(predictions_of_relation, calibrated_relation),
    "polars": Engine(predictions_of_lazy_frame, calibrated_query),
    "pyspark": Engine(predictions_of_spark, calibrated_by_spark),
}
"""By the first name of the modules of their objects."""


def engine_of(source: Any) -> Engine | None:
    """Return the engine of an object; None of anything else."""
    name = type(source).__module__.split(".")[0].removeprefix("_")
    is_in_memory = name == "polars" and hasattr(source, "__arrow_c_stream__")  # a data frame
    return None if is_in_memory else ENGINES.get(name)


# Predictions that are read in batches, of whatever holds them, and calibrated rows of an engine


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
        or Spark, a relation of DuckDB, a lazy frame of polars. Or batches: an
        iterator, or a function that returns a fresh one, of pairs (y_true, y_prob), of triples with weights, of Arrow tables or
        of data frames. An iterator can be read once.
    label : str, optional
        The column of the true classes. By default it is found by its name, as the command line finds it: ``label``, ``y``,
        ``y_true``, ``target``, ``class``, ``truth``, ``labels`` or ``targets``.
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
    if input is not None:
        choice("input", input, get_args(Input))
    flag("progress", progress)
    whole("batch_rows", batch_rows, least=1, hint="65536 is fast")
    chosen = Chosen(label, prob, weight, labels, pos_label, input, rows, row_key, on_error, int(batch_rows), progress)
    if isinstance(source, Predictions):
        told = vars(chosen) | {"rows": None if rows == "as-given" else rows}
        for name in ("label", "prob", "weight", "labels", "pos_label", "input", "row_key", "rows"):
            left_out(name, told[name], "beside predictions", hint="Say it where they are made")
        return source
    if (engine := engine_of(source)) is not None:
        require_arrow("reading tables of engines in batches")
        return engine.predictions(source, chosen)
    given = list(source) if isinstance(source, (list, tuple)) else [source]
    tables: sources.Source
    if given and all(isinstance(one, (str, PathLike)) for one in given):
        require_arrow("reading files in batches")
        tables = sources.Files(given, on_error=on_error)
    elif hasattr(source, "__arrow_c_stream__") or hasattr(source, "scanner"):
        require_arrow("reading tables of Arrow in batches")
        tables = sources.stream_of(source)
    elif not callable(source) and not hasattr(source, "__iter__"):
        must = "predictions must be files, a stream of Arrow, or batches"
        hint = "Pass a path, or a function that returns an iterator of pairs (y_true, y_prob)"
        refuse(must, got=f"{type(source).__name__}", hint=hint, error=TypeError)
    else:
        first, batches, reads_once = sources.opened(source)
        if first is None or isinstance(first, tuple):
            return Batches(batches, chosen, reads_once=reads_once)
        require_arrow("reading tables in batches")
        names = sources.as_arrow(first).schema.names
        tables = sources.Tables(names, "the first batch", lambda *_: batches(), reads_once=reads_once)
    return sources.OfColumns(tables, chosen.columns(tables.names, tables.where), chosen)


def calibrated(
    source: Any, calibrator: Calibrator | CalibratedClassifier, *, prob: str | Sequence[str] | None = None
) -> Any:
    """Calibrate the predictions that an engine holds, and leave them there.

    Parameters
    ----------
    source : object of an engine
        A data frame of Dask or Spark, a relation of DuckDB, or a lazy frame of polars.
    calibrator : Calibrator or CalibratedClassifier
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
    if (engine := engine_of(source)) is None:
        must = "source must be an object of Dask, Spark, DuckDB or polars"
        hint = "Rows in memory are calibrated by calibrator.calibrate(y_prob), and files by the command calibrant apply"
        refuse(must, got=f"{type(source).__name__}", hint=hint, error=TypeError)
    return engine.calibrated(source, parts_of(calibrator)[0], prob)
