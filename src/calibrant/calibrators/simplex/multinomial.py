"""Softmax of scores that are linear in log-probabilities: what vector, matrix, Dirichlet and structured scaling share.

The parameters are a table of F rows and K columns; column j makes the score of class j. In a `Diagonal` table the rows are
the weight of the class's own log-probability and, where there is one, the intercept; in a `Full` table they are the weights
of all K log-probabilities and the intercept. The objective is, for a table T,

    mean log loss of softmax(scores(T))  +  sum of ridge * (T - centre)^2,

which is convex; `newton.minimise` finds its minimum. No array is larger than the forecast itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, number
from calibrant._core.problem import BoolArray, Forecast, SimplexProblem, is_unit_weight
from calibrant._core.warnings import warn
from calibrant.calibrators.simplex.temperature import TemperatureScaling
from calibrant.solvers.newton import TOLERANCE, Minimum, minimise

Logits = Literal["as-given", "log-softmax", "reference"]
"""Which of the logits that stand for one forecast: as they were given, log-probabilities, or less that of the last class."""

TINY_RIDGE = 1e-8
"""Ridge of a parameter that a method leaves free: it decides what the data leave open, and moves nothing else that shows."""

BLOCK, LEAST_ROWS = 1 << 15, 256
"""Numbers and rows worked on at a time: a block stays in the processor's cache through all steps of an evaluation."""

ORDINARY = 1e6
"""Size of log-probabilities beyond which they are measured in units of the largest: squares would overflow."""

SMALL, SMALLEST = 0.5, 1e-100
"""Size of logits below which they are measured in units of twice the largest, and the smallest unit. Log-probabilities are
never as small: weights of tiny logits must be large, and a ridge in the usual units would hold them where they are."""

MOST_EXPONENT = 100.0

STRONGEST = 1e100
"""Largest ridge."""

EVEN = 1e-12
"""Difference of scores, relative to the largest, that is rounding."""


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
        self, design: Design, z: FloatArray, problem: SimplexProblem, ridge: FloatArray, centre: FloatArray
    ) -> None:
        self.design, self.z, self.label = design, z, problem.label
        self.ridge, self.centre = ridge, centre
        self.share = problem.weight / problem.weight.sum()
        self.equal = is_unit_weight(problem.weight)
        self.scale = max(1.0, float(self.share @ np.abs(z).max(axis=1)))
        self.dense = centre.size <= design.most_dense
        self.prob: Any = np.empty(z.shape, np.float64 if self.dense else np.float32)
        self.single: Any = z if self.dense else z.astype(np.float32)
        self.single_share: Any = self.share if self.dense else self.share.astype(np.float32)

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
            came = np.arange(len(p)), self.label[rows]
            score = p[came]
            np.exp(p, out=p)
            total = p.sum(axis=1)
            p /= total[:, None]
            self.prob[rows] = p
            value += float(share @ (np.log(total) - score))
            p[came] -= 1.0
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


def fit_table(
    design: Design, z: FloatArray, problem: SimplexProblem, ridge: FloatArray, centre: FloatArray, start: FloatArray
) -> Minimum:
    """Minimise the objective; say so where its certificate is not met, or nothing but the smallest ridge holds the table."""
    free = ridge <= TINY_RIDGE
    unit, tiny = np.ones_like(centre), np.full_like(centre, TINY_RIDGE)
    largest = float(np.abs(z).max())
    if largest > ORDINARY:
        unit[design.slopes] = largest
        z, start = z / largest, start / unit
        # So far from a weight of one the pull to it is that to zero, which leaves the table its digits.
        centre = np.where(free & (unit > 1.0), 0.0, centre)
    elif largest < SMALL:
        unit[design.slopes] = size = max(largest / SMALL, SMALLEST)
        z, start, tiny = z / size, start * unit, tiny * unit**2
    ridge = np.where(free, tiny, ridge)
    objective = Objective(design, z, problem, np.minimum(ridge / unit**2, STRONGEST), centre * unit)
    with np.errstate(over="ignore", invalid="ignore"):
        found = minimise(objective, start)
    rounding = float(
        (2.0 * objective.ridge * np.spacing(np.abs(found.table))).max()
    )  # of a heavy penalty's own gradient
    if not found.gradient <= (most := TOLERANCE * objective.scale + rounding):
        warn(
            f"the largest component of the gradient must come below {most:.1e}; it is {found.gradient:.1e} after "
            f"{found.steps} Newton steps. The table found last is used. Fit on more rows, or with a larger penalty.",
            ConvergenceWarning,
        )
    elif why := _held_by_ridge(design, z, problem, free, found.table - objective.centre):
        warn(
            f"every class must come, and classes overlap, for the log loss to have a minimum; {why}: only the ridge of "
            f"{TINY_RIDGE:g} holds the map. Fit on more rows, or with a larger penalty.",
            ConvergenceWarning,
        )
    return replace(found, table=found.table / unit)


