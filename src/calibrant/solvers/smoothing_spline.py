"""Logistic regression of an event on a natural cubic spline of the log-odds of its forecast, with a penalty on bending.

The spline is what is added to the log-odds: nothing added is the identity. Rows are sorted and lie between knots, where the
spline is a cubic polynomial; so all sums over rows are sums of powers between knots, and no matrix of rows is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline, PPoly
from scipy.linalg import solve_triangular
from scipy.special import expit

from calibrant._core.links import FloatArray
from calibrant._core.parameters import whole
from calibrant._core.problem import IntArray
from calibrant.solvers.logistic import Recalibration

RELATIVE_PENALTIES = tuple(10.0 ** (2.0 - 0.5 * i) for i in range(13))
"""From 100 to 1e-4 in half powers of ten: times the information in the rows on the bend that they see best."""

EVEN = 0.01
"""Share of equally spaced knots in the places of knots, which keeps them apart where scores are tied."""

ONE_SCORE = 1e-8
"""Log-odds that differ by less are one score: a curve through them would be rounding."""

SURE_GAIN, ROUGH_GAIN, LAST_GAIN = 1e-8, 1e-6, 1e-20
"""Gains of a Newton step in the mean objective. Below the first a step is taken as it is; below the second it is the last
while penalties are compared, below the third for the one that is chosen. What is left after a step is about its square."""

MOST_STEPS, TINY = 200, 1e-10

WIDE = 1e4
"""Half range of log-odds from which on the search begins at a constant: at the identity all probabilities are 0 or 1."""


def require_knots(n_knots: object) -> None:
    """Refuse a number of knots that is no whole number of at least two."""
    whole("n_knots", n_knots, least=2, hint="Pass some 5 to 30")


def knots_of(rows: Recalibration, n_knots: int) -> FloatArray:
    """Place knots at quantiles of the log-odds, from the lowest to the highest, drawn a little towards equal distances.

    Quantiles are taken from the middle of the weight at each value, so that they are the same from above and below.
    """
    x = rows.x
    if x[-1] - x[0] <= ONE_SCORE:
        return np.array([x[0] - 1.0, x[0] + 1.0])
    middle = np.cumsum(rows.total) - rows.total / 2.0
    quantiles = np.interp(np.linspace(middle[0], middle[-1], n_knots), middle, x)
    return (1.0 - EVEN) * quantiles + EVEN * np.linspace(x[0], x[-1], n_knots)


def natural_spline(knots: FloatArray, values: FloatArray, x: FloatArray) -> FloatArray:
    """Evaluate the natural cubic spline through values at knots; straight lines outside."""
    half = (knots[-1] - knots[0]) / 2.0  # in units of it no power of a distance overflows
    spline = CubicSpline((knots - knots[0]) / half, values, bc_type="natural")
    result: FloatArray = spline((np.clip(x, knots[0], knots[-1]) - knots[0]) / half)
    for end, at, outside in ((knots[0], 0.0, x < knots[0]), (knots[-1], 2.0, x > knots[-1])):
        if outside.any():
            result[outside] += np.multiply.outer((x[outside] - end) / half, spline(at, 1))
    return result


@dataclass(frozen=True, eq=False)
class Curves:
    """The rows, and the splines among which one is sought: the sums of a constant, a slope and bends."""

    rows: Recalibration
    knots: FloatArray

    @property
    def half(self) -> float:
        """Half the range of the knots; in units of it, log-odds have a range of 2."""
        return float(self.knots[-1] - self.knots[0]) / 2.0

    @property
    def beginning(self) -> FloatArray:
        """Coefficients of the line from which the search begins: nothing added, or all log-odds made equal."""
        if self.half < WIDE:
            return np.zeros(2)
        return np.array([-float(self.rows.total @ self.rows.x / self.rows.total.sum()), -self.half])

    @cached_property
    def at_knots(self) -> FloatArray:
        """Values at the knots, shape (knots, columns). The roughness of a sum of bends is its sum of squares."""
        t = (self.knots - self.rows.total @ self.rows.x / self.rows.total.sum()) / self.half
        line = np.column_stack([np.ones(t.size), t])
        if t.size == 2:
            return line
        # Second derivatives that are hat functions, integrated twice, and combined so that their Gram matrix is one.
        hats, gap = np.eye(t.size)[:, 1:-1], np.diff(t)
        rises = PPoly(np.stack([np.diff(hats, axis=0) / gap[:, None], hats[:-1]]), t)
        gram = np.diag((gap[:-1] + gap[1:]) / 3.0) + np.diag(gap[1:-1] / 6.0, 1) + np.diag(gap[1:-1] / 6.0, -1)
        bends = solve_triangular(np.linalg.cholesky(gram), rises.antiderivative(2)(t).T, lower=True).T
        bent: FloatArray = bends - line @ np.linalg.lstsq(line, bends)[0]
        return np.column_stack([line, bent])

    @cached_property
    def pieces(self) -> FloatArray:
        """Coefficients of the powers of `place`, shape (gaps, 4, columns)."""
        ascending = CubicSpline(self.knots, self.at_knots, bc_type="natural").c[::-1].transpose(1, 0, 2)
        result: FloatArray = ascending * np.diff(self.knots)[:, None, None] ** np.arange(4)[:, None]
        return result

    @cached_property
    def gap(self) -> IntArray:
        """Between which knots each row lies."""
        return np.searchsorted(self.knots[1:-1], self.rows.x, side="right")

    @cached_property
    def place(self) -> FloatArray:
        """Where between them, from 0 to 1."""
        return (self.rows.x - self.knots[self.gap]) / np.diff(self.knots)[self.gap]

    def polynomials(self, powers: FloatArray) -> FloatArray:
        """Evaluate at each row the polynomial of its gap, given the coefficients, shape (gaps, degree + 1)."""
        value: FloatArray = powers[self.gap, -1]
        for k in range(powers.shape[1] - 2, -1, -1):
            value = value * self.place + powers[self.gap, k]
        return value

    def moments(self, mass: FloatArray, n_powers: int) -> FloatArray:
        """Sum mass times each power of `place` over the rows of each gap, shape (gaps, n_powers)."""
        sums = []
        for _ in range(n_powers):
            sums.append(np.bincount(self.gap, mass, self.knots.size - 1))
            mass = mass * self.place
        return np.column_stack(sums)

    def ridge(self, penalty: float, n_free: int) -> FloatArray:
        """Return the weight of each squared coefficient in twice the objective."""
        return np.array([1.0, self.half**-2, *[penalty] * (n_free - 2)])


POWER = np.add.outer(np.arange(4), np.arange(4))
"""Power of the product of two powers."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The curve of some coefficients, for one penalty; with an infinite one the first two are free, a straight line."""

    curves: Curves
    penalty: float
    coefficients: FloatArray
    steps: int = 0

    @property
    def n_free(self) -> int:
        """Number of coefficients."""
        return self.coefficients.size

    @property
    def pieces(self) -> FloatArray:
        """What the coefficients multiply: powers between knots."""
        return self.curves.pieces[:, :, : self.n_free]

    @cached_property
    def log_odds(self) -> FloatArray:
        """Calibrated log-odds of the rows."""
        return self.curves.rows.x + self.curves.polynomials(self.pieces @ self.coefficients)

    @cached_property
    def objective(self) -> float:
        """Log loss over all rows with its penalty."""
        rows, eta = self.curves.rows, self.log_odds
        # The product of two long vectors would wake all threads of BLAS, which takes longer than the sum.
        softplus = np.maximum(eta, 0.0) - np.log(np.maximum(self._prob, 1.0 - self._prob))
        loss = np.sum(rows.total * softplus - rows.events * eta)
        return float(loss + self._ridge @ self.coefficients**2 / 2.0)

    @cached_property
    def gradient(self) -> FloatArray:
        """First derivatives of the objective."""
        rows = self.curves.rows
        sums = self.curves.moments(rows.total * self._prob - rows.events, 4)
        result: FloatArray = np.einsum("gp,gpc->c", sums, self.pieces) + self._ridge * self.coefficients
        return result

    @cached_property
    def information(self) -> FloatArray:
        """Second derivatives of the log loss."""
        sums = self.curves.moments(self.curves.rows.total * self._prob * (1.0 - self._prob), 7)
        result: FloatArray = (self.pieces.transpose(0, 2, 1) @ sums[:, POWER] @ self.pieces).sum(axis=0)
        return result

    @property
    def curvature(self) -> FloatArray:
        """Second derivatives of the objective."""
        return self.information + np.diag(self._ridge)

    @property
    def certificate(self) -> float:
        """Largest component of the gradient of the mean objective."""
        return float(np.abs(self.gradient).max() / self.curves.rows.total.sum())

    @property
    def degrees_of_freedom(self) -> float:
        """Trace of the map from the rows to their fit."""
        try:
            return float(np.trace(np.linalg.solve(self.curvature, self.information)))
        except np.linalg.LinAlgError:
            return float(self.n_free)

    @property
    def leverage(self) -> FloatArray:
        """Variance of the log-odds at each row, to first order: a polynomial of degree six between knots."""
        spread = self.pieces @ np.linalg.inv(self.curvature) @ self.pieces.transpose(0, 2, 1)
        powers = np.column_stack([spread[:, k == POWER].sum(axis=1) for k in range(7)])
        return np.maximum(self.curves.polynomials(powers), 0.0)

    def improved(self, last_gain: float) -> Fit:
        """Take Newton steps until one gains no more than ``last_gain`` in the mean objective."""
        fit, weight = self, float(self.curves.rows.total.sum())
        for _ in range(MOST_STEPS):
            try:
                step = np.linalg.solve(fit.curvature, -fit.gradient)
            except np.linalg.LinAlgError:
                break
            gain, size = -float(fit.gradient @ step), 1.0
            if not np.isfinite(gain):
                break
            new = fit.moved(step)
            # Far from the optimum a step can overshoot; near it rounding would hide what it gains.
            while gain > SURE_GAIN * weight and not new.objective <= fit.objective - 1e-4 * size * gain and size > TINY:
                size /= 2.0
                new = fit.moved(size * step)
            if not np.isfinite(new.objective):
                break
            fit = new
            if gain <= last_gain * weight:
                break
        return fit

    def moved(self, step: npt.NDArray[np.floating[Any]]) -> Fit:
        """Return the fit a step further."""
        return Fit(self.curves, self.penalty, self.coefficients + step, self.steps + 1)

    def left_out_loss(self) -> float:
        """Mean log loss of each row under the curve without it, to first order; infinite where rounding hides it.

        Without a row the optimum moves by a Newton step: its own log-odds change by  -u h (y - p) / (1 - u h v), where
        h is its leverage for a weight of one, u its weight, at most one, and v = p (1 - p).
        """
        try:
            leverage = self.leverage
        except np.linalg.LinAlgError:
            return float("inf")
        rows, loss = self.curves.rows, 0.0
        for sign, all_mass in ((1.0, rows.events), (-1.0, rows.total - rows.events)):
            at = np.flatnonzero(all_mass)
            mass, prob = all_mass[at], self._prob[at]
            moved = np.minimum(1.0, mass) * leverage[at]
            missed = 1.0 - prob if sign > 0 else prob
            without = sign * self.log_odds[at] - moved * missed / (1.0 - moved * prob * (1.0 - prob))
            loss += float(np.sum(mass * (np.maximum(-without, 0.0) + np.log1p(np.exp(-np.abs(without))))))
        return loss / float(rows.total.sum()) if np.isfinite(loss) else float("inf")

    @cached_property
    def _prob(self) -> FloatArray:
        result: FloatArray = expit(self.log_odds)
        return result

    @property
    def _ridge(self) -> FloatArray:
        return self.curves.ridge(self.penalty, self.n_free)


def fits_of_all_penalties(curves: Curves) -> Iterator[Fit]:
    """Yield the best straight line, then the best curve of each penalty from the largest on."""
    fit = Fit(curves, np.inf, curves.beginning).improved(ROUGH_GAIN)
    yield fit
    if curves.knots.size == 2:
        return
    fit = Fit(curves, 0.0, np.append(fit.coefficients, np.zeros(curves.knots.size - 2)))
    bends = fit.information[2:, 2:]
    largest = float(np.linalg.eigvalsh(bends)[-1]) if np.isfinite(bends).all() else 0.0
    if largest <= 0.0:  # the line leaves nothing open that a curve could say
        return
    for factor in RELATIVE_PENALTIES:
        fit = Fit(curves, factor * largest, fit.coefficients).improved(ROUGH_GAIN)
        yield fit
