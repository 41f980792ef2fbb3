"""ROC curves with their convex hulls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import flag
from calibrant.curves.roc import RocCurve, RocPanel
from calibrant.plots import _style
from calibrant.plots._given import as_results
from calibrant.plots._panels import draw_panels

LABELS = ("false positive rate", "true positive rate")
SYMMETRIC = ("no event: part below the threshold", "event: part above the threshold")

MOST_MARKS = 60
"""Vertices of a hull that are marked; more of them are a line."""


def plot_roc(
    curves: RocCurve | Mapping[str, RocCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    symmetric: bool = False,
    hull: bool = True,
) -> Any:
    """Draw ROC curves and their convex hulls, with the areas under both.

    Parameters
    ----------
    curves : RocCurve or dict of name to RocCurve
        One forecast, or several over each other. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    symmetric : bool, default=False
        Draw the symmetric ROC curve (SROC): the horizontal axis is turned round, so that both axes count rows that are on
        their own side of the threshold.
    hull : bool, default=True
        Draw the convex hull, dashed, with marks at its vertices.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no curve, if panels differ or are unknown or too many, or if ``ax`` is given for several.
    TypeError
        If something is no `RocCurve`, or no flag is given where one must stand.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import roc_curve
    >>> y, prob = load_digits_forecast()
    >>> ax = roc_curve(y == 8, prob[:, 8]).plot(symmetric=True)
    """
    named = as_results(curves, "curves", "roc_curve(y_true, y_prob)", RocCurve)
    labels = SYMMETRIC if flag("symmetric", symmetric) else LABELS
    draw = partial(draw_roc, symmetric=symmetric, hull=flag("hull", hull))
    return draw_panels(named, draw, ax=ax, panels=panels, height=4.6, labels=labels)


def draw_roc(ax: Any, panels: Mapping[str, RocPanel], alone: bool, *, symmetric: bool, hull: bool) -> None:
    """Draw the panels of several forecasts over each other."""
    draw_frame(ax, symmetric=symmetric)
    for number, (name, panel) in enumerate(panels.items()):
        colour, label = _style.colour(number), name or "forecast"
        draw_curve(ax, panel, colour, f"{label}: area {area_words(panel.auc)}" if alone else label, symmetric=symmetric)
        if hull:
            of = "" if len(panels) == 1 else f" of {label}"
            words = f"hull{of}: area {area_words(panel.hull_auc)}" if alone else f"hull{of}"
            own = {"marks": (4.0 if alone else 2.5) + 2.0 * (len(panels) - 1 - number)}
            draw_hull(
                ax, panel, colour, words, symmetric=symmetric, linestyle=_style.dashes(number, len(panels)), **own
            )
    if alone:
        xlabel, ylabel = SYMMETRIC if symmetric else LABELS
        ax.set(xlabel=xlabel, ylabel=ylabel)
    elif len(panels) == 1:
        _write_areas(ax, next(iter(panels.values())), symmetric=symmetric, hull=hull)


def draw_frame(ax: Any, *, symmetric: bool) -> None:
    """Draw the unit square, and the line of scores that tell nothing apart."""
    ends = [1, 0] if symmetric else [0, 1]
    ax.plot([0, 1], ends, color=_style.IDEAL, linestyle=":", linewidth=1, zorder=1.5)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)


def draw_curve(ax: Any, panel: RocPanel, colour: str, label: str, *, symmetric: bool, linewidth: float = 1.6) -> None:
    """Draw the points of a curve, joined."""
    ax.plot(*_path(panel, symmetric=symmetric), color=colour, linewidth=linewidth, label=label, zorder=3)


def draw_hull(
    ax: Any,
    panel: RocPanel,
    colour: str,
    label: str,
    *,
    symmetric: bool,
    marks: float = 4.0,
    linestyle: Any = "--",
) -> None:
    """Draw the convex hull of a curve, and fill what lies between the two."""
    x, y = _path(panel, symmetric=symmetric)
    corner_x, corner_y = x[panel.vertex], y[panel.vertex]
    between = (np.concatenate([x, corner_x[::-1]]), np.concatenate([y, corner_y[::-1]]))
    ax.fill(*between, color=colour, alpha=0.2, linewidth=0, zorder=2)
    size = marks if corner_x.size <= MOST_MARKS else 0.0
    look = {"marker": "o", "markersize": size, "markerfacecolor": "white", "linestyle": linestyle}
    ax.plot(corner_x, corner_y, color=colour, linewidth=1.2, label=label, zorder=3.2, **look)


def _path(panel: RocPanel, *, symmetric: bool) -> tuple[FloatArray, FloatArray]:
    return (panel.tnr if symmetric else panel.fpr), panel.tpr


def _write_areas(ax: Any, panel: RocPanel, *, symmetric: bool, hull: bool) -> None:
    words = [f"area {area_words(panel.auc)}", *([f"hull {area_words(panel.hull_auc)}"] if hull else [])]
    x, ha = (0.05, "left") if symmetric else (0.95, "right")
    ax.text(x, 0.06, "\n".join(words), transform=ax.transAxes, ha=ha, va="bottom", fontsize="small", zorder=4)


def area_words(area: float) -> str:
    """Write an area."""
    return "undefined" if np.isnan(area) else f"{area:.3f}"
