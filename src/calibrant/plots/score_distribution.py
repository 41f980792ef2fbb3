"""Distributions of the scores by outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from calibrant._core.parameters import choice
from calibrant.plots import _style
from calibrant.plots._panels import draw_panels

if TYPE_CHECKING:
    from calibrant.curves.score_distribution import ScoreDistribution, ScorePanel

Height = Literal["density", "weight"]


def plot_score_distribution(
    distribution: ScoreDistribution, *, ax: Any = None, panels: Sequence[str] | None = None, height: Height = "density"
) -> Any:
    """Draw the distributions of the scores by outcome, one over the other.

    Parameters
    ----------
    distribution : ScoreDistribution
        Of one forecast.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    height : {"density", "weight"}, default="density"
        Each distribution with an area of one, or as many rows as there are.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on.

    Raises
    ------
    ValueError
        If panels are unknown or too many, if ``ax`` is given for several, or if ``height`` is neither word.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import score_distribution
    >>> ax = score_distribution(*load_digits_forecast()).plot()
    """
    choice("height", height, ("density", "weight"))
    labels = ("probability", height)
    draw = partial(_draw, distribution=distribution, height=height, labels=labels)
    return draw_panels({"": distribution}, draw, ax=ax, panels=panels, height=3.4, labels=labels)


def _draw(
    ax: Any,
    panels: Mapping[str, ScorePanel],
    alone: bool,
    *,
    distribution: ScoreDistribution,
    height: Height,
    labels: tuple[str, str],
) -> None:
    draw_distribution(ax, panels[""], distribution, height=height)
    ax.set(xlim=(-0.02, 1.02), ylim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
    if alone:
        ax.set(xlabel=labels[0], ylabel=labels[1])


def draw_distribution(ax: Any, panel: ScorePanel, distribution: ScoreDistribution, *, height: Height) -> None:
    """Draw the two histograms of a panel as filled steps, that of no event first."""
    for values, label, colour in (
        (getattr(panel, f"other_{height}"), distribution.outcomes[0], _style.COLOURS[1]),
        (getattr(panel, f"event_{height}"), distribution.outcomes[1], _style.COLOURS[0]),
    ):
        ax.stairs(values, panel.bins.edges, fill=True, color=colour, alpha=0.25, zorder=2)
        ax.stairs(values, panel.bins.edges, color=colour, linewidth=1.4, label=label, zorder=3)
