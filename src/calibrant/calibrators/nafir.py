"""Flattened isotonic regression that knows that rows will be divided by their sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.arrays import EPSILON, FloatArray, NDArray, blocks, prob_of_scores
from calibrant._core.checks import Advance, is_word, progress_bar, require, warn
from calibrant._core.registry import ARGMAX, FINITE, HULL, PERMUTED
from calibrant._core.rows import BinaryProblem, BoolArray, Forecast, IntArray, SimplexProblem, Weights
from calibrant.binning.bins import Ordered
from calibrant.calibrators.base import MulticlassCalibrator, fitted, method, parameter, warn_unless_certain
from calibrant.fit.folds import Fold, folds_of
from calibrant.fit.isotonic import isotonic_fit
from calibrant.fit.minimise import Point, Stop, bounded_step, minimise, projected

# Simulated annealing of a map that is constant on blocks: the random search of Arad and Rosset


# The scores of a table cut at those of the true classes, and blocks of such cells


CHUNK = 1 << 18
"""Scores looked up at a time."""

ROUNDING = 1e-9
"""Pieces that are this part too small are so by rounding."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A table whose scores are numbers of cells.

    Cell c holds the scores from ``lower[c]`` up to below ``lower[c + 1]``. A cell begins where some true class has its
    score, or at the lowest score of all. Without smoothing and ridge some best map is constant on cells: no true class lies
    between two such scores, and the lower the map is there, the better. With either, another map could be a little better.
    ``at`` has the shape of the table, ``of_true`` is the cell of the true class of each row.
    """

    lower: FloatArray
    at: NDArray[np.int32]
    of_true: IntArray
    weight: FloatArray

    @classmethod
    def of(cls, problem: SimplexProblem) -> Cells:
        """Cut the forecast of a problem."""
        prob = problem.prob
        event = np.unique(prob[np.arange(problem.size), problem.label])
        least = float(prob.min())
        lower = event if least == event[0] else np.append(least, event)
        at = np.empty(prob.shape, dtype=np.int32)
        for rows in blocks(len(prob), prob.shape[1], CHUNK):
            at[rows] = np.searchsorted(lower[1:], prob[rows], side="right")
        of_true: IntArray = at[np.arange(problem.size), problem.label].astype(np.intp)
        return cls(lower, at, of_true, np.ascontiguousarray(problem.weight))

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.lower.size

    def of_rows(self, rows: BoolArray) -> Cells:
        """Return some of the rows, over the same cells."""
        return Cells(self.lower, self.at[rows], self.of_true[rows], self.weight[rows])

    def joined(self, starts: IntArray) -> Cells:
        """Return the rows over fewer cells: those of ``starts``, each with all that follow up to the next."""
        of_cell = block_of_cell(starts, self.size)
        return Cells(self.lower[starts], of_cell.astype(np.int32)[self.at], of_cell[self.of_true], self.weight)

    def mass(self) -> FloatArray:
        """Weight of the scores in each cell."""
        total = np.zeros(self.size)
        for rows in blocks(len(self.at), self.at.shape[1], CHUNK):
            total += np.bincount(self.at[rows].ravel(), np.repeat(self.weight[rows], self.at.shape[1]), self.size)
        return total

    def events(self) -> FloatArray:
        """Weight of the true classes in each cell."""
        return np.bincount(self.of_true, self.weight, self.size).astype(np.float64, copy=False)

    def isotonic_starts(self, mass: FloatArray) -> IntArray:
        """Return at which cell each block of the isotonic regression begins; cells without mass join the block before."""
        events = self.events()
        number = np.arange(self.size, dtype=np.float64)
        weight = np.append(events, np.maximum(mass - events, 0.0))
        is_event = np.arange(2 * self.size) < self.size
        some = weight > 0
        ordered = Ordered.of(BinaryProblem(np.append(number, number)[some], is_event[some], Weights(weight[some])))
        starts: IntArray = ordered.score[isotonic_fit(ordered).starts].astype(np.intp)
        starts[0] = 0
        return starts


def split_blocks(starts: IntArray, mass: FloatArray, min_blocks: int, least: float) -> IntArray:
    """Cut blocks into pieces of about equal mass, none below ``least``, until there are ``min_blocks`` of them if possible.

    The paper (A.2 and its Figure 4) says no more than that. Here the piece that is the largest is made smaller in turn: of
    blocks of mass s with q pieces that can be cut into one more, the next to get it has the largest s / q. Cuts lie between
    cells.
    """
    least *= 1.0 - ROUNDING
    parts = np.split(mass, starts[1:])
    size = np.add.reduceat(mass, starts)
    most = np.array([_first_fit(part, least, min_blocks).size for part in parts])
    pieces = np.ones(starts.size, dtype=np.intp)
    for _ in range(min_blocks - starts.size):
        may = pieces < most
        if not may.any():
            break
        pieces[np.argmax(np.where(may, size / pieces, -np.inf))] += 1
    cut = [_cuts(part, q, least) + first for first, part, q in zip(starts, parts, pieces.tolist(), strict=True)]
    return np.concatenate(cut)


def _first_fit(mass: FloatArray, least: float, most: int) -> IntArray:
    """Return where pieces begin that are as small as they may be, from the first cell on: as many as go, up to ``most``."""
    before = np.cumsum(mass) - mass
    total, begin = float(mass.sum()), [0]
    while len(begin) < most:
        at = _next_cut(before, begin[-1], least)
        if at >= mass.size or total - before[at] < least:
            break
        begin.append(at)
    return np.array(begin, dtype=np.intp)


def _cuts(mass: FloatArray, pieces: int, least: float) -> IntArray:
    """Return where pieces of about equal mass begin, the first at 0: each as near to its place as the others leave room."""
    before = np.cumsum(mass) - mass
    # The smallest pieces from the last cell on say where each must begin at the latest.
    latest = (mass.size - _first_fit(mass[::-1], least, pieces)[1:])[::-1]
    targets = float(mass.sum()) * np.arange(1, latest.size + 1) / (latest.size + 1)
    begin = [0]
    for target, last in zip(targets, latest.tolist(), strict=True):
        first = min(_next_cut(before, begin[-1], least), last)
        begin.append(first + int(np.argmin(np.abs(before[first : last + 1] - target))))
    return np.array(begin, dtype=np.intp)


def _next_cut(before: FloatArray, begin: int, least: float) -> int:
    """Return the first cell at which the piece that begins at some cell is large enough to end."""
    return max(int(np.searchsorted(before, before[begin] + least)), begin + 1)


def block_of_cell(starts: IntArray, n_cells: int) -> IntArray:
    """Return the block of each cell."""
    return np.repeat(np.arange(starts.size), np.diff(starts, append=n_cells))


# Rows seen by a map that is constant on blocks: the blocks of their classes, and that of the true class


CAP = -float(np.log(EPSILON))
"""Where an increment of log g ends that should be infinite: the lower value is then 1e-12 of the higher one."""


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Statistics b and C of Appendix A.2: the counts C by row, sparse, and the block of the true class.

    Entry e says that its row has ``count[e]`` classes in block ``block[e]``; entries of row i begin at ``starts[i]`` and come
    in the order of the blocks. Weights sum to one.
    """

    starts: IntArray
    block: IntArray
    count: FloatArray
    of_true: IntArray
    weight: FloatArray
    n_blocks: int
    n_classes: int

    @classmethod
    def of(cls, cells: Cells, starts: IntArray) -> Comparisons:
        """Count the classes of each row in each block."""
        from calibrant._kernels import isotonic as kernels  # numba loads only where it is needed

        of_cell, (n, n_classes), n_blocks = block_of_cell(starts, cells.size), cells.at.shape, starts.size
        ends = np.empty(n, dtype=np.intp)
        kernels.entries(cells.at, of_cell, np.full(n_blocks, -1), ends)
        block, count = np.empty(ends[-1], dtype=np.intp), np.empty(ends[-1])
        kernels.row_counts(cells.at, of_cell, np.zeros(n_blocks), block, count)
        weight = cells.weight / cells.weight.sum()
        return cls(np.append(0, ends[:-1]), block, count, of_cell[cells.of_true], weight, n_blocks, n_classes)

    @cached_property
    def row(self) -> IntArray:
        """Row of each entry."""
        return np.repeat(np.arange(self.starts.size), np.diff(self.starts, append=self.block.size))

    @cached_property
    def bottom(self) -> IntArray:
        """Lowest block of each row."""
        return self.block[self.starts]

    @cached_property
    def top(self) -> IntArray:
        """Highest block of each row."""
        return np.asarray(self.block[np.append(self.starts[1:], self.block.size) - 1])

    @cached_property
    def mass(self) -> FloatArray:
        """Weight of the classes in each block; K over all blocks."""
        return np.bincount(self.block, self.weight[self.row] * self.count, self.n_blocks).astype(np.float64, copy=False)

    @cached_property
    def events(self) -> FloatArray:
        """Weight of the true classes in each block: b; 1 over all blocks."""
        return np.bincount(self.of_true, self.weight, self.n_blocks).astype(np.float64, copy=False)

    def smoothed(self, smoothing: float) -> FloatArray:
        """Return b with smoothed labels: each class of a row gets smoothing / K, and the true class the rest."""
        return (1.0 - smoothing) * self.events + (smoothing / self.n_classes) * self.mass

    def rates(self, smoothing: float) -> FloatArray:
        """Logarithm of the smoothed event rate of each block, clipped, and pooled where it falls: where a search begins."""
        some = self.mass > 0
        rate = np.where(some, self.smoothed(smoothing) / np.where(some, self.mass, 1.0), 0.0)
        return np.maximum.accumulate(np.log(np.maximum(rate, EPSILON)))

    def crossed(self, low: IntArray, high: IntArray) -> BoolArray:
        """Whether any row has ``low`` at or below, and ``high`` above, each boundary between blocks."""
        change = np.bincount(low, minlength=self.n_blocks + 1) - np.bincount(high, minlength=self.n_blocks + 1)
        return np.cumsum(change)[: self.n_blocks - 1] > 0

    def shares(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log sum_j C_ij exp(theta_j) of each row, each entry's part in it, and the weight of the parts by block."""
        from calibrant._kernels.isotonic import shares

        found = np.empty(self.starts.size), np.empty(self.block.size), np.zeros(self.n_blocks)
        shares(self.starts, self.block, self.count, self.weight, theta, *found)
        return found

    def losses(self, theta: FloatArray) -> FloatArray:
        """Log loss of each row."""
        return self.shares(theta)[0] - theta[self.of_true]

    def loss(self, theta: FloatArray) -> float:
        """Mean log loss: the objective of eq. 4 over the sum of the weights."""
        return float(self.weight @ self.losses(theta))


# Monotone conditional logit: which block's class is the true one, given the blocks of all classes of the row


TOLERANCE = 1e-8
"""Largest violation of the optimality conditions at a solution, of the mean log loss."""

GOAL = 1e-11
"""Steps are taken until it is smaller than this, as long as they help."""

DAMPING = 1e-9
"""Added to the Hessian relative to its largest entry: it decides only where the objective is flat."""


class Penalty(NamedTuple):
    """Label smoothing, and the ridge on the variance of theta over all scores."""

    smoothing: float
    ridge: float = 0.0


class Solution(NamedTuple):
    """Values theta of the blocks, the violation of the optimality conditions, Newton steps, and what was capped."""

    theta: FloatArray
    gradient: float
    n_iter: int
    n_capped: int


def solve(rows: Comparisons, penalty: Penalty, start: FloatArray | None = None, goal: float = GOAL) -> Solution:
    """Minimise the mean of  log sum_j C_ij exp(theta_j)  minus  b' theta  plus the ridge, over non-decreasing theta.

    With u the increments of theta, u >= 0, a step of `newton` moves those above zero and, in each pool of equal values, the one
    at zero that the gradient pulls up the most, to where the quadratic model is least within the bounds.

    The slope of the objective for u_k to infinity is the smoothed weight of the true classes at or below boundary k in rows
    that have classes above it; as theta is monotone, these slopes add up. Without smoothing and ridge, where no such row
    exists, infinity is best for u_k whatever the others are: it is put to ``CAP``. So are those that are too small to
    change the solution. Where no row has classes on both sides, u_k changes nothing without a ridge, and stays as it is.
    """
    theta = rows.rates(penalty.smoothing) if start is None else start
    if rows.n_blocks == 1:
        return Solution(np.zeros(1), 0.0, 0, 0)
    loss, endless = _loss(rows, penalty)
    u = np.where(endless, CAP, np.maximum(np.diff(theta), 0.0))
    found = minimise(loss.at, u, Stop(residual=goal), lower=0.0)
    return Solution(_theta(found.point.x), found.residual, found.n_iter, int(endless.sum()))


def violation(rows: Comparisons, penalty: Penalty, theta: FloatArray) -> float:
    """Return the largest violation of the optimality conditions at some non-decreasing values."""
    if rows.n_blocks == 1:
        return 0.0
    loss, endless = _loss(rows, penalty)
    point = replace(loss, free=loss.free | endless).at(np.diff(theta))
    return projected(point.x, point.gradient, lower=0.0)


def _loss(rows: Comparisons, penalty: Penalty) -> tuple[_Loss, BoolArray]:
    """Return the objective, and which increments infinity is best for."""
    target, mass = rows.smoothed(penalty.smoothing), rows.mass / rows.n_classes
    both = rows.crossed(rows.bottom, rows.top)
    endless = np.zeros_like(both) if max(penalty) > GOAL else both & ~rows.crossed(rows.of_true, rows.top)
    free = both & ~endless if not penalty.ridge else ~endless
    return _Loss(rows, target, mass, penalty.ridge, free), endless


@dataclass(frozen=True, eq=False)
class _Loss:
    """The objective as a function of the increments; those that are not ``free`` stay as they are."""

    rows: Comparisons
    target: FloatArray
    mass: FloatArray
    ridge: float
    free: BoolArray

    def at(self, u: FloatArray) -> _Increments:
        """Evaluate the objective."""
        theta = _theta(u)
        log_sum, parts, expected = self.rows.shares(theta)
        value, slope = float(self.rows.weight @ log_sum - self.target @ theta), expected - self.target
        if self.ridge:
            centred = theta - self.mass @ theta
            value += 0.5 * self.ridge * float(self.mass @ centred**2)
            slope += self.ridge * self.mass * centred
        above = np.cumsum(slope[:0:-1])[::-1]  # the sum of what lies above each boundary between blocks
        return _Increments(self, u, value, np.where(self.free, above, 0.0), parts, expected)


@dataclass(frozen=True, eq=False)
class _Increments(Point):
    """The objective at some increments, with each entry's part of its row, and their weight by block."""

    loss: _Loss
    x: FloatArray
    value: float
    gradient: FloatArray
    parts: FloatArray
    expected: FloatArray

    def step(self) -> FloatArray:
        """Return a step that leaves no increment negative."""
        moves = self.loss.free & (self.x > 0) | self._splits()
        step = np.zeros_like(self.x)
        if moves.any():
            hessian = self._curvature(moves)
            hessian[np.diag_indices(len(hessian))] += DAMPING * float(hessian.diagonal().max())
            step[moves] = bounded_step(hessian, self.gradient[moves], self.x[moves])
        return step

    def _splits(self) -> BoolArray:
        """Return the boundary with the largest gradient in each pool of equal values that should be split, if any."""
        apart = self.x > 0
        wants = np.where(apart, 0.0, self.gradient)
        pool = np.cumsum(apart)
        least = np.zeros(int(pool[-1]) + 1)
        np.minimum.at(least, pool, wants)
        found = np.flatnonzero((wants < 0.0) & (wants == least[pool]))
        splits = np.zeros_like(apart)
        splits[found[np.unique(pool[found], return_index=True)[1]]] = True
        return splits

    def _curvature(self, moves: BoolArray) -> FloatArray:
        """Hessian in the increments that move: blocks between two of them go together."""
        from calibrant._kernels.isotonic import pair_sums  # numba loads only where it is needed

        rows, group = self.loss.rows, np.append(0, np.cumsum(moves))
        n_groups = int(group[-1]) + 1
        pairs = np.zeros((n_groups, n_groups))
        pair_sums(rows.starts, group[rows.block], self.parts, rows.weight, pairs)
        hessian: FloatArray = np.diag(np.bincount(group, self.expected, n_groups)) - pairs
        if self.loss.ridge:
            mass = np.bincount(group, self.loss.mass, n_groups).astype(np.float64, copy=False)
            hessian += self.loss.ridge * (np.diag(mass) - np.outer(mass, mass))
        # An increment raises all that lies above it.
        return np.cumsum(np.cumsum(hessian[::-1, ::-1], axis=0), axis=1)[-2::-1, -2::-1]


def _theta(u: FloatArray) -> FloatArray:
    """Values of the blocks, the highest zero."""
    return np.append(-np.cumsum(u[::-1])[::-1], 0.0)


# The label smoothing of the least log loss on rows left out


SMOOTHINGS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4)
"""What cross-validation chooses from."""

