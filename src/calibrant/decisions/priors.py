"""Shares of the classes: given as numbers, checked, and put into a forecast."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant import _links
from calibrant._links import FloatArray
from calibrant._problem import Forecast
from calibrant._validation import SUM_TOLERANCE, as_numbers


def as_event_share(name: str, value: object, *, positive: bool = False) -> float:
    """Return the share of events in [0, 1], or in (0, 1) if both classes must come."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        raise TypeError(f"{name} must be the share of events, a number; got {value!r}. Pass 0.2, say.")
    share = float(value)
    if not 0.0 <= share <= 1.0:
        raise ValueError(
            f"{name} must be a share of events in [0, 1]; got {value!r}. Of a ratio r of events to the rest it is r / (1 + r)."
        )
    if positive and share in (0.0, 1.0):
        raise ValueError(
            f"{name} must lie above 0 and below 1; got {value!r}. A forecast knows nothing of a class that never came."
        )
    return share


def as_prior(name: str, prior: npt.ArrayLike, n_classes: int, *, positive: bool = False) -> FloatArray:
    """Return the share of each class, summing to one; of two classes one number is the share of the event."""
    if np.ndim(prior) == 0:
        if n_classes != 2:
            raise ValueError(
                f"{name} must hold a share for each of the {n_classes} classes; got {prior!r}. Pass a sequence in column order."
            )
        share = as_event_share(name, np.asarray(prior)[()], positive=positive)
        return np.array([1.0 - share, share])
    shares = as_numbers(name, prior)
    if shares.shape != (n_classes,):
        raise ValueError(
            f"{name} must hold a share for each of {n_classes} classes; got shape {shares.shape}. Pass them in column order."
        )
    if shares.min() < 0:
        raise ValueError(
            f"{name} must not be negative; got {shares.min():g} at index {int(shares.argmin())}. Pass shares that sum to one."
        )
    if abs(shares.sum() - 1.0) > SUM_TOLERANCE:
        raise ValueError(
            f"{name} must sum to one within {SUM_TOLERANCE:g}; got {shares.sum():.6g}. Divide them by their sum."
        )
    if positive and not shares.all():
        raise ValueError(
            f"{name} must be positive; got 0 at index {int(shares.argmin())}. "
            "A forecast knows nothing of a class that never came: leave its column out."
        )
    normalised: FloatArray = shares / shares.sum()
    return normalised


def reweighed(forecast: Forecast, factor: FloatArray) -> FloatArray:
    """Multiply the probability of each class by its factor and divide rows by their sums: the one mechanism of this package.

    Logits are shifted, so that nothing is lost at their ends. A row that has all of its probability on classes of factor
    zero stays as it is.
    """
    factor = factor / factor.max()
    if forecast.is_logit:
        with np.errstate(divide="ignore"):  # a class of factor zero has log-probability minus infinity
            return _links.prob_of_logit(forecast.values + np.log(factor))
    product = forecast.values * factor
    total = product.sum(axis=1, keepdims=True)
    if not total.all():
        lost = total[:, 0] == 0
        product[lost], total[lost] = forecast.values[lost], forecast.values[lost].sum(axis=1, keepdims=True)
    product /= total
    return product
