"""Isotonic regression taken apart: a region of scores is cut in two, then the next, until its blocks are found.

The isotonic recursive partitioning of Luss, Rosset and Shahar (2012), exactly, in the time of one isotonic regression. With W
and E the weight and the events of a region, and w and e those below a cut of it, the cut has the gain

    M = 2 w |E / W - e / w| + 2 (W - w) |E / W - (E - e) / (W - w)| = 4 |w E / W - e|

(two classes count): four times how far the cumulative sum diagram, the points (w, e), lies from the chord of the region. Cuts
below the chord put the lower rate first; only they keep the map increasing. So the best of them has the least e - w E / W:
there a line with the slope of the chord touches the diagram from below, at a corner of its greatest convex minorant (GCM) or,
where the line runs along an edge of it, at the points of that edge, the first of which is a corner. Corners of the GCM are
where blocks of isotonic regression (PAVA) meet: the first of the best cuts never falls inside a block. Between two corners the
GCM of a region is that of the whole, so the same holds of every region that follows.

So blocks are all that has to be looked at. Their rates increase: the best corner is where they pass E / W. Rates of regions are
means of neighbouring slopes of the GCM, and increase as well: no cut has to be refused, and the last map is isotonic
regression. The chord of a part lies below that of the whole: gains never grow from a region to its parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from calibrant._core.arrays import FloatArray, blocks, clipped, grouped, log_prob_of_prob
from calibrant._core.rows import BinaryProblem, BoolArray, IntArray, SimplexProblem, Weights, as_simplex
from calibrant._kernels.simplex_regions import NEVER, NOBODY, Checkpoints, Regions, Rule, SimplexRows, Trial
from calibrant.binning.bins import Ordered
from calibrant.binning.cells import SplitTree
from calibrant.fit.folds import folds_of
from calibrant.fit.isotonic import FoldLosses, isotonic_fit, isotonic_fit_of

DIGITS = 12
"""Gains, as parts of all rows, that agree to so many digits are equal: the lowest region goes first."""


class Blocks(NamedTuple):
    """Blocks of an isotonic regression: the lowest and the highest score, the weight and the events of each."""

    left: FloatArray
    right: FloatArray
    weight: FloatArray
    events: FloatArray

    @property
    def border(self) -> FloatArray:
        """Half way between the scores on both sides of each border, and below the upper one; shape (n_blocks - 1,)."""
        below, above = self.right[:-1], self.left[1:]
        middle = (below + above) / 2.0
        return np.where(middle < above, middle, below)

    @classmethod
    def of(cls, ordered: Ordered, softening: float = 0.0) -> Blocks:
        """Pool the outcomes of a problem, of which so large a part is the score itself."""
        events, steps = ordered.outcome_sum, None
        if softening:
            events = (1.0 - softening) * events + softening * ordered.score * ordered.weight
            steps = isotonic_fit_of(events, ordered.weight)
        steps = steps or isotonic_fit(ordered)
        ends = np.append(steps.starts[1:], ordered.score.size) - 1
        events = np.add.reduceat(events, steps.starts)
        return cls(ordered.score[steps.starts], ordered.score[ends], steps.weight, events)


@dataclass(frozen=True, eq=False)
class IsotonicTree:
    """Cuts between blocks, in the order in which they are made.

    Cut s parts a region below block ``cut[s]``. Its ``gain`` is the M of the notes above over the weight of all rows, from 0 to
    1; gains do not increase.
    """

    blocks: Blocks
    cut: IntArray
    gain: FloatArray

    @property
    def left(self) -> FloatArray:
        """Lowest score above each cut, shape (n_splits,)."""
        return self.blocks.left[self.cut]

    def sums(self) -> tuple[FloatArray, FloatArray]:
        """Return the weight and the events of each region after all cuts, in the order of the scores."""
        starts = np.append(0, np.sort(self.cut))
        return np.add.reduceat(self.blocks.weight, starts), np.add.reduceat(self.blocks.events, starts)


def isotonic_tree(blocks: Blocks, max_regions: int | None = None) -> IsotonicTree:
    """Cut blocks apart, each time where the gain is greatest; of equal ones the lowest region, there the lowest cut.

    Parameters
    ----------
    blocks : Blocks
        What is cut apart.
    max_regions : int, optional
        Regions at the end; all blocks by default.

    Returns
    -------
    IsotonicTree
        Cuts in the order in which they are made.
    """
    search = _Search.of(blocks)
    n_blocks, cuts = blocks.weight.size, list[_Cut]()
    most = n_blocks if max_regions is None else min(max_regions, n_blocks)
    waiting = search.best(0, n_blocks)
    heapify(waiting)
    while waiting and len(cuts) + 1 < most:
        found = heappop(waiting)
        for part in (*search.best(found.start, found.cut), *search.best(found.cut, found.end)):
            heappush(waiting, part)
        cuts.append(found)
    cut = np.array([made.cut for made in cuts], dtype=np.intp)
    gain = np.array([made.gain for made in cuts], dtype=float)
    return IsotonicTree(blocks, cut, gain)


class _Cut(NamedTuple):
    """The best cut of a region, from block ``start`` to below ``end``; sorted, the one to be made next is the first."""

    priority: float
    start: int
    end: int
    cut: int
    gain: float


class _Search(NamedTuple):
    """Cumulative weight and events of blocks, and their rates."""

    weight: FloatArray
    events: FloatArray
    rate: FloatArray

    @classmethod
    def of(cls, blocks: Blocks) -> _Search:
        weight, events = (np.append(0.0, np.cumsum(sums)) for sums in (blocks.weight, blocks.events))
        return cls(weight, events, grouped(blocks.events / blocks.weight))

    def best(self, start: int, end: int) -> list[_Cut]:
        """Return the best cut of a region, if there is any."""
        low, first, last = self.weight[start], start + 1, end - 1
        if first > last:
            return []
        rate = (self.events[end] - self.events[start]) / (self.weight[end] - low)
        # The distance from the chord rises up to this corner and falls after it: the nearest one that may be cut is the best.
        cut = min(max(start + int(np.searchsorted(self.rate[start:end], grouped(rate))), first), last)
        distance = rate * (self.weight[cut] - low) - (self.events[cut] - self.events[start])
        gain = max(4.0 * float(distance / self.weight[-1]), 0.0)
        return [_Cut(-round(gain, DIGITS), start, end, cut, gain)]


def pooled(weight: FloatArray, events: FloatArray, added: float) -> tuple[IntArray, FloatArray]:
    """Add so much weight of each class to each region; pool neighbours whose rates are out of order then.

    Parameters
    ----------
    weight, events : ndarray of shape (n_regions,)
        Sums of regions in the order of their scores; rates increase.
    added : float
        Weight that is added.

    Returns
    -------
    start : ndarray of shape (n_values,)
        The region at which each value begins.
    value : ndarray of shape (n_values,)
        Rates, not decreasing.
    """
    if added <= 0.0:
        return np.arange(weight.size), np.maximum.accumulate(events / weight)
    again = isotonic_fit_of(events + added, weight + 2.0 * added)
    # Rates of neighbours that were found apart may be equal but for rounding.
    return again.starts, np.maximum.accumulate(again.rate)


# How many regions an isotonic tree has, and how much it is smoothed, by cross-validation


EACH = 64
"""Up to so many regions each number of them is tried, beyond it steps of ``STEP``."""

STEP = 1.04
AT_ONCE = 1 << 20
"""Values looked at together."""


def fold_losses(
    kept: BinaryProblem,
    held: BinaryProblem,
    most: int | None,
    smoothings: Sequence[float],
    softening: float,
    *,
    only_last: bool,
) -> FoldLosses:
    """Return the losses of the rows that a fold leaves out."""
    ordered = Ordered.of(kept)
    tree = isotonic_tree(Blocks.of(ordered, softening), most)
    last = tree.cut.size + 1
    added = [a / ordered.problem.weights.rows_per_weight for a in smoothings]
    return path_loss(tree, held, np.array([last]) if only_last else _stages(last), added)


def parts_of(ordered: Ordered) -> list[tuple[BinaryProblem, BinaryProblem]]:
    """Return what is kept and what is left out of each fold, in the order of the scores: to sort it again is no work."""
    problem = ordered.problem.at(ordered.order)

    def part(weight: FloatArray) -> BinaryProblem:
        some = np.flatnonzero(weight > 0)
        return problem.at(some, problem.weights.like(weight[some]))

    # A part is dealt by its own numbers of rows, and by scores, which are the same of one column and of two.
    folds = folds_of(as_simplex(replace(ordered.problem, logit=None).weighted(ordered.problem.weight)))
    left_out = (fold.left_out[ordered.order] for fold in folds)
    return [(part(problem.weight - weight), part(weight)) for weight in left_out]


def _stages(last: int) -> IntArray:
    """Return numbers of regions that are tried, up to the last: each at first, then in steps."""
    regions = np.arange(1, min(last, EACH) + 1)
    if last > EACH:
        n_steps = int(np.log(last / EACH) / np.log(STEP))
        regions = np.union1d(regions, np.append(EACH * STEP ** np.arange(1, n_steps + 1), last).astype(np.intp))
    return regions


def path_loss(tree: IsotonicTree, held: BinaryProblem, stages: IntArray, smoothings: Sequence[float]) -> FoldLosses:
    """Return the log loss of some rows after each of some numbers of regions, with each smoothing.

    Parameters
    ----------
    tree : IsotonicTree
        Fitted without the held-out rows.
    held : BinaryProblem
        Rows to be forecast; a score takes the value of the last region that begins at or below it.
    stages : ndarray of shape (n_stages,)
        Numbers of regions, increasing.
    smoothings : sequence of float
        Weights of each class that are added to each region.

    Returns
    -------
    FoldLosses
        Its loss has shape (n_stages, n_smoothings).
    """
    blocks, n_blocks = tree.blocks, tree.blocks.weight.size
    at = np.searchsorted(blocks.left[1:], held.score, side="right")
    held_sums = (np.bincount(at, weight, n_blocks) for weight in (held.weight, held.weight * held.outcome))
    sums = np.stack([blocks.weight, blocks.events, *held_sums])
    # A region begins at a block from the stage on that has one region more than cuts were made before.
    begins_at = np.full(n_blocks, np.iinfo(np.intp).max)
    begins_at[np.append(0, tree.cut)] = np.arange(tree.cut.size + 1)
    step = max(1, AT_ONCE // n_blocks)
    parts = [stages[start : start + step] for start in range(0, stages.size, step)]
    loss = np.concatenate([_losses(sums, begins_at < part[:, None], smoothings) for part in parts])
    return FoldLosses(stages, loss, float(held.weight.sum()))


def _losses(sums: FloatArray, begins: BoolArray, smoothings: Sequence[float]) -> FloatArray:
    """Return the sum of the log losses at each stage; ``begins`` says for each stage at which blocks a region begins."""
    n_stages = len(begins)
    weight, events, held, held_events = np.add.reduceat(np.tile(sums, n_stages), np.flatnonzero(begins), axis=1)
    stage = np.repeat(np.arange(n_stages), begins.sum(axis=1))
    loss = np.empty((n_stages, len(smoothings)))
    for j, added in enumerate(smoothings):
        # Rates of one stage lie above all rates of the stage before: one fit pools all stages, and none across.
        mass = weight + 2.0 * added
        start = isotonic_fit_of(events + added + 2.0 * stage * mass, mass).starts
        prob = np.add.reduceat(events + added, start) / np.add.reduceat(mass, start)
        occurred, all_ = np.add.reduceat(held_events, start), np.add.reduceat(held, start)
        of_region = -(occurred * np.log(clipped(prob)) + (all_ - occurred) * np.log(clipped(1.0 - prob)))
        loss[:, j] = np.bincount(stage[start], of_region, n_stages)
    return loss


# Growth of a tree of splits of the simplex, of which each leaves the map monotone (Berta, Bach, Jordan 2024, Algorithm 2)


# Rows of a problem of the simplex, equal ones joined


class Rows(SimplexRows):
    """Forecasts of shape (n, K), in the order of their columns, the true class and the weight, in rows."""

    __slots__ = ()

    def of(self, some: IntArray) -> Rows:
        """Return some of the rows."""
        return Rows(self.prob[some], self.label[some], self.weight[some])

    def weighted(self, weight: FloatArray) -> Rows:
        """Return the rows that have a weight, with this weight."""
        return self._replace(weight=weight).of(np.flatnonzero(weight > 0))

    def softened(self, part: float) -> Rows:
        """Let each row count 1 - part for the true class, and part p_k for each class k."""
        if not part:
            return self
        n, n_classes = self.prob.shape
        share = part * self.prob
        share[np.arange(n), self.label] += 1.0 - part
        weight = (self.weight[:, None] * share).ravel()
        label = np.tile(np.arange(n_classes, dtype=np.int64), n)
        return Rows(np.repeat(self.prob, n_classes, axis=0), label, weight).of(np.flatnonzero(weight > 0))


class JoinedRows(NamedTuple):
    """Rows of which no two have the same forecast and class, and which of them each row of the problem is."""

    rows: Rows
    group: IntArray
    rows_per_weight: float

    @classmethod
    def of(cls, problem: SimplexProblem) -> JoinedRows:
        """Join the rows of a problem, so that a weight is the same as repetition to the last bit."""
        table = np.column_stack([problem.prob, problem.label])
        table, group = np.unique(table, axis=0, return_inverse=True)
        unit, label = problem.weights.rows_per_weight, table[:, -1].astype(np.int64)
        rows = Rows(np.ascontiguousarray(table[:, :-1]), label, np.empty(0))
        return cls(rows._replace(weight=_summed(group, problem.weight, unit)), group, unit)

    def weighted(self, weight: FloatArray) -> Rows:
        """Return the rows with other weights of the rows of the problem; those without weight are left out."""
        return self.rows.weighted(_summed(self.group, weight, self.rows_per_weight))


def _summed(group: IntArray, weight: FloatArray, unit: float) -> FloatArray:
    return np.bincount(group, weight).astype(np.float64, copy=False) * unit


# Points around which a region of the simplex may be split


BORDER = 1e-9
"""A point of the grid that is nearer than this to a border belongs to the regions on both sides."""

AT_A_TIME = 1 << 25
"""So many rows are put on a side of a candidate until compiled code comes back, so that a fit can be interrupted."""

FAR = 3.0
"""A class whose coordinate of gamma is this much, where those of others are at most one, has no forecast on its side."""

NO_POINTS = np.empty((0, 0))

FEW_CLASSES = 5
"""Of more classes there are too many sets."""


class Measured(NamedTuple):
    """Candidates of shape (c, K), and the quality M of each for a region; -1 of one that cannot be taken."""

    gamma: FloatArray
    gain: FloatArray


class Candidates:
    """Points that are the same whatever is split. One on a border is a candidate of all regions that it borders.

    Those of a side are found when its region has been split.
    """

    def __init__(self, gamma: FloatArray = NO_POINTS) -> None:
        self.gamma = gamma

    def of_simplex(self, rows: Rows) -> Measured:
        """Return the candidates of the whole simplex."""
        return measured(rows, self.gamma)

    def of_side(self, rows: Rows, before: Measured, gamma: FloatArray, side: int) -> Measured:
        """Return the candidates on a side of a region, or on its border: those of the region, which was split around gamma."""
        over = before.gamma - gamma
        return measured(rows, before.gamma[over[:, side] >= over.max(axis=1) - BORDER])


class DataCandidates(Candidates):
    """Forecasts in the region, mid-points of two, and forecasts around which only some of the classes are parted.

    All of them, or within the budget a quarter forecasts, drawn where there are more; a quarter of the last kind, drawn too;
    and for the rest mid-points of all pairs of the best of the first.
    """

    def __init__(self, budget: int, rng: np.random.Generator) -> None:
        self.budget = budget
        self.rng = rng

    def of_simplex(self, rows: Rows) -> Measured:
        """Return candidates made of the forecasts of some rows."""
        point = distinct(rows.prob)
        n, kept = len(point), _some_classes(point.shape[1])
        if n + n * (n - 1) // 2 + n * len(kept) <= self.budget:
            partly = _of_some(point, kept, np.arange(n * len(kept)))
            return measured(rows, np.vstack([point, _midpoints(point), partly]))
        share = max(1, self.budget // 4)
        tried = measured(rows, point[self._drawn(n, share)])
        partly = _of_some(point, kept, self._drawn(n * len(kept), share))
        room = max(0, self.budget - len(tried.gamma) - len(partly))
        n_best = (1 + isqrt(1 + 8 * room)) // 2  # so many have that many pairs
        best = tried.gamma[np.argsort(-tried.gain, kind="stable")[:n_best]]
        others = measured(rows, np.vstack([_midpoints(best), partly]))
        return Measured(np.vstack([tried.gamma, others.gamma]), np.append(tried.gain, others.gain))

    def of_side(self, rows: Rows, before: Measured, gamma: FloatArray, side: int) -> Measured:
        """Return candidates made of the forecasts on the side; those of the region are not looked at again."""
        return self.of_simplex(rows)

    def _drawn(self, n: int, most: int) -> IntArray:
        """Draw numbers below n, at most so many, in order."""
        return np.arange(n) if n <= most else np.sort(self.rng.choice(n, most, replace=False))


class BlockCandidates(Candidates):
    """The borders of the blocks of isotonic regression, for two classes: the best cut is always one of them."""

    def of_simplex(self, rows: Rows) -> Measured:
        """Return points half way between blocks."""
        score = np.clip((1.0 + rows.prob[:, 1] - rows.prob[:, 0]) / 2.0, 0.0, 1.0)
        border = Blocks.of(Ordered.of(BinaryProblem(score, rows.label == 1, Weights(rows.weight)))).border
        return measured(rows, np.column_stack([1.0 - border, border]))


class ExactCandidates(Candidates):
    """A point amid each set of points that part the forecasts of a region alike, for three classes: the best split is one."""

    def of_simplex(self, rows: Rows) -> Measured:
        """Return one point for each way to part the forecasts of some rows, equal ones of which are neighbours."""
        from calibrant._kernels.irp import splits_of_three

        starts = np.flatnonzero(first_of_equal(rows.prob))
        sums = np.add.reduceat(rows.weight[:, None] * np.eye(3)[rows.label], starts)
        most = (starts.size + 2) * (starts.size + 1) // 2 - 3  # ways in which a point parts forecasts of three classes
        gamma, gain = np.empty((most, 3)), np.empty(most)
        found = splits_of_three(rows.prob[starts], sums, gamma, gain)
        return Measured(gamma[:found], gain[:found])

    def of_side(self, rows: Rows, before: Measured, gamma: FloatArray, side: int) -> Measured:
        """Return the points of the forecasts on the side."""
        return self.of_simplex(rows)


def measured(rows: Rows, gamma: FloatArray) -> Measured:
    """Return candidates with their quality."""
    from calibrant._kernels.irp import gains

    gain, gamma = np.empty(len(gamma)), np.ascontiguousarray(gamma)
    for part in blocks(len(gamma), len(rows.label), AT_A_TIME):
        gains(*rows, gamma[part], gain[part])
    return Measured(gamma, gain)


def distinct(prob: FloatArray) -> FloatArray:
    """Return the distinct ones of forecasts of which equal ones are neighbours."""
    return np.asarray(prob[first_of_equal(prob)])


def first_of_equal(prob: FloatArray) -> BoolArray:
    """Return which forecasts are not equal to the one before."""
    return np.append(True, (prob[1:] != prob[:-1]).any(axis=1))


def _midpoints(point: FloatArray) -> FloatArray:
    first, second = np.triu_indices(len(point), 1)
    return (point[first] + point[second]) / 2.0


def _some_classes(n_classes: int) -> BoolArray:
    """Return which classes are parted: all sets of two or more but that of all; of many classes the pairs."""
    most = n_classes if n_classes <= FEW_CLASSES else 3
    sets = [some for size in range(2, most) for some in combinations(range(n_classes), size)]
    kept = np.zeros((len(sets), n_classes), dtype=bool)
    for number, some in enumerate(sets):
        kept[number, list(some)] = True
    return kept


def _of_some(point: FloatArray, kept: BoolArray, which: IntArray) -> FloatArray:
    """Return points around which some classes are parted as around a forecast, and no forecast is on the side of another.

    These lie outside the simplex. Number n stands for forecast n // len(kept) and the set of classes n % len(kept).
    """
    number, some = np.divmod(which, max(1, len(kept)))
    gamma: FloatArray = np.where(kept[some], point[number], FAR)
    gamma -= (gamma.sum(axis=1, keepdims=True) - 1.0) / point.shape[1]
    return gamma


TIE = 1e-12
"""Qualities that differ by no more than this part of all weight are equal: the candidate that comes first is taken."""

SLACK = 1e-12
"""Values out of order by no more than this are so by rounding."""

BUDGET = 1 << 24
"""Rows that are looked at until compiled code comes back, so that a fit can be interrupted."""


class Grown(NamedTuple):
    """A tree, the weight of each class in each node, shape (n_nodes, K), and the quality M of each split over all weight."""

    tree: SplitTree
    sums: FloatArray
    gain: FloatArray


class _Open(NamedTuple):
    """What may still become of a region: its candidates, those that are not out for ever, the best first, and witnesses."""

    candidates: Measured
    order: IntArray
    witness: IntArray

    @property
    def promise(self) -> float:
        """The greatest quality."""
        return float(self.candidates.gain[self.order[0]]) if self.order.size else 0.0


def grow(rows: Rows, candidates: Candidates, most: int | None, smoothing: float) -> Grown:
    """Split the region and at the point of the greatest quality, of those that leave the map monotone, until there is none.

    A split that would leave more than ``most`` regions ends the growth. Values are compared with ``smoothing`` rows of each
    class added.
    """
    tree = _Growing(rows, candidates, most, smoothing)
    while (best := tree.best()) is not None and tree.split(*best):
        pass
    return tree.grown()


class _Growing:
    """A tree that grows. Arrays of nodes and of checkpoints have room to spare."""

    def __init__(self, rows: Rows, candidates: Candidates, most: int | None, smoothing: float) -> None:
        n, n_classes = rows.prob.shape
        self.rows, self.candidates, self.most = rows, candidates, most
        self.total = float(rows.weight.sum())
        self.gamma: list[FloatArray] = []
        self.child: list[IntArray] = []
        self.gain: list[float] = []
        self.parent: list[int] = []
        self.open: dict[int, _Open] = {}
        self.n_nodes, self.n_checks = 1, 0
        at, differences = np.zeros(1, dtype=np.int64), np.zeros((1, n_classes, n_classes))
        self.sums = np.zeros((1, n_classes))
        self.regions = Regions(
            order=np.arange(n),
            starts=at,
            ends=at.copy(),
            value=self.sums.copy(),
            low=differences,
            high=differences.copy(),
            alive=np.zeros(1, dtype=bool),
        )
        self.checks = Checkpoints(np.empty((0, n_classes)), np.zeros((0, 1), dtype=np.uint32))
        self.rule = Rule(float(smoothing), SLACK, BUDGET)
        self._begin(0, 0, n)
        self.open[0] = self._best_first(candidates.of_simplex(rows))

    def best(self) -> tuple[int, int] | None:
        """Return the region that is split next, and the number of its candidate."""
        found = None
        found_gain = TIE * self.total
        live = np.flatnonzero(self.regions.alive)
        promise = np.array([self.open[v].promise for v in live.tolist()])
        for v in live[np.argsort(-promise, kind="stable")].tolist():
            own = self.open[v]
            # Of regions whose gains are equal the first is split.
            before = found is not None and v < found[0]
            least = found_gain - TIE * self.total if before else found_gain + TIE * self.total * (found is not None)
            better = own.order[own.candidates.gain[own.order] > least]
            if better.size and (c := self._first_monotone(v, better, live)) >= 0:
                found, found_gain = (v, c), float(own.candidates.gain[c])
            # Candidates whose own sides are at odds are out for ever.
            self.open[v] = own._replace(order=own.order[(own.witness[own.order] != NEVER).any(axis=1)])
        return found

    def split(self, v: int, c: int) -> bool:
        """Split a region around one of its candidates, unless that makes too many regions."""
        from calibrant._kernels.irp import parted

        before = self.open[v].candidates
        gamma, regions, n_classes = before.gamma[c].copy(), self.regions, self.checks.gamma.shape[1]
        begins = np.empty(n_classes + 1, dtype=np.int64)
        parted(self.rows.prob, regions.order, regions.starts[v], regions.ends[v], gamma, begins)
        sides = np.flatnonzero(np.diff(begins))
        if self.most is not None and int(regions.alive.sum()) + sides.size - 1 > self.most:
            return False
        child = np.full(n_classes, -1, dtype=np.int64)
        child[sides] = self.n_nodes + np.arange(sides.size)
        self._add_split(v, gamma, child, float(before.gain[c]))
        for k, node in zip(sides.tolist(), child[sides].tolist(), strict=True):
            self._begin(node, begins[k], begins[k + 1])
            rows = self.rows.of(regions.order[begins[k] : begins[k + 1]])
            self.open[node] = self._best_first(self.candidates.of_side(rows, before, gamma, k))
        self._note(0, child[sides])
        self._note(self.n_checks - 1, np.flatnonzero(self.regions.alive))
        return True

    def grown(self) -> Grown:
        """Return what has grown."""
        n_splits, n_classes = len(self.gamma), self.checks.gamma.shape[1]
        split = np.full(self.n_nodes, -1, dtype=np.int64)
        split[self.parent] = np.arange(n_splits)
        tree = SplitTree(
            np.array(self.gamma).reshape(n_splits, n_classes),
            np.array(self.child, dtype=np.int64).reshape(n_splits, n_classes),
            split,
        )
        return Grown(tree, self.sums[: self.n_nodes].copy(), np.array(self.gain) / self.total)

    def _first_monotone(self, v: int, tried: IntArray, live: IntArray) -> int:
        from calibrant._kernels.irp import first_monotone

        own, found, at = self.open[v], -1, 0
        checks = Checkpoints(self.checks.gamma[: self.n_checks], self.checks.met)
        while found < 0 and at < tried.size:
            trial = Trial(own.candidates.gamma, tried[at:], own.witness)
            found, n_tried = first_monotone(self.rows, self.regions, live, checks, v, trial, self.rule)
            at += n_tried
        return int(found)

    def _best_first(self, found: Measured) -> _Open:
        """Order candidates by their quality; of those that agree to rounding the first comes first."""
        order = np.argsort(-found.gain, kind="stable")
        order = order[found.gain[order] > TIE * self.total]
        falls = np.append(False, np.diff(found.gain[order]) < -TIE * self.total)[: order.size]
        order = order[np.lexsort((order, np.cumsum(falls)))]
        return _Open(found, order, np.full((len(found.gain), 2), NOBODY))

    def _add_split(self, v: int, gamma: FloatArray, child: IntArray, gain: float) -> None:
        self.gamma.append(gamma)
        self.child.append(child)
        self.gain.append(gain)
        self.parent.append(v)
        self.n_checks += 1
        self.n_nodes += int((child >= 0).sum())
        points, met, regions = self.checks.gamma, self.checks.met, self.regions
        if self.n_checks > len(points):
            points, met = _doubled(points, self.n_checks), _doubled(met, self.n_checks)
        points[self.n_checks - 1] = gamma
        if self.n_nodes > regions.alive.size:
            self.sums = _doubled(self.sums, self.n_nodes)
            self.regions = Regions._make([regions.order, *(_doubled(table, self.n_nodes) for table in regions[1:])])
            met = np.ascontiguousarray(_doubled(met.T, self.n_nodes).T)
        self.checks = Checkpoints(points, met)
        self.regions.alive[v] = False
        del self.open[v]

    def _begin(self, v: int, start: int, end: int) -> None:
        """Make a region of some rows, and note what is known of it."""
        from calibrant._kernels.irp import differences

        regions, n_classes = self.regions, self.checks.gamma.shape[1]
        of = regions.order[start:end]
        sums = np.bincount(self.rows.label[of], self.rows.weight[of], n_classes)
        added = self.rule.add
        regions.starts[v], regions.ends[v], regions.alive[v] = start, end, True
        self.sums[v], regions.value[v] = sums, (sums + added) / (sums.sum() + n_classes * added)
        differences(self.rows.prob, of, regions.low[v], regions.high[v])

    def _note(self, first: int, nodes: IntArray) -> None:
        """Note which sides of the checkpoints from one on the nodes meet."""
        from calibrant._kernels.irp import note_sides

        n_rows = int((self.regions.ends[nodes] - self.regions.starts[nodes]).sum())
        step = max(1, BUDGET // (n_rows + nodes.size))
        for start in range(first, self.n_checks, step):
            checks = Checkpoints(self.checks.gamma[: min(start + step, self.n_checks)], self.checks.met)
            note_sides(self.rows, self.regions, checks, start, nodes)


def _doubled(table: Any, least: int) -> Any:
    """Return a table of twice as many rows, and at least so many, the new ones zero."""
    room = np.zeros((max(2 * len(table), least) - len(table), *table.shape[1:]), dtype=table.dtype)
    return np.concatenate([table, room])


# How many regions a tree of the simplex has, and how much it is smoothed, by cross-validation


ROUGH_SMOOTHING = 1.0
"""The smoothing with which trees grow whose smoothing is to be chosen."""

ROWS_LEFT_OUT = 1 << 14
"""Folds are left out until so many rows have been: large problems leave out one."""


def parts_of_simplex(problem: SimplexProblem, joined: JoinedRows) -> list[tuple[Rows, Rows]]:
    """Return the rows that each fold keeps, and those that it leaves out, equal ones joined."""
    folds = list(folds_of(problem))
    folds = folds[: math.ceil(ROWS_LEFT_OUT * len(folds) / problem.weights.rows)]
    return [(joined.weighted(kept), joined.weighted(left_out)) for kept, left_out in folds]


def fold_losses_of_simplex(
    kept: Rows,
    left_out: Rows,
    most: int | None,
    smoothings: Sequence[float],
    softening: float,
    *,
    only_last: bool,
    grow: Callable[..., Grown],
    value: Callable[[FloatArray, float], FloatArray],
) -> FoldLosses:
    """Return the losses of the rows that a fold leaves out, at all stages.

    ``grow`` makes a tree of rows, a smoothing and a softening; ``value`` takes the sums of the classes in each node, and a
    smoothing.
    """
    grown = grow(kept, smoothings[0] if len(smoothings) == 1 else ROUGH_SMOOTHING, softening, most=most)
    loss = staged_losses(grown, left_out, [value(grown.sums, a) for a in smoothings])
    return FoldLosses(grown.tree.n_regions, loss, float(left_out.weight.sum()))


def staged_losses(grown: Grown, left_out: Rows, values: Sequence[FloatArray]) -> FloatArray:
    """Return the summed log losses of rows left out after 0, 1, ... splits, a column for each table of the values of nodes."""
    tree, n_classes = grown.tree, left_out.prob.shape[1]
    code = tree.index(left_out.prob) * n_classes + left_out.label
    occurred = tree.up(np.bincount(code, left_out.weight, tree.n_cells * n_classes).reshape(-1, n_classes))
    of_node = np.column_stack([-(occurred * log_prob_of_prob(value)).sum(axis=1) for value in values])
    change = [
        of_node[child[child >= 0]].sum(axis=0) - of_node[parent]
        for parent, child in zip(tree.parent, tree.child, strict=True)
    ]
    return np.cumsum([of_node[0], *change], axis=0)
