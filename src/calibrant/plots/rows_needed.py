"""The plot of a figure against the number of rows that it is had from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.plots import _style
from calibrant.plots._legend import legend_above

if TYPE_CHECKING:
    from calibrant.planning.rows_needed import RowsNeeded


def plot_rows_needed(plan: RowsNeeded, *, ax: Any = None) -> Any:
    """Draw power, width, bound or share of harm against the number of rows, with the rows that are needed.

    Parameters
    ----------
    plan : RowsNeeded
        The answer of `rows_for`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> from calibrant import rows_for
    >>> ax = rows_for(guarantee=0.1, n_classes=10).plot()
    """
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.subplots(figsize=(4.8, 3.6), layout="constrained")[1]
    look = {"color": _style.IDEAL, "linewidth": 1, "zorder": 1.5}
    ax.axhline(plan.target, linestyle="--", label=f"asked for: {plan.target:g}", **look)
    ax.axvline(plan.rows, linestyle=":", label=f"needed: {plan.rows:,} rows", **look)
    ax.plot(plan.tried, plan.value, "o", color=_style.colour(0), markersize=4, label="tried", zorder=3)
    ax.set(xscale="log", xlabel="rows", ylabel=plan.figure)
    ax.set_ylim(bottom=0.0)
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    legend_above(ax)
    return ax
