"""How many regions an isotonic tree has, and how much it is smoothed, by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray, clipped
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray, as_simplex
from calibrant.binning.distinct_scores import Ordered
from calibrant.solvers.folds import folds_of
from calibrant.solvers.isotonic import isotonic_fit_of
from calibrant.solvers.isotonic_tree import Blocks, IsotonicTree
from calibrant.solvers.path_choice import FoldLosses

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


class IsotonicFolds:
    """Sorted rows of which each is left out once, and what makes a tree of the blocks of the others.

    ``mixture`` is the part of the event rate of the rows fitted in each value.
    """

    def __init__(self, ordered: Ordered, grow: Callable[[Blocks], IsotonicTree], mixture: float) -> None:
        self.grow, self.mixture, self.rows_per_weight = grow, mixture, ordered.rows_per_weight
        self.parts = [(Ordered.of(kept), held) for kept, held in _folds(ordered)]

    def __len__(self) -> int:
        """Return the number of folds."""
        return len(self.parts)

    def losses(self, fold: int, smoothings: Sequence[float], softening: float, *, only_last: bool) -> FoldLosses:
        """Return the losses of the rows that a fold leaves out."""
        kept, held = self.parts[fold]
        tree = self.grow(Blocks.of(kept, softening))
        last = tree.cut.size + 1
        rate = float(tree.blocks.events.sum() / tree.blocks.weight.sum())
        of = [Shrinkage(a / self.rows_per_weight, self.mixture, rate) for a in smoothings]
        return path_loss(tree, held, np.array([last]) if only_last else _stages(last), of)


def _folds(ordered: Ordered) -> Iterator[tuple[BinaryProblem, BinaryProblem]]:
    """Yield what is kept and what is left out of each fold, in the order of the scores: to sort it again is no work."""
    problem = ordered.problem.at(ordered.order)

    def part(weight: FloatArray) -> BinaryProblem:
        some = np.flatnonzero(weight > 0)
        return problem.at(some, problem.weights.like(weight[some]))

    # A part is dealt by its own numbers of rows.
    for fold in folds_of(as_simplex(ordered.problem.weighted(ordered.problem.weight))):
        left_out = fold.left_out[ordered.order]
        yield part(problem.weight - left_out), part(left_out)


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
