"""Precisions of groups of weights by Laplace evidence: weights and precisions are found together.

All weights w of group h have the prior N(0, exp(-rho_h)), and rho_h the prior N(m_h, s_h^2). At weights w the log loss of all
rows has gradient g and Hessian H. With these fixed, A = H + diag(exp(rho)) gives the weights v = A^-1 (H w - g), and gamma_h =
count_h - exp(rho_h) tr_h(A^-1) of them are held by the rows and not by the prior; rho_h then maximises

    gamma_h rho / 2  -  exp(rho) |v_h|^2 / 2  -  (rho - m_h)^2 / (2 s_h^2),

MacKay's update with a prior on rho. Then w moves to v, by a step that is halved until it lowers the penalised log loss.
[MacKay, Bayesian interpolation, 1992; Tipping, Sparse Bayesian learning and the relevance vector machine, 2001]

Where steps are long, precisions that follow them can cycle. So a precision changes by a factor of at most exp(2) before H is
made anew, and none changes while the quadratic model promises a step more than `FAR`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant.solvers.evidence.logit import Logit, Look

LEAST, MOST = -6.0, 14.0
"""Logarithms of precisions lie between these."""

MOST_OUTER, MOST_AFTER_PART = 30, 12
"""Hessians that are made at most; and of all rows, where the search began with a part of them: separated rows would go on."""

LAST_CHANGE, LAST_LOSS, LAST_GAIN = 0.02, 0.02, 0.05
"""The change of rho at which an inner iteration ends; the loss of evidence by the last change, and the gain of the last step,
in nats of all rows up to `FEW_ROWS`, and in proportion of more."""

FEW_ROWS = 1000

FARTHEST, FAR = 2.0, 4.0
"""How far rho moves in one outer iteration, and the promised gain (twice, in nats) above which it does not move."""

MANY, MANY_ROWS, ONE_IN = 1 << 24, 2000, 4
"""Rows times weights, and rows, from which the search begins where it ends for one row in so many."""

STRAIGHT, SLOW, SLOWEST = 0.9, 0.3, 0.8
"""Cosine of two steps of rho from which they are in one direction, and the ratios of their lengths from which, and up to
which, the steps to come are taken at once."""

FAIR_SHARE, MOST_HALVINGS = 1e-4, 30
MOST_SCALAR_STEPS = 50


class Prior(NamedTuple):
    """Mean and spread of rho of each group, shape (G,)."""

    mean: FloatArray
    spread: FloatArray


@dataclass(frozen=True, eq=False)
class Evidence:
    """Weights and precisions at which the evidence is about largest.

    Attributes
    ----------
    w : ndarray of shape (d,)
        Weights of least penalised loss.
    rho : ndarray of shape (G,)
        Logarithms of the precisions.
    determined : ndarray of shape (G,)
        Effective degrees of freedom: how many weights of each group the rows determine.
    look : Look
        Log loss, gradient and Hessian there, or near it.
    log_evidence : float
        Logarithm of the evidence, in nats, without the prior of rho.
    n_iter : int
        Hessians made.
    """

    w: FloatArray
    rho: FloatArray
    determined: FloatArray
    look: Look
    log_evidence: float
    n_iter: int


def most_evident(logit: Logit, group: IntArray, prior: Prior) -> Evidence:
    """Find weights and precisions, from weights zero and the mean of the prior.

    Of many rows and weights, from those that a part of the rows finds.

    Parameters
    ----------
    logit : Logit
        The log loss of all rows.
    group : ndarray of shape (d,)
        Group of each weight.
    prior : Prior
        Of the logarithm of the precision of each group.
    """
    w, rho = _start(logit, group, prior)
    look, path = logit.at(w), _Path()
    n_iter, is_last, unit = 0, False, max(1.0, len(logit.weight) / FEW_ROWS)
    most = MOST_AFTER_PART if w.any() else MOST_OUTER
    while n_iter < most and not is_last:
        n_iter += 1
        v, new, determined = _updated(look, w, rho, group, prior)
        new = path.ahead(rho, new)
        # To the second order this is what the evidence lost by the precisions that the step was made with.
        lost, rho = float(((0.25 * determined + 0.5 / prior.spread**2) * (new - rho) ** 2).sum()), new
        ridge = np.exp(rho)[group]
        w, look, gain = _moved(logit, look, w, v, ridge)
        is_last = gain < LAST_GAIN * unit and lost < LAST_LOSS * unit
    half = 0.5 * (rho[group].sum() - look.curvature.with_ridge(ridge).log_det)
    return Evidence(w, rho, determined, look, float(half) - look.value - 0.5 * float(ridge @ w**2), n_iter)


def _start(logit: Logit, group: IntArray, prior: Prior) -> tuple[FloatArray, FloatArray]:
    """Return weights and precisions to begin with."""
    n = len(logit.weight)
    if n * logit.size < MANY or n < MANY_ROWS:
        return np.zeros(logit.size), prior.mean.copy()
    found = most_evident(logit.part(slice(None, None, ONE_IN)), group, prior)
    return found.w, found.rho


def _updated(
    look: Look, w: FloatArray, rho: FloatArray, group: IntArray, prior: Prior
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the weights of the quadratic model, and the precisions that its evidence asks for."""
    curvature, v = look.curvature, w
    right = curvature.times(w) - look.gradient
    count = np.bincount(group, minlength=rho.size).astype(np.float64)
    low, high = np.maximum(rho - FARTHEST, LEAST), np.minimum(rho + FARTHEST, MOST)
    for number in range(curvature.most_inner):
        ridge = np.exp(rho)[group]
        solvable = curvature.with_ridge(ridge)
        v = solvable.solved(right, v)
        held = np.bincount(group, solvable.inverse_diagonal, minlength=rho.size) * np.exp(rho)
        determined = np.clip(count - held, 0.0, count)
        if number == 0 and (look.gradient + ridge * w) @ (w - v) > FAR:
            break
        square: FloatArray = np.bincount(group, v**2, minlength=rho.size).astype(np.float64)
        before, rho = rho, np.clip(_best_rho(rho, determined, square, prior), low, high)
        if np.abs(rho - before).max() < LAST_CHANGE:
            break
    return v, rho, determined


