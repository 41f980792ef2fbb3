"""Lenses: linear summaries of the residuals of a forecast along its score. Each gives a metric and a test."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import fft, sparse

from calibrant._core.arrays import FloatArray
from calibrant._core.checks import number, whole
from calibrant._core.rows import Approximate, BinaryProblem, IntArray, Problem, mean_of
from calibrant.binning import Binning, Bins, EqualMass, EqualWidth
from calibrant.notions import Notion
from calibrant.sums.sums import BinTable, FineCells

# Lenses, and the size of what they see


MOST_GROUPS = 512
"""Groups of neighbouring scores, over all problems of a notion, in which the noise of a lens is drawn."""

FEWEST_GROUPS = 32
"""Groups of each problem, however many problems there are."""


class View(ABC):
    """A lens held over one problem."""

    @abstractmethod
    def look(self, residual: FloatArray) -> FloatArray:
        """Look at several vectors of residuals of the problem's rows.

        Parameters
        ----------
        residual : ndarray of shape (m, n)
            Outcome minus score of each row, as observed or as drawn; the view knows the weights.

        Returns
        -------
        ndarray of shape (m, d)
            What is seen, linear in the residuals.
        """


class Lens(ABC):
    """Linear smoother of the residuals of a problem; called on a problem, it gives the `View`.

    Noise is drawn in cells: groups of neighbouring scores, of which no event rate is known, unless the lens has bins.
    """

    @abstractmethod
    def __call__(self, problem: BinaryProblem) -> View:
        """Hold the lens over a problem that has rows."""

    has_bins: ClassVar[bool] = False
    """Whether it looks at bins, whose event rates are known."""

    @property
    def has_own_bins(self) -> bool:
        """Whether it keeps its bins, whatever binning is asked for."""
        return False

    def recut(self, binning: Binning) -> Lens:
        """Return the lens over other bins; one without bins is as it was."""
        return self

    def over(self, binning: Binning) -> Lens:
        """Return the lens over the bins that are asked for; one with its own bins, or without any, is as it was."""
        return self if self.has_own_bins else self.recut(binning)

    def cells(self, problem: Problem, notion: Notion) -> Binning:
        """Return the cells in which noise is drawn, of each problem of a notion."""
        return Groups(max(FEWEST_GROUPS, MOST_GROUPS // notion.n_parts(problem)))

    def over_cells(self, cells: BinaryProblem) -> View:
        """Hold the lens over cells, each with its mean score and its weight."""
        return self(cells)


@dataclass(frozen=True)
class Groups(Binning):
    """A group for each distinct score, or if these are too many groups of equal weight."""

    most: int

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return 0 and the highest score of each group."""
        distinct = np.unique(problem.score)
        return np.append(0.0, distinct) if distinct.size <= self.most else EqualMass(self.most).edges(problem)


Extent = Callable[[Any, FloatArray], FloatArray]
"""How large is what was seen of one problem: a function of a view and of an array (m, d), with m values."""


Within = Callable[[FineCells, float], tuple[float, float]]
"""Between which limits the value of the rows lies, given the cells that hold them and the value of these cells."""


def anywhere(cells: FineCells, value: float) -> tuple[float, float]:
    """Return no limits: of a size for which none have been derived."""
    return -np.inf, np.inf


class Size(ABC):
    """How large is what was seen of all problems of a notion."""

    is_of_deviations: bool = True
    """Whether it depends on what was seen alone, so that noise can be added to that."""

    of_table: Callable[[BinTable], float] | None = None
    """The size of the sums over bins alone, 0 of no rows; None where it needs the rows."""

    is_debiased: bool = False
    """Whether it is bias-corrected."""

    counts_rows: bool = False
    """Whether it counts rows, and is no distance."""

    is_joint: bool = False
    """Whether the cells of all problems count as those of one."""

    shrinks: bool = False
    """Whether it is compared with truths that are shrunk toward calibration, as an average over bins is."""

    @abstractmethod
    def of_problems(self, seen: Sequence[tuple[BinaryProblem, Any]]) -> float:
        """Return the size of problems that have rows, at least one, each with its view."""

    @abstractmethod
    def of_seen(self, views: Sequence[View], weights: Sequence[FloatArray], seen: Sequence[FloatArray]) -> FloatArray:
        """Return the sizes (m,) of what was seen (m, d) through each view over cells of these weights, of a total of one."""

    def floor(self, null: FloatArray) -> float:
        """Return the mean size under calibration, of such sizes with the bias in them."""
        return float(null.mean())


