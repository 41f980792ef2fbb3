"""How many regions a tree of the simplex has, and how much it is smoothed, by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from calibrant._core.links import FloatArray, log_prob_of_prob
from calibrant._core.problem import SimplexProblem
from calibrant._core.progress import progress_bar
from calibrant.solvers.folds import folds_of
from calibrant.solvers.path_choice import FoldLosses, chosen, least
from calibrant.solvers.simplex_rows import JoinedRows, Rows
from calibrant.solvers.simplex_tree import Grown

ROUGH_SMOOTHING = 1.0
"""The smoothing with which trees grow whose smoothing is to be chosen."""

ROWS_LEFT_OUT = 1 << 14
"""Folds are left out until so many rows have been: large problems leave out one."""


def choose_stage(
    problem: SimplexProblem,
    joined: JoinedRows,
    grow: Callable[[Rows, float, float], Grown],
    value: Callable[[FloatArray, float], FloatArray],
    smoothings: Sequence[float],
    softenings: Sequence[float],
    *,
    only_last: bool = False,
    progress: bool = False,
) -> tuple[int, float, float]:
    """Return the number of regions, the smoothing and the softening of the least log loss on rows left out.

    Parameters
    ----------
    problem : SimplexProblem
        Rows to choose by.
    joined : JoinedRows
        The same, equal ones joined.
    grow : callable
        Makes a tree of some rows, with a smoothing and a softening.
    value : callable
        Makes the values of nodes from the sums of their classes, with a smoothing.
    smoothings : sequence of float
        Rows of each class that are added to a region. Of equally good ones the first is taken.
    softenings : sequence of float
        Parts of the forecast in each label; likewise.
    only_last : bool, default=False
        Try the whole path of each fold and no earlier stage: all that is chosen then is the smoothing.
    progress : bool, default=False
        Show a bar of the folds.

    Returns
    -------
    n_regions : int
        Regions at which to stop.
    smoothing : float
        One of the smoothings.
    softening : float
        One of the softenings.
    """
    rough = smoothings[0] if len(smoothings) == 1 else ROUGH_SMOOTHING
    folds = list(folds_of(problem))
    folds = folds[: math.ceil(ROWS_LEFT_OUT * len(folds) / problem.n_rows)]
    parts = [tuple(joined.weighted(weight) for weight in fold) for fold in folds]
    choices = []
    with progress_bar(len(folds) * len(softenings), show=progress, desc="cross-validation", unit="fold") as advance:
        for softening in softenings:
            losses = []
            for kept, left_out in parts:
                grown = grow(kept, rough, softening)
                loss = staged_losses(grown, left_out, [value(grown.sums, a) for a in smoothings])
                losses.append(FoldLosses(grown.tree.n_regions, loss, float(left_out.weight.sum())))
                advance(1)
            choices.append(chosen(losses, stops=not only_last))
    best, softening = least(choices, softenings)
    return best.n_regions, smoothings[best.smoothing], softening


def staged_losses(grown: Grown, left_out: Rows, values: Sequence[FloatArray]) -> FloatArray:
    """Return the summed log losses of rows left out after 0, 1, ... splits, a column for each table of the values of nodes."""
    tree, n_classes = grown.tree, left_out.prob.shape[1]
    code = tree.index(left_out.prob) * n_classes + left_out.label
    came = tree.up(np.bincount(code, left_out.weight, tree.n_cells * n_classes).reshape(-1, n_classes))
    of_node = np.column_stack([-(came * log_prob_of_prob(value)).sum(axis=1) for value in values])
    change = [
        of_node[child[child >= 0]].sum(axis=0) - of_node[parent]
        for parent, child in zip(tree.parent, tree.child, strict=True)
    ]
    return np.cumsum([of_node[0], *change], axis=0)
