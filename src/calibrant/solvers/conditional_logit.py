"""Monotone conditional logit: which block's class came, given the blocks of all classes of the row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray
from calibrant.solvers.comparisons import CAP, Comparisons

TOLERANCE = 1e-8
"""Largest violation of the optimality conditions at a solution, of the mean log loss."""

GOAL = 1e-11
"""Steps are taken until it is smaller than this, as long as they help."""

MOST_STEPS = 500

DAMPING = 1e-9
"""Added to the Hessian relative to its largest entry: it decides only where the objective is flat."""

MOST_PIVOTS = 200
"""Sets of increments at zero that are tried for one step: some three are needed."""

MOST_TRIALS = 3
"""Of them, those that may follow each other without an improvement, until one increment is changed at a time."""

ROUNDING = 1e-12
"""Pulls that are no more than this part of the largest slope are rounding."""


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

    With u the increments of theta, u >= 0, this is projected Newton (Bertsekas): a Newton step is taken in those above zero
    and, in each pool of equal values, in the one at zero that the gradient pulls up the most. Those that the step would make
    negative stay in the bounds: the quadratic model is minimised over what they allow.

    The slope of the objective for u_k to infinity is the smoothed weight of what came at or below boundary k in rows that
    have classes above it; as theta is monotone, these slopes add up. Without smoothing and ridge, where no such row exists,
    infinity is best for u_k whatever the others are: it is put to ``CAP``. So it is with those that are too small for the
    solution to mind them. Where no row has classes on both sides, u_k changes nothing without a ridge, and stays as it came.
    """
    theta = rows.rates(penalty.smoothing) if start is None else start
    if rows.n_blocks == 1:
        return Solution(np.zeros(1), 0.0, 0, 0)
    search, endless = _search(rows, penalty)
    u = np.where(endless, CAP, np.maximum(np.diff(theta), 0.0))
    u, residual, steps = search.run(u, goal)
    return Solution(_theta(u), residual, steps, int(endless.sum()))


def violation(rows: Comparisons, penalty: Penalty, theta: FloatArray) -> float:
    """Return the largest violation of the optimality conditions at some non-decreasing values."""
    if rows.n_blocks == 1:
        return 0.0
    search, endless = _search(rows, penalty)
    u, everywhere = np.diff(theta), replace(search, free=search.free | endless)
    return everywhere.residual(u, everywhere.evaluated(u).slope)


def _search(rows: Comparisons, penalty: Penalty) -> tuple[_Search, BoolArray]:
    """Return the search, and which increments infinity is best for."""
    target, mass = rows.smoothed(penalty.smoothing), rows.mass / rows.n_classes
    both = rows.crossed(rows.bottom, rows.top)
    endless = np.zeros_like(both) if max(penalty) > GOAL else both & ~rows.crossed(rows.came, rows.top)
    free = both & ~endless if not penalty.ridge else ~endless
    return _Search(rows, target, mass, penalty.ridge, free), endless


class _Point(NamedTuple):
    """The objective, its derivatives in the increments, each entry's part of its row, and their weight by block."""

    value: float
    slope: FloatArray
    parts: FloatArray
    expected: FloatArray


