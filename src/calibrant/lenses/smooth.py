"""A kernel slides along the scores: smoothed residuals, at the bandwidth that equals the integral of their absolute value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft, sparse

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem
from calibrant.lenses.base import Lens, View
from calibrant.sums.fine_cells import FineCells

LEVELS = (10, 14)
"""Bandwidths are resolved down to 2 ** -level; the level rises with the square root of the number of rows."""

MODES = 8.6 / np.pi
"""Cosines of more than MODES / bandwidth half-waves are damped below 1e-16."""

CELLS = 8
"""Cells in a bandwidth, of the grid that residuals are put on and of the grid that integrals are taken on."""

FEWEST_CELLS = 128
"""Cells of the grid that a fixed point is sought on, at least."""

REACH = (-2, -1, 0, 1, 2, 3)
"""Nodes among which a row is divided, counted from the node below it."""

BLOCK = 1 << 18
"""Rows put on the grid at a time."""

MOST_VALUES = 1 << 23
"""Numbers in an array at a time."""

TOLERANCE = 1e-11
"""Relative precision of a fixed point."""


@dataclass(frozen=True)
class Smooth(Lens):
    """Residuals convolved with a Gaussian that is reflected at 0 and 1, for every bandwidth at once.

    (Błasiok and Nakkiran 2024.) The reflected Gaussian is the heat kernel of the unit interval: it multiplies the cosine of
    k half-waves by  exp(-(k pi bandwidth)^2 / 2).  So the cosine coefficients of the residuals are all there is to see.
    """

    def __call__(self, problem: BinaryProblem) -> SmoothView:
        """Find each score's place on the grid."""
        weight = problem.weight / problem.weight.sum()
        return SmoothView(problem.score, weight, finest_level(problem.weights.rows))


def finest_level(rows: float) -> int:
    """Return down to which power of 1/2 the bandwidths of so many rows are resolved."""
    return int(np.clip(np.ceil(np.log2(16.0 * np.sqrt(rows))), *LEVELS))


