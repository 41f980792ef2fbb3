"""Rows by the group in which they stand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._core.problem import IntArray


def rows_by_group(group: npt.NDArray[np.integer], n_groups: int) -> list[IntArray]:
    """Rows of each of the groups 0, 1, ..., in their order."""
    # NumPy's stable sort of integers of one or two bytes counts and does not compare.
    order = np.argsort(group.astype(np.min_scalar_type(n_groups - 1), copy=False), kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=n_groups))
    return np.split(order, ends[:-1])
