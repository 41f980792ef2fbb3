"""The null distribution of a test, with the observed value and the tail beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._core.parameters import refuse
from calibrant._core.result import shown_pvalue
from calibrant.plots import _style
from calibrant.plots._legend import legend_above

if TYPE_CHECKING:
    from calibrant._core.links import FloatArray
    from calibrant._core.problem import BoolArray
    from calibrant.significance.result import TestResult

POINTS = 400
"""Points of a density."""

FAR = 4.0
"""An observed value this many times as far from the middle as the tails reach is pointed at, not drawn to scale."""


def plot_null(result: TestResult, *, ax: Any = None) -> Any:
    """Draw the null distribution of a statistic, the observed value, and the tail that is the p-value.

    Parameters
    ----------
    result : TestResult
        The result of a test.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Notes
    -----
    Draws are shown as a histogram, one of whose edges is the observed value, so that the dark bars are the draws beyond it. An
    observed value far outside of everything is pointed at by an arrow. A statistic that is not defined, and draws that are not
    finite, are stated in the legend; a law without freedom is a single bar at zero.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.significance import resampling_test
    >>> from calibrant.plots.null import plot_null
    >>> ax = plot_null(resampling_test(*load_digits_forecast(), metric="ece", n_resamples=99))
    """
    import matplotlib.pyplot as plt

    from calibrant.significance.null import Draws, KnownLaw

    if ax is None:
        _, ax = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    if isinstance(result.null, Draws):
        low, high = _draw_histogram(ax, result, result.null.values)
    elif isinstance(result.null, KnownLaw):
        low, high = _draw_density(ax, result, result.null)
    else:
        refuse("null must be a law or draws", value=result.null, hint="Pass the result of a test", error=TypeError)
    _draw_observed(ax, result, low, high)
    ax.set(xlabel=f"statistic under the null hypothesis\n({result.null.description})", yticks=[])
    ax.set_ylim(bottom=0.0)
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.fill(
        [],
        [],
        color=_style.GAP,
        label=f"beyond it: {shown_pvalue(result.pvalue, result.least_pvalue, '.3g', name='p')}",
    )
    ax.set_title(result.name, fontsize="medium")
    legend_above(ax)
    return ax


def _draw_histogram(ax: Any, result: TestResult, values: FloatArray) -> tuple[float, float]:
    n_draws, values = values.size, values[np.isfinite(values)]
    if n_draws == 0:
        ax.plot([], [], " ", label="no draws")
    elif values.size < n_draws:
        ax.plot([], [], " ", label=f"not drawn: {n_draws - values.size} of {n_draws} draws are not finite")
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    edges = _edges(values, result.statistic) if high > low else np.array([low - 0.5, high + 0.5])
    counts, _ = np.histogram(values, edges)
    far_out = _is_far_out(result, 0.5 * (edges[1:] + edges[:-1]), _cuts_of_draws(result, values))
    colours = np.where(far_out, _style.GAP, _style.FILL)
    ax.bar(edges[:-1], counts, np.diff(edges), align="edge", color=colours, edgecolor="white", linewidth=0.6)
    return float(edges[0]), float(edges[-1])


def _cuts_of_draws(result: TestResult, values: FloatArray) -> tuple[float, float]:
    """Return where the tails of a two-sided test begin: at the observed value, and at as rare a value on the other side."""
    s, n = result.statistic, max(values.size, 1)
    above, below = np.sum(values >= s) / n, np.sum(values <= s) / n
    if above <= below:
        return (float(np.quantile(values, above)) if above else -np.inf), s
    return s, (float(np.quantile(values, 1.0 - below)) if below else np.inf)


def _edges(values: FloatArray, statistic: float) -> FloatArray:
    """Return edges of equal width, the observed value among them if it lies where the draws are."""
    edges = np.histogram_bin_edges(values, bins=min(60, max(10, int(2.0 * values.size ** (1 / 3)))))
    width = float(edges[1] - edges[0])
    if not edges[0] <= statistic <= edges[-1]:
        return edges
    below = int(np.ceil((statistic - edges[0]) / width))
    above = int(np.floor((edges[-1] - statistic) / width)) + 1
    # A draw that equals the observed value up to rounding lies beyond it, as it does in the p-value.
    start = statistic - 1e-9 * abs(statistic)
    return np.asarray(start + width * np.arange(-below, above + 1), dtype=np.float64)


def _draw_density(ax: Any, result: TestResult, law: Any) -> tuple[float, float]:
    if law.df == 0:
        return _draw_single_value(ax, result)
    low, high = _reach(law)
    observed = np.clip([] if np.isnan(result.statistic) else [-result.statistic, result.statistic], low, high)
    x = np.unique(np.concatenate([np.linspace(low, high, POINTS), observed]))
    density = np.where(np.isfinite(law.pdf(x)), law.pdf(x), 0.0)
    ax.fill_between(x, density, color=_style.FILL, linewidth=0)
    ax.plot(x, density, color=_style.COLOURS[0], linewidth=1.3)
    far_out = _is_far_out(result, x, (-abs(result.statistic), abs(result.statistic)))
    ax.fill_between(x, density, where=far_out, color=_style.GAP, linewidth=0)
    # A density without bound at zero would leave no room for the rest.
    ax.set_ylim(top=1.08 * float(density[x > low + 0.02 * (high - low)].max()) or 1.0)
    return low, high


def _draw_single_value(ax: Any, result: TestResult) -> tuple[float, float]:
    """Draw a law that is all at zero."""
    colour = _style.GAP if result.statistic <= 0.0 else _style.FILL
    ax.bar([0.0], [1.0], 0.04, color=colour, label="no degree of freedom: the whole law is at 0")
    ax.set_xlim(-0.5, max(0.5, 1.1 * result.statistic if result.statistic <= FAR else 0.5))
    return -0.5, 0.5


def _reach(law: Any) -> tuple[float, float]:
    """Return where the law is to be seen: all but a thousandth on either side."""
    grid = np.linspace(-60.0, 60.0, 4801) if np.isinf(law.support[0]) else np.geomspace(1e-3, 1e5, 4801)
    survival = law.sf(grid)
    low = float(grid[survival >= 0.999][-1]) if (survival >= 0.999).any() else 0.0
    high = float(grid[survival <= 0.0005][0]) if (survival <= 0.0005).any() else float(grid[-1])
    return (low if np.isinf(law.support[0]) else 0.0), high


def _is_far_out(result: TestResult, x: FloatArray, cuts: tuple[float, float]) -> BoolArray:
    if result.alternative == "less":
        return x <= result.statistic
    if result.alternative == "two-sided":
        return (x <= cuts[0]) | (x >= cuts[1])
    return x >= result.statistic


def _draw_observed(ax: Any, result: TestResult, low: float, high: float) -> None:
    if np.isnan(result.statistic):
        ax.plot([], [], " ", label="observed: not defined")
        return
    span = high - low
    middle = 0.5 * (low + high)
    label = f"observed: {result.statistic:.4g}"
    if abs(result.statistic - middle) <= FAR * span:
        ax.axvline(result.statistic, color=_style.COLOURS[-1], linestyle="--", linewidth=1.3, label=label)
        return
    to_right = result.statistic > middle
    ax.set_xlim(low if to_right else low - 0.25 * span, high + 0.25 * span if to_right else high)
    start, end = (0.86, 0.99) if to_right else (0.14, 0.01)
    arrow = {"arrowstyle": "-|>", "color": _style.COLOURS[-1], "linewidth": 1.3}
    ax.annotate("", (end, 0.06), (start, 0.06), xycoords="axes fraction", arrowprops=arrow)
    ax.plot([], [], color=_style.COLOURS[-1], linestyle="--", linewidth=1.3, label=f"{label}, far out")
