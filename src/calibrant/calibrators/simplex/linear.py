"""Calibrators that are a table of `multinomial`: what they keep of the fit, and the map that they apply."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from calibrant._core.links import FloatArray, prob_of_scores
from calibrant._core.parameters import choice, number, numbers
from calibrant._core.problem import Forecast, SimplexProblem
from calibrant._core.validation import Input
from calibrant.calibrators.base import MOST_COEFFICIENT
from calibrant.calibrators.kinds import MulticlassCalibrator
from calibrant.calibrators.simplex.multinomial import (
    Logits,
    fit_table,
    log_prob_of,
    logits_of,
    temperature_of,
    tempered,
)
from calibrant.calibrators.simplex.table_rows import rows_of
from calibrant.calibrators.simplex.temperature import check_temperature
from calibrant.solvers.multinomial import Design, Full


class LinearScaling(MulticlassCalibrator):
    """Softmax of scores that are linear in log-probabilities; where ``coef_`` is a vector, each in that of its own class."""

    coef_: FloatArray
    intercept_: FloatArray
    gradient_: float
    n_iter_: int

    def _fit_table(
        self,
        design: Design,
        problem: SimplexProblem,
        ridge: FloatArray,
        centre: FloatArray,
        start: FloatArray,
    ) -> None:
        found = fit_table(design, rows_of(problem, self._entering), problem, ridge, centre, start)
        table = found.table
        if isinstance(design, Full):
            self.coef_, self.intercept_ = table[:-1].T.copy(), table[-1]
        else:
            self.coef_, self.intercept_ = table[0], table[1] if len(table) > 1 else np.zeros(table.shape[1])
        self.gradient_, self.n_iter_ = found.gradient, found.steps

    def _check_loaded(self) -> None:
        n_classes = len(self.classes_)
        shape = (n_classes,) if self.coef_.ndim == 1 else (n_classes, n_classes)
        numbers("coef_", self.coef_, shape=shape, least=-MOST_COEFFICIENT, most=MOST_COEFFICIENT)
        numbers("intercept_", self.intercept_, shape=(n_classes,), least=-MOST_COEFFICIENT, most=MOST_COEFFICIENT)

    def _apply(self, forecast: Forecast) -> FloatArray:
        z = self._entering(forecast)
        return prob_of_scores((z * self.coef_ if self.coef_.ndim == 1 else z @ self.coef_.T) + self.intercept_)

    def _entering(self, forecast: Forecast) -> FloatArray:
        """Return the log-probabilities, or the logits, that enter the map."""
        return log_prob_of(forecast)


class LogitScaling(LinearScaling):
    """Scores that are linear in logits which a parameter names: the same forecast has more than one table of them."""

    unstored = MappingProxyType({"logits": "log-softmax"})

    def __init__(
        self, *, logits: Logits = "as-given", input: Input = "probability", labels: Sequence[Any] | None = None
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.logits = logits

    def _check_loaded(self) -> None:
        super()._check_loaded()
        choice("logits", self.logits, get_args(Logits))

    def _entering(self, forecast: Forecast) -> FloatArray:
        return logits_of(forecast, self.logits)


class StructuredScaling(LinearScaling):
    """A temperature first, and penalties that fade with data."""

    temperature_: float
    uniform_: float

    def __init__(
        self,
        *,
        rho: float = 1.0,
        tau: float = 1.0,
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.rho = rho
        self.tau = tau

    def _fit_temperature(self, problem: SimplexProblem) -> None:
        """Find the temperature, after which log-probabilities enter the map."""
        self.temperature_, self.uniform_ = temperature_of(problem), 1.0 / (problem.weights.rows + 1.0)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        check_temperature(self.temperature_)
        number("uniform_", self.uniform_, least=1e-100, most=1.0, hint="Fit anew")

    def _entering(self, forecast: Forecast) -> FloatArray:
        return tempered(log_prob_of(forecast), self.temperature_, self.uniform_)
