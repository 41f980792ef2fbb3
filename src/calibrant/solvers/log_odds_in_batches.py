"""Logistic regression of rows that are read in batches: sums of gradients and second derivatives, a reading for each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, Problem
from calibrant.solvers.logistic import EXPLAINED, LAST_STEP, LogisticFit, LogisticLoss, independent
from calibrant.solvers.newton import DensePoint, Stop, minimise
from calibrant.solvers.separation import Family, Spread, is_separated_by
from calibrant.sums.unread import UnreadBinary

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
