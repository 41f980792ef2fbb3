"""Cumulative sum diagrams: the isotonic fit as the slopes of the greatest convex minorant, and the ROC curve beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, IntArray
from calibrant._core.result import DrawnResult, Picture, Record, frame
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning.distinct_scores import Ordered
from calibrant.curves.roc import RocPanel, panel_of
from calibrant.metrics.roc.points import warn_of_one_kind
from calibrant.notions import Notion, as_notion
from calibrant.solvers.isotonic import isotonic_fit
from calibrant.sums import Predictions


@dataclass(frozen=True, eq=False)
class CumulativeSumPanel(Record):
    """One problem of a notion: its d distinct scores, and what occurred up to each of them.

    ``share`` and ``events``, shape (d + 1,), begin at 0: the part of all weight, and the weight of the events as a part of all
    weight, up to each ``score``. ``minorant``, shape (d + 1,), is the greatest convex function below the ``events``;
    it meets them at the points number ``vertex``, and its ``slope`` between these is the isotonic fit, which is ``fit`` at
    each score. ``roc`` is the ROC curve of the same rows.
    """

    name: str
    score: FloatArray
    share: FloatArray
    events: FloatArray
    minorant: FloatArray
    vertex: IntArray
    slope: FloatArray
    fit: FloatArray
    roc: RocPanel


@dataclass(frozen=True, eq=False)
class CumulativeSumCurve(DrawnResult):
    """Cumulative sum diagrams (CSD) of a forecast under a notion: one panel a problem.

    Attributes
    ----------
    panels : tuple of CumulativeSumPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    notion : str
        What the events are.
    """

    _summary = "{notion}, panels={panels:n}, scores={panels.score:n}, pieces={panels.slope:n}"
    _picture = Picture(
        "the diagram",
        "cumulative_sum.plot_cumulative_sum",
        options="Those of `plot_cumulative_sum`: ``panels``, ``style``.",
    )

    panels: tuple[CumulativeSumPanel, ...]
    notion: str

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame, a row a distinct score.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns panel, score, share, events, minorant, fit.
        """
        panels = self.panels
        columns = {"score": np.concatenate([p.score for p in panels])}
        columns |= {
            key: np.concatenate([getattr(p, key)[1:] for p in panels]) for key in ("share", "events", "minorant")
        }
        columns["fit"] = np.concatenate([p.fit for p in panels])
        names = np.repeat([p.name for p in panels], [p.score.size for p in panels])
        return frame({"panel": names, **columns}, backend)


def cumulative_sum_curve(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> CumulativeSumCurve:
    """Cumulative sum diagram (CSD): events against rows in the order of scores, with the greatest convex minorant below.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    CumulativeSumCurve
        A result with ``panels``, ``to_frame()`` and ``plot()``; ``plot(style="theorem")`` shows forecast, diagram and ROC
        curve, each before and after the isotonic fit.

    Warns
    -----
    CalibrationWarning
        If a problem has no events, or nothing else: its ROC curve has rates that are NaN. The diagram and the fit are defined.

    See Also
    --------
    roc_curve : The same points in the axes of the ROC curve.
    corp_curve : The isotonic fit against the scores, with bands.

    Notes
    -----
    The slope of the diagram between two scores is the event rate between them. The slopes of the greatest convex minorant
    are the isotonic fit of the outcomes (Robertson, Wright, Dykstra 1988, Theorem 1.2.1). With the event rate q over all
    rows, the affine map  (share, events) -> ((share - events) / (1 - q), 1 - events / q)  leads to the symmetric ROC curve,
    and takes the minorant to the convex hull: so the ROC curve of the isotonic fit is the hull (Berta et al., Theorem 2.1).

    References
    ----------
    Robertson, Wright, Dykstra, Order restricted statistical inference, Wiley 1988.
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.

    Examples
    --------
    >>> from calibrant.curves import cumulative_sum_curve
    >>> panel = cumulative_sum_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8]).panels[0]
    >>> panel.events.tolist()
    [0.0, 0.0, 0.25, 0.25, 0.5]
    >>> panel.minorant.tolist()
    [0.0, 0.0, 0.125, 0.25, 0.5]
    >>> panel.slope.tolist()
    [0.0, 0.5, 1.0]
    """
    problem = as_problem(y_true, y_prob, **data)
    chosen = as_notion(notion, problem)
    panels, undefined = [], []
    for binary in chosen.split(problem):
        panels.append(_panel(binary, binary.name or chosen.name))
        if np.isnan(panels[-1].roc.auc):
            undefined.append(binary)
    warn_of_one_kind(undefined, "a ROC curve")
    return CumulativeSumCurve(tuple(panels), chosen.name)


def _panel(problem: BinaryProblem, name: str) -> CumulativeSumPanel:
    roc = panel_of(problem, name)
    if problem.size == 0:  # a class that is never predicted: only the start
        none, start = np.empty(0), np.zeros(1)
        return CumulativeSumPanel(name, none, start, start, start, np.zeros(1, np.intp), none, none, roc)
    ordered = Ordered.of(problem)
    steps = isotonic_fit(ordered)
    share = np.append(0.0, ordered.reached) / ordered.total
    events = np.append(0.0, ordered.events_reached) / ordered.total
    vertex = np.append(steps.starts, steps.n_scores)
    minorant = np.interp(share, share[vertex], events[vertex])
    minorant[vertex] = events[vertex]
    return CumulativeSumPanel(
        name=name,
        score=ordered.score,
        share=share,
        events=events,
        minorant=minorant,
        vertex=vertex,
        slope=steps.rate,
        fit=steps.at_each_score(steps.rate),
        roc=roc,
    )
