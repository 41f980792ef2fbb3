"""One look at numbers that tells whether all is well with them.

A table is read once, in blocks that stay in the processor's cache. Only "all is well" is said here. Anything else is left to
the checks that read the table once for each question, find the first number that is wrong, and say what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.threads import in_order, n_processors

BLOCK = 1 << 16
"""Numbers looked at together: half a megabyte in double precision."""

PARALLEL_FROM = 1 << 21
"""Numbers from which several threads look."""

ROOM = 0.1
"""Part of the tolerance of a sum that the rounding of a fast sum may use up; where it would be more, sums are in float64."""

Real = np.dtype[np.floating[Any]]


def is_real(values: npt.NDArray[Any]) -> bool:
    """Whether numbers are in single or double precision, as this machine writes them, and there are some in one or two axes."""
    kind = values.dtype
    return kind.char in "fd" and kind.isnative and values.ndim in (1, 2) and values.size > 0


def are_between(values: FloatArray, low: float, high: float) -> bool:
    """Whether all numbers lie from ``low`` to ``high``; NaN lies nowhere."""
    if values.size <= BLOCK:
        return _within(values, low, high)
    return _all_blocks(values, lambda block: _within(block, low, high))


def are_probabilities(values: FloatArray, tolerance: float) -> bool:
    """Whether numbers lie in [0, 1], and rows of a table sum to one within the tolerance, with room for rounding.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n, K)
        Single or double precision, in any order in memory.
    tolerance : float
        How far the sum of a row may be from one.

    Returns
    -------
    bool
        True only if every number is finite, in [0, 1], and every sum within the tolerance. False says nothing.
    """
    if values.ndim == 1:
        return are_between(values, 0.0, 1.0)
    # A sum of K numbers that are not negative is off by at most K units in the last place, in whatever order it is taken.
    n_classes, unit = values.shape[1], float(np.finfo(values.dtype).eps)
    is_fast = n_classes * unit <= ROOM * tolerance
    ones = np.ones(n_classes, dtype=values.dtype if is_fast else np.float64)
    off = tolerance - n_classes * float(np.finfo(ones.dtype).eps)

    def is_well(block: FloatArray) -> bool:
        return _within(block, 0.0, 1.0) and _within(block.astype(ones.dtype, copy=False) @ ones, 1.0 - off, 1.0 + off)

    return _all_blocks(values, is_well)


def _all_blocks(values: FloatArray, is_well: Callable[[FloatArray], bool]) -> bool:
    """Whether all blocks are well; each of several threads looks at its share of many."""
    rows = list(blocks(len(values), values[0].size))
    workers = n_processors() if values.size >= PARALLEL_FROM else 1
    shares = [rows[number::workers] for number in range(workers)]
    return all(in_order(lambda own: all(is_well(values[some]) for some in own), shares, workers))


def blocks(n: int, n_columns: int = 1) -> Iterable[slice]:
    """Cut n rows of a table of so many columns into blocks of at most `BLOCK` numbers."""
    step = max(1, BLOCK // n_columns)
    return [slice(0, n)] if 0 < n <= step else (slice(start, min(start + step, n)) for start in range(0, n, step))


def _within(block: FloatArray, low: float, high: float) -> bool:
    # A comparison with NaN fails, and the least of numbers with NaN among them is NaN. As double: 1e100 is inf in single.
    least, highest = np.minimum.reduce(block, axis=None), np.maximum.reduce(block, axis=None)
    return float(least) >= low and float(highest) <= high
