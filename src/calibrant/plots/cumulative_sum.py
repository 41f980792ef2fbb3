"""Cumulative sum diagrams, and the way from a forecast over its diagram to the ROC curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from calibrant._core.parameters import choice, refuse
from calibrant.curves.cumulative_sum import CumulativeSumCurve, CumulativeSumPanel
from calibrant.plots import _style
from calibrant.plots._beside import put_beside, tie
from calibrant.plots._given import as_results
from calibrant.plots._legend import legend_above
from calibrant.plots._panels import draw_panels, require_names, settle
from calibrant.plots.roc import MOST_MARKS, SYMMETRIC, area_words, draw_curve, draw_frame, draw_hull

Style = Literal["diagram", "theorem"]

LABELS = ("share of rows, in the order of their probabilities", "events, as a share of all rows")

SLOPE_PLACES = (*tuple((far, -far, "left", "top") for far in (4.0, 12.0, 22.0, 34.0)), (-4.0, 4.0, "right", "bottom"))
"""Where a slope may stand beside its piece of the minorant, in points; the first place that is free is taken."""

ON_A_PIECE = 40
"""Points of each piece that no slope is to cover."""

OTHER, EVENT, AFTER, BEFORE = (_style.colour(number) for number in (0, 1, 2, 6))
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
    named = as_results(diagrams, "diagrams", "cumulative_sum_curve(y_true, y_prob)", CumulativeSumCurve)
    if choice("style", style, ("diagram", "theorem")) == "theorem":
        return _draw_theorem(_only(named, ax, panels))
    return draw_panels(named, _draw, ax=ax, panels=panels, height=4.6, labels=LABELS)


# The diagram


def _draw(ax: Any, panels: Mapping[str, CumulativeSumPanel], alone: bool) -> None:
    for number, (name, panel) in enumerate(panels.items()):
        colour = _style.colour(number)
        of = f" of {name}" if len(panels) > 1 else ""
        _draw_sums(ax, panel, colour, name or "cumulative sums")
        _draw_minorant(ax, panel, _style.GAP if len(panels) == 1 else colour, f"greatest convex minorant{of}")
    ax.set_xlim(-0.01, 1.01)
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    if alone:
        ax.set(xlabel=LABELS[0], ylabel=LABELS[1])


def _draw_sums(ax: Any, panel: CumulativeSumPanel, colour: str, label: str, linewidth: float = 1.4) -> None:
    size = 3.0 if panel.share.size <= MOST_MARKS else 0.0
    look = {"marker": "o", "markersize": size, "markeredgewidth": 0, "linewidth": linewidth}
    ax.plot(panel.share, panel.events, color=colour, label=label, zorder=3, **look)


def _draw_minorant(ax: Any, panel: CumulativeSumPanel, colour: str, label: str, linestyle: str = "--") -> None:
    x, y = panel.share[panel.vertex], panel.events[panel.vertex]
    look = {"marker": "o", "markersize": 4.0 if x.size <= MOST_MARKS else 0.0, "markerfacecolor": "white"}
    ax.plot(x, y, color=colour, linewidth=1.6, linestyle=linestyle, label=label, zorder=3.2, **look)


# The theorem


def _only(named: Mapping[str, CumulativeSumCurve], ax: Any, panels: Sequence[str] | None) -> CumulativeSumPanel:
    """Return the one panel that is to be shown."""
    require_names(panels)
    found = [p for diagram in named.values() for p in diagram.panels if panels is None or p.name in panels]
    if ax is not None or len(found) != 1:
        given = "an Axes" if ax is not None else f"{len(found)} panels"
        refuse(
            "the theorem is shown of one panel, in Axes of its own",
            got=given,
            hint="Leave ax out, and choose one: panels=['class 3']",
        )
    return found[0]


def _draw_theorem(panel: CumulativeSumPanel) -> Any:
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(8.4, 10.4), layout="constrained")
    axes = figure.subplots(3, 2, squeeze=False, height_ratios=(0.7, 1, 1.25))
    for row, draw in enumerate((_draw_scores, _draw_cumulated, _draw_roc)):
        for fitted in (False, True):
            draw(axes[row, int(fitted)], panel, fitted=fitted)
            axes[row, int(fitted)].set_title(TITLES[row][fitted], fontsize="medium")
    legend_above(axes[0, 0])
    for ax in axes.ravel():
        ax.set_axisbelow(True)
        ax.grid(color=_style.GRID, linewidth=0.8)
    for ax in axes[:2].ravel():
        ax.set_xlim(-0.02, 1.02)
    for ax in axes[1]:
        ax.set_xlabel(LABELS[0], fontsize="small")
    for ax, label in zip(axes[:, 0], ("probability", LABELS[1], SYMMETRIC[1]), strict=True):
        ax.set_ylabel(label, fontsize="small")
    settle(figure)  # where words are free is known when the layout is
    _write_slopes(axes[1, 1], panel)
    return axes


def _draw_scores(ax: Any, panel: CumulativeSumPanel, *, fitted: bool) -> None:
    """Draw each distinct score where its rows stand in their order, those without event first."""
    height, left, right = panel.fit if fitted else panel.score, panel.share[:-1], panel.share[1:]
    border = right - np.diff(panel.events)
    size, alpha, zorder = (22, 1.0, 3.5) if height.size <= MOST_DOTS else (7, 0.5, 2.5)
    if fitted:
        _draw_borders(ax, panel)
        ax.stairs(panel.slope, panel.share[panel.vertex], baseline=None, color=AFTER, linewidth=1.8, zorder=3)
    kinds = ((left, border, OTHER, "o", "no event"), (border, right, EVENT, "^", "event"))
    for begin, end, colour, marker, label in kinds:
        there = end - begin > TINY
        at = (begin + end)[there] / 2.0
        ax.scatter(
            at, height[there], s=size, color=colour, marker=marker, alpha=alpha, linewidth=0, label=label, zorder=zorder
        )
    ax.set_ylim(-0.06, 1.06)


def _draw_cumulated(ax: Any, panel: CumulativeSumPanel, *, fitted: bool) -> None:
    _draw_sums(ax, panel, BEFORE, "cumulative sums", linewidth=0.7 if fitted else 1.4)
    if fitted:
        _draw_borders(ax, panel)
        _draw_minorant(ax, panel, AFTER, "greatest convex minorant", linestyle="-")
    ax.margins(y=0.08)


def _draw_borders(ax: Any, panel: CumulativeSumPanel) -> None:
    for border in panel.share[panel.vertex[1:-1]] if panel.vertex.size <= MOST_MARKS else ():
        ax.axvline(border, color=AFTER, linestyle=":", linewidth=0.9, zorder=1.5)


def _write_slopes(ax: Any, panel: CumulativeSumPanel) -> None:
    """Write the slope beside each piece, where it covers neither the minorant nor another slope; else it is left out."""
    from matplotlib.patheffects import withStroke

    corners = np.column_stack([panel.share, panel.events])[panel.vertex]
    part = np.linspace(0.0, 1.0, ON_A_PIECE)[:, None]
    pieces = [ax.transData.transform(one + part * (other - one)) for one, other in pairwise(corners)]
    line, taken = np.concatenate(pieces), list[Any]()
    order = np.argsort([-np.hypot(*(piece[-1] - piece[0])) for piece in pieces], kind="stable")
    for number in order:  # the longest pieces first
        middle = (corners[number] + corners[number + 1]) / 2.0
        words = f"{panel.slope[number]:.2g}"
        text = ax.annotate(words, middle, (0, 0), textcoords="offset points", color=AFTER, fontsize="small", zorder=4)
        text.set_path_effects([withStroke(linewidth=2.0, foreground="white")])
        if put_beside(text, SLOPE_PLACES, line, taken, ax.bbox):
            text.remove()
        else:
            taken.append(text.get_window_extent())
            tie(ax, text)


def _draw_roc(ax: Any, panel: CumulativeSumPanel, *, fitted: bool) -> None:
    draw_frame(ax, symmetric=True)
    draw_curve(ax, panel.roc, BEFORE, "forecast", symmetric=True, linewidth=0.7 if fitted else 1.4)
    if fitted:
        draw_hull(ax, panel.roc, AFTER, "isotonic fit", symmetric=True, linestyle="-")
    area = panel.roc.hull_auc if fitted else panel.roc.auc
    ax.text(0.06, 0.06, f"area {area_words(area)}", transform=ax.transAxes, color=AFTER if fitted else BEFORE)
    ax.set_xlabel(SYMMETRIC[0], fontsize="small")
