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


def l1(values: FloatArray, weights: FloatArray) -> float:
    """Weighted mean."""
    return float(weights @ values)


def l2(values: FloatArray, weights: FloatArray) -> float:
    """Root of the weighted mean of squares."""
    return float(np.sqrt(weights @ values**2))


def maximum(values: FloatArray, weights: FloatArray) -> float:
    """Largest value, whatever its weight."""
    return float(values.max())


LOSSES: Mapping[str, Loss] = {"gap": gap, "squared gap": squared_gap}
NORMS: Mapping[str, Norm] = {"l1": l1, "l2": l2, "max": maximum}


def as_loss(loss: str | Loss) -> Loss:
    """Return the loss of that name, or the function itself."""
    return loss if callable(loss) else _look_up("loss", LOSSES, loss)


def as_norm(norm: str | Norm) -> Norm:
    """Return the norm of that name, or the function itself."""
    return norm if callable(norm) else _look_up("norm", NORMS, norm)


def _look_up(what: str, known: Mapping[str, T], name: str) -> T:
    if name not in known:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, known))} or a function; got {name!r}. Pass one.")
    return known[name]
