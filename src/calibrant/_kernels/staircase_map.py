"""The map that an isotonic regression of points with a score and a rank makes: its corners, its steps, and what it gives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import kernel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
RankArray = npt.NDArray[np.uint16] | npt.NDArray[np.int32]


@kernel
def corners(
    q: FloatArray,
    l: RankArray,  # noqa: E741 - the paper's letter
    fit: FloatArray,
    n_ranks: int,
    found: BoolArray,
) -> None:  # pragma: no cover - compiled
    """Find the points at which the fit is higher than at all others at or below their score and rank.

    Assumes points ordered by score, equal scores by rank; the lowest value of all is taken to hold everywhere.
    """
    best = np.full(n_ranks + 1, fit.min())
    for i in range(fit.size):
        j = np.int64(l[i])
        found[i] = best[j] < fit[i]
        while j <= n_ranks and best[j] < fit[i]:
            best[j] = fit[i]
            j += 1


@kernel
def envelopes(
    q: FloatArray,
    l: IntArray,  # noqa: E741 - the paper's letter
    fit: FloatArray,
    n_ranks: int,
) -> tuple[IntArray, FloatArray, FloatArray]:  # pragma: no cover - compiled
    """Return, rank after rank, the steps of the largest fit of the corners at or below a score and a rank.

    Assumes corners ordered by score, equal scores by rank, with 1 <= l <= n_ranks; the first has the lowest value. Steps of
    rank j are those from starts[j - 1] to starts[j] - 1: the score at which each begins, and its value.
    """
    starts = np.zeros(n_ranks + 1, np.int64)
    left, value = np.empty(0), np.empty(0)
    size = np.empty(n_ranks, np.int64)
    for filling in range(2):
        best, begins = np.full(n_ranks, fit[0]), np.full(n_ranks, q[0])
        size[:] = 1
        if filling == 1:
            left, value = np.full(starts[n_ranks], q[0]), np.full(starts[n_ranks], fit[0])
        for i in range(q.size):
            j = l[i] - 1
            while j < n_ranks and best[j] < fit[i]:
                best[j] = fit[i]
                if q[i] != begins[j]:
                    begins[j] = q[i]
                    size[j] += 1
                if filling == 1:
                    step = starts[j] + size[j] - 1
                    left[step], value[step] = q[i], fit[i]
                j += 1
        if filling == 0:
            for j in range(n_ranks):
                starts[j + 1] = starts[j] + size[j]
    return starts, left, value


@kernel
def increments(
    prob: FloatArray,
    order: IntArray,
    reached: FloatArray,
    starts: IntArray,
    left: FloatArray,
    value: FloatArray,
    share: bool,
    spread: bool,
    result: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Write to ``result`` what the map gives each class: the increase from rank to rank, 0 before the first and 1 at the last.

    Assumes rows of ``order`` that sort the classes from the highest probability on, the sums that are ``reached`` with each of
    them, grouped as those of the fit, and steps of `envelopes`. With ``share`` classes of equal probability share their
    increase. With ``spread`` all classes since the last increase share the next, in proportion to their probabilities.
    """
    n, K = prob.shape
    for i in range(n):
        mass, below, first = 0.0, 0.0, 0
        for k in range(K):
            p = prob[i, order[i, k]]
            mass += p
            if share and k + 1 < K and prob[i, order[i, k + 1]] == p:
                continue
            here = 1.0
            if k + 1 < K:
                low, high = starts[k], starts[k + 1]
                while high - low > 1:
                    middle = (low + high) >> 1
                    if left[middle] <= reached[i, k]:
                        low = middle
                    else:
                        high = middle
                here = value[low]
                if spread and here <= below:
                    continue
            rise = here - below
            for other in range(first, k + 1):
                j = order[i, other]
                result[i, j] = rise * (prob[i, j] / mass) if spread and mass > 0.0 else rise / (k + 1 - first)
            mass, below, first = 0.0, here, k + 1
