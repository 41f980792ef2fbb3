"""The pictures of the study of normalisation-aware isotonic calibration: functions of plain data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import numpy.typing as npt
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter

from calibrant import plot_reliability
from calibrant import style as _style
from tools.make_gallery import save_picture

Array = npt.NDArray[Any]

ACROSS = 4
"""Reliability diagrams side by side."""

SETS_ACROSS = 6
"""Data sets side by side."""

LINES = (*_style.COLOURS, _style.IDEAL)
MARKERS = (*_style.MARKERS, "*", "h", "<", ">", "p")
"""Of methods. There are more markers than colours: where a colour comes again, it is with another one."""


def draw_wins(methods: list[str], percent: Array, title: str, path: Path) -> None:
    """Draw how often the method of a row beats that of a column (the paper's figures 3 and 10).

    ``percent`` has shape (n_methods, n_methods), values in [0, 100]; the diagonal is not read and may be NaN.
    """
    many = len(methods)
    shown = np.array(percent, dtype=float)
    np.fill_diagonal(shown, np.nan)
    side = 1.6 + 0.62 * many
    figure, ax = plt.subplots(figsize=(side + 0.8, 0.86 * side), layout="constrained")
    wins = mpl.colormaps[_style.CHANGE].reversed().with_extremes(bad=_style.BAND)
    image = ax.imshow(shown, cmap=wins, vmin=0.0, vmax=100.0, aspect="auto")
    for (row, column), value in np.ndenumerate(shown):
        if np.isfinite(value):
            dark = abs(value - 50.0) > 32.0
            ax.text(column, row, f"{value:.0f}", ha="center", va="center", color="white" if dark else "black")
    ax.set_xticks(range(many), methods, rotation=35, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(many), methods)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize="medium")
    bar = figure.colorbar(image, ax=ax, shrink=0.8, aspect=30)
    bar.set_label("% in which the row beats the column")
    bar.outline.set_visible(False)
    save_picture(figure, path)


def draw_values(values: dict[str, dict[str, list[float]]], label: str, path: Path, *, standardise: bool) -> None:
    """Draw the values of a metric by data set and method, a point a model (figures 7 to 9, 11 and 13).

    ``values[data set][method]`` holds one value a model. With ``standardise`` the values of a data set are drawn less their
    mean and divided by their standard deviation over all methods and models. NaN is left out.
    """
    methods = list(dict.fromkeys(method for of in values.values() for method in of))
    down = -(-len(values) // SETS_ACROSS)
    across = -(-len(values) // down)
    rows = [list(values)[start : start + across] for start in range(0, len(values), across)]
    size = (2.3 + max(0.17 * len(methods), 1.0) * across, 0.6 + 2.7 * len(rows))
    figure, axes = plt.subplots(len(rows), 1, figsize=size, squeeze=False, layout="constrained", sharey=True)
    for ax, names in zip(axes[:, 0], rows, strict=True):
        for place, name in enumerate(names):
            _draw_set(ax, place, methods, _standardised(values[name]) if standardise else values[name])
        ax.set_xticks(range(len(names)), names, fontsize="small")
        ax.set_xlim(-0.5, across - 0.5)
        ax.tick_params(axis="x", length=0)
        for edge in range(len(names) - 1):
            ax.axvline(edge + 0.5, color=_style.GRID, linewidth=0.8)
        _finish(ax)
    figure.supylabel(f"{label}, standardised by data set" if standardise else label, fontsize="medium")
    _name_methods(figure, methods)
    save_picture(figure, path)


def draw_times(
    seconds: dict[str, list[tuple[float, float]]], x_label: str, path: Path, y_label: str = "seconds"
) -> None:
    """Draw seconds against size, both on a log scale, a line a method (figures 5 and 6).

    ``seconds[method]`` holds pairs (size, seconds), in any order; the line runs through the medians of equal sizes.
    """
    figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    for number, pairs in enumerate(seconds.values()):
        size, taken = np.array(sorted(pairs), dtype=float).reshape(-1, 2).T
        at = np.unique(size)
        colour, marker = _look(number)
        ax.plot(at, [np.median(taken[size == one]) for one in at], color=colour, linewidth=1.5, zorder=3)
        ax.plot(size, taken, marker, color=colour, markersize=5, zorder=3.1)
    ax.set(xscale="log", yscale="log", xlabel=x_label, ylabel=y_label)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(LogLocator(subs=range(2, 10), numticks=20))
        axis.set_minor_formatter(NullFormatter())
    _finish(ax)
    ax.grid(color=_style.GRID, linewidth=0.8, axis="x")
    _name_methods(figure, seconds, linestyle="-")
    save_picture(figure, path)


def draw_reliability(panels: dict[str, Any], p_values: dict[str, float], path: Path) -> None:
    """Draw a reliability diagram a method, with its p-value (figure 1).

    ``panels[method]`` is a `ReliabilityCurve` of one panel (``"confidence"``), ``p_values[method]`` the p-value of the
    hypothesis that the forecast is calibrated; a method without one gets no number.
    """
    across = min(ACROSS, len(panels))
    down = -(-len(panels) // across)
    size = (2.45 * across + 0.3, 2.6 * down + 0.5)
    figure, axes = plt.subplots(
        down, across, figsize=size, squeeze=False, layout="constrained", sharex=True, sharey=True
    )
    for ax, (method, curve) in zip(axes.flat, panels.items(), strict=False):
        plot_reliability(curve, ax=ax, style="bars", below=None)
        key = ax.get_legend()
        key.remove()
        ax.set(xlabel="", ylabel="")
        ax.set_title(method + (f"  ({_p_word(p_values[method])})" if method in p_values else ""), fontsize="medium")
    words = [text.get_text() for text in key.get_texts()]
    figure.legend(key.legend_handles, words, loc="outside upper center", ncols=4, frameon=False)
    figure.supxlabel("mean probability", fontsize="medium")
    figure.supylabel("accuracy", fontsize="medium")
    for spare in axes.flat[len(panels) :]:
        spare.tick_params(left=False)
        spare.set_axis_off()
    for ax in axes.flat[max(len(panels) - across, 0) : len(panels)]:
        ax.tick_params(labelbottom=True)
    save_picture(figure, path)


def _draw_set(ax: Any, place: int, methods: list[str], of: dict[str, list[float]]) -> None:
    """Draw a column of points for each method of a data set, with a bar at the mean."""
    step = 0.84 / len(methods)
    for number, method in enumerate(methods):
        found = np.array(of.get(method, []), dtype=float)
        found = found[np.isfinite(found)]
        if found.size:
            at = place + step * (number - (len(methods) - 1) / 2)
            colour, marker = _look(number)
            ax.plot(np.full(found.size, at), found, marker, color=colour, markersize=5, alpha=0.6, markeredgewidth=0)
            ax.hlines(found.mean(), at - 0.42 * step, at + 0.42 * step, color=colour, linewidth=2.0)


def _standardised(of: dict[str, list[float]]) -> dict[str, list[float]]:
    found = np.concatenate([np.asarray(held, dtype=float) for held in of.values()])
    mean, spread = np.nanmean(found), np.nanstd(found)
    return {method: [(value - mean) / (spread or 1.0) for value in held] for method, held in of.items()}


def _look(number: int) -> tuple[str, str]:
    """Colour and marker of a method."""
    return LINES[number % len(LINES)], MARKERS[number % len(MARKERS)]


def _name_methods(figure: Any, methods: Iterable[str], **line: Any) -> None:
    handles = []
    for number, method in enumerate(methods):
        colour, marker = _look(number)
        look = {"linestyle": "", **line}
        handles.append(mpl.lines.Line2D([], [], color=colour, marker=marker, markersize=5, label=method, **look))
    figure.legend(handles=handles, loc="outside right upper", frameon=False)


def _finish(ax: Any) -> None:
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8, axis="y")
    ax.spines[["top", "right"]].set_visible(False)


def _p_word(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}" if p_value < 0.1 else f"p = {p_value:.2f}"
