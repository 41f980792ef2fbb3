"""Hinges of a number at quantiles of calibration rows: a curve whose weights have one variance is an integrated random walk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray

APART = 1e-9
"""Knots nearer to each other than this are one."""

ROUNDING = 1e-12
"""Part of the total by which two running sums of weights may differ and be equal."""

LEAST_GAP = 1e-3
"""Gap between knots from which the size of a hinge is made, at least."""


@dataclass(frozen=True, eq=False)
class Hinges:
    """Hinges that open away from the middle, shape (n_knots,) each; that at the middle itself opens both ways by half.

    A function that is a sum of these and a line is the same when the axis is turned round.
    """

    knots: FloatArray
    middle: float

    @classmethod
    def at(cls, knots: FloatArray, middle: float) -> Hinges:
        """Make hinges at distinct knots."""
        knots = np.sort(knots)
        return cls(knots[np.append(True, np.diff(knots) > APART)], middle)

    @property
    def size(self) -> FloatArray:
        """Square root of the gap around each knot, shape (n_knots,)."""
        gap = np.gradient(self.knots) if len(self.knots) > 1 else np.ones(1)
        size: FloatArray = np.sqrt(np.maximum(gap, LEAST_GAP))
        return size

    def of(self, x: FloatArray) -> list[FloatArray]:
        """Return each hinge times its size, of the shape of x."""
        return [size * self._open(x - knot, knot) for knot, size in zip(self.knots, self.size, strict=True)]

    def plain(self, x: FloatArray) -> list[FloatArray]:
        """Return each hinge with slope one, of the shape of x."""
        return [self._open(x - knot, knot) for knot in self.knots]

    def _open(self, beyond: FloatArray, knot: float) -> FloatArray:
        if abs(knot - self.middle) <= APART:
            return 0.5 * np.abs(beyond)
        return np.maximum(-beyond if knot < self.middle else beyond, 0.0)


def weighted_quantiles(x: FloatArray, weight: FloatArray, at: FloatArray) -> FloatArray:
    """Return quantiles, shape (m,): where the running weight is exactly the fraction asked for, the mean of both neighbours.

    Equal rows count as one of their weight, and turning the axis round turns the quantiles round.
    """
    order = np.argsort(x, kind="stable")
    running = np.cumsum(weight[order])
    wanted, last, slack = at * running[-1], len(x) - 1, ROUNDING * running[-1]
    below = np.minimum(np.searchsorted(running, wanted - slack), last)
    above = np.minimum(np.searchsorted(running, wanted + slack), last)
    found: FloatArray = 0.5 * (x[order[below]] + x[order[above]])
    return found
