"""Rows of three or four classes on the triangle or in the tetrahedron, coloured by label and by calibrated vector."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Literal

import numpy as np

from calibrant._core.parameters import choice, flag, refuse, require
from calibrant.curves.simplex_points import CORNERS, SimplexPoints
from calibrant.plots import _style
from calibrant.plots._given import as_results
from calibrant.plots._simplex_colours import CERTAIN, Colours, mixed
from calibrant.plots._triangle import ABOVE, cut, draw_frame, draw_splits, say_below

By = Literal["label", "calibrated"]

SIZES = (26.0, 3.0)
"""Area of a point in square points: the most, and the least, which thousands of them have."""

WORDS: dict[By, str] = {"label": "labels", "calibrated": "calibrated vectors"}

BELOW = 9
"""Letters of a line that names a corner of the tetrahedron that is not above: two are near the edge of the picture."""

AWAY = 7.0
"""How far above or below the corners of the tetrahedron their names stand, in points."""

REACH = 0.41
"""How far the box about the tetrahedron reaches from its middle: matplotlib leaves wide margins about it."""


def plot_simplex_points(
    results: SimplexPoints | Mapping[str, SimplexPoints],
    *,
    axes: Any = None,
    by: By | None = None,
    colours: Colours = "safe",
    splits: bool = True,
    view: tuple[float, float] = _style.VIEW,
) -> Any:
    """Draw rows where their forecasts lie, in the colours of their labels and in those of their calibrated vectors.

    Parameters
    ----------
    results : SimplexPoints or dict of name to SimplexPoints
        One set of rows, or several side by side.
    axes : matplotlib Axes or sequence of them, optional
        Where to draw, one for each picture, in space (``projection="3d"``) for four classes; a new figure by default.
    by : {"label", "calibrated"}, optional
        What the colours show. By default one picture for each of these that a result has.
    colours : {"safe", "rgb"}, default="safe"
        Colours of the corners, which vectors mix: those that people with any colour vision can tell apart, or red, green and
        blue in the parts of the first three probabilities.
    splits : bool, default=True
        Beside calibrated vectors, number the points that the calibrator split the simplex around, in that order. Those that
        lie outside of the simplex are counted below.
    view : tuple of two float, default=(24, -42)
        Height and turn, in degrees, from which the tetrahedron is seen.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several pictures
        What was drawn on. A place is a forecast. A label is shown by colour and marker, those of its corner. Long names of
        classes are cut.

    Raises
    ------
    ValueError
        If there is no result, if ``axes`` are not as many as pictures or not in space where they must be, if a result has not
        what ``by`` names, or if a word is none of the above.
    TypeError
        If something is no `SimplexPoints`.

    Examples
    --------
    >>> from calibrant.curves import simplex_points
    >>> ax = simplex_points([0, 2], [[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]]).plot()
    """
    named = as_results(results, "results", "simplex_points(y_true, y_prob)", SimplexPoints)
    choice("colours", colours, CERTAIN)
    flag("splits", splits)
    if by is not None:
        choice("by", by, WORDS)
    pictures = [(name, points, shown) for name, points in named.items() for shown in _shown(name, points, by)]
    dimensions = [len(points.classes) - 1 for _, points, _ in pictures]
    given = _new_axes(dimensions) if axes is None else np.ravel(axes)
    _require_axes(given, dimensions)
    for ax, (name, points, shown) in zip(given, pictures, strict=True):
        _draw(ax, points, shown, colours, view)
        drawn = points.n_rows > len(points.prob)
        below = [f"{len(points.prob)} of {points.n_rows} rows, drawn at random"] if drawn else []
        if splits and shown == "calibrated" and points.splits is not None:
            below.append(draw_splits(ax, points.splits))
        say_below(ax, below)
        ax.set_title(", ".join(filter(None, [name, WORDS[shown]])), fontsize="medium", pad=4, parse_math=False)
    return given[0] if len(pictures) == 1 else given


def _shown(name: str, points: SimplexPoints, by: By | None) -> list[By]:
    """Return what is drawn of a result: all that it has, or what was asked for."""
    has: list[By] = []
    if points.label is not None:
        has.append("label")
    if points.calibrated is not None:
        has.append("calibrated")
    if by is not None and by not in has:
        at = f" under {name!r}" if name else ""
        refuse(
            f"by must be what the points have, {' or '.join(map(repr, has))}",
            got=f"{by!r}{at}",
            hint="Pass a calibrator, or labels, to simplex_points",
        )
    return has if by is None else [by]


def _new_axes(dimensions: list[int]) -> Any:
    import matplotlib.pyplot as plt

    n = len(dimensions)
    figure = plt.figure(figsize=(3.6 * n + 0.2, 3.5), layout="constrained")
    return np.array(
        [figure.add_subplot(1, n, j + 1, projection="3d" if d == 3 else None) for j, d in enumerate(dimensions)]
    )


def _require_axes(given: Any, dimensions: list[int]) -> None:
    require(
        given.size == len(dimensions),
        "axes must be one for each picture",
        got=f"{given.size} for {len(dimensions)}",
        hint=f"Leave axes out, or pass {len(dimensions)}",
    )
    for ax, d in zip(given, dimensions, strict=True):
        if (getattr(ax, "name", "") == "3d") != (d == 3):
            wanted = "with projection='3d'" if d == 3 else "in the plane"
            refuse(f"axes must be {wanted} for {d + 1} classes", value=ax, hint="Leave axes out, or make them so")


def _draw(ax: Any, points: SimplexPoints, shown: By, colours: Colours, view: tuple[float, float]) -> None:
    n_classes = len(points.classes)
    certain = CERTAIN[colours][:n_classes]
    size = float(np.clip(6000.0 / max(len(points.prob), 1), SIZES[1], SIZES[0]))
    style: dict[str, Any] = {"s": size, "edgecolors": "black", "linewidths": 0.25, "zorder": 3}
    if n_classes == 4:
        style["depthshade"] = False  # a colour is a vector: paler, it would be another
    if shown == "label" and points.label is not None:
        markers = [_style.marker(j) for j in range(n_classes)]
        for j, (colour, marker) in enumerate(zip(certain, markers, strict=True)):
            ax.scatter(
                *points.place[points.label == j].T, color=colour, marker=marker, label=points.classes[j], **style
            )
    elif points.calibrated is not None:
        markers = ["o"] * n_classes
        ax.scatter(*points.place.T, c=mixed(points.calibrated, colours), **style)
    if n_classes == 3:
        draw_frame(ax, points.classes, certain, markers=markers)
    else:
        _draw_solid(ax, points.classes, certain, markers, view)


def _draw_solid(
    ax: Any, classes: tuple[str, ...], colours: tuple[str, ...], markers: list[str], view: tuple[float, float]
) -> None:
    """Draw the edges of the tetrahedron, and each corner in the colour of its class with its name."""
    from matplotlib.transforms import offset_copy

    corners, (height, turn) = CORNERS[4], np.radians(view)
    middle = corners.mean(axis=0)
    upward = np.array([-np.sin(height) * np.cos(turn), -np.sin(height) * np.sin(turn), np.cos(height)])
    ax.view_init(*view)
    for one, other in combinations(corners, 2):
        ax.plot(*np.column_stack([one, other]), color=_style.IDEAL, linewidth=0.9, zorder=2)
    for name, corner, colour, marker in zip(classes, corners, colours, markers, strict=True):
        ax.plot(
            *corner[:, None], marker=marker, markersize=7, color=colour, markeredgecolor="black", markeredgewidth=0.7
        )
        above = bool((corner - middle) @ upward > 0)
        moved = offset_copy(ax.transData, fig=ax.figure, y=AWAY if above else -AWAY, units="points")
        style = {"ha": "center", "va": "bottom" if above else "top", "parse_math": False, "transform": moved}
        ax.text(*corner, cut(name, ABOVE) if above else cut(name, BELOW, lines=2), **style)
    for axis, centre in zip("xyz", np.add(middle, (0.0, 0.0, 0.07)), strict=True):
        ax.set(**{f"{axis}lim": (centre - REACH, centre + REACH)})
    ax.set_box_aspect((1, 1, 1))
    ax.set_axis_off()
