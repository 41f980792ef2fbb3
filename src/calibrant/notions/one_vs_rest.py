"""One class against the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from calibrant._core.arrays import is_whole
from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import Problem
from calibrant._core.registry import declare
from calibrant.notions.base import Notion, Part


@declare("notion", "one-vs-rest", symbol="j", source="Silva Filho et al. 2023, Def. 3")
@dataclass(frozen=True, repr=True)
class OneVsRest(Notion):
    """One class against the rest: the event of class-j calibration.

    Parameters
    ----------
    column : int or str, default=-1
        Number of the column, from 0; negative from the end, so that by default of two classes it is the event. Or the name
        of the class, which metrics and curves look up among the labels.

    Examples
    --------
    >>> from calibrant import expected_calibration_error
    >>> from calibrant.notions import OneVsRest
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(expected_calibration_error(["a", "b", "c"], P, notion=OneVsRest("b")), 3)
    0.233
    """

    column: int | str = -1

    name = "one-vs-rest"
    one_score_a_row = True

    def __post_init__(self) -> None:
        require(
            is_whole(self.column) or isinstance(self.column, str),
            "column must be a number of a column or a name of a class",
            value=self.column,
            hint="Pass an int or a str",
            error=TypeError,
        )

    def fitted_to(self, problem: Problem) -> Notion:
        """Look the name up."""
        if not isinstance(self.column, str):
            return self
        names = [str(c) for c in problem.classes.tolist()]
        require(
            self.column in names,
            f"column must be among the classes {', '.join(map(repr, names[:5]))}{(', ...' if len(names) > 5 else '')}",
            value=self.column,
            hint="Pass one of them, or the number of the column",
        )
        return OneVsRest(names.index(self.column))

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part: the column."""
        n_classes = prob.shape[1]
        require(
            not isinstance(self.column, str),
            "column must be a number where the names of the classes are not known",
            value=self.column,
            hint=f"Pass the number of the column, 0 to {n_classes - 1}",
        )
        require(
            -n_classes <= self.column < n_classes,
            f"column must be among the {n_classes} columns of the forecast",
            value=self.column,
            hint=f"Pass 0 to {n_classes - 1}",
        )
        j = int(self.column) % n_classes
        yield Part(slice(None), j, f"class {names[j] if names else j}")
