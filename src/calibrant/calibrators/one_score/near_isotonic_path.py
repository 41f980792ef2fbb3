"""The nearly-isotonic fits of a problem at all penalties, from the labels themselves to isotonic regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, IntArray
from calibrant.binning.distinct_scores import Ordered
from calibrant.calibrators.one_score.isotonic import Finite, off_the_ends

SAME_RATE = 1e-12
"""Event rates of neighbouring scores that differ by no more are one block from the start."""

SAME_PENALTY = 1e-10
"""Joins whose penalties differ by so much relatively, which is rounding, are one: there is no fit between them."""


class Fit(NamedTuple):
    """Blocks of a nearly-isotonic fit: number of the first point, weight, weight of the events and value of each."""

    starts: IntArray
    weight: FloatArray
    events: FloatArray
    value: FloatArray


class Scored(NamedTuple):
    """A fit's penalty and its BIC."""

    penalty: float
    bic: float


@dataclass(frozen=True, eq=False)
class NearIsotonicPath:
    """The nearly-isotonic fits of a problem at all penalties.

    Points are runs of scores with one event rate. ``above`` says of the boundary behind each point but the last whether the
    rate is higher before it, ``gone`` from which penalty on it is no more. ``join_penalty`` are the penalties of all joins in
    order, and ``join_loss`` what each costs in log likelihood if blocks have their event rates.
    """

    score: FloatArray
    weight: FloatArray
    events: FloatArray
    above: IntArray
    gone: FloatArray
    join_penalty: FloatArray
    join_loss: FloatArray
    rows_per_weight: float

    @classmethod
    def of(cls, problem: BinaryProblem) -> NearIsotonicPath:
        """Follow the path from penalty 0 to isotonic regression."""
        from calibrant._kernels.near_isotonic import join_path

        ordered = Ordered.of(problem)
        rate = ordered.outcome_sum / ordered.weight
        starts = np.flatnonzero(np.append(True, np.abs(np.diff(rate)) > SAME_RATE))
        weight, events = np.add.reduceat(ordered.weight, starts), np.add.reduceat(ordered.outcome_sum, starts)
        above = (rate[starts[1:] - 1] > rate[starts[1:]]).astype(np.intp)
        penalty, boundary, (e_left, w_left, e_right, w_right) = join_path(events, weight, above)
        gone = np.full(above.size, np.inf)
        gone[boundary] = penalty
        apart = _log_likelihood(e_left, w_left) + _log_likelihood(e_right, w_right)
        loss = apart - _log_likelihood(e_left + e_right, w_left + w_right)
        return cls(ordered.score[starts], weight, events, above, gone, penalty, loss, problem.weights.rows_per_weight)

    def fit(self, penalty: float) -> Fit:
        """Return the fit at a penalty: a block loses it behind, and gains it in front, where there is a step down."""
        penalty = min(penalty, self.join_penalty[-1] if self.join_penalty.size else 0.0)
        inner = np.flatnonzero(self.gone > penalty) + 1
        starts, above = np.append(0, inner), self.above[inner - 1]
        weight, events = np.add.reduceat(self.weight, starts), np.add.reduceat(self.events, starts)
        moved = penalty * (np.append(0, above) - np.append(above, 0))
        return Fit(starts, weight, events, np.clip((events + moved) / weight, 0.0, 1.0))

    def off_the_ends(self, fit: Fit, finite: Finite) -> FloatArray:
        """Return the values of a fit, kept off 0 and 1 as ``finite`` says."""
        row, value = 1.0 / self.rows_per_weight, fit.value
        if finite == "smooth":
            value = (fit.weight * value + row) / (fit.weight + 2.0 * row)
        return off_the_ends(value, finite, float(self.weight.sum()) / row)

    @cached_property
    def knots(self) -> FloatArray:
        """Penalty 0, and those at which blocks join; of joins at one penalty the last."""
        reached: FloatArray = np.append(0.0, self.join_penalty)[self._is_last]
        return reached

    @cached_property
    def best_bic(self) -> FloatArray:
        """What the BIC at each knot is at least: that of the same blocks with their event rates for values.

        It takes one number a join; the BIC itself takes all blocks at each knot, O(n^2) for them all.
        """
        of_points = _log_likelihood(self.events, self.weight).sum()
        reached = of_points - np.append(0.0, np.cumsum(self.join_loss))
        blocks = self.weight.size - np.arange(reached.size)
        best: FloatArray = self._bic(reached, blocks)[self._is_last]
        return best

    def scored(self, margin: float) -> Iterator[Scored]:
        """Yield the fits at knots with their BIC, the most promising first.

        What is left out has a BIC that is higher than the least one by more than ``margin``.
        """
        least = np.inf
        for i in np.argsort(self.best_bic, kind="stable"):
            if self.best_bic[i] > least + margin:
                return
            penalty = float(self.knots[i])
            bic = self.bic(penalty)
            least = min(least, bic)
            yield Scored(penalty, bic)

    def bic(self, penalty: float) -> float:
        """Return -2 log likelihood + blocks * log(rows).

        Never infinite: a block has the value 0 only if it holds no event, as it falls only while it stands above another.
        """
        fit = self.fit(penalty)
        likelihood = xlogy(fit.events, fit.value) + xlogy(fit.weight - fit.events, 1.0 - fit.value)
        return float(self._bic(likelihood.sum(), fit.starts.size))

    def least_bic(self) -> float:
        """Return the penalty of least BIC; of equally good ones the highest."""
        return min(self.scored(0.0), key=lambda scored: (scored.bic, -scored.penalty)).penalty

    @cached_property
    def _is_last(self) -> Any:
        reached = np.append(0.0, self.join_penalty)
        return np.append(np.diff(reached) > SAME_PENALTY * reached[1:], True)

    def _bic(self, log_likelihood: Any, blocks: Any) -> Any:
        rows = float(self.weight.sum()) * self.rows_per_weight
        return -2.0 * self.rows_per_weight * log_likelihood + blocks * np.log(rows)


def _log_likelihood(events: FloatArray, weight: FloatArray) -> FloatArray:
    """Log likelihood of blocks that have their event rates for values."""
    others = weight - events
    likelihood: FloatArray = xlogy(events, events / weight) + xlogy(others, others / weight)
    return likelihood
