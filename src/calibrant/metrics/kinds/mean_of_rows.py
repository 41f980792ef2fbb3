"""A metric that is the mean of one value a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import Problem, as_simplex
from calibrant.binning import Binning
from calibrant.metrics.kinds.metric import Difference, Metric
from calibrant.metrics.log_losses import Impossible, LogLoss, impossible_of
from calibrant.metrics.uncertainty.estimate import Estimate, mean_estimate
from calibrant.metrics.uncertainty.means import Centred, Endless, estimate_of_sums
from calibrant.metrics.uncertainty.setting import Setting
from calibrant.notions import Notion
from calibrant.sums import Plan, RowScore, Sums, scan
from calibrant.sums.draws import drawn_rows, labels_of
from calibrant.sums.unread import Unread, is_unread


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanOfRows(Metric):
    """The weighted mean of what ``per_row``, a function of a `SimplexProblem`, gives for each row."""

    per_row: RowScore

    def value(self, problem: Problem) -> float:
        """Return the mean, and warn of impossible events."""
        return self.of_sums(scan(problem, self.plan(problem)), problem)

    def plan(self, problem: Problem, binning: int | Binning | None = None, notion: str | Notion | None = None) -> Plan:
        """Ask for the sum of the values, and for the number of impossible events of a log loss."""
        scores: tuple[tuple[str, RowScore], ...] = ((self.name, self.losses),)
        if isinstance(self.per_row, LogLoss):
            scores = (*scores, (self._impossible, self.per_row.impossible_rows))
        return Plan(scores=scores, powers=1)

    def of_sums(
        self,
        sums: Sums,
        problem: Problem,
        binning: int | Binning | None = None,
        notion: str | Notion | None = None,
    ) -> float:
        """Return the mean, and warn of impossible events."""
        if isinstance(self.per_row, LogLoss):
            self.per_row.counted(sums.total(self._impossible), problem.weights).warn()
        return sums.mean(self.name)

    def plan_of_estimate(self, problem: Unread) -> Plan:
        """Ask for sums of three powers of the values, of rows that are read in batches, and what else the value asks for."""
        head = as_simplex(problem.reading.head)
        first, *others = self.plan(head).scores
        scores: list[tuple[str, RowScore]] = [(self.name, Centred.near(self.losses, head.at(slice(0, 4096)))), *others]
        if isinstance(self.per_row, LogLoss) and self.per_row.clip == 0.0:
            scores.append((self._endless, Endless(first[1])))
        return Plan(scores=tuple(scores))

    @property
    def has_sums(self) -> bool:
        """Yes."""
        return True

    @property
    def _endless(self) -> str:
        return f"{self.name}: infinite"

    @property
    def _impossible(self) -> str:
        return f"{self.name}: events of probability 0"

    def null(self, problem: Problem, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Look the values of drawn labels up, each row's in each class."""
        simplex = as_simplex(problem)
        columns = (np.full(simplex.size, j) for j in range(simplex.prob.shape[1]))
        losses = np.column_stack([self.losses(replace(simplex, label=column)) for column in columns])
        each, total, drawn = np.arange(simplex.size), simplex.weights.total, np.empty(n_resamples)
        for number, draw in enumerate(labels_of(simplex, n_resamples, rng)):
            rows, label, weight = drawn_rows(simplex, draw)
            drawn[number] = weight @ losses[each[rows], label] / total
        return self.value(problem), drawn

    def estimate(self, setting: Setting) -> Estimate:
        """Return the mean with the interval of a mean."""
        if is_unread(setting.problem):
            assert setting.sums is not None
            return estimate_of_sums(setting.sums, self.name, self._endless, setting.resampling.level)
        losses, weights = self.losses(setting.simplex), setting.simplex.weights
        return mean_estimate(losses, weights, setting.bootstrap, level=setting.resampling.level)

    def difference(self, a: Problem, b: Problem, n_resamples: int, rng: np.random.Generator) -> Difference:
        """Return the mean difference of the rows, whose standard error needs no draws."""
        weights, difference = a.weights, self.losses(a) - self.losses(b)
        rows = weights.effective_rows
        mean = float(weights.values @ difference) / weights.total
        variance = float(weights.of_variance @ (difference - mean) ** 2) / weights.total**2
        return Difference(mean, float(np.sqrt(variance * rows / max(rows - 1.0, 1.0))), rows)

    def losses(self, problem: Problem) -> FloatArray:
        """Return the values of the rows."""
        losses = self.per_row(as_simplex(problem))
        require(
            np.shape(losses) == (problem.size,),
            f"per_row of the metric {self.name!r} must give one number for each of the {problem.size} rows",
            got=f"shape {np.shape(losses)}",
            hint="Return an array of shape (n_samples,), without the mean",
        )
        return losses

    def impossible(self, problem: Problem, sums: Sums | None = None) -> Impossible | None:
        """Return what a log loss minds, from sums where they have counted it."""
        if sums is None or self._impossible not in dict(sums.plan.scores):
            return impossible_of(self.per_row, problem)
        assert isinstance(self.per_row, LogLoss)
        return self.per_row.counted(sums.total(self._impossible), problem.weights)

    def clipped(self, clip: float) -> Self:
        """Return a log loss with this clip."""
        return replace(self, per_row=LogLoss(clip)) if isinstance(self.per_row, LogLoss) else self
