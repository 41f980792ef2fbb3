"""The least value of a quadratic model  gradient @ step + step @ hessian @ step / 2, without bounds and with lower ones."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv

from calibrant._core.links import FloatArray

MORE_CURVATURE = (0.0, *10.0 ** np.arange(-12.0, 4.0))
"""Added in turn to the diagonal, relative to its largest entry, until the Hessian is positive definite: where probabilities are
all but certain, rounding can be as large as the Hessian itself."""

MOST_PIVOTS = 200
"""Sets of coordinates at their bounds that are tried for one step: some three are needed."""

MOST_TRIALS = 3
"""Of them, those that may follow each other without an improvement, until one coordinate is changed at a time."""

ROUNDING = 1e-12
"""Pulls that are no more than this part of the largest slope are rounding."""


def newton_step(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return the step to the least value of the model, shape (d,); NaN where there is no curvature."""
    for more in MORE_CURVATURE:
        if more:
            hessian = hessian.copy()
            hessian[np.diag_indices(gradient.size)] += more * float(np.abs(hessian.diagonal()).max())
        _, step, failed = dposv(hessian, -gradient)
        if not failed:
            return np.asarray(step, dtype=np.float64)
    return np.full(gradient.size, np.nan)


def bounded_step(hessian: FloatArray, gradient: FloatArray, room: FloatArray) -> FloatArray:
    """Return the step to the least value of the model among those of which no component is below ``-room``.

    By block principal pivoting (Portugal, Judice and Vicente 1994): coordinates that a step takes beyond their bounds go to
    them, and those at bounds that the model pulls up come back, all at once as long as there are fewer of them each time, else
    one by one. Were none to come back, the step could go up.

    Parameters
    ----------
    hessian : ndarray of shape (d, d)
        Positive definite.
    gradient : ndarray of shape (d,)
        Slope of the model where the step begins.
    room : ndarray of shape (d,)
        Distance of each coordinate from its lower bound, at least 0; infinite where it has none.

    Returns
    -------
    ndarray of shape (d,)
        Downhill, also where the pivots run out.
    """
    step, inside = newton_step(hessian, gradient), np.ones(room.size, dtype=np.bool_)
    if (step >= -room).all():
        return step
    fewest, trials = room.size + 1, MOST_TRIALS
    least_pull = -ROUNDING * float(np.abs(gradient).max())
    for _ in range(MOST_PIVOTS):
        wrong = np.where(inside, step < -room, gradient + hessian @ step < least_pull)
        n_wrong = int(wrong.sum())
        if n_wrong == 0:
            break
        if n_wrong < fewest:
            fewest, trials = n_wrong, MOST_TRIALS
        elif trials > 0:
            trials -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        inside ^= wrong
        step = np.where(inside, 0.0, -room)
        if inside.any():
            pull = (gradient + hessian @ step)[inside]
            step[inside] = newton_step(hessian[np.ix_(inside, inside)], pull)
    step = np.maximum(step, -room)
    return step if gradient @ step < 0.0 else np.maximum(-gradient / hessian.diagonal().max(), -room)