def _held_by_ridge(
    design: Design, z: FloatArray, problem: SimplexProblem, free: BoolArray, change: FloatArray
) -> str | None:
    """Why the log loss falls for ever along what is free, or None if no reason is seen.

    What is looked at is enough for it and cheap, and not all that there can be: absent classes, the way of the forecast
    itself, and the way from the centre to the table found. A way along which no row loses and some row gains is one.
    """
    ahead = np.zeros_like(change)
    ahead[design.slopes] = np.eye(z.shape[1]) if isinstance(design, Full) else 1.0
    if not free[ahead > 0].all():
        return None
    came = np.zeros(z.shape[1], dtype=bool)
    came[problem.label] = True
    if not came.all():
        return f"the class {problem.classes[int(np.argmin(came))]!s} did not come"
    for way in (ahead, np.where(free, change, 0.0)):
        scores = design.scores(z, way)
        of_label = scores[np.arange(len(z)), problem.label]
        rounding = EVEN * float(np.abs(scores).max())
        if (of_label >= scores.max(axis=1) - rounding).all() and (of_label > scores.min(axis=1) + rounding).any():
            return "the classes are separated"
    return None


def identity(n_classes: int) -> FloatArray:
    """Table of `Full` that changes nothing."""
    return np.vstack([np.eye(n_classes), np.zeros(n_classes)])


def penalties(n_classes: int, *, diagonal: float, off_diagonal: float, intercept: float) -> FloatArray:
    """Ridge of a `Full` table."""
    weights = np.full((n_classes, n_classes), off_diagonal, dtype=np.float64)
    np.fill_diagonal(weights, diagonal)
    return np.vstack([weights, np.full(n_classes, intercept)])


def log_prob_of(forecast: Forecast) -> FloatArray:
    """Log-probabilities, row after row in memory: sums then do not depend on how the forecast lay there."""
    return np.ascontiguousarray(forecast.log_prob)


def logits_of(forecast: Forecast, which: Logits) -> FloatArray:
    """Return the logits that a word names, row after row in memory: a row of one and of another differ by a constant.

    Logits of a forecast that was given as probabilities are its log-probabilities.

    Raises
    ------
    ValueError, TypeError
        If the word names none.
    """
    if choice("logits", which, get_args(Logits)) == "log-softmax" or not forecast.is_logit:
        z = log_prob_of(forecast)
    else:
        z = np.ascontiguousarray(forecast.values)
    return z - z[:, -1:] if which == "reference" else z


def temperature_of(log_prob: FloatArray, problem: SimplexProblem) -> float:
    """Temperature of the best scaling."""
    scaling = TemperatureScaling()
    scaling._fit(replace(problem, forecast=Forecast(log_prob, is_logit=True)))
    return scaling.temperature_


def tempered(log_prob: FloatArray, temperature: float, uniform: float) -> FloatArray:
    """Log-probabilities after a temperature and a mixture with the uniform forecast."""
    result = np.empty_like(log_prob)
    step = max(LEAST_ROWS, BLOCK // log_prob.shape[1])
    for start in range(0, len(log_prob), step):
        z = log_prob[start : start + step]
        prob = z - z.max(axis=1, keepdims=True)
        prob /= temperature
        np.exp(prob, out=prob)
        prob *= (1.0 - uniform) / prob.sum(axis=1, keepdims=True)
        prob += uniform / prob.shape[1]
        np.log(prob, out=result[start : start + step])
    return result


def penalty(name: str, value: Any) -> float:
    """Return a penalty."""
    return number(name, value, least=0.0, most=STRONGEST, hint="Pass 0 for none")


def fading(size: int, n_rows: float, rho: Any, tau: Any) -> float:
    """Return  size^rho / n_rows^tau, at most `STRONGEST`."""
    grows = number("rho", rho, least=0.0, most=MOST_EXPONENT, hint="Pass rho=1.0")
    fades = number("tau", tau, least=0.0, most=MOST_EXPONENT, hint="Pass tau=1.0")
    return float(np.exp(min(grows * np.log(size) - fades * np.log(n_rows), np.log(STRONGEST))))
