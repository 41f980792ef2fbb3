"""The plot of calibration errors against the number of their bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calibrant._core.parameters import require
from calibrant.curves.bin_sweep import BinSweep
from calibrant.plots import _style
from calibrant.plots._given import require_kind
from calibrant.plots._legend import legend_above, legend_beside
from calibrant.plots._panels import as_named

CALL = "bin_sweep(y_true, y_prob)"

NAMES = {"l1": "ECE", "l2": "RMSCE", "max": "MCE"}

LINES: tuple[Any, ...] = ("-", "--", ":", "-.")
"""Line styles that the eye tells apart."""


def plot_bin_sweep(
    sweeps: BinSweep | Mapping[str, BinSweep] | Mapping[str, Mapping[str, BinSweep]], *, ax: Any = None
) -> Any:
    """Draw calibration errors against the number of bins; a single one over its band under calibration.

    Parameters
    ----------
    sweeps : BinSweep, dict of name to BinSweep, or dict of name to dict of word to BinSweep
        One forecast, or several, with a colour a name. What is measured of each in several ways, as in
        ``{"base": {"TL-ECE": tl, "conf-ECE": conf}, ...}``, has a line style a word: solid, dashed, dotted and dash-dotted,
        in the order in which the words come. All are of one norm.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no sweep, if there are more than four words, if some sweeps have a word and others have none, or if norms
        differ.
    TypeError
        If something is no sweep.

    Notes
    -----
    The band is that of one forecast and one notion: it is drawn where there is one sweep only.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import bin_sweep
    >>> from calibrant.plots import plot_bin_sweep
    >>> y, prob = load_digits_forecast()
    >>> ax = bin_sweep(y, prob, n_bins=[5, 10, 20], n_resamples=50).plot()
    >>> words = {"TL-ECE": "top-label", "conf-ECE": "confidence"}
    >>> digits = {word: bin_sweep(y, prob, n_bins=[5, 10], notion=notion) for word, notion in words.items()}
    >>> ax = plot_bin_sweep({"digits": digits})
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    table = _as_table(sweeps)
    words = list(dict.fromkeys(word for own in table.values() for word in own))
    _require_words(words)
    every = [sweep for own in table.values() for sweep in own.values()]
    error = NAMES.get(_shared_norm(every), "calibration error")
    cuts = {sweep.binning for sweep in every}
    cut = f" ({cuts.pop()})" if len(cuts) == 1 else ""
    if ax is None:
        ax = plt.subplots(figsize=(4.6, 3.6) if len(every) == 1 else (6.6, 4.0), layout="constrained")[1]
    if len(every) == 1:
        _draw_noise(ax, every[0])
    for number, (name, own) in enumerate(table.items()):
        for n_drawn, (word, sweep) in enumerate(own.items()):
            label = (name or error) if n_drawn == 0 else None
            look = {
                "color": _style.colour(number),
                "marker": _style.marker(number),
                "markersize": 3.5,
                "linewidth": 1.5,
            }
            ax.plot(sweep.n_bins, sweep.value, linestyle=LINES[words.index(word)], label=label, zorder=3, **look)
    ax.set(xlabel=f"number of bins{cut}", ylabel=error)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    if len(every) == 1:
        legend_above(ax)
    else:
        _draw_legend(ax, words)
    return ax


def _draw_noise(ax: Any, sweep: BinSweep) -> None:
    band = f"{1 - sweep.level:.0%} if calibrated"
    ax.fill_between(
        sweep.n_bins, sweep.noise_lower, sweep.noise_upper, color=_style.BAND, linewidth=0, label=band, zorder=1.2
    )
    ax.plot(sweep.n_bins, sweep.noise_floor, color=_style.IDEAL, linestyle="--", linewidth=1, label="noise floor")


def _draw_legend(ax: Any, words: list[str]) -> None:
    """Draw the names by colour as solid lines, and then the words by line style."""
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    handles = [Line2D([], [], color=line.get_color(), marker=line.get_marker(), markersize=3.5) for line in handles]
    shown = [] if words == [""] else words
    keys = [Line2D([], [], color=_style.IDEAL, linestyle=line) for line in LINES[: len(shown)]]
    legend_beside(ax, [*handles, *keys], [*labels, *shown])


def _as_table(sweeps: Any) -> dict[str, Mapping[str, BinSweep]]:
    """Return the sweeps by name and word; a sweep without a word has the empty one."""
    named = as_named(sweeps, "sweeps", CALL)
    table = {name: own if isinstance(own, Mapping) else {"": own} for name, own in named.items()}
    for name, own in table.items():
        for word, sweep in own.items():
            require_kind(sweep, "sweeps", CALL, BinSweep, f"{name}, {word}" if word else name)
    return table


def _shared_norm(every: list[BinSweep]) -> str:
    norms = list(dict.fromkeys(sweep.norm for sweep in every))
    require(
        len(norms) <= 1,
        "sweeps on one axis must be of one norm",
        got=f"{' and '.join(norms)}",
        hint="Draw each norm into an ax of its own",
    )
    return norms[0]


def _require_words(words: list[str]) -> None:
    require(words, "sweeps must hold at least one sweep", got="none", hint=f"Pass {CALL}")
    require(
        len(words) <= len(LINES),
        f"sweeps must have at most {len(LINES)} words, a line style each",
        value=len(words),
        hint="Draw some of them into another ax",
    )
    require(
        "" not in words or len(words) <= 1,
        "sweeps must all have a word or none",
        got="both",
        hint="Pass {name: sweep, ...} or {name: {word: sweep, ...}, ...}",
    )
