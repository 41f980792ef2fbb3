"""Points of the ROC curve of a problem, and its convex hull."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse, require
from calibrant._core.problem import BinaryProblem, IntArray, Problem
from calibrant._core.result import Record, Result
from calibrant._core.table import Table
from calibrant._core.validation import DataOptions, as_problem
from calibrant._core.warnings import warn
from calibrant.metrics.roc.ranked import Ranked
from calibrant.notions import Notion, as_notion
from calibrant.sums.unread import require_rows

COLUMNS = ("threshold", "fpr", "tpr")


@dataclass(frozen=True, eq=False)
class RocPoints(Record):
    """The ROC curve of one problem, from the highest threshold to the lowest.

    Rows with a score from ``threshold`` on are called events: they are a part ``tpr`` of the events and a part ``fpr`` of the
    non-events. The first threshold is infinite. ``vertex`` are the numbers of the points that span the convex hull.
    """

    threshold: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    vertex: IntArray
    area: float
    hull_area: float


def roc_points(problem: BinaryProblem) -> RocPoints:
    """Return the points of a valid problem; without rows, the one at which every curve begins."""
    if problem.size == 0:
        start = np.zeros(1)
        return RocPoints(np.full(1, np.inf), start, start, np.zeros(1, np.intp), np.nan, np.nan)
    ranked = Ranked.of(problem)
    hull = ranked.pooled()
    return RocPoints(
        threshold=np.append(np.inf, ranked.ordered.score[::-1]),
        fpr=ranked.false,
        tpr=ranked.true,
        vertex=hull.vertex,
        area=ranked.area,
        hull_area=hull.area,
    )


@dataclass(frozen=True, eq=False)
class RocHull(Result):
    """The convex hull of a ROC curve: its corners, from (0, 0) to (1, 1).

    Attributes
    ----------
    threshold : ndarray of shape (n_vertices,)
        Scores from which on rows are called events, from infinity down to the lowest score.
    fpr, tpr : ndarray of shape (n_vertices,)
        Part of the non-events, and of the events, that are called events.
    area : float
        Area under the hull, in [1/2, 1].
    """

    _table = Table("vertex", *COLUMNS)
    _summary = "vertices={threshold:n}, area={area:.4f}"

    threshold: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    area: float

    @property
    def tnr(self) -> FloatArray:
        """One minus ``fpr``: the horizontal axis of the symmetric ROC curve."""
        return 1.0 - self.fpr


def roc_convex_hull(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> RocHull:
    """Convex hull of the ROC curve: the best trade-offs of a forecast, if thresholds may be mixed at random.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        What the event is; one that makes a single problem. By default ``"binary"``, of one or two columns. For a table of
        more classes for example ``OneVsRest(2)``, or ``"confidence"``: that the predicted class is the true one.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    RocHull
        A result with ``threshold``, ``fpr``, ``tpr``, ``area`` and ``to_frame()``.

    Raises
    ------
    ValueError
        If the notion makes several problems: `roc_curve` has a hull for each.

    Warns
    -----
    CalibrationWarning
        If there are no events, or nothing else: a rate and the area are NaN.

    See Also
    --------
    roc_curve : The curve and its hull, ready to plot.
    area_under_roc_hull_score : The area with its interval, over several classes.

    Notes
    -----
    The hull is the ROC curve of the isotonic fit on the same rows (Berta, Bach, Jordan 2024, Theorem 2.1), whose blocks are
    found in O(n log n). So isotonic regression changes which thresholds there are and no trade-off that is worth having.

    References
    ----------
    Provost, Fawcett, Robust classification for imprecise environments, Machine Learning 2001.
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.

    Examples
    --------
    >>> from calibrant.metrics import roc_convex_hull
    >>> hull = roc_convex_hull([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    >>> hull
    RocHull(vertices=4, area=0.8750)
    >>> hull.tpr.tolist()
    [0.0, 0.5, 1.0, 1.0]
    """
    problem = require_rows(as_problem(y_true, y_prob, **data), "the hull of a ROC curve")
    words = _of_one_problem(notion, problem)
    (binary,) = words.split(problem)
    warn_of_one_kind([binary], "the hull of a ROC curve")
    points = roc_points(binary)
    threshold, fpr, tpr = (getattr(points, name)[points.vertex] for name in COLUMNS)
    return RocHull(threshold, fpr, tpr, points.hull_area)


def each_class(notion: str | Notion | None, problem: Problem) -> Notion:
    """Return the notion of that name; by default the event of two classes, and of more each class against the rest."""
    return as_notion(notion, problem, of_many="class-wise")


def warn_of_one_kind(problems: list[BinaryProblem], what: str) -> None:
    """Warn of problems whose rows are all events, or none."""
    alone = [p for p in problems if p.size and p.outcome.all() == p.outcome.any()]
    if not alone:
        return
    first = ("events alone" if alone[0].outcome[0] else "no event") + (
        f" in {alone[0].name!r}" if alone[0].name else ""
    )
    more = f", and {len(alone) - 1} more such" if len(alone) > 1 else ""
    warn(
        f"{what} must have rows with and without the event; got {first}{more}, and the area is set to nan. "
        "Pass rows of both kinds."
    )


def _of_one_problem(notion: str | Notion | None, problem: Problem) -> Notion:
    require(
        notion is not None or problem.classes.size <= 2,
        "a hull is that of one event",
        got=f"a table of {problem.classes.size} classes",
        hint=(
            "Pass notion=OneVsRest(0) for the first class, 'confidence' for the predicted one, or call "
            "roc_curve, which has a hull for each class"
        ),
    )
    words = as_notion(notion, problem)
    if (several := words.n_parts(problem)) > 1:
        refuse(
            "a hull is that of one event",
            given=f"notion {words.name!r} makes {several} problems",
            hint="Pass notion=OneVsRest(0) for the first class, or call roc_curve, which has a hull for each class",
        )
    return words
