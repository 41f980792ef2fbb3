"""The smooth reliability diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.plots import _style
from calibrant.plots._marginal_axes import room_below
from calibrant.plots._panels import as_named, draw_panels, outcome_word, require_names

if TYPE_CHECKING:
    from calibrant.curves.smooth import SmoothReliabilityCurve, SmoothReliabilityPanel

POINT = 0.005
"""A curve that is not as long as this is drawn as a point."""

THIN, THICK = 0.8, 4.5
"""Widths of the line where rows are rarest and densest."""


def plot_smooth_reliability(
    curves: SmoothReliabilityCurve | Mapping[str, SmoothReliabilityCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    band: bool = True,
    density: bool = True,
) -> Any:
    """Draw smooth reliability curves: the thicker the line, the more rows; their density stands below.

    Parameters
    ----------
    curves : SmoothReliabilityCurve or dict of name to SmoothReliabilityCurve
        One forecast, or several over each other. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    band : bool, default=True
        Draw the band around the event rate.
    density : bool, default=True
        Draw the density of the scores below the diagram.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no curve, if panels differ or are unknown or too many, or if ``ax`` is given for several.

    Examples
    --------
    >>> from calibrant import load_digits_forecast, smooth_reliability_curve
    >>> ax = smooth_reliability_curve(*load_digits_forecast()).plot()
    """
    require_names(panels)
    named = as_named(curves, "curves", "smooth_reliability_curve(y_true, y_prob)")
    first = next(iter(named.values()))
    labels = ("mean probability", outcome_word(first))
    draw = partial(_draw, labels=labels, symbol=first.symbol, band=band, density=density)
    height = 4.6 if not density else 5.2 if len(first.panels if panels is None else panels) == 1 else 5.5
    return draw_panels(named, draw, ax=ax, panels=panels, height=height, labels=labels)


def _draw(
    ax: Any,
    panels: Mapping[str, SmoothReliabilityPanel],
    alone: bool,
    *,
    labels: tuple[str, str],
    symbol: str,
    band: bool,
    density: bool,
) -> None:
    ax.plot([0, 1], [0, 1], color=_style.IDEAL, linestyle="--", linewidth=1, label="calibrated", zorder=1.5)
    for number, (name, panel) in enumerate(panels.items()):
        label = name or "forecast"
        _draw_curve(ax, panel, _style.colour(number), f"{label}: {symbol} {panel.error:.3f}" if alone else label, band)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    below = ax
    if density:
        below = _draw_density(ax, panels)
        ax.tick_params(labelbottom=False)
    if alone:
        ax.set_ylabel(labels[1])
        below.set_xlabel(labels[0])
    elif len(panels) == 1:
        error = next(iter(panels.values())).error
        words = "no rows" if np.isnan(error) else f"{symbol} {error:.3f}"
        ax.text(0.97, 0.04, words, transform=ax.transAxes, ha="right", fontsize="small")


def _draw_curve(ax: Any, panel: SmoothReliabilityPanel, colour: str, label: str, band: bool) -> None:
    from matplotlib.collections import LineCollection

    if panel.score.size == 0:
        ax.plot([], [], color=colour, label=label)
        return
    if np.ptp(panel.mean_prob) < POINT:
        densest = int(np.argmax(panel.density))
        x, y = panel.mean_prob[densest], panel.event_rate[densest]
        if band:
            ax.vlines(x, panel.lower[densest], panel.upper[densest], color=colour, alpha=0.4, linewidth=THICK)
        ax.plot(x, y, color=colour, marker="o", markersize=8, linestyle="none", label=label, zorder=3)
        return
    if band:
        ax.fill_between(panel.mean_prob, panel.lower, panel.upper, color=colour, alpha=0.18, linewidth=0, zorder=2)
    points = np.column_stack([panel.mean_prob, panel.event_rate])
    share = np.sqrt(panel.density / panel.density.max())
    widths = THIN + (THICK - THIN) * np.minimum(share[1:], share[:-1])
    segments = np.stack([points[:-1], points[1:]], axis=1)
    ax.add_collection(LineCollection(list(segments), linewidths=widths, colors=colour, capstyle="round", zorder=3))
    ax.plot([], [], color=colour, linewidth=2.5, label=label)


def _draw_density(ax: Any, panels: Mapping[str, SmoothReliabilityPanel]) -> Any:
    below = room_below(ax)
    for number, panel in enumerate(panels.values()):
        colour = _style.colour(number)
        if len(panels) == 1:
            below.fill_between(panel.score, panel.density, color=colour, alpha=0.35, linewidth=0)
        below.plot(panel.score, panel.density, color=colour, linewidth=1.2)
    below.set_ylabel("density", fontsize="small")
    below.tick_params(labelsize="small")
    below.set_ylim(bottom=0)
    below.spines[["top", "right"]].set_visible(False)
    below.locator_params(axis="y", nbins=3)
    return below
