"""Confusion tables: how often each decision was taken when each class was true, and what that cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import FloatArray, ratio
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import number
from calibrant._core.result import Result, frame
from calibrant._core.rows import as_simplex
from calibrant.decisions.thresholds import as_cost_matrix, cheapest, column_names, event_of

MOST_CLASSES_SHOWN = 12
"""A larger table does not fit on a screen."""


@dataclass(frozen=True, eq=False)
class ConfusionTable(Result):
    """How often each decision was taken when each class was true.

    Attributes
    ----------
    weight : ndarray of shape (n_classes, n_decisions)
        Weight of the rows; without weights their number. A row a class that was true, a column a decision.
    classes : ndarray of shape (n_classes,)
        The classes.
    decisions : ndarray of shape (n_decisions,)
        Names of the decisions: the classes, then what else can be decided.
    cost_matrix : ndarray of shape (n_classes, n_decisions)
        What decisions cost.
    expected_cost : float
        Expected mean cost per row of the decisions taken, by the predicted probabilities. If these are calibrated, it is near
        ``mean_cost``.
    threshold : float or None
        Probability from which the event was decided, if decisions were made by a threshold.
    """

    weight: FloatArray
    classes: npt.NDArray[np.generic]
    decisions: npt.NDArray[np.generic]
    cost_matrix: FloatArray
    expected_cost: float
    threshold: float | None = None

    @property
    def mean_cost(self) -> float:
        """Observed mean cost per row."""
        return float((self.weight * self.cost_matrix).sum() / self.weight.sum())

    @property
    def accuracy(self) -> float:
        """Share of right decisions among those for a class; NaN if there was none."""
        decided = self.weight[:, : len(self.classes)]
        return float(ratio(np.trace(decided), decided.sum()))

    @property
    def abstained(self) -> float:
        """Share of rows with a decision for no class."""
        return float(self.weight[:, len(self.classes) :].sum() / self.weight.sum())

    @property
    def recall(self) -> FloatArray:
        """Share of each class that was decided as such, shape (n_classes,); NaN for a class that never occurred.

        Of two classes: specificity and sensitivity.
        """
        return ratio(np.diag(self.weight), self.weight.sum(axis=1))

    @property
    def precision(self) -> FloatArray:
        """Share of the decisions for each class that were right, shape (n_classes,); NaN for one never decided.

        Of two classes: the negative and the positive predictive value.
        """
        return ratio(np.diag(self.weight), self.weight[:, : len(self.classes)].sum(axis=0))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame, a row a class and decision.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns truth, decision, weight, share (of all rows), rate (among the rows of the class), cost (of one row).
        """
        n_classes, n_decisions = self.weight.shape
        columns: dict[str, Any] = {
            "truth": np.repeat([str(c) for c in self.classes.tolist()], n_decisions),
            "decision": np.tile([str(d) for d in self.decisions.tolist()], n_classes),
            "weight": self.weight.ravel(),
            "share": (self.weight / self.weight.sum()).ravel(),
            "rate": ratio(self.weight, self.weight.sum(axis=1, keepdims=True)).ravel(),
            "cost": self.cost_matrix.ravel(),
        }
        return frame(columns, backend)

    def __repr__(self) -> str:
        threshold = "" if self.threshold is None else f"threshold={self.threshold:.4g}, "
        return (
            f"ConfusionTable({threshold}classes={len(self.classes)}, accuracy={self.accuracy:.4g}, "
            f"mean_cost={self.mean_cost:.4g}, expected_cost={self.expected_cost:.4g})"
        )

    def __str__(self) -> str:
        """Return the table as text."""
        lines = [] if len(self.classes) > MOST_CLASSES_SHOWN else self._lines()
        if self.threshold is not None:
            lines.append(f"threshold {self.threshold:.4g}")
        if len(self.decisions) > len(self.classes):
            lines.append(f"abstained {self.abstained:.2%}")
        lines.append(f"accuracy {_percent(self.accuracy)}")
        lines.append(f"mean cost {self.mean_cost:.4g}, expected by the probabilities {self.expected_cost:.4g}")
        return "\n".join(lines)

    def _lines(self) -> list[str]:
        head = ["true", *map(str, self.decisions.tolist()), "recall"]
        body = [
            [str(c), *(f"{w:g}" for w in row), _percent(rate)]
            for c, row, rate in zip(self.classes.tolist(), self.weight.tolist(), self.recall.tolist(), strict=True)
        ]
        foot = ["precision", *map(_percent, self.precision.tolist())]
        rows = [head, *body, foot + [""] * (len(head) - len(foot))]
        width = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return ["  ".join(word.rjust(size) for word, size in zip(row, width, strict=True)).rstrip() for row in rows]


def confusion_table(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    threshold: float | None = None,
    cost_matrix: npt.ArrayLike | None = None,
    extra: str | Sequence[str] | None = None,
    **data: Unpack[DataOptions],
) -> ConfusionTable:
    """How often each decision is taken when each class is true, with its rates and its cost.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities.
    threshold : float, optional
        Probability in [0, 1] from which the event of two classes is decided. By default decisions are those of least
        expected cost.
    cost_matrix : array-like of shape (n_classes, n_decisions), optional
        Cost of deciding j when i is true, as for `decide`; by default every error costs one. With a threshold it does not
        change the decisions, only what they cost.
    extra : str or sequence of str, optional
        Names of the columns of the matrix beyond the classes; by default ``"abstain"``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    ConfusionTable
        A result with ``weight``, ``recall``, ``precision``, ``accuracy``, ``mean_cost``, ``expected_cost`` and
        ``to_frame()``; printed it is a table.

    Notes
    -----
    ``expected_cost`` is predicted by the probabilities before the labels are known, ``mean_cost`` is what the decisions did
    cost. An over-confident forecast predicts too low a cost.

    Examples
    --------
    >>> from calibrant.decisions import confusion_table
    >>> print(confusion_table([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.8], cost_matrix=[[0, 4], [1, 0]]))
         true       0        1   recall
            0       1        1   50.00%
            1       1        1   50.00%
    precision  50.00%   50.00%
    accuracy 50.00%
    mean cost 1.25, expected by the probabilities 0.525
    """
    problem = as_problem(y_true, y_prob, **data)
    if threshold is not None:
        event_of(problem, None)  # a threshold speaks of one event
        hint = "It is compared with probabilities; see optimal_threshold"
        threshold = number("threshold", threshold, least=0.0, most=1.0, hint=hint)
    simplex = as_simplex(problem)
    n_classes = simplex.prob.shape[1]
    cost = 1.0 - np.eye(n_classes) if cost_matrix is None else as_cost_matrix(cost_matrix, n_classes)
    names = column_names(simplex.classes, cost.shape[1], extra)
    if threshold is None:
        decision, expected = cheapest(simplex.prob, cost)
    else:
        decision = (simplex.prob[:, 1] >= threshold).astype(np.intp)
        expected = np.vecdot(simplex.prob, cost.T[decision])
    weight = simplex.weight
    counts = np.bincount(simplex.label * len(names) + decision, weight, n_classes * len(names)).astype(np.float64)
    table, mean = counts.reshape(n_classes, len(names)), float(weight @ expected / weight.sum())
    return ConfusionTable(table, simplex.classes, names, cost.copy(), mean, threshold)


def _percent(rate: float) -> str:
    return "-" if np.isnan(rate) else f"{rate:.2%}"
