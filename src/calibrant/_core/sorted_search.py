"""Where numbers stand among increasing ones."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from calibrant._core.problem import IntArray

MANY = 1 << 12
"""From so many numbers on a search of blocks is faster than that of each number."""

BLOCK = 1 << 13
"""Numbers searched at a time: they stay in the processor's cache."""

COUNTED = 3
"""Levels of the search that are counted at once: of so many halvings the 7 limits are compared with each number."""


def places(limits: npt.NDArray[Any], values: npt.NDArray[Any], side: Literal["left", "right"] = "left") -> IntArray:
    """Return how many limits lie below each value, for ``side="right"`` at or below it: `numpy.searchsorted`.

    A binary search of one number takes a branch at every halving, which a processor foretells half the time. Here a block of
    numbers takes each halving together.

    Parameters
    ----------
    limits : ndarray of shape (m,)
        Numbers that do not decrease.
    values : ndarray of shape (n,), or any for few
        Numbers, none of them NaN.
    side : {"left", "right"}, default="left"
        What is counted.

    Returns
    -------
    ndarray of the shape of ``values``
        Counts from 0 to m.
    """
    if not 0 < limits.size <= values.size or values.size < MANY or values.ndim != 1 or values.dtype.kind != "f":
        return np.searchsorted(limits, values, side=side)
    halvings = int(limits.size).bit_length()
    padded = np.full((1 << halvings) - 1, np.inf)
    padded[: limits.size] = limits
    found: IntArray = np.empty(values.size, dtype=np.intp)
    for start in range(0, values.size, BLOCK):
        rows = slice(start, start + BLOCK)
        found[rows] = _among(padded, np.ascontiguousarray(values[rows]), halvings, side)
    return np.minimum(found, limits.size, out=found)  # infinity is not below itself, but at it


def _among(padded: npt.NDArray[Any], values: npt.NDArray[Any], halvings: int, side: str) -> IntArray:
    is_below = np.less if side == "left" else np.less_equal
    width = 1 << max(0, halvings - COUNTED)
    count = np.zeros(values.size, dtype=np.uint8)
    for limit in padded[width - 1 :: width]:
        count += is_below(limit, values)
    found: IntArray = np.multiply(count, width, dtype=np.intp)
    while width > 1:
        width //= 2
        found += width * is_below(np.take(padded, found + (width - 1), mode="clip"), values)
    return found
