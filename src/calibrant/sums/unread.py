"""Problems whose rows are not in memory: sums over them can be had, and asking for the rows themselves is refused in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self, TypeGuard

import numpy as np
import numpy.typing as npt

from calibrant._core.in_batches import InBatches, M, Read
from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse
from calibrant._core.problem import BinaryProblem, BoolArray, Forecast, IntArray, Problem, SimplexProblem, as_simplex
from calibrant._core.weights import Weights
from calibrant.binning import Binning
from calibrant.notions import Notion
from calibrant.sums.fine_cells import rounded
from calibrant.sums.plan import Plan
from calibrant.sums.recut import fine_pair
from calibrant.sums.row_sample import SAMPLED
from calibrant.sums.sums import BinnedProblem, Sums, Unit

Cells = tuple[BinnedProblem, ...]


def unread(predictions: InBatches) -> Problem:
    """Return predictions that are read in batches as a problem of their kind."""
    head = predictions.head()
    return UnreadSimplex(predictions, head) if isinstance(head, SimplexProblem) else UnreadBinary(predictions, head)


class Reading:
    """What has been read of predictions so far: sums over all rows, once there are any."""

    scan: ClassVar[Callable[[Problem, Plan], Sums]]
    """What reads rows for a plan; `calibrant.sums.scan` puts it here, which knows how problems are read in batches."""

    def __init__(self, predictions: InBatches, head: Problem) -> None:
        self.predictions, self.head = predictions, head
        self.fixed: list[tuple[tuple[Notion, Binning], Cells]] = []

    @cached_property
    def totals(self) -> Sums:
        """Sums of all rows, of which their number and weight are asked."""
        return self.predictions.reduce(lambda batch, first: _totals_of(batch))

    def keep(self, sums: Sums) -> None:
        """Remember what was read: numbers of rows, and fixed cells, so that nothing is read for them again."""
        self.totals = sums
        self.fixed += list(zip(sums.plan.cells, sums.cells, strict=True))

    @property
    def event_rate(self) -> float | None:
        """Share of events of a problem of one event, if its rows have been cut into cells; else None."""
        whole = [cells[0].bins for _, cells in self.fixed if len(cells) == 1]
        return float(whole[0].outcome_sum.sum() / whole[0].weight.sum()) if whole else None

    def known(self, plan: Plan) -> Sums | None:
        """Return the sums that a plan asks for, if they are over cells that have been read before."""
        if plan.scores or plan.noise or not plan.cells:
            return None
        found = [[cells for pair, cells in self.fixed if pair == asked] for asked in plan.cells]
        if not all(found):
            return None
        return replace(
            self.totals, plan=plan, cells=tuple(cells[0] for cells in found), scores=np.zeros((0, plan.powers))
        )

    def parts(self, problem: Unread, notion: Notion) -> Iterator[BinaryProblem]:
        """Yield the problems of a notion, with scores rounded to cells of the fine grid."""
        return (rounded(one, problem) for one in self.cells(problem, notion))

    def cells(self, problem: Unread, notion: Notion) -> Cells:
        """Return the cells of the fine grid of each problem of a notion; rows are read for them once."""
        (cells,) = Reading.scan(problem, Plan.of_cells([fine_pair(problem, notion)])).cells
        return cells


def _totals_of(batch: Problem) -> Sums:
    none, rows, weights = Plan(), batch.size, batch.weights
    return Sums(none, rows, weights.total, Unit.of(weights), batch.classes.size, (), np.zeros((0, none.powers)))


class UnreadBinary(BinaryProblem):
    """A binary problem that is read in batches."""

    reading: Reading

    def __init__(self, predictions: InBatches, head: BinaryProblem) -> None:
        reading = Reading(predictions, head)
        shown = {"share": 1.0, "name": "", "classes": predictions.classes, "precision": predictions.precision}
        self.__dict__.update(shown, predicted=None, reading=reading, weights=UnreadWeights(reading))

    @property
    def size(self) -> int:
        """Number of rows; they are read for it, if they have not been read yet."""
        return self.reading.totals.rows

    @property
    def score(self) -> FloatArray:
        """Not there."""
        refuse_rows()

    @property
    def outcome(self) -> BoolArray:
        """Not there."""
        refuse_rows()

    @property
    def logit(self) -> FloatArray | None:
        """None of probabilities; logits are not there."""
        return None if self.reading.head.logit is None else refuse_rows()  # type: ignore[union-attr]

    def at(self, rows: IntArray | BoolArray | slice, weights: Weights | None = None) -> Self:
        """Rows are not there."""
        refuse_rows()

    def in_two_columns(self) -> SimplexProblem:
        """Return the same rows as a forecast of two classes, which is not read yet either."""
        return UnreadSimplex(self.reading.predictions, as_simplex(self.reading.head), self.reading)

    @property
    def example(self) -> Problem:
        """The first rows."""
        return self.reading.head

    def summed_parts(self, notion: Any) -> Iterator[BinaryProblem]:
        """Return the problems of the notion, with scores rounded to cells."""
        return self.reading.parts(self, notion)

    def scanned(self, plan: Plan) -> Sums | None:
        """Return the sums that a plan asks for, where another problem is read for them."""
        return None

    def reduce(self, read: Read[M]) -> M:
        """Read the batches."""
        return self.reading.predictions.reduce(read)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(classes={self.classes.tolist()})"


class UnreadSimplex(SimplexProblem):
    """A problem of a forecast of K classes that is read in batches; those of a binary problem are taken as two columns."""

    reading: Reading

    def __init__(self, predictions: InBatches, head: SimplexProblem, reading: Reading | None = None) -> None:
        reading = Reading(predictions, head) if reading is None else reading
        forecast = UnreadForecast(reading, head.forecast, predictions.precision)
        weights = UnreadWeights(reading)
        self.__dict__.update(
            reading=reading, forecast=forecast, weights=weights, classes=predictions.classes, is_of_predictions=False
        )

    @property
    def size(self) -> int:
        """Number of rows; they are read for it, if they have not been read yet."""
        return self.reading.totals.rows

    @property
    def label(self) -> IntArray:
        """Not there."""
        refuse_rows()

    def at(self, rows: IntArray | BoolArray | slice, weights: Weights | None = None) -> Self:
        """Rows are not there."""
        refuse_rows()

    @property
    def example(self) -> Problem:
        """The first rows."""
        return self.reading.head

    def summed_parts(self, notion: Any) -> Iterator[BinaryProblem]:
        """Return the problems of the notion, with scores rounded to cells."""
        return self.reading.parts(self, notion)

    def scanned(self, plan: Plan) -> Sums | None:
        """Return the sums that a plan asks for, where another problem is read for them."""
        return None

    def reduce(self, read: Read[M]) -> M:
        """Read the batches, as tables of two columns if they are of one."""
        return self.reading.predictions.reduce(lambda batch, first: read(as_simplex(batch), first))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(classes={self.classes.tolist()})"


class UnreadForecast(Forecast):
    """Probabilities or logits that are read in batches."""

    def __init__(self, reading: Reading, head: Forecast, precision: np.dtype[np.floating[Any]]) -> None:
        self.__dict__.update(reading=reading, n_classes=head.shape[1], is_logit=head.is_logit, given_in=precision)

    @property
    def values(self) -> FloatArray:
        """Not there."""
        refuse_rows()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and classes."""
        return vars(self)["reading"].totals.rows, vars(self)["n_classes"]