@dataclass(frozen=True, eq=False)
class _Search:
    """The objective as a function of the increments; those that are not ``free`` stay as they are."""

    rows: Comparisons
    target: FloatArray
    mass: FloatArray
    ridge: float
    free: BoolArray

    def run(self, u: FloatArray, goal: float) -> tuple[FloatArray, float, int]:
        """Take steps until the optimality conditions hold, or nothing helps."""
        here = self.evaluated(u)
        residual = self.residual(u, here.slope)
        for steps in range(MOST_STEPS):
            if residual <= goal:
                return u, residual, steps
            step = self._step(u, here)
            scale, slope = 1.0, float(here.slope @ step)
            while True:
                new = np.maximum(u + scale * step, 0.0)
                there = self.evaluated(new)
                new_residual = self.residual(new, there.slope)
                gain = -scale * slope
                # Near the solution the gain is lost in rounding: there the conditions themselves must be met better.
                if there.value <= here.value - 1e-4 * gain if gain > 1e-12 else new_residual < residual:
                    break
                scale *= 0.5
                if scale < 1e-10:
                    return u, residual, steps
            u, here, residual = new, there, new_residual
        return u, residual, MOST_STEPS

    def evaluated(self, u: FloatArray) -> _Point:
        """Evaluate the objective."""
        theta = _theta(u)
        log_sum, parts, expected = self.rows.shares(theta)
        value, slope = float(self.rows.weight @ log_sum - self.target @ theta), expected - self.target
        if self.ridge:
            centred = theta - self.mass @ theta
            value += 0.5 * self.ridge * float(self.mass @ centred**2)
            slope += self.ridge * self.mass * centred
        return _Point(value, _above(slope), parts, expected)

    def residual(self, u: FloatArray, slope: FloatArray) -> float:
        """Largest derivative that is not zero and does not push against the bound."""
        return float(np.abs(np.where(self.free, np.where(u > 0, slope, np.minimum(slope, 0.0)), 0.0)).max())

    def _step(self, u: FloatArray, here: _Point) -> FloatArray:
        """Return a step that leaves no increment negative."""
        moves = self.free & (u > 0) | self._splits(u > 0, here.slope)
        step = np.zeros_like(u)
        if moves.any():
            step[moves] = _bounded_step(self._curvature(moves, here), here.slope[moves], u[moves])
        return step

    def _splits(self, apart: BoolArray, slope: FloatArray) -> BoolArray:
        """Return the one boundary in each pool of equal values that wants to open the most, if any does."""
        wants = np.where(self.free & ~apart, slope, 0.0)
        pool = np.cumsum(apart)
        least = np.zeros(int(pool[-1]) + 1)
        np.minimum.at(least, pool, wants)
        found = np.flatnonzero((wants < 0.0) & (wants == least[pool]))
        splits = np.zeros_like(apart)
        splits[found[np.unique(pool[found], return_index=True)[1]]] = True
        return splits

    def _curvature(self, moves: BoolArray, here: _Point) -> FloatArray:
        """Hessian in the increments that move: blocks between two of them go together."""
        from calibrant._kernels.conditional_logit import pair_sums  # numba loads only where it is needed

        rows, group = self.rows, np.append(0, np.cumsum(moves))
        n_groups = int(group[-1]) + 1
        pairs = np.zeros((n_groups, n_groups))
        pair_sums(rows.starts, group[rows.block], here.parts, rows.weight, pairs)
        hessian: FloatArray = np.diag(np.bincount(group, here.expected, n_groups)) - pairs
        if self.ridge:
            mass = np.bincount(group, self.mass, n_groups).astype(np.float64, copy=False)
            hessian += self.ridge * (np.diag(mass) - np.outer(mass, mass))
        # An increment raises all that lies above it.
        return np.cumsum(np.cumsum(hessian[::-1, ::-1], axis=0), axis=1)[-2::-1, -2::-1]


def _bounded_step(hessian: FloatArray, slope: FloatArray, u: FloatArray) -> FloatArray:
    """Return the step to the least value of the quadratic model that leaves no increment negative.

    By block principal pivoting (Portugal, Judice and Vicente 1994): those that a step makes negative go to zero, and those at
    zero that the model pulls up come back, all at once as long as there are fewer of them each time, else one by one. Were
    none to come back, the step could go up.
    """
    hessian = hessian + DAMPING * float(hessian.diagonal().max()) * np.eye(u.size)
    step, stays = -u, np.ones(u.size, dtype=np.bool_)
    fewest, trials = u.size + 1, MOST_TRIALS
    for _ in range(MOST_PIVOTS):
        step = np.where(stays, 0.0, -u)
        pull = slope + hessian @ step
        if stays.any():
            step[stays] = _newton(hessian[np.ix_(stays, stays)], pull[stays])
            pull = slope + hessian @ step
        wrong = np.where(stays, u + step < 0.0, pull < -ROUNDING * np.abs(slope).max())
        n_wrong = int(wrong.sum())
        if n_wrong == 0:
            break
        if n_wrong < fewest:
            fewest, trials = n_wrong, MOST_TRIALS
        elif trials > 0:
            trials -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        stays ^= wrong
    step = np.maximum(step, -u)
    return step if slope @ step < 0.0 else np.maximum(-slope / hessian.diagonal().max(), -u)


def _newton(hessian: FloatArray, slope: FloatArray) -> FloatArray:
    more = float(np.finfo(float).tiny)
    for _ in range(5):
        try:
            factor = cho_factor(hessian, check_finite=False)
        except LinAlgError:
            more = max(100.0 * more, 100.0 * DAMPING * float(hessian.diagonal().max()))
            hessian = hessian + more * np.eye(slope.size)
        else:
            return np.asarray(cho_solve(factor, -slope, check_finite=False))
    return -slope


def _above(values: FloatArray) -> FloatArray:
    """Sum of what lies above each boundary between blocks."""
    sums: FloatArray = np.cumsum(values[:0:-1])[::-1]
    return sums


def _theta(u: FloatArray) -> FloatArray:
    """Values of the blocks, the highest zero."""
    return np.append(-np.cumsum(u[::-1])[::-1], 0.0)