ROUGH = 1e-6
"""Goal of the fits whose loss on rows left out is compared."""

BlocksOf = Callable[[Cells, Penalty], tuple[Comparisons, IntArray, FloatArray]]
"""The statistics of the blocks of some rows, the cell at which each begins, and the values to begin with."""


def choose_smoothing(
    cells: Cells, folds: Sequence[Fold], blocks_of: BlocksOf, ridge: float, least: float, advance: Advance
) -> float:
    """Return the smoothing of the least log loss on rows left out, of equal ones the largest, but at least ``least``.

    Each fold is solved from the strongest smoothing on.
    """
    if not folds:
        return least
    losses = np.zeros(len(SMOOTHINGS))
    for fold in folds:
        for number, loss in enumerate(_losses(cells, fold, blocks_of, ridge)):
            losses[number] += loss
            advance(1)
    # Losses that agree to rounding are equal.
    return max(SMOOTHINGS[int(np.argmax(losses <= losses.min() * (1.0 + 1e-9)))], least)


def _losses(cells: Cells, fold: Fold, blocks_of: BlocksOf, ridge: float) -> Iterator[float]:
    """Fit what is kept with each smoothing in turn, and yield the log loss of the rest, clipped as probabilities are.

    The map may step at the true classes of the kept rows alone, not at those of the held-out rows.
    """
    of_fold = [replace(cells, weight=weight).of_rows(weight > 0) for weight in fold]
    begins = of_fold[0].events() > 0
    begins[0] = True
    kept, others = (part.joined(np.flatnonzero(begins)) for part in of_fold)
    rows, starts, theta = blocks_of(kept, Penalty(SMOOTHINGS[0], ridge))
    left_out, weight = Comparisons.of(others, starts), others.weight
    for smoothing in SMOOTHINGS:
        theta = solve(rows, Penalty(smoothing, ridge), theta, goal=ROUGH).theta
        yield float(weight @ np.minimum(left_out.losses(theta), CAP))


