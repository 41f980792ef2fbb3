"""How sure a figure is: intervals, the noise floor, and whether miscalibration is real.

A calibration error is a norm of the deviations D of the bins, and a norm of noise is never zero: the percentile
bootstrap of such a figure misses a true zero almost always. But a norm obeys the triangle inequality,

    | norm(D + noise) - norm(D) |  <=  norm(noise),

so value -+ q, with q a quantile of the norm of the noise, covers at least as often as promised, whatever the truth, for
the bins at hand. The noise is drawn twice: by the bootstrap (right away from calibration) and from labels that the
forecast itself draws (right at calibration, also where no event was seen); q is the larger quantile.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._links import FloatArray
from calibrant._problem import IntArray, SimplexProblem
from calibrant.binning import Binning
from calibrant.metrics.losses import Norm
from calibrant.notions import Notion
from calibrant.resampling import Bootstrap


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval; for calibration errors also the noise floor and the p-value of calibration."""

    value: float
    lower: float
    upper: float
    noise_floor: float | None = None
    pvalue: float | None = None


@dataclass(frozen=True, eq=False)
class Cells:
    """The bins of all problems of a notion, side by side.

    ``of[i, j]`` is the cell in which row i stands with class j, or -1. Each cell has a weight (they sum to one), and a
    scale that turns weighted residuals into its deviation.
    """

    of: IntArray
    weight: FloatArray
    scale: FloatArray
    expected: FloatArray
    deviation: FloatArray

    def norm(self, deviation: FloatArray, norm: Norm) -> float:
        """Norm of deviations, one a cell."""
        held = self.weight > 0
        return norm(np.abs(deviation[held]) / self.weight[held], self.weight[held])


def cells(problem: SimplexProblem, notion: Notion, binning: Binning) -> Cells:
    """Cut a problem into the cells of a notion and a binning."""
    of = np.full(problem.prob.shape, -1, dtype=np.int32)
    weight, scale, expected, deviation, start = [], [], [], [], 0
    for part, binary in zip(notion.parts(problem.prob), notion.split(problem), strict=True):
        if binary.size == 0:
            continue
        bins = binning(binary)
        part.put(of, start + bins.index(binary.score))  # type: ignore[arg-type]
        scale_here = binary.share / bins.weight.sum()
        weight.append(scale_here * bins.weight)
        scale.append(np.full(len(bins), scale_here))
        expected.append(bins.score_sum)
        deviation.append(scale_here * (bins.outcome_sum - bins.score_sum))
        start += len(bins)
    return Cells(of, *(np.concatenate(column) for column in (weight, scale, expected, deviation)))  # type: ignore[arg-type]


def bootstrap_noise(problem: SimplexProblem, cells: Cells, norm: Norm, bootstrap: Bootstrap) -> FloatArray:
    """Norm of the bootstrapped deviations about the observed ones, one a resample."""
    noise = np.zeros((len(bootstrap.counts), cells.weight.size))
    for j in range(problem.prob.shape[1]):
        rows = np.flatnonzero(cells.of[:, j] >= 0)
        residual = problem.weight[rows] * ((problem.label[rows] == j) - problem.prob[rows, j])
        noise += bootstrap.sums(residual, cells.of[rows, j], cells.weight.size, rows)
    noise *= cells.scale
    noise -= cells.deviation
    return np.array([cells.norm(row, norm) for row in noise])


def consistent_noise(problem: SimplexProblem, cells: Cells, norm: Norm, label: IntArray) -> float:
    """Norm of the deviations that the labels of a calibrated world would show."""
    at = cells.of[np.arange(problem.size), label]
    seen = at >= 0
    came = np.bincount(at[seen], problem.weight[seen], cells.weight.size)
    return cells.norm(cells.scale * (came - cells.expected), norm)


def error_estimate(
    value: float, noise: FloatArray, null: FloatArray, *, level: float, highest: float = 1.0
) -> Estimate:
    """Interval by the triangle inequality, noise floor, and p-value with the +1 correction."""
    reach = max(float(np.quantile(noise, 1.0 - level)), float(np.quantile(null, 1.0 - level)))
    # A value equal to a null value up to rounding counts as reached: the test must not gain from rounding.
    pvalue = (1.0 + float(np.sum(null >= value * (1.0 - 1e-9)))) / (1.0 + null.size)
    return Estimate(value, max(0.0, value - reach), min(highest, value + reach), float(null.mean()), pvalue)


def mean_estimate(losses: FloatArray, weight: FloatArray, bootstrap: Bootstrap, *, level: float) -> Estimate:
    """Percentile interval of a weighted mean of one value a row; it holds the value itself."""
    value = float(np.average(losses, weights=weight))
    total = bootstrap.totals(weight)
    means = bootstrap.totals(weight * losses)[total > 0] / total[total > 0]
    lower, upper = np.quantile(means, [level / 2.0, 1.0 - level / 2.0])
    return Estimate(value, min(float(lower), value), max(float(upper), value))
