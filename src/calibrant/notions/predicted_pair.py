"""Notions for a pair: a predicted class, and its probability alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from calibrant._core.parameters import require
from calibrant._core.problem import BinaryProblem, Predicted, Problem
from calibrant._core.registry import named
from calibrant.notions.base import Notion
from calibrant.notions.binary import Binary
from calibrant.notions.predicted import Confidence, TopLabel
from calibrant.notions.within_groups import WithinGroups


class PairConfidence(Binary):
    """The probability of the predicted class, and whether it is the true class."""

    name = "confidence"
    of_predictions = True

    def split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Yield the one problem."""
        (whole,) = super().split(problem)
        yield replace(whole, name=self.name, predicted=None)


class PairTopLabel(WithinGroups):
    """The same, given which class is predicted: one problem for each class."""

    name = "top-label"
    word = "predicted"
    of_predictions = True

    def __init__(self, predicted: Predicted) -> None:
        super().__init__(predicted.code)
        self.known, self.code = tuple(str(c) for c in predicted.classes.tolist()), predicted.code

    def __repr__(self) -> str:
        return f"TopLabel({len(self.known)} classes of {self.code.size} predictions)"


def of_pair(notion: Notion, predicted: Predicted) -> Notion:
    """Return the form for a pair of a notion for tables, or refuse one that needs the other classes."""
    if isinstance(notion, Confidence):
        return PairConfidence()
    if isinstance(notion, TopLabel):
        return PairTopLabel(predicted)
    require(
        isinstance(notion, Binary) or named(type(notion)) is None,
        "notion must be 'top-label' or 'confidence' where y_pred is given",
        got=f"{notion.name!r}, which speaks of classes that are not predicted",
        hint="Pass one of the two, or the whole table without y_pred",
    )
    return notion
