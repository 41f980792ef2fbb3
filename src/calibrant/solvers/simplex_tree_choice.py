"""How many regions a tree of the simplex has, and how much it is smoothed, by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from calibrant._core.links import FloatArray, log_prob_of_prob
from calibrant._core.problem import SimplexProblem
from calibrant.solvers.folds import folds_of
from calibrant.solvers.path_choice import FoldLosses
from calibrant.solvers.simplex_rows import JoinedRows, Rows
from calibrant.solvers.simplex_tree import Grown

ROUGH_SMOOTHING = 1.0
"""The smoothing with which trees grow whose smoothing is to be chosen."""

ROWS_LEFT_OUT = 1 << 14
"""Folds are left out until so many rows have been: large problems leave out one."""


class SimplexFolds:
    """Rows of which each is left out once, what makes a tree of the others, and what makes the values of its nodes.

    ``joined`` are the rows of the problem, equal ones joined. ``grow`` takes rows, a smoothing and a softening; ``value`` takes
    the sums of the classes in each node, and a smoothing.
    """

    def __init__(
        self,
        problem: SimplexProblem,
        joined: JoinedRows,
        grow: Callable[[Rows, float, float], Grown],
        value: Callable[[FloatArray, float], FloatArray],
    ) -> None:
        self.grow, self.value = grow, value
        folds = list(folds_of(problem))
        folds = folds[: math.ceil(ROWS_LEFT_OUT * len(folds) / problem.weights.rows)]
        self.parts = [tuple(joined.weighted(weight) for weight in fold) for fold in folds]

    def __len__(self) -> int:
        """Return the number of folds."""
        return len(self.parts)

    def losses(self, fold: int, smoothings: Sequence[float], softening: float, *, only_last: bool) -> FoldLosses:
        """Return the losses of the rows that a fold leaves out, at all stages."""
        kept, left_out = self.parts[fold]
        grown = self.grow(kept, smoothings[0] if len(smoothings) == 1 else ROUGH_SMOOTHING, softening)
        loss = staged_losses(grown, left_out, [self.value(grown.sums, a) for a in smoothings])
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
