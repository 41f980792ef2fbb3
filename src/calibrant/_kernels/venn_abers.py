"""Isotonic regression with one event more, at each score in turn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._kernels._compile import kernel

FloatArray = npt.NDArray[np.float64]


@kernel
def fits_with_one_event(C: FloatArray, Z: FloatArray, more: float) -> FloatArray:  # pragma: no cover - compiled
    """Return the isotonic fit at each point if it had an event of weight ``more`` beside what it has.

    C and Z are cumulative weight and events of the points, from 0 on: points of the cumulative sum diagram (CSD). Assumes C
    increasing, more > 0. The fit at point k is

        max over i < k of min over j >= k of (Z[j] - Z[i] + more) / (C[j] - C[i] + more)

    the slope of the greatest convex minorant between the corners before k, moved by (-more, -more), and the others. The
    paper (Algorithms 1 and 2) keeps the corners on two stacks; here the hull of what lies to the right of a point is a
    chain of successors, and the point where the line touches it only ever moves to the right: time is linear.
    """
    m = C.size - 1
    # Corner after k on the convex minorant of the points k, k + 1, ..., m.
    after = np.empty(m + 1, np.intp)
    after[m] = m
    for k in range(m - 1, -1, -1):
        j = k + 1
        while j < m and (Z[j] - Z[k]) * (C[after[j]] - C[j]) >= (Z[after[j]] - Z[j]) * (C[j] - C[k]):
            j = after[j]
        after[k] = j
    fit = np.empty(m)
    # The line through the moved corner (x, y) touches the points to the right at number ``touched``.
    x, y, touched = C[0] - more, Z[0] - more, 0
    for k in range(m):
        dx, dy = C[k] - more - x, Z[k] - more - y
        # A moved corner on or above the line leaves it where it is.
        if touched <= k or dy * (C[touched] - x) < dx * (Z[touched] - y):
            x, y = C[k] - more, Z[k] - more
            touched = max(touched, k + 1)
            while touched < m and (Z[after[touched]] - y) * (C[touched] - x) <= (Z[touched] - y) * (
                C[after[touched]] - x
            ):
                touched = after[touched]
        fit[k] = (Z[touched] - y) / (C[touched] - x)
    return fit
