"""A forecast of one event, group by group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from calibrant._core.labels import as_labels
from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.result import read_only
from calibrant.notions.base import Notion, Part
from calibrant.notions.binary import Binary
from calibrant.notions.grouped import rows_by_group


class WithinGroups(Notion):
    """The probability of the event, given the group of the row: one problem for each group, its share that of its rows.

    The groups are those of the rows of one table: a notion for metrics and curves, and not for calibrators. Where the group is
    the predicted class, pass ``y_pred=`` and ``notion="top-label"``.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        The group of each row: integers, strings or booleans.

    Raises
    ------
    ValueError
        If the forecast is of more than two classes, or has not as many rows as there are groups. Rows of weight zero are left
        out before a notion is asked: leave them out of all arrays.

    Examples
    --------
    >>> from calibrant import calibration_error
    >>> from calibrant.notions import WithinGroups
    >>> group = ["old", "old", "young", "young"]
    >>> calibration_error([1, 0, 1, 1], [0.5, 0.5, 0.75, 0.75], notion=WithinGroups(group))
    0.125
    """

    name = "within-groups"
    one_score_a_row = True
    word: ClassVar[str] = "group"

    def __init__(self, groups: npt.ArrayLike) -> None:
        known, code = np.unique(as_labels(groups, "groups"), return_inverse=True)
        self.known, self.code = tuple(known.tolist()), read_only(code)

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part a group: its rows, with the probability of column 1."""
        require(
            prob.shape[1] == 2,
            "notion 'within-groups' speaks of one event",
            given=f"the forecast has {prob.shape[1]} classes",
            hint="Pass one probability a row, and whether the event occurred",
        )
        require(
            len(prob) == self.code.size,
            "groups must have one value for each row that counts",
            got=f"{self.code.size} for {len(prob)} rows",
            hint="Pass the group of each row; leave rows of weight zero out of all arrays",
        )
        for group, rows in zip(self.known, rows_by_group(self.code, len(self.known)), strict=True):
            yield Part(rows, 1, f"{self.word} {group}")

    def split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Yield the rows of each group, with their logits where the forecast was given as logits."""
        prob = self._simplex(problem).prob
        parts = list(self.parts(prob))
        (whole,) = Binary().split(problem)
        for part in parts:
            group = whole.at(part.rows)
            yield replace(group, share=group.weights.total / whole.weights.total, name=part.name, predicted=None)

    def __repr__(self) -> str:
        return f"WithinGroups({len(self.known)} groups of {self.code.size} rows)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WithinGroups):
            return False
        return type(self) is type(other) and self.known == other.known and np.array_equal(self.code, other.code)

    def __hash__(self) -> int:
        return hash((self.known, self.code.tobytes()))
