"""Predictions that lie in the partitions of an engine: each is read where it lies, and only sums are sent."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Generic, NamedTuple

from calibrant._core.rows import Problem
from calibrant.exceptions import warn
from calibrant.interop.arrow_batches import Decoding
from calibrant.interop.streams import RowReader, length, part
from calibrant.sums.draws import RowSample
from calibrant.sums.reading import FEW, M, Predictions, Read

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

    rows: RowReader
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
                n_rows += length(table)
                yield table

        try:
            for problem, numbers in self.rows.problems(counted(), self.decoding, f"partition {number}", at):
                one = self.read(problem, numbers)
                found = one if found is None else found + one
        except REFUSED as error:
            return Part(None, (Fault(number, str(error), n_rows + sum(map(length, given))),))
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

    def __init__(self, rows: RowReader) -> None:
        self._rows = rows
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
            found += [table] if length(table) else []
            if sum(map(length, found)) > FEW:
                break
        return found

    @cached_property
    def _decoding(self) -> Decoding:
        error: Exception = self._nothing()
        slices = (
            part(table, slice(start, start + SLICE))
            for table in self._first_tables
            for start in range(0, min(length(table), FEW), SLICE)
        )
        for table in chain(self._first_tables, slices):
            try:
                return self._rows.decoding(table)
            except REFUSED as refused:  # of one wrong label: others are in other rows
                error = refused
        raise error

    @cached_property
    def _head(self) -> Problem:
        for table in self._first_tables:
            with suppress(*REFUSED):
                return next(problem for problem, _ in self._rows.problems([table], self._decoding, "", 0))
        return self.reduce(lambda batch, first: RowSample.of(batch, first, 1)).problem

    def head(self) -> Problem:
        """Return the first rows that are not refused."""
        return self._head

    @property
    def left_out(self) -> tuple[int, int]:
        """How many partitions were left out in the last reading, and how many rows of them are known."""
        return len(self.faults), sum(fault.n_rows for fault in self.faults)

    @property
    def is_many(self) -> bool:
        """Whether there are more rows than are few, which the first partitions tell."""
        return sum(map(length, self._first_tables)) > FEW

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
        total = self._added(PartitionReader(self._rows, self._decoding, read))
        self.faults = tuple(sorted(total.faults))
        if self.faults:
            self._report(self.faults)
        if total.found is None:
            raise self._nothing()
        return total.found

    def _report(self, faults: tuple[Fault, ...]) -> None:
        first = faults[0].message.removesuffix(".")
        others = "" if len(faults) == 1 else f" ({len(faults)} partitions are refused)"
        if self._rows.chosen.on_error == "skip":
            warn(
                f"partitions of {self.where} were left out: {len(faults)}, of {self.left_out[1]} rows; the first: {first}."
            )
            return
        raise ValueError(f"{self.where}, {first}{others}. To leave such partitions out: on_error='skip'.")

    def _nothing(self) -> ValueError:
        return ValueError(f"predictions must hold at least one row; {self.where} has none. Check how it was made.")
