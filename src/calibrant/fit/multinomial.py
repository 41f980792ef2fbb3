"""Softmax of scores that are linear in log-probabilities: the objective of vector, matrix, Dirichlet and structured scaling.

The parameters are a table of F rows and K columns; column j makes the score of class j. In a `Diagonal` table the rows are
the weight of the class's own log-probability and, where there is one, the intercept; in a `Full` table they are the weights
of all K log-probabilities and the intercept. The objective is, for a table T,

    mean log loss of softmax(scores(T))  +  sum of ridge * (T - centre)^2,

which is convex. Steps of `newton` come from the whole Hessian where it is small, else from conjugate gradients. No array is
larger than the forecast itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.rows import SimplexProblem
from calibrant.fit.minimise import ROUNDING, Minimum, Point, Stop, minimise, newton_step

TOLERANCE = 1e-8
"""Largest component of the gradient at a solution, in units of the mean size of the log-probabilities (or 1, if larger)."""

MOST_PRODUCTS = 400
"""With the Hessian, for one step."""

ROUGH, ROUGH_GAIN = 1e-4, 1e-5
"""Largest component of the gradient, in the units of the tolerance, down to which single precision is enough; and the gain that
its rounding hides."""

LAST_GAIN = 1e-14
"""Predicted decrease of a step that is the last: convergence is quadratic where the whole Hessian is used."""

BLOCK_ROWS = 5000
"""Rows that the preconditioner is made from, at least; it need not be exact."""

BLOCK, LEAST_ROWS = 1 << 15, 256
"""Numbers and rows worked on at a time: a block stays in the processor's cache through all steps of an evaluation."""


class Design(ABC):
    """How a table of parameters and log-probabilities z, shape (m, K), make scores, shape (m, K)."""

    shared: slice
    """Rows of the table to which a constant can be added without any effect on the probabilities."""

    slopes: slice
    """Rows of the table that multiply log-probabilities."""

    most_dense: int
    """Parameters up to which the whole Hessian is made; beyond, products with it are cheaper."""

    @abstractmethod
    def scores(self, z: FloatArray, table: FloatArray) -> FloatArray:
        """Scores of all rows and classes."""

    @abstractmethod
    def pulled(self, z: FloatArray, weight: FloatArray) -> FloatArray:
        """Transpose of `scores`: sum over rows of what each parameter multiplies, by the weights, shape (m, K)."""

    @abstractmethod
    def factors(self, z: FloatArray) -> FloatArray:
        """What each parameter multiplies: shape (m, F, K), or (m, F, 1) where it is the same for all classes."""


class Diagonal(Design):
    """The score of a class is a weight times its own log-probability, plus an intercept."""

    slopes = slice(0, 1)
    most_dense = 64

    def __init__(self, *, intercept: bool) -> None:
        self.intercept = intercept
        self.shared = slice(1, None)

    def scores(self, z: FloatArray, table: FloatArray) -> FloatArray:
        """Scores of all rows and classes."""
        scores: FloatArray = z * table[0]
        if self.intercept:
            scores += table[1]
        return scores

    def pulled(self, z: FloatArray, weight: FloatArray) -> FloatArray:
        """Transpose of `scores`."""
        slope = np.einsum("ij,ij->j", z, weight)
        return np.stack([slope, weight.sum(axis=0)]) if self.intercept else slope[None, :]

    def factors(self, z: FloatArray) -> FloatArray:
        """What each parameter multiplies."""
        return np.stack([z, np.ones_like(z)], axis=1) if self.intercept else z[:, None, :]


class Full(Design):
    """The score of a class is linear in all log-probabilities."""

    shared = slice(None)
    slopes = slice(0, -1)
    most_dense = 600

    def scores(self, z: FloatArray, table: FloatArray) -> FloatArray:
        """Scores of all rows and classes."""
        scores: FloatArray = z @ table[:-1]
        scores += table[-1]
        return scores

    def pulled(self, z: FloatArray, weight: FloatArray) -> FloatArray:
        """Transpose of `scores`."""
        return np.vstack([z.T @ weight, weight.sum(axis=0)])

    def factors(self, z: FloatArray) -> FloatArray:
        """What each parameter multiplies."""
        return np.column_stack([z, np.ones(len(z), z.dtype)])[:, :, None]


