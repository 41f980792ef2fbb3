"""The plot of a calibration error against the number of its bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.plots import _style

if TYPE_CHECKING:
    from calibrant.metrics.bin_sweep import BinSweep

NAMES = {"l1": "ECE", "l2": "RMSCE", "max": "MCE"}


def plot_bin_sweep(sweep: BinSweep, *, ax: Any = None) -> Any:
    """Draw a calibration error against the number of bins, over the band that noise alone would fill.

    Parameters
    ----------
    sweep : BinSweep
        Of one forecast.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> from calibrant import bin_sweep, load_digits_forecast
    >>> ax = bin_sweep(*load_digits_forecast(), n_bins=[5, 10, 20], n_resamples=50).plot()
    """
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.subplots(figsize=(4.6, 3.6), layout="constrained")[1]
    band = f"{1 - sweep.level:.0%} if calibrated"
    ax.fill_between(
        sweep.n_bins, sweep.noise_lower, sweep.noise_upper, color=_style.BAND, linewidth=0, label=band, zorder=1.2
    )
    ax.plot(sweep.n_bins, sweep.noise_floor, color=_style.IDEAL, linestyle="--", linewidth=1, label="noise floor")
    name = NAMES.get(sweep.norm, "calibration error")
    marker = {"marker": _style.marker(0), "markersize": 3.5}
    ax.plot(sweep.n_bins, sweep.value, color=_style.colour(0), linewidth=1.5, label=name, zorder=3, **marker)
    ax.set(xlabel=f"number of bins ({sweep.binning})", ylabel=name)
    ax.set_ylim(bottom=0)
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    ax.legend(**_style.LEGEND)
    return ax
