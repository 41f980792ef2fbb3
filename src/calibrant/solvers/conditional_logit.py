"""Monotone conditional logit: which block's class is the true one, given the blocks of all classes of the row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray
from calibrant.solvers.nafir_comparisons import CAP, Comparisons
from calibrant.solvers.newton import Point, Stop, minimise, projected
from calibrant.solvers.quadratic_model import bounded_step

TOLERANCE = 1e-8
"""Largest violation of the optimality conditions at a solution, of the mean log loss."""

GOAL = 1e-11
"""Steps are taken until it is smaller than this, as long as they help."""

DAMPING = 1e-9
"""Added to the Hessian relative to its largest entry: it decides only where the objective is flat."""


class Penalty(NamedTuple):
    """Label smoothing, and the ridge on the variance of theta over all scores."""

    smoothing: float
    ridge: float = 0.0


class Solution(NamedTuple):
    """Values theta of the blocks, the violation of the optimality conditions, Newton steps, and what was capped."""

    theta: FloatArray
    gradient: float
    n_iter: int
    n_capped: int


def solve(rows: Comparisons, penalty: Penalty, start: FloatArray | None = None, goal: float = GOAL) -> Solution:
    """Minimise the mean of  log sum_j C_ij exp(theta_j)  minus  b' theta  plus the ridge, over non-decreasing theta.

    With u the increments of theta, u >= 0, a step of `newton` moves those above zero and, in each pool of equal values, the one
    at zero that the gradient pulls up the most, to where the quadratic model is least within the bounds.

    The slope of the objective for u_k to infinity is the smoothed weight of the true classes at or below boundary k in rows
    that have classes above it; as theta is monotone, these slopes add up. Without smoothing and ridge, where no such row
    exists, infinity is best for u_k whatever the others are: it is put to ``CAP``. So are those that are too small to
    change the solution. Where no row has classes on both sides, u_k changes nothing without a ridge, and stays as it is.
    """
    theta = rows.rates(penalty.smoothing) if start is None else start
    if rows.n_blocks == 1:
        return Solution(np.zeros(1), 0.0, 0, 0)
    loss, endless = _loss(rows, penalty)
    u = np.where(endless, CAP, np.maximum(np.diff(theta), 0.0))
    found = minimise(loss.at, u, Stop(residual=goal), lower=0.0)
    return Solution(_theta(found.point.x), found.residual, found.n_iter, int(endless.sum()))


def violation(rows: Comparisons, penalty: Penalty, theta: FloatArray) -> float:
    """Return the largest violation of the optimality conditions at some non-decreasing values."""
    if rows.n_blocks == 1:
        return 0.0
    loss, endless = _loss(rows, penalty)
    point = replace(loss, free=loss.free | endless).at(np.diff(theta))
    return projected(point.x, point.gradient, lower=0.0)


def _loss(rows: Comparisons, penalty: Penalty) -> tuple[_Loss, BoolArray]:
    """Return the objective, and which increments infinity is best for."""
    target, mass = rows.smoothed(penalty.smoothing), rows.mass / rows.n_classes
    both = rows.crossed(rows.bottom, rows.top)
    endless = np.zeros_like(both) if max(penalty) > GOAL else both & ~rows.crossed(rows.of_true, rows.top)
    free = both & ~endless if not penalty.ridge else ~endless
    return _Loss(rows, target, mass, penalty.ridge, free), endless


@dataclass(frozen=True, eq=False)
class _Loss:
    """The objective as a function of the increments; those that are not ``free`` stay as they are."""

    rows: Comparisons
    target: FloatArray
    mass: FloatArray
    ridge: float
    free: BoolArray

    def at(self, u: FloatArray) -> _Increments:
        """Evaluate the objective."""
        theta = _theta(u)
        log_sum, parts, expected = self.rows.shares(theta)
        value, slope = float(self.rows.weight @ log_sum - self.target @ theta), expected - self.target
        if self.ridge:
            centred = theta - self.mass @ theta
            value += 0.5 * self.ridge * float(self.mass @ centred**2)
            slope += self.ridge * self.mass * centred
        return _Increments(self, u, value, np.where(self.free, _above(slope), 0.0), parts, expected)


@dataclass(frozen=True, eq=False)
class _Increments(Point):
    """The objective at some increments, with each entry's part of its row, and their weight by block."""

    loss: _Loss
    x: FloatArray
    value: float
    gradient: FloatArray
    parts: FloatArray
    expected: FloatArray

    def step(self) -> FloatArray:
        """Return a step that leaves no increment negative."""
        moves = self.loss.free & (self.x > 0) | self._splits()
        step = np.zeros_like(self.x)
        if moves.any():
            hessian = self._curvature(moves)
            hessian[np.diag_indices(len(hessian))] += DAMPING * float(hessian.diagonal().max())
            step[moves] = bounded_step(hessian, self.gradient[moves], self.x[moves])
        return step

    def _splits(self) -> BoolArray:
        """Return the one boundary in each pool of equal values that wants to open the most, if any does."""
        apart = self.x > 0
        wants = np.where(apart, 0.0, self.gradient)
        pool = np.cumsum(apart)
        least = np.zeros(int(pool[-1]) + 1)
        np.minimum.at(least, pool, wants)
        found = np.flatnonzero((wants < 0.0) & (wants == least[pool]))
        splits = np.zeros_like(apart)
        splits[found[np.unique(pool[found], return_index=True)[1]]] = True
        return splits

    def _curvature(self, moves: BoolArray) -> FloatArray:
        """Hessian in the increments that move: blocks between two of them go together."""
        from calibrant._kernels.conditional_logit import pair_sums  # numba loads only where it is needed

        rows, group = self.loss.rows, np.append(0, np.cumsum(moves))
        n_groups = int(group[-1]) + 1
        pairs = np.zeros((n_groups, n_groups))
        pair_sums(rows.starts, group[rows.block], self.parts, rows.weight, pairs)
        hessian: FloatArray = np.diag(np.bincount(group, self.expected, n_groups)) - pairs
        if self.loss.ridge:
            mass = np.bincount(group, self.loss.mass, n_groups).astype(np.float64, copy=False)
            hessian += self.loss.ridge * (np.diag(mass) - np.outer(mass, mass))
        # An increment raises all that lies above it.
        return np.cumsum(np.cumsum(hessian[::-1, ::-1], axis=0), axis=1)[-2::-1, -2::-1]


def _above(values: FloatArray) -> FloatArray:
    """Sum of what lies above each boundary between blocks."""
    sums: FloatArray = np.cumsum(values[:0:-1])[::-1]
    return sums


def _theta(u: FloatArray) -> FloatArray:
    """Values of the blocks, the highest zero."""
    return np.append(-np.cumsum(u[::-1])[::-1], 0.0)
