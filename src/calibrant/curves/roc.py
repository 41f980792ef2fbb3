"""ROC curves: true positive rate against false positive rate, with the convex hull."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, IntArray, Problem
from calibrant._core.result import DrawnResult, Picture, Record
from calibrant._core.table import Table, under
from calibrant._core.validation import DataOptions, as_problem
from calibrant.metrics.roc.points import each_class, roc_points, warn_of_one_kind
from calibrant.notions import Notion
from calibrant.sums import Predictions


@dataclass(frozen=True, eq=False)
class RocPanel(Record):
    """One problem of a notion: the points of its ROC curve, from the highest threshold to the lowest, shape (n_points,).

    Rows with a score from ``threshold`` on are called events: a part ``tpr`` of the events and a part ``fpr`` of the rows
    without event. The first threshold is infinite. ``vertex`` are the numbers of the points that span the convex hull.
    ``auc`` and ``hull_auc`` are the areas under the two. Rates of what never occurred are NaN, and so are the areas then.
    """

    name: str
    threshold: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    vertex: IntArray
    auc: float
    hull_auc: float

    @property
    def tnr(self) -> FloatArray:
        """Part of the rows without event below the threshold, 1 - ``fpr``: the horizontal axis of the symmetric ROC curve."""
        return 1.0 - self.fpr

    @property
    def on_hull(self) -> npt.NDArray[np.bool_]:
        """Whether each point is a vertex of the hull."""
        found = np.zeros(self.threshold.size, dtype=bool)
        found[self.vertex] = True
        return found


@dataclass(frozen=True, eq=False)
class RocCurve(DrawnResult):
    """ROC curves of a forecast under a notion: one panel a problem.

    Attributes
    ----------
    panels : tuple of RocPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    notion : str
        What the events are.
    """

    _table = Table("point", *under("panels", "panel=name", "threshold", "fpr", "tpr", "tnr", "on_hull"))
    _summary = "{notion}, panels={panels:n}, points={panels.threshold:n}, vertices={panels.vertex:n}"
    _picture = Picture(
        "the ROC curves", "roc.plot_roc", options="Those of `plot_roc`: ``panels``, ``symmetric``, ``hull``."
    )

    panels: tuple[RocPanel, ...]
    notion: str


def roc_curve(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> RocCurve:
    """Receiver operating characteristic (ROC) of each problem of a notion, with its convex hull, ready to plot.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"class-wise"`` for more: each class against the rest.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    RocCurve
        A result with ``panels``, ``to_frame()`` and ``plot()``.

    Warns
    -----
    CalibrationWarning
        If a problem has no events, or nothing else: a rate and both areas are NaN.

    See Also
    --------
    cumulative_sum_curve : The same points before the axes are stretched, and the isotonic fit as slopes.
    area_under_roc_hull_score : The area under the hull; `assess` has both areas, with intervals.

    Notes
    -----
    There is a point for each distinct score, and one at infinity; ``sklearn.metrics.roc_curve`` gives the same with
    ``drop_intermediate=False``. Equal scores are one step: a slanted line if both kinds of rows share them.

    Points on the hull are the thresholds worth having; between them, two thresholds mixed at random do better than the
    curve. The hull is the ROC curve of the isotonic fit on these rows (Theorem 2.1 of Berta et al.).

    The symmetric ROC curve of the paper (Definition 2.2) has the axes ``tnr``, rows without event below the threshold, and
    ``tpr``: the same curve, mirrored.

    References
    ----------
    Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 2006.
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.

    Examples
    --------
    >>> from calibrant.curves import roc_curve
    >>> curve = roc_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    >>> curve
    RocCurve(binary, panels=1, points=5, vertices=4)
    >>> curve.panels[0].auc, curve.panels[0].hull_auc
    (0.75, 0.875)
    """
    problem = as_problem(y_true, y_prob, **data)
    return curve_of(problem, each_class(notion, problem))


def curve_of(problem: Problem, notion: Notion) -> RocCurve:
    """Return the curves of a valid problem."""
    undefined: list[BinaryProblem] = []
    panels = []
    for binary in notion.split(problem):
        panel = panel_of(binary, binary.name or notion.name)
        panels.append(panel)
        if np.isnan(panel.auc):
            undefined.append(binary)
    warn_of_one_kind(undefined, "a ROC curve")
    return RocCurve(tuple(panels), notion.name)


def panel_of(problem: BinaryProblem, name: str) -> RocPanel:
    """Return the curve of one problem."""
    found = roc_points(problem)
    return RocPanel(name, found.threshold, found.fpr, found.tpr, found.vertex, found.area, found.hull_area)
