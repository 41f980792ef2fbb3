"""Logistic regression of an event on a natural cubic spline of the log-odds of its forecast, with a penalty on bending.

The spline is what is added to the log-odds: nothing added is the identity. Rows are sorted and lie between knots, where the
spline is a cubic polynomial; so all sums over rows are sums of powers between knots, and no matrix of rows is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline, PPoly
from scipy.linalg import solve_triangular
from scipy.special import expit

from calibrant._core.arrays import FloatArray
from calibrant._core.rows import IntArray
from calibrant.fit.log_loss import Recalibration
from calibrant.fit.minimise import Minimum, Point, Stop, minimise, newton_step

RELATIVE_PENALTIES = tuple(10.0 ** (2.0 - 0.5 * i) for i in range(13))
"""From 100 to 1e-4 in half powers of ten: times the information in the rows on the bend that they see best."""

EVEN = 0.01
"""Share of equally spaced knots in the places of knots, which keeps them apart where scores are tied."""

ONE_SCORE = 1e-8
"""Log-odds that differ by less, or by less of themselves, are one score: a curve through them would be rounding."""

ROUGH_GAIN, LAST_GAIN = 1e-6, 1e-20
"""Gains of Newton's last step in the mean objective, while penalties are compared and for the one that is chosen. What is left
after a step is about its square."""

WIDE = 1e4
"""Half range of log-odds from which on the search begins at a constant: at the identity all probabilities are 0 or 1."""


def knots_of(rows: Recalibration, n_knots: int) -> FloatArray:
    """Place knots at quantiles of the log-odds, from the lowest to the highest, drawn a little towards equal distances.

    Quantiles are taken from the middle of the weight at each value, so that they are the same from above and below.
    """
    x = rows.x
    rounding = ONE_SCORE * max(1.0, -x[0], x[-1])
    if x[-1] - x[0] <= rounding:
        reach = max(1.0, rounding)
        return np.array([x[0] - reach, x[0] + reach])
    middle = np.cumsum(rows.total) - rows.total / 2.0
    quantiles = np.interp(np.linspace(middle[0], middle[-1], n_knots), middle, x)
    return (1.0 - EVEN) * quantiles + EVEN * np.linspace(x[0], x[-1], n_knots)


def natural_spline(knots: FloatArray, values: FloatArray, x: FloatArray) -> FloatArray:
    """Evaluate the natural cubic spline through values at knots; straight lines outside."""
    half = (knots[-1] - knots[0]) / 2.0  # in units of it no power of a distance overflows
    place = (knots - knots[0]) / half
    spline = CubicSpline(place, values, bc_type="natural")
    result: FloatArray = spline((np.clip(x, knots[0], knots[-1]) - knots[0]) / half)
    for end, at, outside in ((knots[0], 0.0, x < knots[0]), (knots[-1], 2.0, x > knots[-1])):
        if outside.any():
            result[outside] += np.multiply.outer((x[outside] - end) / half, spline(at, 1))
    return result


def pieces_of_natural_spline(knots: FloatArray, values: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return the unit of distances from knots, the cubics between them, shape (4, knots - 1), and both slopes outside."""
    half = float(knots[-1] - knots[0]) / 2.0
    spline = CubicSpline((knots - knots[0]) / half, values, bc_type="natural")
    return half, spline.c, spline([0.0, 2.0], 1)


@dataclass(frozen=True, eq=False)
class Curves:
    """The rows, and the splines among which one is sought: the sums of a constant, a slope and bends."""

    rows: Recalibration
    knots: FloatArray

    @cached_property
    def weight(self) -> float:
        """Of all rows."""
        return float(self.rows.total.sum())

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
        return np.asarray(ascending * np.diff(self.knots)[:, None, None] ** np.arange(4)[:, None])

    @cached_property
    def starts(self) -> IntArray:
        """Where the rows of each gap between knots begin: they are sorted."""
        return np.append(0, np.searchsorted(self.rows.x, self.knots[1:-1], side="left"))

    @cached_property
    def count(self) -> IntArray:
        """Rows in each gap."""
        return np.diff(self.starts, append=self.rows.x.size)

    @cached_property
    def place(self) -> FloatArray:
        """Where between its knots each row lies, from 0 to 1."""
        return (self.rows.x - np.repeat(self.knots[:-1], self.count)) / np.repeat(np.diff(self.knots), self.count)

    def polynomials(self, powers: FloatArray) -> FloatArray:
        """Evaluate at each row the polynomial of its gap, given the coefficients, shape (gaps, degree + 1)."""
        value: FloatArray = np.repeat(powers[:, -1], self.count)
        for k in range(powers.shape[1] - 2, -1, -1):
            value *= self.place
            value += np.repeat(powers[:, k], self.count)
        return value

    def moments(self, mass: FloatArray, n_powers: int) -> FloatArray:
        """Sum mass times each power of `place` over the rows of each gap, shape (gaps, n_powers)."""
        sums, filled = np.zeros((self.starts.size, n_powers)), self.count > 0
        for k in range(n_powers):
            sums[filled, k] = np.add.reduceat(mass, self.starts[filled])
            mass = mass * self.place
        return sums

    def ridge(self, penalty: float, n_free: int) -> FloatArray:
        """Return the weight of each squared coefficient in twice the objective."""
        return np.array([1.0, self.half**-2, *[penalty] * (n_free - 2)])


