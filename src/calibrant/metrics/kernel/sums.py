"""Sums over all pairs of rows, each weighted by how near the forecasts of the two are: k(p, q) = exp(-distance / bandwidth).

The distance of two forecasts is their total variation, half the sum over classes of |p_k - q_k|. Of two classes it is the
difference of the scores, and then a walk along the sorted scores takes in all pairs: in the time of a sort, not of a square.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from calibrant._core.links import FloatArray

TILE = 1024
"""Rows and columns of the matrix of pairs that are held at a time."""

MOST_POINTS = 300
"""Forecasts whose distances from each other make the bandwidth."""

SMALLEST_DISTANCE = 1e-12
"""Forecasts that are nearer to each other count as equal."""

AT_ONCE = 256
"""Rows that a tile multiplies before Python can be interrupted again: a tenth of a second."""

LONGEST_RUN = 64.0
"""Bandwidths from the start to the end of a run of scores: exp(64) and exp(-64) lose nothing."""


class KernelSums(ABC):
    """The symmetric matrix of k(p_i, p_j), never held whole."""

    @abstractmethod
    def forms(self, v: FloatArray) -> FloatArray:
        """Sum v_i k_ij v_j over all i and j, for each row of ``v`` (m, n); shape (m,)."""

    @abstractmethod
    def smoothed(self, v: FloatArray) -> FloatArray:
        """Sum k_ij v_j over j, for each column of ``v`` (n, e); shape (n, e)."""


class OnLine(KernelSums):
    """Pairs of scores."""

    def __init__(self, score: FloatArray, bandwidth: float) -> None:
        self.order = np.argsort(score, kind="stable")
        self.upward = Walk(score[self.order], bandwidth)
        self.downward = Walk(-score[self.order][::-1], bandwidth)

    def forms(self, v: FloatArray) -> FloatArray:
        """Twice what each row gathers from below, itself counted once."""
        v = v[:, self.order]
        form: FloatArray = np.einsum("mi,mi->m", v, 2.0 * self.upward.gathered(v) - v)
        return form

    def smoothed(self, v: FloatArray) -> FloatArray:
        """What each row gathers from below and from above, itself counted once."""
        v = v.T[:, self.order]
        smooth = np.empty(v.shape)
        smooth[:, self.order] = self.upward.gathered(v) + self.downward.gathered(v[:, ::-1])[:, ::-1] - v
        return smooth.T


class Walk:
    """Decaying sums along points in ascending order.

    Within a run the sums are cumulative sums of exp(x_j) v_j times exp(-x_i), x the distance from the start of the run in
    bandwidths; a run ends before the exponentials grow large. Distances are taken before they are divided: the points in
    bandwidths are large, and their rounding would be seen.
    """

    def __init__(self, points: FloatArray, bandwidth: float) -> None:
        starts, longest = [0], LONGEST_RUN * bandwidth
        while starts[-1] < points.size:
            starts.append(int(np.searchsorted(points, points[starts[-1]] + longest, side="right")))
        self.runs = [slice(start, stop) for start, stop in pairwise(starts)]
        first = points[starts[:-1]]
        along = (points - np.repeat(first, np.diff(starts))) / bandwidth
        self.grow, self.decay = np.exp(along), np.exp(-along)
        self.carry = np.exp((points[[run.stop - 1 for run in self.runs[:-1]]] - first[1:]) / bandwidth)

    def gathered(self, v: FloatArray) -> FloatArray:
        """Sum exp(-(x_i - x_j)) v_j over j up to i, shape (m, n)."""
        sums = np.empty(v.shape)
        for number, run in enumerate(self.runs):
            part = v[:, run] * self.grow[run]
            if number:
                part[:, 0] += sums[:, run.start - 1] * self.carry[number - 1]
            sums[:, run] = np.cumsum(part, axis=1) * self.decay[run]
        return sums


class InSpace(KernelSums):
    """Pairs of forecasts of several classes; with a ``residual`` (n, e) of each row, k_ij <r_i, r_j> in place of k_ij."""

    def __init__(self, prob: FloatArray, bandwidth: float, residual: FloatArray | None = None) -> None:
        self.prob, self.bandwidth, self.residual = prob, bandwidth, residual

    def tiles(self) -> Iterator[tuple[slice, slice, FloatArray]]:
        """Yield rows, columns and entries of the tiles on and above the diagonal."""
        from scipy.spatial.distance import cdist

        n = len(self.prob)
        blocks = [slice(start, min(start + TILE, n)) for start in range(0, n, TILE)]
        for number, rows in enumerate(blocks):
            for columns in blocks[number:]:
                tile: FloatArray = cdist(self.prob[rows], self.prob[columns], "cityblock")
                tile *= -0.5 / self.bandwidth
                np.exp(tile, out=tile)
                if self.residual is not None:
                    tile *= self.residual[rows] @ self.residual[columns].T
                yield rows, columns, tile

    def forms(self, v: FloatArray) -> FloatArray:
        """Sum tile by tile, those above the diagonal twice."""
        form = np.zeros(len(v))
        for rows, columns, tile in self.tiles():
            times = 1.0 if rows == columns else 2.0
            form += times * forms_of(tile, v[:, rows], v[:, columns])
        return form

    def smoothed(self, v: FloatArray) -> FloatArray:
        """Sum tile by tile, those above the diagonal for their mirror image too."""
        smooth = np.zeros(v.shape)
        for rows, columns, tile in self.tiles():
            smooth[rows] += tile @ v[columns]
            if rows != columns:
                smooth[columns] += tile.T @ v[rows]
        return smooth


def forms_of(tile: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Sum left_i tile_ij right_j over all i and j, for each row of ``left`` and ``right``; shape (m,)."""
    parts = [slice(start, start + AT_ONCE) for start in range(0, len(left), AT_ONCE)]
    return np.concatenate([np.einsum("mj,mj->m", left[part] @ tile, right[part]) for part in parts])


