"""The test-based calibration error as its definition says: `scipy.stats.binomtest` for each prediction.

The bins are those of calibrant, made outside of what is timed.
"""

from collections.abc import Callable

import numpy as np
from scipy.stats import binomtest

LEVEL = 0.05


def of_bins(y: np.ndarray, p: np.ndarray, tested: int) -> Callable[[], float]:
    """Test the first ``tested`` predictions only: the percentage of them that is rejected."""
    from calibrant import reliability_curve
    from calibrant.binning import BoundedIsotonic

    edges = reliability_curve(y, p, binning=BoundedIsotonic()).panels[0].bins.edges
    at = np.searchsorted(edges[1:-1], p, side="left")
    count, events = np.bincount(at).tolist(), np.bincount(at, y).astype(int).tolist()
    first = list(zip(at[:tested].tolist(), p[:tested].tolist(), strict=True))

    def call() -> float:
        return 100.0 * sum(binomtest(events[b], count[b], q).pvalue <= LEVEL for b, q in first) / len(first)

    return call
