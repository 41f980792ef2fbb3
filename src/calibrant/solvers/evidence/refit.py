"""Weights of least penalised log loss for precisions that are given, from weights that are near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.solvers.evidence.curvature import Solvable
from calibrant.solvers.evidence.logit import Logit, Look
from calibrant.solvers.newton import Minimum, Point, Stop, minimise


@dataclass(frozen=True, eq=False)
class Penalised(Point):
    """The penalised log loss at weights ``x``, with a step that uses what was found of A near it."""

    x: FloatArray
    value: float
    gradient: FloatArray
    look: Look
    near: Solvable
    rounding: float

    def step(self) -> FloatArray:
        """Return about Newton's step."""
        return -self.near.at(self.look).solved(self.gradient)


def refitted(logit: Logit, start: FloatArray, ridge: FloatArray, near: Solvable, gain: float) -> Minimum[Penalised]:
    """Minimise  log loss + sum(ridge * w^2) / 2,  until the next step promises no more than this gain, in nats."""

    def at(w: FloatArray) -> Penalised:
        look = logit.at(w)
        held = ridge * w
        return Penalised(w, look.value + 0.5 * float(held @ w), look.gradient + held, look, near, logit.rounding)

    return minimise(at, np.asarray(start, dtype=np.float64), Stop(gain=gain))
