"""The plot of cost curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.plots import _style
from calibrant.plots._legend import legend_above

if TYPE_CHECKING:
    from calibrant.decisions.expected_cost import ExpectedCostCurve

LABELS = {
    "probability cost": ("probability cost", "normalised expected cost"),
    "cost proportion": ("cost proportion = threshold", "expected cost"),
}


def plot_expected_cost(curve: ExpectedCostCurve, *, ax: Any = None, lowest: bool = True, trivial: bool = True) -> Any:
    """Draw what decisions cost against the ratio of the costs of errors.

    Parameters
    ----------
    curve : ExpectedCostCurve
        Of one forecast or several.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    lowest : bool, default=True
        Draw the cost at the best thresholds in hindsight, dashed; of one forecast, fill the gap, which is the regret.
    trivial : bool, default=True
        Draw the costs of deciding for the event in no row and in all rows.

    Returns
    -------
    matplotlib Axes
        What was drawn on. The legend states the averages over the axis.

    Examples
    --------
    >>> from calibrant.decisions import expected_cost_curve
    >>> ax = expected_cost_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.8]).plot()
    """
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.subplots(figsize=(4.8, 4.0), layout="constrained")[1]
    if trivial:
        for cost, label, style in ((curve.never, "never", ":"), (curve.always, "always", "-.")):
            ax.plot(curve.at, cost, color=_style.IDEAL, linestyle=style, linewidth=1, label=label, zorder=1.5)
    for number, panel in enumerate(curve.panels):
        colour, mean = _style.colour(number), f"{panel.name}: {panel.mean_cost:.4f}"
        ax.plot(curve.at, panel.cost, color=colour, linewidth=1.6, label=mean, zorder=3)
        if not lowest:
            continue
        if len(curve.panels) == 1:
            ax.fill_between(
                curve.at, panel.lowest, panel.cost, color=_style.GAP_FILL, linewidth=0, label="regret", zorder=1.2
            )
        best = f"at best: {panel.mean_lowest:.4f}"
        dashes = _style.dashes(number, len(curve.panels))
        ax.plot(curve.at, panel.lowest, color=colour, linestyle=dashes, linewidth=1.4, label=best, zorder=3.2)
    across, up = LABELS[curve.axis]
    highest = max(float(panel.cost.max()) for panel in curve.panels)
    ax.set(xlabel=across, ylabel=up, xlim=(0, 1), ylim=(0, max(1.15 * highest, 1e-3)))
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    legend_above(ax)
    return ax
