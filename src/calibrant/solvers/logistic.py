"""Logistic regression of a binary problem on a few columns, and recalibration by it on the log-odds of the forecast.

`fit_logistic` is the one fit of the library: Newton's method on sums over rows, exact to rounding, with signs of
coefficients kept where asked and a certificate. `Recalibration` puts rows of equal scores together first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem

MOST_STEPS = 200
"""Of Newton's method. Near separation it needs about twice the logarithm of what separates, some tens."""

SURE_STEP = 1e-8
"""Gain in log-likelihood, a unit of weight, below which a step is taken as it is: rounding hides whether it gains."""

LAST_STEP = 1e-6
"""A step in which the log-odds of no row change by more is the last: the error after it is about this squared."""

LAST_GAIN, ROUNDED_STEP = 1e-24, 1e-4
"""Gain below which rounding alone makes steps, and how long such steps may be."""

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
    kept = _independent(table, total)
    bounded = np.array([nonnegative and not (intercept and j == 0) for j in kept], dtype=bool)
    found = _newton(table if len(kept) == len(table) else table[kept], total, events, bounded, intercept=intercept)
    theta = np.zeros(len(table))
    theta[kept] = found.theta / scale[kept]
    if intercept:
        theta[0] -= centre @ theta
    constant, coef = (float(theta[0]), theta[1:]) if intercept else (0.0, theta)
    slope = _slope(table, total, events, sum((c * x for c, x in zip(coef, columns, strict=True) if c), start=constant))[
        kept
    ]
    held = bounded & (theta[kept] <= 0.0)
    residual = np.where(held, np.maximum(-slope, 0.0), np.abs(slope))
    return LogisticFit(constant, coef, float(residual.max(initial=0.0)), found.steps, found.converged, len(kept))


@dataclass(frozen=True, eq=False)
class _Found:
    theta: FloatArray
    steps: int
    converged: bool


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


def _independent(table: FloatArray, total: FloatArray) -> list[int]:
    """Numbers of the columns that those before them do not explain."""
    gram = np.zeros((len(table), len(table)))
    for start in range(0, table.shape[1], BLOCK):
        rows = slice(start, start + BLOCK)
        gram += (table[:, rows] * total[rows]) @ table[:, rows].T
    kept: list[int] = []
    for j in range(len(table)):
        explained = gram[j, kept] @ np.linalg.solve(gram[np.ix_(kept, kept)], gram[kept, j])
        if gram[j, j] - explained > EXPLAINED * gram[j, j]:
            kept.append(j)
    return kept


def _newton(
    table: FloatArray, total: FloatArray, events: FloatArray, bounded: npt.NDArray[np.bool_], *, intercept: bool
) -> _Found:
    """Newton's method with step halving on columns within [-1, 1]; a step that leaves a bound is cut there.

    Coefficients at their bound that the gradient holds there take no part in the step: with this a cut step still gains.
    [Bertsekas, Projected Newton methods for optimization problems with simple constraints, 1982, proposition 1]
    """
    theta = _beginning(table, total, events, bounded, intercept=intercept)
    if not np.isfinite(theta).all():
        return _Found(np.zeros_like(theta), 0, False)
    loss, gradient, curvature = _derivatives(table, total, events, theta)
    for steps in range(MOST_STEPS):
        free = ~(bounded & (theta <= 0.0) & (gradient > 0.0))
        step = np.zeros(len(table))
        try:
            step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        except np.linalg.LinAlgError:
            break
        reach, gain = float(np.abs(step).sum()), -float(gradient @ step)
        if not np.isfinite(reach):
            break
        if reach <= LAST_STEP or (gain <= LAST_GAIN and reach <= ROUNDED_STEP):
            return _Found(_cut(theta + step, bounded), steps + 1, True)
        if gain <= LAST_GAIN:
            break
        while True:
            new = _cut(theta + step, bounded)
            gain = -float(gradient @ (new - theta))
            found = _derivatives(table, total, events, new)
            if abs(gain) <= SURE_STEP or found[0] <= loss - 1e-4 * gain:
                break
            step /= 2.0
        theta, (loss, gradient, curvature) = new, found
    return _Found(theta, MOST_STEPS, False)


