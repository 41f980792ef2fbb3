"""Sums of windows of rows, which add up window by window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.parameters import require
from calibrant._core.problem import Problem
from calibrant._core.weights import Weights
from calibrant.monitoring.windows import LAST, Key, Numbers, Windows, in_order
from calibrant.sums import Plan, Sums, scan
from calibrant.sums.predictions import Predictions

MOST_WINDOWS = 10_000
"""Windows up to which evidence is computed in seconds."""


@dataclass(frozen=True, eq=False)
class ByWindow:
    """Sums of each window by its key; ``+`` adds up those of the same window.

    Attributes
    ----------
    sums : dict of Sums
        Those of each window.
    rows : int
        Number of rows that were read, those of weight zero left out.
    end : int
        Number of the row behind the last, among all rows that were given: the next ones begin there.
    """

    sums: Mapping[Key, Sums]
    rows: int = 0
    end: int = 0

    def __add__(self, other: ByWindow) -> ByWindow:
        joined = dict(self.sums)
        for key, sums in other.sums.items():
            joined[key] = added(joined[key], sums) if key in joined else sums
        require_few(len(joined))
        return ByWindow(joined, self.rows + other.rows, max(self.end, other.end))

    @property
    def keys(self) -> list[Key]:
        """Which windows there are, in their order."""
        kinds = {isinstance(key, str) for key in self.sums}
        require(
            len(kinds) < 2,
            "windows must be named by numbers or by words",
            got="both",
            hint="Name all of them alike in at=",
        )
        return sorted(self.sums, key=lambda key: in_order(key) if isinstance(key, str) else [(0, key, "")])

    @classmethod
    def of(cls, problem: Problem, keys: npt.NDArray[Any], plan: Plan, end: int) -> ByWindow:
        """Sum the rows of each window; ``keys`` (n,) says whose each row is, and ``end`` which number comes after the last."""
        distinct, code = np.unique(keys, return_inverse=True)
        require_few(distinct.size)
        ends = np.cumsum(np.bincount(code, minlength=distinct.size))
        order = np.argsort(code, kind="stable")
        found = {}
        for key, rows in zip(distinct.tolist(), np.split(order, ends[:-1]), strict=True):
            found[key] = summed(problem if distinct.size == 1 else problem.at(rows), plan)
        return cls(found, problem.size, end)


def of_predictions(predictions: Predictions, start: int, at: Any, windows: Windows, plan: Plan) -> ByWindow:
    """Sum predictions that are read in batches; ``start`` is the number of their first row among all."""
    found = predictions.reduce(lambda batch, number: _of_batch(batch, start + number, at, windows, plan))
    return replace(found, end=max(found.end, start + (getattr(predictions, "n_rows", None) or 0)))


def _of_batch(batch: Problem, number: Numbers, at: Any, windows: Windows, plan: Plan) -> ByWindow:
    """Sum a batch, of which the first row has this number among all, or each its own."""
    end = int(number.max()) + 1 if isinstance(number, np.ndarray) else number + batch.size
    return ByWindow.of(batch, windows.keys(at, batch.size, number), plan, end)


def added(ours: Sums, theirs: Sums) -> Sums:
    """Add up sums, of predictions of one precision: the edges of bins are rounded to it."""
    edges = [{one.bins.edges.tobytes() for one in sums.cells[0] if one.bins.count.any()} for sums in (ours, theirs)]
    must = "predictions of one window, and of a reference, must be of one precision"
    require(edges[0] == edges[1], must, got="single and double", hint="Pass y_prob in double precision")
    return ours + theirs


def require_few(windows: int) -> None:
    """Refuse more windows than can be looked at."""
    must = f"a monitor must have at most {MOST_WINDOWS} windows"
    require(windows <= MOST_WINDOWS, must, value=windows, hint="Pass a longer window=")


def summed(problem: Problem, plan: Plan) -> Sums:
    """Sum rows; one of weight w is w rows. Rows that a scan keeps, to draw noise of several classes, are many: they go.

    Weights are read bit by bit, the highest first: what was summed so far is doubled, which loses no digit, and rows whose
    weight has the bit are added. So a weight costs as many readings as it has bits, and no memory.
    """
    if problem.weights.is_unit:
        return replace(scan(problem, plan), kept=None)
    times = _whole_numbers(problem.weights)
    total = Sums.of_no_rows(plan)
    for bit in reversed(range(int(times.max(initial=0)).bit_length())):
        rows = np.flatnonzero(times >> bit & 1)
        total += total
        if rows.size:
            total += replace(scan(problem.at(rows, Weights.one_each(rows.size)), plan), kept=None)
    return total


def _whole_numbers(weights: Weights) -> npt.NDArray[np.int64]:
    """Return how many rows each row stands for."""
    require(
        weights.are_counts,
        "sample_weight of a monitor must be whole numbers, each a number of equal rows",
        got="fractions",
        hint="Leave the weights out, or repeat rows",
    )
    must = "sample_weight must be numbers of at most 2^53 rows in all"
    require(weights.total <= LAST, must, got=f"{weights.total:.3g}", hint="Leave the weights out")
    return weights.values.astype(np.int64)
