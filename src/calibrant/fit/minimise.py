"""One damped Newton for smooth convex functions within bounds, and the most likely shares of a mixture by it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from scipy.linalg.lapack import dposv

from calibrant._core.arrays import FloatArray, blocks

# The least value of a quadratic model  gradient @ step + step @ hessian @ step / 2, without bounds and with lower ones


MORE_CURVATURE = (0.0, *10.0 ** np.arange(-12.0, 4.0))
"""Added in turn to the diagonal, relative to its largest entry, until the Hessian is positive definite: where probabilities are
all but certain, rounding can be as large as the Hessian itself."""

MOST_PIVOTS = 200
"""Sets of coordinates at their bounds that are tried for one step: some three are needed."""

MOST_TRIALS = 3
"""Of them, those that may follow each other without an improvement, until one coordinate is changed at a time."""

ROUNDING_OF_PULLS = 1e-12
"""Pulls that are no more than this part of the largest slope are rounding."""


def newton_step(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return the step to the least value of the model, shape (d,); NaN where there is no curvature."""
    for more in MORE_CURVATURE:
        if more:
            hessian = hessian.copy()
            hessian[np.diag_indices(gradient.size)] += more * float(np.abs(hessian.diagonal()).max())
        _, step, failed = dposv(hessian, -gradient)
        if not failed:
            return np.asarray(step, dtype=np.float64)
    return np.full(gradient.size, np.nan)


def bounded_step(hessian: FloatArray, gradient: FloatArray, room: FloatArray) -> FloatArray:
    """Return the step to the least value of the model among those of which no component is below ``-room``.

    By block principal pivoting (Portugal, Judice and Vicente 1994): coordinates that a step takes beyond their bounds go to
    them, and those at bounds that the model pulls up come back, all at once as long as there are fewer of them each time, else
    one by one. Were none to come back, the step could go up.

    Parameters
    ----------
    hessian : ndarray of shape (d, d)
        Positive definite.
    gradient : ndarray of shape (d,)
        Slope of the model where the step begins.
    room : ndarray of shape (d,)
        Distance of each coordinate from its lower bound, at least 0; infinite where it has none.

    Returns
    -------
    ndarray of shape (d,)
        Downhill, also where the pivots run out.
    """
    step, inside = newton_step(hessian, gradient), np.ones(room.size, dtype=np.bool_)
    if (step >= -room).all():
        return step
    fewest, trials = room.size + 1, MOST_TRIALS
    least_pull = -ROUNDING_OF_PULLS * float(np.abs(gradient).max())
    for _ in range(MOST_PIVOTS):
        wrong = np.where(inside, step < -room, gradient + hessian @ step < least_pull)
        n_wrong = int(wrong.sum())
        if n_wrong == 0:
            break
        if n_wrong < fewest:
            fewest, trials = n_wrong, MOST_TRIALS
        elif trials > 0:
            trials -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        inside ^= wrong
        step = np.where(inside, 0.0, -room)
        if inside.any():
            pull = (gradient + hessian @ step)[inside]
            step[inside] = newton_step(hessian[np.ix_(inside, inside)], pull)
    step = np.maximum(step, -room)
    return step if gradient @ step < 0.0 else np.maximum(-gradient / hessian.diagonal().max(), -room)


# One damped Newton: it finds the minimum of a smooth convex function, within bounds, and says how well


MOST_STEPS = 500
"""Near separation a logistic regression needs about twice the logarithm of what separates, some tens."""

HALVED = 0.5 ** np.arange(60)
"""Parts of a step that are tried, one after the other."""

FAIR_SHARE = 1e-4
"""Part of the gain that the slope promises which a step must bring."""

ROUNDING = 1e-10
"""Gain, in units of the value (or 1, if larger), below which a step may also show by the gradient that it helps."""

CLEARLY = 0.9
"""Part of the gradient that may be left after such a step: rounding alone soon finds nothing so much smaller."""

EPS = float(np.finfo(np.float64).eps)
"""Gain, in the same units, that the value cannot show."""

NOTHING = 1e-30
"""Gain, in the same units, of long steps where the value falls for ever."""

MARGIN = 100.0
"""How much further than `Stop.reach` a step may go that rounding alone makes."""


class Point(ABC):
    """A convex function at one place ``x``: ``value``, and ``gradient``, of the shape of ``x``."""

    x: FloatArray
    value: float
    gradient: FloatArray

    rounding: float = ROUNDING
    """See `ROUNDING`: larger where the value has been worked out in single precision."""

    length_unit: float = 1.0
    """What a step is measured in, beside `Stop.reach`."""

    @abstractmethod
    def step(self) -> FloatArray:
        """Return Newton's step from here, or one near it; where there are bounds, best one that stays within them."""


