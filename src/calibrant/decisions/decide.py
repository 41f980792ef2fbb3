"""Decisions of least expected cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant._core.result import Result
from calibrant._core.rows import Rows
from calibrant._core.table import Table
from calibrant._core.validation import Input
from calibrant.decisions.costs import as_cost_matrix, column_names
from calibrant.decisions.inputs import classes_of, received
from calibrant.decisions.threshold import threshold_of

TIE = 1e-13
"""Expected costs that differ by less, relative to themselves, are the same: rounding moves them about."""


@dataclass(frozen=True, eq=False)
class Decisions(Result):
    """What to decide in each row, and what it is expected to cost.

    Attributes
    ----------
    decision : ndarray of shape (n,)
        Column of the cost matrix.
    expected_cost : ndarray of shape (n,)
        Its expected cost under the predicted probabilities.
    names : ndarray of shape (n_decisions,)
        Name of each decision: the classes, then what else can be decided.
    cost_matrix : ndarray of shape (n_classes, n_decisions)
        Cost of deciding the column when the row is true.
    """

    _table = Table("forecast", "decision=_text", "expected_cost")

    decision: IntArray
    expected_cost: FloatArray
    names: npt.NDArray[np.generic]
    cost_matrix: FloatArray

    @property
    def named(self) -> npt.NDArray[np.generic]:
        """Name of the decision in each row, shape (n,)."""
        named: npt.NDArray[np.generic] = self.names[self.decision]
        return named

    @property
    def _text(self) -> npt.NDArray[np.generic]:
        """The names in a data frame: those of different kinds are written as text."""
        return self.named.astype(str) if self.named.dtype == object else self.named

    def __repr__(self) -> str:
        count = np.bincount(self.decision, minlength=self.names.size)
        most = [f"{name}: {number}" for name, number in zip(self.names.tolist(), count.tolist(), strict=True) if number]
        shown = ", ".join(most[:5]) + (", ..." if len(most) > 5 else "")
        return f"Decisions({shown}; expected cost {self.expected_cost.mean():.4g})"


def decide(
    y_prob: npt.ArrayLike,
    cost_matrix: npt.ArrayLike,
    *,
    extra: str | Sequence[str] | None = None,
    labels: Sequence[Any] | None = None,
    input: Input = "probability",
    rows: Rows = "as-given",
) -> Decisions:
    """Choose the decision of least expected cost in each row.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Calibrated probabilities; one column is the probability of the event, class 1 of 2.
    cost_matrix : array-like of shape (n_classes, n_decisions)
        ``cost_matrix[i][j]`` is the cost of deciding j when class i is true. The first columns decide for the classes, in their
        order. Columns beyond them are other decisions, such as to abstain, or to ask an expert.
    extra : str or sequence of str, optional
        Names of the columns beyond the classes; by default ``"abstain"``.
    labels : sequence of length n_classes, optional
        The class of each column; by default the names of the columns of a data frame if they are words, else 0, 1, ....
    input : {"probability", "logit"}, default="probability"
        What ``y_prob`` holds.
    rows : {"as-given", "normalize", "percent"}, default="as-given"
        Check that rows sum to one, divide them by their sums, or divide percent by 100: see `DataOptions`.

    Returns
    -------
    Decisions
        A result with ``decision``, ``expected_cost``, ``named`` and ``to_frame()``.

    Raises
    ------
    ValueError
        If the matrix has another shape, a negative cost, or a right decision that costs more than a wrong one.

    Notes
    -----
    The expected cost of deciding j is the sum over classes i of p_i cost[i, j]. Of decisions that cost the same the first is
    taken, except that a 2 x 2 matrix follows `optimal_threshold`: the event, class 1 of 2, is decided from the threshold on.
    Costs are the same if they differ by less than 1e-13 of themselves, so that rounding decides nothing.

    An abstention of cost c, where every error costs one, is taken where no class has a probability of 1 - c or more (Chow's
    rule). At 1 - c the class is decided; where c is so small that 1 - c has lost its digits, below 0.001, what is decided
    there is left to rounding.

    References
    ----------
    Chow, On optimum recognition error and reject tradeoff, IEEE Transactions on Information Theory 1970.
    Elkan, The foundations of cost-sensitive learning, IJCAI 2001.

    Examples
    --------
    >>> from calibrant import decide
    >>> found = decide([0.05, 0.5, 0.95], [[0, 1, 0.2], [1, 0, 0.2]])
    >>> found
    Decisions(0: 1, 1: 1, abstain: 1; expected cost 0.1)
    >>> found.named.tolist()
    [0, 'abstain', 1]
    """
    forecast, _, columns = received(y_prob, input=input, rows=rows)
    prob = forecast.prob
    cost = as_cost_matrix(cost_matrix, prob.shape[1])
    classes = classes_of(prob.shape[1], labels, columns)
    names = column_names(classes, cost.shape[1], extra)
    decision, expected = cheapest(prob, cost)
    return Decisions(decision, expected, names, cost.copy())


def cheapest(prob: FloatArray, cost: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the decision of least expected cost in each row of a table, and that cost."""
    expected = prob @ cost
    if cost.shape == (2, 2) and (threshold := threshold_of(cost)) is not None:
        decision: IntArray = (prob[:, 1] >= threshold).astype(np.intp)
    else:
        decision = (expected <= expected.min(axis=1, keepdims=True) * (1.0 + TIE)).argmax(axis=1)
    return decision, expected[np.arange(len(expected)), decision]
