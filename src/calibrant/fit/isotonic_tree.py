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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from calibrant._core.arrays import FloatArray, clipped, grouped
from calibrant._core.rows import BinaryProblem, BoolArray, IntArray, as_simplex
from calibrant.binning.bins import Ordered
from calibrant.fit.folds import folds_of
from calibrant.fit.isotonic import FoldLosses, isotonic_fit, isotonic_fit_of

ROUNDING = 1e-9
"""Sums of fractions are rounded: weight that is so near to what is needed, relative to it, is enough."""

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


def isotonic_tree(
    blocks: Blocks, *, max_regions: int | None = None, min_gain: float = 0.0, min_weight: float = 0.0
) -> IsotonicTree:
    """Cut blocks apart, each time where the gain is greatest; of equal ones the lowest region, there the lowest cut.

    Parameters
    ----------
    blocks : Blocks
        What is cut apart.
    max_regions : int, optional
        Regions at the end; all blocks by default.
    min_gain : float, default=0.0
        The least gain of a cut, in [0, 1].
    min_weight : float, default=0.0
        The least weight on each side of a cut. Then the cut is the best of those that leave so much.

    Returns
    -------
    IsotonicTree
        Cuts in the order in which they are made.
    """
    search = _Search.of(blocks, min_weight)
    n_blocks, cuts = blocks.weight.size, list[_Cut]()
    most = n_blocks if max_regions is None else min(max_regions, n_blocks)
    waiting = search.best(0, n_blocks)
    heapify(waiting)
    while waiting and len(cuts) + 1 < most:
        found = heappop(waiting)
        if found.gain < min_gain:
            break
        for part in (*search.best(found.start, found.cut), *search.best(found.cut, found.end)):
            heappush(waiting, part)
        cuts.append(found)
    cut, gain = (
        np.array([made.cut for made in cuts], dtype=np.intp),
        np.array([made.gain for made in cuts], dtype=float),
    )
    return IsotonicTree(blocks, cut, gain)


class _Cut(NamedTuple):
    """The best cut of a region, from block ``start`` to below ``end``; sorted, the one to be made next is the first."""

    priority: float
    start: int
    end: int
    cut: int
    gain: float


class _Search(NamedTuple):
    """Cumulative weight and events of blocks, their rates, and the least weight on a side."""

    weight: FloatArray
    events: FloatArray
    rate: FloatArray
    least: float

    @classmethod
    def of(cls, blocks: Blocks, min_weight: float) -> _Search:
        weight, events = (np.append(0.0, np.cumsum(sums)) for sums in (blocks.weight, blocks.events))
        return cls(weight, events, grouped(blocks.events / blocks.weight), min_weight * (1.0 - ROUNDING))

    def best(self, start: int, end: int) -> list[_Cut]:
        """Return the best cut of a region, if there is any."""
        low, high, first, last = self.weight[start], self.weight[end], start + 1, end - 1
        if self.least > 0.0:
            first = max(first, int(np.searchsorted(self.weight, low + self.least)))
            last = min(last, int(np.searchsorted(self.weight, high - self.least, side="right")) - 1)
        if first > last:
            return []
        rate = (self.events[end] - self.events[start]) / (high - low)
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


class Shrinkage(NamedTuple):
    """What is done to rates: ``added`` weight of each class, then (1 - mixture) rate + mixture prior."""

    added: float
    mixture: float
    prior: float


def fold_losses(
    kept: BinaryProblem,
    held: BinaryProblem,
    most: int | None,
    smoothings: Sequence[float],
    softening: float,
    *,
    only_last: bool,
    grow: Callable[..., IsotonicTree],
    mixture: float,
) -> FoldLosses:
    """Return the losses of the rows that a fold leaves out; ``mixture`` is the part of the event rate in each value."""
    ordered = Ordered.of(kept)
    tree = grow(Blocks.of(ordered, softening), max_regions=most)
    last = tree.cut.size + 1
    rate = float(tree.blocks.events.sum() / tree.blocks.weight.sum())
    of = [Shrinkage(a / ordered.rows_per_weight, mixture, rate) for a in smoothings]
    return path_loss(tree, held, np.array([last]) if only_last else _stages(last), of)


def parts_of(ordered: Ordered) -> list[tuple[BinaryProblem, BinaryProblem]]:
    """Return what is kept and what is left out of each fold, in the order of the scores: to sort it again is no work."""
    problem = ordered.problem.at(ordered.order)

    def part(weight: FloatArray) -> BinaryProblem:
        some = np.flatnonzero(weight > 0)
        return problem.at(some, problem.weights.like(weight[some]))

    # A part is dealt by its own numbers of rows.
    folds = folds_of(as_simplex(ordered.problem.weighted(ordered.problem.weight)))
    left_out = (fold.left_out[ordered.order] for fold in folds)
    return [(part(problem.weight - weight), part(weight)) for weight in left_out]


def _stages(last: int) -> IntArray:
    """Return numbers of regions that are tried, up to the last: each at first, then in steps."""
    regions = np.arange(1, min(last, EACH) + 1)
    if last > EACH:
        n_steps = int(np.log(last / EACH) / np.log(STEP))
        regions = np.union1d(regions, np.append(EACH * STEP ** np.arange(1, n_steps + 1), last).astype(np.intp))
    return regions


def path_loss(tree: IsotonicTree, held: BinaryProblem, stages: IntArray, shrinkages: Sequence[Shrinkage]) -> FoldLosses:
    """Return the log loss of some rows after each of some numbers of regions, with each shrinkage.

    Parameters
    ----------
    tree : IsotonicTree
        Fitted without the held-out rows.
    held : BinaryProblem
        Rows to be forecast; a score takes the value of the last region that begins at or below it.
    stages : ndarray of shape (n_stages,)
        Numbers of regions, increasing.
    shrinkages : sequence of Shrinkage
        What is done to the rates.

    Returns
    -------
    FoldLosses
        Its loss has shape (n_stages, n_shrinkages).
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
    loss = np.concatenate([_losses(sums, begins_at < part[:, None], shrinkages) for part in parts])
    return FoldLosses(stages, loss, float(held.weight.sum()))


def _losses(sums: FloatArray, begins: BoolArray, shrinkages: Sequence[Shrinkage]) -> FloatArray:
    """Return the sum of the log losses at each stage; ``begins`` says for each stage at which blocks a region begins."""
    n_stages = len(begins)
    weight, events, held, held_events = np.add.reduceat(np.tile(sums, n_stages), np.flatnonzero(begins), axis=1)
    stage = np.repeat(np.arange(n_stages), begins.sum(axis=1))
    loss = np.empty((n_stages, len(shrinkages)))
    for j, (added, mixture, prior) in enumerate(shrinkages):
        # Rates of one stage lie above all rates of the stage before: one fit pools all stages, and none across.
        mass = weight + 2.0 * added
        start = isotonic_fit_of(events + added + 2.0 * stage * mass, mass).starts
        rate = np.add.reduceat(events + added, start) / np.add.reduceat(mass, start)
        prob = (1.0 - mixture) * rate + mixture * prior
        occurred, all_ = np.add.reduceat(held_events, start), np.add.reduceat(held, start)
        of_region = -(occurred * np.log(clipped(prob)) + (all_ - occurred) * np.log(clipped(1.0 - prob)))
        loss[:, j] = np.bincount(stage[start], of_region, n_stages)
    return loss
