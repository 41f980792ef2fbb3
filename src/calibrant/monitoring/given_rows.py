"""Rows that a monitor is given: in memory, or predictions that are read in batches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._core.parameters import require
from calibrant._core.problem import Problem, SimplexProblem
from calibrant._core.validation import as_problem
from calibrant.monitoring.by_window import ByWindow, of_predictions, summed
from calibrant.monitoring.settled import Settings, plan_for
from calibrant.monitoring.windows import Windows
from calibrant.sums import Plan, Sums
from calibrant.sums.predictions import Predictions


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows as a monitor reads them.

    Attributes
    ----------
    monitor : Settings
        How it reads them.
    before : Plan or None
        What is summed, where earlier rows decided it.
    y_true, y_prob, sample_weight : object
        What `Monitor.update` was given.
    """

    monitor: Settings
    before: Plan | None
    y_true: Any
    y_prob: Any
    sample_weight: Any

    @cached_property
    def problem(self) -> Problem:
        """The rows, or some of those that are read in batches."""
        monitor = self.monitor
        if isinstance(self.y_true, Predictions):
            return self._head(self.y_true)
        return as_problem(
            self.y_true,
            self.y_prob,
            sample_weight=self.sample_weight,
            labels=monitor.labels,
            pos_label=monitor.pos_label,
            input=monitor.input,
            rows=monitor.rows,
        )

    def _head(self, predictions: Predictions) -> Problem:
        """Return some rows of predictions, which have their own numbers and weights, and know their event."""
        must = "y_prob and sample_weight must be left out with predictions that are read in batches"
        require(self.y_prob is None and self.sample_weight is None, must, got="some", hint="They hold their own")
        problem = predictions.head()
        classes = problem.classes.tolist()
        in_order = len(classes) > 2 or classes == sorted(classes, key=str)
        require(
            self.monitor.labels is not None or in_order or not isinstance(problem, SimplexProblem),
            "labels must be given where the event of two columns is the first",
            got="none",
            hint="Pass Monitor(labels=..., pos_label=...) as predictions have them",
        )
        return problem

    @cached_property
    def plan(self) -> Plan:
        """What is summed."""
        return plan_for(self.monitor, self.problem, self.before)

    @property
    def labels(self) -> list[Any]:
        """The class of each column, where the event of two may be the first; of one column the event is the last."""
        monitor, problem = self.monitor, self.problem
        if monitor.labels is not None:
            return list(monitor.labels)
        in_batches = isinstance(self.y_true, Predictions)
        if monitor.pos_label is None or in_batches or not isinstance(problem, SimplexProblem):
            return list(problem.classes.tolist())
        return list(as_problem(self.y_true, self.y_prob, input=monitor.input, rows=monitor.rows).classes.tolist())

    def by_window(self, windows: Windows, start: int, at: Any) -> ByWindow:
        """Sum the rows of each window; ``start`` is the number of the first row among all."""
        problem = self.problem
        if isinstance(self.y_true, Predictions):
            must = "at must be one value for all rows of predictions that are read in batches"
            is_one = at is None or np.ndim(at) == 0
            require(is_one, must, got=f"shape {np.shape(at)}", hint="Update with each window alone")
            return of_predictions(self.y_true, start, at, windows, self.plan)
        n = problem.size if self.sample_weight is None else np.size(self.sample_weight)
        keys = windows.keys(at, n, start)
        if problem.size < n:  # rows of weight 0 are left out
            keys = keys[np.asarray(self.sample_weight, dtype=np.float64) > 0.0]
        return ByWindow.of(problem, keys, self.plan, start + n)

    def summed(self) -> Sums:
        """Sum all rows."""
        plan = self.plan
        if isinstance(self.y_true, Predictions):
            return self.y_true.reduce(lambda batch, _: summed(batch, plan))
        return summed(self.problem, plan)
