"""Cells on the triangle of three classes, coloured by their calibrated vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, flag, require
from calibrant._core.problem import BoolArray
from calibrant.curves.simplex_mesh import middle_of, small_triangles
from calibrant.curves.simplex_partition import SimplexCells, SimplexPartition
from calibrant.plots import _style
from calibrant.plots._given import as_results
from calibrant.plots._simplex_colours import BRIGHTNESS, CERTAIN, Colours, mixed
from calibrant.plots._triangle import TRIANGLE, draw_frame, draw_splits, say_below

Text = Literal["count", "value"]

ROOM: dict[Text, float] = {"count": 0.024, "value": 0.045}
"""Cells with less room about their middles, in sides of the triangle, stay without text."""

ROOM_OF_A_DIGIT = 0.0115
"""The same for each digit of a number of rows."""

KEY_RESOLUTION = 24
"""Small triangles along each side of the key."""


def plot_simplex_partition(
    results: SimplexPartition | Mapping[str, SimplexPartition],
    *,
    axes: Any = None,
    text: Text | None = None,
    key: bool = True,
    colours: Colours | Literal["plain"] = "safe",
    splits: bool = True,
) -> Any:
    """Draw the cells of a calibrator on the triangle of three classes, each in the colour of its calibrated vector.

    Parameters
    ----------
    results : SimplexPartition or dict of name to SimplexPartition
        One calibrator, or several side by side.
    axes : matplotlib Axes or sequence of them, optional
        Where to draw, one for each result; a new figure by default.
    text : {"count", "value"}, optional
        What is written into each cell that has room: the number of rows it was fitted on, or its vector in percent. By
        default nothing.
    key : bool, default=True
        Draw a small triangle beside the first one as a key to the colours: there each vector stands in its own place.
    colours : {"safe", "rgb", "plain"}, default="safe"
        Colours of the corners, which vectors mix: those that people with any colour vision can tell apart, or red, green and
        blue in the parts of the three probabilities. Plain cells are white, and have no key.
    splits : bool, default=True
        Number the points that the calibrator split the simplex around, in that order, where it has a tree of splits. Those
        that lie outside of the triangle are counted below; the borders that they make are drawn.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several results
        What was drawn on. A place is a forecast before calibration, its colour is the vector after. The vector mixes the
        colours of the corners. Cells without rows are white; their vector is the uniform one, 1/3 each. Long names of classes
        are cut.

    Raises
    ------
    ValueError
        If there is no result, if ``axes`` are not as many as results, or if ``text`` or ``colours`` is none of the words above.
    TypeError
        If something is no partition, such as a calibrator itself.

    Examples
    --------
    >>> from calibrant.curves import simplex_partition
    >>> ax = simplex_partition(lambda prob: prob, resolution=24).plot()
    """
    named = as_results(results, "results", "simplex_partition(calibrator)", SimplexPartition)
    if text is not None:
        choice("text", text, ("count", "value"))
    choice("colours", colours, (*CERTAIN, "plain"))
    flag("splits", splits)
    palette: Colours | None = None if colours == "plain" else colours
    given = _new_axes(len(named)) if axes is None else np.ravel(axes)
    require(
        given.size == len(named),
        "axes must be one for each result",
        got=f"{given.size} for {len(named)}",
        hint=f"Leave axes out, or pass {len(named)}",
    )
    for ax, (name, result) in zip(given, named.items(), strict=True):
        _draw(ax, result, text, palette)
        if splits and result.splits is not None:
            say_below(ax, [draw_splits(ax, result.splits)])
        ax.set_title(name, fontsize="medium", pad=4, parse_math=False)
    if key and palette is not None:
        _draw_key(given[0], palette)
    return given[0] if len(named) == 1 else given


def _new_axes(n: int) -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(1, n, figsize=(3.6 * n + 0.4, 3.5), squeeze=False, layout="constrained")[1].ravel()


def _draw(ax: Any, result: SimplexPartition, text: Text | None, colours: Colours | None) -> None:
    from matplotlib.collections import LineCollection

    place = result.vertex @ TRIANGLE
    if colours is not None:
        ax.add_collection(
            _mesh(place[result.triangle], np.where(result.is_empty[:, None], 1.0, mixed(result.calibrated, colours)))
        )
    if result.cells is not None:
        for colour, width in (("white", 1.6), ("black", 0.7)):  # seen on dark cells and on light ones
            sides = place[result.cells.border]
            ax.add_collection(LineCollection(sides, colors=colour, linewidths=width, capstyle="round", zorder=1.5))
    draw_frame(ax, result.classes, ["white"] * 3 if colours is None else CERTAIN[colours])
    if result.is_empty.any() and colours is not None:
        ax.text(0.5, -0.06, "white: no rows, 1/3 each", ha="center", va="top", fontsize="x-small", color=_style.IDEAL)
    if text is not None and result.cells is not None:
        _write(ax, result.cells, text, colours)


def _mesh(triangles: Any, colours: FloatArray) -> Any:
    from matplotlib.collections import PolyCollection

    # Smoothed edges would let the background through between neighbours; thousands of paths would make a heavy vector file.
    return PolyCollection(triangles, facecolors=colours, edgecolors="none", antialiaseds=False, rasterized=True)


def _write(ax: Any, cells: SimplexCells, text: Text, colours: Colours | None) -> None:
    empty = np.zeros(len(cells.value), dtype=bool) if cells.count is None else cells.count == 0
    words = _words(cells, empty, text)
    light = np.ones(len(words), dtype=bool) if colours is None else mixed(cells.value, colours) @ BRIGHTNESS > 0.5
    needed = np.full(len(words), ROOM[text])
    if text == "count":
        needed = np.maximum(needed, ROOM_OF_A_DIGIT * np.array([len(word) for word in words]))
    said = np.array([bool(word) for word in words])
    for number in np.flatnonzero((cells.room > needed) & said):
        ax.text(
            *(cells.middle[number] @ TRIANGLE),
            words[number],
            color="black" if empty[number] or light[number] else "white",
            ha="center",
            va="center",
            fontsize="x-small" if text == "count" else "xx-small",
            linespacing=0.95,
            zorder=3,
        )


def _words(cells: SimplexCells, empty: BoolArray, text: Text) -> list[str]:
    """Return what is written into each cell; nothing where that is not known."""
    if text == "count":
        return [""] * len(empty) if cells.count is None else [str(count) for count in cells.count.tolist()]
    return ["" if none else _percent(value) for none, value in zip(empty.tolist(), cells.value, strict=True)]


def _percent(vector: FloatArray) -> str:
    return "\n".join(f"{100 * part:.0f}" for part in vector)


def _draw_key(ax: Any, colours: Colours) -> None:
    """Draw what the colours say where the triangle leaves room."""
    vertex, triangle, _ = small_triangles(KEY_RESOLUTION)
    key = ax.inset_axes([0.0, 0.66, 0.24, 0.24])
    key.add_collection(_mesh((vertex @ TRIANGLE)[triangle], mixed(middle_of(vertex, triangle), colours)))
    key.plot(*np.vstack([TRIANGLE, TRIANGLE[:1]]).T, color="black", linewidth=0.7)
    key.set(aspect="equal", xlim=(-0.03, 1.03), ylim=(-0.03, TRIANGLE[2, 1] + 0.03))
    key.set_title("colour of\na vector", fontsize="x-small", pad=2)
    key.set_axis_off()
