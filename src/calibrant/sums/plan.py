"""What is asked of the rows before they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakValueDictionary

from calibrant._core.links import FloatArray
from calibrant._core.problem import Problem, SimplexProblem
from calibrant.binning import Binning
from calibrant.notions import Notion

T = TypeVar("T")

RowScore = Callable[[SimplexProblem], FloatArray]
"""One value a row, shape (n,), such as its log loss."""


@dataclass(frozen=True)
class Plan:
    """What one reading of the rows is to leave behind. Two plans with equal parts are the same.

    Attributes
    ----------
    cells : tuple of (Notion, Binning)
        The bins of each problem of the notion. Sums of batches add up where the binning has the same edges in all of them, as
        `EqualWidth` has.
    scores : tuple of (str, RowScore)
        Values of the rows to be summed, by their names.
    powers : int
        How many powers of each value are summed: 1 for means, 3 for variance and skewness as well.
    noise : bool
        Whether also what noise is drawn from is left behind: the strata of each bin, and some rows where one row stands in
        several bins of a notion.
    """

    cells: tuple[tuple[Notion, Binning], ...] = ()
    scores: tuple[tuple[str, RowScore], ...] = ()
    powers: int = 3
    noise: bool = False

    @classmethod
    def of_cells(cls, cells: Iterable[tuple[Notion, Binning]], *, noise: bool = False) -> Plan:
        """Ask for bins alone, each once."""
        return cls(cells=tuple(distinct(cells)), noise=noise)

    @property
    def keeps_rows(self) -> bool:
        """Whether rows are kept: noise of cells that share rows has to be drawn."""
        return self.noise and not all(notion.one_score_a_row for notion, _ in self.cells)

    def fitted_to(self, problem: Problem) -> Plan:
        """Return the plan with the notions decided, for all batches: fit it to one problem, and read each batch by it."""
        fitted = [notion.fitted_to(problem) for notion, _ in self.cells]
        if all(one is notion for one, (notion, _) in zip(fitted, self.cells, strict=True)):
            return self
        cells = zip(fitted, (binning for _, binning in self.cells), strict=True)
        return replace(self, cells=tuple(cells))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the plan with a mark: copies of one plan are one object in each process, so that their sums add up."""
        mark = vars(self).setdefault("_mark", uuid4().hex)
        TRAVELLED.setdefault(mark, self)
        return _arrived, (mark, self.cells, self.scores, self.powers, self.noise)


TRAVELLED: WeakValueDictionary[str, Plan] = WeakValueDictionary()
"""Plans of this process that were sent to another one, or back, by their mark: functions of copies are not equal."""


def _arrived(mark: str, *parts: Any) -> Plan:
    plan = Plan(*parts)
    vars(plan)["_mark"] = mark
    return TRAVELLED.setdefault(mark, plan)


def distinct(things: Iterable[T]) -> list[T]:
    """List what is equal once; it need not be hashable, since a binning or a notion of one's own may hold a list."""
    found: list[T] = []
    for thing in things:
        if thing not in found:
            found.append(thing)
    return found
