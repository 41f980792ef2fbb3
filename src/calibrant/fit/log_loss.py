"""The mean log loss of a binary or multiclass model, its derivatives, and logistic regression on a few columns.

Log loss, gradient and second derivatives are sums over rows: rows in memory are one batch, streamed rows are read once for each
step. What `over_rows` makes of both is all that a fit knows of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Literal

import numpy as np
import scipy
from scipy.special import expit, xlogy

from calibrant._core.arrays import FloatArray
from calibrant._core.border import refuse_rows
from calibrant._core.checks import warn
from calibrant._core.rows import BinaryProblem, BoolArray, IntArray
from calibrant.fit.minimise import EPS, DensePoint, Minimum, Stop, minimise, projected
from calibrant.sums.reading import is_unread

# Sums over rows, in memory or streamed


def over_rows(problem: Any, made: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], Callable[..., Any]]:
    """Return what makes of a function of rows one of all rows of a problem, whose batches are added up where it is streamed.

    The function gets the arrays that ``made`` makes of a batch, and what else it is passed. Of rows in memory these are made
    once and kept, of streamed rows for each sum.
    """
    if is_unread(problem):
        return lambda read: lambda *more: problem.reduce(lambda batch, _: read(*made(batch), *more))
    rows = made(problem)
    return lambda read: partial(read, *rows)


@dataclass(frozen=True, eq=False)
class Extent:
    """Sums, and largest values, of rows."""

    sums: FloatArray
    largest: FloatArray

    def __add__(self, other: Extent) -> Extent:
        return Extent(self.sums + other.sums, np.maximum(self.largest, other.largest))


BLOCK, LEAST_ROWS = 1 << 15, 256
"""Numbers and rows worked on at a time: a block stays in the processor's cache through all steps of an evaluation."""


