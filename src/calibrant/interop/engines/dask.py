"""Dask: data frames, and arrays of labels and probabilities side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import reduce
from importlib import import_module
from itertools import accumulate
from operator import add
from typing import Any
from uuid import uuid4

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant.calibrators.base import Calibrator
from calibrant.interop.arrow_batches import Chosen
from calibrant.interop.engines.partitioned import Fault, Part, Partitioned, PartitionReader
from calibrant.interop.streams import Calibrated, RowReader, length, part
from calibrant.sums.reading import FEW, M

FAN_IN = 8
"""Sums that one task of the tree adds up."""

DATA_FRAME = "the Dask data frame"


def predictions_of(source: Any, chosen: Chosen) -> DaskPredictions:
    """Return predictions of a data frame, or of arrays: labels, probabilities, and weights if there are any."""
    if isinstance(source, tuple):
        names = ("y_true", "y_prob", "sample_weight")
        strange = next((one for one in source if not hasattr(one, "chunks")), None)
        if not 2 <= len(source) <= len(names) or strange is not None:
            got = f"{len(source)} of them" if strange is None else type(strange).__name__
            raise TypeError(
                f"Dask arrays must be given as a tuple ({', '.join(names)}), the last of which may be left out; got {got}. "
                "Make each of them a Dask array: dask.array.from_array(...)."
            )
        chosen.require_no_columns("arrays")
        return DaskPredictions(source, RowReader(None, chosen))
    if not hasattr(source, "npartitions") or not hasattr(source, "columns"):
        raise TypeError(
            f"predictions of Dask must be a data frame, or a tuple of arrays (y_true, y_prob); got {type(source).__name__}. "
            "Convert it: bag.to_dataframe(), dask.dataframe.from_delayed(...)."
        )
    return DaskPredictions(source, RowReader(chosen.columns(list(source.columns), DATA_FRAME), chosen))


def calibrated(source: Any, calibrator: Calibrator, prob: str | Sequence[str] | None) -> Any:
    """Return a data frame with calibrated columns, or an array of calibrated probabilities."""
    if hasattr(source, "chunks"):
        blocks = source if source.ndim == 1 else source.rechunk({1: -1})
        return blocks.map_blocks(_calibrated_block, calibrator, dtype=np.float64, meta=np.empty((0,) * source.ndim))
    change = Calibrated.of(calibrator, source.columns, prob, DATA_FRAME)
    return source.map_partitions(change, meta=change(source._meta))


class DaskPredictions(Partitioned):
    """Predictions in the partitions of a Dask data frame, or in the blocks of Dask arrays.

    Rows are numbered as they stand. Of arrays of known chunks it is known how many rows stand before a block. Else a partition
    waits until those before it have been counted, which Dask does as soon as it has them: no partition is made twice.
    """

    def __init__(self, source: Any, rows: RowReader) -> None:
        super().__init__(rows)
        self._source = _of_equal_chunks(source) if isinstance(source, tuple) else source[rows.names]
        self.where = "the Dask arrays" if isinstance(source, tuple) else DATA_FRAME

    def _blocks(self) -> list[tuple[Any, ...]]:
        """Return each partition as what Dask computes of it: one table, or the blocks of the arrays."""
        if isinstance(self._source, tuple):
            return list(zip(*(array.to_delayed().ravel() for array in self._source), strict=True))
        return [(one,) for one in self._source.to_delayed()]

    def _before(self) -> list[int] | None:
        """Return how many rows stand before each block of arrays, where it is known."""
        if not isinstance(self._source, tuple) or any(math.isnan(n) for n in self._source[0].chunks[0]):
            return None
        return list(accumulate(self._source[0].chunks[0][:-1], initial=0))

    def _beginning(self) -> Iterator[Any]:
        """Compute the first rows of one partition after the other; one that cannot be computed is left out."""
        for block in self._blocks():
            with suppress(Exception):
                rows = f"calibrant-{uuid4().hex}", 0
                yield _computed({rows: (_first_rows, [one.key for one in block])}, rows, block)

    def _added(self, task: PartitionReader[M]) -> Part[M]:
        """Let Dask add up in a tree. Where it fails, go through the partitions one by one, to find which it is."""
        blocks, before = self._blocks(), self._before()
        tasks, last = _tree(task, [[one.key for one in block] for block in blocks], before)
        try:
            found: Part[M] = _computed(tasks, last, [one for block in blocks for one in block])
        except Exception:  # of any kind: what a task met, or what workers died of
            found = reduce(add, _one_by_one(task, blocks))
        return found


def _calibrated_block(prob: FloatArray, calibrator: Calibrator) -> FloatArray:
    return calibrator.calibrate(prob) if len(prob) else np.empty(prob.shape)


def _of_equal_chunks(arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Return arrays in blocks of the same rows, each of which has all columns."""
    rows = arrays[0].chunks[0]
    if any(math.isnan(n) for n in rows) and len({one.numblocks[0] for one in arrays}) > 1:
        raise ValueError(
            "arrays of blocks of unknown lengths must have as many blocks; got "
            f"{', '.join(str(one.numblocks[0]) for one in arrays)}. Call compute_chunk_sizes() first."
        )
    known = {} if any(math.isnan(n) for n in rows) else {0: rows}
    return tuple(one.rechunk(known | ({1: -1} if one.ndim == 2 else {})) for one in arrays)


