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
from calibrant._problem import BinaryProblem, IntArray, SimplexProblem, is_unit_weight
from calibrant.binning import Binning
from calibrant.lenses.base import Lens, Size
from calibrant.metrics.losses import Norm, l1, l2, maximum
from calibrant.metrics.uncertainty import Law, steps_for
from calibrant.notions import Notion
from calibrant.resampling import Bootstrap, CellArray, ConsistentLabels

Draws = Iterable[IntArray]

BLOCK = 1 << 20
"""Rows times classes looked at together."""

STRATA_PAY_FROM = 1 << 16
"""Rows from which events are drawn by the stratum, not by the row."""

STRATA = 256
"""Strata of [0, 1]. In one the probabilities differ by less than 1/256: its events are binomial, but for a variance too large
by at most 1/512 squared a row."""


@dataclass(frozen=True)
class Sizes:
    """How large deviations are: ``look`` is linear in them, ``size`` takes what was seen, so that each is looked at once.

    ``look`` turns deviations (m, n_cells) into what is seen of each part, arrays (m, d); ``size`` turns these into (m,).
    """

    look: Callable[[FloatArray], list[FloatArray]]
    size: Callable[[list[FloatArray]], FloatArray]

    def __call__(self, deviations: FloatArray) -> FloatArray:
        """Size of each row of deviations."""
        return self.size(self.look(deviations))


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
        """Return how to take the norm of deviations: of all cells at once, or of each part and then across the parts."""
        held = self.weight > 0
        parts = [held] if across is None else [held & (self.part == j) for j in np.unique(self.part[held])]
        weights = [self.weight[rows] for rows in parts]
        shares = np.array([weight.sum() for weight in weights])

        def size(seen: list[FloatArray]) -> FloatArray:
            if across is None:
                return _norms(np.abs(seen[0]), weights[0], norm)
            own = [
                _norms(np.abs(gaps), weight / share, norm)
                for gaps, weight, share in zip(seen, weights, shares, strict=True)
            ]
            return _norms(np.column_stack(own), shares, across)

        return Sizes(lambda deviations: [deviations[:, rows] / w for rows, w in zip(parts, weights, strict=True)], size)

    def seen_through(self, lens: Lens, size: Size) -> Sizes:
        """Return how to take the size of what a lens sees of deviations, a mean over the parts by share."""
        held = [np.flatnonzero((self.part == j) & (self.weight > 0)) for j in np.unique(self.part)]
        weights = [self.weight[rows] for rows in held]
        scores = [
            np.clip(self.scale[rows] * self.expected[rows] / w, 0.0, 1.0) for rows, w in zip(held, weights, strict=True)
        ]
        views = [
            lens(BinaryProblem(score, np.zeros(score.size, dtype=bool), w))
            for score, w in zip(scores, weights, strict=True)
        ]
        return Sizes(
            lambda deviations: [
                view.look(deviations[:, rows] / w) for view, rows, w in zip(views, held, weights, strict=True)
            ],
            lambda seen: np.sum(
                [w.sum() * size(view, own) for view, w, own in zip(views, weights, seen, strict=True)], axis=0
            ),
        )


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
    if not columns:  # a notion that found no row to speak of: one cell without weight
        columns.append((*np.zeros((5, 1)), np.zeros(1, dtype=np.intp)))
    return Cells(of, *(np.concatenate(column) for column in zip(*columns, strict=True)))


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
        kinds = [self.consistent, self.bootstrap] + ([] if self.smoothed is None else [self.smoothed])
        seen, noises = sizes.look(self.cells.deviation[None]), [sizes.look(kind) for kind in kinds]

        def stretched(step: float, noise: list[FloatArray]) -> FloatArray:
            return sizes.size([step * shape + part for shape, part in zip(seen, noise, strict=True)])

        steps = steps_for(float(sizes.size(seen)[0]), sizes.size(noises[0]))
        consistent, *others = (np.array([stretched(step, noise) for step in steps]) for noise in noises)
        truth = np.concatenate([sizes.size([step * shape for shape in seen]) for step in steps])
        return Law(steps, truth, consistent, tuple(others))


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
    by_stratum = [_has_strata(problem, table) for table in tables]
    consistent = [
        stratified_deviations(problem, table, len(labels), labels.rng)
        if whole
        else np.empty((len(labels), table.weight.size))
        for table, whole in zip(tables, by_stratum, strict=True)
    ]
    by_label = [pair for pair, whole in zip(zip(tables, consistent, strict=True), by_stratum, strict=True) if not whole]
    for number, label in enumerate(draws if by_label else ()):
        for table, deviations in by_label:
            came = labels.sums_at(table.of, label, problem.weight, table.weight.size)
            deviations[number] = table.scale * (came - table.expected)
    return consistent


def _has_strata(problem: SimplexProblem, table: Cells) -> bool:
    """Whether rows are many, count alike, and stand in one cell each, so that cells are independent of each other."""
    return (
        problem.size >= STRATA_PAY_FROM
        and is_unit_weight(problem.weight)
        and bool(((table.of >= 0).sum(axis=1) == 1).all())
    )


def stratified_deviations(
    problem: SimplexProblem, table: Cells, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Deviations of binomial events in each stratum of each cell, shape (n_resamples, n_cells)."""
    column = table.of.argmax(axis=1)  # elsewhere stands -1
    cell, score = (values[np.arange(problem.size), column] for values in (table.of, problem.prob))
    key = cell.astype(np.intp) * STRATA + np.minimum((score * STRATA).astype(np.intp), STRATA - 1)
    count = np.bincount(key)
    stratum = np.flatnonzero(count)
    rate = np.minimum(np.bincount(key, score)[stratum] / count[stratum], 1.0)
    events = rng.binomial(count[stratum], rate, size=(n_resamples, stratum.size))
    held, first = np.unique(stratum // STRATA, return_index=True)
    came = np.zeros((n_resamples, table.weight.size))
    came[:, held] = np.add.reduceat(events, first, axis=1)
    deviations: FloatArray = table.scale * (came - table.expected)
    return deviations


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


def _norms(values: FloatArray, weight: FloatArray, norm: Norm) -> FloatArray:
    """Norm of each row of values, shape (m, d); of no values zero."""
    if weight.size == 0:
        return np.zeros(len(values))
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
