"""Shares of the classes: given as numbers, checked, and put into a forecast."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._core import links
from calibrant._core.links import FloatArray
from calibrant._core.parameters import each, number, one_each, require
from calibrant._core.problem import Forecast
from calibrant._core.rows import SUM_TOLERANCE
from calibrant.decisions.inputs import is_single, numbers_of

LEAST_TOTAL = 1e-290
"""Products whose sum is smaller have lost digits, or all of them."""


def as_event_share(name: str, value: object, *, positive: bool = False) -> float:
    """Return the share of events in [0, 1], or in (0, 1) if both classes must occur."""
    if positive:
        hint = "A forecast knows nothing of a class that never occurred; of a ratio r of events to the rest pass r / (1 + r)"
        return number(name, value, above=0.0, below=1.0, hint=hint)
    return number(name, value, least=0.0, most=1.0, hint="Of a ratio r of events to the rest it is r / (1 + r)")


def as_prior(name: str, prior: npt.ArrayLike, n_classes: int, *, positive: bool = False) -> FloatArray:
    """Return the share of each class, summing to one; of two classes one number is the share of the event."""
    if is_single(prior):
        must = f"{name} must hold a share for each of the {n_classes} classes"
        require(n_classes == 2, must, value=prior, hint="Pass a sequence in column order")
        share = as_event_share(name, np.asarray(prior).item(), positive=positive)
        return np.array([1.0 - share, share])
    shares = numbers_of(name, prior, "Pass the share of each class in column order")
    one_each(name, shares, n_classes, "share")
    each(name, shares, shares >= 0, "not be negative", hint="Pass shares that sum to one")
    must = f"{name} must sum to one within {SUM_TOLERANCE:g}"
    require(abs(shares.sum() - 1.0) <= SUM_TOLERANCE, must, got=f"{shares.sum():.6g}", hint="Divide them by their sum")
    unknown = "A forecast knows nothing of a class that never occurred: leave its column out"
    each(name, shares, (shares > 0) | (not positive), "be positive", hint=unknown)
    normalised: FloatArray = shares / shares.sum()
    return normalised


def reweighed(forecast: Forecast, log_factor: FloatArray) -> FloatArray:
    """Multiply the probability of each class by a factor and divide rows by their sums: the one mechanism of this package.

    Factors are given as logarithms, since their ratios may overflow; minus infinity is a factor of zero. Logits are shifted, so
    that nothing is lost at their ends. A row that has all of its probability on classes of factor zero stays as it is.
    """
    log_factor = log_factor - log_factor.max()
    if forecast.is_logit:
        return links.prob_of_logit(forecast.values + log_factor)
    product = forecast.values * np.exp(log_factor)
    total = product.sum(axis=1, keepdims=True)
    small = total[:, 0] < LEAST_TOTAL
    if small.any():
        product[small] = _from_logarithms(forecast.values[small], log_factor)
        total[small] = product[small].sum(axis=1, keepdims=True)
    product /= total
    return product


def log_of(share: FloatArray) -> FloatArray:
    """Return logarithms; of zero minus infinity."""
    with np.errstate(divide="ignore"):
        logarithm: FloatArray = np.log(share)
    return logarithm


def _from_logarithms(prob: FloatArray, log_factor: FloatArray) -> FloatArray:
    """Return products divided by the largest of their row, where the products themselves vanish."""
    log_prob = log_of(prob)
    logarithm = log_prob + log_factor
    impossible = np.isneginf(logarithm).all(axis=1)
    logarithm[impossible] = log_prob[impossible]
    scaled: FloatArray = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
    return scaled
