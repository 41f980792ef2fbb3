"""Standard errors of the shares of the classes under which the forecasts of unlabelled rows are most likely."""

from __future__ import annotations

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.solvers.mixture import Mixture


def standard_errors(
    found: Mixture, n_rows: float, old: FloatArray, old_covariance: FloatArray | None
) -> tuple[FloatArray, float]:
    """Return the standard error of each share, and the condition number of the information.

    Shares at zero are held there, and have none (NaN). The rest move within their sum; where the rows hold no information on
    a direction its error is infinite.

    Old shares that were estimated add their part. The gradient g_k = mean of ratio_k / mixture moves with them by
    dg_k / do_l = I_kl q_l / o_l - (k = l) g_k / o_k, where g_k = 1 at the maximum, and the shares that put it back move by
    dq = B (B'IB)^-1 B' (I diag(q / o) - diag(1 / o)) do, with the information I and B a basis of what leaves the sum alone.
    """
    error = np.full(found.point.x.size, np.nan)
    free = np.flatnonzero(found.point.x > 0)
    if free.size == 1:
        error[free] = 0.0
        return error, 1.0
    # An orthonormal basis of what leaves the sum alone: all right singular vectors of a row of ones but the first.
    basis = np.linalg.svd(np.ones((1, free.size)))[2][1:].T
    information = found.point.hessian[np.ix_(free, free)]
    value, vector = np.linalg.eigh(basis.T @ information @ basis)
    flat = value <= 1e-12 * max(value.max(), 1.0)
    direction = basis @ vector
    along = direction**2
    variance = along[:, ~flat] @ (1.0 / value[~flat]) / n_rows
    if old_covariance is not None:
        pulled = information * (found.point.x / old)[free] - np.diag(1.0 / old[free])
        moved = (direction[:, ~flat] / value[~flat]) @ direction[:, ~flat].T @ pulled
        variance += np.einsum("kl,lm,km->k", moved, old_covariance[np.ix_(free, free)], moved)
    variance[(along[:, flat] > 1e-12).any(axis=1)] = np.inf
    error[free] = np.sqrt(variance)
    return error, float("inf") if flat.any() else float(value.max() / value.min())
