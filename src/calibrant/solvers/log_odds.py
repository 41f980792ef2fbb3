"""What the calibrators that are logistic regressions share: the least log loss, and what stands for it where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, BoolArray
from calibrant._core.warnings import warn
from calibrant.solvers.logistic import LogisticFit, fit_logistic

CERTAIN = 1e-8
"""Largest component of the gradient of the mean log loss, in standardised units, at which a curve is the minimum."""

A_PART = 1000
"""Rows that are looked at before all are, to see that the classes overlap."""

Family = Literal["straight", "rising", "rising through zero", "bent"]
"""Curves of the log-odds: a + b x; increasing ones with an intercept, or with the value 0 at 0; and a + b x + c x^2."""


def least_log_loss(
    problem: BinaryProblem,
    columns: Sequence[FloatArray],
    family: Family,
    *,
    smooth: bool = False,
    otherwise: Sequence[FloatArray] | None = None,
) -> LogisticFit:
    """Return the curve of the family with the least mean log loss on the problem.

    Where the log loss has no minimum, as the classes are separated or one is absent, and where ``smooth`` asks for it, it is
    that on Platt's targets, which has one. Of scores that are all equal the slope, the coefficient of the first column, is
    1: log-odds are shifted. Where rows do not determine all coefficients, the columns ``otherwise`` take the place of
    the others.
    """
    intercept, nonnegative = family != "rising through zero", family.startswith("rising")

    def fit(columns: Sequence[FloatArray]) -> tuple[LogisticFit, bool]:
        """Fit, and whether it is to the outcomes themselves."""
        if not smooth and not is_separated(problem.log_odds, problem.outcome, family):
            found = fit_to(columns, problem.weight * problem.outcome)
            if found.converged:
                return found, True
        return fit_to(columns, problem.weight * platt_targets(problem)), smooth

    def fit_to(columns: Sequence[FloatArray], events: FloatArray) -> LogisticFit:
        return fit_logistic(columns, problem.weight, events, intercept=intercept, nonnegative=nonnegative)

    found, as_wanted = fit(columns)
    if otherwise is not None and found.rank < len(columns) + intercept:
        columns = otherwise
        found, as_wanted = fit(columns)
    if not as_wanted:
        _warn_of_separation(problem)
    if not found.converged or found.gradient > CERTAIN:
        _warn(
            "the log loss must have a minimum that rounding shows, with a gradient of at most "
            f"{CERTAIN:g} in standardised units; got {found.gradient:.1e}: Newton's method has not reached it",
            "the last step",
        )
    if found.rank == intercept:
        ahead = np.zeros(len(columns))
        ahead[0] = 1.0
        found = replace(found, coef=ahead, intercept=found.intercept - float(columns[0][0]))
    return found


def platt_targets(problem: BinaryProblem) -> FloatArray:
    """Return the targets of Platt in place of ones and zeros: Laplace's rule of succession for each class."""
    occurred = float(problem.weight @ problem.outcome) * problem.weights.rows_per_weight
    stayed = problem.weights.rows - occurred
    return np.where(problem.outcome, (occurred + 1.0) / (occurred + 2.0), 1.0 / (stayed + 2.0))


def is_separated(x: FloatArray, outcome: BoolArray, family: Family) -> bool:
    """Whether a curve of the family, not zero on all rows, is nowhere negative at an event and nowhere positive elsewhere.

    Then its multiples lower the log loss for ever; if there is none, the log loss has a minimum.
    """
    if x.size > A_PART and not is_separated(x[:A_PART], outcome[:A_PART], family) and _has_three_values(x[:A_PART]):
        return False  # a curve that separates all rows separates a part of them, and is not zero at three scores
    events, rest = x[outcome], x[~outcome]
    if family == "rising through zero":
        return bool(events.min(initial=np.inf) >= 0.0 >= rest.max(initial=-np.inf) and x.any())
    if not events.size or not rest.size:
        return True
    if x.min() == x.max():
        return False
    above = bool(events.min() >= rest.max())
    if family == "rising":
        return above
    if family == "straight" or not _has_three_values(x):
        return above or bool(events.max() <= rest.min())
    # A parabola is positive inside an interval or outside it; its two zeros can lie on rows of both classes.
    return not _any_inside(rest, events.min(), events.max()) or not _any_inside(events, rest.min(), rest.max())


def _has_three_values(x: FloatArray) -> bool:
    return _any_inside(x, x.min(), x.max())


def _any_inside(x: FloatArray, low: np.float64, high: np.float64) -> bool:
    return bool(((x > low) & (x < high)).any())


def _warn_of_separation(problem: BinaryProblem) -> None:
    where = f" for {problem.name!r}" if problem.name else ""
    _warn(
        f"both classes must occur, and their scores overlap, for the log loss to have a minimum; it keeps falling{where}",
        "the minimum of Platt's smoothed targets",
    )


def _warn(what: str, answer: str) -> None:
    warn(f"{what}. Instead {answer} is used. Fit on more rows.", ConvergenceWarning)
