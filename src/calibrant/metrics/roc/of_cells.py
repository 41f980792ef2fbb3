"""Areas under ROC curves of cells in place of scores, and between which limits those of the rows lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from calibrant._core.approximate import Approximate, mean_of
from calibrant._core.problem import BinaryProblem
from calibrant.metrics.roc.points import warn_of_one_kind
from calibrant.metrics.roc.ranked import Ranked
from calibrant.notions import Notion
from calibrant.solvers.isotonic import isotonic_fit_of
from calibrant.sums.fine_cells import CellProblem, FineCells
from calibrant.sums.unread import refuse_rows

AreaOfCells = Callable[[CellProblem], float]


def under_curve_of_cells(problem: CellProblem) -> float:
    """Return the area under the curve; pairs of one cell count by half, and may count fully or not at all.

    So the area of the rows is off by at most half the share of such pairs: sum of events * others over the cells, divided by
    twice the number of events times that of non-events.
    """
    cells, value = problem.cells, Ranked.of(problem).area
    open_ = float(cells.events @ cells.others) / 2.0
    pairs = float(cells.events.sum()) * float(cells.others.sum())
    return Approximate(value, value - open_ / pairs, value + open_ / pairs) if pairs else value


def under_hull_of_cells(problem: CellProblem) -> float:
    """Return the area under the hull, which the rows can only raise: to that of the best order within each cell, at most."""
    ranked = Ranked.of(problem)
    value = max(0.5, ranked.pooled().area) if ranked.has_both else float("nan")
    return Approximate(value, value, _best_hull(problem.cells)) if ranked.has_both else value


def _best_hull(cells: FineCells) -> float:
    """Return the area under the hull where the events of each cell lie above its non-events."""
    weight, events = cells.in_best_order
    steps = isotonic_fit_of(events, weight)
    of_events = steps.rate * steps.weight
    others = steps.weight - of_events
    above = of_events.sum() - np.cumsum(of_events) + of_events / 2.0
    return float(others @ above) / float(of_events.sum() * others.sum())


def mean_of_cells(problems: Sequence[BinaryProblem], measure: AreaOfCells) -> float:
    """Return the mean of an area over problems, by their shares."""
    held = [problem for problem in problems if problem.size]
    found = [(problem.share, measure(problem)) for problem in held if isinstance(problem, CellProblem)]
    warn_of_one_kind([problem for problem, (_, area) in zip(held, found, strict=True) if np.isnan(area)], "an AUC")
    return mean_of(found)


def single_of(cells: list[BinaryProblem], notion: Notion) -> BinaryProblem:
    """Return the one problem of cells; of several a row stands in all, and what it does to them together is not known."""
    if len(cells) > 1:
        refuse_rows(f"the interval of an area under notion {notion.name!r}")
    return cells[0]
