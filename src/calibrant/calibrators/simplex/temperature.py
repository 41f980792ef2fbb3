"""Temperature scaling: one number that makes all forecasts bolder or more cautious."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.links import FloatArray
from calibrant._core.parameters import number
from calibrant._core.problem import Forecast, SimplexProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant._core.warnings import warn
from calibrant.calibrators.base import MulticlassCalibrator

COLDEST, HOTTEST = 1e-4, 1e4
"""Where the search for a temperature ends, when the likelihood grows towards zero or infinity for ever."""

LAST_STEP = 1e-7
"""A Newton step of this relative length is the last: the error after it is about its square."""

MOST_STEPS = 200

LEAST_SCORE = -700.0
"""A score ends this far below the highest of its row, so that no probability becomes zero."""

BLOCK = 1 << 15
"""Numbers worked on at a time: a block stays in the processor's cache through all the steps of an evaluation."""


@declare(
    "calibrator",
    "temperature",
    symbol="TS",
    source="Guo et al. 2017",
    guarantees={
        "argmax preserving",
        "ROC-hull preserving",
        "permutation equivariant",
        "finite log loss",
        "contains the identity",
    },
)
class TemperatureScaling(MulticlassCalibrator):
    """Divide all logits by one temperature (TS): softmax(z / T), T > 0.

    Use it first: one parameter cannot over-fit, the predicted class never changes, and it repairs the uniform over- or
    under-confidence of neural networks. It cannot repair what differs between classes or along the score.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logarithms of probabilities are logits up to a constant a row,
        which changes nothing; probabilities are clipped at 1e-12 first.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    temperature_ : float
        The fitted T: above 1 the forecast was over-confident, below 1 under-confident.
    gradient_ : float
        Derivative of the mean log loss with respect to 1 / T where it was last evaluated: one Newton step, shorter than
        1e-7 of 1 / T, before the solution. The certificate of optimality.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    The mean log loss is convex in 1 / T. Newton's method inside a bracket finds its one minimum; where it has none (every
    row right, or the forecast worse than uniform at every T), T ends at 1e-4 or 1e4 with a `ConvergenceWarning`; where all
    T are equally good (a uniform forecast) T is 1. A score ends 700 below the highest of its row, so that at no temperature
    a probability becomes zero.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger, On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> from calibrant import TemperatureScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> TemperatureScaling().fit(prob, y).temperature_ > 1
    True
    """

    temperature_: float
    gradient_: float
    n_iter_: int

    def __init__(self, *, input: Input = "probability", labels: Sequence[Any] | None = None) -> None:
        super().__init__(input=input, labels=labels)

    def _fit(self, problem: SimplexProblem) -> None:
        inverse, self.gradient_, self.n_iter_ = _minimise(problem)
        self.temperature_ = 1.0 / inverse

    def _check_loaded(self) -> None:
        check_temperature(self.temperature_)

    def _apply(self, forecast: Forecast) -> FloatArray:
        return prob_of_scores(_scores(forecast) / self.temperature_)


def prob_of_scores(scores: FloatArray) -> FloatArray:
    """Softmax over the columns, never zero."""
    prob: FloatArray = np.maximum(scores - scores.max(axis=1, keepdims=True), LEAST_SCORE)
    np.exp(prob, out=prob)
    prob /= prob.sum(axis=1, keepdims=True)
    return prob


def check_temperature(temperature: float) -> None:
    """Refuse what a file holds in place of a temperature."""
    number("temperature_", temperature, least=1e-100, hint="Fit anew")


def _scores(forecast: Forecast) -> FloatArray:
    """Logits up to a constant a row."""
    return forecast.values if forecast.is_logit else forecast.log_prob


def _minimise(problem: SimplexProblem) -> tuple[float, float, int]:
    """Minimise the mean log loss over b = 1 / T by Newton steps that a bracket keeps safe.

    The derivative is increasing in b, so its sign says on which side the minimum lies.
    """
    scores = _scores(problem.forecast)
    lowest, highest, b = 1.0 / HOTTEST, 1.0 / COLDEST, 1.0
    if (without := _without_minimum(scores, problem)) is not None:
        b, why = without
        return _ended(b, _derivatives(scores, problem, b)[0], 0, why)
    low, high = lowest, highest
    for steps in range(1, MOST_STEPS + 1):
        slope, curvature = _derivatives(scores, problem, b)
        low, high = (b, high) if slope < 0 else (low, b)
        newton = b - slope / curvature if curvature > 0 else np.inf
        # Far from the minimum the curvature says little: halve the bracket on the logarithmic scale instead.
        b_next = newton if low <= newton <= high else (low * high) ** 0.5
        if abs(b_next - b) <= LAST_STEP * b:
            if min(b / lowest, highest / b) < 1.0 + 1e-6:
                return _ended(b, slope, steps, "the best temperature lies beyond the end of the search")
            return b_next, slope, steps
        b = b_next
    return _ended(b, slope, MOST_STEPS, "the search has not converged")


def _without_minimum(scores: FloatArray, problem: SimplexProblem) -> tuple[float, str] | None:
    """Return where 1 / T ends and why, if no finite positive T is the best one.

    The derivative is the mean of E z - z_y. It stays negative for ever exactly if every row has its highest score on the
    class that came; it is positive from the start exactly if the uniform average, at T = infinity, is already no lower.
    """
    came = scores[np.arange(len(scores)), problem.label]
    top, middle = scores.max(axis=1), scores.mean(axis=1)
    if (came == top).all():
        if (scores.min(axis=1) == top).all():
            return 1.0, "every temperature is as good: the forecast is uniform"
        return 1.0 / COLDEST, "the likelihood grows for ever as T falls to 0: the labels all agree with the forecast"
    if problem.weight @ (middle - came) >= 0:
        return (
            1.0 / HOTTEST,
            "the likelihood grows for ever as T rises to infinity: the forecast is no better than uniform",
        )
    return None


def _ended(b: float, slope: float, steps: int, why: str) -> tuple[float, float, int]:
    """Warn that the search ended without an optimum."""
    warn(f"{why}. Temperature {1 / b:g} is used. Fit on more rows.", ConvergenceWarning)
    return b, slope, steps


def _derivatives(scores: FloatArray, problem: SimplexProblem, b: float) -> tuple[float, float]:
    """First and second derivative of the mean log loss of softmax(b z): E z - z_y and Var z, averaged over rows."""
    n, n_classes = scores.shape
    slope = curvature = 0.0
    total_weight = float(problem.weight.sum())
    step = max(1, BLOCK // n_classes)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        z = scores[rows] - scores[rows].max(axis=1, keepdims=True)
        p = np.exp(b * z)
        total = p.sum(axis=1)
        came = z[np.arange(len(z)), problem.label[rows]]
        mean = np.vecdot(p, z) / total
        p *= z
        square = np.vecdot(p, z) / total
        share = problem.weight[rows] / total_weight
        # einsum, since the threads of BLAS take longer to wake than such short sums
        slope += float(np.einsum("i,i->", share, mean - came))
        curvature += float(np.einsum("i,i->", share, square - mean**2))
    return slope, curvature