@dataclass(frozen=True)
class MeanOverProblems(Size):
    """The mean over the problems, by their shares, of how large is what was seen of each."""

    extent: Extent
    within: Within = anywhere

    def of_problems(self, seen: Sequence[tuple[BinaryProblem, View]]) -> float:
        """Return the mean; of cells in place of rows with its limits."""
        found = []
        for problem, view in seen:
            value = float(self.extent(view, view.look(residual_of(problem)))[0])
            if problem.cells:
                value = Approximate(value, *self.within(problem.cells, value))
            found.append((problem.share, value))
        return mean_of(found)

    def of_seen(self, views: Sequence[View], weights: Sequence[FloatArray], seen: Sequence[FloatArray]) -> FloatArray:
        """Return the means."""
        sizes = [w.sum() * self.extent(view, own) for view, w, own in zip(views, weights, seen, strict=True)]
        return np.asarray(np.sum(sizes, axis=0))


def residual_of(problem: BinaryProblem) -> FloatArray:
    """Observed residuals, shape (1, n)."""
    residual: FloatArray = problem.outcome - problem.score
    return residual[None]


# Bins as a lens: the mean residual of the rows of each bin, its gap


USUAL = EqualWidth(15)
"""How scores are cut where neither the metric nor the caller says how."""


@dataclass(frozen=True)
class InBins(Lens):
    """Means of the residuals in bins: those that are asked for, or its own."""

    binning: Binning | None = None

    def __call__(self, problem: BinaryProblem) -> BinView:
        """Cut the scores."""
        return BinView(self.cut(problem), problem.score, problem.weight)

    @property
    def cut(self) -> Binning:
        """Its bins, or the usual ones."""
        return USUAL if self.binning is None else self.binning

    has_bins: ClassVar[bool] = True

    @property
    def has_own_bins(self) -> bool:
        """Whether it keeps its bins, whatever binning is asked for."""
        return self.binning is not None

    def recut(self, binning: Binning) -> InBins:
        """Return the lens over these bins."""
        return InBins(binning)

    def cells(self, problem: Problem, notion: Notion) -> Binning:
        """Return the bins: their event rates are known, and noise is that of these rates."""
        return self.cut

    def over_cells(self, cells: BinaryProblem) -> View:
        """Each cell is a bin."""
        return EachCell()


@dataclass(frozen=True, eq=False)
class BinView(View):
    """The ``bins`` of rows with these scores and weights, each (n,); what is seen is the gap of each bin that holds weight."""

    bins: Bins
    score: FloatArray
    weight: FloatArray

    def look(self, residual: FloatArray) -> FloatArray:
        """Mean residuals of the bins, shape (m, d)."""
        index: IntArray = self.bins.index(self.score)
        sums = np.stack([np.bincount(index, self.weight * one, len(self.bins)) for one in residual])
        held = self.bins.weight > 0
        return np.asarray(sums[:, held] / self.bins.weight[held], dtype=np.float64)


class EachCell(View):
    """Cells that are bins already."""

    def look(self, residual: FloatArray) -> FloatArray:
        """Return the gaps as they are."""
        return residual


# Cumulative sums of the residuals in the order of the scores: no bins, nothing to choose


@dataclass(frozen=True)
class Cumulative(Lens):
    """Weighted residuals of all rows up to each distinct score, divided by the total weight.

    (Gupta K. et al. 2021; Arrieta-Ibarra et al. 2022.) Equal scores enter together, so the order of rows never matters.
    """

    def __call__(self, problem: BinaryProblem) -> CumulativeView:
        """Sort the scores."""
        order = np.argsort(problem.score, kind="stable")
        score = problem.score[order]
        ends = np.append(np.flatnonzero(np.diff(score)), score.size - 1)
        weight = problem.weight[order]
        return CumulativeView(order, ends, score[ends], weight / weight.sum())


@dataclass(frozen=True, eq=False)
class CumulativeView(View):
    """Where the sums are read: ``score`` are the distinct scores, shape (d,)."""

    order: IntArray
    ends: IntArray
    score: FloatArray
    weight: FloatArray

    def look(self, residual: FloatArray) -> FloatArray:
        """Sum up to each distinct score."""
        return np.cumsum(residual[:, self.order] * self.weight, axis=1)[:, self.ends]


