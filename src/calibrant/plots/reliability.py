"""The reliability diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.plots import _style

if TYPE_CHECKING:
    from calibrant.curves.reliability import ReliabilityCurve, ReliabilityPanel

COLUMNS = 4
"""Panels side by side, where there are several."""

MOST_PANELS = 40
"""More than this no eye takes in, and matplotlib takes minutes."""


def plot_reliability(
    curves: ReliabilityCurve | Mapping[str, ReliabilityCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    intervals: bool = True,
    counts: bool = True,
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
    intervals : bool, default=True
        Draw the interval of each event rate.
    counts : bool, default=True
        Draw the number of rows in each bin below the diagram.

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
    >>> from calibrant import load_digits_forecast, reliability_curve
    >>> ax = reliability_curve(*load_digits_forecast()).plot()
    """
    import matplotlib.pyplot as plt

    named = curves if isinstance(curves, Mapping) else {"": curves}
    if not named:
        raise ValueError("curves must hold at least one curve; got none. Pass reliability_curve(y_true, y_prob).")
    first = next(iter(named.values()))
    chosen = _chosen_panels(named, panels)
    if ax is not None and len(chosen) > 1:
        raise ValueError(
            f"one Axes holds one panel; the curve has {len(chosen)}. Leave ax out, or choose one: panels=[{chosen[0]!r}]."
        )
    axes = _new_axes(plt, len(chosen), counts) if ax is None else np.array([ax])
    for panel_ax, title in zip(axes, chosen, strict=True):
        drawn = {name: _panel(curve, title) for name, curve in named.items()}
        _draw(panel_ax, drawn, title, first, intervals=intervals, counts=counts, alone=len(chosen) == 1)
    if len(chosen) > 1:
        figure = axes[0].figure
        figure.supxlabel("mean probability")
        figure.supylabel(_event(first))
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=8, frameon=False)
    return axes[0] if len(chosen) == 1 else axes


def _chosen_panels(named: Mapping[str, ReliabilityCurve], panels: Sequence[str] | None) -> list[str]:
    titles = [[panel.name for panel in curve.panels] for curve in named.values()]
    if any(other != titles[0] for other in titles):
        raise ValueError(
            f"curves over each other must have the same panels; got {titles}. Use one notion and the same classes."
        )
    if panels is None:
        if len(titles[0]) > MOST_PANELS:
            raise ValueError(
                f"a figure holds at most {MOST_PANELS} panels; the curve has {len(titles[0])}. "
                f"Choose some: panels=[{titles[0][0]!r}, ...]."
            )
        return titles[0]
    unknown = [name for name in panels if name not in titles[0]]
    if unknown:
        raise ValueError(
            f"panels must be among those of the curve, such as {titles[0][0]!r}; got {unknown}. Name these."
        )
    if not panels:
        raise ValueError(f"panels must name at least one panel; got none. Leave it out, or pass [{titles[0][0]!r}].")
    return list(panels)


def _panel(curve: ReliabilityCurve, name: str) -> ReliabilityPanel:
    return next(panel for panel in curve.panels if panel.name == name)


def _event(curve: ReliabilityCurve) -> str:
    return "accuracy" if curve.notion in ("confidence", "top-label") else "event rate"


def _new_axes(plt: Any, n_panels: int, counts: bool) -> Any:
    across = min(n_panels, COLUMNS)
    down = -(-n_panels // across)
    size = (4.6, 5.2 if counts else 4.6) if n_panels == 1 else (2.9 * across, (3.5 if counts else 2.9) * down)
    figure, grid = plt.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    for spare in grid.ravel()[n_panels:]:
        figure.delaxes(spare)
    return grid.ravel()[:n_panels]


def _draw(
    ax: Any,
    panels: Mapping[str, ReliabilityPanel],
    title: str,
    curve: ReliabilityCurve,
    *,
    intervals: bool,
    counts: bool,
    alone: bool,
) -> None:
    ax.plot([0, 1], [0, 1], color=_style.IDEAL, linestyle="--", linewidth=1, label="calibrated", zorder=1)
    for number, (name, panel) in enumerate(panels.items()):
        colour, marker = (choice[number % len(choice)] for choice in (_style.COLOURS, _style.MARKERS))
        held = panel.bins.count > 0
        x, y = panel.bins.mean_prob[held], panel.bins.event_rate[held]
        ax.plot(x, y, color=colour, marker=marker, markersize=5, linewidth=1.5, label=name or "forecast", zorder=3)
        if intervals:
            ax.vlines(x, panel.lower[held], panel.upper[held], color=colour, linewidth=1.2, alpha=0.55, zorder=2)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    ax.set_title("" if alone and title in ("binary", "") else title, fontsize=None if alone else "medium")
    below = _draw_counts(ax, panels) if counts else ax
    if counts:
        ax.tick_params(labelbottom=False)
    ax.set_ylabel(_event(curve) if alone else "")
    below.set_xlabel("mean probability" if alone else "")
    if alone:
        ax.legend(loc="best", frameon=False)


def _draw_counts(ax: Any, panels: Mapping[str, ReliabilityPanel]) -> Any:
    below = _axes_below(ax)
    for number, panel in enumerate(panels.values()):
        below.stairs(
            panel.bins.count,
            panel.bins.edges,
            color=_style.COLOURS[number % len(_style.COLOURS)],
            fill=len(panels) == 1,
            alpha=0.7 if len(panels) == 1 else 1.0,
            linewidth=1.3,
        )
    below.set_ylabel("rows", fontsize="small")
    below.tick_params(labelsize="small")
    below.set_ylim(bottom=0)
    below.spines[["top", "right"]].set_visible(False)
    below.locator_params(axis="y", nbins=3)
    return below


def _axes_below(ax: Any) -> Any:
    if (
        ax.figure.get_layout_engine() is not None
    ):  # our own figure, whose layout makes room for what hangs out of an Axes
        return ax.inset_axes([0, -0.27, 1, 0.22], sharex=ax)
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    return make_axes_locatable(ax).append_axes("bottom", size="22%", pad=0.12, sharex=ax)  # shrinks a given Axes to fit
