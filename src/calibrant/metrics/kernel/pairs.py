"""The pairs of rows of a problem: do rows with similar forecasts err in similar directions?

Row i has the residual r_i = (outcome) - (forecast), and a pair of rows

    h_ij = k(p_i, p_j) <r_i, r_j>,      k(p, q) = exp(-distance(p, q) / bandwidth).

The mean of h over independent pairs is zero if and only if the forecast is calibrated. It is the squared length of the mean of
k(p_i, .) r_i in the kernel's space of functions, where true miscalibration and noise add up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import helmert

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray, Problem, SimplexProblem, as_simplex
from calibrant._core.weights import Weights
from calibrant.metrics.kernel.sums import InSpace, KernelSums, OnLine, content_key, forms_of, median_distance
from calibrant.notions import Notion, Part

MOST_WORK = 1 << 31
"""Rows squared, times classes plus ten (for the exponential), up to which all pairs are looked at."""

FEWEST_BLOCKS = 32
"""Blocks that rows are cut into, where there are so many pairs of rows: enough to see a spread between them."""

HELD = 1 << 20
"""Numbers that are looked at together."""

MOST_CELLS = 4096
"""Places on the line at which noise is drawn: if there are not more distinct scores, exactly where these are."""

FEW_CLASSES = 8
"""Classes up to which matrix products beat a walk over the pairs of equal labels."""

LONG_WALK = 1 << 32
"""Products of a draw of labels from which compiled loops are used: loading them takes about a second."""


class Pairs(ABC):
    """The pairs of rows of one problem.

    They are the ``rows`` of the forecast and have ``points`` (n, d), a ``residual`` (n, e) and a ``weight``. The problem has a
    ``share`` in the whole, and its pairs count ``times`` as much. ``left_out`` is the weight with which a row's pair with
    itself is left out: of a whole weight, that many equal rows, the pair of each copy with itself and not with the others;
    else the pair of the row with itself.
    """

    rows: IntArray | slice = slice(None)
    times: float = 1.0
    held = HELD

    def __init__(
        self,
        points: FloatArray,
        residual: FloatArray,
        weights: Weights,
        share: float,
        bandwidth: float | None,
    ) -> None:
        self.points, self.residual, self.weight, self.share = points, residual, weights.values, share
        self.left_out, self.equal_rows, self.are_copies = weights.of_variance, weights.times, weights.repeat_rows
        self.bandwidth = median_distance(points, self.weight) if bandwidth is None else bandwidth

    @property
    def number(self) -> float:
        """Weight of the pairs that are not left out."""
        return float(self.weight.sum() ** 2 - self.left_out.sum())

    @property
    def too_many(self) -> bool:
        """Whether only the pairs within blocks are looked at."""
        return False

    @cached_property
    def own(self) -> FloatArray:
        """The h_ii, shape (n,)."""
        own: FloatArray = np.einsum("ij,ij->i", self.residual, self.residual)
        return own

    @property
    @abstractmethod
    def sums(self) -> KernelSums:
        """The matrix of k, shape (n, n)."""

    @property
    @abstractmethod
    def expected(self) -> FloatArray:
        """Expected h_ii under calibration, shape (n,)."""

    @cached_property
    def witness(self) -> FloatArray:
        """The mean direction in which rows with forecasts like this one err, times the weight of all, shape (n, e)."""
        return self.sums.smoothed(self.weight[:, None] * self.residual)

    @cached_property
    def reach(self) -> FloatArray:
        """Sums over j of w_j h_ij, shape (n,)."""
        reach: FloatArray = np.einsum("ij,ij->i", self.witness, self.residual)
        return reach

    @property
    def total(self) -> float:
        """Sum of w_i w_j h_ij over all pairs, none left out."""
        if self.too_many:
            return self.mean * self.number + float(self.left_out @ self.own)
        return float(self.weight @ self.reach)

    @property
    def mean(self) -> float:
        """Mean of h over the pairs: the unbiased estimate."""
        if self.too_many:
            return self.blocks().mean
        return (self.total - float(self.left_out @ self.own)) / self.number

    @abstractmethod
    def drawn(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Look at other labels, (m, rows of the forecast), such as the forecast itself draws; of copies at counts, (m, n, K).

        Returns the sums of w_i w_j h_ij over the pairs, and the sums of products with the observed rows, each of shape (m,).
        """

    def redrawn(
        self, times: FloatArray, group: IntArray, step: FloatArray | float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Look at the noise of groups of rows that are drawn again, (m, groups) times each: sums as those of `drawn`.

        ``group`` is the number of the group of each row of the forecast, and ``step`` how much of the row moves with it.
        """
        group, step = group[self.rows], np.broadcast_to(step, group.shape)[self.rows]
        u, n = self.equal_rows, float(self.equal_rows.sum())

        def of_groups(values: FloatArray) -> FloatArray:
            return np.bincount(group, values, times.shape[1]).astype(np.float64, copy=False)

        # The n units w_i / u_i k(p_i, .) r_i, less their mean: the pair of a unit with itself is left out as often as it was
        # drawn.
        own = self.left_out * self.own - 2.0 / n * self.weight * self.reach + u * self.total / n**2
        moved = times - 1.0
        noise = moved - (moved @ of_groups(u * step) / n)[:, None]
        sums = self.forms(noise, group, self.weight * step) - moved @ of_groups(own * step) - own.sum()
        return sums, noise @ of_groups(self.weight * step * self.reach)

    @abstractmethod
    def forms(self, factor: FloatArray, group: IntArray, weight: FloatArray) -> FloatArray:
        """Sum w_i f_i w_j f_j h_ij over all i and j, for each row of ``factor`` (m, groups); shape (m,)."""

    def blocks(self, size: int | None = None) -> Blocks:
        """Cut the rows into blocks of that size, by default as large as `MOST_WORK` allows; a rest of rows is left out.

        Which rows meet is drawn from a fixed seed after the rows were put in an order that depends on what they hold alone.
        """
        order, width = (
            in_order_of(content_key(self.points), content_key(self.residual), self.weight),
            self.points.shape[1],
        )
        if self.are_copies:
            order = np.repeat(order, self.weight[order].astype(np.intp))
        n = order.size
        if size is None:
            size = max(2, min(n // FEWEST_BLOCKS, MOST_WORK // (n * (width + 10))))
        order = order[np.random.default_rng(0).permutation(n)]
        size = min(size, n)
        blocks = order[: n // size * size].reshape(-1, size)
        step = max(1, 4 * HELD // size**2)
        sums = [self._sums_within(blocks[at : at + step]) for at in range(0, len(blocks), step)]
        return Blocks(*np.concatenate(sums, axis=1))

    def _sums_within(self, blocks: IntArray) -> FloatArray:
        distance = np.zeros((*blocks.shape, blocks.shape[1]))
        for column in self.points.T:
            distance += np.abs(column[blocks][:, :, None] - column[blocks][:, None, :])
        if self.points.shape[1] > 1:
            distance /= 2.0
        w = np.ones(blocks.shape) if self.are_copies else self.weight[blocks]
        r = self.residual[blocks] * w[:, :, None]
        h = np.exp(-distance / self.bandwidth) * (r @ r.transpose(0, 2, 1))
        return np.array(
            [
                h.sum(axis=(1, 2)) - np.einsum("bij,bij->b", r, r),
                w.sum(axis=1) ** 2 - (w**2).sum(axis=1),
            ]
        )


class ScorePairs(Pairs):
    """Pairs of the scores of one part of a notion: outcomes are 0 and 1."""

    def __init__(self, problem: SimplexProblem, part: Part, share: float, bandwidth: float | None) -> None:
        self.part, self.rows, self.score = part, part.rows, part.scores(problem.prob)
        residual = (problem.label[self.rows] == part.column) - self.score
        super().__init__(self.score[:, None], residual[:, None], problem.weights.part(self.rows), share, bandwidth)

    @property
    def sums(self) -> OnLine:
        """Pairs of scores; made anew each time, for a thousand classes would fill the memory."""
        return OnLine(self.score, self.bandwidth)

    @cached_property
    def cells(self) -> tuple[IntArray, OnLine]:
        """The cell of each row, and the cells on the line: distinct scores, or if these are too many groups of neighbours.

        Noise is drawn in cells. Neighbours share at most a few thousandths of the weight, and lie within a few thousandths of
        the bandwidth or as near to it as so many cells allow.
        """
        score, cell = np.unique(self.score, return_inverse=True)
        if score.size > MOST_CELLS:
            weight = np.bincount(cell, self.weight)
            apart = np.minimum(np.diff(score, prepend=score[0]) / self.bandwidth, 1.0)
            place = np.cumsum(weight) / weight.sum() + np.cumsum(apart) / apart.sum()
            merged = np.unique((place * (MOST_CELLS // 2)).astype(np.intp), return_inverse=True)[1]
            score = np.bincount(merged, weight * score) / np.bincount(merged, weight)
            cell = merged[cell]
        return cell, OnLine(score, self.bandwidth)

    @property
    def expected(self) -> FloatArray:
        """Variance of the outcome."""
        return np.asarray(self.score * (1.0 - self.score), dtype=np.float64)

    def forms(self, factor: FloatArray, group: IntArray, weight: FloatArray) -> FloatArray:
        """Sum along the line of cells, from the sum of each group in each cell."""
        cell, line = self.cells
        n_groups, n_cells = factor.shape[1], line.order.size
        sums = np.bincount(group * n_cells + cell, weight * self.residual[:, 0], n_groups * n_cells)
        return line.forms(factor @ sums.reshape(n_groups, n_cells))

    def drawn(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Whether the label is the class that the score speaks of, less the score; each sum is linear in the former."""
        cell, line = self.cells
        occurred: FloatArray
        if labels.ndim == 3:
            occurred = labels[:, self.rows, self.part.column] / self.weight
        else:
            occurred = (labels[:, self.rows] == self.part.column).astype(np.float64)
        own_of_none, along_none, expected = self._without_events
        own = own_of_none + occurred @ self._own_of_events
        along = along_none + occurred @ self._along_of_events
        occurred *= self.weight
        sums = np.array([np.bincount(cell, row, line.order.size) for row in occurred], dtype=np.float64)
        return line.forms(sums - expected) - own, along

    @cached_property
    def _own_of_events(self) -> FloatArray:
        return np.asarray(self.left_out * (1.0 - 2.0 * self.score), dtype=np.float64)

    @cached_property
    def _along_of_events(self) -> FloatArray:
        return np.asarray(self.weight * self.witness[:, 0], dtype=np.float64)

    @cached_property
    def _without_events(self) -> tuple[float, float, FloatArray]:
        expected = np.bincount(self.cells[0], self.weight * self.score).astype(np.float64, copy=False)
        return float(self.left_out @ self.score**2), -float(self._along_of_events @ self.score), expected


class SimplexPairs(Pairs):
    """Pairs of forecasts of all classes. Tiles are dear: all draws look at one before the next is made."""

    held = 8 * HELD

    def __init__(self, problem: SimplexProblem, bandwidth: float | None) -> None:
        residual = -problem.prob
        residual[np.arange(problem.size), problem.label] += 1.0
        super().__init__(problem.prob, residual, problem.weights, 1.0, bandwidth)

    @property
    def sums(self) -> InSpace:
        """Pairs of forecasts."""
        return InSpace(self.points, self.bandwidth)

    @property
    def too_many(self) -> bool:
        """Whether the work is beyond `MOST_WORK`."""
        n, n_classes = self.points.shape
        return bool(n**2 * (n_classes + 10) > MOST_WORK)

    @property
    def expected(self) -> FloatArray:
        """Sum over classes of the variance of whether the class occurs."""
        return 1.0 - self._squares

    @cached_property
    def _squares(self) -> FloatArray:
        squares: FloatArray = np.einsum("ij,ij->i", self.points, self.points)
        return squares

    def forms(self, factor: FloatArray, group: IntArray, weight: FloatArray) -> FloatArray:
        """Sum over tiles of the matrix of h."""
        h = InSpace(self.points, self.bandwidth, self.residual)
        step = max(1, self.held // self.weight.size)
        some = (factor[at : at + step][:, group] * weight for at in range(0, len(factor), step))
        return np.concatenate([h.forms(v) for v in some])

    def drawn(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Corners of the simplex that the labels name, less the forecasts."""
        rows, n_classes = np.arange(self.weight.size), self.points.shape[1]

        def named(values: FloatArray, label: IntArray) -> FloatArray:
            """Return the entries of the classes that labels name, the mean entry of copies."""
            if label.ndim == 1:
                return values[rows, label]
            mean: FloatArray = np.einsum("ij,ij->i", values, label) / self.weight
            return mean

        # Draw by draw: all at once they would fill the memory, and keep an interrupt waiting.
        own = [self.left_out @ (1.0 + self._squares - 2.0 * named(self.points, label)) for label in labels]
        expected = np.einsum("ij,ij->i", self.witness, self.points)
        along = [self.weight @ (named(self.witness, label) - expected) for label in labels]
        walks = n_classes > FEW_CLASSES and labels.size * self.weight.size * n_classes >= LONG_WALK and labels.ndim == 2
        forms = self._walked(labels) if walks else self._multiplied(labels)
        return forms - own, np.array(along)

    def _multiplied(self, labels: IntArray) -> FloatArray:
        """In the K - 1 coordinates of the simplex, each of which makes vectors that a tile multiplies."""
        corners = simplex_corners(self.points.shape[1])
        centre = self.points @ corners

        def vectors(rows: slice) -> FloatArray:
            seen: FloatArray
            if labels.ndim == 3:
                seen = np.einsum("mnk,kd->dmn", labels[:, rows] / self.weight[rows, None], corners, optimize=True)
            else:
                seen = corners.T[:, labels[:, rows]]
            residual: FloatArray = (seen - centre[rows].T[:, None, :]) * self.weight[rows]
            return residual.reshape(-1, residual.shape[2])

        forms = np.zeros(len(labels) * corners.shape[1])
        for i, j, tile in self.sums.tiles():
            right = vectors(j)
            left = right if i == j else 2.0 * vectors(i)
            forms += forms_of(tile, left, right)
        total: FloatArray = forms.reshape(-1, len(labels)).sum(axis=0)
        return total

    def _walked(self, labels: IntArray) -> FloatArray:
        """By the products of corners with corners, which are 1 or 0, of corners with forecasts, and of forecasts."""
        from calibrant._kernels.pairs import same_label_sums

        pull = self.sums.smoothed(self.weight[:, None] * self.points)
        between = np.einsum("ij,ij->i", pull, self.points) - 2.0 * pull[np.arange(self.weight.size), labels]
        forms: FloatArray = between @ self.weight
        for i, j, tile in self.sums.tiles():
            tile *= self.weight[i, None] * self.weight[j]
            a, b = np.ascontiguousarray(labels[:, i]), np.ascontiguousarray(labels[:, j])
            forms += (1.0 if i == j else 2.0) * same_label_sums(tile, a, b, self.points.shape[1])
        return forms


@dataclass(frozen=True, eq=False)
class Blocks:
    """Sums of w_i w_j h_ij over the pairs within each block, and the weights of these pairs, shape (blocks,)."""

    total: FloatArray
    number: FloatArray

    @property
    def mean(self) -> float:
        """Mean of h over all these pairs."""
        return float(self.total.sum() / self.number.sum())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, from the spread between blocks; NaN of a single block."""
        n = self.total.size
        if n < 2:
            return float("nan")
        off = self.total - self.mean * self.number
        return float(np.sqrt(n / (n - 1.0) * (off @ off)) / self.number.sum())


def pairs_of(problem: Problem, notion: Notion | None, bandwidth: float | None) -> Iterator[Pairs]:
    """Yield the pairs of each problem of a notion, or of the whole simplex (None), one at a time; only where there are any."""
    simplex = as_simplex(problem)
    for pairs in _pairs(simplex, notion, bandwidth):
        if pairs.number > 0:
            yield pairs


def _pairs(problem: SimplexProblem, notion: Notion | None, bandwidth: float | None) -> Iterator[Pairs]:
    if notion is not None:
        for part, binary in zip(notion.parts(problem.prob), notion.split(problem), strict=True):
            if binary.size > 0:  # else a class that is never predicted
                yield ScorePairs(problem, part, binary.share, bandwidth)
    elif problem.prob.shape[1] > 2:
        yield SimplexPairs(problem, bandwidth)
    else:
        pairs = ScorePairs(problem, Part(slice(None), 1, ""), 1.0, bandwidth)
        pairs.times = 2.0  # the residuals of two classes are opposite: each product comes from both
        yield pairs


def in_order_of(*keys: FloatArray) -> IntArray:
    """Return the order of rows by the first key, of equal ones by the next: `numpy.lexsort`, which no interrupt ends."""
    order: IntArray = np.arange(keys[0].size)
    for key in reversed(keys):
        order = order[np.argsort(key[order], kind="stable")]
    return order


def simplex_corners(n_classes: int) -> FloatArray:
    """Corners of a simplex in K - 1 dimensions, shape (K, K - 1): as far from each other as unit vectors are."""
    return np.ascontiguousarray(helmert(n_classes).T)  # orthonormal rows, and orthogonal to (1, ..., 1)
