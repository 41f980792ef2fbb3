"""The interval of the l2 calibration error of Sun, Chaudhari, Barnett, Dobriban (arXiv 2408.08998), written anew for one event.

The formulas are those of the authors' experiments (their `estimator.py`, and the cell of their notebook that counts coverage).
"""

import numpy as np
from scipy.special import ndtri


def squared_error_interval(
    outcome: np.ndarray, score: np.ndarray, bins: np.ndarray, level: float
) -> tuple[float, float, float, bool]:
    """Return the debiased squared error over bins, its lower and upper end, and whether 0 is in the interval as well.

    ``bins`` has the bin of each row. Away from 0 the estimate is normal at the rate of the root of n, and the interval is cut
    so that it never lies below 0. At 0 it converges faster, and whether 0 belongs to the interval is a test of its own.
    """
    residual, (_, at) = outcome - score, np.unique(bins, return_inverse=True)
    n, count = residual.size, np.bincount(at).astype(float)
    first, second = (np.bincount(at, power) / count for power in (residual, residual**2))
    pairs = np.where(count > 1.0, count / np.maximum(count - 1.0, 1.0), 1.0)
    value = float(pairs @ (count * first**2 - second)) / n
    spread = float(count @ (4.0 * first**2 * second - 3.0 * first**4)) / n - float(count @ first**2 / n) ** 2
    error, kept = np.sqrt(max(spread, 0.0) / n), max(value, 0.0)
    two, one = (-ndtri(part) * error for part in (level / 2.0, level))
    lower = kept - two if kept >= 2.0 * two else kept / 2.0 if kept >= 2.0 * one else max(kept - one, 0.0)
    variance = np.bincount(at, score * (1.0 - score)) / count  # of an outcome of the bin under calibration
    at_zero = np.sqrt(2.0 * float(variance @ variance)) / n
    return value, lower, kept + two, bool(kept < -ndtri(level) * at_zero)
