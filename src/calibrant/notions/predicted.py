"""The class that a forecast predicts, and its probability."""

from __future__ import annotations

from collections.abc import Iterator

from calibrant._core.by_row import top_column
from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant._core.registry import declare
from calibrant.notions.base import Notion, Part
from calibrant.notions.grouped import rows_by_group


def top_label(prob: FloatArray) -> IntArray:
    """Column of the highest probability of each row; of equal ones the first."""
    return top_column(prob)


@declare("notion", "confidence", symbol="conf", source="Guo et al. 2017")
class Confidence(Notion):
    """The highest probability of each row, and whether the class that has it is the true class."""

    name = "confidence"
    of_predictions = True
    one_score_a_row = True

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part: the top probability of every row."""
        yield _of_top(top_label(prob))

    def _parts_of(self, simplex: SimplexProblem, names: tuple[str, ...]) -> Iterator[Part]:
        yield _of_top(simplex.top)


@declare("notion", "top-label", symbol="TL", source="Gupta and Ramdas 2022, Def. 1")
class TopLabel(Notion):
    """The highest probability, given which class has it: one problem for each predicted class."""

    name = "top-label"
    of_predictions = True
    one_score_a_row = True

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts: the rows that predict class j, with the probability of j."""
        return _by_top(top_label(prob), names or tuple(map(str, range(prob.shape[1]))))

    def _parts_of(self, simplex: SimplexProblem, names: tuple[str, ...]) -> Iterator[Part]:
        return _by_top(simplex.top, names)


def _of_top(top: IntArray) -> Part:
    return Part(slice(None), top, "confidence")


def _by_top(top: IntArray, names: tuple[str, ...]) -> Iterator[Part]:
    for j, rows in enumerate(rows_by_group(top, len(names))):
        yield Part(rows, j, f"predicted {names[j]}")
