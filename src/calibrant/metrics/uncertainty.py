"""How sure a figure is: intervals, the noise floor, and whether miscalibration is real.

A calibration error is a norm of the deviations D of the bins, and a norm of noise is never zero: the percentile
bootstrap of such a figure misses a true zero almost always. But a norm obeys the triangle inequality,

    | norm(D + noise) - norm(D) |  <=  norm(noise),

so value -+ q, with q a quantile of the norm of the noise, covers whatever the truth, for the bins at hand. What has to be
estimated is the noise. It is drawn in three ways, and q is the largest of their quantiles: by the bootstrap (right away
from calibration), from labels that the forecast itself draws (right at calibration, also where no event was seen), and
from event rates that are drawn toward 1/2 by one event and one non-event (right where a bin holds a few rows that all
went one way, so that the bootstrap sees no noise at all).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._links import FloatArray
from calibrant._problem import IntArray, SimplexProblem
from calibrant.binning import Binning
from calibrant.metrics.losses import Norm
from calibrant.notions import Notion
from calibrant.resampling import Bootstrap, CellArray, ConsistentLabels

Draws = Iterable[IntArray]

BLOCK = 1 << 20
"""Rows times classes looked at together."""


@dataclass(frozen=True)
class Resampling:
    """How an interval is to be made: one minus its coverage, the number of resamples, and the source of randomness."""

    level: float
    n_resamples: int
    rng: np.random.Generator


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval. What measures a distance from calibration has more.

    Attributes
    ----------
    value, lower, upper : float
        The figure and its interval, which holds it.
    noise_floor : float or None
        Mean of the figure if the forecast were calibrated.
    pvalue : float or None
        Share of calibrated draws that reach the figure, with the +1 correction.
    debiased : float or None
        The true error of which the figure is the median.
    detectable : float or None
        The true error, of the shape seen, that the test would find four times in five.
    """

    value: float
    lower: float
    upper: float
    noise_floor: float | None = None
    pvalue: float | None = None
    debiased: float | None = None
    detectable: float | None = None


@dataclass(frozen=True, eq=False)
class Cells:
    """The bins of all problems of a notion, side by side.

    ``of[i, j]`` is the cell in which row i stands with class j, or -1. Each cell has a count of rows, a weight (they sum
    to one), the ``expected`` sum of its weighted scores, a ``scale`` that turns weighted residuals into its deviation, and
    that deviation.
    """

    of: CellArray
    count: FloatArray
    weight: FloatArray
    scale: FloatArray
    expected: FloatArray
    deviation: FloatArray

    def norms(self, deviations: FloatArray, norm: Norm) -> FloatArray:
        """Norm of each row of deviations, shape (rows, cells)."""
        held = self.weight > 0
        weight = self.weight[held]
        return np.array([norm(values, weight) for values in np.abs(deviations[:, held]) / weight])


def cells(problem: SimplexProblem, notion: Notion, binning: Binning) -> Cells:
    """Cut a problem into the cells of a notion and a binning."""
    of: CellArray = np.full(problem.prob.shape, -1, dtype=np.int32)
    columns: list[tuple[FloatArray, ...]] = []
    start = 0
    for part, binary in zip(notion.parts(problem.prob), notion.split(problem), strict=True):
        if binary.size == 0:
            continue
        bins = binning(binary)
        part.put(of, start + bins.index(binary.score))
        start += len(bins)
        scale = binary.share / bins.weight.sum()
        deviation = scale * (bins.outcome_sum - bins.score_sum)
        columns.append(
            (bins.count.astype(np.float64), scale * bins.weight, np.full(len(bins), scale), bins.score_sum, deviation)
        )
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
    smoothed: FloatArray

    def estimate(self, norm: Norm, *, level: float) -> Estimate:
        """Interval by the triangle inequality, noise floor, and p-value with the +1 correction."""
        value = float(self.cells.norms(self.cells.deviation[None], norm)[0])
        null = self.cells.norms(self.consistent, norm)
        noises = (self.cells.norms(self.bootstrap, norm), null, self.cells.norms(self.smoothed, norm))
        reach = float(max(np.quantile(noise, 1.0 - level) for noise in noises))
        # A null value that equals the value up to rounding reaches it: the test must not gain from rounding.
        pvalue = (1.0 + float(np.sum(null >= value * (1.0 - 1e-9)))) / (1.0 + null.size)
        return Estimate(value, max(0.0, value - reach), min(1.0, value + reach), float(null.mean()), pvalue)


def noise_of(
    problem: SimplexProblem,
    tables: Sequence[Cells],
    bootstrap: Bootstrap,
    labels: ConsistentLabels,
    draws: Draws,
    rng: np.random.Generator,
) -> list[Noise]:
    """Draw the noise of several tables of cells; ``draws`` iterates over ``labels``, and one draw serves all tables."""
    consistent = [np.empty((len(labels), table.weight.size)) for table in tables]
    for number, label in enumerate(draws if tables else ()):
        for table, deviations in zip(tables, consistent, strict=True):
            came = labels.sums_at(table.of, label, problem.weight, table.weight.size)
            deviations[number] = table.scale * (came - table.expected)
    return [
        Noise(
            table,
            bootstrap_deviations(problem, table, bootstrap),
            deviations,
            smoothed_deviations(table, len(labels), rng),
        )
        for table, deviations in zip(tables, consistent, strict=True)
    ]


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


def mean_estimate(losses: FloatArray, weight: FloatArray, bootstrap: Bootstrap, *, level: float) -> Estimate:
    """Percentile interval of a weighted mean of one value a row; it holds the value itself."""
    value = float(np.average(losses, weights=weight))
    total = bootstrap.sums(weight)
    means = bootstrap.sums(weight * losses)[total > 0] / total[total > 0]
    lower, upper = np.quantile(means, [level / 2.0, 1.0 - level / 2.0])
    return Estimate(value, min(float(lower), value), max(float(upper), value))
