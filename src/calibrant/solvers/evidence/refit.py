"""Weights of least penalised log loss for precisions that are given, from weights that are near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.solvers.evidence.logit import Logit, Look
from calibrant.solvers.evidence.precisions import Factored
from calibrant.solvers.newton import Minimum, Point, Stop, minimise


@dataclass(frozen=True, eq=False)
class Penalised(Point):
    """The penalised log loss at weights ``x``, with a step from a Hessian that was made and factored near it."""

    x: FloatArray
    value: float
    gradient: FloatArray
    look: Look
    factored: Factored

    def step(self) -> FloatArray:
        """Return Newton's step with that Hessian."""
        return -self.factored.solved(self.gradient)


def refitted(logit: Logit, start: FloatArray, ridge: FloatArray, factored: Factored, gain: float) -> Minimum[Penalised]:
    """Minimise  log loss + sum(ridge * w^2) / 2,  until the next step promises no more than this gain, in nats."""

    def at(w: FloatArray) -> Penalised:
        look = logit.at(w)
        held = ridge * w
        return Penalised(w, look.value + 0.5 * float(held @ w), look.gradient + held, look, factored)

    return minimise(at, np.asarray(start, dtype=np.float64), Stop(gain=gain))
