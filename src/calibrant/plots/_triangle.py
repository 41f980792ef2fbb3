"""The triangle of three classes that pictures lie on: its frame, its corners, and the points that it was split around."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.curves.simplex_partition import splits_inside
from calibrant.curves.simplex_points import CORNERS
from calibrant.plots import _style

TRIANGLE = CORNERS[3]

OF_A_NUMBER = 0.06
"""Room that a number in its circle takes, in sides of the triangle."""

SPACE_TO_PLANE = 8.0
"""About how many sides of the triangle there are in a unit of the projection of the tetrahedron."""

DOT = {"marker": "o", "markersize": 3, "markerfacecolor": "white", "markeredgecolor": "black", "markeredgewidth": 0.6}
"""A split whose number would cover another."""

BESIDE, ABOVE = 14, 18
"""Letters of a line that names a corner: of one beside another, and of the one that stands alone above."""


def draw_frame(
    ax: Any, classes: Sequence[str], colours: Sequence[str], *, markers: Sequence[str] = "ooo", size: float = 7.0
) -> None:
    """Draw the sides of the triangle, and each corner in the colour of its class with its name."""
    ax.plot(*np.vstack([TRIANGLE, TRIANGLE[:1]]).T, color="black", linewidth=1, solid_joinstyle="round", zorder=2)
    corners = zip(classes, TRIANGLE, colours, markers, (True, True, False), strict=False)
    for name, (x, y), colour, marker, below in corners:
        ax.plot(
            [x],
            [y],
            marker=marker,
            markersize=size,
            color=colour,
            markeredgecolor="black",
            markeredgewidth=0.7,
            zorder=2.5,  # below points: certain forecasts lie here
        )
        ax.annotate(
            cut(name, BESIDE, lines=2) if below else cut(name, ABOVE),
            (x, y),
            (0, -size if below else size),
            parse_math=False,
            textcoords="offset points",
            ha="center",
            va="top" if below else "bottom",
        )
    ax.set(aspect="equal", xlim=(-0.05, 1.05), ylim=(-0.14, TRIANGLE[2, 1] + 0.12))
    ax.set_axis_off()


def cut(name: str, letters: int, *, lines: int = 1) -> str:
    """Break a name into lines, and cut what is longer: whole it would lie on others, or leave the picture no room."""
    parts = textwrap.wrap(name, letters)
    if len(parts) > lines:
        parts[lines - 1 :] = [parts[lines - 1][: letters - 1] + "…"]
    return "\n".join(parts)


def draw_splits(ax: Any, splits: FloatArray) -> str:
    """Draw the points that were split around, each with its number in the order of splitting, or as a dot beside another.

    Returns what must be said of those that lie outside, where nothing is drawn.
    """
    inside = splits_inside(splits)
    numbered: list[FloatArray] = []
    for number, gamma in inside.items():
        place = gamma @ CORNERS[len(gamma)]
        if any(np.hypot(*(seen_from(ax, place) - seen_from(ax, other))) < OF_A_NUMBER for other in numbered):
            ax.plot(*place[:, None], **DOT)
            continue
        numbered.append(place)
        ax.text(
            *place,
            str(number),
            fontsize=5.5,
            ha="center",
            va="center_baseline",
            color="black",
            bbox={"boxstyle": "circle,pad=0.18", "facecolor": "white", "edgecolor": "black", "linewidth": 0.6},
            zorder=5,
        )
    left_out = len(splits) - len(inside)
    shape = "triangle" if splits.shape[1] == 3 else "tetrahedron"
    return f"{left_out} of {len(splits)} splitting points lie outside the {shape}" if left_out else ""


def seen_from(ax: Any, place: FloatArray) -> FloatArray:
    """Return where a place is seen on the page, but for scale: that of a point in space depends on the view."""
    if place.size == 2:
        return place
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    return np.array(proj_transform(*place, ax.get_proj())[:2]) * SPACE_TO_PLANE


def say_below(ax: Any, sentences: Sequence[str]) -> None:
    """Write what there is to say below the picture, in small letters."""
    if words := "\n".join(filter(None, sentences)):
        ax.annotate(
            words, (0.5, 0.0), xycoords="axes fraction", ha="center", va="top", fontsize="x-small", color=_style.IDEAL
        )
