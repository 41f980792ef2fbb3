"""Null distributions of statistics: laws in closed form, or draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import special

from calibrant._core.links import FloatArray
from calibrant._core.parameters import resamples
from calibrant._core.result import Record

Law = Callable[[npt.ArrayLike], FloatArray]

TIE = 1e-9
"""A drawn value that misses the observed one by less than this, relatively, is the same value: rounding decides nothing."""


class NullDistribution(ABC):
    """Distribution of a statistic under the null hypothesis of its test.

    Attributes
    ----------
    description : str
        In words, such as "chi-squared, 6 degrees of freedom" or "1000 draws of labels from the forecast".
    df : float or None
        Degrees of freedom, where there are any.
    """

    description: str
    df: float | None = None

    @abstractmethod
    def sf(self, x: npt.ArrayLike) -> FloatArray:
        """Return the probability that the statistic is at least ``x``.

        Parameters
        ----------
        x : array-like
            Values of the statistic.

        Returns
        -------
        ndarray
            Survival function at ``x``.
        """

    def __repr__(self) -> str:
        return f"NullDistribution({self.description})"


@dataclass(frozen=True, eq=False, repr=False)
class KnownLaw(NullDistribution):
    """A continuous law with its survival function and density; ``support`` is where it is positive, with infinite ends."""

    description: str
    survival: Law
    density: Law
    support: tuple[float, float] = (0.0, np.inf)
    df: float | None = None

    def sf(self, x: npt.ArrayLike) -> FloatArray:
        """Return the probability that the statistic is at least ``x``."""
        return np.asarray(self.survival(x), dtype=np.float64)

    def pdf(self, x: npt.ArrayLike) -> FloatArray:
        """Return the density at ``x``."""
        return np.asarray(self.density(x), dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Draws(Record, NullDistribution):
    """Values that the statistic took in draws under the null hypothesis, shape (n_draws,)."""

    description: str
    values: FloatArray

    def sf(self, x: npt.ArrayLike) -> FloatArray:
        """Return the share of draws that reach ``x``, the observed value counted among them: never zero."""
        reached = np.sort(self.values)
        at = np.searchsorted(reached, below(np.asarray(x, dtype=np.float64)), side="left")
        return np.asarray((1.0 + reached.size - at) / (1.0 + reached.size), dtype=np.float64)


def label_draws(values: FloatArray) -> Draws:
    """Values of a statistic on labels that the forecast itself drew."""
    return Draws(f"{values.size} draws of labels from the forecast", values)


def below(value: FloatArray) -> FloatArray:
    """Return ``value`` less what rounding may have added to it."""
    finite = np.isfinite(value)
    return np.asarray(value - TIE * np.abs(np.where(finite, value, 0.0)), dtype=np.float64)


def chi_squared(df: float) -> KnownLaw:
    """Chi-squared law; with no degree of freedom all of it is at zero."""
    description = f"chi-squared, {df:g} degree{'' if df == 1 else 's'} of freedom"
    return KnownLaw(description, partial(_chi_squared_survival, df), partial(_chi_squared_density, df), df=df)


def standard_normal() -> KnownLaw:
    """Law with mean zero and variance one that sums of many small terms have."""
    return KnownLaw("standard normal", _normal_survival, _normal_density, support=(-np.inf, np.inf))


def _chi_squared_survival(df: float, x: npt.ArrayLike) -> FloatArray:
    at = np.asarray(x, dtype=np.float64)
    return np.asarray(special.chdtrc(df, np.maximum(at, 0.0)) if df > 0 else at <= 0.0, dtype=np.float64)


def _chi_squared_density(df: float, x: npt.ArrayLike) -> FloatArray:
    at = np.asarray(x, dtype=np.float64)
    if df <= 0:
        return np.zeros_like(at)
    half = df / 2.0
    inside = np.maximum(at, np.finfo(float).tiny)
    log_density = special.xlogy(half - 1.0, inside) - inside / 2.0 - half * np.log(2.0) - special.gammaln(half)
    return np.where(at >= 0.0, np.exp(log_density), 0.0)


def _normal_survival(x: npt.ArrayLike) -> FloatArray:
    return np.asarray(special.ndtr(-np.asarray(x, dtype=np.float64)), dtype=np.float64)


def _normal_density(x: npt.ArrayLike) -> FloatArray:
    at = np.asarray(x, dtype=np.float64)
    return np.asarray(np.exp(-(at**2) / 2.0) / np.sqrt(2.0 * np.pi), dtype=np.float64)


def require_resamples(n_resamples: object) -> None:
    """Refuse a number of draws that is none."""
    resamples(n_resamples, hint="1000 is usual")
