"""Confidence and top-label reliability in one diagram, and the classes within one of its bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse, require, whole
from calibrant._core.problem import IntArray
from calibrant.curves.top_label import ROUNDING, TopLabelCurve
from calibrant.plots import _style
from calibrant.plots._given import as_results, require_kind
from calibrant.plots._legend import legend_above

CALL = "top_label_curve(y_true, y_prob)"

MOST_CLASSES = 10
"""Classes that are told apart in a bin; the eye does not tell more."""

N_COLOURS = len(_style.COLOURS) - 1
"""Colours of classes in a bin. The last, black, is that of the bin as a whole."""

SMALLEST, LARGEST = 5.0, 11.0
"""Size in points of the marker of a bin: from no rows to the most rows."""


def plot_top_label(curves: TopLabelCurve | Mapping[str, TopLabelCurve], *, ax: Any = None) -> Any:
    """Draw confidence and top-label reliability in one diagram, over the share of predictions in each bin.

    Parameters
    ----------
    curves : TopLabelCurve or dict of name to TopLabelCurve
        One forecast, or several side by side.
    ax : matplotlib Axes, optional
        Where to draw one forecast; a new figure by default.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several forecasts
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no curve, or if ``ax`` is given for several.
    TypeError
        If something is no such curve.

    Notes
    -----
    A star is the mean probability and the accuracy of a bin. The plus above or below it is as far from the diagonal as the
    classes predicted in the bin are on average, each by itself, so that it is never nearer than the star. A mean of
    distances has no side of its own: the plus stands on the side of the star, below where the star is on the diagonal, and on
    the other side where it would leave the unit square. Where neither side has room for the distance, the plus stands on the
    edge and the distance is written beside. The legend holds the means of both distances, conf-ECE and TL-ECE.

    The fewer rows a bin holds, of the fullest bin, the smaller and paler its markers: the distances of bins of a few rows
    are mostly noise and weigh little in the means.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Fig. 1.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import top_label_curve
    >>> ax = top_label_curve(*load_digits_forecast(), binning=10).plot()
    """
    import matplotlib.pyplot as plt

    named = as_results(curves, "curves", CALL, TopLabelCurve)
    require(
        ax is None or len(named) <= 1,
        "one Axes holds one curve",
        value=len(named),
        hint="Leave ax out, or draw each into its own",
    )
    if ax is None:
        size = (4.0 * len(named) + 0.6, 5.5)
        axes = plt.subplots(1, len(named), figsize=size, squeeze=False, layout="constrained")[1].ravel()
    else:
        axes = np.array([ax])
    for own, (name, curve) in zip(axes, named.items(), strict=True):
        _draw_curve(own, curve)
        own.set_title(name, fontsize="medium")
    axes[0].set_ylabel("accuracy")
    return axes if len(named) > 1 else axes[0]


def plot_top_label_bin(
    curve: TopLabelCurve, bin: int | None = None, *, most: int = MOST_CLASSES, axes: Any = None
) -> Any:
    """Draw the mean probability and the accuracy of each class predicted in one bin, with the counts beside.

    Parameters
    ----------
    curve : TopLabelCurve
        Of one forecast.
    bin : int, optional
        Number of the bin, from 0; by default the one with most rows.
    most : int, default=10
        Classes that have a colour and a bar, those with most rows in the bin; the others are grey points.
    axes : sequence of two matplotlib Axes, optional
        Where to draw the diagram and the counts; a new figure by default.

    Returns
    -------
    ndarray of two matplotlib Axes
        The diagram, and the counts beside it.

    Raises
    ------
    ValueError
        If the bin is none of the curve or holds no rows, or if ``axes`` are not two.
    TypeError
        If ``curve`` is none, or if ``bin`` or ``most`` is no whole number.

    Notes
    -----
    The black star is the bin as a whole, where it stands in `plot_top_label`. Thin lines lead from the points to the
    diagonal: their mean length, by weight, is the top-label gap of the bin.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Fig. 2.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import top_label_curve
    >>> from calibrant.plots import plot_top_label_bin
    >>> axes = plot_top_label_bin(top_label_curve(*load_digits_forecast(), binning=10), bin=9)
    """
    import matplotlib.pyplot as plt

    require_kind(curve, "curve", CALL, TopLabelCurve)
    b = _bin_of(curve, bin)
    most = whole("most", most, least=1, hint="10 is usual")
    if axes is None:
        axes = plt.subplots(1, 2, figsize=(7.2, 4.0), width_ratios=[1.7, 1.0], layout="constrained")[1]
    axes = np.ravel(axes)
    require(
        axes.size == 2, "axes must be two, of the diagram and of the counts", value=axes.size, hint="Leave axes out"
    )
    count = np.array([own.count[b] for own in curve.class_bins])
    order = np.argsort(-count, kind="stable")[: int((count > 0).sum())]
    shown = np.sort(order[:most])
    _draw_classes(axes[0], curve, b, shown, order[most:])
    _draw_counts(axes[1], curve, b, shown)
    if order.size > most:
        axes[1].set_xlabel(f"rows ({most} of {order.size} classes)")
    return axes


def _draw_curve(ax: Any, curve: TopLabelCurve) -> None:
    bins, held = curve.bins, curve.bins.count > 0
    x, star, plus = bins.mean_prob[held], bins.event_rate[held], curve.top_label_height[held]
    part = np.cbrt(curve.share[held] / curve.share.max())
    left, width = bins.edges[:-1], np.diff(bins.edges)
    bars = {"color": _style.BAND, "edgecolor": "white", "linewidth": 0.6, "label": "share of predictions"}
    ax.bar(left, curve.share, width, align="edge", zorder=1.1, **bars)
    ax.plot([0, 1], [0, 1], color=_style.IDEAL, linestyle="--", linewidth=1, label="calibrated", zorder=1.5)
    ax.vlines(x, x, plus, color=_style.colour(1), linewidth=0.4 + 0.8 * part, alpha=0.5, zorder=2)
    _draw_markers(ax, x, star, part, f"accuracy of all rows: conf-ECE {curve.confidence_ece:.4f}", 0)
    _draw_markers(ax, x, plus, part, f"mean distance of classes: TL-ECE {curve.top_label_ece:.4f}", 1)
    _write_distances(ax, x, plus, curve.top_label_gap[held])
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="mean probability", aspect="equal")
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    legend_above(ax)


def _draw_markers(ax: Any, x: FloatArray, y: FloatArray, part: FloatArray, label: str, number: int) -> None:
    """Draw a star or a plus a bin, small and pale where it holds a small part of the rows of the fullest."""
    marker, width = (("*", 0.0), ("+", 1.8))[number]
    look = {"marker": marker, "color": _style.colour(number)}
    size = (SMALLEST + (LARGEST - SMALLEST) * part) ** 2
    pale = 0.5 + 0.5 * part
    ax.scatter(x, y, size, linewidths=width * pale, alpha=pale, zorder=3 + 0.1 * number, clip_on=False, **look)
    ax.plot([], [], linestyle="", markersize=LARGEST - 1.0, markeredgewidth=width, label=label, **look)


def _write_distances(ax: Any, x: FloatArray, plus: FloatArray, distance: FloatArray) -> None:
    """Write the mean distance beside a plus that stands on the edge because neither side has room for it."""
    for b in np.flatnonzero(np.abs(np.abs(plus - x) - distance) > ROUNDING):
        below, right = plus[b] > 0.5, x[b] < 0.5
        ax.annotate(
            f"{distance[b]:.2f}",
            (x[b], plus[b]),
            xytext=(8 if right else -8, -2 if below else 2),
            textcoords="offset points",
            color=_style.colour(1),
            fontsize="small",
            ha="left" if right else "right",
            va="top" if below else "bottom",
        )


def _draw_classes(ax: Any, curve: TopLabelCurve, b: int, shown: IntArray, others: IntArray) -> None:
    mean_prob, accuracy = curve.bins.mean_prob[b], curve.bins.event_rate[b]
    ax.axline((mean_prob, mean_prob), slope=1, color=_style.IDEAL, linestyle="--", linewidth=1, label="calibrated")
    if others.size:
        points = np.array([_point(curve, b, j) for j in others])
        label = f"{others.size} other classes"
        ax.plot(*points.T, "o", markersize=3, color=_style.IDEAL, alpha=0.6, label=label, zorder=2)
    for number, j in enumerate(shown):
        x, y = _point(curve, b, j)
        ax.vlines(x, x, y, color=_colour(number), linewidth=1, alpha=0.5, zorder=2.5)
        ax.plot(x, y, **_key(number), zorder=3)
    star = {"markersize": 15, "color": _style.COLOURS[-1], "markeredgecolor": "white", "linestyle": ""}
    ax.plot(mean_prob, accuracy, marker="*", label="whole bin", zorder=3.5, **star)
    ax.margins(0.08)
    left, right = curve.bins.edges[b : b + 2]
    ax.set(xlabel="mean probability", ylabel="accuracy")
    ax.locator_params(axis="x", nbins=5)
    ax.set_title(f"confidence in {'[' if b == 0 else '('}{left:.4g}, {right:.4g}]", fontsize="medium")
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    legend_above(ax)


def _draw_counts(ax: Any, curve: TopLabelCurve, b: int, shown: IntArray) -> None:
    """Draw a bar a class, from top to bottom, which is also the key to the points."""
    for number, j in enumerate(shown):
        colour = _colour(number)
        look = {"facecolor": colour if _is_filled(number) else "none", "edgecolor": colour, "linewidth": 1.3}
        ax.barh(number, curve.class_bins[j].count[b], alpha=0.75, **look)
        ax.plot(0, number, **_key(number), clip_on=False, zorder=3)
    ax.set_yticks(range(len(shown)), [curve.classes[j] for j in shown])
    ax.tick_params(axis="y", length=0, pad=8)
    ax.invert_yaxis()
    ax.set(xlabel="rows", ylabel="predicted class", title="")
    ax.set_xlim(left=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.locator_params(axis="x", nbins=4)


def _key(number: int) -> dict[str, Any]:
    """Return the look of a class; where the colours start again, its marker is hollow and another."""
    colour, marker, filled = _colour(number), _style.marker(number), _is_filled(number)
    look = {"markerfacecolor": colour, "markeredgecolor": "white"} if filled else {"markerfacecolor": "white"}
    return {"color": colour, "marker": marker, "markersize": 6.5, "linestyle": "", **look}


def _colour(number: int) -> str:
    return _style.colour(number % N_COLOURS)


def _is_filled(number: int) -> bool:
    return number // N_COLOURS % 2 == 0


def _point(curve: TopLabelCurve, b: int, j: int) -> tuple[float, float]:
    own = curve.class_bins[j]
    return float(own.mean_prob[b]), float(own.event_rate[b])


def _bin_of(curve: TopLabelCurve, bin: int | None) -> int:
    if bin is None:
        return int(curve.bins.count.argmax())
    last = len(curve.bins) - 1
    hint = f"The bins of the curve are 0 to {last}"
    b = whole("bin", bin, least=0, hint=hint)
    require(b <= last, "bin must be a number of a bin", value=b, hint=hint)
    if curve.bins.count[b] == 0:
        held = np.flatnonzero(curve.bins.count).tolist()
        refuse("bin must hold rows", got=f"{b}, which is empty", hint=f"Pass one of {', '.join(map(str, held))}")
    return b
