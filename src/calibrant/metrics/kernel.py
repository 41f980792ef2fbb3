"""The squared kernel calibration error: sums over pairs of rows with similar predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from math import isqrt
from typing import Any, Literal, Unpack, get_args

import numpy as np
from scipy.linalg import helmert

from calibrant._core.arrays import ArrayLike, FloatArray, NDArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import choice, folded, number, warn
from calibrant._core.rows import BoolArray, IntArray, Problem, SimplexProblem, Weights, as_simplex
from calibrant.binning.bins import Bins, shown
from calibrant.binning.cells import SimplexBinning, SimplexGrid, as_simplex_binning
from calibrant.metrics.bin_losses import Norm, as_norm, debiased_squares
from calibrant.metrics.estimate import POWER, Cells, Estimate, Resampling, Sizes, least_pvalue_of, pvalue_of
from calibrant.metrics.kinds import Own, YProb
from calibrant.metrics.noise import noise_of
from calibrant.notions import Notion, NotionLike, Part, as_notion
from calibrant.sums.draws import Bootstrap, CellArray, few_rows, labels_of

# The calibration error of whole forecasts: class rates in each cell of the simplex, against the mean forecast there


MOST_DEVIATIONS = 1 << 16
"""Cells times classes for which noise is drawn: their draws take half a gigabyte."""


LENGTHS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "total variation": lambda gap: np.abs(gap).sum(axis=-1) / 2.0,
    "l1": lambda gap: np.abs(gap).sum(axis=-1),
    "l2": lambda gap: np.sqrt((gap**2).sum(axis=-1)),
    "max": lambda gap: np.abs(gap).max(axis=-1),
    "squared l2": lambda gap: (gap**2).sum(axis=-1),
}
"""How long gaps are, class rates minus mean forecast of a cell: functions of gaps of shape (..., K)."""

DEBIASED = "debiased squared l2"

DISTANCES = (*LENGTHS, DEBIASED)
"""How far class rates are from the mean forecast of each cell."""


def canonical_estimate(problem: Problem, resampling: Resampling) -> Estimate:
    """Estimate the error in total variation over the default grid, with interval, noise floor and p-value.

    With too many cells to draw their noise the interval is all that is possible, and a `CalibrationWarning` says so.
    """
    simplex = as_simplex(problem)
    bins = SimplexGrid()(simplex)
    table, sizes = _cells(simplex, bins), _sizes(bins)
    if table.weight.size > MOST_DEVIATIONS:
        warn(
            f"cells must be few to draw their noise; got {len(bins)} of {simplex.prob.shape[1]} classes: the interval is "
            "[0, 1]. With so many classes choose a notion of single scores, such as 'class-wise'."
        )
        return Estimate(float(sizes(table.deviation[None])[0]), 0.0, 1.0)
    (noise,) = noise_of(simplex, [table], resampling.n_resamples, resampling.rng)
    return noise.law(sizes).estimate(resampling.level)


@Own(
    "canonical-ece",
    "canonical ECE",
    "Vaicenavicius et al. 2019; Gupta and Ramdas 2022",
    estimator=canonical_estimate,
    fits_noise=True,
).declare
def canonical_calibration_error(
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    binning: int | str | SimplexBinning = 5,
    distance: str = "total variation",
    norm: str | Norm = "l1",
    **data: Unpack[DataOptions],
) -> float:
    """Mean distance between forecast and class rates over the cells of the simplex (canonical or multiclass ECE).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. One column stands for itself and its complement.
    binning : int, str or SimplexBinning, default=5
        How the simplex is cut; a number n means ``SimplexGrid(n)``: n bins of equal width for each class; a word the registered
        simplex binning of that name. `SimplexUnique` is exact for forecasts that take few values, such as binned ones.
    distance : {"total variation", "l1", "l2", "max", "squared l2", "debiased squared l2"}, default="total variation"
        Between class rates and mean forecast of a cell: half the sum of absolute differences; that sum; the root of the sum
        of squares; the largest absolute difference; the sum of squares; or that minus an unbiased estimate of its
        bias, sum of rate (1 - rate) / (rows - 1), which can be negative. Squares go with ``norm="root"``.
    norm : {"l1", "l2", "l<p>", "root", "max"} or callable, default="l1"
        A function of (distances, weights) over the cells that hold rows; the weights sum to one.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Sum over cells c of  weight(c) / weight * d(c),  by default in total variation
        d(c) = sum over classes j of  abs(rate(j, c) - mean probability(j, c)) / 2,  in [0, 1].

    Notes
    -----
    It sees what no class by itself shows (canonical calibration): it is never smaller than the error of one class against
    the rest over the same bins. Of two classes it is the calibration error of one. In "l1", without the half, it lies in
    [0, 2]. The number of cells of a grid grows with the power of the number of classes, and noise with it: when nearly every
    row is alone in its cell, the error of a calibrated forecast is that of a single draw. Read it with its noise floor, for
    two to five classes; for more, cells of equal mass (`Projection`) hold rows enough. `assess` gives that floor and an
    interval of the default, "canonical-ece"; the cells are held fixed.

    In "debiased squared l2" whole weights count as rows, others are scaled to a mean of one; a cell of fewer than two rows has
    no such estimate and counts as 0.

    References
    ----------
    Vaicenavicius, Widmann, Andersson, Lindsten, Roll, Schön, Evaluating model calibration in classification, AISTATS 2019.
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant.binning import SimplexUnique
    >>> from calibrant.metrics import canonical_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.7, 0.1, 0.2], [0.3, 0.3, 0.4]]
    >>> round(canonical_calibration_error([0, 1, 2], P), 3)
    0.467
    >>> round(canonical_calibration_error([0, 1, 2], P, binning=SimplexUnique(), distance="l1"), 3)
    1.133
    """
    simplex = as_simplex(as_problem(y_true, y_prob, **data))
    choice("distance", distance, DISTANCES)
    bins = as_simplex_binning(binning)(simplex)
    held = bins.weight > 0
    values = (
        debiased_squares(bins, simplex.weights.rows_per_weight) if distance == DEBIASED else LENGTHS[distance](bins.gap)
    )
    return float(as_norm(norm)(values[held], bins.weight[held] / bins.weight.sum()))


def _cells(simplex: SimplexProblem, bins: Bins) -> Cells:
    """Return a cell for each cell of the simplex and class: the noise of class rates is that of events."""
    n_classes, total = simplex.prob.shape[1], float(bins.weight.sum())
    of: CellArray = (bins.index(simplex.prob)[:, None] * n_classes + np.arange(n_classes)).astype(np.int32)
    size = len(bins) * n_classes
    return Cells(
        placed=lambda: of,
        count=np.repeat(shown(bins, are_counts=simplex.weights.are_counts).count.astype(np.float64), n_classes),
        weight=np.repeat(bins.weight / total, n_classes),
        scale=np.full(size, 1.0 / total),
        expected=bins.score_sum.ravel(),
        deviation=bins.residual_sum.ravel() / total,
        part=np.zeros(size, dtype=np.intp),
    )


def _sizes(bins: Bins) -> Sizes:
    """Return how to take the mean, over the cells that hold weight, of the total variation of their gaps."""
    held = bins.weight > 0
    share = bins.weight[held] / bins.weight.sum()

    def look(deviations: FloatArray) -> list[FloatArray]:
        by_cell = deviations.reshape(len(deviations), len(bins), -1)
        return [by_cell[:, held] / share[:, None]]

    return Sizes(look, lambda seen: LENGTHS["total variation"](seen[0]) @ share, shrinks=True)


# Sums over all pairs of rows, each weighted by how near the forecasts of the two are: k(p, q) = exp(-distance / bandwidth)


TILE = 1024
"""Rows and columns of the matrix of pairs that are held at a time."""

MOST_POINTS = 300
"""Forecasts whose distances from each other make the bandwidth."""

SMALLEST_DISTANCE = ROUNDING = 1e-12
"""Forecasts that are nearer to each other count as equal; and parts of a sum that differ by less."""

AT_ONCE = 256
"""Rows that a tile multiplies before Python can be interrupted again: a tenth of a second."""

LONGEST_RUN = 64.0
"""Bandwidths from the start to the end of a run of scores: exp(64) and exp(-64) lose nothing."""


class OnLine:
    """The symmetric matrix of k(p_i, p_j) of scores, never held whole."""

    def __init__(self, score: FloatArray, bandwidth: float) -> None:
        self.order = np.argsort(score, kind="stable")
        self.upward = Walk(score[self.order], bandwidth)
        self.downward = Walk(-score[self.order][::-1], bandwidth)

    def forms(self, v: FloatArray) -> FloatArray:
        """Sum v_i k_ij v_j over all i and j, for each row of ``v`` (m, n), shape (m,): twice what each gathers from below."""
        v = v[:, self.order]
        return np.asarray(np.einsum("mi,mi->m", v, 2.0 * self.upward.gathered(v) - v))

    def smoothed(self, v: FloatArray) -> FloatArray:
        """Sum k_ij v_j over j, for each column of ``v`` (n, e), shape (n, e): from below and above, the row itself once."""
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
        for place, run in enumerate(self.runs):
            part = v[:, run] * self.grow[run]
            if place:
                part[:, 0] += sums[:, run.start - 1] * self.carry[place - 1]
            sums[:, run] = np.cumsum(part, axis=1) * self.decay[run]
        return sums


class InSpace:
    """The same of forecasts of several classes; with a ``residual`` (n, e) of each row, k_ij <r_i, r_j> in place of k_ij."""

    def __init__(self, prob: FloatArray, bandwidth: float, residual: FloatArray | None = None) -> None:
        self.prob, self.bandwidth, self.residual = prob, bandwidth, residual

    def tiles(self) -> Iterator[tuple[slice, slice, FloatArray]]:
        """Yield rows, columns and entries of the tiles on and above the diagonal."""
        from scipy.spatial.distance import cdist

        n = len(self.prob)
        blocks = [slice(start, min(start + TILE, n)) for start in range(0, n, TILE)]
        for place, rows in enumerate(blocks):
            for columns in blocks[place:]:
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
    order = np.argsort(distance, kind="stable")
    reached = np.cumsum(mass[order])
    # Sums of fractions are rounded: half of all is reached where it is but for rounding.
    low, high = np.searchsorted(reached, reached[-1] * np.array([0.5 - ROUNDING, 0.5 + ROUNDING]))
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
        at, times = np.unique(np.searchsorted(reached, steps * (1.0 - ROUNDING)), return_counts=True)
        starts, mass = starts[at], times.astype(np.float64)
    return prob[order[starts]], mass


# The pairs of rows of a problem: do rows with similar forecasts err in similar directions?


MOST_WORK = 1 << 29
"""Rows squared, times classes plus ten (for the exponential), up to which all pairs are looked at."""

FEW_CLASSES = 8
"""Classes up to which matrix products beat a walk over the pairs of equal labels."""

LONG_WALK = 1 << 32
"""Products of a draw of labels from which compiled loops are used: loading them takes about a second."""

HELD = 1 << 20
"""Numbers that are looked at together."""

MOST_CELLS = 4096
"""Places on the line at which noise is drawn: if there are not more distinct scores, exactly where these are."""


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
        self, points: FloatArray, residual: FloatArray, weights: Weights, share: float, bandwidth: float | None
    ) -> None:
        self.points, self.residual, self.weight, self.share = points, residual, weights.values, share
        self.left_out, self.equal_rows = weights.of_variance, weights.times
        self.bandwidth = median_distance(points, self.weight) if bandwidth is None else bandwidth

    @property
    def number(self) -> float:
        """Weight of the pairs that are not left out."""
        return float(self.weight.sum() ** 2 - self.left_out.sum())

    @cached_property
    def own(self) -> FloatArray:
        """The h_ii, shape (n,)."""
        return np.asarray(np.einsum("ij,ij->i", self.residual, self.residual))

    @property
    @abstractmethod
    def sums(self) -> OnLine | InSpace:
        """The matrix of k, shape (n, n)."""

    @cached_property
    def witness(self) -> FloatArray:
        """The mean direction in which rows with forecasts like this one err, times the weight of all, shape (n, e)."""
        return self.sums.smoothed(self.weight[:, None] * self.residual)

    @cached_property
    def reach(self) -> FloatArray:
        """Sums over j of w_j h_ij, shape (n,)."""
        return np.asarray(np.einsum("ij,ij->i", self.witness, self.residual))

    @property
    def total(self) -> float:
        """Sum of w_i w_j h_ij over all pairs, none left out."""
        return float(self.weight @ self.reach)

    @property
    def mean(self) -> float:
        """Mean of h over the pairs: the unbiased estimate."""
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

    def forms(self, factor: FloatArray, group: IntArray, weight: FloatArray) -> FloatArray:
        """Sum along the line of cells, from the sum of each group in each cell."""
        cell, line = self.cells
        n_groups, n_cells = factor.shape[1], line.order.size
        sums = np.bincount(group * n_cells + cell, weight * self.residual[:, 0], n_groups * n_cells)
        return line.forms(factor @ sums.reshape(n_groups, n_cells))

    def drawn(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Whether the label is the class that the score speaks of, less the score; each sum is linear in the former."""
        cell, line = self.cells
        if labels.ndim == 3:
            # A slice beside the columns would take each column of each row.
            rows = np.arange(labels.shape[1])[self.rows]
            occurred = labels[:, rows, self.part.column] / self.weight
        else:
            occurred = (labels[:, self.rows] == self.part.column).astype(np.float64)
        residual = occurred - self.score  # of what is nearly certain and occurred no digit is lost
        own = occurred @ (self.left_out * (1.0 - self.score) ** 2) + (1.0 - occurred) @ (self.left_out * self.score**2)
        along = residual @ (self.weight * self.witness[:, 0])
        sums = np.array([np.bincount(cell, row, line.order.size) for row in residual * self.weight])
        return line.forms(sums) - own, along


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

    def forms(self, factor: FloatArray, group: IntArray, weight: FloatArray) -> FloatArray:
        """Sum over tiles of the matrix of h."""
        h = InSpace(self.points, self.bandwidth, self.residual)
        step = max(1, self.held // self.weight.size)
        some = (factor[at : at + step][:, group] * weight for at in range(0, len(factor), step))
        return np.concatenate([h.forms(v) for v in some])

    def drawn(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Corners of the simplex that the labels name, less the forecasts."""
        rows = np.arange(self.weight.size)

        def named(values: FloatArray, label: IntArray) -> FloatArray:
            """Return the entries of the classes that labels name, the mean entry of copies."""
            if label.ndim == 1:
                return values[rows, label]
            return np.asarray(np.einsum("ij,ij->i", values, label) / self.weight)

        # Draw by draw: all at once they would fill the memory, and keep an interrupt waiting.
        squares = np.einsum("ij,ij->i", self.points, self.points)
        own = [self.left_out @ (1.0 + squares - 2.0 * named(self.points, label)) for label in labels]
        expected = np.einsum("ij,ij->i", self.witness, self.points)
        along = [self.weight @ (named(self.witness, label) - expected) for label in labels]
        n_classes = self.points.shape[1]
        walks = n_classes > FEW_CLASSES and labels.size * self.weight.size * n_classes >= LONG_WALK and labels.ndim == 2
        forms = self._walked(labels) if walks else self._multiplied(labels)
        return forms - own, np.array(along)

    def _walked(self, labels: IntArray) -> FloatArray:
        """Sum the products of corners with corners, which are 1 or 0, of corners with forecasts, and of forecasts."""
        from calibrant._kernels.sums import same_label_sums

        pull = self.sums.smoothed(self.weight[:, None] * self.points)
        between = np.einsum("ij,ij->i", pull, self.points) - 2.0 * pull[np.arange(self.weight.size), labels]
        forms: FloatArray = between @ self.weight
        for i, j, tile in self.sums.tiles():
            tile *= self.weight[i, None] * self.weight[j]
            a, b = np.ascontiguousarray(labels[:, i]), np.ascontiguousarray(labels[:, j])
            forms += (1.0 if i == j else 2.0) * same_label_sums(tile, a, b, self.points.shape[1])
        return forms

    def _multiplied(self, labels: IntArray) -> FloatArray:
        """Sum in the K - 1 coordinates of the simplex, each of which makes vectors that a tile multiplies."""
        # Corners as far from each other as unit vectors are: orthonormal rows, and orthogonal to (1, ..., 1).
        corners = np.ascontiguousarray(helmert(self.points.shape[1]).T)
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
        return np.asarray(forms.reshape(-1, len(labels)).sum(axis=0))


def with_few_rows(problem: Problem, notion: Notion | None) -> Problem:
    """Return the problem; of the whole simplex of three classes or more with as many rows as all pairs of can be looked at.

    Which rows are drawn from a fixed seed, after they were put in an order that depends on what they hold alone.
    """
    simplex = as_simplex(problem)
    n_classes, times = simplex.prob.shape[1], simplex.weights.times
    n, most = int(times.sum()), isqrt(MOST_WORK // (n_classes + 10))
    if notion is not None or n_classes == 2 or times.size <= most:
        return problem
    warn(
        f"the kernel calibration error must have at most {most} rows of {n_classes} classes to look at all pairs; got {n}, and "
        f"{most} of them are drawn from a fixed seed. Choose a notion of single scores, such as 'confidence', to use all."
    )
    order: IntArray = np.arange(times.size)
    for key in (simplex.weight, simplex.label, content_key(simplex.prob)):
        order = order[np.argsort(key[order], kind="stable")]  # as numpy.lexsort, which no interrupt ends
    return few_rows(simplex.at(order), most, np.random.default_rng(0))


def pairs_of(problem: Problem, notion: Notion | None, bandwidth: float | None) -> Iterator[Pairs]:
    """Yield the pairs of each problem of a notion, or of the whole simplex (None), one at a time; only where there are any."""
    return (pairs for pairs in _pairs(as_simplex(problem), notion, bandwidth) if pairs.number > 0)


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


# The squared kernel calibration error, and what is known of it


Sums = list[tuple[FloatArray, FloatArray]]
Estimator = Literal["unbiased", "biased"]

SMALLEST_BANDWIDTH = 1e-100
"""What is smaller is raised to it: nothing but equal forecasts is near, and no quotient overflows."""


def skce_estimate(problem: Problem, resampling: Resampling) -> Estimate:
    """Estimate the squared kernel calibration error on the whole simplex, unbiased, with its interval."""
    problem = with_few_rows(problem, None)
    found = list(pairs_of(problem, None, None))
    if not found:
        return Estimate(value_of(found), float("nan"), float("nan"), pvalue=float("nan"))
    (pairs,) = found
    value = pairs.times * pairs.mean
    seen = np.sqrt(pairs.times * max(pairs.total, 0.0) / pairs.number)
    drawn = noise_of_labels(problem, found, resampling.n_resamples, resampling.rng)
    rows = Bootstrap(problem.weights, resampling.n_resamples, resampling.rng)
    kinds = (drawn, _noise(found, [[pairs.redrawn(rows.counts, rows.group, rows.step)]]))
    tail = resampling.level / 2.0
    lower = min(float(np.quantile(noise.lengths(value), tail)) ** 2 for noise in kinds)
    reach = max(float(np.quantile(2.0 * seen * noise.along + noise.squared, 1.0 - tail)) for noise in kinds)
    critical = float(np.quantile(drawn.squared, 1.0 - resampling.level))
    found_with = max(float(np.quantile(noise.lengths(critical), POWER)) for noise in kinds)
    return Estimate(
        value=value,
        lower=min(lower, value),
        upper=max(value + reach, value),
        noise_floor=0.0,
        pvalue=pvalue_of(value, drawn.squared),
        least_pvalue=least_pvalue_of(drawn.squared),
        debiased=value,
        detectable=found_with**2,
    )


@Own(
    "skce",
    "SKCE",
    "Widmann et al. 2019",
    range=(-2.0, 2.0),
    estimator=skce_estimate,
    notion="canonical",
    may_be_undefined=True,
).declare
def kernel_calibration_error(
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    estimator: Estimator = "unbiased",
    bandwidth: float | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Squared kernel calibration error (SKCE): whether similar forecasts err in similar directions; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : {"canonical", "binary", "confidence", "top-label", "class-wise"} or Notion, optional
        By default ``"canonical"``: all classes at once, one column being two classes. Other notions make binary problems;
        the error is their mean by shares. (The residuals of two classes are opposite and both count:
        ``"canonical"`` is twice ``"binary"``.)
    estimator : {"unbiased", "biased"}, default="unbiased"
        Which pairs are looked at. ``"unbiased"``: each row with each other one; the mean over samples is the true error, so
        that a calibrated forecast has a negative value as often as not. ``"biased"``: each row with itself too, never negative.
    bandwidth : float, optional
        Distance at which the kernel has fallen to 1/e. By default the median distance between different forecasts, of at
        most 300 that are taken at equal steps of weight (no randomness); 1 if all forecasts are equal.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean of  h = k(p, q) <e_y - p, e_z - q>  over pairs of rows with forecasts p, q and classes y, z; e_y has a one at
        y and zeros elsewhere, and  k(p, q) = exp(-distance / bandwidth)  with the total variation distance. In [-2, 2].

    Warns
    -----
    CalibrationWarning
        If there is no pair, as of a single row: the error is not defined, and NaN is returned. If rows are left out.

    See Also
    --------
    kernel_test : Whether it is larger than chance allows.

    Notes
    -----
    Of all measures here it is the one that sees every miscalibration of the whole vector of probabilities, with any number of
    classes; the price is that its size says little: it has no unit of probability, and depends on the bandwidth. Use it to test
    and to compare forecasts at one given bandwidth, not to state how far probabilities are off.

    Whole weights count as equal rows: copies make pairs. With other weights a row makes no pair with itself.

    Problems of scores take the time of a sort, with any number of rows. On the whole simplex of 3 classes or more all pairs
    are looked at while rows^2 * (classes + 10) <= 2^29 (6426 rows of 3 classes, 2209 of 100); of more rows so many are drawn
    from a fixed seed: still unbiased, with more noise.

    References
    ----------
    Widmann, Lindsten, Zachariah, Calibration tests in multi-class classification: a unifying framework, NeurIPS 2019.

    Examples
    --------
    >>> from calibrant.metrics import kernel_calibration_error
    >>> y, p = [0, 0, 1, 1] * 10, [0.1, 0.8, 0.3, 0.9] * 10
    >>> round(kernel_calibration_error(y, p), 4)
    0.0564
    """
    choice("estimator", estimator, get_args(Estimator), hint="'unbiased' is usual")
    problem = as_problem(y_true, y_prob, **data)
    words, width = as_pairs_notion(notion, problem), as_bandwidth(bandwidth)
    return value_of(pairs_of(with_few_rows(problem, words), words, width), estimator)


def value_of(found: Iterable[Pairs], estimator: Estimator = "unbiased") -> float:
    """Return the mean error of the problems that have pairs, by their shares; NaN with a warning if none has."""
    total = shares = 0.0
    for pairs in found:
        value = pairs.mean if estimator == "unbiased" else pairs.total / float(pairs.weight.sum()) ** 2
        total += pairs.share * pairs.times * value
        shares += pairs.share
    if shares == 0:
        warn(
            "the kernel calibration error must have two rows that are predicted alike to compare; there is none, and the error "
            "is set to NaN. Pass more rows."
        )
        return float("nan")
    return total / shares


# What chance does


@dataclass(frozen=True, eq=False)
class Noise:
    """Draws of noise: ``squared`` are those of |N|^2 less its mean, ``along`` those of N along what was seen, shape (m,)."""

    squared: FloatArray
    along: FloatArray

    def lengths(self, value: float) -> FloatArray:
        """Length of D that shows the value with each draw of noise; 0 where noise alone shows as much."""
        root = np.sqrt(np.maximum(self.along**2 + value - self.squared, 0.0))
        return np.where(self.squared >= value, 0.0, np.maximum(root - self.along, 0.0))


def noise_of_labels(problem: Problem, found: list[Pairs], n_resamples: int, rng: np.random.Generator) -> Noise:
    """Draw labels from the forecast itself; the value of those that were observed is that of a draw of the same ones."""
    simplex, same = as_simplex(problem), list[BoolArray]()
    seen: NDArray[Any] = simplex.label
    if simplex.weights.repeat_rows:
        seen = np.eye(simplex.classes.size)[seen] * simplex.weight[:, None]

    def sums(labels: IntArray) -> Sums:
        same.append((labels == seen).reshape(len(labels), -1).all(axis=1))
        return [pairs.drawn(labels) for pairs in found]

    labels, step = iter(labels_of(simplex, n_resamples, rng)), min(pairs.held for pairs in found) // seen.size
    noise = _noise(found, map(sums, map(np.stack, iter(lambda: list(islice(labels, max(1, step))), []))))
    return replace(noise, squared=np.where(np.concatenate(same), value_of(found), noise.squared))


def _noise(found: list[Pairs], draws: Iterable[Sums]) -> Noise:
    """Put problems and draws together."""
    shares = sum(pairs.share for pairs in found)
    scale = np.array([pairs.share * pairs.times / pairs.number / shares for pairs in found])
    seen = np.sqrt(max(float(scale @ [pairs.total for pairs in found]), np.finfo(float).tiny))
    squared, along = zip(*(scale @ np.array(sums).transpose(1, 0, 2) for sums in draws), strict=True)
    return Noise(np.concatenate(squared), np.concatenate(along) / seen)


# What the caller chose


def as_pairs_notion(notion: NotionLike, problem: Problem) -> Notion | None:
    """Return the notion of that name, or None for the whole simplex."""
    is_whole = notion is None or (isinstance(notion, str) and folded(notion) == "canonical")
    return None if is_whole else as_notion(notion, problem)


def as_bandwidth(bandwidth: float | None) -> float | None:
    """Return a positive number, or None."""
    if bandwidth is None:
        return None
    median = "Leave it out for the median distance between forecasts"
    return max(number("bandwidth", bandwidth, above=0.0, hint=median), SMALLEST_BANDWIDTH)