BETA = 200.0
"""Inverse temperature, of the sum of the log-likelihood over the rows: of their mean, nearly every change would be taken."""

MOST_CHANGES = 100_000

PATIENCE = 10_000
"""Changes without a better map after which the search ends."""

FLOOR = 1e-7
"""Least value of the map: that of a block without a true class."""

CHANGES_AT_A_TIME = 1000
"""Changes tried between two looks at the world; sums are made anew as often, so that rounding does not add up."""


def draws(
    n: int, n_blocks: int, granularity: float, rng: np.random.Generator
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Draw the block to change, by how much (up or down by the same amount), and a number that decides on a worse map."""
    change: FloatArray = np.where(rng.random(n) < 0.5, -granularity, granularity)
    return rng.integers(n_blocks, size=n), change, rng.random(n)


def anneal(
    rows: Comparisons,
    smoothing: float,
    theta: FloatArray,
    n_rows: float,
    granularity: float,
    rng: np.random.Generator,
    advance: Advance,
) -> tuple[FloatArray, int]:
    """Return the best of the maps visited from theta on, as its logarithm, the highest zero, and how many were tried."""
    from calibrant._kernels import isotonic as annealing  # numba loads only where it is needed

    order = np.argsort(rows.block, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(rows.block, minlength=rows.n_blocks)))
    table = starts, rows.row[order], rows.count[order], rows.smoothed(smoothing), rows.weight
    g = np.maximum(np.exp(theta), FLOOR)
    best, highest, since, tried = g.copy(), -np.inf, 0, 0
    while tried < MOST_CHANGES and since < PATIENCE:
        drawn = draws(CHANGES_AT_A_TIME, rows.n_blocks, granularity, rng)
        total = np.add.reduceat(rows.count * g[rows.block], rows.starts)
        current = float(table[3] @ np.log(g) - rows.weight @ np.log(total))
        highest = max(highest, current)
        # Weights sum to one, so that this beta is that of the sum over rows.
        limits = BETA * n_rows, FLOOR, PATIENCE
        _, highest, since, done = annealing.anneal(*table, *drawn, *limits, g, total, best, current, highest, since)
        tried += done
        advance(done)
    return np.log(best / best[-1]), tried


# Flattened isotonic regression that knows that rows will be divided by their sums


Blocks = Literal["isotonic", "distinct"]
Solver = Literal["newton", "annealing"]

OF_SMOOTHING = "Pass a small one, such as 1e-3, or 'cv'"
HIGHEST_RIDGE = 1e6
"""Up to here rounding leaves the optimality conditions alone."""

TIE = 1e-9
"""This times the probability is added to log g: of two classes on one step the one that was ahead stays ahead."""


@method("na-fir", symbol="NA-FIR", source="Arad and Rosset 2025", guarantees={ARGMAX, HULL, PERMUTED, FINITE})
class NormalizedFlattenedIsotonic(MulticlassCalibrator):
    """Map the scores of all classes by one non-decreasing map that is best after rows are divided by their sums (NA-FIR).

    Use it where `MulticlassIsotonic` is of use: many classes with few rows each, and a pattern along the score that
    temperature scaling leaves. It fits what it predicts, the row after the division, and has a lower log loss. The
    predicted class never changes. Do not use it when classes differ in how they are miscalibrated.

    Parameters
    ----------
    smoothing : float or "cv", default="cv"
        Label smoothing, from 0 to 1: this part of each label is spread evenly over all classes. 0 is the problem of
        the paper; its solution over-fits: it can make the lowest probabilities next to zero. "cv" takes the one of 1e-4 to
        0.3 with the least log loss on rows left out, and at least 1 / (1 + number of rows).
    ridge : float, default=0.0
        Penalty on the variance of log g over all scores fitted: half of it times this is added to the mean log loss, up to 1e6,
        where the map is as good as constant. It pulls the map there as smoothing does, and nothing is infinite with it.
    blocks : {"isotonic", "distinct"}, default="isotonic"
        Where the map may step: between the blocks of flattened isotonic regression, as in the paper, or at each distinct
        score of a true class, which has a lower loss on the rows fitted, hardly another map, and takes longer.
    min_blocks : int, default=1
        Isotonic blocks are cut into pieces of about equal mass until there are so many, or no cut is left: cuts lie at scores
        of true classes.
    min_block_size : int, default=1
        Pieces hold at least so many scores.
    solver : {"newton", "annealing"}, default="newton"
        ``"newton"`` finds the optimum. ``"annealing"`` is the random search of the paper, for comparison: it ends above the
        optimum, as ``gradient_`` shows, and hardly moves where blocks are much finer than the isotonic ones. It takes no
        ridge. The smoothing is chosen by exact fits either way.
    granularity : float, default=0.003
        By how much annealing changes the value of a block at a time. See the notes.
    random_state : int, Generator or None, default=0
        Seed of the random search, or a generator to draw from, or None for a new one each time.
    progress : bool, default=False
        Show a bar while the smoothing is chosen or the random search goes on, if tqdm is installed.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    left_ : ndarray of shape (n_steps,)
        Lowest score of each step. Scores between steps take the value of the one below, scores below all the first.
    log_value_ : ndarray of shape (n_steps,)
        Logarithm of the map g on each step, increasing; the last is 0.
    n_blocks_ : int
        Number of blocks before neighbours of equal value were joined.
    smoothing_ : float
        The label smoothing that was used.
    loss_ : float
        Mean log loss on the rows fitted, without smoothing: the objective of the paper.
    gradient_ : float
        Largest violation of the optimality conditions (Karush, Kuhn and Tucker): the derivative of the mean objective in any
        step's height, or by how much a step of height zero would gain; steps that end where they should be infinite are left
        out. The certificate, at most 1e-8, else there is a `ConvergenceWarning`, unless the map was searched at random.
    n_iter_ : int
        Newton steps taken by the last fit, or changes tried by annealing.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    The map g minimises, over non-decreasing functions that step where ``blocks`` says,

        - sum_i w_i log( g(p_i,y_i) / sum_k g(p_ik) )

    and q_k = g(p_k) / sum_j g(p_j). The paper calls that "no longer convex", and searches at random. It is convex in
    theta = log g: with C_ij the number of classes of row i in block j, and b_j the weight of the true classes there,

        sum_i w_i log sum_j C_ij exp(theta_j)  -  b' theta,    theta non-decreasing

    is a conditional logit with monotone effects. Projected Newton on the increments of theta finds the optimum in some ten
    steps. Label smoothing e makes of b_j the sum over rows of w_i ((1 - e) [y_i in block j] + e C_ij / K), and a ridge r adds
    r / 2 sum_j m_j (theta_j - sum_l m_l theta_l)^2, with m_j the share of the scores that lie in block j. Both stay convex, and
    neither minds a constant added to theta. Without them a map that steps elsewhere than at scores of true classes is no
    better than those that do not; with either it could be a little better, and is not looked for.

    Without smoothing and ridge an increment is infinite at the optimum where no row with classes above it had its class at
    or below it. It ends at 27.6, a ratio of 1e-12, with a `ConvergenceWarning`; a smoothing and a ridge of at most 1e-11 are
    too small to change that. Increments on which nothing depends, because no row has classes on both sides, are those of the
    event rates, or zero with a ridge. A score ends 700 below the highest of its row: no probability becomes zero.
    What is predicted is g times exp(1e-9 p), so that the order of a row is kept within a step as well.

    For cross-validation a row's fold is drawn by a hash of its numbers: the order of rows and columns does not matter. Rows
    that are equal, up to the order of the columns, and had the same outcome are dealt out to the five folds one by one, and
    a weight of w is w such rows; were they left out together, as many as a tree makes, the rates among the others would be
    far off. Weights that are not whole are divided by their mean. Blocks are found anew without the fold. Few rows can agree
    by chance, those left out with all others: the smoothing is at least 1 / (1 + number of rows), as if there were one more
    row of which nothing is known. So it is where nothing can be left out, as of a single row. Folds are fitted side by side, on
    all processors.

    Annealing is Algorithm 1 of the paper with its settings: from the event rates on, zeros raised to 1e-7, the value of a
    random block is changed by the granularity, up or down. A change for the worse is kept with probability
    exp(200 (change of the log-likelihood, summed over rows)); the search ends after 100,000 changes, or 10,000 without a better
    map. The paper does not say how large a change is. On three forecasts of CIFAR images, 5000 rows fitted, these mean log
    losses result for the first seed, with what is the optimum:

        =====================  ========  ========  ========  ========
        granularity            0.001     0.003     0.01      optimum
        =====================  ========  ========  ========  ========
        DenseNet, 100 classes  0.878208  0.878155  0.878964  0.877675
        LeNet-5, 100 classes   3.781110  3.780998  3.780955  3.780798
        LeNet-5, 10 classes    1.288447  1.288353  1.288354  1.288225
        =====================  ========  ========  ========  ========

    References
    ----------
    Arad, Rosset, Improving multi-class calibration through normalization-aware isotonic techniques, ICML 2025.
    Bertsekas, Projected Newton methods for optimization problems with simple constraints, SIAM Journal on Control and
    Optimization 1982.
    Portugal, Júdice, Vicente, A comparison of block pivoting and interior-point algorithms for linear least squares problems
    with nonnegative variables, Mathematics of Computation 1994.

    Examples
    --------
    >>> from calibrant import NormalizedFlattenedIsotonic, load_digits_forecast, log_loss
    >>> y, prob = load_digits_forecast()
    >>> fitted = NormalizedFlattenedIsotonic(smoothing=0.001).fit(prob, y)
    >>> fitted.gradient_ < 1e-8
    True
    >>> log_loss(y, fitted.predict_proba(prob)) < log_loss(y, prob)
    True
    """

    smoothing: float | Literal["cv"] = parameter(default="cv", least=0.0, most=1.0, hint=OF_SMOOTHING)
    ridge: float = parameter(
        default=0.0, least=0.0, most=HIGHEST_RIDGE, hint="Pass a small one, such as 1e-4, or 0 for none"
    )
    blocks: Blocks = parameter(default="isotonic")
    min_blocks: int = parameter(default=1, least=1, hint="Pass 1 for the blocks of isotonic regression")
    min_block_size: int = parameter(default=1, least=1, hint="Pass 1 for blocks as small as they come")
    solver: Solver = parameter(default="newton")
    granularity: float = parameter(default=0.003, above=0.0, most=1.0, hint="Pass a small one, such as 0.003")
    random_state: int | np.random.Generator | None = parameter(default=0)
    progress: bool = parameter(default=False)
    left_: FloatArray = fitted("n", least=0.0, most=1.0, order="rising", fewest=1)
    log_value_: FloatArray = fitted("n", order="rising")
    n_blocks_: int = fitted()
    smoothing_: float = fitted("", least=0.0, most=1.0)
    loss_: float = fitted()
    gradient_: float = fitted()
    n_iter_: int = fitted()

    def _fit(self, problem: SimplexProblem) -> None:
        must, hint = "ridge must be 0 where solver='annealing'", "Pass solver='newton', or a smoothing"
        require(self.solver != "annealing" or self.ridge <= 0.0, must, value=self.ridge, hint=hint)
        cells = Cells.of(problem)
        blocks_of = partial(self._blocks_of, least=self.min_block_size / problem.weights.rows_per_weight)
        smoothing, ridge = self.smoothing, float(self.ridge)
        if is_word(smoothing, "cv"):
            folds, least = list(folds_of(problem)), 1.0 / (1.0 + problem.weights.rows)
            total = len(folds) * len(SMOOTHINGS)
            with progress_bar(total, show=self.progress, desc="smoothing", unit="fit") as advance:
                smoothing = choose_smoothing(cells, folds, blocks_of, ridge, least, advance)
        penalty = Penalty(float(smoothing), ridge)
        rows, starts, start = blocks_of(cells, penalty)
        if self.solver == "newton":
            solution = solve(rows, penalty, start)
            _say_what_was_found(solution, problem.size)
        else:
            n_rows, rng = problem.weights.rows, np.random.default_rng(self.random_state)
            with progress_bar(MOST_CHANGES, show=self.progress, desc="annealing", unit="change") as advance:
                theta, tried = anneal(rows, penalty.smoothing, start, n_rows, self.granularity, rng, advance)
            solution = Solution(theta, violation(rows, penalty, theta), tried, 0)
        self.n_blocks_, self.smoothing_, self.loss_ = starts.size, penalty.smoothing, rows.loss(solution.theta)
        self.gradient_, self.n_iter_ = solution.gradient, solution.n_iter
        steps = np.append(True, np.diff(solution.theta) > 0)
        self.left_, self.log_value_ = cells.lower[starts[steps]], solution.theta[steps]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        must = f"left_ must have from 1 to n_blocks_={self.n_blocks_} steps"
        require(self.left_.size <= self.n_blocks_, must, value=self.left_.size, hint="Fit anew")

    def _apply(self, forecast: Forecast) -> FloatArray:
        log_value = self.log_value_[np.searchsorted(self.left_[1:], forecast.prob, side="right")]
        return prob_of_scores(log_value + TIE * forecast.prob)

    def _blocks_of(self, cells: Cells, penalty: Penalty, least: float) -> tuple[Comparisons, IntArray, FloatArray]:
        """Return the statistics of the blocks, at which cell each begins, and the values to begin with."""
        mass = cells.mass()
        found = cells.isotonic_starts(mass)
        pooled = Comparisons.of(cells, found)
        rates = pooled.rates(penalty.smoothing)
        if self.blocks == "isotonic" and found.size >= self.min_blocks:
            return pooled, found, rates
        all_cells = np.arange(cells.size)
        starts = all_cells if self.blocks == "distinct" else split_blocks(found, mass, self.min_blocks, least)
        # Fine blocks begin with the solution over coarse ones: few of them part. The paper begins with the rates.
        coarse = rates if self.solver == "annealing" else solve(pooled, penalty, goal=ROUGH).theta
        return Comparisons.of(cells, starts), starts, coarse[block_of_cell(found, cells.size)[starts]]


def _say_what_was_found(solution: Solution, n: int) -> None:
    if solution.n_capped:
        warn(
            f"the likelihood keeps growing as {solution.n_capped} steps of the map become higher: they end at a ratio of "
            "1e12. Pass a higher smoothing, such as 1e-3, or 'cv'.",
            ConvergenceWarning,
        )
    what = "violations of the optimality conditions must lie"
    then = "The map is used as it is: check for extreme weights"
    warn_unless_certain(what, solution.gradient, TOLERANCE, solution.n_iter, n, then)
