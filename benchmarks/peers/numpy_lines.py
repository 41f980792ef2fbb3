"""Plain NumPy, as one writes it on the spot. It checks nothing: neither shapes nor sums, no missing values, no labels.

A score on an edge falls into the upper bin, with calibrant and most peers into the lower one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def ece(y: Array, p: Array, bins: int) -> Callable[[], float]:
    def call() -> float:
        at = np.minimum((p * bins).astype(np.intp), bins - 1)
        gaps = np.bincount(at, y, bins) - np.bincount(at, p, bins)
        return float(np.abs(gaps).sum() / len(p))

    return call


def three(y: Array, p: Array, bins: int) -> Callable[[], Array]:
    """Accuracy, Brier score and ECE of a column."""
    error = ece(y, p, bins)

    def call() -> Array:
        off = p - y
        return np.array([np.mean((p > 0.5) == y), np.mean(off * off, dtype=np.float64), error()])

    return call


def six(y: Array, prob: Array, bins: int) -> Callable[[], Array]:
    """Accuracy, log loss, Brier score, ECE, MCE and class-wise ECE of a table."""

    def call() -> Array:
        (n, k), rows = prob.shape, np.arange(len(y))
        of_true, top = prob[rows, y], prob.argmax(axis=1)
        sure, hit = prob[rows, top], top == y
        squares = np.einsum("ij,ij->", prob, prob, dtype=np.float64)
        brier = (squares - 2.0 * of_true.sum(dtype=np.float64)) / n + 1.0

        at = np.minimum((sure * bins).astype(np.intp), bins - 1)
        gaps, counts = np.abs(np.bincount(at, hit, bins) - np.bincount(at, sure, bins)), np.bincount(at, None, bins)

        cell = np.minimum((prob * bins).astype(np.intp), bins - 1)
        cell += bins * np.arange(k)
        events = np.bincount(cell[rows, y], None, bins * k)
        by_class = np.abs(events - np.bincount(cell.ravel(), prob.ravel(), bins * k))
        return np.array(
            [
                hit.mean(),
                -np.log(of_true).mean(dtype=np.float64),
                brier / 2.0 if k == 2 else brier,
                gaps.sum() / n,
                (gaps / np.maximum(counts, 1)).max(),
                by_class.sum() / (n * k),
            ]
        )

    return call


def log_loss(y: Array, prob: Array) -> Callable[[], float]:
    return lambda: float(-np.log(prob[np.arange(len(y)), y]).mean(dtype=np.float64))


def log_loss_of_logits(y: Array, logit: Array) -> Callable[[], float]:
    def call() -> float:
        most = logit.max(axis=1)
        total = np.exp(logit - most[:, None]).sum(axis=1)
        return float((np.log(total) + most - logit[np.arange(len(y)), y]).mean(dtype=np.float64))

    return call
