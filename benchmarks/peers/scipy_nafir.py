"""Normalisation-aware flattened isotonic regression by a generic optimiser: SciPy's L-BFGS-B on eq. 4 of Arad and Rosset.

Over the blocks of flattened isotonic regression with the counts C (rows by blocks) and events b, the mean of
log sum_j C_ij exp(theta_j) less b' theta is minimised over the increments of theta, each from 0 to 27.6.
"""

import numpy as np
from scipy.optimize import isotonic_regression, minimize

from benchmarks.fitting import Method

MOST = 12.0 * np.log(10.0)
"""Where an increment ends that should be infinite: at a ratio of 1e-12."""

TO_THE_END = {"maxiter": 100_000, "maxfun": 200_000, "ftol": 1e-15, "gtol": 1e-9}
"""The default stops much earlier."""


def na_fir(y: np.ndarray, prob: np.ndarray) -> Method:
    return _method(y, prob, TO_THE_END)


def na_fir_by_default(y: np.ndarray, prob: np.ndarray) -> Method:
    return _method(y, prob, {})


def _method(y: np.ndarray, prob: np.ndarray, options: dict[str, float]) -> Method:
    def fit() -> tuple[np.ndarray, np.ndarray]:
        left, theta = _blocks(y, prob)
        block, rows = _block(left, prob), np.arange(len(y))
        counts = np.zeros((len(y), left.size))
        for column in block.T:
            counts[rows, column] += 1.0
        events = np.bincount(block[rows, y], minlength=left.size) / len(y)

        def objective(increments: np.ndarray) -> tuple[float, np.ndarray]:
            theta = _theta(increments)
            raised = np.exp(theta)
            total = counts @ raised
            slope = raised * ((1.0 / total) @ counts) / len(y) - events
            # An increment lowers all that lies below it.
            return float(np.log(total).mean() - events @ theta), -np.cumsum(slope)[:-1]

        start = np.clip(np.diff(theta), 0.0, MOST)
        found = minimize(
            objective, start, jac=True, method="L-BFGS-B", bounds=[(0.0, MOST)] * start.size, options=options
        )
        return left, _theta(found.x)

    def apply(fitted: tuple[np.ndarray, np.ndarray], other: np.ndarray) -> np.ndarray:
        left, theta = fitted
        at = theta[_block(left, other)]
        raised = np.exp(at - at.max(axis=1, keepdims=True))
        return raised / raised.sum(axis=1, keepdims=True)

    return Method(fit, apply)


def _blocks(y: np.ndarray, prob: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lowest score of each block of the isotonic regression of all events on all scores, and the logarithm of its value."""
    score, at, size = np.unique(prob, return_inverse=True, return_counts=True)
    events = np.bincount(at.reshape(prob.shape)[np.arange(len(y)), y], minlength=score.size)
    value = isotonic_regression(events / size, weights=size).x
    first = np.append(True, np.diff(value) > 0.0)
    return score[first], np.log(np.maximum(value[first], np.exp(-MOST)))


def _block(left: np.ndarray, prob: np.ndarray) -> np.ndarray:
    return np.searchsorted(left[1:], prob, side="right")


def _theta(increments: np.ndarray) -> np.ndarray:
    """Values of the blocks, the highest zero."""
    return np.append(-np.cumsum(increments[::-1])[::-1], 0.0)
