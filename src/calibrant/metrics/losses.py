"""What is measured in each bin, and how the bins are put together.

A loss is a function of (problem, bins) with one value a bin; a norm is a function of (values, weights).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from calibrant._links import FloatArray
from calibrant._problem import BinaryProblem
from calibrant.binning import Bins

T = TypeVar("T")

Loss = Callable[[BinaryProblem, Bins], FloatArray]
Norm = Callable[[FloatArray, FloatArray], float]


def gap(problem: BinaryProblem, bins: Bins) -> FloatArray:
    """Distance between event rate and mean probability."""
    return np.abs(bins.gap)


def squared_gap(problem: BinaryProblem, bins: Bins) -> FloatArray:
    """Squared distance between event rate and mean probability."""
    return np.asarray(bins.gap**2, dtype=np.float64)


def debiased_squared_gap(problem: BinaryProblem, bins: Bins) -> FloatArray:
    """Squared gap minus an unbiased estimate of what chance adds to it, rate * (1 - rate) / (n - 1); can be negative.

    n is the number of rows of the bin: whole weights count as rows, others are scaled to a mean of one. A bin of fewer than
    two rows has no such estimate and counts as 0. (Bröcker 2012; Kumar et al. 2019.)
    """
    rows, rate = bins.weight * problem.rows_per_weight, bins.event_rate
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = rate * (1.0 - rate) / (rows - 1.0)
        value = bins.gap**2 - chance
    return np.where((rows > 0.0) & (rows < 2.0), 0.0, value)


def l1(values: FloatArray, weights: FloatArray) -> float:
    """Weighted mean."""
    return float(weights @ values)


def l2(values: FloatArray, weights: FloatArray) -> float:
    """Root of the weighted mean of squares."""
    return float(np.sqrt(weights @ values**2))


def root(values: FloatArray, weights: FloatArray) -> float:
    """Root of the weighted mean, of values that are squares already; 0 where their mean is negative."""
    return float(np.sqrt(max(0.0, float(weights @ values))))


def maximum(values: FloatArray, weights: FloatArray) -> float:
    """Largest value, whatever its weight."""
    return float(values.max())


LOSSES: Mapping[str, Loss] = {
    "gap": gap,
    "squared gap": squared_gap,
    "debiased squared gap": debiased_squared_gap,
}
NORMS: Mapping[str, Norm] = {"l1": l1, "l2": l2, "root": root, "max": maximum}


def as_loss(loss: str | Loss) -> Loss:
    """Return the loss of that name, or the function itself."""
    return loss if callable(loss) else _look_up("loss", LOSSES, loss)


def as_norm(norm: str | Norm, option: str = "norm") -> Norm:
    """Return the norm of that name, or the function itself."""
    return norm if callable(norm) else _look_up(option, NORMS, norm)


def _look_up(what: str, known: Mapping[str, T], name: str) -> T:
    if name not in known:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, known))} or a function; got {name!r}. Pass one.")
    return known[name]
