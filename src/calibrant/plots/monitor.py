"""The picture of a monitor: calibration by window over its noise, and the evidence with its alarms."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._core.parameters import require
from calibrant.monitoring.table import CALIBRATION, MonitorTable
from calibrant.plots import _style
from calibrant.plots._given import require_kind

MOST_EVIDENCE = 1e9
"""Evidence up to which the axis goes: what is more stands at its end."""

MOST_NAMES = 8
"""Windows that are named on the axis."""


def plot_monitor(table: MonitorTable, *, ax: Any = None) -> Any:
    """Draw the calibration error of each window over its noise, and below it the evidence of both tests, from 0.001 to 10⁹.

    Parameters
    ----------
    table : MonitorTable
        What `Monitor.table` gives.
    ax : sequence of two matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of matplotlib Axes, shape (2,)
        What was drawn on: errors, and evidence.
    """
    import matplotlib.pyplot as plt

    require_kind(table, "table", "monitor.table()", MonitorTable)
    if ax is None:
        ax = plt.subplots(2, figsize=(7.2, 5.2), sharex=True, height_ratios=(3, 2), layout="constrained")[1]
    axes = np.asarray(ax, dtype=object)
    must = "ax must be two axes, for errors and for evidence"
    require(axes.shape == (2,), must, got=f"shape {axes.shape}", hint="Pass plt.subplots(2)[1], or leave it out")
    upper, lower = axes
    _draw_errors(upper, table)
    _draw_evidence(lower, table)
    at = np.unique(np.linspace(0, len(table.window) - 1, MOST_NAMES).round().astype(int))
    lower.set_xticks(at, [table.window[k] for k in at], rotation=30, ha="right", rotation_mode="anchor")
    lower.set_xlim(-0.6, len(table.window) - 0.4)
    for each in axes:
        each.set_axisbelow(True)
        each.grid(color=_style.GRID, linewidth=0.8)
    return axes


def _draw_errors(ax: Any, table: MonitorTable) -> None:
    x = np.arange(len(table.window))
    edges = np.append(x - 0.5, x[-1] + 0.5)
    noise = f"up to here in {1 - table.level:.0%} if calibrated"
    ax.stairs(table.noise_upper, edges, fill=True, color=_style.BAND, linewidth=0, label=noise)
    ax.stairs(
        table.noise_floor, edges, color=_style.IDEAL, linestyle="--", linewidth=1, label="noise floor", baseline=None
    )
    ends = (table.ece_lower, table.ece_upper)
    ax.vlines(
        x, *ends, color=_style.colour(4), linewidth=2.5, label=f"{1 - table.level:.0%} interval of the true error"
    )
    ax.plot(x, table.ece, "o-", color=_style.colour(0), markersize=3.5, linewidth=1.2, label="ECE")
    ax.set_ylabel(f"ECE ({table.notion})")
    ax.set_ylim(0.0, 1.35 * float(np.max([table.ece, table.ece_upper, table.noise_upper])))
    ax.legend(loc="upper left", ncols=2, frameon=False, fontsize="small")


def _draw_evidence(ax: Any, table: MonitorTable) -> None:
    x = np.arange(len(table.window))
    for number, (values, label) in enumerate(((table.evidence, "not calibrated"), (table.drift_evidence, "drift"))):
        shown = np.clip(values, 1e-3, MOST_EVIDENCE)
        look = {"color": _style.colour(number), "marker": _style.marker(number), "markersize": 3.5, "linewidth": 1.2}
        if not np.isnan(shown).all():
            ax.plot(x, shown, label=label, **look)
    ax.axhline(1.0 / table.alpha, color=_style.IDEAL, linestyle="--", linewidth=1, label=f"alarm, α = {table.alpha:g}")
    for alarm in table.alarms:
        number = 0 if alarm.test == CALIBRATION else 1
        at = table.window.index(alarm.window)
        reached = float(np.clip(alarm.evidence, 1e-3, MOST_EVIDENCE))
        ax.plot([at], [reached], "o", markersize=11, fillstyle="none", markeredgewidth=1.8, color=_style.colour(number))
    if table.is_reference.any():
        ax.axvspan(
            -0.5, int(table.is_reference.sum()) - 0.5, color=_style.BAND, linewidth=0, label="reference", zorder=0
        )
    ax.set_yscale("log")
    ax.set_ylabel("evidence")
    ax.legend(loc="upper left", ncols=2, frameon=False, fontsize="small")
