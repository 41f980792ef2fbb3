"""Draws of the deviations of cells: by labels that the forecast draws, from rows drawn again, or at smoothed rates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant.metrics.uncertainty.cells import Cells
from calibrant.sums.draws import Bootstrap, ConsistentLabels, Labels, labels_of
from calibrant.sums.noise import Moments, Together

Draws = Iterable[IntArray]

BLOCK = 1 << 20
"""Rows times classes looked at together."""


def labels_drawn(
    problem: SimplexProblem, tables: Sequence[Cells], n_resamples: int, rng: np.random.Generator
) -> Labels:
    """Return labels that the forecast draws, of no row where the noise of all tables is drawn from sums."""
    if all(table.moments is not None for table in tables):
        return ConsistentLabels(np.empty((0, problem.classes.size)), n_resamples, rng)
    return labels_of(problem, n_resamples, rng)


def consistent_deviations(
    problem: SimplexProblem, tables: Sequence[Cells], labels: Labels, draws: Draws
) -> list[FloatArray]:
    """Deviations of labels that the forecast drew, shape (n_resamples, n_cells) for each table.

    Those of tables with moments are drawn from these; the other tables share the draws of labels.
    """
    consistent = [
        np.empty((len(labels), table.weight.size))
        if table.moments is None
        else table.scale * (_events(table.moments, table.together, len(labels), labels.rng) - table.expected)
        for table in tables
    ]
    by_row = [pair for pair in zip(tables, consistent, strict=True) if pair[0].moments is None]
    for number, label in enumerate(draws if by_row else ()):
        for table, deviations in by_row:
            events = labels.sums_at(table.of, label, problem.weight, table.weight.size)
            deviations[number] = table.scale * (events - table.expected)
    return consistent


def _events(moments: Moments, together: Together | None, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw numbers of events from moments, of cells that share rows as they vary together."""
    if together is None:
        return moments.events(n_resamples, rng)
    return moments.events_together(together, n_resamples, rng)


def resampled_deviations(problem: SimplexProblem, cells: Cells, bootstrap: Bootstrap) -> FloatArray:
    """Bootstrapped deviations about the observed ones, from moments where cells share no rows."""
    if cells.moments is None or cells.together is not None:
        return bootstrap_deviations(problem, cells, bootstrap)
    return cells.scale * cells.moments.resampled(bootstrap.n_resamples, bootstrap.rng) - cells.deviation


def bootstrap_deviations(problem: SimplexProblem, cells: Cells, bootstrap: Bootstrap) -> FloatArray:
    """Bootstrapped deviations about the observed ones, shape (n_resamples, n_cells)."""
    n_cells = cells.weight.size
    group_sums = np.zeros(bootstrap.n_groups * n_cells)
    step = max(1, BLOCK // problem.prob.shape[1])
    for start in range(0, problem.size, step):
        row, column = np.nonzero(cells.of[start : start + step] >= 0)
        row += start
        residual = (problem.weight * bootstrap.step)[row] * ((problem.label[row] == column) - problem.prob[row, column])
        np.add.at(group_sums, bootstrap.group[row] * n_cells + cells.of[row, column], residual)
    return cells.scale * bootstrap.moved(group_sums.reshape(bootstrap.n_groups, n_cells))


def smoothed_deviations(cells: Cells, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Deviations of binomial events about smoothed event rates, shape (n_resamples, n_cells); cells are independent."""
    n = np.maximum(cells.count, 1.0)
    weight = cells.weight / n  # of a row, in the aggregate
    events = np.clip((cells.deviation + cells.scale * cells.expected) / np.where(weight > 0, weight, 1.0), 0.0, n)
    rate = (events + 1.0) / (n + 2.0)
    drawn = rng.binomial(cells.count.astype(np.int64), rate, size=(n_resamples, n.size))
    return np.asarray(weight * (drawn - cells.count * rate), dtype=np.float64)
