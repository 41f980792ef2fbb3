"""The shares of the classes under which the forecasts of unlabelled rows are most likely."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray

RIDGE = 1e-10
"""Added to the diagonal of a Hessian, relative to it: columns of a forecast may depend on each other."""

GAP = 1e-9
"""A solution is certified if no shares are better by more than this, in nats a row."""

FINEST = 1e-14
"""Rounding allows no smaller gap."""

DUST = 1e-10
"""A smaller share is zero, if the likelihood is no lower for it."""

EM_STEPS, MOST_STEPS = 5, 200
FAST_EM = 0.5
"""EM goes on while each step makes the gap so much smaller: a Newton step costs as much as K of them."""

BLOCK = 1 << 18
"""Numbers worked on at a time in the Hessian."""


class Maximum(NamedTuple):
    """Shares, how many steps found them, what their mean log-likelihood lacks at most, and minus its Hessian."""

    prior: FloatArray
    n_iter: int
    gap: float
    information: FloatArray


def most_likely_prior(ratio: FloatArray, weight: FloatArray, start: FloatArray) -> Maximum:
    """Maximise  mean log (ratio @ q)  over shares q that sum to one; ``ratio`` are probabilities over old shares.

    The problem is concave. With g the gradient, q'g = 1, and for the best shares q* concavity gives
    L(q*) - L(q) <= g'(q* - q) <= max g - 1: the gap is a certificate. EM multiplies q by g; it climbs with every step,
    slowly at the end. So where its steps do not halve the gap they are followed by Newton steps of
    mean log (ratio @ x) - sum x  over x >= 0, whose maximum has the sum one by itself. Where none climbs, a step toward the
    best class does.
    """
    weight = weight / weight.sum()
    q, best, stalled, before = start, (start, np.inf), 0, np.inf
    for step in range(1, MOST_STEPS + 1):
        mixture = ratio @ q
        gradient = ratio.T @ (weight / mixture)
        gap = float(gradient.max() - 1.0)
        stalled = 0 if gap < best[1] else stalled + 1
        best = (q, gap) if gap < best[1] else best
        value = float(weight @ np.log(mixture))
        if gap <= FINEST or (stalled >= 3 and best[1] <= GAP):
            break
        lifted = q[int(gradient.argmax())] > 0  # what is zero stays zero in EM
        cheap = step <= EM_STEPS or (gap < FAST_EM * before and lifted)
        following = _em(q, gradient) if cheap else _newton(ratio, weight, q, gradient, mixture, value)
        if np.array_equal(following, q):
            break
        q, before = following, gap
    q, gap = _without_dust(ratio, weight, *best)
    return Maximum(q, step, max(gap, 0.0), _information(ratio, weight, ratio @ q))


def _without_dust(ratio: FloatArray, weight: FloatArray, q: FloatArray, gap: float) -> tuple[FloatArray, float]:
    """Put shares that were on their way to zero there, if that does no harm."""
    swept = np.where(q < DUST, 0.0, q)
    swept /= swept.sum()
    mixture = ratio @ swept
    if np.array_equal(swept, q) or not mixture.min() > 0:
        return q, gap
    swept_gap = float((ratio.T @ (weight / mixture)).max() - 1.0)
    return (swept, swept_gap) if swept_gap <= max(gap, DUST) else (q, gap)


def _em(q: FloatArray, gradient: FloatArray) -> FloatArray:
    """Each share becomes the mean probability of its class under the present shares (Saerens et al., eq. 2.9)."""
    following: FloatArray = q * gradient
    following /= following.sum()
    return following


def _newton(
    ratio: FloatArray, weight: FloatArray, q: FloatArray, gradient: FloatArray, mixture: FloatArray, value: float
) -> FloatArray:
    """Step toward the best shares of the quadratic model; half the way, and half of that, until it climbs."""
    hessian = _information(ratio, weight, mixture)
    diagonal = np.diag(hessian)
    hessian[np.diag_indices(q.size)] += RIDGE * (diagonal + diagonal.mean())
    target = _least_quadratic(hessian, 2.0 * gradient - 1.0)  # the Hessian times q is the gradient
    lowest = value - 4e-16 * max(1.0, abs(value))  # what rounding takes away: near the maximum every step looks level
    for length in 0.5 ** np.arange(8.0):
        moved: FloatArray = q + length * (target - q)
        moved /= moved.sum()
        reached = ratio @ moved
        if reached.min() > 0 and float(weight @ np.log(reached)) >= lowest:
            return moved
    return _toward_best_class(ratio, weight, q, int(gradient.argmax()), mixture)


def _least_quadratic(hessian: FloatArray, linear: FloatArray) -> FloatArray:
    """Minimise  y'Hy / 2 - linear'y  over y >= 0, by block principal pivoting (Portugal, Judice, Vicente 1994).

    Whatever has the wrong sign changes sides, all at once; one at a time if that stops to help, which always ends.
    """
    passive = np.ones(linear.size, dtype=bool)
    fewest, chances = linear.size + 1, 3
    y = np.zeros(linear.size)
    for _ in range(10 * linear.size + 50):
        y = np.zeros(linear.size)
        y[passive] = np.linalg.solve(hessian[np.ix_(passive, passive)], linear[passive])
        slack = hessian @ y - linear
        wrong = np.where(passive, y < 0, slack < -1e-12)
        if not (count := int(wrong.sum())):
            break
        if count < fewest:
            fewest, chances = count, 3
        elif chances:
            chances -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        passive ^= wrong
    return np.maximum(y, 0.0)


def _toward_best_class(
    ratio: FloatArray, weight: FloatArray, q: FloatArray, best: int, mixture: FloatArray
) -> FloatArray:
    """Move along the line to the class of the highest gradient, as far as it climbs: that works wherever there is a gap."""
    toward = ratio[:, best] - mixture

    def slope(step: float) -> float:
        return float(weight @ (toward / (mixture + step * toward)))

    low, high = 0.0, 1.0 - 1e-12
    if slope(high) < 0:
        low = 1e-300
        while high / low > 1.0 + 1e-9:
            middle = (low * high) ** 0.5
            low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    moved = (1.0 - high) * q
    moved[best] += high
    return moved


def _information(ratio: FloatArray, weight: FloatArray, mixture: FloatArray) -> FloatArray:
    """Return minus the Hessian of the mean log-likelihood: the mean outer product of ratio / mixture."""
    n, n_classes = ratio.shape
    total = np.zeros((n_classes, n_classes))
    root = np.sqrt(weight) / mixture
    step = max(1, BLOCK // n_classes)
    for start in range(0, n, step):
        rows = ratio[start : start + step] * root[start : start + step, None]
        total += rows.T @ rows
    return total


def standard_errors(
    found: Maximum, n_rows: float, old: FloatArray, old_covariance: FloatArray | None
) -> tuple[FloatArray, float]:
    """Return the standard error of each share, and the condition number of the information.

    Shares at zero are held there, and have none (NaN). The rest move within their sum; where the rows say nothing of a
    direction its error is infinite.

    Old shares that were estimated add their part. The gradient g_k = mean of ratio_k / mixture moves with them by
    dg_k / do_l = I_kl q_l / o_l - (k = l) g_k / o_k, where g_k = 1 at the maximum, and the shares that put it back move by
    dq = B (B'IB)^-1 B' (I diag(q / o) - diag(1 / o)) do, with the information I and B a basis of what leaves the sum alone.
    """
    error = np.full(found.prior.size, np.nan)
    free = np.flatnonzero(found.prior > 0)
    if free.size == 1:
        error[free] = 0.0
        return error, 1.0
    # An orthonormal basis of what leaves the sum alone: all right singular vectors of a row of ones but the first.
    basis = np.linalg.svd(np.ones((1, free.size)))[2][1:].T
    information = found.information[np.ix_(free, free)]
    value, vector = np.linalg.eigh(basis.T @ information @ basis)
    flat = value <= 1e-12 * max(value.max(), 1.0)
    direction = basis @ vector
    along = direction**2
    variance = along[:, ~flat] @ (1.0 / value[~flat]) / n_rows
    if old_covariance is not None:
        pulled = information * (found.prior / old)[free] - np.diag(1.0 / old[free])
        moved = (direction[:, ~flat] / value[~flat]) @ direction[:, ~flat].T @ pulled
        variance += np.einsum("kl,lm,km->k", moved, old_covariance[np.ix_(free, free)], moved)
    variance[(along[:, flat] > 1e-12).any(axis=1)] = np.inf
    error[free] = np.sqrt(variance)
    return error, float("inf") if flat.any() else float(value.max() / value.min())
