"""The label smoothing of the least log loss on rows left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant._core.progress import Advance
from calibrant._core.threads import n_processors, side_by_side
from calibrant.solvers.conditional_logit import Penalty, solve
from calibrant.solvers.folds import Fold
from calibrant.solvers.nafir_blocks import Cells
from calibrant.solvers.nafir_comparisons import CAP, Comparisons

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

    Folds are solved side by side, each from the strongest smoothing on. The result does not depend on how many processors
    there are.
    """
    if not folds:
        return least
    of_folds = [_losses(cells, fold, blocks_of, ridge) for fold in folds]
    losses = np.array(_all_of(of_folds, advance)).sum(axis=0)
    # Losses that agree to rounding are equal.
    return max(SMOOTHINGS[int(np.argmax(losses <= losses.min() * (1.0 + 1e-9)))], least)


def _losses(cells: Cells, fold: Fold, blocks_of: BlocksOf, ridge: float) -> Iterator[float]:
    """Fit what is kept with each smoothing in turn, and yield the log loss of the rest, clipped as probabilities are.

    The map may step at the true classes of the kept rows alone, not at those of the held-out rows.
    """
    of_fold = [replace(cells, weight=weight).of_rows(weight > 0) for weight in fold]
    kept, others = (part.joined(of_fold[0].event_starts()) for part in of_fold)
    rows, starts, theta = blocks_of(kept, Penalty(SMOOTHINGS[0], ridge))
    left_out, weight = Comparisons.of(others, starts), others.weight
    for smoothing in SMOOTHINGS:
        theta = solve(rows, Penalty(smoothing, ridge), theta, goal=ROUGH).theta
        yield float(weight @ np.minimum(left_out.losses(theta), CAP))


def _all_of(folds: Sequence[Iterator[float]], advance: Advance) -> list[list[float]]:
    """Draw all values of each fold, of as many folds at a time as there are processors.

    One value is drawn at a time, so that an interruption does not wait for a whole fold.
    """
    found: list[list[float]] = [[] for _ in folds]

    def drawn(fold: int) -> float | None:
        return next(folds[fold], None)

    def then(fold: int, loss: float | None) -> tuple[int, ...]:
        if loss is None:
            return ()
        found[fold].append(loss)
        advance(1)
        return (fold,)

    side_by_side(drawn, range(len(folds))[::-1], then, n_processors())
    return found
