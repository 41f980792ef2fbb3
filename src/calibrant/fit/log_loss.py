"""What the calibrators that are logistic regressions share: the least log loss, and what stands for it where there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.arrays import FloatArray
from calibrant._core.rows import BinaryProblem, BoolArray, Problem
from calibrant.exceptions import warn
from calibrant.fit.minimise import EPS, DensePoint, Minimum, Stop, minimise, projected
from calibrant.sums.reading import UnreadBinary, refuse_rows
from calibrant.sums.sums import CellProblem

# Logistic regression of a binary problem on a few columns, and recalibration by it on the log-odds of the forecast


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


# Whether a curve of log-odds separates the classes, so that its multiples lower the log loss for ever


Family = Literal["straight", "rising", "rising through zero", "bent"]
"""Curves of the log-odds: a + b x; increasing ones with an intercept, or with the value 0 at 0; and a + b x + c x^2."""

AnyInside = Callable[[bool | None, float, float], bool]
"""Whether log-odds lie inside an interval: those of events (True), of non-events (False), or of any row (None)."""


@dataclass(frozen=True)
class Spread:
    """Least and largest log-odds of rows with the event and of others; infinite, the least above, where there are none."""

    event_least: float
    event_largest: float
    other_least: float
    other_largest: float

    @classmethod
    def of(cls, problem: BinaryProblem) -> Spread:
        """Look at rows."""
        return cls.of_log_odds(problem.log_odds, problem.outcome)

    @classmethod
    def of_log_odds(cls, x: FloatArray, outcome: BoolArray) -> Spread:
        """Look at log-odds."""
        events, rest = x[outcome], x[~outcome]
        of_events = float(events.min(initial=np.inf)), float(events.max(initial=-np.inf))
        return cls(*of_events, float(rest.min(initial=np.inf)), float(rest.max(initial=-np.inf)))

    def __add__(self, other: Spread) -> Spread:
        return Spread(
            min(self.event_least, other.event_least),
            max(self.event_largest, other.event_largest),
            min(self.other_least, other.other_least),
            max(self.other_largest, other.other_largest),
        )

    @property
    def least(self) -> float:
        """Least log-odds of all rows."""
        return min(self.event_least, self.other_least)

    @property
    def largest(self) -> float:
        """Largest log-odds of all rows."""
        return max(self.event_largest, self.other_largest)

    @staticmethod
    def inside(problem: BinaryProblem, of_events: bool | None, low: float, high: float) -> int:
        """Count the rows whose log-odds lie inside an interval."""
        x = problem.log_odds if of_events is None else problem.log_odds[problem.outcome == of_events]
        return int(((x > low) & (x < high)).sum())


def is_separated_by(spread: Spread, family: Family, any_inside: AnyInside) -> bool:
    """Whether a curve of the family, not zero on all rows, is nowhere negative at an event and nowhere positive elsewhere."""
    if family == "rising through zero":
        some = spread.least != 0.0 or spread.largest != 0.0
        return spread.event_least >= 0.0 >= spread.other_largest and some
    if spread.event_least > spread.event_largest or spread.other_least > spread.other_largest:
        return True
    if spread.least == spread.largest:
        return False
    above = spread.event_least >= spread.other_largest
    if family == "rising":
        return above
    if family == "straight" or not any_inside(None, spread.least, spread.largest):
        return above or spread.event_largest <= spread.other_least
    # A parabola is positive inside an interval or outside it; its two zeros can lie on rows of both classes.
    return not any_inside(False, spread.event_least, spread.event_largest) or not any_inside(
        True, spread.other_least, spread.other_largest
    )


# Logistic regression of rows that are read in batches: sums of gradients and second derivatives, a reading for each step


Features = Callable[[BinaryProblem], Sequence[FloatArray]]
"""Columns of a regression, each of shape (n,), of a problem or of a batch of its rows."""


@dataclass(frozen=True, eq=False)
class Extent:
    """Weight of the rows, that of the events, and of each column the weighted sum, the least and the largest value."""

    weight: float
    events: float
    rows: int
    are_counts: bool
    sums: FloatArray
    least: FloatArray
    largest: FloatArray

    @classmethod
    def of(cls, problem: BinaryProblem, columns: Sequence[FloatArray]) -> Extent:
        """Read a batch."""
        weight, table = problem.weight, np.array([*columns], dtype=np.float64)
        least, largest = table.min(axis=1, initial=np.inf), table.max(axis=1, initial=-np.inf)
        events = float(weight @ problem.outcome)
        return cls(
            problem.weights.total, events, problem.size, problem.weights.are_counts, table @ weight, least, largest
        )

    def __add__(self, other: Extent) -> Extent:
        return Extent(
            self.weight + other.weight,
            self.events + other.events,
            self.rows + other.rows,
            self.are_counts and other.are_counts,
            self.sums + other.sums,
            np.minimum(self.least, other.least),
            np.maximum(self.largest, other.largest),
        )

    @property
    def centre(self) -> FloatArray:
        """Mean of each column."""
        return self.sums / self.weight

    @property
    def targets(self) -> tuple[float, float]:
        """Platt's targets of rows without and with the event."""
        a_row = 1.0 if self.are_counts else self.rows / self.weight
        occurred, stayed = self.events * a_row, (self.weight - self.events) * a_row
        return 1.0 / (stayed + 2.0), (occurred + 1.0) / (occurred + 2.0)


