"""ROC surfaces: points in space for three classes, in the plane for two, and pair by pair for more."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from calibrant._core.parameters import refuse, require
from calibrant.curves.roc_surface import RocSurface
from calibrant.plots import _style
from calibrant.plots._given import as_results
from calibrant.plots._legend import legend_above
from calibrant.plots._panels import COLUMNS, MOST_PANELS

CALL = "roc_surface(y_true, y_prob)"

VIEW = {"elev": 24.0, "azim": 38.0}
"""From where the corner of what is all right is in front and above."""

TICKS = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Numbers on the two axes on the ground; their ends meet in one corner, where there is no room for both."""

SIZES = (5.0, 26.0, 34.0, 42.0)
"""Areas of the dots of each result in points: the first is the ground on which the others stand."""


def plot_roc_surface(results: RocSurface | Mapping[str, RocSurface], *, ax: Any = None, hull: bool = True) -> Any:
    """Draw the points of ROC surfaces, one over the other: before calibration as small dots, after it as larger ones.

    Parameters
    ----------
    results : RocSurface or dict of name to RocSurface
        One surface, or several of the same classes; the first has the smallest dots.
    ax : matplotlib Axes, optional
        Where to draw, of three classes with ``projection="3d"``; a new figure by default.
    hull : bool, default=True
        Draw the convex hull of two classes as a line, of three as a veil over the first result.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for more than three classes
        What was drawn on. An axis is the share of a class that is classified correctly; of more than three classes there is
        an Axes for each pair of them.

    Raises
    ------
    ValueError
        If there is no result, if classes differ, if ``ax`` does not suit, or if there are more pairs of classes than a figure
        holds.
    TypeError
        If something is no surface.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.curves import roc_surface
    >>> P = np.random.default_rng(0).dirichlet([1, 1, 1], 50)
    >>> ax = roc_surface(P.argmax(axis=1), P, thresholds=10).plot()
    """
    named = as_results(results, "results", CALL, RocSurface)
    classes = _shared_classes(named)
    if len(classes) == 3:
        return _draw_space(named, classes, ax, hull=hull)
    if len(classes) == 2:
        return _draw_plane(named, classes, (0, 1), ax or _new_plane(), hull=hull)
    require(
        ax is None,
        f"ax must be left out for {len(classes)} classes",
        got="one",
        hint="There is an Axes for each pair of them",
    )
    return _draw_pairs(named, classes)


def _shared_classes(named: Mapping[str, RocSurface]) -> tuple[str, ...]:
    found = list(dict.fromkeys(result.classes for result in named.values()))
    if len(found) > 1:
        refuse("results must be of the same classes", got=f"{found[0]} and {found[1]}", hint="Draw them apart")
    return found[0]


def _new_plane() -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(4.4, 4.4), layout="constrained")[1]


def _draw_plane(
    named: Mapping[str, RocSurface], classes: tuple[str, ...], pair: tuple[int, int], ax: Any, *, hull: bool
) -> Any:
    """Draw two of the shares against each other."""
    for number, (name, result) in enumerate(named.items()):
        x, y = result.share[:, pair[0]], result.share[:, pair[1]]
        colour = _style.colour(number)
        if hull and len(classes) == 2:
            corner = np.flatnonzero(result.on_hull)
            ax.plot(x[corner], y[corner], color=colour, linewidth=1.2, alpha=0.8, zorder=2)
        ax.scatter(x, y, s=_size(number), color=colour, linewidths=0, label=name or None, zorder=3 + 0.1 * number)
    if len(classes) == 2:
        ax.plot([0, 1], [1, 0], color=_style.IDEAL, linestyle="--", linewidth=1, zorder=1)
    ax.set(aspect="equal", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set(xlabel=_told(classes[pair[0]]), ylabel=_told(classes[pair[1]]))
    ax.grid(color=_style.GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    if any(named):
        legend_above(ax, _keys(len(named)), list(named))
    return ax


def _draw_space(named: Mapping[str, RocSurface], classes: tuple[str, ...], ax: Any, *, hull: bool) -> Any:
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    if ax is None:
        ax = plt.figure(figsize=(6.2, 5.4)).add_subplot(projection="3d", computed_zorder=False)
        ax.figure.subplots_adjust(left=0.03, right=1.0, bottom=0.04, top=1.0)
        ax.view_init(**VIEW)
    elif getattr(ax, "name", "") != "3d":
        refuse("ax must be one with three axes for three classes", got="a flat one", hint="Pass projection='3d'")
    first = next(iter(named.values()))
    if hull:
        sides = first.share[first.facet]
        ax.add_collection3d(Poly3DCollection(sides, facecolors=_style.FILL, edgecolors="none", alpha=0.25, zorder=1))
    for number, (name, result) in enumerate(named.items()):
        edge = {"edgecolors": "white", "linewidths": 0.6} if number else {"linewidths": 0}
        ax.scatter(
            *result.share.T,
            s=_size(number),
            color=_style.colour(number),
            label=name or None,
            depthshade=False,
            alpha=0.55 if number == 0 and len(named) > 1 else 1.0,
            zorder=3 + number,
            **edge,
        )
    ax.set(xlim=(0, 1), ylim=(0, 1), zlim=(0, 1), xlabel=_told(classes[0]), ylabel=_told(classes[1]))
    ax.set_zlabel(_told(classes[2]))
    ax.set(xticks=TICKS, yticks=TICKS)
    ax.set_box_aspect((1, 1, 1), zoom=0.92)
    if any(named):
        ax.legend(_keys(len(named)), list(named), loc="upper left", frameon=False)
    return ax


def _draw_pairs(named: Mapping[str, RocSurface], classes: tuple[str, ...]) -> Any:
    import matplotlib.pyplot as plt

    pairs = list(combinations(range(len(classes)), 2))
    require(
        len(pairs) <= MOST_PANELS,
        f"a figure holds at most {MOST_PANELS} pairs of classes",
        value=len(pairs),
        hint="Take some of the classes, with rows='normalize'",
    )
    across = min(len(pairs), COLUMNS - 1)
    down = -(-len(pairs) // across)
    figure, grid = plt.subplots(down, across, figsize=(2.8 * across, 2.8 * down), squeeze=False, layout="constrained")
    for spare in grid.ravel()[len(pairs) :]:
        figure.delaxes(spare)
    for ax, pair in zip(grid.ravel(), pairs, strict=False):
        _draw_plane(named, classes, pair, ax, hull=False)
        if ax is not grid[0, 0] and ax.get_legend() is not None:
            ax.get_legend().remove()
    return grid.ravel()[: len(pairs)]


def _keys(n: int) -> list[Any]:
    """Return dots for a legend that are large enough to show their colours."""
    from matplotlib.lines import Line2D

    sizes = [max(_size(number), 16.0) ** 0.5 for number in range(n)]
    return [
        Line2D([], [], linestyle="", marker="o", markeredgewidth=0, markersize=size, color=_style.colour(number))
        for number, size in enumerate(sizes)
    ]


def _size(number: int) -> float:
    return SIZES[min(number, len(SIZES) - 1)]


def _told(name: str) -> str:
    return f"share of class {name} told right"