P = TypeVar("P", bound=Point)


@dataclass(frozen=True, eq=False)
class DensePoint(Point):
    """A point with its whole Hessian, shape (d, d), and the lower bounds that its step has to keep."""

    x: FloatArray
    value: float
    gradient: FloatArray
    hessian: FloatArray
    lower: FloatArray | float = -np.inf

    def step(self) -> FloatArray:
        """Return the step to the least value of the quadratic model."""
        return bounded_step(self.hessian, self.gradient, self.x - self.lower)


@dataclass(frozen=True, eq=False)
class ScalarPoint(Point):
    """A point of a function of one number, within an interval of some length; all arrays have one element.

    A step is measured as a part of the number, where that is not zero.
    """

    x: FloatArray
    value: float
    gradient: FloatArray
    curvature: float
    length: float
    length_unit: float = 1.0

    def step(self) -> FloatArray:
        """Return Newton's step; across the interval where that is longer, or where rounding has lost the curvature."""
        with np.errstate(divide="ignore", over="ignore"):
            step: FloatArray = np.clip(-self.gradient / max(self.curvature, 0.0), -self.length, self.length)
        return step


@dataclass(frozen=True)
class Stop:
    """Where the search ends: what holds first.

    Convergence is quadratic where steps are Newton's own: after a short last step the error is about its square.

    Attributes
    ----------
    residual : float
        At a point whose projected gradient has no larger component.
    gain : float
        After a step that was to lower the value by no more.
    reach : float
        After a step that went no further.
    """

    residual: float = 0.0
    gain: float = 0.0
    reach: float = 0.0


@dataclass(frozen=True, eq=False)
class Minimum(Generic[P]):
    """Where the search ended, with its certificate.

    Attributes
    ----------
    point : Point
        The last one.
    residual : float
        Largest component there of the projected gradient: what pushes against a bound does not count.
    n_iter : int
        Steps taken.
    converged : bool
        Whether the search ended as `Stop` says, and not because nothing helped or steps ran out.
    """

    point: P
    residual: float
    n_iter: int
    converged: bool


def minimise(
    at: Callable[[FloatArray], P],
    start: FloatArray | P,
    stop: Stop,
    *,
    lower: FloatArray | float = -np.inf,
    upper: FloatArray | float = np.inf,
) -> Minimum[P]:
    """Find the minimum of a convex function within bounds by Newton's steps, each halved until it helps.

    A step helps if it brings a fair share of the gain that the slope promises. Where rounding hides that, it helps if it makes
    the projected gradient smaller, or the gain of the next step: so none is taken that rises by more than rounding. Where none
    helps the search ends.
    [Bertsekas, Projected Newton methods for optimization problems with simple constraints, 1982]

    Parameters
    ----------
    at : callable
        Evaluates the function.
    start : ndarray or Point
        Where to begin, moved into the bounds; or what is known there.
    stop : Stop
        When to end.
    lower, upper : ndarray or float
        Bounds, of the shape of ``start`` or one for all.

    Returns
    -------
    Minimum
        The last point, and how far it is from fulfilling the conditions of a minimum.
    """
    here = start if isinstance(start, Point) else at(np.minimum(np.maximum(start, lower), upper))
    for n_iter in range(MOST_STEPS):
        residual = projected(here.x, here.gradient, lower, upper)
        if residual <= stop.residual:
            return Minimum(here, residual, n_iter, True)
        step, unit = here.step(), max(1.0, abs(here.value))
        gain, reach = -float(np.vdot(here.gradient, step)), float(np.abs(step).sum()) / here.length_unit
        last = reach <= stop.reach or gain <= stop.gain
        falls = last or (np.isfinite(gain) and gain > NOTHING * unit)
        lengths = HALVED[:1] if last else HALVED[np.append(True, HALVED[:-1] * gain > EPS * unit)]
        for length in lengths if falls else ():
            there = at(np.minimum(np.maximum(here.x + length * step, lower), upper))
            promised = float(np.vdot(here.gradient, here.x - there.x))
            if promised > EPS * unit and there.value <= here.value - FAIR_SHARE * promised:
                break
            is_level = promised <= here.rounding * unit and np.isfinite(there.value)
            if is_level and (
                projected(there.x, there.gradient, lower, upper) < CLEARLY * residual
                or -float(np.vdot(there.gradient, there.step())) < CLEARLY * gain
            ):
                break
        else:
            return Minimum(here, residual, n_iter, last or reach <= MARGIN * stop.reach)
        here = there
        if last:
            return Minimum(here, projected(here.x, here.gradient, lower, upper), n_iter + 1, True)
    residual = projected(here.x, here.gradient, lower, upper)
    return Minimum(here, residual, MOST_STEPS, residual <= stop.residual)


