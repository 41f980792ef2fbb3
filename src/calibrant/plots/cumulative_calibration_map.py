"""Maps of cumulative calibrators, rank by rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, flag, require
from calibrant.binning import Bins
from calibrant.curves.cumulative_calibration_map import CumulativeCalibrationMap, CumulativeCalibrationMapPanel
from calibrant.plots import _style
from calibrant.plots._bin_marks import STYLES, Look, draw_intervals
from calibrant.plots._given import as_results
from calibrant.plots._legend import legend_above
from calibrant.plots._log_odds import use_log_odds
from calibrant.plots._panels import draw_panels, panel_of

Axis = Literal["probability", "log-odds"]

LABELS = ("sum of the highest probabilities", "probability that the class is among them")

ENDS = (1e-7, 1.0 - 1e-7)
"""Of an axis in log-odds: sums closer to one say nothing more of the map."""

DIAGONAL = expit(np.linspace(-20.0, 20.0, 401))
"""Where a line that changes nothing is drawn on an axis in log-odds."""

THINNEST, THICKER = 1.4, 0.9
"""Width of the line of the first rank, and how much wider each next one is below it: lines on each other all show."""


def plot_cumulative_calibration_map(
    maps: CumulativeCalibrationMap | Mapping[str, CumulativeCalibrationMap],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    together: bool | None = None,
    axis: Axis = "probability",
) -> Any:
    """Draw the maps of a cumulative calibrator, rank by rank, each as the steps that it is.

    Parameters
    ----------
    maps : CumulativeCalibrationMap or dict of name to CumulativeCalibrationMap
        One calibrator, or several over each other in a panel for each rank. Several must have the same ranks.
    ax : matplotlib Axes, optional
        Where to draw a single rank, or several together; a new figure by default.
    panels : sequence of str, optional
        Names of the ranks to draw, such as ``"top 3"``; by default all.
    together : bool, optional
        Whether the ranks of one calibrator share one Axes, without event rates, or have a panel each, with those that the map
        has. By default they share where there are no event rates, or ``ax`` is given.
    axis : {"probability", "log-odds"}, default="probability"
        Scale of the sums. Log-odds spread out those close to one, where those of a bold forecast lie; a triangle on the edge is
        an event rate of sums closer still.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on. Where lines lie on each other that of the higher rank is the wider one below.

    Raises
    ------
    ValueError
        If there is no map, if ranks differ or are unknown or too many, or if several calibrators are to be drawn together.
    TypeError
        If something is no `CumulativeCalibrationMap`.

    Examples
    --------
    >>> from calibrant import SortedCumulativeIsotonic, load_digits_forecast
    >>> from calibrant.curves import cumulative_calibration_map
    >>> y, prob = load_digits_forecast()
    >>> ax = cumulative_calibration_map(SortedCumulativeIsotonic().fit(prob, y)).plot()
    """
    named = as_results(maps, "maps", "cumulative_calibration_map(calibrator)", CumulativeCalibrationMap)
    choice("axis", axis, ("probability", "log-odds"))
    only = next(iter(named.values()))
    if together is None:
        together = len(named) == 1 and (ax is not None or only.curve is None)
    if not flag("together", together):
        draw = partial(_draw, maps=named, log_odds=axis == "log-odds")
        return draw_panels(named, draw, ax=ax, panels=panels, height=4.6, labels=LABELS)
    require(
        len(named) <= 1,
        "ranks of one calibrator are drawn together",
        got=f"{len(named)} calibrators",
        hint="Leave together out",
    )
    chosen = only.panels if panels is None else [panel_of(only, name) for name in panels]
    return _draw_together(chosen, ax, log_odds=axis == "log-odds")


def _draw_together(panels: Sequence[CumulativeCalibrationMapPanel], ax: Any, *, log_odds: bool) -> Any:
    import matplotlib.pyplot as plt

    require(
        0 < len(panels) <= len(_style.COLOURS),
        f"one Axes shows from 1 to {len(_style.COLOURS)} ranks",
        value=len(panels),
        hint="Choose some: panels=['top 1', ...], or pass together=False",
    )
    if ax is None:
        ax = plt.subplots(figsize=(5.6 if log_odds else 4.6, 4.6), layout="constrained")[1]
    _draw_frame(ax, [panel.left for panel in panels], log_odds=log_odds)
    for number, panel in enumerate(panels):
        look = {"linewidth": THINNEST + THICKER * number, "zorder": 3 - 0.01 * number, "solid_joinstyle": "miter"}
        ax.plot(*panel.corners, color=_style.colour(number), label=panel.name, **look)
    ax.set(xlabel=LABELS[0], ylabel=LABELS[1])
    legend_above(ax)
    return ax


def _draw_frame(ax: Any, sums: Sequence[FloatArray], *, log_odds: bool) -> None:
    """Draw the line that changes nothing, and what lies behind it; the axis in log-odds spans the sums."""
    same = DIAGONAL if log_odds else np.array([0.0, 1.0])
    ax.plot(same, same, color=_style.IDEAL, linestyle="--", linewidth=1, label="unchanged", zorder=1.5)
    if log_odds:
        use_log_odds(ax, np.concatenate(sums), ENDS)
        ax.tick_params(axis="x", rotation=40)
        ax.set_yscale("linear")
    else:
        ax.set(xlim=(-0.02, 1.02), aspect="equal")
    ax.set_ylim(-0.02, 1.02)
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)


def _draw(
    ax: Any,
    panels: Mapping[str, CumulativeCalibrationMapPanel],
    alone: bool,
    *,
    maps: Mapping[str, CumulativeCalibrationMap],
    log_odds: bool,
) -> None:
    curve, sums = next(iter(maps.values())).curve, [panel.left for panel in panels.values()]
    if curve is not None:
        points = panel_of(curve, next(iter(panels.values())).name)
        look = Look(style="points")
        STYLES[look.style](ax, points, "event rate", 0, look)
        draw_intervals(ax, points, curve, 0, single=True)
        sums.append(points.bins.mean_prob[points.bins.count > 0])
    _draw_frame(ax, sums, log_odds=log_odds)
    if curve is not None and log_odds:
        _draw_beyond(ax, points.bins)
    for number, (name, panel) in enumerate(panels.items(), start=1):  # the points are number 0
        ax.plot(*panel.corners, color=_style.colour(number), linewidth=1.8, label=name or "map", zorder=2.5)
    if alone:
        ax.set(xlabel=LABELS[0], ylabel=LABELS[1])


def _draw_beyond(ax: Any, bins: Bins) -> None:
    """Mark on the right edge the bins whose sums are too close to one for the axis."""
    right = ax.get_xlim()[1]
    rate = bins.event_rate[bins.mean_prob > right]
    look = {"color": _style.colour(0), "markerfacecolor": "white", "clip_on": False, "zorder": 5}
    if rate.size:
        ax.plot(np.full(rate.shape, right), rate, ">", **look)
