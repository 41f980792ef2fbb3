"""Bins that follow the scores, of rows that are read in batches: cut at the ends of the cells of a fixed fine grid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import Problem
from calibrant.binning import Binning, Bins, Edges, FineGrid, locate
from calibrant.notions import Notion
from calibrant.sums.fine_cells import FineCells, rounded
from calibrant.sums.plan import Plan, distinct
from calibrant.sums.row_sample import SAMPLED
from calibrant.sums.strata import is_upper
from calibrant.sums.sums import BinnedProblem, Sums


def fine_pair(problem: Problem, notion: Notion) -> tuple[Notion, FineGrid]:
    """Return the notion with the grid that is fine enough for its problems."""
    return notion.fitted_to(problem), FineGrid.for_problems(notion.n_parts(problem))


def on_fixed_cells(plan: Plan, problem: Problem) -> Plan:
    """Return the plan with a fine grid in place of bins that follow the scores; bins of each score are refused."""
    for _, binning in plan.cells:
        require(
            not binning.needs_scores,
            "bins of predictions that are read in batches must hold more than one score",
            got=f"{binning!r}, which needs all rows in memory",
            hint=f"Take a sample, {SAMPLED}, or FineGrid()",
        )
    cells = [pair if pair[1].is_fixed else fine_pair(problem, pair[0]) for pair in plan.cells]
    return replace(plan, cells=tuple(distinct(cells)))


def recut(sums: Sums, plan: Plan, problem: Problem) -> Sums:
    """Return the sums that a plan asks for, made of those over fixed cells."""
    found = []
    for notion, binning in plan.cells:
        if binning.is_fixed:
            found.append(sums.of(notion, binning))
        else:
            cells = sums.of(*fine_pair(problem, notion))
            found.append(tuple(_recut(one, binning) for one in cells))
    return replace(sums, plan=plan, cells=tuple(found))


def _recut(one: BinnedProblem, binning: Binning) -> BinnedProblem:
    """Put the cells of a problem together in bins, each of which ends where a cell does."""
    cells = one.bins
    edges = between_cells(FineCells.of(one), binning(rounded(one)).edges)
    at = locate(edges, cells.right)
    count, weight, scores, outcomes = (
        np.bincount(at, values, edges.size - 1).astype(np.float64)
        for values in (cells.count, cells.weight, cells.score_sum, cells.outcome_sum)
    )
    strata = None if one.strata is None else one.strata.put_together(at, is_upper(cells.edges), is_upper(edges))
    open_ = _open(FineCells.of(one), edges) if binning.cuts_by_weight else np.inf
    return replace(
        one, bins=Bins(Edges(edges), count.astype(np.intp), weight, scores, outcomes), strata=strata, open=open_
    )


def _open(cells: FineCells, edges: FloatArray) -> float:
    """Return how far the mean gap of bins that end with cells may be from that of bins that end at scores within these cells.

    A cell is the last of its bin here. There, its upper rows are in other bins: with U and D the sums of its positive and its
    negative residuals, at most max(U, D) leaves the bin, and what it adds to others is at most U + D.
    """
    last = np.searchsorted(cells.mean, edges[1:-1], side="right") - 1
    last = np.unique(last[last >= 0])
    rise, fall = cells.rise[last], cells.fall[last]
    return float((np.maximum(rise, fall) + rise + fall).sum()) / cells.total


def between_cells(cells: FineCells, edges: FloatArray) -> FloatArray:
    """Move edges between means of cells out of the cells: each stays above the cells whose means it is above."""
    below = np.searchsorted(cells.mean, edges[1:-1], side="right")
    lowest, highest = np.append(edges[0], cells.right)[below], np.append(cells.left, edges[-1])[below]
    return np.concatenate([edges[:1], np.clip(edges[1:-1], lowest, highest), edges[-1:]])
