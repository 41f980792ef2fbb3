"""What the calibrators that are logistic regressions share: the least log loss, and what stands for it where there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, BoolArray
from calibrant._core.warnings import warn
from calibrant.solvers.log_odds_in_batches import BatchesOfLogOdds, Features
from calibrant.solvers.logistic import LogisticFit, fit_logistic
from calibrant.solvers.separation import Family, Spread, is_separated_by
from calibrant.sums.unread import UnreadBinary

CERTAIN = 1e-8
"""Largest component of the gradient of the mean log loss, in standardised units, at which a curve is the minimum."""

A_PART = 1000
"""Rows that are looked at before all are, to see that the classes overlap."""


class Evidence(Protocol):
    """Rows that a curve is fitted to, wherever they are."""

    def is_separated(self, family: Family) -> bool:
        """Whether a curve of the family separates the classes."""

    def fit(self, features: Features, *, smooth: bool, intercept: bool, nonnegative: bool) -> LogisticFit:
        """Minimise the mean log loss on the outcomes, or on Platt's targets."""

    def first(self, features: Features) -> float:
        """Return the value of the first column, where it is the same for all rows."""


class RowsOfLogOdds:
    """The evidence of rows in memory."""

    def __init__(self, problem: BinaryProblem) -> None:
        self.problem = problem

    def is_separated(self, family: Family) -> bool:
        """Whether a curve of the family separates the classes."""
        return is_separated(self.problem.log_odds, self.problem.outcome, family)

    def fit(self, features: Features, *, smooth: bool, intercept: bool, nonnegative: bool) -> LogisticFit:
        """Minimise the mean log loss on the outcomes, or on Platt's targets."""
        problem = self.problem
        events = problem.weight * (platt_targets(problem) if smooth else problem.outcome)
        return fit_logistic(features(problem), problem.weight, events, intercept=intercept, nonnegative=nonnegative)

    def first(self, features: Features) -> float:
        """Return the value of the first column, where it is the same for all rows."""
        return float(features(self.problem)[0][0])


def least_log_loss(
    problem: BinaryProblem,
    features: Features,
    family: Family,
    *,
    smooth: bool = False,
    otherwise: Features | None = None,
) -> LogisticFit:
    """Return the curve of the family with the least mean log loss on the problem, whose rows may be read in batches.

    Where the log loss has no minimum, as the classes are separated or one is absent, and where ``smooth`` asks for it, it is
    that on Platt's targets, which has one. Of scores that are all equal the slope, the coefficient of the first column, is
    1: log-odds are shifted. Where rows do not determine all coefficients, the columns ``otherwise`` take the place of
    the others.
    """
    intercept, nonnegative = family != "rising through zero", family.startswith("rising")
    evidence: Evidence = BatchesOfLogOdds(problem) if isinstance(problem, UnreadBinary) else RowsOfLogOdds(problem)

    def fit(features: Features) -> tuple[LogisticFit, bool]:
        """Fit, and whether it is to the outcomes themselves."""
        if not smooth and not evidence.is_separated(family):
            found = evidence.fit(features, smooth=False, intercept=intercept, nonnegative=nonnegative)
            if found.converged:
                return found, True
        return evidence.fit(features, smooth=True, intercept=intercept, nonnegative=nonnegative), smooth

    found, as_wanted = fit(features)
    if otherwise is not None and found.rank < found.coef.size + intercept:
        features = otherwise
        found, as_wanted = fit(features)
    if not as_wanted:
        _warn_of_separation(problem)
    if not found.converged or found.gradient > CERTAIN:
        _warn(
            "the log loss must have a minimum that rounding shows, with a gradient of at most "
            f"{CERTAIN:g} in standardised units; got {found.gradient:.1e}: Newton's method has not reached it",
            "the last step",
        )
    if found.rank == intercept:
        ahead = np.zeros(found.coef.size)
        ahead[0] = 1.0
        found = replace(found, coef=ahead, intercept=found.intercept - evidence.first(features))
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

    def any_inside(of_events: bool | None, low: float, high: float) -> bool:
        return _any_inside(x if of_events is None else x[outcome == of_events], low, high)

    return is_separated_by(Spread.of_log_odds(x, outcome), family, any_inside)


def _has_three_values(x: FloatArray) -> bool:
    return _any_inside(x, float(x.min()), float(x.max()))


def _any_inside(x: FloatArray, low: float, high: float) -> bool:
    return bool(((x > low) & (x < high)).any())


def _warn_of_separation(problem: BinaryProblem) -> None:
    where = f" for {problem.name!r}" if problem.name else ""
    _warn(
        f"both classes must occur, and their scores overlap, for the log loss to have a minimum; it keeps falling{where}",
        "the minimum of Platt's smoothed targets",
    )


def _warn(what: str, answer: str) -> None:
    warn(f"{what}. Instead {answer} is used. Fit on more rows.", ConvergenceWarning)
