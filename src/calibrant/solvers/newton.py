"""Newton's method for the tables of `multinomial`: steps from the whole Hessian, or from conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from calibrant._core.links import FloatArray

if TYPE_CHECKING:
    from calibrant.calibrators.simplex.multinomial import Objective

TOLERANCE = 1e-8
"""Largest component of the gradient at a solution, in units of the mean size of the log-probabilities (or 1, if larger)."""

MOST_STEPS, MOST_PRODUCTS, MOST_HALVINGS = 200, 400, 50

SURE_GAIN = 1e-10
"""Predicted decrease, in units of the value, below which a step is taken as it is: rounding hides whether it gains."""

ROUGH, ROUGH_GAIN = 1e-4, 1e-5
"""Largest component of the gradient, in the units of the tolerance, down to which single precision is enough; and what
`SURE_GAIN` is after such an evaluation."""

LAST_GAIN = 1e-14
"""Predicted decrease of a step that is the last: convergence is quadratic where the whole Hessian is used."""

BLOCK_ROWS = 5000
"""Rows that the preconditioner is made from, at least; it need not be exact."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The table found, the largest component of the gradient there, and the steps taken."""

    table: FloatArray
    gradient: float
    steps: int


class Steps(Protocol):
    """What proposes a step."""

    def direction(self, gradient: FloatArray) -> FloatArray:
        """Step from the table that was evaluated last."""

    def was_last(self, gain: float, gradient: FloatArray) -> bool:
        """Whether no further step is needed after one that was to gain ``gain`` and led to ``gradient``."""

    def rough(self, gradient: FloatArray) -> bool:
        """Whether the table after one of this gradient may be evaluated in single precision."""


def minimise(objective: Objective, start: FloatArray) -> Minimum:
    """Newton's method with step halving."""
    steps: Steps = WholeHessian(objective) if objective.dense else ConjugateGradients(objective)
    table = objective.centre + objective.settled(start - objective.centre)
    rough = was_rough = not objective.dense
    value, gradient = objective.evaluate(table, rough=rough)
    taken, gain = 0, np.inf
    while taken < MOST_STEPS and (rough or not steps.was_last(gain, gradient)):
        direction = objective.settled(steps.direction(gradient))
        gain, taken = -float((gradient * direction).sum()), taken + 1
        was_rough, rough = rough, steps.rough(gradient)
        sure = (ROUGH_GAIN if was_rough else SURE_GAIN) * max(1.0, abs(value))
        least = gain if gain > sure else -np.inf
        for halvings in range(MOST_HALVINGS):
            length = 0.5**halvings
            new, new_gradient = objective.evaluate(table + length * direction, rough=rough)
            if new <= value - 1e-4 * length * least:
                break
        table, value, gradient = table + length * direction, new, new_gradient
    return Minimum(table, float(np.abs(gradient).max()), taken)


