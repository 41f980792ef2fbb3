"""What stands for a bin in a reliability diagram."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calibrant.plots import _style

if TYPE_CHECKING:
    from calibrant.curves.reliability import ReliabilityCurve, ReliabilityPanel

Style = Literal["lines", "points", "bars"]
Markers = Literal["equal", "area", "counts"]

MOST_AREA = 180.0
LEAST_AREA = 10.0
"""Areas of the largest and the smallest marker, in square points."""


@dataclass(frozen=True, eq=False)
class Look:
    """How a reliability diagram is drawn: the words of `plot_reliability`, and what a forecast without a name is called."""

    style: Style = "lines"
    markers: Markers = "equal"
    log_odds: bool = False
    below: Any = None
    intervals: bool = True
    unnamed: str = "forecast"


def _lines(ax: Any, panel: ReliabilityPanel, name: str, number: int, look: Look, *, joined: bool = True) -> None:
    held = panel.bins.count > 0
    x, y, count = panel.bins.mean_prob[held], panel.bins.event_rate[held], panel.bins.count[held]
    if look.log_odds:  # no line leads to a point that is infinitely far away
        y = np.ma.masked_where((y == 0) | (y == 1), y)
    sized = look.markers == "area" and count.size > 0
    shape = {"marker": "" if sized else _style.marker(number), "linestyle": "-" if joined else ""}
    paint = {"color": _style.colour(number), "label": name}
    ax.plot(x, y, markersize=5, linewidth=1.5, zorder=3, **shape, **(paint | {"label": ""} if sized else paint))
    if sized:
        area = np.maximum(MOST_AREA * count / count.max(), LEAST_AREA)
        whole = {"clip_on": look.log_odds}  # a large marker on the edge is seen whole; log-odds have points far outside
        ax.scatter(x, y, area, marker=_style.marker(number), linewidths=0, alpha=0.75, zorder=3.1, **whole, **paint)
    if look.markers == "counts":
        _write_counts(ax, panel, _style.colour(number))


def _points(ax: Any, panel: ReliabilityPanel, name: str, number: int, look: Look) -> None:
    _lines(ax, panel, name, number, look, joined=False)


def _bars(ax: Any, panel: ReliabilityPanel, name: str, number: int, look: Look) -> None:
    bins, held = panel.bins, panel.bins.count > 0
    place = {"x": bins.edges[:-1][held], "width": np.diff(bins.edges)[held], "align": "edge"}
    ax.bar(height=bins.event_rate[held], color=_style.FILL, edgecolor="white", label=name, zorder=1.1, **place)
    paint = {"facecolor": "none", "edgecolor": _style.GAP, "hatch": "//", "linewidth": 0.8}
    label = "gap to mean probability"
    ax.bar(height=bins.gap[held], bottom=bins.mean_prob[held], label=label, zorder=1.2, **paint, **place)
    _points(ax, panel, "", number, look)


STYLES: Mapping[str, Callable[..., None]] = {"lines": _lines, "points": _points, "bars": _bars}


def _write_counts(ax: Any, panel: ReliabilityPanel, colour: str) -> None:
    """Write the number of rows beside each point: on the side away from the diagonal, if there is room."""
    from matplotlib.patheffects import withStroke

    bins = panel.bins
    for x, y, count, gap in zip(bins.mean_prob, bins.event_rate, bins.count, bins.gap, strict=True):
        if count > 0:
            right, up = x < 0.12 or (x <= 0.88 and gap <= 0), y < 0.05 or (y <= 0.95 and gap > 0)
            text = ax.annotate(
                f"{count:,}",
                (x, y),
                xytext=(5 if right else -5, 3 if up else -3),
                textcoords="offset points",
                fontsize="x-small",
                color=colour,
                ha="left" if right else "right",
                va="bottom" if up else "top",
            )
            text.set(zorder=4, path_effects=[withStroke(linewidth=2, foreground="white")])


def draw_intervals(ax: Any, panel: ReliabilityPanel, curve: ReliabilityCurve, number: int, *, single: bool) -> None:
    """Draw the interval of each bin: thin for a confidence interval, broad and pale for a consistency interval."""
    held = panel.bins.count > 0
    x, lower, upper = panel.bins.mean_prob[held], panel.lower[held], panel.upper[held]
    if curve.interval == "consistency":
        colour, label = _style.colour(number), None
        if single:
            colour, label = _style.IDEAL, f"{1 - curve.level:.0%} if calibrated"
        ax.vlines(x, lower, upper, color=colour, linewidth=5, alpha=0.4, label=label, zorder=1.4)
    elif curve.interval is not None:
        ax.vlines(x, lower, upper, color=_style.colour(number), linewidth=1.2, alpha=0.55, zorder=2)


def draw_edges(ax: Any, panel: ReliabilityPanel, number: int) -> None:
    """Mark on the lower and the upper edge the bins whose event rate has no log-odds."""
    low, high = ax.get_xlim()
    shown = (panel.bins.mean_prob >= low) & (panel.bins.mean_prob <= high)
    for height, rate, marker in ((0.0, 0.0, "v"), (1.0, 1.0, "^")):
        at = panel.bins.mean_prob[shown & (panel.bins.event_rate == rate)]
        look = {"color": _style.colour(number), "markerfacecolor": "white", "clip_on": False, "zorder": 5}
        if at.size:  # the layout makes room even for a line without points
            ax.plot(at, np.full(at.shape, height), marker, transform=ax.get_xaxis_transform(), **look)