def median_distance(prob: FloatArray, weight: FloatArray) -> float:
    """Median of the distances between different forecasts (n, K), pairs counting by their weights; one if all are equal.

    One column stands for a score and its complement. Of more than ``MOST_POINTS`` different forecasts as many are taken, at
    equal steps of weight in an order that depends on nothing but the forecasts: no randomness, and rows may come in any order.
    """
    from scipy.spatial.distance import pdist

    points, mass = _representatives(prob, weight)
    first, second = np.triu_indices(mass.size, 1)
    distance, mass = pdist(points, "cityblock"), mass[first] * mass[second]
    if prob.shape[1] > 1:
        distance /= 2.0
    distance, mass = distance[distance > SMALLEST_DISTANCE], mass[distance > SMALLEST_DISTANCE]
    if distance.size == 0:
        return 1.0
    if (mass == mass[0]).all():
        return float(np.median(distance))  # the same, without a sort
    order = np.argsort(distance, kind="stable")
    reached = np.cumsum(mass[order])
    low, high = (np.searchsorted(reached, reached[-1] / 2.0, side=side) for side in ("left", "right"))
    return float((distance[order[low]] + distance[order[min(high, order.size - 1)]]) / 2.0)


def content_key(table: FloatArray) -> FloatArray:
    """Return a number for each row of a table that depends on its entries alone and hardly ever on two rows is the same."""
    key = np.zeros(len(table))
    factors: FloatArray = np.random.default_rng(0).random((table.shape[1],))
    for j in range(factors.size):  # column by column: equal rows are rounded alike, wherever they stand
        key += factors[j] * table[:, j]
    return key


def _representatives(prob: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    key = content_key(prob)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(key[order]) != 0))
    mass = np.add.reduceat(weight[order], starts)
    if mass.size > MOST_POINTS:
        reached = np.cumsum(mass)
        steps = (np.arange(MOST_POINTS) + 0.5) / MOST_POINTS * reached[-1]
        at, times = np.unique(np.searchsorted(reached, steps), return_counts=True)
        starts, mass = starts[at], times.astype(np.float64)
    return prob[order[starts]], mass
