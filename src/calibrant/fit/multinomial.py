"""Softmax of scores that are linear in log-probabilities: temperature, vector, matrix, Dirichlet and structured scaling.

The parameters are a table of F rows and K columns; column j makes the score of class j. In a `Diagonal` table the rows are
the weight of the class's own log-probability and, where there is one, the intercept; in a `Full` table they are the weights
of all K log-probabilities and the intercept. The objective is, for a table T,

    mean log loss of softmax(scores(T))  +  sum of ridge * (T - centre)^2,

which is convex. Newton's steps come from the whole Hessian where it is small, else from conjugate gradients. No array is
larger than the forecast itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.rows import IntArray
from calibrant.fit.log_loss import between_classes, blocks, blocks_of_classes, softmax_in_place
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

TableRows = tuple[FloatArray, IntArray, FloatArray]
"""Log-probabilities, shape (n, K), the true class and the weight of each row."""


# Tables of parameters


class Diagonal:
    """The score of a class is a weight times its own log-probability, plus an intercept.

    Attributes
    ----------
    shared : slice
        Rows of the table to which a constant can be added without any effect on the probabilities.
    slopes : slice
        Rows of the table that multiply log-probabilities.
    most_dense : int
        Parameters up to which the whole Hessian is made; beyond, products with it are cheaper.
    """

    shared, slopes, most_dense = slice(1, None), slice(0, 1), 64

    def __init__(self, *, intercept: bool) -> None:
        self.intercept = intercept

    def scores(self, z: FloatArray, table: FloatArray) -> FloatArray:
        """Scores of all rows and classes, shape (m, K), of log-probabilities z."""
        scores: FloatArray = z * table[0]
        if self.intercept:
            scores += table[1]
        return scores

    def pulled(self, z: FloatArray, weight: FloatArray) -> FloatArray:
        """Transpose of `scores`: sum over rows of what each parameter multiplies, by the weights, shape (m, K)."""
        slope = np.einsum("ij,ij->j", z, weight)
        return np.stack([slope, weight.sum(axis=0)]) if self.intercept else slope[None, :]

    def second(self, z: FloatArray, p: FloatArray, weight: FloatArray) -> FloatArray:
        """Sums over rows that `hessian` is made of: of all pairs (p x)(p x)', and of one class with itself p x x'."""
        x, root = np.stack([z, np.ones_like(z)], axis=1)[:, : 1 + self.intercept], np.sqrt(weight)[:, None]
        weighted = x * (p * root)[:, None, :]
        own = np.einsum("i,iaj,ibj->jab", root[:, 0], weighted, x, optimize=True)
        flat = weighted.reshape(len(p), -1)
        return np.append(flat.T @ flat, own)

    def hessian(self, second: FloatArray, f: int, k: int) -> FloatArray:
        """Second derivatives, shape (F, K, F, K)."""
        hessian = -second[: (f * k) ** 2].reshape(f, k, f, k)
        hessian[:, np.arange(k), :, np.arange(k)] += second[(f * k) ** 2 :].reshape(k, f, f)
        return hessian


class Full:
    """The score of a class is linear in all log-probabilities."""

    shared, slopes, most_dense = slice(None), slice(0, -1), 600

    def scores(self, z: FloatArray, table: FloatArray) -> FloatArray:
        """Scores of all rows and classes."""
        scores: FloatArray = z @ table[:-1]
        scores += table[-1]
        return scores

    def pulled(self, z: FloatArray, weight: FloatArray) -> FloatArray:
        """Transpose of `scores`."""
        return np.vstack([z.T @ weight, weight.sum(axis=0)])

    def second(self, z: FloatArray, p: FloatArray, weight: FloatArray) -> FloatArray:
        """Sums over rows that `hessian` is made of."""
        by_class = np.ascontiguousarray(p.T)
        return between_classes(by_class, by_class * weight, np.vstack([z.T, np.ones(len(z))]))

    def hessian(self, second: FloatArray, f: int, k: int) -> FloatArray:
        """Second derivatives, shape (F, K, F, K)."""
        return blocks_of_classes(second.reshape(k * (k - 1) // 2, -1), k, f).transpose(1, 0, 3, 2)


Design = Diagonal | Full


class Objective:
    """The objective of a design, given what adds up functions of the rows, and the sum of their weights."""

    def __init__(
        self, design: Design, over: Callable[..., Any], total: float, ridge: FloatArray, centre: FloatArray
    ) -> None:
        self.design, self.over, self.total, self.ridge, self.centre = design, over, total, ridge, centre

    def minimum(self, start: FloatArray, goal: float) -> Minimum[Any]:
        """Return the table of the least value, from one that may be near it; ``goal`` is for those without a Hessian."""
        return minimise(self.at, self.centre + self.settled(start - self.centre), Stop(gain=LAST_GAIN))

    def at(self, table: FloatArray) -> TablePoint:
        """Evaluate."""
        size, (f, k) = table.size, table.shape
        loss, slope, second = np.split(self.over(self._sums, table) / self.total, [1, 1 + size])
        value, gradient = self._penalised(table, float(loss[0]), slope.reshape(f, k))
        hessian = self.design.hessian(second, f, k).reshape(size, size)
        hessian[np.diag_indices(size)] += 2.0 * self.ridge.ravel()
        return TablePoint(self, table, value, gradient, hessian)

    def _sums(self, z: FloatArray, label: IntArray, weight: FloatArray, table: FloatArray) -> FloatArray:
        """Return the log loss of all rows, its gradient, and what second derivatives are made of, one after the other."""
        value, gradient, second = 0.0, np.zeros_like(table), np.zeros(())
        for rows in blocks(len(z), table.size):
            part, w = z[rows], weight[rows]
            p = self.design.scores(part, table)
            value += float(w @ softmax_in_place(p, label[rows]))
            second = second + self.design.second(part, p, w)
            p[np.arange(len(p)), label[rows]] -= 1.0
            p *= w[:, None]
            gradient += self.design.pulled(part, p)
        return np.concatenate([[value], gradient.ravel(), second.ravel()])

    def _penalised(self, table: FloatArray, value: float, gradient: FloatArray) -> tuple[float, FloatArray]:
        change = table - self.centre
        return value + float((self.ridge * change**2).sum()), gradient + 2.0 * self.ridge * change

    def direction(self, point: TablePoint) -> FloatArray:
        """Newton's step."""
        return newton_step(point.hessian, point.gradient.ravel()).reshape(point.gradient.shape)

    def settled(self, change: FloatArray) -> FloatArray:
        """Take out of a change what has no effect on the probabilities, so that the penalty is least."""
        rows, settled = self.design.shared, change.copy()
        ridge = self.ridge[rows]
        settled[rows] -= (ridge * change[rows]).sum(axis=1, keepdims=True) / ridge.sum(axis=1, keepdims=True)
        return settled


