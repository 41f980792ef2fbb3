"""The answer to "how many rows do I need?"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant._core.result import DrawnResult, Picture
from calibrant._core.table import Table


@dataclass(frozen=True, eq=False)
class RowsNeeded(DrawnResult):
    """How many rows a question takes, and what that rests on: the result of `rows_for`.

    Attributes
    ----------
    rows : int
        The answer.
    sentence : str
        What these rows are needed for, in one sentence.
    standard_error : float
        Standard error of ``rows`` by the draws of the simulation; 0 where nothing was drawn.
    assumed : dict
        What the answer rests on, such as the level, the power and the predictions, by name.
    figure : str
        What was looked at for each number of rows: "power", "width", "bound" or "share of harm".
    target : float
        The value of that figure that was asked for.
    tried : ndarray of shape (L,)
        Numbers of rows that were tried, rising.
    value : ndarray of shape (L,)
        The figure with so many rows; of a simulation with its noise.
    """

    _table = Table("number of rows that was tried", "rows=tried", "value", "figure")
    _summary = "{rows}, {figure}={target:g}"
    _picture = Picture("the figure against the number of rows", "rows_needed.plot_rows_needed")

    rows: int
    sentence: str
    standard_error: float
    assumed: Mapping[str, Any]
    figure: str
    target: float
    tried: IntArray
    value: FloatArray

    def __str__(self) -> str:
        """Return the sentence, and a line for each assumption."""
        width = max(map(len, self.assumed))
        return "\n".join([self.sentence, *(f"  {name:<{width}}  {said}" for name, said in self.assumed.items())])
