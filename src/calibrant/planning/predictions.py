"""The predictions that a plan is made for: those of a pilot, or those of a stated kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from calibrant._core.finite_numbers import as_numbers
from calibrant._core.links import FloatArray, prob_of_logit
from calibrant._core.parameters import number, whole
from calibrant._core.problem import Forecast, SimplexProblem, two_columns
from calibrant._core.rows import Rows
from calibrant._core.validation import Input, as_forecast, as_logits, as_score
from calibrant._core.weights import Weights
from calibrant.datasets.synthetic import make_softmax_forecast
from calibrant.sums.draws import ConsistentLabels

POOL, MOST_NUMBERS = 20_000, 1 << 22
"""Rows, and probabilities, of a stated kind that rows are drawn from."""

USUAL_ACCURACY, USUAL_AUC = 0.8, 0.8

STRAYS = {
    "over-confident": lambda log_prob, t: log_prob * np.exp(-t),
    "under-confident": lambda log_prob, t: log_prob * np.exp(t),
    "too high": lambda log_prob, t: log_prob - t * np.array([0.0, 1.0]),
    "too low": lambda log_prob, t: log_prob + t * np.array([0.0, 1.0]),
}
"""Log-probabilities of the truth, but for a constant a row, of predictions that are wrong in a way, by a strength t."""

OF_TWO_CLASSES = ("too high", "too low")


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions to draw rows from, and what is said of them."""

    forecast: Forecast
    said: str

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.forecast.shape[1]

    def truth(self, wrong: str, strength: float) -> FloatArray:
        """Return the true probabilities if the predictions are wrong in this way by this strength, shape (n, K)."""
        if strength == 0.0:
            return self.forecast.prob
        return prob_of_logit(STRAYS[wrong](self.forecast.log_prob, strength))

    def whole(self) -> SimplexProblem:
        """Return all of them as a problem, with labels that say nothing: the most probable class."""
        return _problem(self.forecast, self.forecast.values.argmax(axis=1))

    def drawn(self, n: int, truth: FloatArray, rng: np.random.Generator) -> tuple[SimplexProblem, FloatArray]:
        """Draw rows with replacement and labels from the truth; return the problem and the truth of its rows."""
        rows = rng.integers(0, len(truth), n)
        (label,) = ConsistentLabels(truth[rows], 1, rng)
        return _problem(Forecast(self.forecast.values[rows], self.forecast.is_logit), label), truth[rows]


def _problem(forecast: Forecast, label: npt.NDArray[np.intp]) -> SimplexProblem:
    n, n_classes = forecast.shape
    return SimplexProblem(forecast, label, Weights.one_each(n), np.arange(n_classes))


def of_pilot(y_prob: npt.ArrayLike, input: Input = "probability", rows: Rows = "as-given") -> Predictions:
    """Return the predictions of a pilot."""
    values = as_numbers("y_prob", y_prob)
    if values.ndim == 2:
        forecast = as_forecast(values, input=input, rows=rows, name="y_prob")
    elif input == "logit":
        forecast = two_columns(as_logits(values, "y_prob"), is_logit=True)
    else:
        forecast = two_columns(as_score(values, "y_prob", rows), is_logit=False)
    return Predictions(forecast, f"those of the pilot's {len(values):,} rows")


def of_classes(n_classes: object, accuracy: object, rng: np.random.Generator) -> Predictions:
    """Return predictions of many classes whose logits are independent and normal, with a mean confidence of ``accuracy``."""
    classes = whole("n_classes", n_classes, least=2, most=10_000, hint="One event makes two classes")
    wanted: Any = USUAL_ACCURACY if accuracy is None else accuracy
    n = max(1000, min(POOL, MOST_NUMBERS // classes))
    prob = make_softmax_forecast(n, classes, temperature=1.0, accuracy=wanted, rng=rng).prob
    return Predictions(
        Forecast(np.asarray(prob, dtype=np.float64)),
        f"softmax of independent normal logits of {classes} classes, accuracy {wanted:g}",
    )


def of_event(event_rate: object, auc: object) -> Predictions:
    """Return predictions of one event whose log-odds are normal, with this event rate and area under the ROC curve.

    They are the quantiles of that normal distribution at (i + 1/2) / 20 000, so nothing is drawn.
    """
    rate = number("event_rate", event_rate, least=0.001, most=0.999, hint="Pass the share of the rows with the event")
    area = number(
        "auc",
        USUAL_AUC if auc is None else auc,
        least=0.55,
        most=0.99,
        hint="It is the area under the ROC curve; 0.8 is usual",
    )
    normal = ndtri((np.arange(POOL) + 0.5) / POOL)
    scale = brentq(lambda s: _area(_with_rate(normal, s, rate)) - area, 0.05, 100.0, xtol=1e-8)
    logit = two_columns(_with_rate(normal, scale, rate), is_logit=True)
    return Predictions(logit, f"normal log-odds of one event, event rate {rate:g}, area under the ROC curve {area:g}")


def _with_rate(normal: FloatArray, scale: float, rate: float) -> FloatArray:
    """Return log-odds of this scale, shifted so that the event rate is as wanted."""
    far = 10.0 * scale + 20.0
    return np.asarray(brentq(lambda m: float(expit(m + scale * normal).mean()) - rate, -far, far) + scale * normal)


def _area(log_odds: FloatArray) -> float:
    """Area under the ROC curve of calibrated predictions with these log-odds, which rise."""
    event = expit(log_odds)
    other = 1.0 - event
    below = np.cumsum(other) - 0.5 * other
    return float(event @ below / (event.sum() * other.sum()))
