"""Metrics that are measured anew: on labels drawn from the forecast, or on rows that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray, Problem, SimplexProblem
from calibrant._core.registry import named
from calibrant._core.result import read_only
from calibrant._core.weights import Weights
from calibrant.notions import Notion, WithinGroups
from calibrant.sums.draws import drawn_rows, labels_of

Progress = Callable[[Iterable[IntArray], int], Iterable[IntArray]]
"""Passes draws on, of which there are so many."""


def unwatched(draws: Iterable[IntArray], total: int) -> Iterable[IntArray]:
    """Pass draws on and show nothing."""
    return draws


@dataclass(frozen=True, eq=False)
class Redrawn:
    """An error as a function of labels or counts: ``of`` a problem and the notion of its rows."""

    of: Callable[[Problem, Notion], float]
    simplex: SimplexProblem
    notion: Notion

    def with_draw(self, draw: IntArray) -> float:
        """Return the error if these were the labels, or if so many of the rows had each label."""
        return self.of(*with_labels(self.simplex, self.notion, draw))

    def at(self, rows: IntArray) -> Redrawn:
        """Return it for some rows, in their order."""
        return Redrawn(self.of, self.simplex.taken(rows), _of_rows(self.notion, rows))

    @property
    def order(self) -> IntArray:
        """Rows by the scores of the first problem, if all stand in it: each draw sorts them, and sorts them fast."""
        rows = np.arange(self.simplex.size)
        if named(type(self.notion)) is None:  # it may know the rows by their places
            return rows
        first = next(self.notion.split(self.simplex))
        return np.argsort(first.score, kind="stable") if first.size == rows.size else rows


def with_labels(simplex: SimplexProblem, notion: Notion, draw: IntArray) -> tuple[SimplexProblem, Notion]:
    """Return the rows with the labels of a draw of `labels_of`, and the notion of these rows."""
    rows, label, weight = drawn_rows(simplex, draw)
    if isinstance(rows, slice):
        return replace(simplex, label=label), notion
    return replace(simplex.at(rows, Weights(weight)), label=label), _of_rows(notion, rows)


def redrawn(error: Redrawn, n_resamples: int, rng: np.random.Generator, progress: Progress) -> FloatArray:
    """Return an error on labels that the forecast drew, shape (n_resamples,)."""
    order = error.order
    ordered = error.at(order)
    draws = progress(labels_of(error.simplex, n_resamples, rng), n_resamples)
    return np.array([ordered.with_draw(draw[order]) for draw in draws])


def _of_rows(notion: Notion, rows: IntArray) -> Notion:
    """Return the notion of some rows: groups are those of the rows of one table."""
    if not isinstance(notion, WithinGroups):
        return notion
    found = copy(notion)
    found.code = read_only(notion.code[rows])
    return found