@lru_cache(maxsize=16)  # each step of a fit asks for them
def blocks(n: int, numbers_a_row: int) -> list[slice]:
    """Rows to work on at a time."""
    step = max(LEAST_ROWS, BLOCK // numbers_a_row)
    return list(map(slice, range(0, n, step), range(step, n + step, step)))


def sums_of_exponent(
    z: FloatArray, top: FloatArray, label: IntArray, weight: FloatArray, exponent: float
) -> FloatArray:
    """Return the log loss of softmax(exponent * z), summed over the rows by weight, and both its derivatives.

    ``top`` is the highest of each row of z. The derivatives of a row are E z - z_y and Var z.
    """
    sums = np.zeros(3)
    for rows in blocks(len(z), z.shape[1]):
        part, w = z[rows] - top[rows, None], weight[rows]
        p = np.exp(exponent * part)
        total = p.sum(axis=1)
        of_true = part[np.arange(len(part)), label[rows]]
        mean = np.vecdot(p, part) / total
        p *= part
        spread = np.vecdot(p, part) / total - mean**2
        # einsum, since the threads of BLAS take longer to wake than such short sums
        sums[0] += np.einsum("i,i->", w, np.log(total) - exponent * of_true)
        sums[1] += np.einsum("i,i->", w, mean - of_true)
        sums[2] += np.einsum("i,i->", w, spread)
    return sums


def softmax_in_place(scores: FloatArray, label: IntArray) -> FloatArray:
    """Turn scores, shape (n, K), into probabilities where they stand, and return the log loss of each row."""
    of_true = np.arange(len(scores)), label
    scores -= scores.max(axis=1, keepdims=True)
    score = scores[of_true]
    np.exp(scores, out=scores)
    total = scores.sum(axis=1)
    scores /= total[:, None]
    return np.asarray(np.log(total) - score)


def between_classes(prob: FloatArray, weighted: FloatArray, features: FloatArray) -> FloatArray:
    """Sum p_j p_k x x' over rows for each pair of classes j < k: upper triangles, shape (pairs of classes, pairs of features).

    Features x of a row, shape (F, n), are the same for all classes; probabilities have shape (K, n), and so have these times
    the weights of the rows. Half of the numbers tell the whole matrix: `blocks_of_classes`.
    """
    return products(weighted, prob, 1) @ products(features, features, 0).T


def products(one: FloatArray, other: FloatArray, apart: int) -> FloatArray:
    """Return the products of numbers f and g of each row, g >= f + apart, shape (pairs, n), from shapes (m, n)."""
    m, n = other.shape
    found, end = np.empty(((m - apart) * (m - apart + 1) // 2, n), other.dtype), 0
    for f in range(m - apart):
        start, end = end, end + m - apart - f
        np.multiply(one[f], other[f + apart :], out=found[start:end])
    return found


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
    extent = over(_extent)()
    weight, occurred, *sums = extent.sums
    centre = np.array([0.0] * intercept + [total / weight * intercept for total in sums])
    top, bottom = np.split(extent.largest, 2)
    own = slice(int(intercept), None)
    scale = np.append(np.ones(int(intercept)), np.maximum(top - centre[own], bottom + centre[own]))
    constant = np.append([False] * intercept, scale[own] <= EXPLAINED * np.maximum(top, bottom)).astype(np.bool_)
    scale[constant] = 1.0
    lower = np.array([-np.inf] * intercept + [0.0 if nonnegative else -np.inf] * len(sums))
    targets = 0.0, 1.0
    if rows_per_weight is not None:
        n_other, n_events = rows_per_weight * (weight - occurred), rows_per_weight * occurred
        targets = 1.0 / (n_other + 2.0), (n_events + 1.0) / (n_events + 2.0)

    def standardised(columns: FloatArray, total: FloatArray, events: FloatArray) -> LogisticRows:
        """Return rows with a column for the intercept, each column within [-1, 1], and the targets."""
        table = np.vstack([*[np.ones_like(total)] * intercept, *columns])
        table -= centre[:, None]
        table[constant] = 0.0
        table /= scale[:, None]
        return table, total, events if targets == (0.0, 1.0) else targets[0] * (total - events) + targets[1] * events

    n_events = targets[0] * (weight - occurred) + targets[1] * occurred
    start = np.zeros(lower.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        start[: int(intercept)] = np.log(n_events) - np.log(weight - n_events)  # the best constant
    if not np.isfinite(start).all():
        return LogisticFit(0.0, np.zeros(len(sums)), np.inf, 0, False, 0)
    if is_unread(rows):
        sums_at = over(lambda columns, total, events, theta: _sums(*standardised(columns, total, events), theta))
        minimum, kept = _minimum(sums_at, weight, start, lower)
    else:
        table = over(standardised)()
        minimum, kept = _minimum(partial(_sums, *table), weight, start, lower, table)
    theta = np.zeros(lower.size)
    theta[kept] = minimum.point.x / scale[kept]
    theta[: int(intercept)] -= centre @ theta
    shift, coef, gradient = float(theta[: int(intercept)].sum()), theta[own], minimum.residual
    if EPS * float(np.abs(theta) @ (np.abs(centre) + scale)) > ROUNDED:

        def slope(columns: FloatArray, total: FloatArray, events: FloatArray) -> FloatArray:
            eta = shift + coef[coef != 0.0] @ np.asarray(columns)[coef != 0.0]
            table, total, events = standardised(columns, total, events)
            return np.asarray(table[kept] @ ((total - events) * expit(eta) - events * expit(-eta)))

        gradient = projected(theta[kept], over(slope)() / weight, lower[kept])
    return LogisticFit(shift, coef, gradient, minimum.n_iter, minimum.converged, len(kept))


def _extent(columns: FloatArray, total: FloatArray, events: FloatArray) -> Extent:
    """Weight of the rows, that of the events, and the weighted sum of each column; the largest and minus the least value."""
    table = np.asarray(columns, dtype=np.float64)
    largest = (table.max(axis=1, initial=-np.inf), -table.min(axis=1, initial=np.inf))
    return Extent(np.array([total.sum(), events.sum(), *table @ total]), np.concatenate(largest))


def independent(gram: FloatArray) -> list[int]:
    """Numbers of the columns that those before them do not explain, given the sums of products of each two."""
    kept, left = [], gram.copy()
    for j in range(len(gram)):
        if left[j, j] > EXPLAINED * gram[j, j]:
            kept.append(j)
            left -= np.outer(left[j], left[j]) / left[j, j]
    return kept


def _sums(table: FloatArray, total: FloatArray, events: FloatArray, theta: FloatArray) -> FloatArray:
    """Return the log loss of all rows, its gradient and its second derivatives, one after the other."""
    loss, gradient, curvature = 0.0, np.zeros(theta.size), np.zeros((theta.size, theta.size))
    for rows in blocks(total.size, 1 + len(table)):
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


def _minimum(
    sums_at: Callable[[FloatArray], FloatArray],
    weight: float,
    start: FloatArray,
    lower: FloatArray,
    rows: LogisticRows | None = None,
) -> tuple[Minimum[DensePoint], list[int]]:
    """Return the minimum, and the columns that others do not explain; of many rows begin where a part of them ends."""
    here: FloatArray | DensePoint = start
    kept, is_known = list(range(lower.size)), False

    def at(theta: FloatArray) -> DensePoint:
        """Evaluate where the coefficients of columns that are not kept are zero."""
        whole, size = np.zeros(lower.size), lower.size
        whole[kept] = theta
        sums = sums_at(whole) / weight
        hessian = sums[1 + size :].reshape(size, size)[kept][:, kept]
        return DensePoint(theta, float(sums[0]), sums[1 : 1 + size][kept], hessian, lower[kept])

    if rows is not None and rows[1].size > MANY_ROWS:
        few = rows[0][:, ::ONE_IN].copy(), rows[1][::ONE_IN], rows[2][::ONE_IN]
        part, of_part = _minimum(partial(_sums, *few), float(few[1].sum()), start, lower, few)
        # Columns that explain each other in all rows do so in a part of them.
        if is_known := part.converged and len(of_part) == lower.size:
            here = part.point.x
    if not is_known:
        here = at(start)
        # With one probability for all rows the second derivatives are p (1 - p) times the products of the columns.
        kept = independent(here.hessian)
        here = here if len(kept) == lower.size else start[kept]
    return minimise(at, here, Stop(reach=LAST_STEP), lower=lower[kept]), kept


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
        slope = {"events above": np.inf, "events below": -np.inf}.get(self.shape, np.nan)
        if self.shape == "regular":
            fit = fit_logistic((self.x[None], self.total, self.events))
            if fit.converged:
                return fit.intercept, float(fit.coef[0])
            # The classes overlap by less than rounding shows: as good as separated.
            slope = np.inf * np.sign(self.events @ (self.x - self.total @ self.x / self.total.sum()))
        return float("nan"), float(slope)

    @cached_property
    def in_the_large(self) -> float:
        """Intercept of the largest likelihood with slope 1; infinite if there is one class alone."""
        occurred, weight = float(self.events.sum()), float(self.total.sum())
        if occurred in (0.0, weight):
            return float("inf") if occurred else float("-inf")
        rate = np.log(occurred) - np.log(weight - occurred)
        # At the ends of the bracket every row is on one side of the rate; a little more covers rounding.
        low, high = [rate - x + side * (1.0 + 1e-12 * abs(x)) for x, side in ((self.x[-1], -1.0), (self.x[0], 1.0))]

        def excess(a: float) -> float:  # sums of small errors: a sum of probabilities less the events would lose them
            return float((self.total - self.events) @ expit(self.x + a) - self.events @ expit(-self.x - a))

        return float(scipy.optimize.brentq(excess, low, high, xtol=1e-14, maxiter=BISECTIONS))

    def log_likelihood(self, intercept: float, slope: float) -> float:
        """Log-likelihood at an intercept and a slope."""
        eta = intercept + slope * self.x
        return -float(self.events @ np.logaddexp(0.0, -eta) + (self.total - self.events) @ np.logaddexp(0.0, eta))

    @property
    def largest(self) -> float:
        """Largest log-likelihood, or its limit: only scores that both classes have at a border cost something."""
        if self.shape == "regular":
            return self.log_likelihood(*self.joint)
        mixed = (self.events > 0) & (self.events < self.total)
        occurred, all_ = self.events[mixed], self.total[mixed]
        return float(np.sum(xlogy(occurred, occurred / all_) + xlogy(all_ - occurred, 1.0 - occurred / all_)))

    @property
    def largest_with_slope_one(self) -> float:
        """Largest log-likelihood with slope 1, or its limit."""
        return 0.0 if self.shape == "one class" else self.log_likelihood(self.in_the_large, 1.0)


def recalibration_of(problem: BinaryProblem) -> Recalibration:
    """Put the rows of equal log-odds together."""
    if problem.cells:
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

        def count(x: FloatArray, outcome: BoolArray) -> int:
            return int(((x > low) & (x < high) & (True if of_events is None else outcome == of_events)).sum())

        return bool(over(count)())

    def ends(x: FloatArray, outcome: BoolArray) -> Extent:
        """Minus the least log-odds of rows with the event and of others, and the largest; -infinite where there are none."""
        parts = (x[outcome], x[~outcome])
        each = [*(-part.min(initial=np.inf) for part in parts), *(part.max(initial=-np.inf) for part in parts)]
        return Extent(np.zeros(0), np.array(each))

    largest = over(ends)().largest
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
        has_minimum = not smooth and not is_separated(problem, family)
        # Where rows at the ends are certain, a flat way leads to the minimum: whether steps arrive there is rounding.
        if has_minimum and ((found := to()).converged or found.gradient <= CERTAIN):
            return replace(found, converged=True), True
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
        value = over_rows(problem, partial(columns, features))(_extent)().largest[0]
        found = replace(found, coef=ahead, intercept=found.intercept - float(value))
    return found


def _warn(what: str, answer: str) -> None:
    from sklearn.exceptions import ConvergenceWarning  # its package takes a second to load

    warn(f"{what}. Instead {answer} is used. Fit on more rows.", ConvergenceWarning)