class Objective:
    """The objective of a design on a problem, with its derivatives at the table that was evaluated last.

    Tables of few parameters have their whole Hessian. Beyond, log-probabilities and probabilities are
    kept in single precision for products with it, which only propose a step.
    """

    def __init__(
        self,
        design: Design,
        z: FloatArray,
        problem: SimplexProblem,
        ridge: FloatArray,
        centre: FloatArray,
        *,
        dense: bool = False,
    ) -> None:
        self.design, self.z, self.label = design, z, problem.label
        self.ridge, self.centre = ridge, centre
        self.share = problem.weight / problem.weights.total
        self.equal = problem.weights.is_unit
        self.scale = max(1.0, float(self.share @ np.maximum(z.max(axis=1), -z.min(axis=1))))
        self.dense = dense or centre.size <= design.most_dense
        self.prob: Any = np.empty(z.shape, np.float64 if self.dense else np.float32)
        self.single: Any = z if self.dense else z.astype(np.float32)
        self.single_share: Any = self.share if self.dense else self.share.astype(np.float32)
        self.rough = not self.dense

    def minimum(self, start: FloatArray) -> Minimum[TablePoint]:
        """Return the table of the least value, from one that may be near it."""
        stop = Stop(gain=LAST_GAIN) if self.dense else Stop(residual=0.5 * TOLERANCE * self.scale)
        return minimise(self.at, self.centre + self.settled(start - self.centre), stop)

    def at(self, table: FloatArray) -> TablePoint:
        """Evaluate in single precision far from the solution: the gradient falls about tenfold in a step."""
        if self.rough:
            value, gradient = self.evaluate(table, rough=True)
            if float(np.abs(gradient).max()) > TOLERANCE * self.scale:
                return TablePoint(self, table, value, gradient, ROUGH_GAIN)
        return TablePoint(self, table, *self.evaluate(table))

    def blocks(self, numbers_a_row: int) -> Iterator[slice]:
        """Rows to work on at a time."""
        step = max(LEAST_ROWS, BLOCK // numbers_a_row)
        return (slice(start, start + step) for start in range(0, len(self.z), step))

    def settled(self, change: FloatArray) -> FloatArray:
        """Take out of a change what has no effect on the probabilities, so that the penalty is least."""
        rows, settled = self.design.shared, change.copy()
        ridge = self.ridge[rows]
        settled[rows] -= (ridge * change[rows]).sum(axis=1, keepdims=True) / ridge.sum(axis=1, keepdims=True)
        return settled

    def evaluate(self, table: FloatArray, *, rough: bool = False) -> tuple[float, FloatArray]:
        """Value and gradient; the probabilities are kept. Rough ones have been worked out in single precision."""
        value, gradient = 0.0, np.zeros_like(table)
        all_z: Any
        all_z, all_share = (self.single, self.single_share) if rough else (self.z, self.share)
        parameters: Any = table.astype(all_z.dtype)
        for rows in self.blocks(self.z.shape[1]):
            z, share = all_z[rows], all_share[rows]
            p = self.design.scores(z, parameters)
            p -= p.max(axis=1, keepdims=True)
            of_true = np.arange(len(p)), self.label[rows]
            score = p[of_true]
            np.exp(p, out=p)
            total = p.sum(axis=1)
            p /= total[:, None]
            self.prob[rows] = p
            value += float(share @ (np.log(total) - score))
            p[of_true] -= 1.0
            p *= share[:, None]
            gradient += self.design.pulled(z, p)
        change = table - self.centre
        return value + float((self.ridge * change**2).sum()), gradient + 2.0 * self.ridge * change

    def hessian(self) -> FloatArray:
        """Second derivatives, shape (F K, F K): of one class with itself  sum p x x', less  sum (p x)(p x)'  of all pairs."""
        f, k = self.centre.shape
        own, pairs = np.zeros((k, f, f)), np.zeros((f * k, f * k))
        for rows in self.blocks(f * k):
            x, p, share = self.design.factors(self.z[rows]), self.prob[rows], self.share[rows]
            weighted = x * p[:, None, :]
            flat = weighted.reshape(len(p), -1) * np.sqrt(share)[:, None]
            pairs += flat.T @ flat
            if x.shape[2] == 1:  # the factors are the same for all classes
                own += (flat.T @ (x[:, :, 0] * np.sqrt(share)[:, None])).reshape(f, k, f).transpose(1, 0, 2)
            else:
                own += np.einsum("i,iaj,ibj->jab", share, weighted, x, optimize=True)
        hessian = -pairs.reshape(f, k, f, k)
        hessian[:, np.arange(k), :, np.arange(k)] += own
        flat_hessian = hessian.reshape(f * k, f * k)
        flat_hessian[np.diag_indices(f * k)] += 2.0 * self.ridge.ravel()
        return flat_hessian

    def product(self, direction: FloatArray) -> FloatArray:
        """Hessian times a direction, in single precision but for the ridge."""
        single: Any = direction.astype(np.float32)
        total = np.zeros_like(direction)
        for rows in self.blocks(self.z.shape[1]):
            z, p = self.single[rows], self.prob[rows]
            u = self.design.scores(z, single)
            u -= np.vecdot(p, u)[:, None]
            u *= p
            if not self.equal:
                u *= self.single_share[rows, None]
            total += self.design.pulled(z, u)
        if self.equal:
            total /= len(self.z)
        return total + 2.0 * self.ridge * direction

    @cached_property
    def conjugate_gradients(self) -> ConjugateGradients:
        """What solves the Newton equations of a large table."""
        return ConjugateGradients(self)


class ObjectiveInBatches(Objective):
    """The objective of rows that are read in batches: ``read`` adds up what it is to take from the objective of each.

    Value, gradient and the whole Hessian come from one reading.
    """

    def __init__(
        self, design: Design, ridge: FloatArray, centre: FloatArray, scale: float, read: ReadObjective
    ) -> None:
        self.design, self.ridge, self.centre, self.scale, self.read = design, ridge, centre, scale, read
        self.dense, self.rough = True, False

    def evaluate(self, table: FloatArray, *, rough: bool = False) -> tuple[float, FloatArray]:
        """Read the rows; the Hessian is kept."""

        def sums(part: Objective) -> FloatArray:
            value, gradient = part.evaluate(table)
            return np.concatenate([[value], gradient.ravel(), part.hessian().ravel()])

        found, size = self.read(sums), table.size
        change = table - self.centre
        self._hessian = found[1 + size :].reshape(size, size)
        self._hessian[np.diag_indices(size)] += 2.0 * self.ridge.ravel()
        value = float(found[0]) + float((self.ridge * change**2).sum())
        return value, found[1 : 1 + size].reshape(table.shape) + 2.0 * self.ridge * change

    def hessian(self) -> FloatArray:
        """Return that of the table that was evaluated last."""
        return self._hessian


ReadObjective = Callable[[Callable[[Objective], FloatArray]], FloatArray]
"""Adds up what a function makes of the objectives of batches."""


@dataclass(frozen=True, eq=False)
class TablePoint(Point):
    """The objective at a table."""

    objective: Objective
    x: FloatArray
    value: float
    gradient: FloatArray
    rounding: float = ROUNDING

    def step(self) -> FloatArray:
        """Newton step among changes that have an effect; the probabilities must be those of this table."""
        objective = self.objective
        objective.rough = not objective.dense and float(np.abs(self.gradient).max()) > ROUGH * objective.scale
        if objective.dense:
            step = newton_step(objective.hessian(), self.gradient.ravel()).reshape(self.gradient.shape)
        else:
            step = objective.conjugate_gradients.direction(self.gradient)
        return objective.settled(step)


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
