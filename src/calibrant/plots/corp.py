"""The CORP reliability diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.plots import _style
from calibrant.plots._legend import legend_above
from calibrant.plots._marginal_axes import room_below
from calibrant.plots._panels import as_named, draw_panels, outcome_word

if TYPE_CHECKING:
    from calibrant.curves.corp import CorpCurve, CorpPanel

BANDS = {
    "consistency": "{:.0%} if calibrated",
    "confidence": "{:.0%} confidence at each score",
    "simultaneous": "{:.0%} confidence at all scores",
}

CORNER = (0.6, 0.25)
"""What lies to the right of and below this is in the lower right corner."""


def plot_corp(
    curves: CorpCurve | Mapping[str, CorpCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    band: bool = True,
    histogram: bool = True,
) -> Any:
    """Draw CORP curves: the steps of the isotonic fit, the band, and the terms of the Brier score.

    Parameters
    ----------
    curves : CorpCurve or dict of name to CorpCurve
        One forecast, or several over each other. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    band : bool, default=True
        Draw the band that the curves hold.
    histogram : bool, default=True
        Draw the numbers of rows along the score below the diagram.

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
    >>> from calibrant import corp_curve, load_digits_forecast
    >>> ax = corp_curve(*load_digits_forecast(), n_resamples=100).plot()
    """
    named = as_named(curves, "curves", "corp_curve(y_true, y_prob)")
    first = next(iter(named.values()))
    labels = ("probability", outcome_word(first))
    draw = partial(_draw, curves=named, labels=labels, band=band, histogram=histogram)
    legend = 0.8 if len(first.panels if panels is None else panels) == 1 else 0.0  # with its title it stands above
    height = legend + (5.2 if histogram else 4.6)
    return draw_panels(named, draw, ax=ax, panels=panels, height=height, labels=labels, legend=None)


def _draw(
    ax: Any,
    panels: Mapping[str, CorpPanel],
    alone: bool,
    *,
    curves: Mapping[str, CorpCurve],
    labels: tuple[str, str],
    band: bool,
    histogram: bool,
) -> None:
    ax.plot([0, 1], [0, 1], color=_style.IDEAL, linestyle="--", linewidth=1, label="calibrated", zorder=1.5)
    single = len(panels) == 1
    for number, (name, panel) in enumerate(panels.items()):
        colour, label = _style.colour(number), name or "isotonic fit"
        if band and curves[name].band is not None:
            _draw_band(ax, panel, curves[name], colour, single=single)
        _draw_steps(ax, panel, colour, f"{label}: {', '.join(_terms(panel))}" if alone and not single else label)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    below = _draw_histogram(ax, panels) if histogram else ax
    if alone:
        ax.set_ylabel(labels[1])
        below.set_xlabel(labels[0])
        _write_legend(ax, panels)
    elif single:
        _write_terms(ax, next(iter(panels.values())))


def _draw_band(ax: Any, panel: CorpPanel, curve: CorpCurve, colour: str, *, single: bool) -> None:
    assert curve.band is not None  # the caller looked
    x, lower, upper = panel.score, panel.lower, panel.upper
    if curve.band == "simultaneous":
        x, lower, upper = _held(x, lower, upper)
    label = BANDS[curve.band].format(1 - curve.level) if single else None
    paint = {"color": _style.BAND} if single and curve.band == "consistency" else {"color": colour, "alpha": 0.18}
    ax.fill_between(x, lower, upper, linewidth=0, label=label, zorder=0.4, **paint)


def _held(x: Any, lower: Any, upper: Any) -> tuple[Any, Any, Any]:
    """Give a band corners: a lower bound holds on to the next score, an upper bound from the one before."""
    before, after = np.append(0.0, lower[:-1]), np.append(upper[1:], 1.0)
    return np.repeat(x, 2), np.column_stack([before, lower]).ravel(), np.column_stack([upper, after]).ravel()


def _draw_steps(ax: Any, panel: CorpPanel, colour: str, label: str) -> None:
    """Draw blocks as thick lines, or as points where they are one score, and thin lines from block to block."""
    from matplotlib.collections import LineCollection

    x, y = np.column_stack([panel.left, panel.right]).ravel(), np.repeat(panel.rate, 2)
    ax.plot(x, y, color=colour, linewidth=1, marker="o", markersize=3, markeredgewidth=0, zorder=3)
    blocks = list(np.column_stack([x, y]).reshape(-1, 2, 2))
    ax.add_collection(LineCollection(blocks, colors=colour, linewidths=3, zorder=3.1))
    ax.plot([], [], color=colour, linewidth=3, solid_capstyle="round", label=label)


def _draw_histogram(ax: Any, panels: Mapping[str, CorpPanel]) -> Any:
    below = room_below(ax)
    ax.tick_params(labelbottom=False)
    for number, panel in enumerate(panels.values()):
        bins, single = panel.histogram, len(panels) == 1
        look = {"fill": single, "alpha": 0.7 if single else 1.0, "linewidth": 1.3}
        below.stairs(bins.count, bins.edges, color=_style.colour(number), **look)
    below.set_ylabel("rows", fontsize="small")
    below.tick_params(labelsize="small")
    below.set_ylim(bottom=0)
    below.spines[["top", "right"]].set_visible(False)
    below.locator_params(axis="y", nbins=3)
    return below


def _write_legend(ax: Any, panels: Mapping[str, CorpPanel]) -> None:
    """Write the legend; its title are the terms of a single forecast."""
    panel, words = next(iter(panels.values())), None
    if len(panels) == 1:
        words = "   ".join([*_terms(panel), f"UNC {panel.uncertainty:.4f}"]) if panel.rate.size else "no rows"
    legend_above(ax, title=words, title_fontsize="small")


def _write_terms(ax: Any, panel: CorpPanel) -> None:
    """Write the terms into the lower right corner, or where the curve is there, into the upper left."""
    words = "\n".join(_terms(panel)) if panel.rate.size else "no rows"
    is_there = bool(np.any((panel.right > CORNER[0]) & (panel.rate < CORNER[1])))
    x, y, ha, va = (0.04, 0.96, "left", "top") if is_there else (0.97, 0.04, "right", "bottom")
    box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": _style.GRID, "alpha": 0.85}
    ax.text(x, y, words, transform=ax.transAxes, ha=ha, va=va, fontsize="x-small", bbox=box, zorder=4)


def _terms(panel: CorpPanel) -> list[str]:
    return [f"MCB {panel.miscalibration:.4f}", f"DSC {panel.discrimination:.4f}"]
