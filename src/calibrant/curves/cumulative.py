"""A band that holds the whole curve of event probabilities with proven confidence, however few the rows.

Theorem. Let rows be independent given the scores, and let the probability of the event be a non-decreasing function p of the
score. Then with probability 1 - level at least, lower(s) <= p(s) <= upper(s) at all scores s at once.

Proof. Take an interval of scores, from s to t, with n rows and E events. None of these rows has a probability above p(t), so
E is stochastically at most binomial (n, p(t)), and Clopper and Pearson's lower bound, which rises with E, exceeds p(t) with
probability ``tail`` at most. If it does not, it bounds p from below at t and, by monotonicity, at all scores beyond. In the
same way the upper bound holds at s and at all scores before. Many intervals are looked at, and their tails sum to the level:
with probability 1 - level all bounds hold, and with them the largest lower and the least upper bound at each score.

Dimitriadis, Dümbgen, Henzi, Puke and Ziegel (2023) take all intervals, with equal tails. Here intervals have numbers of rows
that double from length to length, and begin at every quarter of their length; each length gets an equal part of the level.
There are half as many of them as rows, and not n^2 / 2: that is quick, and makes the band narrower. The intervals depend on
the scores alone, as the proof demands, and begin and end between distinct scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from calibrant import drawing
from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import choice, require
from calibrant._core.result import DrawnResult, Picture, Record, frame
from calibrant._core.rows import BinaryProblem, IntArray
from calibrant.binning.bins import Ordered
from calibrant.curves import roc as _roc
from calibrant.fit.isotonic import isotonic_fit
from calibrant.metrics.roc import RocPanel
from calibrant.notions import Notion, as_notion
from calibrant.sums import Predictions

# Cumulative sum diagrams: the isotonic fit as the slopes of the greatest convex minorant, and the ROC curve beside it


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
    _picture = Picture("the diagram", "curves.cumulative.plot_cumulative_sum", takes=("panels", "style"))

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
    problems = list(chosen.split(problem))
    rocs = _roc.roc_panels(problems, chosen.name)
    return CumulativeSumCurve(tuple(map(_sum_panel, problems, rocs)), chosen.name)


def _sum_panel(problem: BinaryProblem, roc: RocPanel) -> CumulativeSumPanel:
    if problem.size == 0:  # a class that is never predicted: only the start
        none, start = np.empty(0), np.zeros(1)
        return CumulativeSumPanel(roc.name, none, start, start, start, np.zeros(1, np.intp), none, none, roc)
    ordered = Ordered.of(problem)
    steps = isotonic_fit(ordered)
    share = np.append(0.0, ordered.reached) / ordered.total
    events = np.append(0.0, ordered.events_reached) / ordered.total
    vertex = np.append(steps.starts, steps.n_scores)
    minorant = np.interp(share, share[vertex], events[vertex])
    minorant[vertex] = events[vertex]
    fit = steps.at_each_score(steps.rate)
    return CumulativeSumPanel(roc.name, ordered.score, share, events, minorant, vertex, steps.rate, fit, roc)


# Cumulative sum diagrams, and the way from a forecast over its diagram to the ROC curve


Style = Literal["diagram", "theorem"]

SUM_LABELS = ("share of rows, in the order of their probabilities", "events, as a share of all rows")

SLOPE_PLACES = (*tuple((far, -far, "left", "top") for far in (4.0, 12.0, 22.0, 34.0)), (-4.0, 4.0, "right", "bottom"))
"""Where a slope may stand beside its piece of the minorant, in points; the first place that is free is taken."""

ON_A_PIECE = 40
"""Points of each piece that no slope is to cover."""

OTHER, EVENT, AFTER, BEFORE = (drawing.colour(number) for number in (0, 1, 2, 6))
"""Rows without event and events; what is fitted, and what it is fitted to."""

TITLES = (
    ("forecast", "isotonic fit"),
    ("cumulative sums", "greatest convex minorant: its slopes are the fit"),
    ("symmetric ROC curve", "ROC curve of the fit: the convex hull"),
)

TINY = 1e-12
"""A part of the rows that is smaller is rounding."""

MOST_DOTS = 100
"""Distinct scores up to which dots are large."""


def plot_cumulative_sum(
    diagrams: CumulativeSumCurve | Mapping[str, CumulativeSumCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    style: Style = "diagram",
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
    style : {"diagram", "theorem"}, default="diagram"
        The diagram alone; or six Axes of one panel of one forecast: on the left its probabilities with the labels, the
        diagram and the symmetric ROC curve; on the right the isotonic fit, the minorant and the ROC curve of the fit.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes
        What was drawn on; of the theorem shape (3, 2).

    Raises
    ------
    ValueError
        If there is no diagram, if panels differ or are unknown or too many, if ``ax`` is given for several, or if the
        theorem is to be shown of more than one panel of one forecast.
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
    if choice("style", style, ("diagram", "theorem")) == "diagram":
        return drawing.draw_panels(named, _draw_sum, ax=ax, panels=panels, height=4.6, labels=SUM_LABELS)
    panels = drawing.as_listed(panels)
    found = [p for diagram in named.values() for p in diagram.panels if panels is None or p.name in panels]
    must = "the theorem is shown of one panel, in Axes of its own"
    hint = "Leave ax out, and choose one: panels=['class 3']"
    got = f"{len(found)} panels" if ax is None else "an Axes"
    require(ax is None and len(found) == 1, must, got=got, hint=hint)
    return _draw_theorem(found[0])


# The diagram


def _draw_sum(ax: Any, panels: Mapping[str, CumulativeSumPanel], alone: bool) -> None:
    for number, (name, panel) in enumerate(panels.items()):
        colour = drawing.colour(number)
        of = f" of {name}" if len(panels) > 1 else ""
        _draw_sums(ax, panel, colour, name or "cumulative sums")
        _draw_minorant(ax, panel, drawing.GAP if len(panels) == 1 else colour, f"greatest convex minorant{of}")
    ax.set_xlim(-0.01, 1.01)
    drawing.grid(ax)


def _draw_sums(ax: Any, panel: CumulativeSumPanel, colour: str, label: str, linewidth: float = 1.4) -> None:
    size = 3.0 if panel.share.size <= _roc.MOST_MARKS else 0.0
    look = {"marker": "o", "markersize": size, "markeredgewidth": 0, "linewidth": linewidth}
    ax.plot(panel.share, panel.events, color=colour, label=label, zorder=3, **look)


def _draw_minorant(ax: Any, panel: CumulativeSumPanel, colour: str, label: str, linestyle: str = "--") -> None:
    x, y = panel.share[panel.vertex], panel.events[panel.vertex]
    look = {"marker": "o", "markersize": 4.0 if x.size <= _roc.MOST_MARKS else 0.0, "markerfacecolor": "white"}
    ax.plot(x, y, color=colour, linewidth=1.6, linestyle=linestyle, label=label, zorder=3.2, **look)


# The theorem


def _draw_theorem(panel: CumulativeSumPanel) -> Any:
    import matplotlib.pyplot as plt

    axes = plt.subplots(3, 2, figsize=(8.4, 10.4), layout="constrained", height_ratios=(0.7, 1, 1.25))[1]
    for row, draw in enumerate((_draw_sum_scores, _draw_cumulated, _draw_roc)):
        for fitted, ax in zip((False, True), axes[row], strict=True):
            draw(ax, panel, fitted=fitted)
            ax.set_title(TITLES[row][fitted], fontsize="medium")
            drawing.grid(ax)
            if row < 2:
                ax.set_xlim(-0.02, 1.02)
            if row:
                ax.set_xlabel((SUM_LABELS, _roc.SYMMETRIC)[row - 1][0], fontsize="small")
    drawing.legend_above(axes[0, 0])
    for ax, label in zip(axes[:, 0], ("probability", SUM_LABELS[1], _roc.SYMMETRIC[1]), strict=True):
        ax.set_ylabel(label, fontsize="small")
    drawing.settle(axes[0, 0].figure)  # where words are free is known when the layout is
    _write_slopes(axes[1, 1], panel)
    return axes


def _draw_sum_scores(ax: Any, panel: CumulativeSumPanel, *, fitted: bool) -> None:
    """Draw each distinct score where its rows stand in their order, those without event first."""
    height, left, right = panel.fit if fitted else panel.score, panel.share[:-1], panel.share[1:]
    border = right - np.diff(panel.events)
    size, alpha, zorder = (22, 1.0, 3.5) if height.size <= MOST_DOTS else (7, 0.5, 2.5)
    if fitted:
        _draw_borders(ax, panel)
        ax.stairs(panel.slope, panel.share[panel.vertex], baseline=None, color=AFTER, linewidth=1.8, zorder=3)
    look = {"s": size, "alpha": alpha, "linewidth": 0, "zorder": zorder}
    kinds = ((left, border, OTHER, "o", "no event"), (border, right, EVENT, "^", "event"))
    for begin, end, colour, marker, label in kinds:
        there = end - begin > TINY
        ax.scatter((begin + end)[there] / 2.0, height[there], color=colour, marker=marker, label=label, **look)
    ax.set_ylim(-0.06, 1.06)


def _draw_cumulated(ax: Any, panel: CumulativeSumPanel, *, fitted: bool) -> None:
    _draw_sums(ax, panel, BEFORE, "cumulative sums", linewidth=0.7 if fitted else 1.4)
    if fitted:
        _draw_borders(ax, panel)
        _draw_minorant(ax, panel, AFTER, "greatest convex minorant", linestyle="-")
    ax.margins(y=0.08)


def _draw_borders(ax: Any, panel: CumulativeSumPanel) -> None:
    for border in panel.share[panel.vertex[1:-1]] if panel.vertex.size <= _roc.MOST_MARKS else ():
        ax.axvline(border, color=AFTER, linestyle=":", linewidth=0.9, zorder=1.5)


def _write_slopes(ax: Any, panel: CumulativeSumPanel) -> None:
    """Write the slope beside each piece, where it covers neither the minorant nor another slope; else it is left out."""
    corners = np.column_stack([panel.share, panel.events])[panel.vertex]
    part = np.linspace(0.0, 1.0, ON_A_PIECE)[:, None]
    pieces = [ax.transData.transform(one + part * (other - one)) for one, other in pairwise(corners)]
    line, taken = np.concatenate(pieces), list[Any]()
    order = np.argsort([-np.hypot(*(piece[-1] - piece[0])) for piece in pieces], kind="stable")
    look = {"textcoords": "offset points", "color": AFTER, "fontsize": "small", "zorder": 4}
    for number in order:  # the longest pieces first
        middle = (corners[number] + corners[number + 1]) / 2.0
        text = ax.annotate(f"{panel.slope[number]:.2g}", middle, (0, 0), **look)
        drawing.outline(text)
        if drawing.put_beside(text, SLOPE_PLACES, line, taken, ax.bbox):
            text.remove()
        else:
            taken.append(text.get_window_extent())
            drawing.tie(ax, text)


def _draw_roc(ax: Any, panel: CumulativeSumPanel, *, fitted: bool) -> None:
    _roc.draw_frame(ax, symmetric=True)
    _roc.draw_curve(ax, panel.roc, BEFORE, "forecast", symmetric=True, linewidth=0.7 if fitted else 1.4)
    if fitted:
        _roc.draw_hull(ax, panel.roc, AFTER, "isotonic fit", symmetric=True, linestyle="-")
    area, colour = (panel.roc.hull_auc, AFTER) if fitted else (panel.roc.auc, BEFORE)
    ax.text(0.06, 0.06, f"area {_roc.area_words(area)}", transform=ax.transAxes, color=colour)


SHORTEST = 16
"""Rows in the shortest intervals, or all there are: fewer would bound hardly anything."""

MOST_INTERVALS = 1 << 15
"""About as many are looked at of the shortest length; with a million rows these have 123."""

QUARTERS = 4


def simultaneous_band(n: FloatArray, events: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper bound at each distinct score, of rows and events on each; neither decreases.

    To the right of a score its lower bound goes on, to the left its upper bound.
    """
    reached, occurred = np.append(0.0, np.cumsum(n)), np.append(0.0, np.cumsum(events))
    lengths = list(_intervals(reached))
    lower, upper = np.zeros(n.size), np.ones(n.size)
    for first, end in lengths:
        tail = level / (2.0 * len(lengths) * first.size)
        rows, hits = reached[end] - reached[first], occurred[end] - occurred[first]
        some, rest = hits > 0, hits < rows
        np.maximum.at(lower, end[some] - 1, betaincinv(hits[some], (rows - hits)[some] + 1.0, tail))
        np.minimum.at(upper, first[rest], betaincinv(hits[rest] + 1.0, (rows - hits)[rest], 1.0 - tail))
    return np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]


def _intervals(reached: FloatArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield for each length the numbers of the first scores, and of those after the last; none of them twice."""
    n_scores, total = reached.size - 1, reached[-1]
    length = min(total, max(float(SHORTEST), float(np.ceil(QUARTERS * total / MOST_INTERVALS))))
    seen: IntArray = np.empty(0, dtype=np.intp)
    while True:
        starts = np.arange(0.0, total - length, max(1.0, length / QUARTERS))
        first = np.searchsorted(reached, np.append(starts, total - length), side="right") - 1
        end = np.searchsorted(reached, reached[first] + length, side="left")
        code = np.setdiff1d(first * (n_scores + 1) + np.minimum(end, n_scores), seen)
        if code.size:
            yield code // (n_scores + 1), code % (n_scores + 1)
        if length == total:
            return
        seen = np.union1d(seen, code)
        length = min(2.0 * length, total)
