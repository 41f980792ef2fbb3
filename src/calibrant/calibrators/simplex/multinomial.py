"""What vector, matrix, Dirichlet and structured scaling share: the fit of a table, its units, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, number
from calibrant._core.problem import BoolArray, Forecast, SimplexProblem
from calibrant._core.warnings import warn
from calibrant.calibrators.simplex.table_rows import TableRows
from calibrant.calibrators.simplex.temperature import TemperatureScaling
from calibrant.solvers.multinomial import BLOCK, LEAST_ROWS, TOLERANCE, Design, Full
from calibrant.sums.unread import UnreadSimplex

Logits = Literal["as-given", "log-softmax", "reference"]
"""Which of the logits that stand for one forecast: as they were given, log-probabilities, or less that of the last class."""

TINY_RIDGE = 1e-8
"""Ridge of a parameter that a method leaves free: it decides what the data leave open, and moves nothing else that shows."""

ORDINARY = 1e6
"""Size of log-probabilities beyond which they are measured in units of the largest: squares would overflow."""

SMALL, SMALLEST = 0.5, 1e-100
"""Size of logits below which they are measured in units of twice the largest, and the smallest unit. Log-probabilities are
never as small: weights of tiny logits must be large, and a ridge in the usual units would hold them where they are."""

MOST_EXPONENT = 100.0

STRONGEST = 1e100
"""Largest ridge."""


class Fitted(NamedTuple):
    """The table found, the largest component of the gradient there, and the steps taken."""

    table: FloatArray
    gradient: float
    steps: int


def fit_table(
    design: Design, rows: TableRows, problem: SimplexProblem, ridge: FloatArray, centre: FloatArray, start: FloatArray
) -> Fitted:
    """Minimise the objective; say so where its certificate is not met, or nothing but the smallest ridge holds the table."""
    free = ridge <= TINY_RIDGE
    unit, tiny = np.ones_like(centre), np.full_like(centre, TINY_RIDGE)
    largest = rows.largest
    if largest > ORDINARY:
        unit[design.slopes] = largest
        rows, start = rows.in_units(largest), start / unit
        # So far from a weight of one the pull to it is that to zero, which leaves the table its digits.
        centre = np.where(free & (unit > 1.0), 0.0, centre)
    elif largest < SMALL:
        unit[design.slopes] = size = max(largest / SMALL, SMALLEST)
        rows, start, tiny = rows.in_units(size), start * unit, tiny * unit**2
    ridge = np.where(free, tiny, ridge)
    objective = rows.objective(design, np.minimum(ridge / unit**2, STRONGEST), centre * unit)
    with np.errstate(over="ignore", invalid="ignore"):
        minimum = objective.minimum(start)
    found = Fitted(minimum.point.x, minimum.residual, minimum.n_iter)
    rounding = float(
        (2.0 * objective.ridge * np.spacing(np.abs(found.table))).max()
    )  # of a heavy penalty's own gradient
    if not found.gradient <= (most := TOLERANCE * objective.scale + rounding):
        warn(
            f"the largest component of the gradient must fall below {most:.1e}; it is {found.gradient:.1e} after "
            f"{found.steps} Newton steps. The last table is used. Fit on more rows, or with a larger penalty.",
            ConvergenceWarning,
        )
    elif why := _held_by_ridge(design, rows, problem.classes, free, found.table - objective.centre):
        warn(
            f"every class must occur, and classes overlap, for the log loss to have a minimum; {why}: only the ridge penalty "
            f"of {TINY_RIDGE:g} keeps the map finite. Fit on more rows, or with a larger penalty.",
            ConvergenceWarning,
        )
    return found._replace(table=found.table / unit)


def _held_by_ridge(
    design: Design, rows: TableRows, classes: npt.NDArray[np.generic], free: BoolArray, change: FloatArray
) -> str | None:
    """Why the log loss falls for ever along what is free, or None if no reason is seen.

    What is looked at is enough for it and cheap, and not all that there can be: absent classes, the way of the forecast
    itself, and the way from the centre to the table found. A way along which no row loses and some row gains is one.
    """
    ahead = np.zeros_like(change)
    ahead[design.slopes] = np.eye(classes.size) if isinstance(design, Full) else 1.0
    if not free[ahead > 0].all():
        return None
    occurred = rows.occurred()
    if not occurred.all():
        return f"the class {classes[int(np.argmin(occurred))]!s} does not occur"
    return "the classes are separated" if any(rows.put_right(design, (ahead, np.where(free, change, 0.0)))) else None


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


def temperature_of(problem: SimplexProblem) -> float:
    """Temperature of the best scaling."""
    scaling = TemperatureScaling()
    if not isinstance(problem, UnreadSimplex):
        problem = replace(problem, forecast=Forecast(log_prob_of(problem.forecast), is_logit=True))
    scaling._fit(problem)
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