def largest(view: View, seen: FloatArray) -> FloatArray:
    """Largest absolute value: Kolmogorov and Smirnov's distance."""
    return np.asarray(np.abs(seen).max(axis=1))


def spread(view: View, seen: FloatArray) -> FloatArray:
    """Highest minus lowest value, the zero at the start included: Kuiper's distance."""
    return np.asarray(np.maximum(seen.max(axis=1), 0.0) - np.minimum(seen.min(axis=1), 0.0))


def largest_within(cells: FineCells, value: float) -> tuple[float, float]:
    """Limits of the largest absolute sum of the rows: that at the ends of cells, and what lies between them at most.

    At the ends of cells the sums are those of the rows. Within a cell they rise by no more than its events do, sum of
    weight * (1 - p), and fall by no more than sum of weight * p over its non-events.
    """
    highest, lowest = _reach(cells)
    return value, max(highest, -lowest)


def spread_within(cells: FineCells, value: float) -> tuple[float, float]:
    """Limits of the highest minus the lowest sum, as `largest_within` has them."""
    highest, lowest = _reach(cells)
    return value, highest - lowest


def two_bins(view: CumulativeView, seen: FloatArray) -> FloatArray:
    """Root of the mean, over all places in [0, 1] to cut the scores in two, of the squared sums of both parts."""
    total, score = seen[:, -1:], view.score
    both = np.square(seen[:, :-1]) + np.square(total - seen[:, :-1])
    return np.asarray(np.sqrt(both @ np.diff(score) + np.square(total[:, 0]) * (score[0] + 1.0 - score[-1])))


LARGEST_SUM = MeanOverProblems(largest, largest_within)
TWO_BINS = MeanOverProblems(two_bins)
RANGE_OF_SUMS = MeanOverProblems(spread, spread_within)
"""Sizes of cumulative residuals."""


def _reach(cells: FineCells) -> tuple[float, float]:
    """Return how high and how low the running sums of the rows may go, the zero at the start included."""
    before = cells.reached[:-1]
    highest, lowest = (before + cells.rise).max(initial=0.0), (before - cells.fall).min(initial=0.0)
    return float(highest) / cells.total, float(lowest) / cells.total


# Local regression of the residuals on the score: loess of the outcomes on the probabilities, less the probabilities


SPREAD = 1e-8
"""A window whose scores spread less, in squared bandwidths, is fitted by a polynomial of a lower degree."""

MARGIN = 1e-9
"""Sums of weights that differ by less, relatively, are equal."""


@dataclass(frozen=True)
class Local(Lens):
    """Polynomial fitted to the residuals about each score, by least squares with tricube weights (loess).

    (Cleveland and Devlin 1988; Austin and Steyerberg 2019.) A local line or parabola reproduces the scores themselves, so
    that  smooth(y) - p = smooth(y - p):  the smoothed event rate less the score is linear in the residuals.

    Attributes
    ----------
    span : float
        The window about a score reaches as far as its nearest rows that make up this share of all.
    degree : {0, 1, 2}
        Degree of the polynomial; where the scores of a window are too few for it, a lower one. Of degree 0 the residuals are
        smoothed all the same: what is seen is then the smoothed event rate less the smoothed score.
    n_cells : int
        Up to so many distinct scores each is a place of its own, and the fit is exact. More are gathered into so many
        groups of neighbours, none much heavier or wider than the others, each at its mean score; the lowest and the highest
        score stay by themselves. Memory grows with the square of it.
    """

    span: float = 0.75
    degree: int = 2
    n_cells: int = 512

    def __post_init__(self) -> None:
        number("span", self.span, above=0.0, most=1.0, hint="It is a share of the rows: 0.75 is usual")
        whole("degree", self.degree, least=0, most=2, hint="2 is usual")
        whole("n_cells", self.n_cells, least=3, hint="512 is usual")

    def __call__(self, problem: BinaryProblem) -> LocalView:
        """Gather the scores, and fit at each."""
        weight = problem.weight * problem.weights.rows_per_weight
        place = _places(problem.score, weight, self.n_cells)
        rows = np.bincount(place, weight).astype(np.float64, copy=False)
        score = np.bincount(place, weight * problem.score) / rows
        return LocalView(place, weight, score, rows, _smoother(score, rows, self.span, self.degree))


