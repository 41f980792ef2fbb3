"""Cells on the triangle of three classes, coloured by their calibrated vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from calibrant._links import FloatArray
from calibrant._parameters import choice
from calibrant.curves.simplex_mesh import middle_of, small_triangles
from calibrant.curves.simplex_partition import SimplexCells, SimplexPartition
from calibrant.plots import _style
from calibrant.plots._given import as_results
from calibrant.plots.simplex_map import CORNERS

Text = Literal["count", "value"]

CERTAIN = tuple(_style.colour(number) for number in (4, 5, 6))
"""Colours of the certain forecasts: the three of the palette whose mixtures differ most, whatever one's colour vision."""

GAMMA = 2.2
"""Power by which the numbers of a colour become light."""

BRIGHTNESS = np.array([0.299, 0.587, 0.114])
"""What red, green and blue add to how bright a colour looks."""

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
        Draw beside the first triangle a small one of what the colours say: there each vector stands in its own place.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several results
        What was drawn on. A place is a forecast before calibration, its colour is the vector after. The vector mixes the
        colours of the corners. Cells without rows are white; their vector is the uniform one, 1/3 each.

    Raises
    ------
    ValueError
        If there is no result, if ``axes`` are not as many as results, or if ``text`` is none of the words above.
    TypeError
        If something is no partition, such as a calibrator itself.

    Examples
    --------
    >>> from calibrant import simplex_partition
    >>> ax = simplex_partition(lambda prob: prob, resolution=24).plot()
    """
    named = as_results(results, "results", "simplex_partition(calibrator)", SimplexPartition)
    if text is not None:
        choice("text", text, ("count", "value"))
    given = _new_axes(len(named)) if axes is None else np.ravel(axes)
    if given.size != len(named):
        raise ValueError(
            f"axes must be one for each result; got {given.size} for {len(named)}. Leave axes out, or pass {len(named)}."
        )
    for ax, (name, result) in zip(given, named.items(), strict=True):
        _draw(ax, result, text)
        ax.set_title(name, fontsize="medium", pad=4)
    if key:
        _draw_key(given[0], next(iter(named.values())))
    return given[0] if len(named) == 1 else given


def mixed(vectors: FloatArray) -> FloatArray:
    """Mix the light of the corners: red, green and blue of each vector of probabilities, in [0, 1]."""
    from matplotlib.colors import to_rgb

    light = vectors @ np.array([to_rgb(colour) for colour in CERTAIN]) ** GAMMA
    colours: FloatArray = np.clip(light, 0.0, 1.0) ** (1.0 / GAMMA)
    return colours


def _new_axes(n: int) -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(1, n, figsize=(3.6 * n + 0.4, 3.5), squeeze=False, layout="constrained")[1].ravel()


def _draw(ax: Any, result: SimplexPartition, text: Text | None) -> None:
    from matplotlib.collections import LineCollection

    place = result.vertex @ CORNERS
    colours = np.where(result.is_empty[:, None], 1.0, mixed(result.calibrated))
    ax.add_collection(_mesh(place[result.triangle], colours))
    if result.cells is not None:
        for colour, width in (("white", 1.6), ("black", 0.7)):  # seen on dark cells and on light ones
            sides = place[result.cells.border]
            ax.add_collection(LineCollection(sides, colors=colour, linewidths=width, capstyle="round", zorder=1.5))
    _frame(ax, result.classes, size=7.0)
    if result.is_empty.any():
        ax.text(0.5, -0.06, "white: no rows, 1/3 each", ha="center", va="top", fontsize="x-small", color=_style.IDEAL)
    if text is not None and result.cells is not None:
        _write(ax, result.cells, text)
    ax.set(aspect="equal", xlim=(-0.05, 1.05), ylim=(-0.14, CORNERS[2, 1] + 0.12))
    ax.set_axis_off()


def _mesh(triangles: Any, colours: FloatArray) -> Any:
    from matplotlib.collections import PolyCollection

    # Smoothed edges would let the background through between neighbours; thousands of paths would make a heavy vector file.
    return PolyCollection(triangles, facecolors=colours, edgecolors="none", antialiaseds=False, rasterized=True)


def _frame(ax: Any, classes: tuple[str, ...], *, size: float) -> None:
    ax.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color="black", linewidth=1, solid_joinstyle="round", zorder=2)
    for name, (x, y), colour, below in zip(classes, CORNERS, CERTAIN, (True, True, False), strict=True):
        ax.plot([x], [y], marker="o", markersize=size, color=colour, markeredgecolor="black", markeredgewidth=0.7)
        ax.annotate(
            name,
            (x, y),
            (0, -size if below else size),
            textcoords="offset points",
            ha="center",
            va="top" if below else "bottom",
        )


def _write(ax: Any, cells: SimplexCells, text: Text) -> None:
    light = mixed(cells.value) @ BRIGHTNESS > 0.5
    digits = np.array([len(str(count)) for count in cells.count.tolist()])
    needed = np.maximum(ROOM[text], ROOM_OF_A_DIGIT * digits * (text == "count"))
    for number in np.flatnonzero(cells.room > needed):
        empty = cells.count[number] == 0
        ax.text(
            *(cells.middle[number] @ CORNERS),
            str(int(cells.count[number])) if text == "count" else "" if empty else _percent(cells.value[number]),
            color="black" if empty or light[number] else "white",
            ha="center",
            va="center",
            fontsize="x-small" if text == "count" else "xx-small",
            linespacing=0.95,
            zorder=3,
        )


def _percent(vector: FloatArray) -> str:
    return "\n".join(f"{100 * part:.0f}" for part in vector)


def _draw_key(ax: Any, result: SimplexPartition) -> None:
    """Draw what the colours say where the triangle leaves room."""
    vertex, triangle, _ = small_triangles(KEY_RESOLUTION)
    key = ax.inset_axes([0.0, 0.66, 0.24, 0.24])
    key.add_collection(_mesh((vertex @ CORNERS)[triangle], mixed(middle_of(vertex, triangle))))
    key.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color="black", linewidth=0.7)
    key.set(aspect="equal", xlim=(-0.03, 1.03), ylim=(-0.03, CORNERS[2, 1] + 0.03))
    key.set_title("colour of\na vector", fontsize="x-small", pad=2)
    key.set_axis_off()
