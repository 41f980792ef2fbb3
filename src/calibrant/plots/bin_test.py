"""The test-based reliability diagram, and the standard one in the same frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice
from calibrant.curves.bin_profiles import BinProfiles
from calibrant.curves.bin_test import BinTestCurve, BinTestPanel
from calibrant.plots import _style
from calibrant.plots._bin_marks import STYLES, draw_edges
from calibrant.plots._bin_marks import Look as Marks
from calibrant.plots._given import as_results
from calibrant.plots._log_odds import use_log_odds
from calibrant.plots._marginal_axes import APART, rooms, tidy
from calibrant.plots._panels import draw_panels, outcome_word, panel_of, require_names
from calibrant.plots._violins import ON_EDGE, REJECTED, SIZES, TRIANGLES, draw_violins

Style = Literal["violin", "standard"]
Axis = Literal["probability", "log-odds"]

COLUMNS = {"orientation": "horizontal", "fill": True}

HEIGHT, WIDER = 5.2, 1.3
"""Height of a diagram alone in inches, and how much wider a figure is than one without a histogram beside."""

TESTS = {
    "binomial": "exact binomial test",
    "mid-p": "mid-p binomial test",
    "clopper-pearson": "Clopper-Pearson interval",
    "t": "t-test",
}


@dataclass(frozen=True, eq=False)
class Shown:
    """A panel, the curve that it is of, and its title in the picture."""

    name: str
    panel: BinTestPanel
    curve: BinTestCurve


@dataclass(frozen=True, eq=False)
class SideBySide:
    """All that is drawn in one picture."""

    panels: tuple[Shown, ...]


Span = tuple[FloatArray, tuple[float, float]]
"""Probabilities that log-odds have to span, and where these end."""


@dataclass(frozen=True, eq=False)
class Look:
    """How panels are drawn: what log-odds have to span, if any; the labels; the test, if all panels have the same."""

    style: Style
    span: Span | None
    labels: tuple[str, str]
    test: str | None


def plot_bin_test(
    curves: BinTestCurve | Mapping[str, BinTestCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    style: Style = "violin",
    axis: Axis = "probability",
) -> Any:
    """Draw the predictions of each bin as a violin across its event rate, coloured where the events reject them.

    Parameters
    ----------
    curves : BinTestCurve or dict of name to BinTestCurve
        One forecast, or several side by side.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    style : {"violin", "standard"}, default="violin"
        Violins, bins as far apart whatever they span; or mean probability against event rate, the standard reliability
        diagram, over the same bins and in the same frame.
    axis : {"probability", "log-odds"}, default="probability"
        Scale of probabilities. Log-odds spread rare events out, and reach nearly all predictions. Those beyond stand at the
        edge, with a triangle in the colour of most of them; it has a black outline if the event rate lies beyond, and is
        white if only that does. The histogram beside leaves them out and says how many they are.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no curve, if panels are unknown or too many, if ``ax`` is given for several, or if a word is none of those
        above.
    TypeError
        If something is no `BinTestCurve`.

    Notes
    -----
    The grey band behind a violin holds the probabilities that the events of the bin accept, the line in it is their rate, and
    the orange part of the violin lies outside. Each violin is as wide as the others where it is widest; a bin of one score is
    a line. Its outline is smoothed, on the scale that is drawn, by a normal kernel that ends where the predictions end. Below
    stand the rows of each bin and the part of them that is rejected, in percent; beside, the predictions of all bins, in
    columns that are equal on the scale that is drawn. The percentage in the
    title is that of all rows of the panel, TCE; where a curve has several panels, the one above is that of the curve.

    In the standard diagram the vertical lines hold the accepted probabilities: the mean is not rejected where they
    cross the diagonal.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (Figure 1).

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import bin_test_curve
    >>> ax = bin_test_curve(*load_digits_forecast()).plot()
    """
    named = as_results(curves, "curves", "bin_test_curve(y_true, y_prob)", BinTestCurve)
    choice("style", style, tuple(DRAWN))
    choice("axis", axis, ("probability", "log-odds"))
    shown = {s.name: s for name, curve in named.items() for s in _shown(name, curve)}
    require_names(panels)
    chosen = panels if panels is None else [_title(*of, wanted) for of in named.items() for wanted in panels]
    word = outcome_word(next(iter(named.values())))
    labels = ("bin", "probability") if style == "violin" else ("mean probability", word)
    shared = _shared_test(named)
    look = Look(style, _span(shown.values()) if axis == "log-odds" else None, labels, shared)
    draw = partial(_draw, look=look)
    axes = draw_panels(
        {"": SideBySide(tuple(shown.values()))},
        draw,
        ax=ax,
        panels=chosen,
        height=HEIGHT,
        labels=labels,
        legend=_draw_legend,
    )
    drawn = np.atleast_1d(axes)
    for own, name in zip(drawn, shown if chosen is None else chosen, strict=True):
        words = () if style == "standard" else _words(shown[name], with_test=shared is None or drawn.size == 1)
        own.set_title(
            ": ".join(filter(None, (own.get_title(), *words))), y=1.0, fontsize="medium" if drawn.size == 1 else "small"
        )
    figure = drawn[0].figure
    if drawn.size > 1 and style == "violin":
        figure.legends[-1].set_title(_words_of_all(named))
    if ax is None:
        figure.set_size_inches(figure.get_size_inches() * (WIDER, 1.0))
    if figure.get_layout_engine() is not None:  # a first layout: see draw_panels
        figure.get_layout_engine().execute(figure)
    return axes


def _shown(name: str, curve: BinTestCurve) -> list[Shown]:
    return [Shown(_title(name, curve, panel.name), panel, curve) for panel in curve.panels]


def _title(name: str, curve: BinTestCurve, panel: str) -> str:
    if not name:
        return panel
    found = panel_of(curve, panel).name
    return name if len(curve.panels) == 1 else f"{name}, {found}"


def _span(shown: Iterable[Shown]) -> Span:
    """Return all probabilities that are drawn, and the ends of the scale: side by side it is the same."""
    panels = [s.panel for s in shown]
    values = ((p.log_odds.slice_edges.ravel(), p.bins.mean_prob, p.bins.event_rate, p.lower, p.upper) for p in panels)
    ends = np.array([p.log_odds.histogram_edges[[0, -1]] for p in panels])
    return np.concatenate([part for parts in values for part in parts]), (ends[:, 0].min(), ends[:, 1].max())


def _test_of(curve: BinTestCurve) -> str:
    return f"{TESTS[curve.test]}, level {curve.level:g}"


def _shared_test(named: Mapping[str, BinTestCurve]) -> str | None:
    """Return how predictions of all curves are tested; None if not alike."""
    tests = {_test_of(curve) for curve in named.values()}
    return tests.pop() if len(tests) == 1 else None


def _words(shown: Shown, *, with_test: bool) -> tuple[str, ...]:
    """Return what the title says besides the name: the percentage of rejected rows, and the test."""
    error = shown.panel.error
    if np.isnan(error):
        return ()
    return (f"TCE {error:.1f}%" + (f"\n{_test_of(shown.curve)}" if with_test else ""),)


def _words_of_all(named: Mapping[str, BinTestCurve]) -> str | None:
    """Return the percentage of rejected rows of each curve, where its panels show only their own; else None."""
    found = [f"{name} {curve.error:.1f}%".strip() for name, curve in named.items() if len(curve.panels) > 1]
    return f"TCE in all: {', '.join(found)}" if found else None


def _draw(ax: Any, panels: Mapping[str, Shown], alone: bool, *, look: Look) -> None:
    panel = panels[""].panel
    if look.span is not None:
        use_log_odds(ax, *look.span)
    else:
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    below, beside = rooms(ax)
    tidy(ax, below, beside)
    DRAWN[look.style](ax, below, panel, alone, look.span is not None)
    if look.style == "violin":
        label = "rejected" if alone or look.test is None else f"rejected by {look.test}"
        ax.fill([], [], **REJECTED, label=label)
    _draw_histogram(beside, panel.probability if look.span is None else panel.log_odds, look.style)
    below.set_ylim(0, max(below.get_ylim()[1], 1.0))
    if alone:
        ax.set_ylabel(look.labels[1])
        below.set_xlabel(look.labels[0])
        below.set_ylabel("rows", fontsize="small")
        beside.set_xlabel("rows", fontsize="small")


def _draw_legend(ax: Any) -> None:
    """Draw the legend into the corner that the rooms leave free."""
    corner = {"loc": "upper left", "bbox_to_anchor": (1.0 + APART, -APART), "borderaxespad": 0.0}
    ax.legend(**corner, frameon=False, fontsize="small", handlelength=1.0, handletextpad=0.5)


def _draw_histogram(beside: Any, shown: BinProfiles, style: Style) -> None:
    """Draw the predictions of all bins, and write on the edges how many lie beyond."""
    if style == "violin":
        beside.stairs(shown.histogram_rejected, shown.histogram_edges, **COLUMNS, **REJECTED, zorder=2)
    beside.stairs(shown.histogram, shown.histogram_edges, **COLUMNS, **SIZES)
    beside.set_xlim(0, max(beside.get_xlim()[1], 1.0))
    for side, rows in enumerate(shown.beyond.sum(axis=1)):
        if rows > 0:
            _write_beyond(beside, side, rows)


def _write_beyond(beside: Any, side: int, rows: float) -> None:
    from matplotlib.patheffects import withStroke

    beside.plot(0.9, side, TRIANGLES[side], color=_style.IDEAL, transform=beside.transAxes, **ON_EDGE)
    place = {"xytext": (-5, 1 - 2 * side), "textcoords": "offset points", "xycoords": "axes fraction"}
    text = beside.annotate(
        f"{rows:,.0f}", (0.9, side), **place, fontsize="x-small", ha="right", va=("bottom", "top")[side]
    )
    text.set(zorder=5, path_effects=[withStroke(linewidth=2, foreground="white")])


def _draw_standard(ax: Any, below: Any, panel: Any, alone: bool, log_odds: bool) -> None:
    ax.grid(color=_style.GRID, linewidth=0.8)
    ax.set_aspect("equal")
    ax.plot([0, 1], [0, 1], color=_style.IDEAL, linestyle="--", linewidth=1, label="calibrated", zorder=1.5)
    STYLES["lines"](ax, panel, "forecast", 0, Marks(log_odds=log_odds))
    if log_odds:
        draw_edges(ax, panel, 0)
        below.tick_params(axis="x", rotation=40)
    held = panel.bins.weight > 0
    ends = panel.lower[held], panel.upper[held]
    ax.vlines(panel.bins.mean_prob[held], *ends, color=_style.colour(0), linewidth=1.2, alpha=0.55, zorder=2)
    below.stairs(panel.bins.weight, panel.bins.edges, fill=True, **SIZES)


DRAWN: Mapping[str, Callable[[Any, Any, BinTestPanel, bool, bool], None]] = {
    "violin": draw_violins,
    "standard": _draw_standard,
}
