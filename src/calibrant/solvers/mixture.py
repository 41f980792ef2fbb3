"""The shares of a mixture under which rows are most likely: they maximise  mean log(density @ shares)  over the simplex."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.solvers.newton import Point, Stop, minimise
from calibrant.solvers.quadratic_model import bounded_step

RIDGE = 1e-10
"""Added to the diagonal of a Hessian, relative to it: columns may depend on each other."""

GAP = 1e-9
"""A solution is certified if no shares are better by more than this, in nats a row."""

END = Stop(residual=1e-14, gain=1e-20)
"""Rounding allows no smaller residual; and after a step of so small a gain what is left is about its square."""

EM_STEPS, MOST_EM_STEPS = 5, 200
FAST_EM = 0.5
"""EM goes on while each step makes the gap so much smaller: a Newton step costs as much as K of them."""

FEW = 3
"""Parts up to which Newton's steps cost no more than those of EM."""

BLOCK = 1 << 18
"""Numbers worked on at a time in the Hessian."""


class Mixture(NamedTuple):
    """The most likely shares.

    Attributes
    ----------
    point : Shares
        The shares ``x``, shape (K,), at least 0, their sum one; the gap; and the ``hessian`` of minus the mean log-likelihood.
    residual : float
        Largest violation of the conditions of Karush, Kuhn and Tucker.
    n_iter : int
        Steps of EM and of Newton.
    """

    point: Shares
    residual: float
    n_iter: int


def most_likely_shares(density: FloatArray, weight: FloatArray, start: FloatArray) -> Mixture:
    """Maximise  mean log(density @ q)  over shares q that sum to one.

    The problem is concave. With g the gradient, q'g = 1, and for the best shares q* concavity gives
    L(q*) - L(q) <= g'(q* - q) <= max g - 1: the gap is a certificate. EM multiplies q by g (Saerens et al., eq. 2.9); it climbs
    with every step, slowly at the end. So where its steps do not halve the gap, Newton's follow, for the minimum of
    sum x - mean log(density @ x)  over x >= 0: scaling x up gains as much as it costs exactly where its sum is one.

    Parameters
    ----------
    density : ndarray of shape (n, K)
        Density of each row in each part, up to a factor a row; not all zero in any row.
    weight : ndarray of shape (n,)
        Weights of the rows, with a positive sum.
    start : ndarray of shape (K,)
        Positive shares that sum to one.

    Returns
    -------
    Mixture
        The shares and how good they are.
    """
    loss = _Loss(density, weight / weight.sum())
    point, em_steps, before = loss.at(start), 0, np.inf
    first, most = (EM_STEPS, MOST_EM_STEPS) if start.size > FEW else (0, 0)
    while em_steps < first or (em_steps < most and END.residual < point.gap < FAST_EM * before):
        before = point.gap
        point, em_steps = loss.at(point.x * (1.0 - point.gradient)), em_steps + 1
    found = minimise(loss.at, point, END, lower=0.0)
    return Mixture(found.point, found.residual, em_steps + found.n_iter)


@dataclass(frozen=True, eq=False)
class _Loss:
    """The function  sum x - mean log(density @ x), with weights that sum to one."""

    density: FloatArray
    weight: FloatArray

    def at(self, x: FloatArray) -> Shares:
        """Evaluate where the loss is least on the way from 0 through x."""
        shares = x / x.sum()
        return Shares(self, shares, self.density @ shares)


@dataclass(frozen=True, eq=False)
class Shares(Point):
    """The loss at some shares."""

    loss: _Loss
    x: FloatArray
    mixed: FloatArray

    @cached_property
    def value(self) -> float:  # type: ignore[override]
        """Infinite where some row has density zero."""
        with np.errstate(divide="ignore"):
            return 1.0 - float(self.loss.weight @ np.log(self.mixed))

    @cached_property
    def gradient(self) -> FloatArray:  # type: ignore[override]
        """One minus the mean of density over mixture."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1.0 - (self.loss.weight / self.mixed) @ self.loss.density

    @property
    def gap(self) -> float:
        """What the mean log-likelihood lacks at most, in nats."""
        return max(-float(self.gradient.min()), 0.0)

    @cached_property
    def hessian(self) -> FloatArray:
        """Mean outer product of density / mixture."""
        n, n_parts = self.loss.density.shape
        total = np.zeros((n_parts, n_parts))
        root = np.sqrt(self.loss.weight) / self.mixed
        step = max(1, BLOCK // n_parts)
        for start in range(0, n, step):
            rows = self.loss.density[start : start + step] * root[start : start + step, None]
            total += rows.T @ rows
        return total

    def step(self) -> FloatArray:
        """Return the step to the least value of the quadratic model over shares that are not negative."""
        hessian, diagonal = self.hessian.copy(), self.hessian.diagonal()
        hessian[np.diag_indices(self.x.size)] += RIDGE * (diagonal + diagonal.mean())
        return bounded_step(hessian, self.gradient, self.x)
