"""Squared calibration errors without their bias, and by how much the absence of each row changes them."""

from __future__ import annotations

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import as_simplex
from calibrant.metrics.uncertainty.residuals import Residuals


def unbiased_square(seen: Residuals) -> tuple[float, FloatArray, FloatArray]:
    """Return the squared error without bias, by how much each row's absence changes it, and how often each row stands there.

    The square of a bin's mean residual is a mean over pairs of rows; a row paired with itself is what makes the bias.
    """
    simplex, table = as_simplex(seen.problem), seen.cells()
    row, column = np.nonzero(table.of >= 0)
    of = table.of[row, column]
    times, own = simplex.weights.times, simplex.weights.importance[row]
    residual = own * ((simplex.label[row] == column) - simplex.prob[row, column])

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(of, times[row] * values, table.weight.size).astype(np.float64)

    first, second = total(residual), total(residual**2)
    mass, square, rows = total(own), total(own**2), total(np.ones(own.size))
    whole = _mean_of_pairs(first, second, mass, square, rows)
    without = _mean_of_pairs(
        first[of] - residual, second[of] - residual**2, mass[of] - own, square[of] - own**2, rows[of] - 1.0
    )
    influence = np.bincount(row, table.weight[of] * (without - whole[of]), simplex.size)
    return float(table.weight @ whole), influence.astype(np.float64), times


def _mean_of_pairs(
    first: FloatArray, second: FloatArray, mass: FloatArray, square: FloatArray, rows: FloatArray
) -> FloatArray:
    """Mean product of the residuals of two different rows, from their weighted sums; 0 where there are no two."""
    pairs = np.where(rows > 1.5, mass**2 - square, 1.0)
    return np.where(rows > 1.5, (first**2 - second) / pairs, 0.0)
