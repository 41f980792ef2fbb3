"""Words beside points: in the first place where they cover nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.plots import _style

Place = tuple[float, float, str, str]
"""Points to the right and up, and which side of the words stands there."""

APART = 4.0
"""Pixels of room about words."""


NEAR = 10.0
"""Points up to which words stand beside their point; words further away are tied to it."""


def put_beside(text: Any, places: Sequence[Place], points: FloatArray, taken: Sequence[Any], page: Any) -> int:
    """Move words to the first place where they cover no point and no other words, or to that of the least; return how many.

    ``text`` is an annotation in offset points; ``points``, ``taken`` and ``page`` are in pixels: what is not to be covered, the
    boxes of other words, and the box that is not to be left, which is worse than to cover anything.
    """
    covered: list[int] = []
    for place in places:
        _put(text, place)
        covered.append(_covered(text.get_window_extent(), points, taken, page))
        if covered[-1] == 0:
            return 0
    best = int(np.argmin(covered))
    _put(text, places[best])
    return covered[best]


def tie(ax: Any, text: Any) -> None:
    """Draw a line from words to their point, if they stand away from it."""
    if np.hypot(*text.get_position()) > NEAR:
        look = {"arrowstyle": "-", "linewidth": 0.7, "color": _style.IDEAL, "shrinkA": 1, "shrinkB": 3}
        ax.annotate("", text.xy, xytext=text.get_position(), textcoords="offset points", arrowprops=look, zorder=2)


def _put(text: Any, place: Place) -> None:
    right, up, ha, va = place
    text.set(position=(right, up), ha=ha, va=va)


def _covered(box: Any, points: FloatArray, taken: Sequence[Any], page: Any) -> int:
    padded = box.padded(APART)
    outside = padded.x0 < page.x0 or padded.x1 > page.x1 or padded.y0 < page.y0 or padded.y1 > page.y1
    inside = ((points > padded.min) & (points < padded.max)).all(axis=1)
    return int(100 * outside + inside.sum() + sum(bool(padded.overlaps(other)) for other in taken))