@dataclass(frozen=True, eq=False)
class LocalView(View):
    """Places along the score: ``score`` (d,) in order, ``rows`` (d,) that stand there, and the ``matrix`` (d, d) that smooths.

    ``place`` (n,) says where a row stands, ``weight`` (n,) how many rows it is.
    """

    place: IntArray
    weight: FloatArray
    score: FloatArray
    rows: FloatArray
    matrix: FloatArray

    def look(self, residual: FloatArray) -> FloatArray:
        """Smoothed residuals at each place, shape (m, d)."""
        pointer = np.arange(self.place.size + 1)
        gather = sparse.csr_array((self.weight, self.place, pointer), shape=(self.place.size, self.score.size))
        return np.asarray((gather.T @ residual.T).T / self.rows) @ self.matrix.T

    @property
    def share(self) -> FloatArray:
        """Share of the weight at each place, shape (d,)."""
        return np.asarray(self.rows / self.rows.sum())


def mean_gap(view: LocalView, seen: FloatArray) -> FloatArray:
    """Mean distance over the rows."""
    return np.asarray(_gaps(seen) @ view.share)


def median_gap(view: LocalView, seen: FloatArray) -> FloatArray:
    """Median distance over the rows."""
    return _quantile_gap(view, seen, 0.5)


def high_gap(view: LocalView, seen: FloatArray) -> FloatArray:
    """Distance that nine rows in ten do not exceed."""
    return _quantile_gap(view, seen, 0.9)


def largest_gap(view: View, seen: FloatArray) -> FloatArray:
    """Largest distance over the rows."""
    return np.asarray(_gaps(seen).max(axis=1))


def _gaps(seen: FloatArray) -> FloatArray:
    # A polynomial may leave [0, 1] where rows are few. A rate and a probability are at most one apart.
    return np.minimum(np.abs(seen), 1.0)


def _quantile_gap(view: LocalView, seen: FloatArray, q: float) -> FloatArray:
    """Quantile over rows, linear between order statistics as in `numpy.quantile`; a weight counts rows."""
    gaps = _gaps(seen)
    order = np.argsort(gaps, axis=1)
    gaps, counted = np.take_along_axis(gaps, order, axis=1), np.cumsum(view.rows[order], axis=1)
    total = view.rows.sum()
    position = q * max(total - 1.0, 0.0)
    rank = np.floor(position + MARGIN * total)
    at = [np.minimum((counted <= k + MARGIN * total).sum(axis=1), view.rows.size - 1) for k in (rank, rank + 1.0)]
    low, high = np.take_along_axis(gaps, np.column_stack(at), axis=1).T
    return np.asarray(low + max(position - rank, 0.0) * (high - low))


def _places(score: FloatArray, weight: FloatArray, n_cells: int) -> IntArray:
    """Number the places from 0 without gaps, shape (n,). Equal scores share a place."""
    distinct, place = np.unique(score, return_inverse=True)
    if distinct.size <= n_cells:
        return np.asarray(place, dtype=np.intp)
    rows = np.bincount(place, weight)
    by_weight = (np.cumsum(rows) - 0.5 * rows) / rows.sum()
    by_score = (distinct - distinct[0]) / (distinct[-1] - distinct[0])
    cell = 1 + np.minimum((0.5 * (by_weight + by_score) * (n_cells - 2)).astype(np.intp), n_cells - 3)
    cell[0], cell[-1] = 0, n_cells - 1
    _, number = np.unique(cell, return_inverse=True)
    return np.asarray(number[place], dtype=np.intp)


def _smoother(score: FloatArray, rows: FloatArray, span: float, degree: int) -> FloatArray:
    """Matrix (d, d) of which row i times values is the local fit at score i. Assumes distinct scores in order."""
    bandwidth = _bandwidth(score, rows, span)
    apart = (score - score[:, None]) / np.maximum(bandwidth, np.finfo(np.float64).tiny)[:, None]
    np.clip(apart, -1.0, 1.0, out=apart)
    weight = rows * _cube(1.0 - np.abs(_cube(apart)))
    weight /= weight.sum(axis=1, keepdims=True)
    if degree == 0:
        return weight
    # Polynomials that are orthogonal under the weights, 1, u, and u^2 less its fit by these, leave no equations to solve.
    centre = _mean(weight, apart)
    u = apart - centre
    second = _mean(weight, u * u)
    spread = second > SPREAD
    fit = 1.0 - u * np.where(spread, centre / np.where(spread, second, 1.0), 0.0)
    if degree == 2:
        tilt = _mean(weight, _cube(u)) / np.where(spread, second, 1.0)
        bow = u * (u - tilt) - second
        fourth = _mean(weight, bow * bow)
        bent = spread & (fourth > SPREAD * second**2)
        here = centre * (centre + tilt) - second
        fit += bow * np.where(bent, here / np.where(bent, fourth, 1.0), 0.0)
    return weight * fit


