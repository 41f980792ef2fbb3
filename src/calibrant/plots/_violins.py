"""The predictions of each bin as a violin, coloured where the events of the bin reject them."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._core.problem import IntArray
from calibrant.curves.bin_profiles import BinProfiles
from calibrant.curves.bin_test import BinTestPanel
from calibrant.plots import _style

RATE = _style.COLOURS[-1]
REJECTED = {"facecolor": _style.GAP, "edgecolor": _style.GAP, "linewidth": 0.7}
KEPT = {"facecolor": _style.FILL, "edgecolor": _style.COLOURS[0], "linewidth": 0.7}
SIZES = {"facecolor": _style.FILL}

HALF_WIDTH, HALF_LINE = 0.4, 0.46
"""Of a violin where it is widest, and of the line of its event rate; bins are 1 apart."""

TRIANGLES = ("v", "^")
ON_EDGE = {"clip_on": False, "zorder": 5}
"""What marks, on the lower and the upper edge, that something lies beyond."""

MOST_SHARES, MOST_LEVEL = 25, {True: 10, False: 5}
"""Bins up to which the rejected shares are written, and up to which they are written level, in a diagram alone or not."""

MOST_TICKS, SOME_TICKS = {True: 25, False: 12}, 8
"""Bins that are all numbered, and about how many are where there are more."""


def draw_violins(ax: Any, below: Any, panel: BinTestPanel, alone: bool, log_odds: bool) -> None:
    """Draw the violins of a panel, each across its event rate, and the rows of the bins below; ``alone`` has more room."""
    bins, at = panel.bins, np.arange(1, len(panel.bins) + 1)
    held = bins.weight > 0
    ax.set_xscale("linear")
    ax.set_xlim(0.4, len(bins) + 0.6)
    ax.set_xticks(at[:: 1 if len(at) <= MOST_TICKS[alone] else -(-len(at) // SOME_TICKS)])
    ax.grid(axis="y", color=_style.GRID, linewidth=0.8)
    rate = {"color": RATE, "linewidth": 1.6, "zorder": 3, "label": "event rate"}
    ax.hlines(bins.event_rate[held], (at - HALF_LINE)[held], (at + HALF_LINE)[held], **rate)
    reach = (panel.upper - panel.lower)[held]
    ax.bar(at[held], reach, 2 * HALF_LINE, panel.lower[held], color=_style.BAND, label="accepted values", zorder=1)
    shown = panel.log_odds if log_odds else panel.probability
    for b in np.flatnonzero(held):
        _draw_violin(ax, panel, shown, int(b))
    if log_odds:
        _draw_beyond(ax, panel, shown)
    ax.fill([], [], **KEPT, label="not rejected")
    _draw_sizes(below, panel, at, alone)


def _draw_violin(ax: Any, panel: BinTestPanel, shown: BinProfiles, b: int) -> None:
    """Draw the violin of a bin, and over it once more what lies outside of the accepted probabilities."""
    at, half = b + 1, HALF_WIDTH * shown.density[b] / shown.density[b].max()
    heights = shown.slice_edges[b]
    outline = np.concatenate([at - half, (at + half)[::-1]]), np.concatenate([heights, heights[::-1]])
    is_all, is_none = panel.rejected[b] == panel.bins.weight[b], panel.rejected[b] == 0
    ax.fill(*outline, **(REJECTED if is_all else KEPT), zorder=2)
    if not (is_all or is_none):
        (over,) = ax.fill(*outline, **REJECTED, zorder=2.1)
        over.set_clip_path(_outside(at, panel.lower[b], panel.upper[b]), ax.transData)


def _outside(at: int, lower: float, upper: float) -> Any:
    """Return all that is below and above, around a place."""
    from matplotlib.path import Path

    left, right = at - 0.5, at + 0.5
    corners = [
        [(left, low), (right, low), (right, high), (left, high), (left, low)]
        for low, high in ((-1.0, lower), (upper, 2.0))
    ]
    return Path.make_compound_path(*(Path(np.array(c), closed=True) for c in corners))


def _draw_beyond(ax: Any, panel: BinTestPanel, shown: BinProfiles) -> None:
    """Mark on the edges the bins with predictions beyond, by what becomes of most of these, and with the event rate beyond."""
    low, high = ax.get_ylim()
    rate_is_beyond = np.stack([panel.bins.event_rate < low, panel.bins.event_rate > high])
    for side, b in np.argwhere(rate_is_beyond | (shown.beyond > 0)):
        look = REJECTED if 2 * shown.beyond_rejected[side, b] > shown.beyond[side, b] else KEPT
        ax.plot(
            *(b + 1, side, TRIANGLES[side]),
            markerfacecolor=look["edgecolor"] if shown.beyond[side, b] > 0 else "white",
            markeredgecolor=RATE if rate_is_beyond[side, b] else look["edgecolor"],
            transform=ax.get_xaxis_transform(),
            **ON_EDGE,
        )


def _draw_sizes(below: Any, panel: BinTestPanel, at: IntArray, alone: bool) -> None:
    """Draw the rows of each bin, and the part of them that is rejected, in percent."""
    weight = panel.bins.weight
    below.bar(at, weight, 2 * HALF_WIDTH, **SIZES)
    below.bar(at, panel.rejected, 2 * HALF_WIDTH, **REJECTED)
    if len(at) > MOST_SHARES or not weight.any():
        return
    is_level = len(at) <= MOST_LEVEL[alone]
    below.set_ylim(top=(1.3 if is_level else 2.0) * weight.max())
    shape = {"rotation": 0 if is_level else 90, "fontsize": "x-small" if alone else "xx-small"}
    place = {"xytext": (0, 2), "textcoords": "offset points", "ha": "center", "va": "bottom"}
    for b in np.flatnonzero(weight):
        below.annotate(f"{panel.rejected_share[b]:.0%}", (at[b], weight[b]), **place, **shape)
