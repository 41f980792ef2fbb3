"""Cumulative sum diagrams: the isotonic fit as the slopes of the greatest convex minorant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant import drawing
from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.result import DrawnResult, Picture, Record, frame
from calibrant._core.rows import BinaryProblem, IntArray
from calibrant.binning.bins import Ordered
from calibrant.curves.roc import MOST_MARKS
from calibrant.fit.isotonic import isotonic_fit
from calibrant.notions import Notion, as_notion
from calibrant.sums import Predictions


@dataclass(frozen=True, eq=False)
class CumulativeSumPanel(Record):
    """One problem of a notion: its d distinct scores, and what occurred up to each of them.

    ``share`` and ``events``, shape (d + 1,), begin at 0: the part of all weight, and the weight of the events as a part of all
    weight, up to each ``score``. ``minorant``, shape (d + 1,), is the greatest convex function below the ``events``;
    it meets them at the points number ``vertex``, and its ``slope`` between these is the isotonic fit, which is ``fit`` at
    each score.
    """

    name: str
    score: FloatArray
    share: FloatArray
    events: FloatArray
    minorant: FloatArray
    vertex: IntArray
    slope: FloatArray
    fit: FloatArray


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
    _picture = Picture("the diagram", "curves.cumulative.plot_cumulative_sum", takes=("panels",))

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
        starts = ("share", "events", "minorant")  # each has one more entry, for the start
        columns = {
            name: np.concatenate([getattr(p, name)[name in starts :] for p in self.panels])
            for name in ("score", *starts, "fit")
        }
        names = np.repeat([p.name for p in self.panels], [p.score.size for p in self.panels])
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
        A result with ``panels``, ``to_frame()`` and ``plot()``.

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
    panels = tuple(_sum_panel(binary, binary.name or chosen.name) for binary in chosen.split(problem))
    return CumulativeSumCurve(panels, chosen.name)


def _sum_panel(problem: BinaryProblem, name: str) -> CumulativeSumPanel:
    if problem.size == 0:  # a class that is never predicted: only the start
        none, start = np.empty(0), np.zeros(1)
        return CumulativeSumPanel(name, none, start, start, start, np.zeros(1, np.intp), none, none)
    ordered = Ordered.of(problem)
    steps = isotonic_fit(ordered)
    share = np.append(0.0, ordered.reached) / ordered.total
    events = np.append(0.0, ordered.events_reached) / ordered.total
    vertex = np.append(steps.starts, steps.n_scores)
    minorant = np.interp(share, share[vertex], events[vertex])
    minorant[vertex] = events[vertex]
    fit = steps.at_each_score(steps.rate)
    return CumulativeSumPanel(name, ordered.score, share, events, minorant, vertex, steps.rate, fit)


# Cumulative sum diagrams, and the way from a forecast over its diagram to the ROC curve


SUM_LABELS = ("share of rows, in the order of their probabilities", "events, as a share of all rows")


def plot_cumulative_sum(
    diagrams: CumulativeSumCurve | Mapping[str, CumulativeSumCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
) -> Any:
    """Draw cumulative sum diagrams with their greatest convex minorants.

    Parameters
    ----------
    diagrams : CumulativeSumCurve or dict of name to CumulativeSumCurve
        One forecast, or several over each other. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no diagram, if panels differ or are unknown or too many, or if ``ax`` is given for several.
    TypeError
        If something is no `CumulativeSumCurve`.

    References
    ----------
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024 (Figure 1).

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import cumulative_sum_curve
    >>> y, prob = load_digits_forecast()
    >>> ax = cumulative_sum_curve(y == 8, prob[:, 8]).plot()
    """
    named = drawing.as_named(diagrams, "diagrams", "cumulative_sum_curve(y_true, y_prob)", CumulativeSumCurve)
    return drawing.draw_panels(named, _draw_sum, ax=ax, panels=panels, height=4.6, labels=SUM_LABELS)


def _draw_sum(ax: Any, panels: Mapping[str, CumulativeSumPanel], alone: bool) -> None:
    for number, (name, panel) in enumerate(panels.items()):
        colour = drawing.colour(number)
        look = {"marker": "o", "markersize": 3.0 if panel.share.size <= MOST_MARKS else 0.0, "markeredgewidth": 0}
        ax.plot(
            panel.share, panel.events, color=colour, label=name or "cumulative sums", linewidth=1.4, zorder=3, **look
        )
        x, y = panel.share[panel.vertex], panel.events[panel.vertex]
        look = {"marker": "o", "markersize": 4.0 if x.size <= MOST_MARKS else 0.0, "markerfacecolor": "white"}
        look |= {
            "color": drawing.GAP if len(panels) == 1 else colour,
            "linestyle": "--",
            "linewidth": 1.6,
            "zorder": 3.2,
        }
        ax.plot(x, y, label=f"greatest convex minorant{f' of {name}' if len(panels) > 1 else ''}", **look)
    ax.set_xlim(-0.01, 1.01)
    drawing.grid(ax)