def projected(
    x: FloatArray, gradient: FloatArray, lower: FloatArray | float = -np.inf, upper: FloatArray | float = np.inf
) -> float:
    """Return the largest component of the gradient that does not push against a bound."""
    slope = np.where(x <= lower, np.minimum(gradient, 0.0), gradient)
    return float(np.abs(np.where(x >= upper, np.maximum(slope, 0.0), slope)).max(initial=0.0))


RIDGE = 1e-10
"""Added to the diagonal of a Hessian, relative to it: columns may depend on each other."""

END = Stop(residual=1e-14, gain=1e-20)
"""Rounding allows no smaller residual; and after a step of so small a gain what is left is about its square."""

EM_STEPS, MOST_EM_STEPS = 5, 200
FAST_EM = 0.5
"""EM goes on while each step makes the gap so much smaller: a Newton step costs as much as K of them."""

FEW = 3
"""Parts up to which Newton's steps cost no more than those of EM."""

BLOCK = 1 << 18
"""Numbers worked on at a time in the Hessian."""


def most_likely_shares(density: FloatArray, weight: FloatArray, start: FloatArray) -> Minimum[Shares]:
    """Maximise  mean log(density @ q)  over shares q that sum to one.

    The problem is concave. With g the gradient, q'g = 1, and for the best shares q* concavity gives
    L(q*) - L(q) <= g'(q* - q) <= max g - 1: the gap is a certificate. EM multiplies q by g (Saerens et al., eq. 2.9); it climbs
    with every step, slowly at the end. So where its steps do not halve the gap, Newton's follow, for the minimum of
    sum x - mean log(density @ x)  over x >= 0: scaling x up gains as much as it costs exactly where its sum is one.

    Parameters
    ----------
    density : ndarray of shape (n, K)
        Density of each row in each part, up to a factor a row; not all zero in any row.
    weight : ndarray of shape (n,)
        Weights of the rows, with a positive sum.
    start : ndarray of shape (K,)
        Positive shares that sum to one.

    Returns
    -------
    Minimum
        The point has the shares ``x``, shape (K,), at least 0, their sum one; the gap; and the ``hessian`` of minus the mean
        log-likelihood. Steps are those of EM and of Newton.
    """
    share = weight / weight.sum()

    def at(x: FloatArray) -> Shares:
        """Evaluate where the loss is least on the way from 0 through x."""
        shares = x / x.sum()
        return Shares(density, share, shares, density @ shares)

    point, em_steps, before = at(start), 0, np.inf
    first, most = (EM_STEPS, MOST_EM_STEPS) if start.size > FEW else (0, 0)
    while em_steps < first or (em_steps < most and END.residual < point.gap < FAST_EM * before):
        before = point.gap
        point, em_steps = at(np.maximum(point.x * (1.0 - point.gradient), LEAST_SHARE)), em_steps + 1
    found = minimise(at, point, END, lower=0.0)
    return replace(found, n_iter=em_steps + found.n_iter)


LEAST_SHARE = 1e-300
"""A share that a step of EM leaves; of 0 rows that one part alone explains would have density zero."""


@dataclass(frozen=True, eq=False)
class Shares(Point):
    """The function  sum x - mean log(density @ x)  at some shares, with weights of rows that sum to one."""

    density: FloatArray
    weight: FloatArray
    x: FloatArray
    mixed: FloatArray

    @cached_property
    def value(self) -> float:  # type: ignore[override]
        """Infinite where some row has density zero."""
        with np.errstate(divide="ignore"):
            return 1.0 - float(self.weight @ np.log(self.mixed))

    @cached_property
    def gradient(self) -> FloatArray:  # type: ignore[override]
        """One minus the mean of density over mixture."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1.0 - (self.weight / self.mixed) @ self.density

    @property
    def gap(self) -> float:
        """What the mean log-likelihood lacks at most, in nats."""
        return max(-float(self.gradient.min()), 0.0)

    @cached_property
    def hessian(self) -> FloatArray:
        """Mean outer product of density / mixture."""
        n, n_parts = self.density.shape
        total = np.zeros((n_parts, n_parts))
        root = np.sqrt(self.weight) / self.mixed
        for some in blocks(n, n_parts, BLOCK):
            rows = self.density[some] * root[some, None]
            total += rows.T @ rows
        return total

    def step(self) -> FloatArray:
        """Return the step to the least value of the quadratic model over shares that are not negative."""
        hessian, diagonal = self.hessian.copy(), self.hessian.diagonal()
        hessian[np.diag_indices(self.x.size)] += RIDGE * (diagonal + diagonal.mean())
        return bounded_step(hessian, self.gradient, self.x)
