"""Softmax forecasts of any size that are over- or under-confident by a known temperature."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from calibrant._core import links
from calibrant._core.links import FloatArray
from calibrant._core.parameters import number, refuse, require, source, whole
from calibrant.datasets.truth import KnownTruth, require_rows

BLOCK = 1 << 20
"""Rows times classes drawn together: beside its result the generator needs memory for a few blocks."""

LOG_SCALES = (np.log(1e-9), np.log(1e9))
MOST_CLASSES = 1_000_000
"""Classes up to which a scale between these has any accuracy."""

MARGIN = 1e-6
"""How near the accuracy may come to chance or to one, where the scale that makes it runs away."""


def make_softmax_forecast(
    n: int,
    n_classes: int,
    *,
    temperature: float = 1.5,
    accuracy: float = 0.8,
    dtype: npt.DTypeLike = np.float64,
    rng: np.random.Generator | int | None = None,
) -> KnownTruth:
    """Draw labels and a softmax forecast of them that temperature scaling calibrates exactly.

    A row has independent normal logits z. Its label is drawn from softmax(z), the posterior; the forecast is
    softmax(temperature * z).

    Parameters
    ----------
    n : int
        Number of rows.
    n_classes : int
        Number of classes, at least 2.
    temperature : float, default=1.5
        The temperature that makes the forecast calibrated: above 1 it is over-confident, below 1 under-confident, at 1
        it is calibrated.
    accuracy : float, default=0.8
        Expected accuracy of predicting the most probable class, in (1 / n_classes, 1): the mean of the highest posterior. It
        sets the scale of the logits, and is the same whatever the temperature. A sample's accuracy varies about it.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Of the probabilities. They are computed in float64.
    rng : numpy.random.Generator or int, optional
        Source of randomness.

    Returns
    -------
    KnownTruth
        ``y``, ``prob`` and ``posterior`` of shape (n, n_classes), also for two classes. Sharpening loses nothing, so
        ``calibrated`` is the posterior, and the true calibration map sends s to softmax(log(s) / temperature).

    See Also
    --------
    make_survey_forecast : Two or three classes that no temperature calibrates.

    Examples
    --------
    >>> from calibrant import expected_calibration_error
    >>> from calibrant.datasets import make_softmax_forecast
    >>> truth = make_softmax_forecast(10_000, 10, rng=0)
    >>> round(expected_calibration_error(truth.y, truth.prob), 2)
    0.06
    >>> round(expected_calibration_error(truth.y, truth.calibrated), 2)
    0.01
    """
    require_rows(n)
    _check(n_classes, temperature, accuracy, dtype)
    rng = np.random.default_rng(source("rng", rng))
    scale = _scale_of(n_classes, float(accuracy))
    y = np.empty(n, dtype=np.intp)
    prob, posterior = np.empty((n, n_classes), dtype=dtype), np.empty((n, n_classes), dtype=dtype)
    step = max(1, BLOCK // n_classes)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        logit = rng.normal(0.0, scale, (rows.stop - start, n_classes))
        exact = links.prob_of_logit(logit)
        ends = exact.cumsum(axis=1)
        y[rows] = (ends[:, :-1] <= rng.random((len(logit), 1)) * ends[:, -1:]).sum(axis=1)
        posterior[rows] = exact
        prob[rows] = links.prob_of_logit(temperature * logit)
    name = f"softmax, temperature {temperature:g}"
    return KnownTruth(y, prob, posterior, posterior, _TemperatureMap(temperature), name=name)


@dataclass(frozen=True)
class _TemperatureMap:
    """P(y | forecast) of a forecast softmax(temperature * z) of labels drawn from softmax(z)."""

    temperature: float

    def __call__(self, prob: Any) -> FloatArray:
        with np.errstate(divide="ignore"):  # a zero stays a zero
            return links.prob_of_logit(np.log(np.asarray(prob, dtype=np.float64)) / self.temperature)


@cache
def _scale_of(n_classes: int, accuracy: float) -> float:
    """Scale of the logits at which the most probable class has the mean probability ``accuracy``."""

    def excess(log_scale: float) -> float:
        return bayes_accuracy(np.exp(log_scale), n_classes) - accuracy

    return float(np.exp(brentq(excess, *LOG_SCALES, xtol=1e-10)))


def bayes_accuracy(scale: float, n_classes: int) -> float:
    """Mean of the largest entry of softmax(scale * g) over independent standard normal g, within 1e-7.

    Class j is drawn from the softmax when  scale * g_j + Gumbel noise  is largest. So the accuracy is the probability
    that one class has both the largest g and the largest sum: of K classes alike, K times an integral over g and the
    noise u of the first. Each of the others lies lower by some q > 0 and loses:

        K * integral of  phi(g) exp(-u - exp(-u)) H(g, u)^(K - 1),
        H(g, u) = integral of  phi(g - q) exp(-exp(-u - scale * q))  over q > 0.

    Sums over even steps of g, u and log q converge exponentially, as all integrands are smooth and fade at both ends.
    """
    (g, dg), (u, du), (log_q, dw) = _steps(-8, 8, 97), _steps(-5, 40, 113), _steps(-21, 3, 201)
    g, u, q = g[:, None, None], u[:, None], np.exp(log_q)
    below = (_normal_density(g - q) * q * np.exp(-np.exp(-u - scale * q))).sum(axis=2) * dw
    weight = _normal_density(g[:, :, 0]) * np.exp(-u - np.exp(-u)).T * dg * du
    return float(n_classes * (weight * below ** (n_classes - 1)).sum())


def _steps(start: float, stop: float, count: int) -> tuple[FloatArray, float]:
    return np.linspace(start, stop, count), (stop - start) / (count - 1)


def _normal_density(z: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi), dtype=np.float64)


def _check(n_classes: object, temperature: object, accuracy: object, dtype: npt.DTypeLike) -> None:
    classes = whole("n_classes", n_classes, least=2, most=MOST_CLASSES, hint="One event makes two classes")
    number("temperature", temperature, above=0.0, hint="Above 1 makes the forecast over-confident")
    wanted = number("accuracy", accuracy, hint="It is the mean of the highest posterior; pass 0.8, say")
    require(
        1.0 / classes + MARGIN <= wanted <= 1.0 - MARGIN,
        f"accuracy must lie between 1 / n_classes = {1.0 / classes:.4g} and 1, {MARGIN:g} away from both",
        value=accuracy,
        hint="It is the mean of the highest posterior; pass 0.8, say",
    )
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError, AttributeError):
        kind = np.dtype(object)
    if kind not in (np.float32, np.float64):
        refuse(
            "dtype must be float32 or float64",
            got=dtype if isinstance(dtype, str) else str(kind),
            hint="Pass numpy.float32 to halve the memory",
            error=TypeError,
        )
