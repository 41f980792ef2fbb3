"""Means before and after calibration, bin by bin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import flag
from calibrant.curves.calibration_shift import CalibrationShift, ShiftPanel
from calibrant.plots import _style
from calibrant.plots._given import require_kind
from calibrant.plots._marginal_axes import room_below
from calibrant.plots._panels import draw_panels, outcome_word

BEFORE = "probability before calibration"
LEAST_SIZE = 0.5
"""Where the scale of sizes begins, so that one score is seen."""

EVENTS = _style.COLOURS[-1]


def plot_calibration_shift(
    result: CalibrationShift, *, ax: Any = None, panels: Sequence[str] | None = None, difference: bool = False
) -> Any:
    """Draw the mean calibrated probability of each bin, a line a calibrator, over the sizes of the bins.

    Parameters
    ----------
    result : CalibrationShift
        Of one calibrator or several.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    difference : bool, default=False
        Draw everything less the mean probability before calibration, so that small shifts show.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on. Event rates are black points with their intervals; the sizes of the bins are on a log scale.

    Raises
    ------
    ValueError
        If panels are unknown or too many, or ``ax`` is given for several.
    TypeError
        If it is no `CalibrationShift`.

    Examples
    --------
    >>> from calibrant import TemperatureScaling, load_digits_forecast
    >>> from calibrant.curves import calibration_shift
    >>> y, prob = load_digits_forecast()
    >>> q = TemperatureScaling().fit(prob, y).predict_proba(prob)
    >>> ax = calibration_shift(prob, {"TS": q}, y_true=y).plot()
    """
    require_kind(result, "result", "calibration_shift(y_prob, calibrated)", CalibrationShift)
    label = "change of the mean probability" if flag("difference", difference) else "mean calibrated probability"
    draw = partial(_draw, result=result, look=(label, difference))
    return draw_panels({"": result}, draw, ax=ax, panels=panels, height=5.4, labels=(BEFORE, label))


def _draw(
    ax: Any, panels: Mapping[str, ShiftPanel], alone: bool, *, result: CalibrationShift, look: tuple[str, bool]
) -> None:
    (panel,), (label, difference) = panels.values(), look
    held, before = panel.bins.count > 0, panel.bins.mean_prob
    same, base = np.array([result.threshold, 1.0]), before if difference else np.zeros(len(panel.bins))
    level = np.zeros(2) if difference else same
    ax.plot(same, level, color=_style.IDEAL, linestyle="--", linewidth=1, label="unchanged", zorder=1.5)
    for number, (name, mean) in enumerate(zip(result.forecasts, panel.calibrated, strict=True)):
        mark = {"color": _style.colour(number), "marker": _style.marker(number), "markersize": 4, "linewidth": 1.5}
        ax.plot(before[held], (mean - base)[held], label=name, zorder=3, **mark)
    if result.has_events:
        rate, word = panel.bins.event_rate - base, outcome_word(result)
        ax.plot(before[held], rate[held], "_", color=EVENTS, markersize=9, label=word, zorder=2.6)
        if result.interval is not None:
            _draw_interval(ax, before[held], (panel.lower - base)[held], (panel.upper - base)[held], result)
    ax.set_xlim(-0.02, 1.02)
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    lower = _draw_sizes(ax, panel)
    if alone:
        ax.set_ylabel(label)
        lower.set_xlabel(BEFORE)


def _draw_interval(ax: Any, at: FloatArray, lower: FloatArray, upper: FloatArray, result: CalibrationShift) -> None:
    if result.interval == "consistency":
        label = f"{1 - result.level:.0%} if calibrated before"
        ax.vlines(at, lower, upper, color=_style.IDEAL, linewidth=5, alpha=0.4, label=label, zorder=1.4)
    else:
        ax.vlines(at, lower, upper, color=EVENTS, linewidth=1.0, alpha=0.55, zorder=2)


def _draw_sizes(ax: Any, panel: ShiftPanel) -> Any:
    ax.tick_params(labelbottom=False)
    lower = room_below(ax)
    lower.stairs(panel.bins.count, panel.bins.edges, color=_style.FILL, fill=True, baseline=LEAST_SIZE)
    lower.set_yscale("log")
    lower.set_ylim(bottom=LEAST_SIZE)
    lower.set_ylabel("scores", fontsize="small")
    lower.tick_params(labelsize="small")
    lower.spines[["top", "right"]].set_visible(False)
    return lower
