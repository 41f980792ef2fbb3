"""Legends that hide nothing: above or beside an Axes, where the layout of the figure makes room for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

INSIDE = {"loc": "best", "frameon": True, "framealpha": 0.85, "edgecolor": "none", "fontsize": "small"}
"""A legend in a figure without a layout: where it hides least, and what it hides is seen through."""

OUTSIDE = {"frameon": False, "fontsize": "small"}

OF_TITLE = 24.0
"""Points between an Axes and the legend above it: there is room for a title of one line, also for one that is set later."""

MOST_COLUMNS = 3


def legend_above(
    ax: Any,
    handles: Sequence[Any] | None = None,
    labels: Sequence[str] | None = None,
    *,
    room: float = OF_TITLE,
    **options: Any,
) -> None:
    """Draw the legend above an Axes and its title, in as many columns as it is wide, where the layout makes room for it."""
    from matplotlib.transforms import ScaledTranslation

    given = _given(ax, handles, labels)
    if not given[1]:
        return
    if not _has_layout(ax):
        ax.legend(*given, **INSIDE)
        return
    above = ax.transAxes + ScaledTranslation(0.0, room / 72.0, ax.figure.dpi_scale_trans)
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "bbox_transform": above, "borderaxespad": 0.0}
    look = {"columnspacing": 1.2, "borderpad": 0.0, "alignment": "left", **OUTSIDE, **options}
    for n_columns in range(min(MOST_COLUMNS, len(given[1])), 0, -1):
        legend = ax.legend(*given, ncols=n_columns, **place, **look)
        if legend.get_window_extent().width <= ax.get_window_extent().width:
            return


def legend_beside(ax: Any, handles: Sequence[Any] | None = None, labels: Sequence[str] | None = None) -> None:
    """Draw the legend to the right of an Axes where the layout makes room for it, else inside."""
    given = _given(ax, handles, labels)
    if not given[1]:
        return
    if _has_layout(ax):
        ax.legend(*given, loc="upper left", bbox_to_anchor=(1.0, 1.0), **OUTSIDE)
    else:
        ax.legend(*given, **INSIDE)


def _given(ax: Any, handles: Sequence[Any] | None, labels: Sequence[str] | None) -> tuple[list[Any], list[str]]:
    """Return what stands in the legend: what is given, or all that the Axes names."""
    if handles is None or labels is None:
        handles, labels = ax.get_legend_handles_labels()
    return list(handles), list(labels)


def _has_layout(ax: Any) -> bool:
    return ax.figure.get_layout_engine() is not None
