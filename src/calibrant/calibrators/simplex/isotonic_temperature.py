"""Temperature scaling, then isotonic regression of each class against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core import links
from calibrant._core.links import LEAST_SCORE, FloatArray
from calibrant._core.parameters import number, require
from calibrant._core.problem import Forecast, SimplexProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.calibrators.kinds import MulticlassCalibrator
from calibrant.calibrators.one_score.isotonic import check_steps, on_steps
from calibrant.calibrators.simplex.multiclass_isotonic import divided, steps_of
from calibrant.calibrators.simplex.temperature import TemperatureScaling, check_temperature

TIED = 10
"""Decimals of the logarithm at which scaled scores are tied: equal ones must not be told apart by rounding."""


@declare(
    "calibrator",
    "irova-ts",
    symbol="IROvA-TS",
    source="Zhang et al. 2020",
    guarantees={"ROC-hull preserving", "permutation equivariant", "finite log loss"},
)
class IsotonicTemperatureScaling(MulticlassCalibrator):
    """Divide logits by a temperature, then map each class by its own isotonic regression (IROvA-TS).

    Use it when there are hundreds of rows of every class and classes are miscalibrated each in its own way: it is more
    accurate than isotonic regression one against the rest alone, because only what temperature leaves has to be
    learnt by steps. Do not use it with few rows a class: the steps of a rare class follow single rows, predicted
    classes move, and the log loss suffers; `TemperatureScaling` or `MulticlassIsotonic` are safer there.

    Parameters
    ----------
    epsilon : float, default=1e-3
        This times the scaled score is added to each isotonic map, so that no class that had a probability loses it. With 0
        the log loss of new rows can be infinite.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    temperature_ : float
        The fitted T.
    gradient_ : float
        The certificate of `TemperatureScaling`.
    n_iter_ : int
        Newton steps taken for the temperature.
    left_ : list of ndarray of shape (n_blocks,)
        For each class the lowest scaled score of each block.
    value_ : list of ndarray of shape (n_blocks,)
        For each class the event rate of each block, increasing.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    With s = softmax(z / T), q_k = g_k(s_k) + epsilon s_k, divided by the sum of the row. Each g_k is a step function; equal
    scores, to ten digits, are one point. The temperature is that of `TemperatureScaling`, with its answers to degenerate
    rows. The authors' code interpolates between steps and has epsilon = 1e-9, so that a true class where its map
    is zero costs some 20 nats; the larger epsilon makes it some 7, and log losses on new rows lower. A class that never
    occurred has g_k = 0: what is left of it is epsilon s_k.

    References
    ----------
    Zhang, Kailkhura, Han, Mix-n-Match: ensemble and compositional methods for uncertainty calibration in deep learning,
    ICML 2020.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import IsotonicTemperatureScaling
    >>> y, prob = load_digits_forecast()
    >>> len(IsotonicTemperatureScaling().fit(prob, y).value_)
    10
    """

    temperature_: float
    gradient_: float
    n_iter_: int
    left_: list[FloatArray]
    value_: list[FloatArray]

    def __init__(
        self, *, epsilon: float = 1e-3, input: Input = "probability", labels: Sequence[Any] | None = None
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.epsilon = epsilon

    def _fit(self, problem: SimplexProblem) -> None:
        number("epsilon", self.epsilon, least=0.0, most=1.0, hint="Pass a small one, such as 1e-3")
        scaling = TemperatureScaling()
        scaling._fit(problem)
        self.temperature_, self.gradient_, self.n_iter_ = scaling.temperature_, scaling.gradient_, scaling.n_iter_
        scaled = self._scaled(problem.forecast)
        maps = [steps_of(s, problem.label == k, problem.weight) for k, s in enumerate(scaled.T)]
        self.left_, self.value_ = [left for left, _ in maps], [value for _, value in maps]

    def _check_loaded(self) -> None:
        number("epsilon", self.epsilon, least=0.0, most=1.0, hint="Fit anew")
        check_temperature(self.temperature_)
        for name in ("left_", "value_"):
            require(
                len(getattr(self, name)) == len(self.classes_),
                f"{name} must have one array for each of the {len(self.classes_)} classes",
                value=len(getattr(self, name)),
                hint="Fit anew",
            )
        for k, (left, value) in enumerate(zip(self.left_, self.value_, strict=True)):
            check_steps(f"left_ of class {k}", left, f"value_ of class {k}", value)

    def _apply(self, forecast: Forecast) -> FloatArray:
        scaled = self._scaled(forecast)
        maps = zip(self.left_, self.value_, scaled.T, strict=True)
        stepped = np.column_stack([on_steps(left, value, s) for left, value, s in maps])
        return divided(stepped + self.epsilon * scaled, scaled)

    def _scaled(self, forecast: Forecast) -> FloatArray:
        """Return softmax(z / T), rounded and never zero."""
        log_prob = links.log_prob_of_logit(forecast.log_prob / self.temperature_)
        scaled: FloatArray = np.exp(np.maximum(np.round(log_prob, TIED), LEAST_SCORE))
        return scaled
