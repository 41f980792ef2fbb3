"""Weights of least penalised log loss for precisions that are given, from weights that are near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.solvers.evidence.curvature import Solvable
from calibrant.solvers.evidence.logit import Logit, Look
from calibrant.solvers.newton import Minimum, Point, Stop, minimise

SLOW = 0.25
"""Part of the gain of one step that the next one still promises, above which it pays to make second derivatives anew."""


class _Near:
    """What was found of A near by, and the gain that its last step promised; made anew where steps are slow, if asked for."""

    def __init__(self, solvable: Solvable, ridge: FloatArray, *, renews: bool) -> None:
        self.solvable, self.ridge, self.renews = solvable, ridge, renews
        self.gain = np.inf

    def step(self, look: Look, gradient: FloatArray) -> FloatArray:
        """Return about Newton's step."""
        here = self.solvable.at(look)
        step = -here.solved(gradient)
        before, self.gain = self.gain, -float(gradient @ step)
        if self.renews and here is self.solvable and self.gain > SLOW * before:
            self.solvable = look.curvature.with_ridge(self.ridge)
            step = -self.solvable.solved(gradient)
        return step


@dataclass(frozen=True, eq=False)
class Penalised(Point):
    """The penalised log loss at weights ``x``, with a step that uses what was found of A near it."""

    x: FloatArray
    value: float
    gradient: FloatArray
    look: Look
    near: _Near
    rounding: float

    def step(self) -> FloatArray:
        """Return about Newton's step."""
        return self.near.step(self.look, self.gradient)


def refitted(
    logit: Logit, start: FloatArray, ridge: FloatArray, near: Solvable, gain: float, *, renews: bool = False
) -> Minimum[Penalised]:
    """Minimise  log loss + sum(ridge * w^2) / 2,  until the next step promises no more than this gain, in nats.

    Steps come from what was found of A near by. With ``renews`` it is found anew where they are slow: for high accuracy.
    """
    nearest = _Near(near, ridge, renews=renews)

    def at(w: FloatArray) -> Penalised:
        look = logit.at(w)
        held = ridge * w
        return Penalised(w, look.value + 0.5 * float(held @ w), look.gradient + held, look, nearest, logit.rounding)

    return minimise(at, np.asarray(start, dtype=np.float64), Stop(gain=gain))