def _tree(
    task: PartitionReader[M], blocks: Sequence[Sequence[Any]], before: Sequence[int] | None
) -> tuple[dict[Any, Any], Any]:
    """Return the tasks that read each block and add up in a tree, as Dask writes them down, and the name of the last one."""
    mark = f"calibrant-{uuid4().hex}"  # a cluster takes tasks of the same name for the same
    tasks: dict[Any, Any] = {(mark, "task"): task}
    for number, keys in enumerate(blocks):
        first = mark, "first", number
        tasks[first] = before[number] if before else 0
        if before is None and number:
            counted = mark, "length", number - 1
            tasks[counted] = (_length, list(blocks[number - 1]))
            tasks[first] = (add, (mark, "first", number - 1), counted)
        tasks[mark, 0, number] = (_read, (mark, "task"), number, list(keys), first)
    level, width = 0, len(blocks)
    while width > 1:
        groups = [range(start, min(start + FAN_IN, width)) for start in range(0, width, FAN_IN)]
        for number, group in enumerate(groups):
            tasks[mark, level + 1, number] = (_total, [(mark, level, one) for one in group])
        level, width = level + 1, len(groups)
    return tasks, (mark, level, 0)


def _one_by_one(task: PartitionReader[M], blocks: Sequence[Sequence[Any]]) -> Iterator[Part[M]]:
    """Read the blocks in turn; one that Dask cannot compute is a fault."""
    first = 0
    for number, block in enumerate(blocks):
        keys, mark = [one.key for one in block], f"calibrant-{uuid4().hex}"
        tasks = {
            (mark, "task"): task,
            (mark, "read"): (_read_and_count, (mark, "task"), number, keys, first),
        }
        try:
            found, n_rows = _computed(tasks, (mark, "read"), block)
        except Exception as error:
            fault = Fault(number, f"partition {number} must be computed; it is not: {type(error).__name__}: {error}")
            found, n_rows = Part(None, (fault,)), 0
        first += n_rows
        yield found


def _computed(tasks: dict[Any, Any], last: Any, needed: Sequence[Any]) -> Any:
    """Let Dask run tasks that need these delayed tables, wherever its scheduler is, and return what the last one gives."""
    delayed: Any = import_module("dask.delayed")
    graphs: Any = import_module("dask.highlevelgraph")
    graph = graphs.HighLevelGraph.from_collections(last[0], tasks, dependencies=needed)
    return delayed.Delayed(last, graph, layer=last[0]).compute()


# Tasks: what the workers do.


def _read(task: PartitionReader[M], number: int, block: list[Any], first: int) -> Part[M]:
    return task(number, [_table(block)], first)


def _read_and_count(task: PartitionReader[M], number: int, block: list[Any], first: int) -> tuple[Part[M], int]:
    return _read(task, number, block, first), _length(block)


def _length(block: list[Any]) -> int:
    return length(_table(block))


def _first_rows(block: list[Any]) -> Any:
    return part(_table(block), slice(0, FEW + 1))


def _total(parts: list[Part[M]]) -> Part[M]:
    return reduce(add, parts)


def _table(block: list[Any]) -> Any:
    return block[0] if len(block) == 1 else tuple(block)
