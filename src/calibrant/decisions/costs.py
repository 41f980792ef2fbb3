"""Cost matrices: a row for each true class, a column for each decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import first
from calibrant._core.links import FloatArray
from calibrant._core.parameters import each, number, require
from calibrant.decisions.inputs import numbers_of

MOST_COST = 1e100
"""Cost up to which sums over rows do not overflow."""


def as_cost_matrix(cost_matrix: npt.ArrayLike, n_classes: int) -> FloatArray:
    """Return ``cost[i, j]``, the cost of deciding j when i is true; columns beyond the classes are other decisions."""
    meaning = "Let cost_matrix[i][j] be the cost of deciding j when i is true"
    cost = numbers_of("cost_matrix", cost_matrix, meaning)
    require(
        cost.ndim == 2 and len(cost) == n_classes <= cost.shape[-1],
        f"cost_matrix must have a row a class and a column a decision, shape ({n_classes}, {n_classes}) or wider",
        got=f"shape {cost.shape}",
        hint=meaning,
    )
    in_a_row = "Add a number to the whole row: decisions depend on differences within a row alone"
    each("cost_matrix", cost, cost >= 0, "not be negative", hint=in_a_row)
    unit = "Divide all costs by one number: decisions stay the same"
    each("cost_matrix", cost, cost <= MOST_COST, f"be at most {MOST_COST:g}", hint=unit)
    i, j = first(cost[:, :n_classes] < np.diag(cost)[:, None])  # (0, 0), which fits, where all do
    require(
        cost[i, j] >= cost[i, i],
        "a right decision must not cost more than a wrong one",
        got=f"{cost[i, i]:g} for deciding {i} and {cost[i, j]:g} for deciding {j} when {i} is true",
        hint="Rows are the classes that are true, columns the decisions",
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
    require(
        len(names) == wanted and len({*names, *map(str, classes.tolist())}) == n_decisions,
        f"extra must name each of the {wanted} decisions beyond the classes once",
        value=names,
        hint="Pass one new name for each further column of cost_matrix",
    )
    return np.array([*classes.tolist(), *names], dtype=object) if names else classes


def _texts(extra: object) -> list[str]:
    """Return one name, or several, as a list."""
    names: Any = [extra] if isinstance(extra, str) else extra.tolist() if isinstance(extra, np.ndarray) else extra
    fits = isinstance(names, Sequence) and all(isinstance(name, str) for name in names)
    must = "extra must be a name, or a sequence of names"
    require(fits, must, value=extra, hint="Pass 'ask', say", error=TypeError)
    return [str(name) for name in names]
