"""A few thousand rows that stay: how the cells of several classes vary together is seen in them.

Which rows stay depends on their numbers alone and never on what they hold: equal rows would else stay or go together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.one_pass import blocks
from calibrant._core.parameters import require
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant._core.result import Record
from calibrant.binning import Edges

MOST = 4096
"""Rows that are kept whatever they hold."""

QUOTA = 32
"""Rows that are kept of each cell of each class, so that rare cells have some: fewer of many cells, see `quota_of`."""

CHUNK = 1 << 16
"""Rows whose keys are made at a time."""

SPARE = 1.25
"""Rows whose keys are sorted, for one that is kept."""

Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


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
    """The rows whose numbers have the smallest keys, of all and of each cell of each class, in the order of these numbers.

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
    def of(cls, simplex: SimplexProblem, first: int | Numbers, cells: Sequence[Edges] = ()) -> KeptRows:
        """Choose among rows of which the first has this number, or each its own; ``cells`` are those of all classes."""
        rows = smallest = _smallest(first, simplex.size)
        if simplex.size > MOST:
            for edges in cells:
                rows = np.union1d(rows, _in_rare_cells(simplex, first, smallest, edges))
        if isinstance(first, np.ndarray):
            rows = rows[np.argsort(first[rows])]
            _require_distinct(first[rows])
        return cls(_numbers(first, rows), simplex.at(rows).prob.astype(np.float64), simplex.label[rows])

    def chosen(self, cells: Sequence[Edges]) -> KeptRows:
        """Return the rows with the smallest keys of all, and of each cell of each class."""
        n = self.number.size
        if n <= MOST:
            return self
        key = keys_of(self.number)
        keep = np.zeros(n, dtype=bool)
        keep[np.argpartition(key, MOST - 1)[:MOST]] = True
        smallest, others = np.flatnonzero(keep), np.flatnonzero(~keep)
        for edges in cells:
            keep[others[_first_of_cells(edges, self.prob[smallest], self.prob[others], key[others])]] = True
        return self if keep.all() else KeptRows(self.number[keep], self.prob[keep], self.label[keep])

    def weights(self, at: IntArray, count: FloatArray, n: int) -> FloatArray:
        """Return how many of n rows each kept row stands for, shape (m,): one over the probability that it was kept.

        It was kept if its key is small among all rows, or among those of one of its cells ``at`` (m, K), which hold ``count``.
        """
        key = keys_of(self.number) / 2.0**64
        if n <= MOST:
            return np.ones(key.size)
        reach, quota = np.full(key.size, np.sort(key)[MOST - 1]), quota_of(count.size)
        if quota:
            kept = _ranks_of_entries(keys_of(self.number), at) < quota
            last = np.zeros(count.size)
            np.maximum.at(last, at[kept], np.broadcast_to(key[:, None], at.shape)[kept])
            reach = np.maximum(reach, np.where(count > quota, last, 1.0)[at].max(axis=1))
        return np.asarray(1.0 / reach)

    def joined(self, other: KeptRows, cells: Sequence[Edges]) -> KeptRows:
        """Return the kept rows of both batches."""
        number = np.concatenate([self.number, other.number])
        rows = np.argsort(number)
        in_order = number[rows]
        _require_distinct(in_order)
        prob, label = np.concatenate([self.prob, other.prob]), np.concatenate([self.label, other.label])
        return KeptRows(in_order, prob[rows], label[rows]).chosen(cells)

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as lists, of which JSON loses no bit."""
        return {name: getattr(self, name).tolist() for name in ("number", "prob", "label")}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], n_classes: int) -> KeptRows:
        """Return the rows that `to_dict` wrote down."""
        prob = np.array(plain["prob"], dtype=np.float64).reshape(-1, n_classes)
        return cls(np.array(plain["number"], dtype=np.int64), prob, np.array(plain["label"], dtype=np.intp))


def quota_of(n_cells: int) -> int:
    """Return how many rows are kept of each of so many cells."""
    return min(QUOTA, MOST // n_cells)


def _ranks(key: Keys, cell: IntArray) -> IntArray:
    """Return the place of each key among those of its cell; both of shape (m,), cells below 2^24."""
    # Two keys of a cell that agree in their first 40 bits are not to be expected, and stand in a fixed order.
    order = np.argsort(cell.astype(np.uint64) << np.uint64(40) | key >> np.uint64(24), kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    ranks: IntArray = np.empty(cell.size, dtype=np.intp)
    ranks[order] = np.arange(cell.size) - np.repeat(starts, np.diff(starts, append=cell.size))
    return ranks


def _ranks_of_entries(key: Keys, at: IntArray) -> IntArray:
    """Return the same of each entry of cells ``at`` (m, K), of which the rows have these keys."""
    return _ranks(np.repeat(key, at.shape[1]), at.ravel()).reshape(at.shape)


def _numbered(edges: Edges, prob: FloatArray) -> IntArray:
    """Return the number of the cell of each entry (m, K), those of a class after those of the class before."""
    return edges.index(prob) + edges.n_cells * np.arange(prob.shape[1])


def _require_distinct(in_order: Numbers) -> None:
    require(
        (in_order[1:] != in_order[:-1]).all(),
        "rows of several batches must have numbers of their own",
        got="the same number twice",
        hint="Pass scan the number of the first row of each batch, first=, or name a column of distinct numbers, row_key=",
    )


def _numbers(first: int | Numbers, rows: IntArray) -> Numbers:
    """Return the numbers of some rows, of which the first has this number, or each its own."""
    return first[rows] if isinstance(first, np.ndarray) else first + rows


def _first_of_cells(edges: Edges, smallest: FloatArray, prob: FloatArray, key: Keys) -> IntArray:
    """Return which rows, all of larger keys than the smallest of all, are among the first of a cell that holds few of these."""
    n_cells = edges.n_cells * prob.shape[1]
    quota = quota_of(n_cells)
    if not quota:
        return np.zeros(0, dtype=np.intp)
    held = np.bincount(_numbered(edges, smallest).ravel(), minlength=n_cells)
    at = _numbered(edges, prob)
    row, column = np.nonzero(held[at] < quota)
    cell = at[row, column]
    return _distinct(row[_ranks(key[row], cell) + held[cell] < quota], len(prob))


def _in_rare_cells(simplex: SimplexProblem, first: int | Numbers, rows: IntArray, edges: Edges) -> IntArray:
    """Return the rows of the smallest keys in the cells of which these rows hold fewer than the quota."""
    n_classes, n_cells = simplex.forecast.shape[1], edges.n_cells
    quota, prob = quota_of(n_cells * n_classes), simplex.forecast.as_given
    if not quota:
        return rows[:0]
    held = np.bincount(_numbered(edges, prob[rows]).ravel(), minlength=n_cells * n_classes)
    rare = (held < quota).reshape(n_classes, n_cells).T
    # Look first between the lowest and the highest edge of the rare cells of each class.
    low = np.append(edges.edges[:-1], np.inf)[np.where(rare.any(axis=0), rare.argmax(axis=0), n_cells)]
    low = np.where(low == edges.edges[0], -np.inf, low)
    high = edges.edges[n_cells - rare[::-1].argmax(axis=0)]
    high = np.where(high == edges.edges[-1], np.inf, high)
    found = []
    for block in blocks(len(prob), n_classes):
        row, column = np.nonzero((prob[block] > low) & (prob[block] <= high))
        bin_of = edges.index(prob[block][row, column])
        is_rare = rare[bin_of, column]
        found.append((block.start + row[is_rare], (bin_of + n_cells * column)[is_rare]))
    row, cell = (np.concatenate(part) for part in zip(*found, strict=True))
    return _distinct(row[_ranks(keys_of(_numbers(first, row)), cell) < quota], len(prob))


def _distinct(rows: IntArray, n: int) -> IntArray:
    """Return which of n rows are among these, in their order."""
    among = np.zeros(n, dtype=bool)
    among[rows] = True
    return np.flatnonzero(among)


def _smallest(first: int | Numbers, n: int, spare: float = SPARE) -> IntArray:
    """Return the places of the n rows with the smallest keys; the first has this number, or each its own."""
    if n <= MOST:
        return np.arange(n)
    limit = np.uint64(min(spare * MOST / n, 1.0) * (2.0**64 - 2.0**12))
    found, keys = [], []
    for start in range(0, n, CHUNK):
        key = keys_of(_numbers(first, np.arange(start, min(start + CHUNK, n))))
        some = np.flatnonzero(key <= limit)
        found.append(start + some)
        keys.append(key[some])
    rows, key = np.concatenate(found), np.concatenate(keys)
    if rows.size < MOST:
        return _smallest(first, n, 2.0 * spare)
    kept: IntArray = np.sort(rows[np.argpartition(key, MOST - 1)[:MOST]])
    return kept
