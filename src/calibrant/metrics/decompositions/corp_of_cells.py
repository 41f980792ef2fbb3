"""CORP of cells in place of scores: the terms, and between which limits those of the rows lie."""

from __future__ import annotations

import numpy as np

from calibrant._core.approximate import Approximate
from calibrant._core.links import FloatArray
from calibrant._core.proper import EventScore, expected_score
from calibrant.binning.distinct_scores import Ordered
from calibrant.solvers.isotonic import Corp, corp_terms, isotonic_fit_of
from calibrant.sums.fine_cells import CellProblem, FineCells


def corp_of_cells(problem: CellProblem, score: EventScore) -> Corp:
    """Return the terms of cells with the limits of those of the rows.

    S, F and R are the mean scores of the forecast, of its isotonic fit and of the event rate; R is that of the rows.

    * F of the rows is at most that of the cells: a fit of cells is a non-decreasing map of rows as well. It is at least that of
      rows which lie in the best order within each cell, the events above: to exchange an event for a lower non-event makes no
      fit worse, as a score of an event falls with its probability and that of a non-event rises.
    * S of the rows is at least that of events at the upper limits of their cells and non-events at the lower ones, and at most
      that of the contrary.
    """
    cells, terms = problem.cells, corp_terms(Ordered.of(problem), score)
    lowest, highest = forecast_within(cells, score)
    best, fit = best_fit(cells, score), terms.uncertainty - terms.discrimination
    return Corp(
        Approximate(terms.score, lowest, highest),
        Approximate(terms.miscalibration, max(0.0, lowest - fit), highest - best),
        Approximate(terms.discrimination, terms.discrimination, terms.uncertainty - best),
        terms.uncertainty,
    )


def forecast_within(cells: FineCells, score: EventScore) -> tuple[float, float]:
    """Return the lowest and the highest mean score that the rows can have."""
    limits = ((cells.highest, cells.lowest), (cells.lowest, cells.highest))
    lowest, highest = (_mean_score(cells, score, *pair) for pair in limits)
    return lowest, highest


def _mean_score(cells: FineCells, score: EventScore, of_events: FloatArray, of_others: FloatArray) -> float:
    """Return the mean score of events and of non-events with these probabilities."""
    total = 0.0
    for outcome, weight, prob in ((1.0, cells.events, of_events), (0.0, cells.others, of_others)):
        held = weight > 0.0
        total += float(weight[held] @ expected_score(score, prob[held], np.full(int(held.sum()), outcome)))
    return total / cells.total


def best_fit(cells: FineCells, score: EventScore) -> float:
    """Return the mean score of the isotonic fit of rows that lie in the best order within each cell."""
    weight, events = cells.in_best_order
    steps = isotonic_fit_of(events, weight)
    return float(steps.weight @ expected_score(score, steps.rate, steps.rate)) / cells.total
