"""Spark: data frames, each partition of which is read by a Python worker of Spark."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

from calibrant.calibrators.base import Calibrator
from calibrant.interop.arrow_batches import Chosen
from calibrant.interop.columns import first_line
from calibrant.interop.engines.partitioned import Part, Partitioned, PartitionReader
from calibrant.interop.streams import Calibrated, RowReader
from calibrant.sums.reading import FEW, M

FAN_IN = 64
"""Sums of partitions that one task adds up, where there are more of them than that."""

KIND = re.compile(r"\[[A-Z_.]+\] .*")
"""What Spark says went wrong, which may be the hundredth line of an error."""

SCHEMA = "partition long, part binary"


def predictions_of(source: Any, chosen: Chosen) -> SparkPredictions:
    """Return predictions of a data frame of Spark."""
    if not hasattr(source, "mapInArrow"):
        raise TypeError(
            f"predictions of Spark must be a data frame; got {type(source).__name__}. Convert it: spark.createDataFrame(...)."
        )
    return SparkPredictions(source, RowReader(chosen.columns(list(source.columns), SparkPredictions.where), chosen))


def calibrated(source: Any, calibrator: Calibrator, prob: str | Sequence[str] | None) -> Any:
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

    def __init__(self, source: Any, rows: RowReader) -> None:
        super().__init__(rows)
        self._source = source.select(*(f"`{name}`" for name in rows.names))

    def _beginning(self) -> Iterator[Any]:
        yield self._computed(self._source.limit(FEW + 1).toArrow)

    def _added(self, task: PartitionReader[M]) -> Part[M]:
        """Let each partition give one row with its sums; of many partitions Spark adds groups of them up first."""
        batch_rows = self._rows.chosen.batch_rows

        def read(batches: Iterator[Any]) -> Iterator[Any]:
            from pyspark import TaskContext

            number = TaskContext.get().partitionId()
            yield _row(number, task(number, _gathered(batches, batch_rows)))

        parts = self._source.mapInArrow(read, SCHEMA)
        if self._n_partitions() > FAN_IN:
            parts = parts.groupBy((parts.partition / FAN_IN).cast("long")).applyInArrow(_total, SCHEMA)
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
            return FAN_IN + 1


def _gathered(batches: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """Yield tables of at least so many rows: Spark sends 10,000 at a time."""
    import pyarrow

    some: list[Any] = []
    for batch in batches:
        some.append(batch)
        if sum(map(len, some)) >= n_rows:
            yield pyarrow.Table.from_batches(some)
            some = []
    if some:
        yield pyarrow.Table.from_batches(some)


def _total(parts: Any) -> Any:
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
