"""The mean log loss of a binary or multiclass model, its derivatives, and logistic regression on a few columns.

Log loss, gradient and second derivatives are sums over rows: rows in memory are one batch, streamed rows are read once for each
step. What `over_rows` makes of both is all that a fit knows of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.arrays import FloatArray
from calibrant._core.border import refuse_rows
from calibrant._core.rows import BinaryProblem, BoolArray, IntArray
from calibrant.exceptions import warn
from calibrant.fit.minimise import EPS, DensePoint, Minimum, Stop, minimise, projected
from calibrant.sums.reading import is_unread
from calibrant.sums.sums import CellProblem

# Sums over rows, in memory or streamed

T = TypeVar("T")


def over_rows(problem: Any, made: Callable[[Any], T]) -> Callable[[Callable[[T], Any]], Any]:
    """Return what adds up a function of the rows of a problem, or of each batch of streamed rows.

    The function gets what ``made`` makes of a batch. Of rows in memory it is made once and kept, of streamed rows for each sum.
    """
    if is_unread(problem):
        return lambda read: problem.reduce(lambda batch, _: read(made(batch)))
    rows = made(problem)
    return lambda read: read(rows)


@dataclass(frozen=True, eq=False)
class Extent:
    """Sums, and largest values, of rows."""

    sums: FloatArray
    largest: FloatArray

    def __add__(self, other: Extent) -> Extent:
        return Extent(self.sums + other.sums, np.maximum(self.largest, other.largest))


def softmax_in_place(scores: FloatArray, label: IntArray) -> FloatArray:
    """Turn scores, shape (n, K), into probabilities where they stand, and return the log loss of each row."""
    of_true = np.arange(len(scores)), label
    scores -= scores.max(axis=1, keepdims=True)
    score = scores[of_true]
    np.exp(scores, out=scores)
    total = scores.sum(axis=1)
    scores /= total[:, None]
    loss: FloatArray = np.log(total) - score
    return loss


def between_classes(prob: FloatArray, weighted: FloatArray, features: FloatArray) -> FloatArray:
    """Sum p_j p_k x x' over rows for each pair of classes j < k: upper triangles, shape (pairs of classes, pairs of features).

    Features x of a row, shape (F, n), are the same for all classes; probabilities have shape (K, n), and so have these times
    the weights of the rows. Half of the numbers tell the whole matrix: `blocks_of_classes`.
    """
    return _products(weighted, prob, 1) @ _products(features, features, 0).T


def _products(one: FloatArray, other: FloatArray, apart: int) -> FloatArray:
    """Return the products of numbers f and g of each row, g >= f + apart, shape (pairs, n), from shapes (m, n)."""
    m, n = other.shape
    products, end = np.empty(((m - apart) * (m - apart + 1) // 2, n)), 0
    for f in range(m - apart):
        start, end = end, end + m - apart - f
        np.multiply(one[f], other[f + apart :], out=products[start:end])
    return products


def blocks_of_classes(between: FloatArray, n_classes: int, n_features: int) -> FloatArray:
    """Return the second derivatives of the log loss of a softmax, shape (K, F, K, F), given `between_classes`."""
    f, g = np.triu_indices(n_features)
    one = np.empty((len(between), n_features, n_features))
    one[:, f, g] = one[:, g, f] = between
    blocks = np.zeros((n_classes, n_features, n_classes, n_features))
    j, k = np.triu_indices(n_classes, 1)
    blocks[j, :, k, :] = blocks[k, :, j, :] = -one
    for own in range(n_classes):
        blocks[own, :, own, :] = -blocks[own].sum(axis=1)
    return blocks


# Logistic regression of a binary problem on a few columns


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

Features = Callable[[BinaryProblem], Sequence[FloatArray]]
"""Columns of a regression, each of shape (n,), of a problem or of a batch of its rows."""

LogisticRows = tuple[FloatArray, FloatArray, FloatArray]
"""Columns, shape (F, n), the weight of each row, and the part of it that fell on the event."""


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
    rows: Any,
    made: Callable[[Any], LogisticRows] = lambda rows: rows,
    *,
    rows_per_weight: float | None = None,
    intercept: bool = True,
    nonnegative: bool = False,
) -> LogisticFit:
    """Minimise  sum of total * log(1 + exp(eta)) - events * eta  over the intercept and the coefficients in eta.

    A column that is constant, or a linear function of those before it to within 1e-6 of its spread, has coefficient 0. Where
    the loss has no minimum, or none that rounding shows, the fit has not converged and its parameters mean nothing.

    Parameters
    ----------
    rows : tuple of ndarray or Problem
        Columns, total and events; or a problem, whose rows may be streamed.
    made : callable
        Makes columns, total and events of the problem or a batch.
    rows_per_weight : float, optional
        Rows that a weight of one stands for, where the outcomes are to be smoothed as Platt has it: by Laplace's rule of
        succession for each class.
    intercept, nonnegative : bool
        Whether there is an intercept, and whether coefficients are kept at 0 or above; the intercept is free.
    """
    over = over_rows(rows, made)
    extent = over(_extent)
    (weight, occurred), n_columns = extent.sums[:2], extent.sums.size - 2
    targets = 0.0, 1.0
    if rows_per_weight is not None:
        n_other, n_events = rows_per_weight * (weight - occurred), rows_per_weight * occurred
        targets = 1.0 / (n_other + 2.0), (n_events + 1.0) / (n_events + 2.0)
    lower = np.array([-np.inf] * intercept + [0.0 if nonnegative else -np.inf] * n_columns)
    standard = _Standard.of(extent, targets, intercept)
    if is_unread(rows):
        loss = _MeanLoss(lambda theta: over(lambda some: logistic_sums(*standard.rows(*some), theta)), weight, lower)
        n_events = targets[0] * (weight - occurred) + targets[1] * occurred
        found = loss.minimum(_rate(weight, n_events, lower, intercept))
    else:
        table, total, events = over(lambda some: standard.rows(*some))
        found = _minimum(table, total, events, lower, intercept)
    if found is None:
        return LogisticFit(0.0, np.zeros(n_columns), np.inf, 0, False, 0)
    (minimum, kept), theta = found, np.zeros(lower.size)
    theta[kept] = minimum.point.x / standard.scale[kept]
    theta[:intercept] -= standard.centre @ theta
    coef, gradient = theta[int(intercept) :], minimum.residual
    if EPS * float(np.abs(theta) @ (np.abs(standard.centre) + standard.scale)) > ROUNDED:

        def slope(some: LogisticRows) -> FloatArray:
            (table, total, events), eta = standard.rows(*some), theta[:intercept].sum() + np.zeros(some[1].size)
            for c, x in zip(coef, some[0], strict=True):
                eta += c * x if c else 0.0
            result: FloatArray = table[kept] @ ((total - events) * expit(eta) - events * expit(-eta))
            return result

        gradient = projected(theta[kept], over(slope) / weight, lower[kept])
    return LogisticFit(float(theta[:intercept].sum()), coef, gradient, minimum.n_iter, minimum.converged, len(kept))


def _extent(rows: LogisticRows) -> Extent:
    """Weight of the rows, that of the events, and the weighted sum of each column; the largest and minus the least value."""
    table, total, events = np.asarray(rows[0], dtype=np.float64), *rows[1:]
    sums = np.array([total.sum(), events.sum(), *table @ total])
    largest = (table.max(axis=1, initial=-np.inf), -table.min(axis=1, initial=np.inf))
    return Extent(sums, np.concatenate(largest))


class _Standard(NamedTuple):
    """Centre and scale of each column, the intercept first: what is left of it is within [-1, 1]; what counts as events."""

    centre: FloatArray
    scale: FloatArray
    constant: BoolArray
    targets: tuple[float, float]
    intercept: bool

    @classmethod
    def of(cls, extent: Extent, targets: tuple[float, float], intercept: bool) -> _Standard:
        top, bottom = np.split(extent.largest, 2)
        centre = extent.sums[2:] / extent.sums[0] * intercept
        scale = np.maximum(top - centre, bottom + centre)
        constant = scale <= EXPLAINED * np.maximum(top, bottom)
        ahead = [0.0] * intercept
        scale = np.append(np.ones(len(ahead)), np.where(constant, 1.0, scale))
        return cls(np.append(ahead, centre), scale, constant, targets, intercept)

    def rows(self, columns: FloatArray, total: FloatArray, events: FloatArray) -> LogisticRows:
        """Return rows with standardised columns."""
        table = np.vstack([*[np.ones_like(total)] * self.intercept, *columns])
        own = table[int(self.intercept) :]
        own -= self.centre[int(self.intercept) :, None]
        own[self.constant] = 0.0
        own /= self.scale[int(self.intercept) :, None]
        if self.targets != (0.0, 1.0):
            events = self.targets[0] * (total - events) + self.targets[1] * events
        return table, total, events


def independent(gram: FloatArray) -> list[int]:
    """Numbers of the columns that those before them do not explain, given the sums of products of each two."""
    kept: list[int] = []
    for j in range(len(gram)):
        explained = gram[j, kept] @ np.linalg.solve(gram[np.ix_(kept, kept)], gram[kept, j])
        if gram[j, j] - explained > EXPLAINED * gram[j, j]:
            kept.append(j)
    return kept


def logistic_sums(table: FloatArray, total: FloatArray, events: FloatArray, theta: FloatArray) -> FloatArray:
    """Return the log loss of all rows, its gradient and its second derivatives, one after the other."""
    loss, gradient, curvature = 0.0, np.zeros(theta.size), np.zeros((theta.size, theta.size))
    for start in range(0, total.size, BLOCK):
        rows = slice(start, start + BLOCK)
        z, w, occurred = table[:, rows], total[rows], events[rows]
        eta = theta @ z
        rare = np.exp(-np.abs(eta))
        loss += float(w @ (np.maximum(eta, 0.0) + np.log1p(rare)) - occurred @ eta)
        likely = 1.0 / (1.0 + rare)
        rare *= likely
        p, q = np.where(eta >= 0.0, (likely, rare), (rare, likely))
        gradient += z @ ((w - occurred) * p - occurred * q)
        curvature += (z * (w * likely * rare)) @ z.T
    return np.concatenate([[loss], gradient, curvature.ravel()])


class _MeanLoss(NamedTuple):
    """The mean log loss as a function of the coefficients of standardised columns, given what sums it over the rows."""

    sums: Callable[[FloatArray], FloatArray]
    weight: float
    lower: FloatArray

    def at(self, theta: FloatArray, kept: list[int]) -> DensePoint:
        """Evaluate where the coefficients of columns that are not kept are zero."""
        whole, size = np.zeros(self.lower.size), self.lower.size
        whole[kept] = theta
        sums = self.sums(whole) / self.weight
        hessian = sums[1 + size :].reshape(size, size)[kept][:, kept]
        return DensePoint(theta, float(sums[0]), sums[1:][kept], hessian, self.lower[kept])

    def minimum(self, start: FloatArray | None) -> tuple[Minimum[DensePoint], list[int]] | None:
        """Return it, and the numbers of the columns that others do not explain; None without a place to begin."""
        if start is None:
            return None
        first = self.at(start, kept := list(range(start.size)))
        # With one probability for all rows the second derivatives are p (1 - p) times the products of the columns.
        kept = independent(first.hessian)
        hessian, lower = first.hessian[kept][:, kept], self.lower[kept]
        first = DensePoint(start[kept], first.value, first.gradient[kept], hessian, lower)
        return minimise(partial(self.at, kept=kept), first, Stop(reach=LAST_STEP), lower=lower), kept


def _rate(total: float, events: float, lower: FloatArray, intercept: bool) -> FloatArray | None:
    """Return the best constant, if it is finite, with coefficients of zero."""
    start = np.zeros(lower.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        start[:intercept] = np.log(events) - np.log(total - events)
    return start if np.isfinite(start).all() else None


def _minimum(
    table: FloatArray, total: FloatArray, events: FloatArray, lower: FloatArray, intercept: bool
) -> tuple[Minimum[DensePoint], list[int]] | None:
    """Search from the best constant; of many rows from the solution of a part of them, if it has one."""
    loss = _MeanLoss(partial(logistic_sums, table, total, events), float(total.sum()), lower)
    if total.size > MANY_ROWS:
        few = slice(None, None, ONE_IN)
        part = _minimum(np.ascontiguousarray(table[:, few]), total[few], events[few], lower, intercept)
        # Columns that explain each other in all rows do so in a part of them.
        if part is not None and part[0].converged and len(part[1]) == lower.size:
            at = partial(loss.at, kept=part[1])
            return minimise(at, part[0].point.x, Stop(reach=LAST_STEP), lower=lower), part[1]
    return loss.minimum(_rate(loss.weight, float(events.sum()), lower, intercept))


# Recalibration by a logistic regression on the log-odds of the forecast (Cox 1958)


BISECTIONS = 10_000
"""Logits may be as large as 1e100: some hundreds of them lead from there to a shift that is certain to 1e-14."""

Shape = Literal["regular", "one class", "one score", "events above", "events below"]


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
                fit = fit_logistic((self.x[None], self.total, self.events))
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


# Calibrators that are logistic regressions: the least log loss, and what stands for it where there is none


CERTAIN = 1e-8
"""Largest component of the gradient of the mean log loss, in standardised units, at which a curve is the minimum."""

Family = Literal["straight", "rising", "rising through zero", "bent"]
"""Curves of the log-odds: a + b x; increasing ones with an intercept, or with the value 0 at 0; and a + b x + c x^2."""


def is_separated(problem: BinaryProblem, family: Family) -> bool:
    """Whether a curve of the family, not zero on all rows, is nowhere negative at an event and nowhere positive elsewhere.

    Then its multiples lower the log loss for ever.
    """
    over = over_rows(problem, lambda rows: (rows.log_odds, rows.outcome))

    def inside(low: float, high: float, of_events: bool | None = None) -> bool:
        """Whether the log-odds of any row, or of any with or without the event, lie inside an interval."""

        def count(rows: tuple[FloatArray, BoolArray]) -> int:
            x = rows[0] if of_events is None else rows[0][rows[1] == of_events]
            return int(((x > low) & (x < high)).sum())

        return bool(over(count))

    # Least log-odds of rows with the event and of others, and the largest; infinite, the least above, where there are none.
    largest = over(lambda rows: Extent(np.zeros(0), _ends(*rows))).largest
    (event_low, other_low), (event_high, other_high) = -largest[:2], largest[2:]
    low, high = min(event_low, other_low), max(event_high, other_high)
    if family == "rising through zero":
        return bool(event_low >= 0.0 >= other_high and (low != 0.0 or high != 0.0))
    if event_low > event_high or other_low > other_high:
        return True
    if low == high:
        return False
    above = bool(event_low >= other_high)
    if family == "rising":
        return above
    if family == "straight" or not inside(low, high):
        return above or bool(event_high <= other_low)
    # A parabola is positive inside an interval or outside it; its two zeros can lie on rows of both classes.
    return not inside(event_low, event_high, False) or not inside(other_low, other_high, True)


def _ends(x: FloatArray, outcome: BoolArray) -> FloatArray:
    """Return minus the least, and the largest, of the numbers of events and of others."""
    parts = (x[outcome], x[~outcome])
    return np.array([*(-part.min(initial=np.inf) for part in parts), *(part.max(initial=-np.inf) for part in parts)])


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

    def columns(features: Features, rows: BinaryProblem) -> LogisticRows:
        return np.array([*features(rows)], dtype=np.float64), rows.weight, rows.weight * rows.outcome

    def fit(features: Features) -> tuple[LogisticFit, bool]:
        """Fit, and whether it is to the outcomes themselves."""
        to = partial(fit_logistic, problem, partial(columns, features), intercept=intercept, nonnegative=nonnegative)
        if not smooth and not is_separated(problem, family) and (found := to()).converged:
            return found, True
        return to(rows_per_weight=problem.weights.rows_per_weight), smooth

    found, as_wanted = fit(features)
    if otherwise is not None and found.rank < found.coef.size + intercept:
        features = otherwise
        found, as_wanted = fit(features)
    if not as_wanted:
        where = f" for {problem.name!r}" if problem.name else ""
        _warn(
            f"both classes must occur, and their scores overlap, for the log loss to have a minimum; it keeps falling{where}",
            "the minimum of Platt's smoothed targets",
        )
    if not found.converged or found.gradient > CERTAIN:
        _warn(
            "the log loss must have a minimum that rounding shows, with a gradient of at most "
            f"{CERTAIN:g} in standardised units; got {found.gradient:.1e}: Newton's method has not reached it",
            "the last step",
        )
    if found.rank == intercept:  # the first column is the same for all rows
        ahead = np.eye(1, found.coef.size)[0]
        value = over_rows(problem, partial(columns, features))(_extent).largest[0]
        found = replace(found, coef=ahead, intercept=found.intercept - float(value))
    return found


def _warn(what: str, answer: str) -> None:
    warn(f"{what}. Instead {answer} is used. Fit on more rows.", ConvergenceWarning)
