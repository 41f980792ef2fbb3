"""Logistic regression of a binary problem on a few columns, and recalibration by it on the log-odds of the forecast.

`fit_logistic` is the one fit of the library: the minimum of a mean over rows, exact to rounding, with signs of coefficients
kept where asked and a certificate. `Recalibration` puts rows of equal scores together first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem
from calibrant.solvers.newton import EPS, DensePoint, Minimum, Stop, minimise, projected
from calibrant.sums.fine_cells import CellProblem
from calibrant.sums.unread import refuse_rows

LAST_STEP = 1e-6
"""A step in which the log-odds of no row change by more is the last: the error after it is about this squared."""

ROUNDED = 1e-10
"""Rounding of the log-odds from which on the gradient is worked out anew at the parameters in the units of the columns."""

EXPLAINED = 1e-12
"""Part of a column's variance that the columns before it must leave over for the column to have a coefficient."""

BLOCK = 1 << 13
"""Rows worked on at a time: a block stays in the processor's cache through all the steps of an evaluation."""

MANY_ROWS, ONE_IN = 1 << 15, 16
"""From so many rows on, the fit of one row in so many is where the fit of all begins."""

BISECTIONS = 10_000
"""Logits may be as large as 1e100: some hundreds of them lead from there to a shift that is certain to 1e-14."""

Shape = Literal["regular", "one class", "one score", "events above", "events below"]


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """The least mean log loss: log-odds  intercept + coef @ columns.

    ``gradient`` is the largest absolute component of the gradient of the mean loss at these parameters, in standardised
    units: columns less their means (where there is an intercept), divided by the largest absolute value that is left. A
    coefficient that a constraint holds at zero counts by what pulls it away from zero. ``rank`` counts the parameters that
    rows determine.
    """

    intercept: float
    coef: FloatArray
    gradient: float
    n_iter: int
    converged: bool
    rank: int


def fit_logistic(
    columns: Sequence[FloatArray],
    total: FloatArray,
    events: FloatArray,
    *,
    intercept: bool = True,
    nonnegative: bool = False,
) -> LogisticFit:
    """Minimise  sum of total * log(1 + exp(eta)) - events * eta  over the intercept and the coefficients in eta.

    A row has weight ``total``, of which ``events`` fell on the event: all, nothing, or a part. A column that is constant, or
    a linear function of those before it to within 1e-6 of its spread, has coefficient 0. ``nonnegative`` keeps coefficients
    at 0 or above; the intercept is free. Where the loss has no minimum, or none that rounding shows, the fit has not
    converged and its parameters mean nothing.
    """
    raw = np.vstack([*[np.ones_like(total)] * intercept, *columns])
    centre, scale, table = _standardised(raw, total, intercept=intercept)
    kept = independent(_products(table, total))
    lower = np.array([-np.inf] * intercept + [0.0 if nonnegative else -np.inf] * len(columns))
    found = _minimum(
        LogisticLoss(table if len(kept) == len(table) else table[kept], total, events, lower[kept]), intercept
    )
    if found is None:
        return LogisticFit(0.0, np.zeros(len(columns)), np.inf, 0, False, len(kept))
    theta = np.zeros(len(table))
    theta[kept] = found.point.x / scale[kept]
    if intercept:
        theta[0] -= centre @ theta
    constant, coef = (float(theta[0]), theta[1:]) if intercept else (0.0, theta)
    gradient = found.residual
    if EPS * float(np.abs(theta) @ (np.abs(centre) + scale)) > ROUNDED:
        eta = sum((c * x for c, x in zip(coef, columns, strict=True) if c), start=np.full(total.shape, constant))
        gradient = projected(theta[kept], _slope(table[kept], total, events, eta), lower[kept])
    return LogisticFit(constant, coef, gradient, found.n_iter, found.converged, len(kept))