def _mean(weight: FloatArray, values: FloatArray) -> FloatArray:
    """Weighted mean of each row, as a column."""
    return np.asarray(np.einsum("ij,ij->i", weight, values))[:, None]


def _cube(values: FloatArray) -> FloatArray:
    return np.asarray(values * values * values)


def _bandwidth(score: FloatArray, rows: FloatArray, span: float) -> FloatArray:
    """Distance of each score to the nearest rows that make up the span, shape (d,)."""
    total = np.concatenate([[0.0], np.cumsum(rows)])
    needed = max(np.floor(span * total[-1] * (1.0 + MARGIN)), 1.0) - MARGIN * total[-1]
    # Of windows that begin at place l and hold enough, the last score; of those about score i, the one that reaches least far.
    last = np.searchsorted(total, total[:-1] + needed)
    end = np.append(score, np.inf)[np.minimum(last - 1, score.size)]
    reach = np.maximum(score[:, None] - score, end - score[:, None])
    return np.asarray(np.where(np.tri(score.size, dtype=bool), reach, np.inf).min(axis=1))


# A kernel slides along the scores: smoothed residuals, at the bandwidth that equals the integral of their absolute value


LEVELS = (10, 14)
"""Bandwidths are resolved down to 2 ** -level; the level rises with the square root of the number of rows."""

MODES = 8.6 / np.pi
"""Cosines of more than MODES / bandwidth half-waves are damped below 1e-16."""

CELLS = 8
"""Cells in a bandwidth, of the grid that residuals are put on and of the grid that integrals are taken on."""

FEWEST_CELLS = 128
"""Cells of the grid that a fixed point is sought on, at least."""

REACH = (-2, -1, 0, 1, 2, 3)
"""Nodes among which a row is divided, counted from the node below it."""

BLOCK = 1 << 18
"""Rows put on the grid at a time."""

MOST_VALUES = 1 << 23
"""Numbers in an array at a time."""

TOLERANCE = 1e-11
"""Relative precision of a fixed point."""


@dataclass(frozen=True)
class Smooth(Lens):
    """Residuals convolved with a Gaussian that is reflected at 0 and 1, for every bandwidth at once.

    (Błasiok and Nakkiran 2024.) The reflected Gaussian is the heat kernel of the unit interval: it multiplies the cosine of
    k half-waves by  exp(-(k pi bandwidth)^2 / 2).  So the cosine coefficients of the residuals are all there is to see.
    """

    def __call__(self, problem: BinaryProblem) -> SmoothView:
        """Find each score's place on the grid."""
        return self._view(problem, finest_level(problem.weights.rows))

    def over_cells(self, cells: BinaryProblem) -> SmoothView:
        """Resolve no finer bandwidth than those of a few thousand rows: the noise of millions is wider."""
        return self._view(cells, LEVELS[0])

    def _view(self, problem: BinaryProblem, level: int) -> SmoothView:
        return SmoothView(problem.score, problem.weight / problem.weight.sum(), level)


def finest_level(rows: float) -> int:
    """Return down to which power of 1/2 the bandwidths of so many rows are resolved."""
    return int(np.clip(np.ceil(np.log2(16.0 * np.sqrt(rows))), *LEVELS))


