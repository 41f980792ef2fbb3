"""The reliability diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calibrant._core.parameters import choice, require
from calibrant.plots import _style
from calibrant.plots._bin_marks import STYLES, Look, Markers, Style, draw_edges, draw_intervals
from calibrant.plots._log_odds import use_log_odds
from calibrant.plots._marginal_axes import room_below
from calibrant.plots._panels import as_named, draw_panels, outcome_word, panel_of
from calibrant.plots.score_distribution import draw_distribution

if TYPE_CHECKING:
    from calibrant.curves.reliability import ReliabilityCurve, ReliabilityPanel
    from calibrant.curves.score_distribution import ScoreDistribution

Axis = Literal["probability", "log-odds"]


def plot_reliability(
    curves: ReliabilityCurve | Mapping[str, ReliabilityCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    style: Style = "lines",
    markers: Markers = "equal",
    axis: Axis = "probability",
    below: Literal["counts"] | ScoreDistribution | None = "counts",
    intervals: bool = True,
) -> Any:
    """Draw reliability curves: mean probability against event rate, with counts below.

    Parameters
    ----------
    curves : ReliabilityCurve or dict of name to ReliabilityCurve
        One forecast, or several over each other. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    style : {"lines", "points", "bars"}, default="lines"
        Points joined by lines, points alone, or a bar a bin as high as its event rate with the gap to its mean
        probability marked. Bars show one forecast.
    markers : {"equal", "area", "counts"}, default="equal"
        All alike, with an area that follows the number of rows, or with that number beside.
    axis : {"probability", "log-odds"}, default="probability"
        Scale of both axes. Log-odds spread rare events out; a triangle on the edge is an event rate of 0 or 1.
    below : {"counts"}, ScoreDistribution or None, default="counts"
        What stands below the diagram: the number of rows in each bin, or a finer distribution of the scores.
    intervals : bool, default=True
        Draw the interval that the curve holds: thin, around event rates; of consistency broad and pale, around the diagonal.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no curve, if panels differ or are unknown or too many, if ``ax`` is given for several, or if a word is
        none of those above.

    Examples
    --------
    >>> from calibrant import load_digits_forecast, reliability_curve
    >>> ax = reliability_curve(*load_digits_forecast()).plot()
    """
    named = as_named(curves, "curves", "reliability_curve(y_true, y_prob)")
    choice("style", style, STYLES)
    choice("markers", markers, ("equal", "area", "counts"))
    choice("axis", axis, ("probability", "log-odds"))
    if isinstance(below, str):
        choice("below", below, ("counts",))
    require(
        style != "bars" or len(named) <= 1,
        "bars show one forecast",
        got=f"{len(named)} over each other",
        hint="Draw each into its own ax, or use style='lines'",
    )
    labels = ("mean probability", outcome_word(next(iter(named.values()))))
    look = Look(style, markers, axis == "log-odds", below, intervals, labels[1] if style == "bars" else "forecast")
    draw = partial(draw_reliability, curves=named, look=look, labels=labels)
    return draw_panels(named, draw, ax=ax, panels=panels, height=4.6 if below is None else 5.2, labels=labels)


def draw_reliability(
    ax: Any,
    panels: Mapping[str, ReliabilityPanel],
    alone: bool,
    *,
    curves: Mapping[str, ReliabilityCurve],
    look: Look,
    labels: tuple[str, str],
) -> None:
    """Draw the bins of a panel of each curve into an Axes, with the diagonal, and what stands below."""
    if look.log_odds:
        use_log_odds(ax, np.concatenate([[*p.bins.mean_prob, *p.bins.event_rate] for p in panels.values()]))
    else:
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.plot([0, 1], [0, 1], color=_style.IDEAL, linestyle="--", linewidth=1, label="calibrated", zorder=1.5)
    for number, (name, panel) in enumerate(panels.items()):
        STYLES[look.style](ax, panel, name or look.unnamed, number, look)
        if look.intervals:
            draw_intervals(ax, panel, curves[name], number, single=len(panels) == 1)
        if look.log_odds:
            draw_edges(ax, panel, number)
    ax.set_aspect("equal")
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    lowest = ax if look.below is None else _draw_below(ax, panels, look.below)
    if alone:
        ax.set_ylabel(labels[1])
        lowest.set_xlabel(labels[0])


def _draw_below(ax: Any, panels: Mapping[str, ReliabilityPanel], below: Any) -> Any:
    ax.tick_params(labelbottom=False)
    lower = room_below(ax)
    if below == "counts":
        for number, panel in enumerate(panels.values()):
            single = len(panels) == 1
            look = {"fill": single, "alpha": 0.7 if single else 1.0, "linewidth": 1.3}
            lower.stairs(panel.bins.count, panel.bins.edges, color=_style.colour(number), **look)
        lower.set_ylabel("rows", fontsize="small")
    else:
        name = next(iter(panels.values())).name
        draw_distribution(lower, panel_of(below, name), below, height="weight")
        lower.set_ylabel("weight", fontsize="small")
        for handle, label in zip(*lower.get_legend_handles_labels(), strict=True):
            ax.plot([], [], color=handle.get_edgecolor(), linewidth=1.4, label=label)
    lower.tick_params(labelsize="small")
    lower.set_ylim(bottom=0)
    lower.spines[["top", "right"]].set_visible(False)
    lower.locator_params(axis="y", nbins=3)
    return lower