class BatchesOfLogOdds:
    """The evidence of rows that are read in batches."""

    def __init__(self, problem: UnreadBinary) -> None:
        self.problem = problem

    @property
    def name(self) -> str:
        """Name of the problem."""
        return self.problem.name

    @cached_property
    def spread(self) -> Spread:
        """Least and largest log-odds of rows with the event and of others."""
        return self.problem.reduce(lambda batch, _: Spread.of(_binary(batch)))

    def is_separated(self, family: Family) -> bool:
        """Whether a curve of the family separates the classes."""
        spread = self.spread

        def any_inside(of_events: bool | None, low: float, high: float) -> bool:
            return self.problem.reduce(lambda batch, _: spread.inside(_binary(batch), of_events, low, high)) > 0

        return is_separated_by(spread, family, any_inside)

    def first(self, features: Features) -> float:
        """Return the value of the first column, where it is the same for all rows."""
        return float(self.extent(features).least[0])

    def extent(self, features: Features) -> Extent:
        """Read the rows for the extent of the columns."""
        return self.problem.reduce(lambda batch, _: Extent.of(_binary(batch), features(_binary(batch))))

    def fit(self, features: Features, *, smooth: bool, intercept: bool, nonnegative: bool) -> LogisticFit:
        """Minimise the mean log loss on the outcomes, or on Platt's targets."""
        extent = self.extent(features)
        loss = _Loss(self.problem, features, extent, extent.targets if smooth else (0.0, 1.0), intercept)
        n_columns = extent.sums.size
        total, events = extent.weight, loss.events
        start = np.zeros(n_columns + intercept)
        with np.errstate(divide="ignore"):
            rate = np.log(events) - np.log(total - events)
        if intercept:
            start[0] = rate
        if not np.isfinite(start).all():
            return LogisticFit(0.0, np.zeros(n_columns), np.inf, 0, False, int(intercept))
        first = loss.at(start)
        # With one probability for all rows the second derivatives are p (1 - p) times the products of the columns.
        kept = independent(first.hessian)
        lower = np.array([-np.inf] * intercept + [0.0 if nonnegative else -np.inf] * n_columns)[kept]
        bounded = np.isfinite(lower).any()

        def at(theta: FloatArray) -> DensePoint:
            whole = np.zeros(start.size)
            whole[kept] = theta
            return _of_kept(loss.at(whole), kept, lower if bounded else None)

        found = minimise(at, _of_kept(first, kept, lower if bounded else None), Stop(reach=LAST_STEP), lower=lower)
        theta = np.zeros(start.size)
        theta[kept] = found.point.x / loss.scale[kept]
        theta[0] -= loss.centre @ theta if intercept else 0.0
        constant, coef = (float(theta[0]), theta[1:]) if intercept else (0.0, theta)
        return LogisticFit(constant, coef, found.residual, found.n_iter, found.converged, len(kept))


class _Loss:
    """The mean log loss as a function of the coefficients of standardised columns, as `fit_logistic` standardises them."""

    def __init__(
        self,
        problem: UnreadBinary,
        features: Features,
        extent: Extent,
        targets: tuple[float, float],
        intercept: bool,
    ) -> None:
        self.problem, self.features, self.targets, self.intercept = problem, features, targets, intercept
        self.weight = extent.weight
        centre = extent.centre if intercept else np.zeros(extent.sums.size)
        largest = np.maximum(extent.largest, -extent.least)
        scale = np.maximum(extent.largest - centre, centre - extent.least)
        self.constant = scale <= EXPLAINED * largest
        scale = np.where(self.constant, 1.0, scale)
        self.centre = np.append(np.zeros(int(intercept)), centre)
        self.scale = np.append(np.ones(int(intercept)), scale)
        stays, occurs = targets
        self.events = occurs * extent.events + stays * (extent.weight - extent.events)

    def at(self, theta: FloatArray) -> DensePoint:
        """Read the rows, and return the value, the gradient and the matrix of second derivatives."""
        sums = self.problem.reduce(lambda batch, _: self._of_batch(_binary(batch), theta)) / self.weight
        d = theta.size
        return DensePoint(theta, float(sums[0]), sums[1 : 1 + d], sums[1 + d :].reshape(d, d))

    def _of_batch(self, batch: BinaryProblem, theta: FloatArray) -> FloatArray:
        columns = np.array([*self.features(batch)], dtype=np.float64)
        columns[self.constant] = 0.0
        table = np.vstack([*[np.ones(batch.size)] * self.intercept, columns])
        held = np.flatnonzero(np.append(np.zeros(int(self.intercept), dtype=bool), ~self.constant))
        table[held] = (table[held] - self.centre[held, None]) / self.scale[held, None]
        events = batch.weight * np.where(batch.outcome, self.targets[1], self.targets[0])
        loss = LogisticLoss(table, batch.weight, events, np.full(theta.size, -np.inf))
        return np.concatenate([np.ravel(part) for part in loss.sums(theta)])


def _binary(batch: Problem) -> BinaryProblem:
    assert isinstance(batch, BinaryProblem)
    return batch


def _of_kept(point: DensePoint, kept: list[int], lower: FloatArray | None) -> DensePoint:
    return DensePoint(point.x[kept], point.value, point.gradient[kept], point.hessian[np.ix_(kept, kept)], lower)


# What the calibrators that are logistic regressions share: the least log loss, and what stands for it where there is none


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