@dataclass(frozen=True, eq=False)
class SmoothView(View):
    """Scores and weights, shape (n,), and the ``level``: the finest bandwidth is 2 ** -level."""

    score: FloatArray
    weight: FloatArray
    level: int

    def look(self, residual: FloatArray) -> FloatArray:
        """Cosine coefficients  sum of weight * residual * cos(k pi score),  k = 0, 1, ..., shape (m, d)."""
        masses = self.on_nodes(residual, self.level)
        masses[:, 1:-1] *= 0.5
        return np.ascontiguousarray(fft.dct(masses, type=1, axis=1)[:, : _n_modes(self.level)])

    def on_nodes(self, values: FloatArray, level: int) -> FloatArray:
        """Weighted values (m, n) as masses at `nodes`, such that their sums over kernels stay what they are."""
        n_cells = CELLS * 2**level
        masses = np.zeros((n_cells + 1, len(values)))
        step = max(1, min(BLOCK, MOST_VALUES // max(1, len(values))))
        for start in range(0, self.score.size, step):
            rows = slice(start, start + step)
            masses += _division(self.score[rows], n_cells).T @ (values[:, rows] * self.weight[rows]).T
        return np.ascontiguousarray(masses.T)


def nodes(level: int) -> FloatArray:
    """Grid from 0 to 1 that serves bandwidths of at least 2 ** -level."""
    return np.linspace(0.0, 1.0, CELLS * 2**level + 1)


def fixed_point(view: SmoothView, seen: FloatArray) -> FloatArray:
    """Solve  error = integral of abs(residuals smoothed with bandwidth error).

    The integral falls as the bandwidth rises, so there is one solution. Below the finest bandwidth of the view the integral at
    that bandwidth stands: never more than the solution, and off by less than that bandwidth.
    """
    error = smoothed_integral(seen, np.ones(len(seen)), CELLS)
    left, at_high = np.flatnonzero(error < 1.0), error[error < 1.0]
    for level in range(1, view.level + 1):
        modes = seen[left, : _n_modes(level)]
        at_low = smoothed_integral(modes, np.full(left.size, 2.0**-level), CELLS * 2**level)
        within = at_low >= 2.0**-level
        error[left[within]] = _between(modes[within], level, at_low[within], at_high[within])
        left, at_high = left[~within], at_low[~within]
    error[left] = at_high
    return error


def fixed_point_within(cells: FineCells, value: float) -> tuple[float, float]:
    """Limits of the fixed point of the rows: the value -+ A / max(value, finest bandwidth).

    To move a residual r by d changes the integral at bandwidth s by at most  abs(r) * d * sqrt(2 / pi) / s,  and by no more
    than 2 abs(r): that is the distance between two Gaussians, and reflecting them brings them no farther apart. All rows
    together change it by  A / s,  A = sum of weight * abs(y - p) * d * sqrt(2 / pi) / weight.  The integral does not rise with
    the bandwidth, so the point where it equals the bandwidth moves by no more than the integral does there.
    """
    at = max(value, 2.0 ** -finest_level(cells.rows))
    moved = np.maximum(cells.mean - cells.lowest, cells.highest - cells.mean)
    each = np.minimum(moved * np.sqrt(2.0 / np.pi) / at, 2.0)
    error = float((cells.rise + cells.fall) @ each) / cells.total
    return max(0.0, value - error), value + error


def smoothed_integral(seen: FloatArray, bandwidth: FloatArray, n_cells: int) -> FloatArray:
    """Integral over [0, 1] of the absolute smoothed residuals, a bandwidth of CELLS / n_cells or more for each row of ``seen``.

    Between sign changes it is a difference of the antiderivative, which the coefficients give without error. Where the sign
    changes within a cell, the antiderivative has its peak there: that of the cubic through values and slopes at both ends.
    """
    if (most := max(1, MOST_VALUES // n_cells)) < len(seen):
        parts = [slice(k, k + most) for k in range(0, len(seen), most)]
        return np.concatenate([smoothed_integral(seen[part], bandwidth[part], n_cells) for part in parts])
    wave = np.pi * np.arange(min(n_cells, seen.shape[1]))
    damped = seen[:, : wave.size] * np.exp(-0.5 * np.square(bandwidth[:, None] * wave))
    slope = np.zeros((len(seen), n_cells + 1))
    slope[:, : wave.size] = damped
    slope = fft.dct(slope, type=1, axis=1, overwrite_x=True) / n_cells
    area = np.zeros((len(seen), n_cells + 1))
    area[:, 1 : wave.size] = damped[:, 1:] / wave[1:]
    area[:, 1:-1] = fft.dst(area[:, 1:-1], type=1, axis=1)
    area += damped[:, :1] * np.linspace(0.0, 1.0, n_cells + 1)
    area[:, -1] = damped[:, 0]
    rise = np.diff(area, axis=1)
    total: FloatArray = np.abs(rise).sum(axis=1)
    positive = slope > 0
    row, cell = np.nonzero(positive[:, 1:] != positive[:, :-1])
    risen = rise[row, cell]
    peak = _peak(risen, slope[row, cell], slope[row, cell + 1])
    total += np.bincount(row, np.abs(peak) + np.abs(risen - peak) - np.abs(risen), minlength=len(seen))
    return total


def reflected_kernel(at: FloatArray, score: FloatArray, bandwidth: float) -> FloatArray:
    """Density at ``at`` (m,) of a Gaussian about each ``score`` (n,), reflected at 0 and 1, shape (m, n)."""
    reach = np.pi * MODES * bandwidth
    last = 2 * int(np.ceil(0.5 + 0.5 * reach))
    density = np.zeros((at.size, score.size))
    for shift in range(-last, last + 1, 2):
        for image in (score + shift, shift - score):
            near = (image > -reach) & (image < 1.0 + reach)
            density[:, near] += np.exp(-0.5 * np.square((at[:, None] - image[near]) / bandwidth))
    return np.asarray(density / (bandwidth * np.sqrt(2.0 * np.pi)))


def _between(seen: FloatArray, level: int, at_low: FloatArray, at_high: FloatArray) -> FloatArray:
    """Fixed point of each row within [2 ** -level, 2 ** (1 - level)], from the integrals at both ends.

    False position on logarithms, where the integral is nearly a straight line; an end that stays counts half the next time.
    What error the grid leaves, about 1e-7, one step on a finer grid takes away.
    """
    n_cells = max(CELLS * 2**level, FEWEST_CELLS)
    left, right = np.full(len(seen), -level * np.log(2.0)), np.full(len(seen), (1 - level) * np.log(2.0))
    above, below = _log(at_low) - left, np.minimum(_log(at_high) - right, -TOLERANCE)
    slope = (below - above) / np.log(2.0)
    root, open_ = left.copy(), np.flatnonzero(above > TOLERANCE)
    side = np.zeros(len(seen))
    while open_.size:
        a, b, up, down = left[open_], right[open_], above[open_], below[open_]
        middle = (a * down - b * up) / (down - up)
        excess = _log(smoothed_integral(seen[open_], np.exp(middle), n_cells)) - middle
        moved = np.sign(excess)
        again = moved == side[open_]
        left[open_], right[open_] = np.where(moved > 0, middle, a), np.where(moved > 0, b, middle)
        above[open_] = np.where(moved > 0, excess, np.where(again, 0.5 * up, up))
        below[open_] = np.where(moved > 0, np.where(again, 0.5 * down, down), excess)
        root[open_], side[open_] = middle, moved
        open_ = open_[(np.abs(excess) > TOLERANCE) & (right[open_] - left[open_] > TOLERANCE)]
    excess = _log(smoothed_integral(seen, np.exp(root), 2 * n_cells)) - root
    return np.asarray(np.exp(root - excess / slope))


def _log(integral: FloatArray) -> FloatArray:
    return np.log(np.maximum(integral, np.finfo(np.float64).tiny))


def _peak(rise: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """Extremum within a cell, above its start, of the cubic that rises so much and has slopes of opposite signs at its ends."""
    quadratic, cubic = 3.0 * rise - 2.0 * start - end, start + end - 2.0 * rise
    sign = np.where(start > 0, 1.0, -1.0)
    root = sign * np.sqrt(np.maximum(quadratic**2 - 3.0 * start * cubic, 0.0)) - quadratic
    at = np.divide(start, root, out=np.zeros(rise.size), where=root != 0)
    return at * (start + at * (quadratic + at * cubic))


def _division(score: FloatArray, n_cells: int) -> sparse.csr_array:
    """Shares in which each score is divided among six nodes, shape (n, nodes).

    They are the weights of interpolation by a polynomial of degree five; what sticks out at an end is folded back, for
    cosines are even about 0 and 1.
    """
    below = np.minimum(np.floor(score * n_cells), n_cells - 1)
    within = score * n_cells - below
    shares = np.ones((score.size, len(REACH)))
    for column, node in enumerate(REACH):
        for other in set(REACH) - {node}:
            shares[:, column] *= (within - other) / (node - other)
    index = np.abs(below[:, None] + np.array(REACH))
    index = np.where(index > n_cells, 2 * n_cells - index, index).astype(np.int32)
    pointer = np.arange(0, shares.size + 1, len(REACH))
    return sparse.csr_array((shares.ravel(), index.ravel(), pointer), shape=(score.size, n_cells + 1))


def _n_modes(level: int) -> int:
    return int(MODES * 2**level) + 2
