"""The validity plot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrant._core.parameters import flag
from calibrant.curves.validity import ValidityCurve
from calibrant.plots import _style
from calibrant.plots._given import as_results
from calibrant.plots._legend import legend_beside


def plot_validity(
    curves: ValidityCurve | Mapping[str, ValidityCurve], *, ax: Any = None, guarantee: bool = True
) -> Any:
    """Draw the share of predictions within each distance of the rate of their event: steps from 0 to 1.

    Parameters
    ----------
    curves : ValidityCurve or dict of name to ValidityCurve
        One forecast, or several over each other.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    guarantee : bool, default=True
        Draw what theory promises, dashed, once for each number of points per bin that curves were made with.

    Returns
    -------
    matplotlib Axes
        What was drawn on. Higher is better; the area above a curve is the calibration error of norm l1.

    Raises
    ------
    ValueError
        If there is no curve.
    TypeError
        If something is no curve, or ``guarantee`` neither True nor False.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import validity_curve
    >>> ax = validity_curve(*load_digits_forecast(), binning=15).plot()
    """
    import matplotlib.pyplot as plt

    named = as_results(curves, "curves", "validity_curve(y_true, y_prob)", ValidityCurve)
    flag("guarantee", guarantee)
    promised = guarantee and any(curve.guarantee is not None for curve in named.values())
    has_key = promised or "" not in named
    if ax is None:
        ax = plt.subplots(figsize=(6.8 if has_key else 4.6, 3.6), layout="constrained")[1]
    most = 0.0
    for number, (name, curve) in enumerate(named.items()):
        steps = np.concatenate([[0.0], curve.error, [1.0]]), np.concatenate([[0.0], curve.share, [1.0]])
        ax.step(*steps, where="post", color=_style.colour(number), linewidth=1.6, label=name or "forecast", zorder=3)
        most = max(most, *curve.error[-1:])
    if guarantee:
        _draw_guarantees(ax, named)
    ax.set(xlabel="distance to the rate of the event", ylabel="share of predictions within")
    ax.set(xlim=(0.0, min(1.0, 1.1 * most) or 1.0), ylim=(0.0, 1.02))
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    if has_key:
        legend_beside(ax)
    return ax


def _draw_guarantees(ax: Any, named: Mapping[str, ValidityCurve]) -> None:
    promised = {curve.points_per_bin: curve.guarantee for curve in named.values() if curve.guarantee is not None}
    dashes = ("--", ":", "-.")
    for number, (points, (error, share)) in enumerate(promised.items()):
        look = {"color": _style.IDEAL, "linestyle": dashes[number % len(dashes)], "linewidth": 1.2}
        ax.plot(error, share, label=f"promised, {points} points a bin", zorder=2, **look)
