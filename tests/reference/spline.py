"""The penalised log loss of a natural spline that is added to log-odds, and its minimum by a generic optimiser."""

import math

import numpy as np
from reference.cdf_spline import natural, value_and_slope
from scipy.optimize import minimize


def deviation(knots, values, x):
    """Natural cubic spline; straight lines outside the knots."""
    bends = natural(knots, values)
    for end in (knots[0], knots[-1]):
        if (x < end) if end == knots[0] else (x > end):
            value, slope = value_and_slope(knots, values, bends, end)
            return value + slope * (x - end)
    return value_and_slope(knots, values, bends, x)[0]


def roughness(knots, values):
    """Integral of the squared second derivative, which is linear between knots."""
    bends = natural(knots, values)
    left, right = bends[:-1], bends[1:]
    return np.diff(knots) @ (left**2 + left * right + right**2) / 3


def deviations(x, knots):
    """Of the spline that is one at one knot and zero at the others, at each x, for each knot: d is a sum of these."""
    return np.array([[deviation(knots, list(values), z) for values in np.eye(len(knots))] for z in x])


def objective(x, outcome, weight, knots, values, penalty, centre, at_rows=None):
    """Penalty infinite: the values must lie on a line, and bending costs nothing.

    The line is the least-squares line through the values at the knots, and its value is that at the centre.
    """
    at_rows = deviations(x, knots) if at_rows is None else at_rows
    eta = (1 - 2 * np.asarray(outcome)) * (x + at_rows @ values)
    line = np.polyfit(np.asarray(knots) - centre, values, 1)
    bending = 0.0 if math.isinf(penalty) else penalty * roughness(knots, values)
    return weight @ np.logaddexp(0.0, eta) + (line @ line + bending) / 2


def fit(x, outcome, weight, knots, penalty, centre):
    """Return the values at the knots that minimise the objective."""
    knots = np.asarray(knots, dtype=float)
    span = np.column_stack([np.ones(knots.size), knots - centre]) if math.isinf(penalty) else np.eye(knots.size)
    at_rows = deviations(x, knots)
    found = minimize(
        lambda c: objective(x, outcome, weight, knots, span @ c, penalty, centre, at_rows),
        np.zeros(span.shape[1]),
        method="BFGS",
        options={"gtol": 1e-6, "maxiter": 2000},
    )
    return span @ found.x
