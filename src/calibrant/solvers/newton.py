"""One damped Newton: it finds the minimum of a smooth convex function, within bounds, and says how well.

A method states its function as a kind of `Point`: value, gradient, and the step that the second derivatives ask for there. How
the step is found is the method's business (`quadratic_model` for small dense Hessians); the search, its line search, its end
and its certificate are the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.solvers.quadratic_model import bounded_step, newton_step

MOST_STEPS = 500
"""Near separation a logistic regression needs about twice the logarithm of what separates, some tens."""

MOST_HALVINGS = 60

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

    @abstractmethod
    def step(self) -> FloatArray:
        """Return Newton's step from here, or one near it; where there are bounds, best one that stays within them."""

    def reach(self, step: FloatArray) -> float:
        """How far a step goes, in the units of `Stop.reach`."""
        return float(np.abs(step).sum())


P = TypeVar("P", bound=Point)


@dataclass(frozen=True, eq=False)
class DensePoint(Point):
    """A point with its whole Hessian, shape (d, d), and the lower bounds that its step has to keep, if any."""

    x: FloatArray
    value: float
    gradient: FloatArray
    hessian: FloatArray
    lower: FloatArray | None = None

    def step(self) -> FloatArray:
        """Return the step to the least value of the quadratic model."""
        if self.lower is None:
            return newton_step(self.hessian, self.gradient)
        return bounded_step(self.hessian, self.gradient, self.x - self.lower)


@dataclass(frozen=True, eq=False)
class ScalarPoint(Point):
    """A point of a function of one number, within an interval of some length; all arrays have one element."""

    x: FloatArray
    value: float
    gradient: FloatArray
    curvature: float
    length: float

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
        step = here.step()
        gain, reach, unit = -float(np.vdot(here.gradient, step)), here.reach(step), max(1.0, abs(here.value))
        last = reach <= stop.reach or gain <= stop.gain
        there = None
        if last or (np.isfinite(gain) and gain > NOTHING * unit):
            there = _further(at, here, step, gain, 1 if last else MOST_HALVINGS, (lower, upper))
        if there is None:
            return Minimum(here, residual, n_iter, last or reach <= MARGIN * stop.reach)
        here = there
        if last:
            return Minimum(here, projected(here.x, here.gradient, lower, upper), n_iter + 1, True)
    residual = projected(here.x, here.gradient, lower, upper)
    return Minimum(here, residual, MOST_STEPS, residual <= stop.residual)


def _further(
    at: Callable[[FloatArray], P], here: P, step: FloatArray, gain: float, trials: int, bounds: Any
) -> P | None:
    """Return the end of the first of the halved steps that helps, or None."""
    unit, residual = max(1.0, abs(here.value)), projected(here.x, here.gradient, *bounds)
    for length in 0.5 ** np.arange(trials):
        there = at(np.minimum(np.maximum(here.x + length * step, bounds[0]), bounds[1]))
        promised = float(np.vdot(here.gradient, here.x - there.x))
        if promised > EPS * unit and there.value <= here.value - FAIR_SHARE * promised:
            return there
        is_level = promised <= here.rounding * unit and np.isfinite(there.value)
        if is_level and (
            projected(there.x, there.gradient, *bounds) < CLEARLY * residual
            or -float(np.vdot(there.gradient, there.step())) < CLEARLY * gain
        ):
            return there
        if length * gain <= EPS * unit:
            break
    return None


def projected(
    x: FloatArray, gradient: FloatArray, lower: FloatArray | float = -np.inf, upper: FloatArray | float = np.inf
) -> float:
    """Return the largest component of the gradient that does not push against a bound."""
    slope = np.where(x <= lower, np.minimum(gradient, 0.0), gradient)
    return float(np.abs(np.where(x >= upper, np.maximum(slope, 0.0), slope)).max(initial=0.0))