@dataclass(frozen=True, eq=False)
class TablePoint(Point):
    """The objective at a table."""

    objective: Objective
    x: FloatArray
    value: float
    gradient: FloatArray
    hessian: Any = None
    rounding: float = ROUNDING

    def step(self) -> FloatArray:
        """Newton step among changes that have an effect."""
        return self.objective.settled(self.objective.direction(self))


class LargeObjective(Objective):
    """The objective of a table of many parameters on rows in memory, with what solves the Newton equations roughly.

    Log-probabilities and the probabilities of the last table are kept in single precision for products with the Hessian, which
    only propose a step. The preconditioner treats classes as independent. At first each class has a diagonal plus the one
    direction in which log-probabilities are large together; where that takes too many products, it gets its whole block.
    """

    def __init__(
        self, design: Design, over: Callable[..., Any], total: float, ridge: FloatArray, centre: FloatArray
    ) -> None:
        super().__init__(design, over, total, ridge, centre)
        self.z, self.label, weight = over(lambda *rows: rows)
        self.share, self.equal = weight / total, bool((weight == 1.0).all())
        single: Any = np.float32
        self.single, self.single_share, self.prob = (
            self.z.astype(single),
            self.share.astype(single),
            self.z.astype(single),
        )
        self.rough, self.first = True, 0.0
        self.blocks: Any = None
        step = max(1, len(self.z) // BLOCK_ROWS)
        self.some = slice(None, None, step)
        # Products of the same cost as making the blocks; they may need twice the memory of the forecast.
        n, f = len(self.z), len(centre)
        self.price = max(10.0, -(-n // step) * f / (4.0 * n)) if 2 < f <= 2.0 * np.sqrt(n) else np.inf

    def minimum(self, start: FloatArray, goal: float) -> Minimum[Any]:
        """Return the table of the least value, whose gradient has no larger component than the goal."""
        self.goal = 0.5 * goal
        return minimise(self.at, self.centre + self.settled(start - self.centre), Stop(residual=self.goal))

    def at(self, table: FloatArray) -> TablePoint:
        """Evaluate in single precision far from the solution: the gradient falls about tenfold in a step."""
        if self.rough:
            value, gradient = self.evaluate(table, self.single, self.single_share)
            if float(np.abs(gradient).max()) > 2.0 * self.goal:
                return TablePoint(self, table, value, gradient, rounding=ROUGH_GAIN)
        return TablePoint(self, table, *self.evaluate(table, self.z, self.share))

    def evaluate(self, table: FloatArray, z: FloatArray, share: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient, in the precision of z; the probabilities are kept."""
        value, gradient, parameters = 0.0, np.zeros_like(table), table.astype(z.dtype)
        for rows in blocks(len(z), z.shape[1]):
            part, w = z[rows], share[rows]
            p = self.design.scores(part, parameters)
            value += float(w @ softmax_in_place(p, self.label[rows]))
            self.prob[rows] = p
            p[np.arange(len(p)), self.label[rows]] -= 1.0
            p *= w[:, None]
            gradient += self.design.pulled(part, p)
        return self._penalised(table, value, gradient)

    def product(self, direction: FloatArray) -> FloatArray:
        """Hessian times a direction, in single precision but for the ridge."""
        single: Any = direction.astype(np.float32)
        total = np.zeros_like(direction)
        for rows in blocks(len(self.z), self.z.shape[1]):
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

    def direction(self, point: TablePoint) -> FloatArray:
        """Approximate Newton step by preconditioned conjugate gradients, the better, the smaller the gradient."""
        gradient, size = point.gradient, float(np.abs(point.gradient).max())
        self.rough = size > ROUGH / TOLERANCE * 2.0 * self.goal
        if size == 0.0:
            return np.zeros_like(gradient)
        self.first = max(self.first, size)
        wanted = max(0.3 * min(1.0, (size / self.first) ** 0.5), 0.3 * self.goal / size) ** 2
        precondition = self._by_block if self.blocks is not None else self._by_rank_one()
        found, left = np.zeros_like(gradient), -gradient
        near = self.settled(precondition(left))
        step, square = near, float((left * near).sum())
        first, products = square, 0
        while products < MOST_PRODUCTS:
            products += 1
            curved = self.product(step)
            curvature = float((step * curved).sum())
            if curvature <= 0.0:  # single precision has lost it
                break
            found = found + (square / curvature) * step
            left = left - (square / curvature) * curved
            near = self.settled(precondition(left))
            before, square = square, float((left * near).sum())
            if square <= wanted * first:
                break
            step = near + (square / before) * step
        if products > self.price:
            self.blocks = self._inverse_blocks()
        return found if found.any() else near

    def _doubt(self) -> tuple[FloatArray, FloatArray]:
        """Return the log-probabilities of some of the rows, and the weights of these in the block of each class."""
        p, share = self.prob[self.some], self.single_share[self.some]
        return self.single[self.some], p * (1.0 - p) * (share / share.sum())[:, None]

    def _by_rank_one(self) -> Callable[[FloatArray], FloatArray]:
        """Inverse of  diagonal + mass * mean mean'  for each class, from weighted moments of the factors."""
        z, spread = self._doubt()
        mass = float(np.finfo(np.float32).tiny) + spread.sum(axis=0).astype(np.float64)
        first = self.design.pulled(z, spread).astype(np.float64)
        second = self.design.pulled(z * z, spread).astype(np.float64)
        diagonal = np.maximum(second - first**2 / mass, 1e-5 * second) + 2.0 * self.ridge
        scaled = first / diagonal
        strength = mass + (first * scaled).sum(axis=0)
        return lambda left: left / diagonal - scaled * ((scaled * left).sum(axis=0) / strength)

    def _inverse_blocks(self) -> FloatArray:
        """Inverse of each class's block of the Hessian, shape (K, F, F), from some of the rows."""
        z, spread = self._doubt()
        x = np.column_stack([z, np.ones(len(z), z.dtype)])
        inverses = []
        for weight, ridge in zip(spread.T, self.ridge.T, strict=True):
            part = x * np.sqrt(weight)[:, None]
            block = (part.T @ part).astype(np.float64)
            block[np.diag_indices(len(block))] *= 1.0 + 1e-5
            block[np.diag_indices(len(block))] += 2.0 * ridge
            inverses.append(np.linalg.inv(block).astype(np.float32))
        return np.stack(inverses)

    def _by_block(self, left: FloatArray) -> FloatArray:
        solved: FloatArray = np.matmul(self.blocks, left.T.astype(np.float32)[:, :, None])[:, :, 0].T
        return solved.astype(np.float64)