def _standardised(raw: FloatArray, total: FloatArray, *, intercept: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return centres, scales, and the columns less their centres, within [-1, 1]; the ones of the intercept stay."""
    centre = np.zeros(len(raw))
    largest = np.maximum(raw.max(axis=1), -raw.min(axis=1))
    if intercept:
        centre[1:] = raw[1:] @ (total / total.sum())
        raw -= centre[:, None]
    scale = np.maximum(raw.max(axis=1), -raw.min(axis=1))
    constant = scale <= EXPLAINED * largest
    scale[constant] = 1.0
    raw[constant] = 0.0
    raw /= scale[:, None]
    return centre, scale, raw


def _products(table: FloatArray, total: FloatArray) -> FloatArray:
    """Weighted sums over the rows of the products of each two columns."""
    gram = np.zeros((len(table), len(table)))
    for start in range(0, table.shape[1], BLOCK):
        rows = slice(start, start + BLOCK)
        gram += (table[:, rows] * total[rows]) @ table[:, rows].T
    return gram


def independent(gram: FloatArray) -> list[int]:
    """Numbers of the columns that those before them do not explain, given the sums of products of each two."""
    kept: list[int] = []
    for j in range(len(gram)):
        explained = gram[j, kept] @ np.linalg.solve(gram[np.ix_(kept, kept)], gram[kept, j])
        if gram[j, j] - explained > EXPLAINED * gram[j, j]:
            kept.append(j)
    return kept


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """The mean log loss as a function of the coefficients of columns within [-1, 1], and their lower bounds."""

    table: FloatArray
    total: FloatArray
    events: FloatArray
    lower: FloatArray

    def part(self) -> LogisticLoss:
        """Return that of one row in so many."""
        few = slice(None, None, ONE_IN)
        return LogisticLoss(np.ascontiguousarray(self.table[:, few]), self.total[few], self.events[few], self.lower)

    def at(self, theta: FloatArray) -> DensePoint:
        """Return the value, the gradient and the matrix of second derivatives."""
        loss, gradient, curvature = self.sums(theta)
        weight, lower = float(self.total.sum()), self.lower if np.isfinite(self.lower).any() else None
        return DensePoint(theta, loss / weight, gradient / weight, curvature / weight, lower)

    def sums(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the same as weighted sums over the rows."""
        loss, gradient, curvature = 0.0, np.zeros(theta.size), np.zeros((theta.size, theta.size))
        for start in range(0, self.total.size, BLOCK):
            rows = slice(start, start + BLOCK)
            z, w, occurred = self.table[:, rows], self.total[rows], self.events[rows]
            eta = theta @ z
            rare = np.exp(-np.abs(eta))
            loss += float(w @ (np.maximum(eta, 0.0) + np.log1p(rare)) - occurred @ eta)
            likely = 1.0 / (1.0 + rare)
            rare *= likely
            p, q = np.where(eta >= 0.0, (likely, rare), (rare, likely))
            gradient += z @ ((w - occurred) * p - occurred * q)
            curvature += (z * (w * likely * rare)) @ z.T
        return loss, gradient, curvature


def _minimum(loss: LogisticLoss, intercept: bool) -> Minimum[DensePoint] | None:
    """Search from the best constant; of many rows from the solution of a part of them, if it has one."""
    start = np.zeros(loss.lower.size)
    if loss.total.size > MANY_ROWS and (part := _minimum(loss.part(), intercept)) is not None and part.converged:
        start = part.point.x
    elif intercept:
        with np.errstate(divide="ignore"):
            start[0] = np.log(loss.events.sum()) - np.log((loss.total - loss.events).sum())
        if not np.isfinite(start[0]):
            return None
    return minimise(loss.at, start, Stop(reach=LAST_STEP), lower=loss.lower)


def _slope(table: FloatArray, total: FloatArray, events: FloatArray, log_odds: FloatArray) -> FloatArray:
    """Return the gradient of the mean log loss at these log-odds."""
    result: FloatArray = table @ ((total - events) * expit(log_odds) - events * expit(-log_odds)) / total.sum()
    return result


@dataclass(frozen=True, eq=False)
class Recalibration:
    """Distinct log-odds in ascending order, with the weight of all rows and of the events at each, shape (d,)."""

    x: FloatArray
    total: FloatArray
    events: FloatArray

    @property
    def shape(self) -> Shape:
        """Whether slope and intercept are defined, or else why not."""
        occurred, stayed = self.x[self.events > 0], self.x[self.total > self.events]
        if occurred.size == 0 or stayed.size == 0:
            return "one class"
        if self.x.size == 1:
            return "one score"
        if occurred[0] >= stayed[-1]:
            return "events above"
        if occurred[-1] <= stayed[0]:
            return "events below"
        return "regular"

    @cached_property
    def joint(self) -> tuple[float, float]:
        """Intercept and slope of the largest likelihood.

        Where scores separate the classes the slope is infinite, and negative if the events have the lower scores; the
        intercept is then NaN. Both are NaN for one class alone and for a single score.
        """
        match self.shape:
            case "regular":
                fit = fit_logistic((self.x,), self.total, self.events)
                if fit.converged:
                    return fit.intercept, float(fit.coef[0])
                # The classes overlap by less than rounding shows: as good as separated.
                return float("nan"), self._tendency * float("inf")
            case "events above":
                return float("nan"), float("inf")
            case "events below":
                return float("nan"), float("-inf")
            case _:
                return float("nan"), float("nan")

    @property
    def _tendency(self) -> float:
        """Sign of the slope."""
        mean = self.total @ self.x / self.total.sum()
        return float(np.sign(self.events @ (self.x - mean)))

    @cached_property
    def in_the_large(self) -> float:
        """Intercept of the largest likelihood with slope 1; infinite if there is one class alone."""
        occurred, weight = float(self.events.sum()), float(self.total.sum())
        if occurred in (0.0, weight):
            return float("inf") if occurred else float("-inf")
        rate = np.log(occurred) - np.log(weight - occurred)
        # At the ends of the bracket every row is on one side of the rate; a little more covers rounding.
        low, high = (rate - x + side * (1.0 + 1e-12 * abs(x)) for x, side in ((self.x[-1], -1.0), (self.x[0], 1.0)))
        return float(
            brentq(
                lambda a: float(self.total @ expit(self.x + a)) - occurred, low, high, xtol=1e-14, maxiter=BISECTIONS
            )
        )

    def log_likelihood(self, intercept: float, slope: float) -> float:
        """Log-likelihood at an intercept and a slope."""
        eta = intercept + slope * self.x
        return -float(self.events @ np.logaddexp(0.0, -eta) + (self.total - self.events) @ np.logaddexp(0.0, eta))

    @property
    def largest(self) -> float:
        """Largest log-likelihood, or its limit: only scores that both classes have at a border cost something."""
        match self.shape:
            case "regular":
                return self.log_likelihood(*self.joint)
            case "one class":
                return 0.0
            case _:
                mixed = (self.events > 0) & (self.events < self.total)
                occurred, all_ = self.events[mixed], self.total[mixed]
                return float(np.sum(xlogy(occurred, occurred / all_) + xlogy(all_ - occurred, 1.0 - occurred / all_)))

    @property
    def largest_with_slope_one(self) -> float:
        """Largest log-likelihood with slope 1, or its limit."""
        return 0.0 if self.shape == "one class" else self.log_likelihood(self.in_the_large, 1.0)


def recalibration_of(problem: BinaryProblem) -> Recalibration:
    """Put the rows of equal log-odds together."""
    if isinstance(problem, CellProblem):
        refuse_rows("the calibration slope")
    x, at = np.unique(problem.log_odds, return_inverse=True)
    total, events = (
        np.bincount(at, w, x.size).astype(np.float64) for w in (problem.weight, problem.weight * problem.outcome)
    )
    return Recalibration(x, total, events)
