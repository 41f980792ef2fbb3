"""Calibrators that are a table of `multinomial`: what they keep of the fit, and the map that they apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.arrays import FloatArray, NDArray, prob_of_scores
from calibrant._core.checks import numbers, require, warn
from calibrant._core.registry import FINITE, IDENTITY, PERMUTED
from calibrant._core.rows import BoolArray, Forecast, IntArray, SimplexProblem
from calibrant.calibrators.base import MOST_COEFFICIENT, MulticlassCalibrator, fitted, method, parameter
from calibrant.calibrators.parametric import LEAST_TEMPERATURE, TemperatureScaling
from calibrant.fit.log_loss import Extent, between_classes, blocks, blocks_of_classes, over_rows, softmax_in_place
from calibrant.fit.minimise import ROUNDING, Minimum, Point, Stop, minimise, newton_step
from calibrant.sums.reading import is_unread

# Softmax of scores that are linear in log-probabilities: temperature, vector, matrix, Dirichlet and structured scaling


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
        loss, slope, second = np.split(self.over(self._sums)(table) / self.total, [1, 1 + size])
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
        self.z, self.label, weight = over(lambda *rows: rows)()
        self.share, self.equal = weight / total, bool((weight == 1.0).all())
        single: Any = np.float32
        self.single = self.z.astype(single)
        self.single_share = self.share.astype(single)
        self.prob = self.z.astype(single)
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


# Calibrators that are a table of `multinomial`: what they keep of the fit, and the map that they apply


# What vector, matrix, Dirichlet and structured scaling share: the fit of a table, its units, and what is said of it


Logits = Literal["as-given", "log-softmax", "reference"]
"""Which of the logits that stand for one forecast: as they were given, log-probabilities, or less that of the last class."""

TINY_RIDGE = 1e-8
"""Ridge of a parameter that a method leaves free: it decides what the data leave open, and moves nothing else that shows."""

ORDINARY = 1e6
"""Size of log-probabilities beyond which they are measured in units of the largest: squares would overflow."""

SMALL, SMALLEST = 0.5, 1e-100
"""Size of logits below which they are measured in units of twice the largest, and the smallest unit. Log-probabilities are
never as small: weights of tiny logits must be large, and a ridge in the usual units would hold them where they are."""

EVEN = 1e-12
"""Difference of scores, relative to the largest, that is rounding."""

MOST_PARAMETERS = 1200
"""Parameters up to which second derivatives are summed over streamed rows."""

MOST_EXPONENT = 100.0

STRONGEST = 1e100
"""Largest ridge."""


class Fitted(NamedTuple):
    """The table found, the largest component of the gradient there, and the steps taken."""

    table: FloatArray
    gradient: float
    steps: int


def fit_table(
    design: Design,
    problem: SimplexProblem,
    entering: Callable[[Forecast], FloatArray],
    ridge: FloatArray,
    start: FloatArray,
    centre: FloatArray | None = None,
) -> Fitted:
    """Minimise the objective on the log-probabilities, or logits, of a forecast that enter a map.

    Penalties draw to the centre, by default the start. It says so where its certificate is not met, or nothing but the smallest
    ridge holds the table.
    """
    centre = start if centre is None else centre

    def made(batch: SimplexProblem, size: float = 1.0) -> TableRows:
        z = entering(batch.forecast)
        return (z if size == 1.0 else z / size), batch.label, batch.weight

    over = over_rows(problem, made)
    extent: Extent = over(_extent)()
    largest, weights = float(extent.largest[0]), extent.sums[1:]
    free, unit, tiny, size = ridge <= TINY_RIDGE, np.ones_like(centre), np.full_like(centre, TINY_RIDGE), 1.0
    if largest > ORDINARY:
        unit[design.slopes] = size = largest
        start = start / unit
        # So far from a weight of one the pull to it is that to zero, which leaves the table its digits.
        centre = np.where(free & (unit > 1.0), 0.0, centre)
    elif largest < SMALL:
        unit[design.slopes] = size = max(largest / SMALL, SMALLEST)
        start, tiny = start * unit, tiny * unit**2
    if size != 1.0:
        over = over_rows(problem, partial(made, size=size))
    is_large = centre.size > design.most_dense and not is_unread(problem)
    must = f"a map that is fitted to rows in batches must have at most {MOST_PARAMETERS} parameters"
    hint = "Take a sample of the rows, predictions.sample(100_000), or a method with fewer parameters"
    require(is_large or centre.size <= max(MOST_PARAMETERS, design.most_dense), must, value=centre.size, hint=hint)
    total, kind = float(weights.sum()), LargeObjective if is_large else Objective
    ridge = np.minimum(np.where(free, tiny, ridge) / unit**2, STRONGEST)
    objective = kind(design, over, total, ridge, centre * unit)
    most = TOLERANCE * max(1.0, float(extent.sums[0]) / total / size)
    with np.errstate(over="ignore", invalid="ignore"):
        minimum = objective.minimum(start, most)
    table = minimum.point.x
    most += float((2.0 * ridge * np.spacing(np.abs(table))).max())  # rounding of a heavy penalty's own gradient
    if not minimum.residual <= most:
        warn(
            f"the largest component of the gradient must fall below {most:.1e}; it is {minimum.residual:.1e} after "
            f"{minimum.n_iter} Newton steps. The last table is used. Fit on more rows, or with a larger penalty.",
            ConvergenceWarning,
        )
    elif why := _held_by_ridge(design, over, problem.classes[weights == 0.0], free, (start, table - objective.centre)):
        warn(
            f"every class must occur, and classes overlap, for the log loss to have a minimum; {why}: only the ridge penalty "
            f"of {TINY_RIDGE:g} keeps the map finite. Fit on more rows, or with a larger penalty.",
            ConvergenceWarning,
        )
    return Fitted(table / unit, minimum.residual, minimum.n_iter)


def _extent(z: FloatArray, label: IntArray, weight: FloatArray) -> Extent:
    """Weighted sum of the largest size of a log-probability of each row, and weight of each class; the largest size of all."""
    size = np.maximum(z.max(axis=1), -z.min(axis=1))
    sums = np.append(weight @ size, np.bincount(label, weight, z.shape[1]))
    return Extent(sums, size.max(keepdims=True, initial=0.0))


def _held_by_ridge(
    design: Design,
    over: Callable[..., Any],
    absent: NDArray[np.generic],
    free: BoolArray,
    ways: tuple[FloatArray, FloatArray],
) -> str | None:
    """Why the log loss falls for ever along what is free, or None if no reason is seen.

    What is looked at is enough for it and cheap, and not all that there can be: absent classes, the way of the forecast
    itself, and the way from the centre to the table found. A way along which no row loses and some row gains is one.
    """
    ahead, change = ways
    if not free[ahead > 0].all():
        return None
    if absent.size:
        return f"the class {absent[0]!s} does not occur"

    def moved(z: FloatArray, label: IntArray, _: FloatArray) -> FloatArray:
        """Return how many rows lose along each way, and how many gain: as a rule one of the first loses."""
        count = np.zeros((2, 2))
        for way, table in enumerate((ahead, np.where(free, change, 0.0))):
            for part in blocks(len(z), z.shape[1]):
                scores = design.scores(z[part], table)
                of_label = scores[np.arange(len(scores)), label[part]]
                rounding = EVEN * float(np.abs(scores).max())
                count[0, way] += (of_label < scores.max(axis=1) - rounding).sum()
                count[1, way] += (of_label > scores.min(axis=1) + rounding).sum()
                if count[0, way]:
                    break
        return count

    lose, gain = over(moved)()
    return "the classes are separated" if ((lose == 0) & (gain > 0)).any() else None


def log_prob_of(forecast: Forecast) -> FloatArray:
    """Log-probabilities, row after row in memory: sums then do not depend on how the forecast lay there."""
    return np.ascontiguousarray(forecast.log_prob)


class LinearScaling(MulticlassCalibrator):
    """Softmax of scores that are linear in log-probabilities; where ``coef_`` is a vector, each in that of its own class."""

    coef_: FloatArray = fitted()
    intercept_: FloatArray = fitted("K", least=-MOST_COEFFICIENT, most=MOST_COEFFICIENT)
    gradient_: float = fitted()
    n_iter_: int = fitted()

    def _fit_vector(self, problem: SimplexProblem, ridge: float, *, intercept: bool = True) -> None:
        """Fit a weight a class, and an intercept, with a penalty on the change from the identity."""
        n_classes = problem.classes.size
        same = np.stack([np.ones(n_classes), np.zeros(n_classes)])[: 1 + intercept]
        found = fit_table(Diagonal(intercept=intercept), problem, self._entering, np.full_like(same, ridge), same)
        table, self.gradient_, self.n_iter_ = found
        self.coef_, self.intercept_ = table[0], table[1] if intercept else np.zeros(n_classes)

    def _fit_matrix(
        self, problem: SimplexProblem, diagonal: float, off_diagonal: float, intercept: float, *, to_zero: bool = False
    ) -> None:
        """Fit all entries, with a penalty on the change from the identity, or on what is penalised at all from zero."""
        n_classes = problem.classes.size
        weights = np.full((n_classes, n_classes), off_diagonal, dtype=np.float64)
        np.fill_diagonal(weights, diagonal)
        ridge = np.vstack([weights, np.full(n_classes, float(intercept))])
        same = np.eye(n_classes + 1, n_classes)
        # Weights without a penalty of their own are drawn to where they change nothing.
        centre = np.where(to_zero & (ridge > 0.0), 0.0, same)
        table, self.gradient_, self.n_iter_ = fit_table(Full(), problem, self._entering, ridge, same, centre)
        self.coef_, self.intercept_ = table[:-1].T.copy(), table[-1]

    def _check_loaded(self) -> None:
        n_classes = len(self.classes_)
        shape = (n_classes,) if self.coef_.ndim == 1 else (n_classes, n_classes)
        numbers("coef_", self.coef_, shape=shape, least=-MOST_COEFFICIENT, most=MOST_COEFFICIENT)
        super()._check_loaded()

    def _apply(self, forecast: Forecast) -> FloatArray:
        z = self._entering(forecast)
        return prob_of_scores((z * self.coef_ if self.coef_.ndim == 1 else z @ self.coef_.T) + self.intercept_)

    def _entering(self, forecast: Forecast) -> FloatArray:
        """Return the log-probabilities, or the logits, that enter the map."""
        return log_prob_of(forecast)


class LogitScaling(LinearScaling):
    """Scores that are linear in logits which a parameter names: the same forecast has more than one table of them."""

    logits: Logits = parameter(default="as-given")

    def _entering(self, forecast: Forecast) -> FloatArray:
        """Return the logits that the word names, row after row in memory: those of a forecast differ by a constant a row."""
        if self.logits == "log-softmax" or not forecast.is_logit:
            z = log_prob_of(forecast)
        else:
            z = np.ascontiguousarray(forecast.values)
        return z - z[:, -1:] if self.logits == "reference" else z


class StructuredScaling(LinearScaling):
    """A temperature first, and penalties that fade with data."""

    rho: float = parameter(default=1.0, least=0.0, most=MOST_EXPONENT, hint="Pass rho=1.0")
    tau: float = parameter(default=1.0, least=0.0, most=MOST_EXPONENT, hint="Pass tau=1.0")
    temperature_: float = fitted("", least=LEAST_TEMPERATURE)
    uniform_: float = fitted("", least=1e-100, most=1.0)

    def _fading(self, problem: SimplexProblem, size: int) -> float:
        """Penalty that grows with the number of parameters and falls with that of rows: size^rho / n^tau."""
        logarithm = self.rho * np.log(size) - self.tau * np.log(problem.weights.rows)
        return float(np.exp(min(logarithm, np.log(STRONGEST))))

    def _fit_temperature(self, problem: SimplexProblem) -> None:
        """Find the temperature, after which log-probabilities enter the map."""
        scaling, self.uniform_ = TemperatureScaling(), 1.0 / (problem.weights.rows + 1.0)
        scaling._fit(problem)
        self.temperature_ = scaling.temperature_

    def _entering(self, forecast: Forecast) -> FloatArray:
        """Return log-probabilities after the temperature and a mixture with the uniform forecast."""
        log_prob = log_prob_of(forecast)
        result = np.empty_like(log_prob)
        for rows in blocks(*log_prob.shape):
            z = log_prob[rows]
            prob = z - z.max(axis=1, keepdims=True)
            prob /= self.temperature_
            np.exp(prob, out=prob)
            prob *= (1.0 - self.uniform_) / prob.sum(axis=1, keepdims=True)
            prob += self.uniform_ / prob.shape[1]
            np.log(prob, out=result[rows])
        return result


# Dirichlet calibration: each score is linear in the log-probabilities of all classes, drawn to zero


@method("dirichlet", symbol="DIR", source="Kull et al. 2019", guarantees={PERMUTED, FINITE, IDENTITY})
class DirichletCalibration(LinearScaling):
    """Calibrate as if predictions had one Dirichlet distribution a class (DIR, ODIR or L2): softmax(W log p + b).

    Use it with few classes and hundreds of rows a class. Do not use it with many classes, or with few rows: its K (K + 1)
    parameters over-fit, and the penalty has to grow with K. `StructuredMatrixScaling` lets it grow so.

    Parameters
    ----------
    diagonal : float, default=0
        Penalty on the squares of the weights on the diagonal of W. 0 is the ODIR (off-diagonal and intercept regularisation)
        of Kull et al., which leaves the map that changes nothing without penalty. A number as large as the other two is their
        L2 penalty, which draws the map to the uniform prediction.
    off_diagonal, intercept : float, default=1e-3
        Penalties on the squares of the weights off the diagonal, and of the intercepts.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logits are turned into log-probabilities first, exactly;
        probabilities are clipped at 1e-12.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_classes)
        W: the row of a class makes its score.
    intercept_ : ndarray of shape (n_classes,)
        Intercept of each class; they sum to zero.
    gradient_ : float
        Largest component of the gradient of the objective at the solution, the certificate: at most 1e-8 times the mean
        over rows of the largest -log p (or 1 if that is less), else there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    If the predictions of class j follow a Dirichlet distribution with parameters alpha_j, the probability of j given
    the prediction p is softmax(W log p + b) with row j of W equal to alpha_j up to a vector common to all rows. Any W can be
    written so: as a map this is matrix scaling of log-probabilities. Of probabilities, and with
    ``MatrixScaling(logits="log-softmax")`` of logits, `MatrixScaling` with the same penalties is the default of this class,
    number for number. They differ where matrix scaling takes logits as they were given: these hold a number a row more than
    the prediction, and here the prediction alone counts.

    The objective is the mean log loss plus the sums of penalty times square. A parameter without penalty has one of 1e-8, on
    its change from W = I, b = 0: then there is one solution in all cases, absent or separated classes and fewer rows than
    classes included; where only that ridge holds the map there is a `ConvergenceWarning`, as of `MatrixScaling`.

    The default contains the identity: on a calibrated prediction the fit tends to the map that changes nothing as rows are
    added. With ``diagonal`` above 0 it does not. On the 39 forecasts of docs/comparison.md ``diagonal=1e-3`` has the lower log
    loss on test rows in 24, and on average the higher one by 0.027 (standard error 0.028): AdaBoost, whose probabilities lie
    close together, loses up to 1.04 (``python -m studies.arena.defaults diagonal`` of commit 6e77aab2). With few rows it is
    held back more: of the 356 experiments of docs/do-no-harm.md, 100 to 2000 rows, it made 38 % worse and the default 41 %.

    References
    ----------
    Kull, Perello-Nieto, Kängsepp, Silva Filho, Song, Flach, Beyond temperature scaling: obtaining well-calibrated
    multiclass probabilities with Dirichlet calibration, NeurIPS 2019.

    Examples
    --------
    >>> from calibrant import DirichletCalibration, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> DirichletCalibration().fit(prob, y).intercept_.shape
    (10,)
    """

    diagonal: float = parameter(default=0.0, least=0.0, most=STRONGEST, hint="Pass 0 for none")
    off_diagonal: float = parameter(default=1e-3, least=0.0, most=STRONGEST, hint="Pass 0 for none")
    intercept: float = parameter(default=1e-3, least=0.0, most=STRONGEST, hint="Pass 0 for none")

    def _fit(self, problem: SimplexProblem) -> None:
        self._fit_matrix(problem, self.diagonal, self.off_diagonal, self.intercept, to_zero=True)


# Matrix scaling: each score is linear in the log-probabilities of all classes


@method("matrix", symbol="MS", source="Guo et al. 2017; Kull et al. 2019", guarantees={PERMUTED, FINITE, IDENTITY})
class MatrixScaling(LogitScaling):
    """Make the score of each class linear in the logits of all classes (MS, with ODIR penalties): softmax(W z + b).

    Use it with few classes and hundreds of rows a class: it corrects a class that is predicted in place of another. Do not use
    it as it stands with many classes: its K (K + 1) parameters over-fit, and the penalty has to grow with K.
    `StructuredMatrixScaling` lets it grow so, and is the better default.

    Parameters
    ----------
    off_diagonal : float, default=1e-3
        Penalty on the squares of the weights off the diagonal.
    intercept : float, default=1e-3
        Penalty on the squares of the intercepts.
    logits : {"as-given", "log-softmax", "reference"}, default="as-given"
        Which logits z enter the map, of all that stand for the same probabilities. ``"as-given"``: the logits of
        ``input="logit"`` without any change, as Guo et al. have it. ``"log-softmax"``: log-probabilities, which the
        probabilities determine. ``"reference"``: logits less that of the last class, as in multinomial logistic regression;
        then another order of the classes gives another map. Of probabilities the first two are the same.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Probabilities are clipped at 1e-12 for their logarithms.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_classes)
        W: the row of a class makes its score.
    intercept_ : ndarray of shape (n_classes,)
        Intercept of each class; they sum to zero.
    gradient_ : float
        Largest component of the gradient of the objective at the solution, the certificate: at most 1e-8 times the mean
        over rows of the largest size of a logit z (or 1 if less), else there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    The objective is the mean log loss plus ``off_diagonal`` times the sum of squares of W off its diagonal plus
    ``intercept`` times the sum of squares of b (ODIR: off-diagonal and intercept regularisation). Kull et al. print means
    of squares, that is, penalties divided by K (K - 1) and by K; figures published under "ODIR 1e-3" come from the sums.

    What the penalties leave free has a penalty of 1e-8, on the change from W = I, b = 0 (of W times (2 m)^2 where the largest
    logit m is below 1/2; ``off_diagonal`` is of the weights as they are, and holds more of them back the smaller the logits
    are): with it there is one solution in
    all cases, those included in which a class did not occur, the classes are separated, or there are fewer rows than
    classes. In the first two only this ridge may hold the map: a `ConvergenceWarning` says so where a class did not occur,
    the labels agree with the forecast in all rows, or the map found puts every row right by weights that can grow. A vector
    added to all rows of W changes no probability; it is chosen so that the penalty is least.

    A constant added to all logits of a row changes no probability, and this map changes with it. The log loss of the test rows
    of CIFAR-10 by ResNet-50 is 0.1720 with logits as given, 0.1732 with log-probabilities and 0.1720 against the last class.
    Over 28 classifiers as given and log-softmax are level, 13 to 15; of the eight networks among them six are better as given.
    See `VectorScaling` for what was run.

    With log-probabilities in place of logits this is the map of `DirichletCalibration`; see there.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger, On calibration of modern neural networks, ICML 2017.
    Kull, Perello-Nieto, Kängsepp, Silva Filho, Song, Flach, Beyond temperature scaling: obtaining well-calibrated
    multiclass probabilities with Dirichlet calibration, NeurIPS 2019.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import MatrixScaling
    >>> y, prob = load_digits_forecast()
    >>> MatrixScaling(off_diagonal=0.01).fit(prob, y).coef_.shape
    (10, 10)
    """

    off_diagonal: float = parameter(default=1e-3, least=0.0, most=STRONGEST, hint="Pass 0 for none")
    intercept: float = parameter(default=1e-3, least=0.0, most=STRONGEST, hint="Pass 0 for none")

    def _fit(self, problem: SimplexProblem) -> None:
        self._fit_matrix(problem, 0.0, self.off_diagonal, self.intercept)


# Structured matrix scaling: temperature first, then a matrix and intercepts, held back by penalties


@method("sms", symbol="SMS", source="Berta et al. 2025", guarantees={PERMUTED, FINITE})
class StructuredMatrixScaling(StructuredScaling):
    """Temperature scaling, then a matrix and intercepts under penalties that fade with data (SMS).

    Use it as the first choice for three classes or more: with few rows it is temperature scaling, with more it becomes
    vector and then matrix scaling of what the temperature left, and it has no parameter that must be tuned. Do not use it
    where the predicted class must stay, or where rows are so few that a temperature is all that they bear.

    Parameters
    ----------
    rho, tau : float, default=1.0
        The penalty on the diagonal and on intercepts is K^rho / n^tau, that off the diagonal (K (K - 1))^rho / n^tau, for K
        classes and n rows; both from 0 to 100.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logits are turned into log-probabilities first, exactly;
        probabilities are clipped at 1e-12.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    temperature_ : float
        The temperature of the first step.
    uniform_ : float
        Weight of the uniform forecast mixed in after it, 1 / (n + 1).
    coef_ : ndarray of shape (n_classes, n_classes)
        I + diag(v) + M: the row of a class makes its score.
    intercept_ : ndarray of shape (n_classes,)
        Intercept of each class; they sum to zero.
    gradient_ : float
        Largest component of the gradient of the objective at the solution, the certificate: at most 1e-8 times the mean
        over rows of the largest -log q (or 1 if that is less), else there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken after the temperature was found.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    With q the forecast of `TemperatureScaling`, mixed with a little of the uniform one so that no zero stays, the map is
    softmax((I + diag(v) + M) log q + b), M zero on its diagonal. v, M and b minimise the mean log loss plus
    ``K^rho / n^tau (||v||^2 + ||b||^2)`` plus ``(K (K - 1))^rho / n^tau ||M||^2``, which is strictly convex. n is the number
    of rows. For a class that did not occur only the penalties count. Where no temperature is best, it ends as
    `TemperatureScaling` says, with its warning. The mixture keeps the map from containing the identity exactly: it is
    missed by about 1 / n.

    References
    ----------
    Berta, Holzmüller, Jordan, Bach, Structured matrix scaling for multi-class calibration, arXiv 2511.03685, 2025.

    Examples
    --------
    >>> from calibrant import StructuredMatrixScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> StructuredMatrixScaling().fit(prob, y).coef_.shape
    (10, 10)
    """

    def _fit(self, problem: SimplexProblem) -> None:
        n_classes = problem.classes.size
        of_one, of_pairs = (self._fading(problem, size) for size in (n_classes, n_classes * (n_classes - 1)))
        self._fit_temperature(problem)
        self._fit_matrix(problem, of_one, of_pairs, of_one)


# Structured vector scaling: temperature first, then a weight and an intercept a class, held back by a penalty


@method("svs", symbol="SVS", source="Berta et al. 2025", guarantees={PERMUTED, FINITE})
class StructuredVectorScaling(StructuredScaling):
    """Temperature scaling, then a weight and an intercept a class under a penalty that fades with data (SVS).

    Use it with any number of rows: with few it is temperature scaling, with many vector scaling of what the temperature
    left. It has no parameter that must be tuned. It cannot correct what depends on which other classes were likely;
    `StructuredMatrixScaling` can.

    Parameters
    ----------
    rho, tau : float, default=1.0
        The penalty is K^rho / n^tau for K classes and n rows; both from 0 to 100.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logits are turned into log-probabilities first, exactly;
        probabilities are clipped at 1e-12.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    temperature_ : float
        The temperature of the first step.
    uniform_ : float
        Weight of the uniform forecast mixed in after it, 1 / (n + 1).
    coef_ : ndarray of shape (n_classes,)
        Weight of each class, 1 + v.
    intercept_ : ndarray of shape (n_classes,)
        Intercept of each class; they sum to zero.
    gradient_ : float
        Largest component of the gradient of the objective at the solution, the certificate: at most 1e-8 times the mean
        over rows of the largest -log q (or 1 if that is less), else there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken after the temperature was found.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    With q the forecast of `TemperatureScaling`, mixed with a little of the uniform one so that no zero stays, the map is
    softmax((1 + v) log q + b); v and b minimise the mean log loss plus ``K^rho / n^tau (||v||^2 + ||b||^2)``, which is strictly
    convex. n is the number of rows. For a class that did not occur only the penalty counts. Where no temperature is best, it
    ends as `TemperatureScaling` says, with its warning. The mixture keeps the map from containing the identity exactly: it
    is missed by about 1 / n.

    References
    ----------
    Berta, Holzmüller, Jordan, Bach, Structured matrix scaling for multi-class calibration, arXiv 2511.03685, 2025.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import StructuredVectorScaling
    >>> y, prob = load_digits_forecast()
    >>> StructuredVectorScaling().fit(prob, y).temperature_ > 1
    True
    """

    def _fit(self, problem: SimplexProblem) -> None:
        self._fit_temperature(problem)
        self._fit_vector(problem, self._fading(problem, problem.classes.size))


# Vector scaling: one weight and one intercept a class


@method("vector", symbol="VS", source="Guo et al. 2017", guarantees={PERMUTED, FINITE, IDENTITY})
class VectorScaling(LogitScaling):
    """Give the logit of each class a weight and an intercept (VS): softmax(w * z + b).

    Use it when some classes are predicted too often or too boldly and others are not, with some tens of rows a class. Do not
    use it with few rows a class: `StructuredVectorScaling` is the same map of log-probabilities, held back where data are
    scarce. It cannot correct what depends on which other classes were likely; `MatrixScaling` can.

    Parameters
    ----------
    bias : bool, default=True
        Whether there are intercepts.
    logits : {"as-given", "log-softmax", "reference"}, default="as-given"
        Which logits z enter the map, of all that stand for the same probabilities. ``"as-given"``: the logits of
        ``input="logit"`` without any change, as Guo et al. have it. ``"log-softmax"``: log-probabilities, which the
        probabilities determine. ``"reference"``: logits less that of the last class, as in multinomial logistic regression;
        then another order of the classes gives another map. Of probabilities the first two are the same.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Probabilities are clipped at 1e-12 for their logarithms.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes,)
        Weight of each class.
    intercept_ : ndarray of shape (n_classes,)
        Intercept of each class; they sum to zero.
    gradient_ : float
        Largest component of the gradient of the objective at the solution, the certificate: at most 1e-8 times the mean
        over rows of the largest size of a logit z (or 1 if less), else there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    The mean log loss is convex in w and b. ``1e-8 (||w - 1||^2 + ||b||^2)`` is added, the part of w times (2 m)^2 where
    the largest logit m is below 1/2, so that logits of any size are fitted alike: with it there is one solution in all
    cases, and without it there is none where a class did not occur or the classes are separated. A class that did not occur
    gets a probability of about 1e-7, and a `ConvergenceWarning` says that only the ridge holds the map. So it does where
    the labels agree with the forecast in all rows, or the map found puts every row right by weights that can grow. Fit on
    more rows, or use `StructuredVectorScaling`.

    A constant added to all logits of a row changes no probability, but with weights that differ it changes this map: a
    network's logits hold a number a row more than its probabilities. On the ten classes of CIFAR-10 by ResNet-50 that number
    helps: the log loss of the test rows is 0.1692 as given, 0.1704 of log-probabilities, 0.1716 against the last class. Over 28
    classifiers (seven kinds on four tables, three splits each) as given and log-softmax are level: 14 to 14, a difference of
    -0.007 with a standard error of 0.009. As given is better for all eight networks among them, and worse for gradient
    boosting. ``python -m studies.arena.defaults`` of commit 6e77aab2 gave these figures.

    Of one column of logits, the log-odds of an event, the other class has the logit 0: as given the map is that of
    ``PlattScaling(smooth_targets=False)`` but for the ridge, and with log-softmax `BetaCalibration` whose weights may be
    negative.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger, On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> from calibrant import VectorScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> VectorScaling().fit(prob, y).coef_.shape
    (10,)
    """

    bias: bool = parameter(default=True)

    def _fit(self, problem: SimplexProblem) -> None:
        self._fit_vector(problem, 0.0, intercept=bool(self.bias))
