"""What is measured in each bin, and how the bins are put together.

A loss is a function of (problem, bins) with one value a bin; a norm is a function of (values, weights).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, no_class
from calibrant._core.problem import BinaryProblem
from calibrant.binning import Bins
from calibrant.metrics.rejections.loss import REJECTIONS

T = TypeVar("T")

TWO = 2.0 * (1.0 - 1e-9)
"""Rows of a bin of two: sums of fractional weights are rounded."""

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
    return np.where((rows > 0.0) & (rows < TWO), 0.0, value)


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


@dataclass(frozen=True)
class PowerMean:
    """The p-th root of the weighted mean of the p-th powers of absolute values: the l_p norm of a finite p."""

    p: float

    def __call__(self, values: FloatArray, weights: FloatArray) -> float:
        """Return the norm of values, shape (d,)."""
        size = np.abs(values)
        largest = float(size.max())
        if not largest > 0.0:
            return largest
        # In units of the largest value no power vanishes that counts.
        return float(largest * (weights @ (size / largest) ** self.p) ** (1.0 / self.p))


LOSSES: Mapping[str, Loss] = {
    "gap": gap,
    "squared gap": squared_gap,
    "debiased squared gap": debiased_squared_gap,
}
"""Losses whose norms lie in [0, 1]; those of tests, which are percentages, stand apart."""

NORMS: Mapping[str, Norm] = {"l1": l1, "l2": l2, "root": root, "max": maximum}

POWER = re.compile(r"l([0-9]+(?:\.[0-9]+)?)")
"""The word of an l_p norm."""


def as_loss(loss: str | Loss) -> Loss:
    """Return the loss of that name, or the function itself."""
    no_class("loss", loss, wanted="a word or a function")
    known: Mapping[str, Loss] = {**LOSSES, **REJECTIONS}
    return loss if callable(loss) else known[choice("loss", loss, known, also=" or a function")]


def as_norm(norm: str | Norm, option: str = "norm") -> Norm:
    """Return the norm of that name, or the function itself."""
    no_class(option, norm, wanted="a word or a function")
    if callable(norm):
        return norm
    power = POWER.fullmatch(norm) if isinstance(norm, str) else None
    if power is not None and (p := float(power[1])) >= 1.0:
        return {1.0: l1, 2.0: l2}.get(p, PowerMean(p))
    return NORMS[choice(option, norm, NORMS, also=", 'l<p>' of a p from 1 such as 'l3', or a function")]
