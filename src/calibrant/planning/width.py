"""How wide the interval of a metric is, with a number of rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from calibrant._core.parameters import require
from calibrant._core.problem import SimplexProblem
from calibrant._core.warnings import CalibrationWarning
from calibrant.binning import Binning
from calibrant.metrics.kinds.metric import Metric
from calibrant.metrics.uncertainty.estimate import NO_INTERVAL, Estimate, Resampling
from calibrant.metrics.uncertainty.setting import Setting
from calibrant.metrics.uncertainty.several import estimates, within
from calibrant.notions import Notion
from calibrant.planning.predictions import Predictions
from calibrant.sums.draws import Bootstrap

DATA_SETS, ROUGHLY = 15, 5
"""Data sets of a number of rows of which the interval is made, and as many for a rough figure."""

DRAWS = 200
"""Draws of each interval that needs some."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """The intervals of a metric, as `assess` makes them, of calibrated predictions."""

    metric: Metric
    predictions: Predictions
    level: float
    binning: Binning
    notion: str | Notion | None

    def median_width(self, n: int, rng: np.random.Generator, *, rough: bool = False) -> float:
        """Median over data sets of so many rows; infinite where most have no interval, as a slope of very few events."""
        truth = self.predictions.forecast.prob
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)  # an undefined slope is an infinite width here
            drawn = (self.predictions.drawn(n, truth, rng)[0] for _ in range(ROUGHLY if rough else DATA_SETS))
            return float(np.median([self._width(problem, rng) for problem in drawn]))

    def _width(self, problem: SimplexProblem, rng: np.random.Generator) -> float:
        found = self._estimate(problem, Resampling(self.level, DRAWS, rng))
        require(
            found.upper is not None,
            "metric must have an interval",
            got=f"{self.metric.name!r}: {NO_INTERVAL}",
            hint="Take 'ece' or another calibration error",
        )
        lower, upper = found.interval
        return upper - lower if np.isfinite(upper - lower) else np.inf

    def _estimate(self, problem: SimplexProblem, resampling: Resampling) -> Estimate:
        if self.metric.draws_labels:
            return estimates([self.metric], problem, self.binning, resampling, notion=self.notion)[self.metric.name]
        # Of a formula: to draw the bootstrap samples that others share would take ten times as long.
        bootstrap = Bootstrap(problem.size, 1, resampling.rng)
        setting = Setting(problem, problem, resampling, bootstrap, notion=self.notion)
        return within(self.metric.range, self.metric.estimate(setting))