class _Path:
    """Where precisions go: after two steps in one direction the third goes where the steps would end."""

    def __init__(self) -> None:
        self.before: FloatArray | None = None

    def ahead(self, rho: FloatArray, new: FloatArray) -> FloatArray:
        """Return the new precisions, or those further on."""
        step, before = new - rho, self.before
        self.before = step
        if before is None or not step.any() or not before.any():
            return new
        shrinks = float(step @ before / (before @ before))
        straight = float(step @ before) > STRAIGHT * float(np.linalg.norm(step) * np.linalg.norm(before))
        if not (straight and shrinks > SLOW):
            return new
        self.before = None
        further = step * (1.0 / (1.0 - min(shrinks, SLOWEST)))
        return np.clip(rho + np.clip(further, -FARTHEST, FARTHEST), LEAST, MOST)


def _best_rho(rho: FloatArray, determined: FloatArray, square: FloatArray, prior: Prior) -> FloatArray:
    """Maximise what stands above over each rho, by Newton's steps; it is concave."""
    curvature = 1.0 / prior.spread**2
    for _ in range(MOST_SCALAR_STEPS):
        pull = 0.5 * np.exp(rho) * square
        step = np.clip((0.5 * determined - pull - curvature * (rho - prior.mean)) / (pull + curvature), -1.0, 1.0)
        rho = np.clip(rho + step, LEAST, MOST)
        if np.abs(step).max() < 1e-6:
            break
    return rho


def _moved(logit: Logit, look: Look, w: FloatArray, v: FloatArray, ridge: FloatArray) -> tuple[FloatArray, Look, float]:
    """Return weights nearer to v with a lower penalised loss, and the gain that the slope promised."""
    step = v - w
    gain = -float((look.gradient + ridge * w) @ step)
    before, length = look.value + 0.5 * float(ridge @ w**2), 1.0
    for _ in range(MOST_HALVINGS):
        there = w + length * step
        new = logit.at(there)
        if new.value + 0.5 * float(ridge @ there**2) <= before - FAIR_SHARE * length * gain:
            return there, new, gain
        length *= 0.5
    return w, look, 0.0
