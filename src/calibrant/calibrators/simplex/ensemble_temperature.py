"""Ensemble temperature scaling: a mixture of the forecast, the forecast at another temperature, and the uniform one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.links import FloatArray, prob_of_scores, sum_of_rows
from calibrant._core.parameters import shares
from calibrant._core.problem import Forecast, SimplexProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant._core.warnings import warn
from calibrant.calibrators.kinds import MulticlassCalibrator
from calibrant.calibrators.simplex.temperature import TemperatureScaling, check_temperature
from calibrant.solvers.mixture import most_likely_shares

CERTAIN = 1e-8
"""Largest component of the KKT residual at which weights are optimal: the mean log loss is then as small as it gets."""

LEAST_TRUE = 1e-100
"""Probability of the true class, below which weights are fitted as if it were this: squares of its inverse would overflow."""

LEAST = 1e-6
"""Weight that the forecast at temperature T keeps, so that no two classes are ever tied by the uniform part alone."""


@declare(
    "calibrator",
    "ensemble-temperature",
    symbol="ETS",
    source="Zhang et al. 2020",
    guarantees={
        "argmax preserving",
        "ROC-hull preserving",
        "permutation equivariant",
        "finite log loss",
        "contains the identity",
    },
)
class EnsembleTemperatureScaling(MulticlassCalibrator):
    """Mix the forecast with itself at a fitted temperature and with the uniform forecast (ETS).

    Use it in place of temperature scaling when a few forecasts are confident and wrong: the uniform part bounds what
    they cost, without making all others cautious. It keeps the predicted class and has two parameters more. It cannot
    correct what differs between classes.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    temperature_ : float
        The temperature T of the first part, that of `TemperatureScaling`.
    weights_ : ndarray of shape (3,)
        Weights of the forecast at temperature T, of the original forecast, and of the uniform one; they sum to one.
    gradient_ : float
        KKT residual of the weights: the largest derivative of the mean log loss along a weight that is positive, or
        downwards along one that is zero. The certificate of optimality.
    n_iter_ : int
        Newton steps taken for the weights.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    The map is w_1 softmax(z / T) + w_2 softmax(z) + w_3 / K. First T is fitted alone, as in the authors' code, then the
    weights: their mean log loss is convex, and its minimum over the simplex is found by Newton steps within
    the bounds of the three weights. T and weights together are no convex problem: there are several
    minima in T, and the best was lower by less than 0.0001 in log loss on three networks. The authors' code takes the
    squared error by default; here it is the log loss.

    Where the uniform forecast is the best of all, the first weight is 1e-6 and not 0, so that the predicted class is kept.
    Where T has no optimum (`TemperatureScaling` warns) the weights are fitted for the T at which its search ends. Where
    parts are equal, as at T = 1, their weights are not determined, and the map is.

    References
    ----------
    Zhang, Kailkhura, Han, Mix-n-Match: ensemble and compositional methods for uncertainty calibration in deep learning,
    ICML 2020.

    Examples
    --------
    >>> from calibrant import EnsembleTemperatureScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> EnsembleTemperatureScaling().fit(prob, y).temperature_ > 1
    True
    """

    temperature_: float
    weights_: FloatArray
    gradient_: float
    n_iter_: int

    def __init__(self, *, input: Input = "probability", labels: Sequence[Any] | None = None) -> None:
        super().__init__(input=input, labels=labels)

    def _fit(self, problem: SimplexProblem) -> None:
        scaling = TemperatureScaling()
        scaling._fit(problem)
        self.temperature_ = scaling.temperature_
        rows = np.arange(problem.size)
        of_true = np.column_stack([part[rows, problem.label] for part in self._parts(problem.forecast)])
        of_true = np.maximum(of_true, LEAST_TRUE)
        best = most_likely_shares(of_true, problem.weight, np.full(3, 1.0 / 3.0))
        self.gradient_, self.n_iter_ = best.residual, best.n_iter
        self.weights_ = best.point.x if best.point.x[2] <= 1.0 - LEAST else np.array([LEAST, 0.0, 1.0 - LEAST])
        if self.gradient_ > CERTAIN:
            warn(
                f"the weights must have a KKT residual below {CERTAIN:g}; got {self.gradient_:.2g} after "
                f"{self.n_iter_} steps on {problem.size} rows. They are used as they are: check for extreme logits.",
                ConvergenceWarning,
            )

    def _check_loaded(self) -> None:
        check_temperature(self.temperature_)
        shares("weights_", self.weights_, size=3)

    def _apply(self, forecast: Forecast) -> FloatArray:
        mixed = sum(w * part for w, part in zip(self.weights_, self._parts(forecast), strict=True))
        result: FloatArray = mixed / sum_of_rows(mixed)
        return result

    def _parts(self, forecast: Forecast) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the three forecasts that are mixed."""
        prob = prob_of_scores(forecast.values) if forecast.is_logit else forecast.prob
        scaled = prob_of_scores(forecast.log_prob, self.temperature_)
        return scaled, prob, np.broadcast_to(1.0 / prob.shape[1], prob.shape)
