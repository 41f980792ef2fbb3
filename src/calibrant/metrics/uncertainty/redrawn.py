"""Metrics that are measured anew: on labels drawn from the forecast, or on rows that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import IntArray, Problem, SimplexProblem
from calibrant._core.registry import named
from calibrant._core.result import read_only
from calibrant._core.weights import Weights
from calibrant.notions import Notion, WithinGroups
from calibrant.sums.draws import ConsistentLabels

Progress = Callable[[Iterable[IntArray], int], Iterable[IntArray]]
"""Passes draws on, of which there are so many."""


def unwatched(draws: Iterable[IntArray], total: int) -> Iterable[IntArray]:
    """Pass draws on and show nothing."""
    return draws


MOST_DRAWN = 2.0**63
"""Number of equal rows of which NumPy draws no labels any more."""


class ConsistentCounts:
    """How many of the equal rows that a whole weight stands for get each label; iterate for the draws, shape (n, K).

    Parameters
    ----------
    prob : ndarray of shape (n, K)
        The forecast.
    weight : ndarray of shape (n,)
        Numbers of rows.
    n_resamples : int
        Draws.
    rng : numpy.random.Generator
        Source of randomness.
    """

    def __init__(self, prob: FloatArray, weight: FloatArray, n_resamples: int, rng: np.random.Generator) -> None:
        most = float(weight.max())
        require(
            most < MOST_DRAWN,
            "sample_weight must be below 2**63 where each of the equal rows of a whole weight draws its label",
            got=f"{most:g}",
            hint="Divide the weights by their largest, if they are no numbers of rows",
        )
        self.prob, self.weight = prob / prob.sum(axis=1, keepdims=True), weight.astype(np.int64)
        self.n_resamples, self.rng = n_resamples, rng

    def __iter__(self) -> Iterator[IntArray]:
        return (self.rng.multinomial(self.weight, self.prob) for _ in range(self.n_resamples))


@dataclass(frozen=True, eq=False)
class Redrawn:
    """An error as a function of labels or counts: ``of`` a problem and the notion of its rows."""

    of: Callable[[Problem, Notion], float]
    simplex: SimplexProblem
    notion: Notion

    def with_labels(self, label: IntArray) -> float:
        """Return the error if these were the labels, shape (n,)."""
        return self.of(replace(self.simplex, label=label), self.notion)

    def with_counts(self, counts: IntArray) -> float:
        """Return the error if so many of the rows had each label, shape (n, K)."""
        rows, label = np.nonzero(counts)
        given = self.at(rows)
        weight = counts[rows, label].astype(np.float64)
        return self.of(replace(given.simplex, label=label, weights=Weights(weight)), given.notion)

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


def redrawn(
    error: Redrawn, n_resamples: int, rng: np.random.Generator, progress: Progress, *, counts_rows: bool
) -> FloatArray:
    """Return an error on labels that the forecast drew, shape (n_resamples,).

    A row moves with its weight; but of an error that counts rows each of so many equal rows draws its label.
    """
    simplex, order = error.simplex, error.order
    ordered = error.at(order)
    if counts_rows and simplex.weights.repeat_rows:
        counts = ConsistentCounts(ordered.simplex.prob, ordered.simplex.weight, n_resamples, rng)
        return np.array([ordered.with_counts(drawn) for drawn in progress(counts, n_resamples)])
    labels = progress(ConsistentLabels(simplex.prob, n_resamples, rng), n_resamples)
    return np.array([ordered.with_labels(label[order]) for label in labels])


def _of_rows(notion: Notion, rows: IntArray) -> Notion:
    """Return the notion of some rows: groups are those of the rows of one table."""
    if not isinstance(notion, WithinGroups):
        return notion
    found = copy(notion)
    found.code = read_only(notion.code[rows])
    return found
