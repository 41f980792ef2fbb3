"""An area under a ROC curve as a mean of placements, with what each row does to it.

The placement of a row is the part of the other class that it is on the right side of. The area is the mean placement of the
rows of one class. So its variance is that of two means (DeLong, DeLong, Clarke-Pearson 1988), and a mean of several areas adds
up what each row does to all of them. A whole weight is that many rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, IntArray
from calibrant._core.weights import Weights
from calibrant.metrics.roc.ranked import Ranked


class Spread(NamedTuple):
    """A variance, and the degrees of freedom of its estimate."""

    variance: float
    freedom: float


@dataclass(frozen=True, eq=False)
class Area:
    """An area, the influence of each row on it, shape (n,), and the size of the smallest class.

    The squares of the influences add up to the variance, but for what is ``unseen``, that of classes of a single row. The
    ``parts`` are what the classes add to it, each estimated by itself. An undefined area is NaN.
    """

    value: float
    influence: FloatArray
    unseen: float = 0.0
    fewest: float = np.inf
    parts: tuple[Spread, ...] = ()

    @property
    def spread(self) -> Spread:
        """The variance, with the degrees of freedom of a sum of independent parts (Satterthwaite)."""
        variance = float(self.influence @ self.influence) + self.unseen
        total = sum(part.variance for part in self.parts)
        lost = sum(part.variance**2 / part.freedom for part in self.parts)
        return Spread(variance, total**2 / lost if lost > 0.0 else np.inf)


Measure = Callable[[BinaryProblem], Area]


def under_curve(problem: BinaryProblem) -> Area:
    """Area under the ROC curve of a problem that has rows."""
    return _area(Ranked.of(problem))


def under_hull(problem: BinaryProblem) -> Area:
    """Area under the convex hull of the ROC curve of a problem that has rows."""
    found = _area(Ranked.of(problem).pooled())
    # The hull lies above the diagonal, but for rounding.
    return replace(found, value=float(np.maximum(0.5, found.value)))


def _area(ranked: Ranked) -> Area:
    problem = ranked.ordered.problem
    if not ranked.has_both:
        return Area(ranked.area, np.zeros(problem.size))
    among = np.where(problem.outcome, ranked.others.sum(), ranked.events.sum())
    return of_placements(problem.weights, problem.outcome.astype(np.intp), ranked.placements() / among, 2)


def of_placements(weights: Weights, label: IntArray, placed: FloatArray, n_classes: int) -> Area:
    """Return the area of which the sum over classes of their mean placements is the double.

    A count of equal rows adds the root of it to an influence: their variances add up. A mean that is estimated from n rows has
    lost one of them (n / (n - 1)).
    """
    highest = 2.0 / n_classes  # of a placement: a part in each other class, of all pairs
    value, influence, unseen, fewest, parts = 0.0, np.zeros(label.size), 0.0, np.inf, []
    for k in range(n_classes):
        own = label == k
        held, values = weights.values[own], placed[own]
        total = float(held.sum())
        mean, rows = float(held @ values) / total, total if weights.are_counts else total**2 / float(held @ held)
        value += mean / 2.0
        fewest = min(fewest, rows)
        if rows < 1.5:
            part = _largest_variance(mean / highest, rows) * highest**2
            unseen += part
        else:
            pull = (np.sqrt(held) if weights.are_counts else held) / total * np.sqrt(rows / (rows - 1.0))
            influence[own] = pull * (values - mean)
            part = float(influence[own] @ influence[own])
        parts.append(Spread(part, max(1.0, rows - 1.0)))
    return Area(value, influence, unseen, fewest, tuple(parts))


def _largest_variance(share: float, rows: float) -> float:
    """Return the variance of the mean of so many values in [0, 1] with this mean, at most."""
    return max(0.0, share * (1.0 - share)) / rows
