"""The noise of calibration errors: what chance does to the sums of residuals in each cell, a bin of a problem of a notion.

A deviation is a sum of weighted residuals y - p over the rows of a cell. Its noise is drawn in three ways: by the
bootstrap (right away from calibration), from labels that the forecast itself draws (right at calibration, also where no
event was seen), and from event rates that are drawn toward 1/2 by one event and one non-event (right where a bin holds a
few rows that all went one way, so that the bootstrap sees no noise at all).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._links import FloatArray
from calibrant._problem import BinaryProblem, BoolArray, IntArray, SimplexProblem
from calibrant.binning import Binning
from calibrant.lenses.base import Lens, Size
from calibrant.metrics.losses import Norm, l1, l2, maximum
from calibrant.metrics.uncertainty import Law, steps_for
from calibrant.notions import Notion
from calibrant.resampling import Bootstrap, CellArray, ConsistentLabels

Draws = Iterable[IntArray]
Sizes = Callable[[FloatArray], FloatArray]
"""Size of each of many rows of deviations: (m, n_cells) to (m,)."""

BLOCK = 1 << 20
"""Rows times classes looked at together."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The bins of all problems of a notion, side by side.

    ``of[i, j]`` is the cell in which row i stands with class j, or -1. Each cell has a count of rows, a weight (they sum
    to one), the ``expected`` sum of its weighted scores, a ``scale`` that turns weighted residuals into its deviation, that
    deviation, and the ``part`` of the notion whose it is.
    """

    of: CellArray
    count: FloatArray
    weight: FloatArray
    scale: FloatArray
    expected: FloatArray
    deviation: FloatArray
    part: IntArray

    def sizes(self, norm: Norm, across: Norm | None = None) -> Sizes:
        """Return the function that takes the norm of deviations: of all cells at once, or of each part and then across."""
        held = self.weight > 0
        if across is None:
            return lambda deviations: _norms(deviations[:, held], self.weight[held], norm)
        parts = [held & (self.part == j) for j in np.unique(self.part)]
        shares = np.array([self.weight[rows].sum() for rows in parts])

        def sizes(deviations: FloatArray) -> FloatArray:
            # Within a part weights sum to one; deviations are divided by the weights they come with, so that shares cancel.
            own = [
                _norms(deviations[:, rows] / share, self.weight[rows] / share, norm)
                for rows, share in zip(parts, shares, strict=True)
            ]
            return _norms(np.column_stack(own) * shares, shares, across)

        return sizes

    def seen_through(self, lens: Lens, size: Size) -> Sizes:
        """Return the function that takes the size of what a lens sees of deviations, a mean over the parts by share."""
        views = []
        for j in np.unique(self.part):
            rows = np.flatnonzero((self.part == j) & (self.weight > 0))
            weight = self.weight[rows]
            score = np.clip(self.scale[rows] * self.expected[rows] / weight, 0.0, 1.0)
            views.append((rows, weight, lens(BinaryProblem(score, np.zeros(rows.size, dtype=bool), weight))))

        def sizes(deviations: FloatArray) -> FloatArray:
            total = np.zeros(len(deviations))
            for rows, weight, view in views:
                total += weight.sum() * size(view, view.look(deviations[:, rows] / weight))
            return total

        return sizes


def cells(problem: SimplexProblem, notion: Notion, binning: Binning) -> Cells:
    """Cut a problem into the cells of a notion and a binning."""
    of: CellArray = np.full(problem.prob.shape, -1, dtype=np.int32)
    columns: list[tuple[FloatArray | IntArray, ...]] = []
    start = 0
    for number, (part, binary) in enumerate(zip(notion.parts(problem.prob), notion.split(problem), strict=True)):
        if binary.size == 0:
            continue
        bins = binning(binary)
        part.put(of, start + bins.index(binary.score))
        start += len(bins)
        scale = binary.share / bins.weight.sum()
        columns.append(
            (
                bins.count.astype(np.float64),
                scale * bins.weight,
                np.full(len(bins), scale),
                bins.score_sum,
                scale * (bins.outcome_sum - bins.score_sum),
                np.full(len(bins), number),
            )
        )
    return Cells(of, *(np.concatenate(column) for column in zip(*columns, strict=True)))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Noise:
    """Deviations that chance makes in each cell, shape (n_resamples, n_cells).

    By the ``bootstrap``, about the observed ones; ``consistent`` ones, of labels that the forecast itself drew; and those
    of events with ``smoothed`` rates, about these.
    """

    cells: Cells
    bootstrap: FloatArray
    consistent: FloatArray
    smoothed: FloatArray | None = None

    def law(self, sizes: Sizes) -> Law:
        """Sizes of the observed deviations times each step, with each kind of noise."""
        seen = self.cells.deviation[None]
        null = sizes(self.consistent)
        steps = steps_for(float(sizes(seen)[0]), null)
        others = [self.bootstrap] if self.smoothed is None else [self.bootstrap, self.smoothed]
        return Law(
            steps=steps,
            truth=sizes(steps[:, None] * seen),
            consistent=np.array([null if step == 0 else sizes(step * seen + self.consistent) for step in steps]),
            others=tuple(np.array([sizes(step * seen + noise) for step in steps]) for noise in others),
        )


def noise_of(
    problem: SimplexProblem,
    tables: Sequence[Cells],
    bootstrap: Bootstrap,
    labels: ConsistentLabels,
    draws: Draws,
    smoothing: np.random.Generator | None,
) -> list[Noise]:
    """Draw the noise of several tables of cells; ``draws`` iterates over ``labels``, and one draw serves all tables."""
    return [
        Noise(
            table,
            bootstrap_deviations(problem, table, bootstrap),
            deviations,
            None if smoothing is None else smoothed_deviations(table, len(labels), smoothing),
        )
        for table, deviations in zip(tables, consistent_deviations(problem, tables, labels, draws), strict=True)
    ]


def consistent_deviations(
    problem: SimplexProblem, tables: Sequence[Cells], labels: ConsistentLabels, draws: Draws
) -> list[FloatArray]:
    """Deviations of labels that the forecast drew, shape (n_resamples, n_cells) for each table."""
    consistent = [np.empty((len(labels), table.weight.size)) for table in tables]
    for number, label in enumerate(draws if tables else ()):
        for table, deviations in zip(tables, consistent, strict=True):
            came = labels.sums_at(table.of, label, problem.weight, table.weight.size)
            deviations[number] = table.scale * (came - table.expected)
    return consistent


def bootstrap_deviations(problem: SimplexProblem, cells: Cells, bootstrap: Bootstrap) -> FloatArray:
    """Bootstrapped deviations about the observed ones, shape (n_resamples, n_cells)."""
    n_cells = cells.weight.size
    group_sums = np.zeros(bootstrap.n_groups * n_cells)
    step = max(1, BLOCK // problem.prob.shape[1])
    for start in range(0, problem.size, step):
        row, column = np.nonzero(cells.of[start : start + step] >= 0)
        row += start
        residual = problem.weight[row] * ((problem.label[row] == column) - problem.prob[row, column])
        np.add.at(group_sums, bootstrap.group[row] * n_cells + cells.of[row, column], residual)
    resampled = bootstrap.resampled(group_sums.reshape(bootstrap.n_groups, n_cells))
    return cells.scale * resampled - cells.deviation


def smoothed_deviations(cells: Cells, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Deviations of binomial events about smoothed event rates, shape (n_resamples, n_cells); cells are independent."""
    n = np.maximum(cells.count, 1.0)
    weight = cells.weight / n  # of a row, in the aggregate
    events = np.clip((cells.deviation + cells.scale * cells.expected) / np.where(weight > 0, weight, 1.0), 0.0, n)
    rate = (events + 1.0) / (n + 2.0)
    drawn = rng.binomial(cells.count.astype(np.int64), rate, size=(n_resamples, n.size))
    return np.asarray(weight * (drawn - cells.count * rate), dtype=np.float64)


def _norms(deviations: FloatArray, weight: FloatArray, norm: Norm) -> FloatArray:
    """Norm of each row of deviations, which are gaps times weights."""
    values = np.abs(deviations) / weight
    if norm is l1:
        sums: FloatArray = values @ weight
        return sums
    if norm is l2:
        roots: FloatArray = np.sqrt(values**2 @ weight)
        return roots
    if norm is maximum:
        largest: FloatArray = values.max(axis=1)
        return largest
    return np.array([norm(row, weight) for row in values])
