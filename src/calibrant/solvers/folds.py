"""Folds that depend on what is in a row alone: neither the order of rows nor that of columns matters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import SimplexProblem

N_FOLDS = 5

ROUNDING = 1e-9
"""Numbers of rows that are so near a whole one, relative to it, are whole."""

WordArray = np.ndarray[Any, np.dtype[np.uint64]]


class Fold(NamedTuple):
    """Weight with which each row is fitted, and with which it is left out."""

    kept: FloatArray
    left_out: FloatArray


def folds_of(problem: SimplexProblem, n_folds: int = N_FOLDS) -> Iterator[Fold]:
    """Leave out about a fifth of the weight at a time, or another part; no fold, if that is all there is.

    Equal rows, those of one hash, are dealt out one by one to the folds in turn, from fold (hash modulo folds) on, and each of
    them has the same part in every fold that gets some. Left out together, as many as a tree makes, they would leave the
    others with rates that are far off.
    """
    row_hash, group = np.unique(hash_of_rows(problem), return_inverse=True)
    total = np.bincount(group, problem.weight).astype(np.float64, copy=False)
    number = _rounded(total * problem.weights.rows_per_weight)
    start = (row_hash % np.uint64(n_folds)).astype(np.float64)
    rounds, rest = np.divmod(number, n_folds)
    part = problem.weight / number[group]
    for fold in range(n_folds):
        dealt = rounds + np.clip(rest - (fold - start) % n_folds, 0.0, 1.0)
        # Where all are dealt to one fold nothing is kept, not even rounding.
        left_out = np.where((dealt < number)[group], part * dealt[group], problem.weight)
        kept = problem.weight - left_out
        if kept.any() and left_out.any():
            yield Fold(kept, left_out)


def hash_of_rows(problem: SimplexProblem) -> WordArray:
    """Hash the probabilities of each row and that of the true class, in single precision.

    Rows have the same hash if they differ only in the order of the columns, or in which of equally probable classes is true:
    calibrators that treat classes alike cannot tell them apart.
    """
    n, n_classes = problem.prob.shape
    mixed = np.empty(n, dtype=np.uint64)
    step = max(1, (1 << 18) // n_classes)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        prob = problem.prob[rows].astype(np.float32) + np.float32(0.0)  # of a negative zero a zero
        mixed[rows] = _mixed(prob.view(np.uint32)).sum(axis=1, dtype=np.uint64)
    of_true = problem.prob[np.arange(n), problem.label].astype(np.float32) + np.float32(0.0)
    return _mixed(mixed + np.uint64(3) * _mixed(of_true.view(np.uint32)))


def _rounded(number: FloatArray) -> FloatArray:
    """Return numbers of rows, whole where rounding may be all that they lack."""
    whole = np.maximum(np.rint(number), 1.0)
    return np.where(np.abs(number - whole) <= ROUNDING * whole, whole, number)


def _mixed(bits: np.ndarray[Any, Any]) -> WordArray:
    """Mix the bits of whole numbers (the finaliser of SplitMix64, Steele, Lea and Flood 2014)."""
    z = bits.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