def _cut(theta: FloatArray, bounded: npt.NDArray[np.bool_]) -> FloatArray:
    return np.where(bounded, np.maximum(theta, 0.0), theta)


def _beginning(
    table: FloatArray, total: FloatArray, events: FloatArray, bounded: npt.NDArray[np.bool_], *, intercept: bool
) -> FloatArray:
    """Return the best constant; of many rows the solution of a part of them, if it has one."""
    if table.shape[1] > MANY_ROWS:
        few = slice(None, None, ONE_IN)
        part = _newton(np.ascontiguousarray(table[:, few]), total[few], events[few], bounded, intercept=intercept)
        if part.converged:
            return part.theta
    theta = np.zeros(len(table))
    if intercept:
        with np.errstate(divide="ignore"):
            theta[0] = np.log(events.sum()) - np.log((total - events).sum())
    return theta


def _derivatives(
    table: FloatArray, total: FloatArray, events: FloatArray, theta: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return the mean log loss, its gradient and its matrix of second derivatives."""
    loss, gradient, curvature = 0.0, np.zeros(len(table)), np.zeros((len(table), len(table)))
    for start in range(0, table.shape[1], BLOCK):
        rows = slice(start, start + BLOCK)
        z, w, came = table[:, rows], total[rows], events[rows]
        eta = theta @ z
        rare = np.exp(-np.abs(eta))
        loss += float(w @ (np.maximum(eta, 0.0) + np.log1p(rare)) - came @ eta)
        likely = 1.0 / (1.0 + rare)
        rare *= likely
        p, q = np.where(eta >= 0.0, (likely, rare), (rare, likely))
        gradient += z @ ((w - came) * p - came * q)
        curvature += (z * (w * likely * rare)) @ z.T
    weight = float(total.sum())
    return loss / weight, gradient / weight, curvature / weight


def _slope(table: FloatArray, total: FloatArray, events: FloatArray, log_odds: FloatArray | float) -> FloatArray:
    """Return the gradient of the mean log loss at these log-odds."""
    slope, eta = np.zeros(len(table)), np.broadcast_to(log_odds, total.shape)
    for start in range(0, total.size, BLOCK):
        rows = slice(start, start + BLOCK)
        w, came = total[rows], events[rows]
        slope += table[:, rows] @ ((w - came) * expit(eta[rows]) - came * expit(-eta[rows]))
    result: FloatArray = slope / total.sum()
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
        came, stayed = self.x[self.events > 0], self.x[self.total > self.events]
        if came.size == 0 or stayed.size == 0:
            return "one class"
        if self.x.size == 1:
            return "one score"
        if came[0] >= stayed[-1]:
            return "events above"
        if came[-1] <= stayed[0]:
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
        came, weight = float(self.events.sum()), float(self.total.sum())
        if came in (0.0, weight):
            return float("inf") if came else float("-inf")
        rate = np.log(came) - np.log(weight - came)
        # At the ends of the bracket every row is on one side of the rate; a little more covers rounding.
        low, high = (rate - x + side * (1.0 + 1e-12 * abs(x)) for x, side in ((self.x[-1], -1.0), (self.x[0], 1.0)))
        return float(
            brentq(lambda a: float(self.total @ expit(self.x + a)) - came, low, high, xtol=1e-14, maxiter=BISECTIONS)
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
                came, all_ = self.events[mixed], self.total[mixed]
                return float(np.sum(xlogy(came, came / all_) + xlogy(all_ - came, 1.0 - came / all_)))

    @property
    def largest_with_slope_one(self) -> float:
        """Largest log-likelihood with slope 1, or its limit."""
        return 0.0 if self.shape == "one class" else self.log_likelihood(self.in_the_large, 1.0)


def recalibration_of(problem: BinaryProblem) -> Recalibration:
    """Put the rows of equal log-odds together."""
    x, at = np.unique(problem.log_odds, return_inverse=True)
    total, events = (
        np.bincount(at, w, x.size).astype(np.float64) for w in (problem.weight, problem.weight * problem.outcome)
    )
    return Recalibration(x, total, events)