POWER = np.add.outer(np.arange(4), np.arange(4))
"""Power of the product of two powers."""


@dataclass(frozen=True, eq=False)
class Curve:
    """The curve of some coefficients, and its log loss over all rows; of the first two alone it is a straight line."""

    curves: Curves
    x: FloatArray

    @property
    def pieces(self) -> FloatArray:
        """What the coefficients multiply: powers between knots."""
        return self.curves.pieces[:, :, : self.x.size]

    @cached_property
    def log_odds(self) -> FloatArray:
        """Calibrated log-odds of the rows."""
        return self.curves.rows.x + self.curves.polynomials(self.pieces @ self.x)

    @cached_property
    def prob(self) -> FloatArray:
        """Calibrated probabilities of the rows."""
        return np.asarray(expit(self.log_odds))

    @cached_property
    def loss(self) -> float:
        """Log loss."""
        rows, eta = self.curves.rows, self.log_odds
        # The product of two long vectors would wake all threads of BLAS, which takes longer than the sum.
        softplus = np.maximum(eta, 0.0) - np.log(np.maximum(self.prob, 1.0 - self.prob))
        return float(np.sum(rows.total * softplus - rows.events * eta))

    @cached_property
    def slope(self) -> FloatArray:
        """First derivatives of the log loss."""
        rows = self.curves.rows
        sums = self.curves.moments(rows.total * self.prob - rows.events, 4)
        return np.asarray(np.einsum("gp,gpc->c", sums, self.pieces))

    @cached_property
    def information(self) -> FloatArray:
        """Second derivatives of the log loss."""
        sums = self.curves.moments(self.curves.rows.total * self.prob * (1.0 - self.prob), 7)
        return np.asarray((self.pieces.transpose(0, 2, 1) @ sums[:, POWER] @ self.pieces).sum(axis=0))


@dataclass(frozen=True, eq=False)
class Fit(Point):
    """A curve with a penalty, a point of the mean objective: the log loss of a unit of weight with its penalty.

    With an infinite penalty the curve is a straight line, whose two coefficients are free.
    """

    curve: Curve
    penalty: float

    @property
    def curves(self) -> Curves:
        """The rows, and the splines among which one is sought."""
        return self.curve.curves

    @property
    def x(self) -> FloatArray:  # type: ignore[override]
        """The coefficients."""
        return self.curve.x

    @property
    def value(self) -> float:  # type: ignore[override]
        """Mean log loss with its penalty."""
        return float(self.curve.loss + self._ridge @ self.x**2 / 2.0) / self.curves.weight

    @cached_property
    def gradient(self) -> FloatArray:  # type: ignore[override]
        """First derivatives of the mean objective."""
        return (self.curve.slope + self._ridge * self.x) / self.curves.weight

    @property
    def curvature(self) -> FloatArray:
        """Second derivatives of the objective over all rows."""
        return self.curve.information + np.diag(self._ridge)

    def step(self) -> FloatArray:
        """Newton's step."""
        return newton_step(self.curvature / self.curves.weight, self.gradient)

    def improved(self, last_gain: float) -> Minimum[Fit]:
        """Take Newton steps until one gains no more than ``last_gain``."""
        return minimise(lambda x: Fit(Curve(self.curves, x), self.penalty), self, Stop(gain=last_gain))

    @property
    def degrees_of_freedom(self) -> float:
        """Trace of the map from the rows to their fit."""
        try:
            return float(np.trace(np.linalg.solve(self.curvature, self.curve.information)))
        except np.linalg.LinAlgError:
            return float(self.x.size)

    @property
    def leverage(self) -> FloatArray:
        """Variance of the log-odds at each row, to first order: a polynomial of degree six between knots."""
        spread = self.curve.pieces @ np.linalg.inv(self.curvature) @ self.curve.pieces.transpose(0, 2, 1)
        powers = np.column_stack([spread[:, k == POWER].sum(axis=1) for k in range(7)])
        return np.maximum(self.curves.polynomials(powers), 0.0)

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
            mass, prob = all_mass[at], self.curve.prob[at]
            moved = np.minimum(1.0, mass) * leverage[at]
            missed = 1.0 - prob if sign > 0 else prob
            without = sign * self.curve.log_odds[at] - moved * missed / (1.0 - moved * prob * (1.0 - prob))
            loss += float(np.sum(mass * (np.maximum(-without, 0.0) + np.log1p(np.exp(-np.abs(without))))))
        return loss / self.curves.weight if np.isfinite(loss) else float("inf")

    @property
    def _ridge(self) -> FloatArray:
        return self.curves.ridge(self.penalty, self.x.size)


def fits_of_all_penalties(curves: Curves) -> Iterator[Minimum[Fit]]:
    """Yield the best straight line, then the best curve of each penalty from the largest on."""
    found = Fit(Curve(curves, curves.beginning), np.inf).improved(ROUGH_GAIN)
    yield found
    if curves.knots.size == 2:
        return
    curve = Curve(curves, np.append(found.point.x, np.zeros(curves.knots.size - 2)))
    bends = curve.information[2:, 2:]
    largest = float(np.linalg.eigvalsh(bends)[-1]) if np.isfinite(bends).all() else 0.0
    if largest <= 0.0:  # the line leaves nothing open that a curve could say
        return
    for factor in RELATIVE_PENALTIES:
        found = Fit(curve, factor * largest).improved(ROUGH_GAIN)
        curve = found.point.curve
        yield found