@dataclass(frozen=True, eq=False)
class SmoothView(View):
    """Scores and weights, shape (n,), and the ``level``: the finest bandwidth is 2 ** -level."""

    score: FloatArray
    weight: FloatArray
    level: int

    def look(self, residual: FloatArray) -> FloatArray:
        """Cosine coefficients  sum of weight * residual * cos(k pi score),  k = 0, 1, ..., shape (m, d)."""
        masses = self.on_nodes(residual, self.level)
        masses[:, 1:-1] *= 0.5
        return np.ascontiguousarray(fft.dct(masses, type=1, axis=1)[:, : _n_modes(self.level)])

    def on_nodes(self, values: FloatArray, level: int) -> FloatArray:
        """Weighted values (m, n) as masses at `nodes`, such that their sums over kernels stay what they are."""
        n_cells = CELLS * 2**level
        masses = np.zeros((n_cells + 1, len(values)))
        step = max(1, min(BLOCK, MOST_VALUES // max(1, len(values))))
        for start in range(0, self.score.size, step):
            rows = slice(start, start + step)
            masses += _division(self.score[rows], n_cells).T @ (values[:, rows] * self.weight[rows]).T
        return np.ascontiguousarray(masses.T)


def nodes(level: int) -> FloatArray:
    """Grid from 0 to 1 that serves bandwidths of at least 2 ** -level."""
    return np.linspace(0.0, 1.0, CELLS * 2**level + 1)


def fixed_point(view: View, seen: FloatArray) -> FloatArray:
    """Solve  error = integral of abs(residuals smoothed with bandwidth error).

    The integral falls as the bandwidth rises, so there is one solution. Below the finest bandwidth of the view the integral at
    that bandwidth stands: never more than the solution, and off by less than that bandwidth.
    """
    assert isinstance(view, SmoothView)
    error = smoothed_integral(seen, np.ones(len(seen)), CELLS)
    left, at_high = np.flatnonzero(error < 1.0), error[error < 1.0]
    for level in range(1, view.level + 1):
        modes = seen[left, : _n_modes(level)]
        at_low = smoothed_integral(modes, np.full(left.size, 2.0**-level), CELLS * 2**level)
        within = at_low >= 2.0**-level
        error[left[within]] = _between(modes[within], level, at_low[within], at_high[within])
        left, at_high = left[~within], at_low[~within]
    error[left] = at_high
    return error


def fixed_point_within(cells: FineCells, value: float) -> tuple[float, float]:
    """Limits of the fixed point of the rows: the value -+ A / max(value, finest bandwidth).

    To move a residual r by d changes the integral at bandwidth s by at most  abs(r) * d * sqrt(2 / pi) / s,  and by no more
    than 2 abs(r): that is the distance between two Gaussians, and reflecting them brings them no farther apart. All rows
    together change it by  A / s,  A = sum of weight * abs(y - p) * d * sqrt(2 / pi) / weight.  The integral does not rise with
    the bandwidth, so the point where it equals the bandwidth moves by no more than the integral does there.
    """
    at = max(value, 2.0 ** -finest_level(cells.rows))
    moved = np.maximum(cells.mean - cells.lowest, cells.highest - cells.mean)
    each = np.minimum(moved * np.sqrt(2.0 / np.pi) / at, 2.0)
    error = float((cells.rise + cells.fall) @ each) / cells.total
    return max(0.0, value - error), value + error


def smoothed_integral(seen: FloatArray, bandwidth: FloatArray, n_cells: int) -> FloatArray:
    """Integral over [0, 1] of the absolute smoothed residuals, a bandwidth of CELLS / n_cells or more for each row of ``seen``.

    Between sign changes it is a difference of the antiderivative, which the coefficients give without error. Where the sign
    changes within a cell, the antiderivative has its peak there: that of the cubic through values and slopes at both ends.
    """
    if (most := max(1, MOST_VALUES // n_cells)) < len(seen):
        parts = [slice(k, k + most) for k in range(0, len(seen), most)]
        return np.concatenate([smoothed_integral(seen[part], bandwidth[part], n_cells) for part in parts])
    wave = np.pi * np.arange(min(n_cells, seen.shape[1]))
    damped = seen[:, : wave.size] * np.exp(-0.5 * np.square(bandwidth[:, None] * wave))
    slope = np.zeros((len(seen), n_cells + 1))
    slope[:, : wave.size] = damped
    slope = fft.dct(slope, type=1, axis=1, overwrite_x=True) / n_cells
    area = np.zeros((len(seen), n_cells + 1))
    area[:, 1 : wave.size] = damped[:, 1:] / wave[1:]
    area[:, 1:-1] = fft.dst(area[:, 1:-1], type=1, axis=1)
    area += damped[:, :1] * np.linspace(0.0, 1.0, n_cells + 1)
    area[:, -1] = damped[:, 0]
    rise = np.diff(area, axis=1)
    total: FloatArray = np.abs(rise).sum(axis=1)
    positive = slope > 0
    row, cell = np.nonzero(positive[:, 1:] != positive[:, :-1])
    risen = rise[row, cell]
    peak = _peak(risen, slope[row, cell], slope[row, cell + 1])
    total += np.bincount(row, np.abs(peak) + np.abs(risen - peak) - np.abs(risen), minlength=len(seen))
    return total


def reflected_kernel(at: FloatArray, score: FloatArray, bandwidth: float) -> FloatArray:
    """Density at ``at`` (m,) of a Gaussian about each ``score`` (n,), reflected at 0 and 1, shape (m, n)."""
    reach = np.pi * MODES * bandwidth
    last = 2 * int(np.ceil(0.5 + 0.5 * reach))
    density = np.zeros((at.size, score.size))
    for shift in range(-last, last + 1, 2):
        for image in (score + shift, shift - score):
            near = (image > -reach) & (image < 1.0 + reach)
            density[:, near] += np.exp(-0.5 * np.square((at[:, None] - image[near]) / bandwidth))
    return np.asarray(density / (bandwidth * np.sqrt(2.0 * np.pi)))


def _between(seen: FloatArray, level: int, at_low: FloatArray, at_high: FloatArray) -> FloatArray:
    """Fixed point of each row within [2 ** -level, 2 ** (1 - level)], from the integrals at both ends.

    False position on logarithms, where the integral is nearly a straight line; an end that stays counts half the next time.
    What error the grid leaves, about 1e-7, one step on a finer grid takes away.
    """
    n_cells = max(CELLS * 2**level, FEWEST_CELLS)
    left, right = np.full(len(seen), -level * np.log(2.0)), np.full(len(seen), (1 - level) * np.log(2.0))
    above, below = _log(at_low) - left, np.minimum(_log(at_high) - right, -TOLERANCE)
    slope = (below - above) / np.log(2.0)
    root, open_ = left.copy(), np.flatnonzero(above > TOLERANCE)
    side = np.zeros(len(seen))
    while open_.size:
        a, b, up, down = left[open_], right[open_], above[open_], below[open_]
        middle = (a * down - b * up) / (down - up)
        excess = _log(smoothed_integral(seen[open_], np.exp(middle), n_cells)) - middle
        moved = np.sign(excess)
        again = moved == side[open_]
        left[open_], right[open_] = np.where(moved > 0, middle, a), np.where(moved > 0, b, middle)
        above[open_] = np.where(moved > 0, excess, np.where(again, 0.5 * up, up))
        below[open_] = np.where(moved > 0, np.where(again, 0.5 * down, down), excess)
        root[open_], side[open_] = middle, moved
        open_ = open_[(np.abs(excess) > TOLERANCE) & (right[open_] - left[open_] > TOLERANCE)]
    excess = _log(smoothed_integral(seen, np.exp(root), 2 * n_cells)) - root
    return np.asarray(np.exp(root - excess / slope))


def _log(integral: FloatArray) -> FloatArray:
    logarithm: FloatArray = np.log(np.maximum(integral, np.finfo(np.float64).tiny))
    return logarithm


def _peak(rise: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """Extremum within a cell, above its start, of the cubic that rises so much and has slopes of opposite signs at its ends."""
    quadratic, cubic = 3.0 * rise - 2.0 * start - end, start + end - 2.0 * rise
    sign = np.where(start > 0, 1.0, -1.0)
    root = sign * np.sqrt(np.maximum(quadratic**2 - 3.0 * start * cubic, 0.0)) - quadratic
    at = np.divide(start, root, out=np.zeros(rise.size), where=root != 0)
    height: FloatArray = at * (start + at * (quadratic + at * cubic))
    return height


def _division(score: FloatArray, n_cells: int) -> sparse.csr_array:
    """Shares in which each score is divided among six nodes, shape (n, nodes).

    They are the weights of interpolation by a polynomial of degree five; what sticks out at an end is folded back, for
    cosines are even about 0 and 1.
    """
    below = np.minimum(np.floor(score * n_cells), n_cells - 1)
    within = score * n_cells - below
    shares = np.ones((score.size, len(REACH)))
    for column, node in enumerate(REACH):
        for other in set(REACH) - {node}:
            shares[:, column] *= (within - other) / (node - other)
    index = np.abs(below[:, None] + np.array(REACH))
    index = np.where(index > n_cells, 2 * n_cells - index, index).astype(np.int32)
    pointer = np.arange(0, shares.size + 1, len(REACH))
    return sparse.csr_array((shares.ravel(), index.ravel(), pointer), shape=(score.size, n_cells + 1))


def _n_modes(level: int) -> int:
    return int(MODES * 2**level) + 2
