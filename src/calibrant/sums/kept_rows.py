"""A few thousand rows that stay: how the cells of several classes vary together is seen in them.

Which rows stay depends on their numbers alone and never on what they hold: equal rows would else stay or go together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant._core.result import Record

MOST = 4096
"""Rows that are kept."""

CHUNK = 1 << 16
"""Rows whose keys are made at a time."""

SPARE = 1.25
"""Rows whose keys are sorted, for one that is kept."""

Keys = npt.NDArray[np.uint64]


def keys_of(number: npt.NDArray[np.int64]) -> Keys:
    """Return a fixed key of 64 bits for each number of a row, different for different numbers.

    It is the output of SplitMix64 (Steele, Lea and Flood 2014) of that number.
    """
    z = (number.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z ^= z >> np.uint64(shift)
        z *= np.uint64(factor)
    z ^= z >> np.uint64(31)
    return z


@dataclass(frozen=True, eq=False)
class KeptRows(Record):
    """The rows whose numbers have the smallest keys, in the order of these numbers.

    Attributes
    ----------
    number : ndarray of shape (m,)
        Their numbers among all rows.
    prob : ndarray of shape (m, K)
        Their forecasts.
    label : ndarray of shape (m,)
        Their true classes, as numbers of columns.
    """

    number: npt.NDArray[np.int64]
    prob: FloatArray
    label: IntArray

    @classmethod
    def of(cls, simplex: SimplexProblem, first: int) -> KeptRows:
        """Choose among rows of which the first has this number."""
        rows = _smallest(first, simplex.size)
        return cls(first + rows, simplex.at(rows).prob.astype(np.float64), simplex.label[rows])

    def __add__(self, other: KeptRows) -> KeptRows:
        number = np.concatenate([self.number, other.number])
        require(
            np.unique(number).size == number.size,
            "rows of several batches must have numbers of their own",
            got="the same number twice",
            hint="Pass scan the number of the first row of each batch, first=",
        )
        rows = np.sort(np.argsort(keys_of(number))[:MOST])
        rows = rows[np.argsort(number[rows])]
        prob, label = np.concatenate([self.prob, other.prob]), np.concatenate([self.label, other.label])
        return KeptRows(number[rows], prob[rows], label[rows])

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as lists, of which JSON loses no bit."""
        return {name: getattr(self, name).tolist() for name in ("number", "prob", "label")}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], n_classes: int) -> KeptRows:
        """Return the rows that `to_dict` wrote down."""
        prob = np.array(plain["prob"], dtype=np.float64).reshape(-1, n_classes)
        return cls(np.array(plain["number"], dtype=np.int64), prob, np.array(plain["label"], dtype=np.intp))


def _smallest(first: int, n: int, spare: float = SPARE) -> IntArray:
    """Return the places of the rows with the smallest keys, among n rows of which the first has this number."""
    if n <= MOST:
        return np.arange(n)
    limit = np.uint64(min(spare * MOST / n, 1.0) * (2.0**64 - 2.0**12))
    found, keys = [], []
    for start in range(0, n, CHUNK):
        key = keys_of(np.arange(first + start, first + min(start + CHUNK, n)))
        some = np.flatnonzero(key <= limit)
        found.append(start + some)
        keys.append(key[some])
    rows, key = np.concatenate(found), np.concatenate(keys)
    if rows.size < MOST:
        return _smallest(first, n, 2.0 * spare)
    kept: IntArray = np.sort(rows[np.argpartition(key, MOST - 1)[:MOST]])
    return kept
