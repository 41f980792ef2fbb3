"""What evidence scaling fits: standardisation, features, the prior of precisions, and maps that are mixed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from calibrant._core.arrays import FloatArray, log_prob_of_logit, prob_of_scores, score_of_logit
from calibrant._core.rows import Forecast, IntArray, SimplexProblem
from calibrant.fit.evidence import FeatureTable, Logit, ManyClasses, OwnOfClass, Prior, SameForAll, TwoClasses
from calibrant.fit.log_loss import sums_of_exponent

# Hinges of a number at quantiles of calibration rows: a curve whose weights have one variance is an integrated random walk


APART = 1e-9
"""Knots nearer to each other than this are one."""

ROUNDING = 1e-12
"""Part of the total by which two running sums of weights may differ and be equal."""

LEAST_GAP = 1e-3
"""Gap between knots from which the size of a hinge is made, at least."""


@dataclass(frozen=True, eq=False)
class Hinges:
    """Hinges that open away from the middle, shape (n_knots,) each; that at the middle itself opens both ways by half.

    A function that is a sum of these and a line is the same when the axis is turned round.
    """

    knots: FloatArray
    middle: float

    @classmethod
    def at(cls, knots: FloatArray, middle: float) -> Hinges:
        """Make hinges at distinct knots."""
        knots = np.sort(knots)
        return cls(knots[np.append(True, np.diff(knots) > APART)], middle)

    @property
    def size(self) -> FloatArray:
        """Square root of the gap around each knot, shape (n_knots,)."""
        gap = np.gradient(self.knots) if len(self.knots) > 1 else np.ones(1)
        return np.asarray(np.sqrt(np.maximum(gap, LEAST_GAP)))

    def of(self, x: FloatArray) -> list[FloatArray]:
        """Return each hinge times its size, of the shape of x."""
        both = zip(self.knots.tolist(), self.size.tolist(), strict=True)  # numbers that leave single precision as it is
        return [size * self._open(x - knot, knot) for knot, size in both]

    def plain(self, x: FloatArray) -> list[FloatArray]:
        """Return each hinge with slope one, of the shape of x."""
        return [self._open(x - knot, knot) for knot in self.knots]

    def _open(self, beyond: FloatArray, knot: float) -> FloatArray:
        if abs(knot - self.middle) <= APART:
            return 0.5 * np.abs(beyond)
        return np.maximum(-beyond if knot < self.middle else beyond, 0.0)


def weighted_quantiles(x: FloatArray, weight: FloatArray, at: FloatArray) -> FloatArray:
    """Return quantiles, shape (m,): where the running weight is exactly the fraction asked for, the mean of both neighbours.

    Equal rows count as one of their weight, and turning the axis round turns the quantiles round.
    """
    order = np.argsort(x)
    running = np.cumsum(weight[order])
    wanted, last, slack = at * running[-1], len(x) - 1, ROUNDING * running[-1]
    below = np.minimum(np.searchsorted(running, wanted - slack), last)
    above = np.minimum(np.searchsorted(running, wanted + slack), last)
    return np.asarray(0.5 * (x[order[below]] + x[order[above]]))


# Features of rows of three classes or more, measured on the calibration rows without their labels


KNOTS = np.linspace(0.03, 0.97, 8)
"""Fractions of numbers z_ij, weighted by q (1 - q), at which knots of the shared curve lie."""

OF_PROB = 5.0
"""Unit of probabilities, in units of their spread; at most 1."""

OF_SQUARE = 0.1

MOST_INTERACTING, MOST_WITH_PROB = 150, 50
"""Classes up to which the score of a class depends on the log-probabilities of all others, and up to which on their
probabilities too; beyond the first on its own."""

TINY = 1e-9


def units(spread: FloatArray) -> FloatArray:
    """Return the unit of each spread, at most 1: also of a single score, whose spread is rounding."""
    return np.where(spread > TINY, np.minimum(spread, 1.0) + TINY, 1.0)


POINTS, MOST_DRAWN = 201, 8.0
"""Places at which a curve is drawn, and log-odds up to which that of two classes goes."""

N_ROW = 2
"""Features that multiply z_ij by a number of the row: its entropy, and its highest log-probability."""


@dataclass(frozen=True, eq=False)
class ClassFeatures:
    """Features of a score that are shared by all classes, and features of a row with a weight for each class.

    Attributes
    ----------
    centre : ndarray of shape (2 K + 2,)
        Means of log-probabilities, of probabilities, of the entropy of a row, and of its highest log-probability.
    unit : ndarray of shape (2,)
        Units of centred log-probabilities and probabilities.
    curve : Hinges
        Of log-probabilities.
    ranked : ndarray of shape (2, 0)
        None.
    """

    centre: FloatArray
    unit: FloatArray
    curve: Hinges
    ranked: FloatArray

    @classmethod
    def measured(cls, z: FloatArray, weight: FloatArray) -> ClassFeatures:
        """Measure on standardised log-probabilities, shape (n, K), of rows with these weights."""
        q, share = np.exp(z), weight / weight.sum()
        means = share @ z, share @ q
        spread = [float(np.sqrt((share @ (x - mean) ** 2).mean())) for x, mean in zip((z, q), means, strict=True)]
        doubt = (share[:, None] * q * (1.0 - q)).ravel()
        *knots, middle = weighted_quantiles(z.ravel(), doubt, np.append(KNOTS, 0.5))
        return cls(
            np.concatenate([*means, [float(-share @ np.vecdot(q, z)), float(share @ z.max(axis=1))]]),
            units(np.array([spread[0], OF_PROB * spread[1]])),
            Hinges.at(np.array(knots), float(middle)),
            np.empty((2, 0)),
        )

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.centre) // 2 - 1

    @property
    def shared_groups(self) -> list[str]:
        """Group of each shared feature."""
        return ["temp", *["curve"] * len(self.curve.knots), *["row"] * N_ROW]

    @property
    def path(self) -> tuple[float, ...]:
        """What is taken from the logarithms of all precisions, but that of the temperature, for each map.

        Of classes that do not interact two maps do as well in three quarters of the time.
        """
        return (-4.0, 2.0) if self.n_classes > MOST_INTERACTING else (-4.0, -2.0, 0.0, 2.0)

    def fast_path(self, rows: float) -> tuple[float]:
        """Return what is taken for a single map of so many rows: up to one with a thousand."""
        return (float(np.clip(np.log10(rows / 100.0), 0.0, 1.0)),)

    def groups(self, *, ordered: bool = False) -> list[str]:
        """Return the group of each weight; ``ordered``, of shared features alone."""
        own = [] if ordered else table_groups(self.n_classes)
        return [*self.shared_groups, *(name for row in own for name in row)]

    def logit(self, z: FloatArray, label: IntArray, weight: FloatArray, *, ordered: bool = False) -> Logit:
        """Return what is fitted to standardised log-probabilities, shape (n, K)."""
        z = z.astype(precision_for(z), copy=False)
        table = SameForAll.none(*z.shape) if ordered else self.table(z)
        return ManyClasses(z, self.shared(z), table, label, weight)

    def mixed(self, z: FloatArray, maps: Maps) -> Iterable[FloatArray]:
        """Return the probabilities of maps, shape (n, K), times their shares."""
        return map(np.multiply, maps.shares[:-1], map(prob_of_scores, maps.scores(z, self)))

    def variance(self, z: FloatArray, q: FloatArray, root: FloatArray) -> FloatArray:
        """Return the variance of the probabilities q of a map, shape (n, K), whose weights have the covariance  root root'."""
        shared, own = np.split(root.T, [len(self.shared_groups)], axis=1)
        each = Maps(shared, own.reshape(len(root), self.n_classes, -1), np.empty(0))
        change = np.stack([scores - z for scores in each.scores(z, self)], axis=2)
        # Of a probability near one the digits are in the others: the mean change without its own.
        others = (1.0 - np.eye(q.shape[1])) @ (q[:, :, None] * change)
        change *= rest_of(q)[:, :, None]
        change -= others
        return np.asarray(q**2 * np.vecdot(change, change))

    def drawn(self) -> tuple[FloatArray, FloatArray]:
        """Return places along the curve, and there the columns of the features that make it."""
        place = np.linspace(min(float(self.curve.knots[0]) - 1.0, -1.0), 0.0, POINTS)
        return place, np.column_stack([place, *self.curve.of(place)])

    def shared(self, z: FloatArray) -> FloatArray:
        """Return features that all classes share, shape (S, n, K)."""
        entropy, top = self.centre[-2:].tolist()
        of_row = (-np.vecdot(np.exp(z), z) - entropy, z.max(axis=1) - top)
        return np.stack([z, *self.curve.of(z), *(z * number[:, None] for number in of_row)])

    def _own(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return z, q, and z squared, centred and in their units."""
        mean, mean_prob = self.centre[:-2].astype(z.dtype, copy=False).reshape(2, -1)
        unit, unit_of_prob = self.unit.tolist()
        centred: FloatArray = (z - mean) / unit
        return centred, (np.exp(z) - mean_prob) / unit_of_prob, OF_SQUARE * centred**2

    def of_rows(self, z: FloatArray) -> FloatArray:
        """Return features with a weight for each class: one, z of each class, q of up to 50 classes, and z squared."""
        centred, prob, square = self._own(z)
        return np.hstack([np.ones((len(z), 1), z.dtype), centred, *[prob] * (self.n_classes <= MOST_WITH_PROB), square])

    def of_classes(self, z: FloatArray) -> FloatArray:
        """Return features of each class itself, shape (4, n, K): one, z, q, and z squared; for more classes than interact."""
        return np.stack([np.ones_like(z), *self._own(z)])

    def table(self, z: FloatArray) -> FeatureTable:
        """Return the features that have a weight for each class."""
        if (k := self.n_classes) > MOST_INTERACTING:
            return OwnOfClass(self.of_classes(z))
        # Those of `of_rows` that are made of the probability of each class itself, shape (K, 2) or (K, 3).
        own = 1 + np.arange(k)[:, None] + k * np.arange(2 + (k <= MOST_WITH_PROB))
        return SameForAll(self.of_rows(z), own)

    def small_table(self, z: FloatArray, most: int) -> tuple[FeatureTable, list[str]]:
        """Return features that have a weight for each class, such that there are so many weights at most, and all groups.

        Of many classes the score of each depends on its own probability alone, and of still more on what all share.
        """
        k, shared = self.n_classes, self.shared_groups
        if len(shared) + k * (1 + 3 * k) <= most:
            return self.table(z), self.groups()
        if len(shared) + k * len(OF_EACH_CLASS) <= most:
            return OwnOfClass(self.of_classes(z)), shared + [*OF_EACH_CLASS] * k
        return SameForAll.none(*z.shape), shared


OF_EACH_CLASS = ("bias", "slope", "prob", "sqz")
"""Groups of the features of a class itself."""


def table_groups(n_classes: int) -> list[list[str]]:
    """Group of the weight of each feature of `of_rows`, for each class, or of `of_classes`, shape (K, 4)."""
    if n_classes > MOST_INTERACTING:
        return [[*OF_EACH_CLASS]] * n_classes
    beside = ["prob"] * n_classes * (n_classes <= MOST_WITH_PROB) + ["sqz"] * n_classes
    return [["bias", *("slope" if k == j else "mat" for k in range(n_classes)), *beside] for j in range(n_classes)]


# Functions of the log-odds of two classes, measured on the calibration rows without their labels


WEIGHTED, PLAIN = np.linspace(0.02, 0.98, 15), np.linspace(0.02, 0.98, 8)
"""Fractions at which knots lie, of rows weighted by p (1 - p) and of rows as they are."""

RANKS = Hinges(ndtri(np.linspace(0.06, 0.94, 9)), 0.0)
RANK_SIZE = 0.6
"""Hinges of the normal score of a row's rank, and their size."""

MOST_RANKS = 257
"""Distinct log-odds whose ranks are kept; those between are interpolated."""


@dataclass(frozen=True, eq=False)
class LogOddsFeatures:
    """Log-odds, one, the sum of both log-probabilities, hinges of the log-odds, and hinges of their normal scores.

    Attributes
    ----------
    centre, unit : ndarray of shape (2,)
        Means and spreads (at most 1) of the log-odds and of the sum of log-probabilities, rows weighted by p (1 - p).
    curve : Hinges
        Of the log-odds over their unit.
    ranked : ndarray of shape (2, m)
        Log-odds that do not fall, and the parts of the rows that lie below each.
    """

    centre: FloatArray
    unit: FloatArray
    curve: Hinges
    ranked: FloatArray
    path = (-4.0, -2.0, 0.0, 4.0)
    """What is taken from the logarithms of all precisions, but that of the temperature, for each map."""

    @classmethod
    def measured(cls, z: FloatArray, weight: FloatArray) -> LogOddsFeatures:
        """Measure on standardised log-probabilities, shape (n, 2), of rows with these weights."""
        log_odds, both = z[:, 1] - z[:, 0], z.sum(axis=1)
        doubt = weight * np.exp(both)
        centre = np.array([np.average(x, weights=doubt) for x in (log_odds, both)])
        spread = [np.average((x - c) ** 2, weights=doubt) for x, c in zip((log_odds, both), centre, strict=True)]
        unit = units(np.sqrt(spread))
        scaled = log_odds / unit[0]
        knots = np.append(weighted_quantiles(scaled, doubt, WEIGHTED), weighted_quantiles(scaled, weight, PLAIN))
        middle = float(weighted_quantiles(scaled, doubt, np.array([0.5]))[0])
        return cls(centre, unit, Hinges.at(knots, middle), _ranked(log_odds, weight))

    @property
    def shared_groups(self) -> list[str]:
        """Group of each feature."""
        return ["temp", "bias", "asym", *["curve"] * len(self.curve.knots), *["rank"] * (1 + len(RANKS.knots))]

    def fast_path(self, rows: float) -> tuple[float]:
        """Return that nothing is taken for a single map."""
        return (0.0,)

    def groups(self, *, ordered: bool = False) -> list[str]:
        """Return the group of each weight."""
        return self.shared_groups

    def logit(self, z: FloatArray, label: IntArray, weight: FloatArray, *, ordered: bool = False) -> Logit:
        """Return what is fitted to standardised log-probabilities, shape (n, 2)."""
        return TwoClasses(z[:, 1] - z[:, 0], self.of(z), label == 1, weight)

    def mixed(self, z: FloatArray, maps: Maps) -> Iterable[FloatArray]:
        """Return the sum of the probabilities of maps, shape (n, 2), times their shares."""
        scores = (z[:, 1] - z[:, 0])[:, None] + self.of(z) @ maps.shared.T
        scores = np.clip(scores, -MOST_LOG_ODDS, MOST_LOG_ODDS)
        return [np.stack([score_of_logit(sign * scores) @ maps.shares[:-1] for sign in (-1.0, 1.0)], axis=1)]

    def variance(self, z: FloatArray, q: FloatArray, root: FloatArray) -> FloatArray:
        """Return the variance of the probabilities q of a map, shape (n, 2), whose weights have the covariance  root root'."""
        of_score = ((self.of(z) @ root) ** 2).sum(axis=1)
        return np.asarray((of_score * q.prod(axis=1) ** 2)[:, None] * np.ones(2))

    def drawn(self) -> tuple[FloatArray, FloatArray]:
        """Return log-odds, and there the features."""
        place = np.linspace(-MOST_DRAWN, MOST_DRAWN, POINTS)
        return place, self.of(-np.logaddexp(0.0, np.stack([place, -place], axis=1)))

    def shared(self, z: FloatArray) -> FloatArray:
        """Return features of both scores, shape (S, n, 2): that of no event has none."""
        of_event = self.of(z).T
        return np.stack([np.zeros_like(of_event), of_event], axis=2)

    def small_table(self, z: FloatArray, most: int) -> tuple[FeatureTable, list[str]]:
        """Return that no features have a weight for each class, and the groups of the others."""
        return SameForAll.none(*z.shape), self.shared_groups

    def of(self, z: FloatArray) -> FloatArray:
        """Return the features, shape (n, S)."""
        log_odds, both = z[:, 1] - z[:, 0], z.sum(axis=1)
        score = ndtri(np.interp(log_odds, self.ranked[0], self.ranked[1]))
        ranks = [RANK_SIZE * hinge for hinge in RANKS.plain(score)]
        temp, asym = (log_odds - self.centre[0]) / self.unit[0], (both - self.centre[1]) / self.unit[1]
        return np.column_stack([temp, np.ones(len(z)), asym, *self.curve.of(log_odds / self.unit[0]), score, *ranks])


def _ranked(log_odds: FloatArray, weight: FloatArray) -> FloatArray:
    """Return distinct log-odds and the part of the rows that lies below each, half of its own rows included.

    Neighbours nearer than ``APART`` are one: those of clipped probabilities differ by the rounding of ``1 - p`` alone.
    """
    distinct, at = np.unique(log_odds, return_inverse=True)
    ends = np.flatnonzero(np.diff(distinct) > APART)
    group = np.zeros(distinct.size, dtype=np.intp)
    group[ends + 1] = 1
    own = np.bincount(np.cumsum(group)[at], weight)
    distinct = 0.5 * (distinct[np.append(0, ends + 1)] + distinct[np.append(ends, -1)])
    n = own.sum()
    part = np.clip((np.cumsum(own) - 0.5 * own) / n, 0.5 / n, 1.0 - 0.5 / n)
    if distinct.size > MOST_RANKS:
        places = np.rint(np.linspace(0, distinct.size - 1, MOST_RANKS)).astype(np.intp)
        few = np.union1d(places, distinct.size - 1 - places)
        distinct, part = distinct[few], part[few]
    return np.stack([distinct, part])


# Standardised log-probabilities: two numbers for what is wrong with all rows alike, and a share of the uniform forecast


FLOORS = (0.0, 1e-7, 1e-5, 1e-4, 1e-3, 4e-3, 1.6e-2, 6e-2)
"""What may be added to each probability, times the number of classes; with 0 probabilities are only clipped at 1e-12."""

COST_OF_FLOOR = 0.7
"""Loss in nats, of all rows together, by which a floor above 0 must be better."""

SCALE = 0.1
"""Scale of the Cauchy prior of the logarithm of the exponent."""

ROUNDS, FIRST_SPREAD = 4, 2.0
"""Rounds of majorising the Cauchy prior by a normal one, and the standard deviation that it has first."""

MOST_STEPS, LAST_STEP = 25, 1e-5
"""Newton steps in the logarithm of the exponent, and the length of the last."""

OF_ROOT, LEAST_BEFORE, MOST_BEFORE = 2.0, 0.05, 1.0
"""The uniform share has the prior Beta(c, 1): c is so often the root of the share of errors that is expected, within limits."""

LAST_SHARE = 1e-3
"""Relative change of the uniform share that is the last."""

MOST_UNIFORM = 0.5
LEAST_LOG = -1e100
"""Log-probabilities are at least this, so that their squares are numbers."""


@dataclass(frozen=True)
class Standard:
    """The map  log((1 - uniform) softmax(exponent * log(p + floor / K)) + uniform / K)."""

    exponent: float
    floor: float
    uniform: float

    def of(self, forecast: Forecast) -> FloatArray:
        """Return standardised log-probabilities, shape (n, K)."""
        n_classes = forecast.shape[1]
        prob = np.exp(log_prob_of_logit(self.exponent * with_floor(forecast, self.floor)))
        prob *= 1.0 - self.uniform
        prob += self.uniform / n_classes
        return np.log(prob, out=prob)


def with_floor(forecast: Forecast, floor: float) -> FloatArray:
    """Log-probabilities after a floor, row after row in memory; of logits without one they are exact."""
    if floor > 0.0:
        return np.log(np.ascontiguousarray(forecast.prob) + floor / forecast.shape[1])
    return np.maximum(np.ascontiguousarray(forecast.log_prob), LEAST_LOG)


def standard_of(problem: SimplexProblem, weight: FloatArray) -> Standard:
    """Return the most probable exponent and floor, and then the most probable share of the uniform forecast.

    Parameters
    ----------
    problem : SimplexProblem
        Rows to fit.
    weight : ndarray of shape (n,)
        Number of rows that each row stands for.
    """
    found = _exponent_and_floor(problem, weight)
    exponent = float(np.exp(found.log_exponent))
    z = exponent * with_floor(problem.forecast, found.floor)
    log_prob = log_prob_of_logit(z)
    of_true = np.exp(log_prob[np.arange(problem.size), problem.label])
    errors = max(float(weight @ (1.0 - np.exp(log_prob.max(axis=1))) / weight.sum()), 0.0)
    before = float(np.clip(OF_ROOT * np.sqrt(errors), LEAST_BEFORE, MOST_BEFORE))
    return Standard(exponent, found.floor, _uniform_share(of_true, weight, z.shape[1], before))


class _Found(NamedTuple):
    """The best exponent for a floor, and the loss there: log loss of all rows, prior, and cost of the floor."""

    log_exponent: float
    floor: float
    loss: float


def _exponent_and_floor(problem: SimplexProblem, weight: FloatArray) -> _Found:
    """Minimise log loss, Cauchy prior and cost of the floor, by majorisation.

    While the normal prior is narrower than the first, no loss falls below the first one of its floor: floors whose first loss
    is higher than the best so far need not be looked at again.
    """
    first: list[_Found] = []
    for floor in FLOORS:
        start = first[-1].log_exponent if first else 0.0
        first.append(_best_exponent(problem, weight, floor, start, FIRST_SPREAD))
    order = sorted(first, key=lambda found: found.loss)
    best = order[0]
    for _ in range(ROUNDS - 1):
        spread = float(np.sqrt((SCALE**2 + best.log_exponent**2) / 2.0))
        start, best = best.log_exponent, best._replace(loss=np.inf)
        for known in order:
            if spread <= FIRST_SPREAD and known.loss > best.loss:
                break
            found = _best_exponent(problem, weight, known.floor, start, spread)
            best = min(best, found, key=lambda found: found.loss)
    return best


def _best_exponent(problem: SimplexProblem, weight: FloatArray, floor: float, start: float, spread: float) -> _Found:
    """Return the most probable logarithm t of the exponent under a normal prior of mean zero."""
    z = with_floor(problem.forecast, floor)
    z = z.astype(precision_for(z), copy=False)
    rows, t, ridge = (z, z.max(axis=1), problem.label, weight), start, 1.0 / spread**2
    for _ in range(MOST_STEPS):
        _, slope, curvature = sums_of_exponent(*rows, a := float(np.exp(t)))
        # The part of the curvature that is never negative.
        step = -(a * slope + t * ridge) / (max(a * a * curvature, 0.0) + max(a * slope, 0.0) + ridge)
        t += float(np.clip(step, -1.0, 1.0))
        if abs(step) < LAST_STEP:
            break
    value = float(sums_of_exponent(*rows, float(np.exp(t)))[0])
    return _Found(t, floor, value + 0.5 * t**2 * ridge + (COST_OF_FLOOR if floor > 0.0 else 0.0))


def _uniform_share(of_true: FloatArray, weight: FloatArray, n_classes: int, before: float) -> float:
    """Return the share that the uniform forecast should have, from rows whose true class had less than half of its share.

    With the prior Beta(c, 1) it is (c + sum of responsibilities) / (n + c + 1), its mean.
    """
    total = float(weight.sum()) + before + 1.0
    missed = n_classes * of_true < 0.5
    of_true, weight = of_true[missed], weight[missed]
    share = least = before / total
    for _ in range(MOST_STEPS):
        uniform = share / n_classes
        last, share = share, least + float(weight @ (uniform / ((1.0 - share) * of_true + uniform))) / total
        if abs(share - last) < LAST_SHARE * last:
            break
    return min(share, MOST_UNIFORM)


# What many forecasts say of the precision of each group of weights, before the rows to fit are seen


MOST_AWAY = 2.5
CLASSES = 6.0


class Normal(NamedTuple):
    """Mean of rho at K = 6 and exponent 1, its slopes in log(K / 6) and in the size of log exponent, and the spread."""

    mean: float
    of_classes: float
    of_exponent: float
    spread: float


TWO_CLASSES: Mapping[str, Normal] = {
    "temp": Normal(4.0, 0.0, 0.0, 0.5),
    "bias": Normal(2.44, 0.0, -0.58, 1.41),
    "asym": Normal(3.04, 0.0, -0.44, 1.63),
    "curve": Normal(3.54, 0.0, -0.89, 2.56),
    "rank": Normal(3.54, 0.0, -0.89, 2.0),
}
"""Of a map of log-odds."""

MANY_CLASSES: Mapping[str, Normal] = {
    "temp": Normal(4.0, 0.0, 0.0, 0.5),
    "curve": Normal(3.30, 0.01, -0.64, 2.03),
    "row": Normal(2.62, 1.07, -0.31, 1.84),
    "bias": Normal(2.84, 1.43, -0.85, 2.13),
    "slope": Normal(4.67, 1.45, -0.97, 1.90),
    "mat": Normal(4.08, 0.32, -0.46, 2.05),
    "prob": Normal(1.90, -0.21, -0.40, 1.86),
    "sqz": Normal(4.19, 0.91, -1.60, 2.50),
}
"""Of a map of three classes or more."""


SHARED = ("temp", "curve", "row")
"""Groups of features that all classes share: they do nothing to the order of classes in a row, if the slope is positive."""


def groups_of(n_classes: int, *, ordered: bool = False) -> Mapping[str, Normal]:
    """Return the groups of weights; of maps that are to keep the order of classes in a row, those of three classes or more."""
    if ordered:
        return {name: MANY_CLASSES[name] for name in SHARED}
    if MOST_WITH_PROB < n_classes <= MOST_INTERACTING:
        return {name: normal for name, normal in MANY_CLASSES.items() if name != "prob"}
    return TWO_CLASSES if n_classes == 2 else MANY_CLASSES


def prior_of(groups: Mapping[str, Normal], n_classes: int, exponent: float) -> tuple[FloatArray, FloatArray]:
    """Return mean and spread of rho of each group."""
    away = min(abs(float(np.log(exponent))), MOST_AWAY)
    classes = float(np.log(n_classes / CLASSES))
    normals = groups.values()
    mean = np.array([normal.mean + normal.of_classes * classes + normal.of_exponent * away for normal in normals])
    return mean, np.array([normal.spread for normal in normals])


# The logit of a problem: standardised log-probabilities, features measured on them, and the groups of their weights


MANY = 1 << 21
"""Rows times the square of the number of classes from which features are kept in single precision."""


def precision_for(z: FloatArray) -> type[np.floating[Any]]:
    """Return the precision of features that are made of log-probabilities, shape (n, K)."""
    return np.float32 if z.size * z.shape[1] > MANY else np.float64


Features = LogOddsFeatures | ClassFeatures


@dataclass(frozen=True, eq=False)
class Model:
    """What is fitted: a logit, the names of the groups, the group of each weight, and the prior of the groups."""

    logit: Logit
    names: tuple[str, ...]
    group: IntArray
    prior: Prior
    features: Features


def measured(z: FloatArray, weight: FloatArray, *, ordered: bool = False) -> Features:
    """Measure features on standardised log-probabilities, shape (n, K); ``ordered``, such as keep the order of classes."""
    kind = LogOddsFeatures if z.shape[1] == 2 and not ordered else ClassFeatures
    return kind.measured(z, weight)


def model_of(
    z: FloatArray, label: IntArray, weight: FloatArray, features: Features, exponent: float, *, ordered: bool = False
) -> Model:
    """Return what is fitted to standardised log-probabilities z, shape (n, K), with these features."""
    n_classes = z.shape[1]
    groups, logit = groups_of(n_classes, ordered=ordered), features.logit(z, label, weight, ordered=ordered)
    number = {name: g for g, name in enumerate(groups)}
    group = np.array([number[name] for name in features.groups(ordered=ordered)])
    return Model(logit, tuple(groups), group, Prior(*prior_of(groups, n_classes, exponent)), features)


def rest_of(prob: FloatArray) -> FloatArray:
    """Return the probabilities of all other classes together, shape (n, K), with the digits that  1 - p  has lost."""
    return prob @ (1.0 - np.eye(prob.shape[1]))


MOST_LOG_ODDS = 700.0


@dataclass(frozen=True, eq=False)
class Maps:
    """Weights of M maps.

    Attributes
    ----------
    shared : ndarray of shape (M, S)
        Weights of the features that all classes share.
    own : ndarray of shape (M, K, F)
        Weights that each class has for itself; F may be 0.
    shares : ndarray of shape (M + 1,)
        Share of each map, and of the prediction itself.
    """

    shared: FloatArray
    own: FloatArray
    shares: FloatArray

    def mixed(self, z: FloatArray, prob: FloatArray, features: Features) -> FloatArray:
        """Return probabilities, shape (n, K), given standardised log-probabilities z and the prediction itself."""
        mixed: FloatArray = sum(features.mixed(z, self), self.shares[-1] * prob)
        return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))

    def scores(self, z: FloatArray, features: ClassFeatures) -> list[FloatArray]:
        """Return the scores of each map, shape (n, K)."""
        shared = features.shared(z)
        if not self.own.shape[2]:  # added up one by one, so that equal classes keep equal scores
            return [
                z + sum(weight * one for weight, one in zip(weights, shared, strict=True)) for weights in self.shared
            ]
        scores = [z + np.tensordot(weights, shared, axes=1) for weights in self.shared]
        table = features.table(z)
        for score, weights in zip(scores, self.own, strict=True):
            score += table.scores(weights)
        return scores
