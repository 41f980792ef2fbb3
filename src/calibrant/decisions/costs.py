"""What decisions cost: a row a class that is true, a column a decision."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import number
from calibrant.decisions.received import numbers_of

MOST_COST = 1e100
"""Cost up to which sums over rows do not overflow."""


def as_cost_matrix(cost_matrix: npt.ArrayLike, n_classes: int) -> FloatArray:
    """Return ``cost[i, j]``, the cost of deciding j when i is true; columns beyond the classes are other decisions."""
    cost = numbers_of("cost_matrix", cost_matrix, "Let cost_matrix[i][j] be the cost of deciding j when i is true")
    if cost.ndim != 2 or len(cost) != n_classes or cost.shape[1] < n_classes:
        raise ValueError(
            f"cost_matrix must have a row a class and a column a decision, shape ({n_classes}, {n_classes}) or wider; got "
            f"shape {cost.shape}. Let cost_matrix[i][j] be the cost of deciding j when i is true."
        )
    if (cost < 0).any():
        i, j = np.argwhere(cost < 0)[0]
        raise ValueError(
            f"cost_matrix must not be negative; got {cost[i, j]:g} at index ({i}, {j}). "
            "Add a number to the whole row: decisions depend on differences within a row alone."
        )
    if cost.max() > MOST_COST:
        i, j = np.argwhere(cost > MOST_COST)[0]
        raise ValueError(
            f"cost_matrix must be at most {MOST_COST:g}; got {cost[i, j]:g} at index ({i}, {j}). "
            "Divide all costs by one number: decisions stay the same."
        )
    cheaper = cost[:, :n_classes] < np.diag(cost)[:, None]
    if cheaper.any():
        i, j = np.argwhere(cheaper)[0]
        raise ValueError(
            f"a right decision must not cost more than a wrong one; got {cost[i, i]:g} for deciding {i} and {cost[i, j]:g} for "
            f"deciding {j} when {i} is true. Rows are the classes that are true, columns the decisions."
        )
    return cost


def as_cost(name: str, value: object) -> float:
    """Return one cost."""
    return number(name, value, least=0.0, hint="Pass 1.0, say; a gain is a cost of the other decision")


def zero_one(n_classes: int) -> FloatArray:
    """Return the costs under which every error costs one."""
    return 1.0 - np.eye(n_classes)


def column_names(classes: npt.NDArray[np.generic], n_decisions: int, extra: object) -> npt.NDArray[np.generic]:
    """Return the name of each decision: of the classes, and of the columns beyond them."""
    wanted = n_decisions - len(classes)
    if extra is None:
        names = ["abstain"] if wanted == 1 else [f"abstain {number}" for number in range(1, wanted + 1)]
    else:
        names = _texts(extra)
    if len(names) != wanted or len({*names, *map(str, classes.tolist())}) != n_decisions:
        raise ValueError(
            f"extra must name each of the {wanted} decisions beyond the classes once; got {names}. "
            "Pass one new name for each further column of cost_matrix."
        )
    return np.array([*classes.tolist(), *names], dtype=object) if names else classes


def _texts(extra: object) -> list[str]:
    """Return one name, or several, as a list."""
    names = [extra] if isinstance(extra, str) else extra.tolist() if isinstance(extra, np.ndarray) else extra
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"extra must be a name, or a sequence of names; got {extra!r}. Pass 'ask', say.")
    return [str(name) for name in names]