class UnreadWeights(Weights):
    """Weights of rows that are read in batches: whether there are any is known, and their sums once rows were read."""

    def __init__(self, reading: Reading) -> None:
        self.__dict__.update(reading=reading, is_unit=reading.head.weights.is_unit, whole=None)

    @property
    def _totals(self) -> Sums:
        totals: Sums = vars(self)["reading"].totals
        return totals

    def __len__(self) -> int:
        return self._totals.rows

    @property
    def values(self) -> FloatArray:
        """Not there."""
        refuse_rows()

    @property
    def are_rows(self) -> bool:
        """Whether there are none: of single weights nothing is known."""
        return self.is_unit

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return self._totals.weight

    @cached_property
    def are_counts(self) -> bool:
        """Whether they are numbers of equal rows."""
        return self._totals.unit.are_counts

    @property
    def n_rows(self) -> int:
        """Number of rows that are reported: of counts their sum."""
        return int(self.total) if self.are_counts else len(self)

    @cached_property
    def rows_per_weight(self) -> float:
        """Rows that a weight of one stands for."""
        return self._totals.unit.rows_per_weight


Unread = UnreadBinary | UnreadSimplex


class AsRead(InBatches):
    """A problem that is read in batches as what functions take, with what was read of it before."""

    def __init__(self, problem: Unread) -> None:
        self.problem = problem

    @property
    def classes(self) -> npt.NDArray[np.generic]:
        """Those of the problem."""
        return self.problem.classes

    @property
    def precision(self) -> np.dtype[np.floating[Any]]:
        """That of the problem."""
        return self.problem.precision

    def head(self) -> Problem:
        """Return some of its rows."""
        return self.problem.reading.head

    def reduce(self, read: Read[M]) -> M:
        """Read its batches."""
        return self.problem.reduce(read)

    def as_problem(self) -> Problem:
        """Return the problem."""
        return self.problem


def is_unread(problem: Problem) -> TypeGuard[Unread]:
    """Whether the rows of a problem are read in batches, so that only sums over them can be had."""
    return isinstance(problem, (UnreadBinary, UnreadSimplex))


def added(problem: Problem, read: Callable[[Problem], M], what: str) -> M:
    """Return what ``read`` finds in the rows; what it finds in batches adds up, where they have no weights."""
    if not is_unread(problem):
        return read(problem)
    if not problem.weights.is_unit:
        refuse_rows(f"{what} of weighted rows")
    return problem.reduce(lambda batch, first: read(batch))


def require_rows(problem: Problem, what: str) -> Problem:
    """Return a problem whose rows are in memory, or refuse one that is read in batches."""
    if is_unread(problem):
        refuse_rows(what)
    return problem


def refuse_rows(what: str = "this") -> NoReturn:
    """Refuse to have all rows in memory."""
    refuse(
        f"{what} needs all rows in memory",
        got="predictions that are read in batches, of which there are only sums",
        hint=f"Take a sample, {SAMPLED}, or leave it out",
    )
