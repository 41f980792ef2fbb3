"""What stands below and beside a diagram and shares an axis with it."""

from __future__ import annotations

from typing import Any

ROOM, APART = 0.22, 0.05
"""Size of what stands below and beside, and how far off, as parts of the diagram."""

PLACES = {
    "bottom": ([0, -ROOM - APART, 1, ROOM], "sharex"),
    "right": ([1 + APART, 0, ROOM, 1], "sharey"),
}
"""Where a room is, and which axis it shares."""


def room_below(ax: Any) -> Any:
    """Return new Axes below, that share the horizontal axis."""
    return _rooms(ax, "bottom")[0]


def rooms(ax: Any) -> tuple[Any, Any]:
    """Return new Axes below and beside, that share an axis each."""
    below, beside = _rooms(ax, "bottom", "right")
    return below, beside


def _rooms(ax: Any, *sides: str) -> list[Any]:
    if ax.figure.get_layout_engine() is not None:  # the layout makes room for what hangs out of an Axes
        return [ax.inset_axes(place, **{shared: ax}) for place, shared in (PLACES[side] for side in sides)]
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    divider = make_axes_locatable(ax)  # shrinks a given Axes
    return [divider.append_axes(side, size=f"{ROOM:.0%}", pad=0.12, **{PLACES[side][1]: ax}) for side in sides]


def tidy(ax: Any, below: Any, beside: Any) -> None:
    """Leave the corner between the rooms free; numbers of rows are short."""
    from matplotlib.ticker import EngFormatter, MaxNLocator

    ax.set_axisbelow(True)
    ax.tick_params(labelbottom=False)
    beside.tick_params(labelleft=False)
    beside.xaxis.tick_top()
    beside.xaxis.set_label_position("top")
    beside.spines[["bottom", "right"]].set_visible(False)
    below.spines[["top", "right"]].set_visible(False)
    for room, axis in ((below, below.yaxis), (beside, beside.xaxis)):
        room.tick_params(labelsize="small")
        axis.set_major_locator(MaxNLocator(1 if room is beside else 3, steps=[1, 2, 5, 10], integer=True))
        axis.set_major_formatter(EngFormatter(sep=""))
