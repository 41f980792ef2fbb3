"""The plot of decision curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.plots import _style
from calibrant.plots._legend import legend_above

if TYPE_CHECKING:
    from calibrant.decisions.decision_curve import DecisionCurve


def plot_decision_curve(curve: DecisionCurve, *, ax: Any = None, intervals: bool = True) -> Any:
    """Draw the net benefit of acting on a forecast against the threshold.

    Parameters
    ----------
    curve : DecisionCurve
        Of one forecast or several.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    intervals : bool, default=True
        Draw the intervals, if the curve has them.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> from calibrant import decision_curve
    >>> ax = decision_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.8]).plot()
    """
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.subplots(figsize=(4.8, 4.0), layout="constrained")[1]
    look = {"color": _style.IDEAL, "linewidth": 1, "zorder": 1.5}
    ax.axhline(0.0, linestyle="--", label="treat none", **look)
    ax.plot(curve.threshold, curve.treat_all, linestyle=":", label="treat all", **look)
    lows, highs = [0.0], [0.0]
    for number, panel in enumerate(curve.panels):
        colour = _style.colour(number)
        if intervals and curve.n_resamples:
            band = {"color": colour, "alpha": 0.15, "linewidth": 0, "zorder": 1.2}
            label = f"{1 - curve.level:.0%} interval" if len(curve.panels) == 1 else None
            ax.fill_between(curve.threshold, panel.lower, panel.upper, label=label, **band)
        ax.plot(curve.threshold, panel.net_benefit, color=colour, linewidth=1.6, label=panel.name, zorder=3)
        lows.append(float(panel.net_benefit.min()))
        highs.append(float(panel.net_benefit.max()))
    # Treating all, and a bad forecast, fall without bound toward a threshold of one: they leave the picture below.
    top = 1.15 * max(*highs, 1e-3)
    ax.set(
        xlabel="threshold", ylabel="net benefit", xlim=(0, 1), ylim=(max(1.1 * min(lows), -0.4 * top) - 0.05 * top, top)
    )
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    legend_above(ax)
    return ax