class WholeHessian:
    """Solve the Newton equations."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def direction(self, gradient: FloatArray) -> FloatArray:
        """Newton step; where rounding has made the Hessian indefinite, one with a little more curvature."""
        hessian = self.objective.hessian()
        more, diagonal = 0.0, np.diag_indices(len(hessian))
        while True:
            try:
                step: Any = cho_solve(cho_factor(hessian), -gradient.ravel())
                return np.asarray(step, dtype=np.float64).reshape(gradient.shape)
            except LinAlgError:
                more = max(1e-12 * float(np.abs(hessian[diagonal]).max()), 10.0 * more)
                hessian[diagonal] += more

    def was_last(self, gain: float, gradient: FloatArray) -> bool:
        """Whether another step would mend rounding only."""
        return gain <= LAST_GAIN

    def rough(self, gradient: FloatArray) -> bool:
        """Never: these problems are small."""
        return False


class ConjugateGradients:
    """Solve the Newton equations roughly: the better, the smaller the gradient.

    The preconditioner treats classes as independent. At first each class has a diagonal plus the one direction in which
    log-probabilities are large together; where that takes too many products, it gets its whole block.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.goal = 0.5 * TOLERANCE * objective.scale
        n, f = len(objective.z), len(objective.centre)
        step = max(1, n // BLOCK_ROWS)
        self.some = slice(None, None, step)
        # Products of the same cost as making the blocks; they may need twice the memory of the forecast.
        self.price = max(10.0, -(-n // step) * f / (4.0 * n))
        self.blocks_allowed = f > 2 and f**2 <= 4 * n
        self.blocks: Any = None
        self.first = 0.0

    def direction(self, gradient: FloatArray) -> FloatArray:
        """Approximate Newton step by preconditioned conjugate gradients, among changes that have an effect."""
        objective, size = self.objective, float(np.abs(gradient).max())
        if size == 0.0:
            return np.zeros_like(gradient)
        self.first = max(self.first, size)
        wanted = max(0.3 * min(1.0, (size / self.first) ** 0.5), 0.3 * self.goal / size) ** 2
        precondition = self._by_block if self.blocks is not None else self._by_rank_one()
        found, left = np.zeros_like(gradient), -gradient
        near = objective.settled(precondition(left))
        step, square = near, float((left * near).sum())
        first, products = square, 0
        while products < MOST_PRODUCTS:
            products += 1
            curved = objective.product(step)
            curvature = float((step * curved).sum())
            if curvature <= 0.0:  # single precision has lost it
                break
            found = found + (square / curvature) * step
            left = left - (square / curvature) * curved
            near = objective.settled(precondition(left))
            before, square = square, float((left * near).sum())
            if square <= wanted * first:
                break
            step = near + (square / before) * step
        if products > self.price and self.blocks_allowed:
            self.blocks = self._inverse_blocks()
        return found if found.any() else near

    def was_last(self, gain: float, gradient: FloatArray) -> bool:
        """Whether the certificate is met with a margin."""
        return float(np.abs(gradient).max()) <= self.goal

    def rough(self, gradient: FloatArray) -> bool:
        """Far from the solution. The gradient falls tenfold in a step: a rough one never comes near the tolerance."""
        return float(np.abs(gradient).max()) > ROUGH * self.objective.scale

    def _by_rank_one(self) -> Any:
        """Inverse of  diagonal + mass * mean mean'  for each class, from weighted moments of the factors."""
        objective = self.objective
        first, second = np.zeros(objective.centre.shape), np.zeros(objective.centre.shape)
        mass = np.full(objective.centre.shape[1], np.finfo(np.float32).tiny, dtype=np.float64)
        share = objective.single_share[self.some]
        z, p = objective.single[self.some], objective.prob[self.some]
        spread = p * (1.0 - p) * (share / share.sum())[:, None]
        mass += spread.sum(axis=0)
        first += objective.design.pulled(z, spread)
        second += objective.design.pulled(z * z, spread)
        diagonal = np.maximum(second - first**2 / mass, 1e-5 * second) + 2.0 * objective.ridge
        scaled = first / diagonal
        strength = mass + (first * scaled).sum(axis=0)
        return lambda left: left / diagonal - scaled * ((scaled * left).sum(axis=0) / strength)

    def _inverse_blocks(self) -> Any:
        """Inverse of each class's block of the Hessian, shape (K, F, F), from some of the rows."""
        objective = self.objective
        x = objective.design.factors(objective.single[self.some])[:, :, 0]
        p, share = objective.prob[self.some], objective.single_share[self.some]
        share = share / share.sum()
        blocks = np.empty((p.shape[1], x.shape[1], x.shape[1]), np.float32)
        for j in range(p.shape[1]):
            part = x * np.sqrt(p[:, j] * (1.0 - p[:, j]) * share)[:, None]
            block = (part.T @ part).astype(np.float64)
            block[np.diag_indices(len(block))] *= 1.0 + 1e-5
            block[np.diag_indices(len(block))] += 2.0 * objective.ridge[:, j]
            blocks[j] = np.linalg.inv(block)
        return blocks

    def _by_block(self, left: FloatArray) -> FloatArray:
        solved: FloatArray = np.matmul(self.blocks, left.T.astype(np.float32)[:, :, None])[:, :, 0].T
        return solved.astype(np.float64)
