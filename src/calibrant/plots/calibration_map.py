"""Maps of calibrators over the reliability of the rows that they are to calibrate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from calibrant.plots import _style
from calibrant.plots._bin_marks import Look
from calibrant.plots._panels import as_named, draw_panels, outcome_word, panel_of
from calibrant.plots.reliability import draw_reliability

if TYPE_CHECKING:
    from calibrant.curves.calibration_map import CalibrationMap, MapPanel


def plot_calibration_map(
    maps: CalibrationMap | Mapping[str, CalibrationMap], *, ax: Any = None, panels: Sequence[str] | None = None
) -> Any:
    """Draw calibration maps over the points of the reliability diagram.

    Parameters
    ----------
    maps : CalibrationMap or dict of name to CalibrationMap
        One map, or several over each other, with the points of the first. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on. The area of a point follows the number of its rows.

    Raises
    ------
    ValueError
        If there is no map, if panels differ or are unknown or too many, or if ``ax`` is given for several.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration, load_digits_forecast
    >>> from calibrant.curves import calibration_map
    >>> y, prob = load_digits_forecast()
    >>> three = IsotonicCalibration().fit(prob[:748, 3], y[:748] == 3)
    >>> ax = calibration_map(three, y[748:] == 3, prob[748:, 3]).plot()
    """
    named = as_named(maps, "maps", "calibration_map(calibrator, y_true, y_prob)")
    labels = ("probability", f"calibrated probability, {outcome_word(next(iter(named.values())))}")
    draw = partial(_draw, maps=named, labels=labels)
    return draw_panels(named, draw, ax=ax, panels=panels, height=4.6, labels=labels)


def _draw(
    ax: Any, panels: Mapping[str, MapPanel], alone: bool, *, maps: Mapping[str, CalibrationMap], labels: tuple[str, str]
) -> None:
    first = next(iter(maps.values()))
    curves = {} if first.curve is None else {"": first.curve}
    title = next(iter(panels.values())).name
    drawn = {name: panel_of(curve, title) for name, curve in curves.items()}
    look = Look(style="points", markers="area", unnamed=outcome_word(first))
    draw_reliability(ax, drawn, alone, curves=curves, look=look, labels=labels)
    for number, (name, panel) in enumerate(panels.items(), start=1):  # the points are number 0
        ax.plot(
            panel.score, panel.calibrated, color=_style.colour(number), linewidth=1.8, label=name or "map", zorder=2.5
        )
