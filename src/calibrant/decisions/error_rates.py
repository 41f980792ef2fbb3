"""The errors of deciding for an event from a threshold on: shares of rows, at many thresholds at once."""

from __future__ import annotations

import numpy as np

from calibrant._core.links import FloatArray


def errors_at(
    score: FloatArray, weight: FloatArray, events: FloatArray, threshold: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return shares of false positives and of false negatives among all rows, deciding for the event from each threshold on.

    The distinct scores increase; ``weight`` and ``events`` stand on them.
    """
    total, others = weight.sum(), weight - events
    below = np.searchsorted(score, threshold, side="left")
    missed = np.append(0.0, np.cumsum(events))
    # From the other end, so that the last shares are not differences of large sums.
    alarmed = np.append(np.cumsum(others[::-1])[::-1], 0.0)
    return alarmed[below] / total, missed[below] / total
