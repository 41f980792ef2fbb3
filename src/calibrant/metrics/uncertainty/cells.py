"""The cells of calibration errors: bins of problems or groups of neighbouring scores, side by side.

A deviation is the sum of weighted residuals y - p over the rows of a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray, Problem, SimplexProblem
from calibrant._core.registry import named
from calibrant._core.weights import Weights
from calibrant.binning import Binning
from calibrant.lenses.base import Lens, Size, View
from calibrant.notions import ClassWise, Notion
from calibrant.sums import BinnedProblem, Plan, Sums, scan
from calibrant.sums.draws import MOST_DRAWN, CellArray
from calibrant.sums.kept_rows import MOST as MOST_KEPT
from calibrant.sums.noise import Moments, Together
from calibrant.sums.sums import shared_edges
from calibrant.sums.unread import is_unread

MOST_BY_ROW = MOST_KEPT
"""Rows up to which labels are drawn for each of them; of more the noise is drawn from the strata of the cells."""


@dataclass(frozen=True)
class Sizes:
    """How large deviations are: ``look`` is linear in them, ``size`` takes what was seen, so that each is looked at once.

    ``look`` turns deviations (m, n_cells) into what is seen of each part, arrays (m, d); ``size`` turns these into (m,).
    A mean over cells is compared with truths that are `shrunk`; a largest value, that of the emptiest cell, is not.
    """

    look: Callable[[FloatArray], list[FloatArray]]
    size: Callable[[list[FloatArray]], FloatArray]
    shrinks: bool = False

    def __call__(self, deviations: FloatArray) -> FloatArray:
        """Size of each row of deviations."""
        return self.size(self.look(deviations))


@dataclass(frozen=True, eq=False)
class Cells:
    """The bins of all problems of a notion, side by side.

    Each cell has a ``count`` of rows, or of the equal rows that whole weights are, a weight (they sum to one), the
    ``expected`` sum of its weighted scores, a ``scale`` that turns weighted residuals into its deviation, that deviation, and
    the ``part`` of the notion whose it is. ``placed`` finds the cells of the rows. Of many rows there are the ``moments``, and
    where one row stands in several cells kept rows show how these vary ``together``.
    """

    placed: Callable[[], CellArray]
    count: FloatArray
    weight: FloatArray
    scale: FloatArray
    expected: FloatArray
    deviation: FloatArray
    part: IntArray
    moments: Moments | None = None
    together: Together | None = None

    @cached_property
    def of(self) -> CellArray:
        """Cell in which row i stands with class j, or -1, shape (n, K)."""
        return self.placed()

    @property
    def held(self) -> Cells:
        """The cells that hold rows, where there are moments to draw their noise from."""
        some = self.count > 0.0
        if self.moments is None or some.all() or not some.any():
            return self
        # The last number is that of no cell, -1.
        number = np.append(np.where(some, np.cumsum(some) - 1, -1), -1).astype(np.int32)
        return replace(
            self,
            placed=lambda: number[self.of],
            count=self.count[some],
            weight=self.weight[some],
            scale=self.scale[some],
            expected=self.expected[some],
            deviation=self.deviation[some],
            part=self.part[some],
            moments=self.moments.at(some),
            together=None if self.together is None else replace(self.together, of=number[self.together.of]),
        )

    @property
    def prob(self) -> FloatArray:
        """Mean score of each cell."""
        return np.clip(self.scale * self.expected / np.where(self.weight > 0.0, self.weight, 1.0), 0.0, 1.0)

    @property
    def gap(self) -> FloatArray:
        """Event rate minus mean score of each cell."""
        return self.deviation / np.where(self.weight > 0.0, self.weight, 1.0)

    def sizes(self, lens: Lens, size: Size) -> Sizes:
        """Return how to take the size of what a lens sees of deviations, of all cells at once or part by part."""
        held = self.weight > 0
        if not held.any():  # a notion that found no row to speak of
            return Sizes(lambda deviations: [deviations], lambda seen: np.zeros(len(seen[0])), shrinks=size.shrinks)
        all_of_them = slice(None) if held.all() else held  # a view: to choose all by a mask is to copy them
        parts = [all_of_them] if size.is_joint else [held & (self.part == j) for j in np.unique(self.part[held])]
        weights = [self.weight[rows] for rows in parts]
        views = [self._view(lens, rows) for rows in parts]
        return Sizes(
            lambda deviations: [
                view.look(deviations[:, rows] / w) for view, rows, w in zip(views, parts, weights, strict=True)
            ],
            lambda seen: size.of_seen(views, weights, seen),
            shrinks=size.shrinks,
        )

    def _view(self, lens: Lens, held: BoolArray | slice) -> View:
        """Hold a lens over some cells."""
        weight = self.weight[held]
        score = np.clip(self.scale[held] * self.expected[held] / weight, 0.0, 1.0)
        return lens.over_cells(BinaryProblem(score, np.zeros(score.size, dtype=bool), Weights(weight)))


def draws_from_sums(problem: Problem, *notions: Notion) -> bool:
    """Whether noise is drawn from sums: equal rows are many, and are not known to the notions by their places.

    Of many different rows that are several equal ones each labels are drawn by row where a row stands in several cells.
    """
    weights = problem.weights
    by_row = weights.repeat_rows and problem.size > MOST_BY_ROW
    known = all(n.one_score_a_row or (named(type(n)) is not None and not by_row) for n in notions)
    if is_unread(problem):
        return known and weights.is_unit
    return known and weights.are_counts and MOST_BY_ROW < weights.total < MOST_DRAWN


def cells(problem: SimplexProblem, notion: Notion, binning: Binning, sums: Sums | None = None) -> Cells:
    """Cut a problem into the cells of a notion and a binning, of which the ``sums`` may be known already."""
    asked = (notion, binning)
    by_sums = draws_from_sums(problem, notion)
    known = sums if sums is not None and asked in sums.plan.cells and (sums.plan.noise or not by_sums) else None
    if known is None:
        known = scan(problem, Plan.of_cells([asked], noise=by_sums))
    problems = known.of(*asked)
    held = {number: one for number, one in enumerate(problems) if one.bins.count.any()}
    return Cells(
        lambda: _placed(problem.prob, notion, problems, (binary.score for binary in notion.split(problem))),
        *_columns(held),
        moments=Moments.of(list(held.values())) if by_sums else None,
        together=_together(problem, notion, problems, known) if by_sums and not notion.one_score_a_row else None,
    )


def _columns(
    held: Mapping[int, BinnedProblem],
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, IntArray]:
    """Return count, weight, scale, expected, deviation and part of the cells of problems with rows, by their numbers."""
    if not held:  # a notion that found no row to speak of: one cell without weight
        return (*np.zeros((5, 1)), np.zeros(1, dtype=np.intp))
    bins, size = [one.shown for one in held.values()], [len(one.bins) for one in held.values()]
    count, weight, score, events = (
        np.concatenate([getattr(one, name) for one in bins]) for name in ("count", "weight", "score_sum", "outcome_sum")
    )
    scale = np.repeat([one.share / one.bins.weight.sum() for one in held.values()], size)
    part = np.repeat(list(held), size)
    return count.astype(np.float64), scale * weight, scale, score, scale * (events - score), part


def _placed(
    prob: FloatArray, notion: Notion, problems: Sequence[BinnedProblem], scores: Iterable[FloatArray]
) -> CellArray:
    """Return the cell of each row and class, or -1, shape (n, K); problems without rows have no cells."""
    if type(notion) is ClassWise and (edges := shared_edges(problems)) is not None:
        at = edges.index(prob.ravel()).reshape(prob.shape)
        at += edges.n_cells * np.arange(prob.shape[1])
        return at.astype(np.int32)
    of: CellArray = np.full(prob.shape, -1, dtype=np.int32)
    start = 0
    for part, score, one in zip(notion.parts(prob), scores, problems, strict=True):
        if one.bins.count.any():
            part.put(of, start + one.bins.index(score))
            start += len(one.bins)
    return of


def _together(
    problem: SimplexProblem, notion: Notion, problems: Sequence[BinnedProblem], sums: Sums
) -> Together | None:
    """Return kept rows with their cells; of rows that stand for several equal ones all of them."""
    if problem.weights.repeat_rows:
        scores = (binary.score for binary in notion.split(problem))
        return Together(problem.prob, _placed(problem.prob, notion, problems, scores), problem.weight)
    if sums.kept is None:
        return None
    prob = sums.kept.prob
    scores = (part.scores(prob) for part in notion.parts(prob))
    of = _placed(prob, notion, problems, scores)
    if type(notion) is not ClassWise:
        return Together(prob, of, np.ones(len(prob)))
    count = np.concatenate([one.bins.count for one in problems]).astype(np.float64)
    return Together(prob, of, sums.kept.weights(of.astype(np.intp), count, sums.rows))
