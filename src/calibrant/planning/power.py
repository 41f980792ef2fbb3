"""How often a test finds a true calibration error, with a number of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import Forecast, SimplexProblem
from calibrant.binning import Binning
from calibrant.metrics.kinds.metric import Metric
from calibrant.metrics.uncertainty.deviations import consistent_deviations
from calibrant.metrics.uncertainty.estimate import pvalue_of
from calibrant.metrics.uncertainty.residuals import Residuals
from calibrant.notions import Notion
from calibrant.planning.predictions import OF_TWO_CLASSES, Predictions
from calibrant.sums.draws import ConsistentLabels

DRAWS, ROUGHLY, TIMES = 250, 100, 4
"""Data sets on which the test is tried at a time, each time with rows and draws under calibration of its own: a share of one
time varies by 0.04, of which the draws make half. As many data sets, and one time, for a rough figure."""

NULL_DRAWS = 399
"""Draws under calibration behind its p-values; more where the level is below 0.01."""

STRENGTHS = tuple(np.linspace(0.0, 5.0, 51).tolist())
"""Strengths between which the one that makes the wanted error is looked for."""


@dataclass(frozen=True, eq=False)
class Detection:
    """A test of a metric, by draws of labels as in `assess`, and predictions that it is of."""

    metric: Metric
    predictions: Predictions
    wrong: str
    level: float
    binning: Binning
    notion: str | Notion | None

    def residuals(self, problem: SimplexProblem) -> Residuals:
        """Return the residuals that the metric is the size of."""
        found = self.metric.residuals(problem, self.binning, self.notion)
        require(
            found is not None and found.has_fixed_cells,
            "metric must be a calibration error whose bins do not depend on the outcomes, for detect=",
            value=self.metric.name,
            hint="Take 'ece', 'classwise-ece', 'ks-error' or 'smooth-ece', or ask for width= in place of detect=",
        )
        assert found is not None
        return found

    def truth(self, error: float) -> FloatArray:
        """Return the true probabilities of all predictions with which their true error is as wanted, shape (n, K)."""
        problem, predictions = self.predictions.whole(), self.predictions
        require(
            self.wrong not in OF_TWO_CLASSES or predictions.n_classes == 2,
            f"wrong must be 'over-confident' or 'under-confident' of more than two classes; {self.wrong!r} is of one event",
            got=f"{predictions.n_classes} classes",
            hint="Pass one of these",
        )
        residuals = self.residuals(problem)
        table = residuals.cells()
        sizes = residuals.sizes(table)
        row, column = np.nonzero(table.of >= 0)
        cell = table.of[row, column]

        def excess(strength: float) -> float:
            truth = predictions.truth(self.wrong, strength)
            events = np.bincount(cell, truth[row, column], table.weight.size)
            return float(sizes((table.scale * (events - table.expected))[None])[0]) - error

        largest, step = -error, 0
        while largest < 0.0 and step + 1 < len(STRENGTHS):
            step += 1
            largest = max(largest, excess(STRENGTHS[step]))
        require(
            largest >= 0.0,
            f"detect must be an error that {self.wrong} predictions like these can have, at most {largest + error:.3g}",
            value=error,
            hint="Pass a smaller error, or predictions that are wrong in another way by wrong=",
        )
        strength = brentq(excess, STRENGTHS[step - 1], STRENGTHS[step], xtol=1e-9)
        return predictions.truth(self.wrong, float(strength))

    def power(self, n: int, truth: FloatArray, rng: np.random.Generator, *, rough: bool = False) -> float:
        """Share of the data sets of so many rows in which the test rejects, between 0 and 1.

        The p-value is that of `assess`: the share of draws from the predictions themselves that reach the error.
        """
        size, times = (ROUGHLY, 1) if rough else (DRAWS, TIMES)
        found = sum(self._found(n, size, truth, rng) for _ in range(times))
        return (found + 0.5) / (size * times + 1.0)

    def _found(self, n: int, size: int, truth: FloatArray, rng: np.random.Generator) -> int:
        """Draw rows once and labels of ``size`` data sets from their true probabilities; return how often the test rejects."""
        problem, rates = self.predictions.drawn(n, truth, rng)
        residuals = self.residuals(problem)
        null = residuals.null(max(NULL_DRAWS, int(np.ceil(4.0 / self.level)) - 1), rng)[1]
        # Labels of the truth in the cells of the predictions: only where the labels come from is another.
        table = replace(residuals.cells(), moments=None)
        labels = ConsistentLabels(rates, size, rng)
        (deviations,) = consistent_deviations(replace(problem, forecast=Forecast(rates)), [table], labels, labels)
        return sum(pvalue_of(value, null) <= self.level for value in residuals.sizes(table)(deviations).tolist())
