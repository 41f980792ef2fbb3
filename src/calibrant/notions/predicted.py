"""The class that a forecast predicts, and its probability."""

from __future__ import annotations

from collections.abc import Iterator

from calibrant._core.by_row import top_column
from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
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
        yield Part(slice(None), top_label(prob), "confidence")


@declare("notion", "top-label", symbol="TL", source="Gupta and Ramdas 2022, Def. 1")
class TopLabel(Notion):
    """The highest probability, given which class has it: one problem for each predicted class."""

    name = "top-label"
    of_predictions = True
    one_score_a_row = True

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts: the rows that predict class j, with the probability of j."""
        for j, rows in enumerate(rows_by_group(top_label(prob), prob.shape[1])):
            yield Part(rows, j, f"predicted {names[j] if names else j}")
