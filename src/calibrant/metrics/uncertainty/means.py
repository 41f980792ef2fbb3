"""Means of rows that are read in batches: their intervals from sums of powers, as `mean_estimate` has them from the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import numpy as np
from scipy.special import ndtri

from calibrant._core.links import FloatArray
from calibrant._core.problem import SimplexProblem
from calibrant.metrics.uncertainty.estimate import Estimate
from calibrant.sums import RowScore, Sums

STEP = 64.0
"""Centres are multiples of one over it: whole numbers less such a centre add up without rounding."""


@dataclass(frozen=True)
class Centred:
    """Values of rows less a ``centre`` near their mean, so that sums of powers keep their digits; 0 for an infinite one."""

    of: RowScore
    centre: float

    @classmethod
    def near(cls, of: RowScore, head: SimplexProblem) -> Centred:
        """Take the centre from some rows."""
        values = of(head)
        finite = values[np.isfinite(values)]
        return cls(of, float(np.rint(finite.mean() * STEP) / STEP) if finite.size else 0.0)

    def __call__(self, problem: SimplexProblem) -> FloatArray:
        """Return the values."""
        values = self.of(problem) - self.centre
        return values if np.isfinite(values.sum()) else np.where(np.isfinite(values), values, 0.0)


@dataclass(frozen=True)
class Endless:
    """One for a row whose value is infinite, else zero."""

    of: RowScore

    def __call__(self, problem: SimplexProblem) -> FloatArray:
        """Return the numbers."""
        return np.isposinf(self.of(problem)).astype(np.float64)


def estimate_of_sums(sums: Sums, name: str, endless: str, level: float) -> Estimate:
    """Return the mean of the values of that name and its interval; ``endless`` are those of the infinite ones, if there are."""
    names = {known: at for at, (known, _) in enumerate(sums.plan.scores)}
    score = dict(sums.plan.scores)[name]
    assert isinstance(score, Centred)
    n, (first, second, third) = sums.rows, sums.scores[names[name]].tolist()
    infinite = sums.total(endless) if endless in names else 0.0
    finite = n - infinite
    if finite < 1.0:
        return Estimate(np.inf, np.inf, np.inf)
    mean = first / finite
    square = max(second - finite * mean**2, 0.0)
    cube = third - 3.0 * mean * second + 2.0 * finite * mean**3
    value = (first + finite * score.centre) / finite
    error, skewness = 0.0, 0.0
    if square > 0.0 and finite > 1.0:
        error, skewness = np.sqrt(square / (finite * (finite - 1.0))), cube / square**1.5

    def end(share: float) -> float:
        """Return a quantile of the mean, by Cornish and Fisher to first order."""
        z = float(ndtri(share))
        return float(value + error * (z + skewness * (2.0 * z**2 + 1.0) / 6.0))

    if infinite:
        return Estimate(np.inf, _low_of_infinite(infinite, level, end), np.inf)
    if error == 0.0:
        return Estimate(value, value, value)
    return Estimate(value, min(end(level / 2.0), value), max(end(1.0 - level / 2.0), value))


def _low_of_infinite(infinite: float, level: float, end: Callable[[float], float]) -> float:
    """Return the low quantile of a mean that is infinite unless none of the infinite rows is in the sample."""
    none_of_them = exp(-infinite)
    share = level / 2.0 / none_of_them
    return end(share) if share < 1.0 else np.inf
