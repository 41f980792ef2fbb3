"""The plot of cumulative residuals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.plots import _style
from calibrant.plots._legend import OF_TITLE, legend_above
from calibrant.plots._panels import as_named, draw_panels

if TYPE_CHECKING:
    from calibrant.curves.cumulative_residual import CumulativeResidualCurve, CumulativeResidualPanel

LABELS = ("share of rows, in the order of their probabilities", "cumulative outcome $-$ probability")

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Where the upper axis shows which probability has been reached."""

OF_UPPER_AXIS = 26.0
"""Points that the upper axis takes with its label."""


def plot_cumulative_residual(
    curves: CumulativeResidualCurve | Mapping[str, CumulativeResidualCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
) -> Any:
    """Draw cumulative residuals against the share of rows, with the band of a calibrated forecast.

    Parameters
    ----------
    curves : CumulativeResidualCurve or dict of name to CumulativeResidualCurve
        One forecast, or several over each other. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on. The upper axis of a single forecast shows which probability has been reached.

    Raises
    ------
    ValueError
        If there is no curve, if panels differ or are unknown or too many, or if ``ax`` is given for several.

    Notes
    -----
    Where the line climbs, events occur more often than predicted; where it falls, less often. Its slope is the difference.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import cumulative_residual_curve
    >>> ax = cumulative_residual_curve(*load_digits_forecast()).plot()
    """
    named = as_named(curves, "curves", "cumulative_residual_curve(y_true, y_prob)")
    level = next(iter(named.values())).level
    legend = partial(legend_above, room=OF_TITLE + (OF_UPPER_AXIS if len(named) == 1 else 0.0))
    draw = partial(_draw, level=level)
    return draw_panels(named, draw, ax=ax, panels=panels, height=4.2, labels=LABELS, legend=legend)


def _draw(ax: Any, panels: Mapping[str, CumulativeResidualPanel], alone: bool, *, level: float) -> None:
    ax.axhline(0, color=_style.IDEAL, linestyle="--", linewidth=1, label="calibrated", zorder=1.5)
    single = len(panels) == 1
    for number, (name, panel) in enumerate(panels.items()):
        colour, label = _style.colour(number), name or "forecast"
        if single:
            band = f"{1 - level:.0%} if calibrated"
            ax.axhspan(-panel.reach, panel.reach, color=_style.BAND, linewidth=0, label=band, zorder=0.4)
        else:
            for end in (-panel.reach, panel.reach):
                ax.axhline(end, color=colour, linestyle=":", linewidth=1.1, zorder=1.6)
        if alone:
            label += f": KS {panel.ks_error:.3f}, Kuiper {panel.kuiper_error:.3f}"
        ax.plot(panel.share, panel.cumulative, color=colour, linewidth=1.5, label=label, zorder=3)
    ax.set_xlim(0, 1)
    ax.margins(y=0.12)
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    if alone:
        ax.set(xlabel=LABELS[0], ylabel=LABELS[1])
    if single:
        _draw_scores(ax, panels[next(iter(panels))], alone)


def _draw_scores(ax: Any, panel: CumulativeResidualPanel, alone: bool) -> None:
    """Write on the upper axis the probability that has been reached at some shares."""
    if panel.score.size == 1:  # a class that is never predicted
        return
    at = np.minimum(np.searchsorted(panel.share, SHARES), panel.score.size - 1)
    upper = ax.secondary_xaxis("top")
    upper.set_xticks(SHARES, labels=[_brief(score) for score in panel.score[at]], fontsize="small")
    if alone:
        upper.set_xlabel("probability", fontsize="small")


def _brief(score: float) -> str:
    return f"{score:.2f}" if score >= 0.01 or score == 0 else f"{score:.3f}" if score >= 0.001 else "<.001"
