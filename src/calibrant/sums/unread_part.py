"""One of the binary problems that a notion makes of rows which are read in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._core.in_batches import M, Read
from calibrant._core.problem import BinaryProblem, Problem, SimplexProblem
from calibrant.notions import Notion
from calibrant.sums.plan import Plan
from calibrant.sums.scan import scan
from calibrant.sums.sums import BinnedProblem, Sums
from calibrant.sums.unread import Reading, Unread, UnreadBinary, UnreadWeights

OfBatch = Callable[[Problem], BinaryProblem]
"""What makes the binary problem of a batch."""


class UnreadPart(UnreadBinary):
    """Problem number ``index`` of a notion, of a problem that is read in batches. What is read of it is read of all of them."""

    def __init__(self, whole: Unread, notion: Notion, index: int, of_batch: OfBatch) -> None:
        self.__dict__.update(whole=whole, notion=notion, index=index, of_batch=of_batch)
        head = of_batch(whole.reading.head)
        reading = _PartReading(self, head)
        shown = {"share": 1.0, "name": head.name, "classes": head.classes, "precision": whole.precision}
        self.__dict__.update(shown, predicted=None, reading=reading, weights=UnreadWeights(reading))

    whole: Unread
    notion: Notion
    index: int
    of_batch: OfBatch

    def scanned(self, plan: Plan) -> Sums | None:
        """Return the sums over bins of this problem, of those of all problems, for which rows are read once."""
        if plan.scores:
            return None
        asked = replace(plan, cells=tuple((self.notion, binning) for _, binning in plan.cells))
        cells = tuple((own[self.index],) for own in scan(self.whole, asked).cells)
        return replace(self.reading.totals, plan=plan, cells=cells)

    def summed_parts(self, notion: Any) -> Iterator[BinaryProblem]:
        """Return this problem with scores rounded to cells, whatever the notion of one event."""
        yield list(self.whole.summed_parts(self.notion))[self.index]

    def in_two_columns(self) -> SimplexProblem:
        """Rows are not there."""
        return self.whole.in_two_columns() if isinstance(self.whole, UnreadBinary) else self.whole

    def reduce(self, read: Read[M]) -> M:
        """Read the batches; some may have no rows of this problem."""
        return self.whole.reduce(lambda batch, first: read(self.of_batch(batch), first))


class _PartReading(Reading):
    """What has been read of a part."""

    def __init__(self, part: UnreadPart, head: BinaryProblem) -> None:
        super().__init__(part.whole.reading.predictions, head)
        self.part = part

    @cached_property
    def totals(self) -> Sums:
        """Number and weight of the rows, from the cells of the part."""
        one: BinnedProblem = self.part.whole.reading.cells(self.part.whole, self.part.notion)[self.part.index]
        rows, weight = int(one.bins.count.sum()), float(one.bins.weight.sum())
        return Sums(Plan(), rows, weight, one.weights, 2, (), np.zeros((0, 3)))
