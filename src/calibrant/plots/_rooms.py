"""What stands below and beside a diagram and shares an axis with it."""

from __future__ import annotations

from typing import Any

ROOM, APART = 0.24, 0.05
"""Size of what stands below and beside, and how far off, as parts of the diagram."""


def rooms(ax: Any) -> tuple[Any, Any]:
    """Return new Axes below and beside, that share an axis each."""
    if ax.figure.get_layout_engine() is not None:  # the layout makes room for what hangs out of an Axes
        below = ax.inset_axes([0, -ROOM - APART, 1, ROOM], sharex=ax)
        return below, ax.inset_axes([1 + APART, 0, ROOM, 1], sharey=ax)
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    divider, size = make_axes_locatable(ax), f"{ROOM:.0%}"  # shrinks a given Axes
    below = divider.append_axes("bottom", size=size, pad=0.12, sharex=ax)
    return below, divider.append_axes("right", size=size, pad=0.12, sharey=ax)


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
        axis.set_major_locator(MaxNLocator(2 if room is beside else 3, steps=[1, 2, 5, 10], integer=True))
        axis.set_major_formatter(EngFormatter(sep=""))
