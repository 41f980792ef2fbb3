"""What pictures share: names and panels, legends, axes in log-odds, and Axes below and beside."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import expit, logit

from calibrant._core.arrays import FloatArray
from calibrant._core.checks import by_name, list_of_names, refuse, require
from calibrant.notions import Binary

# How calibrant's pictures look. The only place that knows a colour


# Okabe and Ito's palette, which people with any colour vision can tell apart; darkest first, so that lines read on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
IDEAL = "#7F7F7F"
GRID = "#E5E5E5"

FILL = "#9CC5E0"
"""Areas behind lines: the first colour, paler."""

GAP = "#D55E00"
GAP_FILL = "#F2C9AC"
"""What is missing or too much: its edge, and its area."""

BAND = "#E0E0E0"
"""Bands and bars behind the data, such as what is expected under calibration."""

CHANGE = "RdBu_r"
"""Colour map of what falls (blue) and rises (red), white at zero; told apart also without red or green."""

CERTAIN = ("#7733FF", "#FFD073", "#D92B2B", "#007373")
"""The certain forecasts of three and four classes: their mixtures differ, whatever one's colour vision, and none is muddy."""

RGB = ("#FF0000", "#00FF00", "#0000FF", "#000000")
"""The same where red, green and blue are the probabilities themselves."""

VIEW = (24.0, -42.0)
"""Height and turn, in degrees, from which a tetrahedron is seen: no corner hides behind another."""


def dashes(number: int, n_lines: int) -> tuple[float, tuple[float, float]]:
    """Return the dashes of one of several lines, which leave room for those of the others where lines lie on each other."""
    return 4.0 * number, (4.0, 4.0 * max(n_lines - 1, 1))


def colour(number: int) -> str:
    """Colour of the forecast of that number."""
    return COLOURS[number % len(COLOURS)]


def marker(number: int) -> str:
    """Marker of the forecast of that number."""
    return MARKERS[number % len(MARKERS)]


# Names of classes and forecasts, which may be long


def cut(name: str, letters: int, *, lines: int = 1) -> str:
    """Break a name into lines, and cut what is longer: whole it would lie on others, or leave the picture no room."""
    parts = textwrap.wrap(name, letters)
    if len(parts) > lines:
        parts[lines - 1 :] = [parts[lines - 1][: letters - 1] + "…"]
    return "\n".join(parts)


# Legends that hide nothing: above or beside an Axes, where the layout of the figure makes room for them


INSIDE = {"loc": "best", "frameon": True, "framealpha": 0.85, "edgecolor": "none", "fontsize": "small"}
"""A legend in a figure without a layout: where it hides least, and what it hides is seen through."""

OUTSIDE = {"frameon": False, "fontsize": "small"}

BESIDE = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), **OUTSIDE}

OF_TITLE = 24.0
"""Points between an Axes and the legend above it: there is room for a title of one line, also for one that is set later."""

MOST_COLUMNS = 3

INDENT = "  "
"""What stands before the second line of a label, and those after it."""


def legend_above(ax: Any, *given: Sequence[Any], **options: Any) -> None:
    """Draw the legend above an Axes and its title, in as many columns as it is wide, where the layout makes room for it.

    ``given`` are handles and labels, by default all that the Axes names.
    """
    from matplotlib.transforms import ScaledTranslation

    handles, labels = given or ax.get_legend_handles_labels()
    if not labels:
        return
    if ax.figure.get_layout_engine() is None:
        ax.legend(handles, labels, **INSIDE)
        return
    above = ax.transAxes + ScaledTranslation(0.0, OF_TITLE / 72.0, ax.figure.dpi_scale_trans)
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "bbox_transform": above, "borderaxespad": 0.0}
    look = {"columnspacing": 1.2, "borderpad": 0.0, "alignment": "left", **OUTSIDE, **options}
    _in_columns(lambda words, n: ax.legend(handles, words, ncols=n, **place, **look), labels, MOST_COLUMNS, ax)


def _in_columns(draw: Callable[[Sequence[str], int], Any], labels: Sequence[str], most: int, within: Any) -> int:
    """Draw a legend in as many columns as are no wider than an Axes or a figure, and return how many rows it has.

    Labels that are too wide for one column are broken into lines.
    """
    room = within.get_window_extent().width
    for n_columns in range(min(most, len(labels)), 0, -1):
        n_rows = -(-len(labels) // n_columns)
        legend = draw(labels, -(-len(labels) // n_rows))
        if (width := legend.get_window_extent().width) <= room:
            return n_rows
        legend.remove()
    letters = max(int(max(map(len, labels)) * room / width) - len(INDENT), len(INDENT) + 1)
    broken = [textwrap.fill(label, letters, subsequent_indent=INDENT) for label in labels]
    draw(broken, 1)
    return sum(1 + label.count("\n") for label in broken)


def legend_beside(ax: Any, *given: Sequence[Any]) -> None:
    """Draw the legend to the right of an Axes where the layout makes room for it, else inside."""
    handles, labels = given or ax.get_legend_handles_labels()
    if labels:
        ax.legend(handles, labels, **(INSIDE if ax.figure.get_layout_engine() is None else BESIDE))


# Axes in log-odds: as much room between 0.001 and 0.01 as between 0.1 and 0.5, for rare events


EMPTY = (0.001, 0.999)
"""Limits where no value lies between 0 and 1."""

ENDS = (1e-30, 1.0 - 1e-15)
"""No axis reaches further."""


def use_log_odds(ax: Any, values: FloatArray, ends: tuple[float, float] = ENDS) -> None:
    """Scale both axes in log-odds, around the values that lie between 0 and 1; ticks are probabilities."""
    from matplotlib.ticker import LogitFormatter, LogitLocator

    inside = values[(values > 0) & (values < 1)]
    low, high = EMPTY
    if inside.size:  # with some room about them
        odds = np.clip([inside.min(), inside.max()], *ends)
        odds = odds / (1.0 - odds) * np.array([0.6, 1.7])
        low, high = np.clip(odds / (1.0 + odds), *ends).tolist()
    for axis, set_scale in ((ax.xaxis, ax.set_xscale), (ax.yaxis, ax.set_yscale)):
        set_scale("function", functions=(_log_odds, expit))
        axis.set_major_locator(LogitLocator())
        axis.set_major_formatter(LogitFormatter(one_half="0.5"))
        axis.set_minor_locator(LogitLocator(minor=True))
        axis.set_minor_formatter("")
    ax.set(xlim=(low, high), ylim=(low, high))


def _log_odds(prob: FloatArray) -> FloatArray:
    """Return log-odds; what they do not reach is put far outside, so that a bar ends at the edge instead of nowhere."""
    clipped: FloatArray = logit(np.clip(prob, 1e-300, 1.0 - 2.0**-53))
    return clipped


# What stands below and beside a diagram and shares an axis with it


ROOM, MARGINS_APART = 0.22, 0.05
"""Size of what stands below and beside, and how far off, as parts of the diagram."""

PLACES = {
    "bottom": ([0, -ROOM - MARGINS_APART, 1, ROOM], "sharex"),
    "right": ([1 + MARGINS_APART, 0, ROOM, 1], "sharey"),
}
"""Where a room is, and which axis it shares."""


def room_below(ax: Any) -> Any:
    """Return new Axes below, that share the horizontal axis and take its labels."""
    ax.tick_params(labelbottom=False)
    return rooms(ax, "bottom")[0]


def finish_below(below: Any, label: str) -> Any:
    """Leave what stands below a diagram a short axis that begins at zero, and return it."""
    below.set_ylabel(label, fontsize="small")
    below.tick_params(labelsize="small")
    below.set_ylim(bottom=0.0)
    below.spines[["top", "right"]].set_visible(False)
    below.locator_params(axis="y", nbins=3)
    return below


def counts_below(ax: Any, every: Sequence[Any]) -> Any:
    """Draw the numbers of rows in the bins of one forecast or several below a diagram, and return the Axes."""
    below, single = room_below(ax), len(every) == 1
    for number, bins in enumerate(every):
        look = {"fill": single, "alpha": 0.7 if single else 1.0, "linewidth": 1.3}
        below.stairs(bins.count, bins.edges, color=colour(number), **look)
    return finish_below(below, "rows")


def rooms(ax: Any, *sides: str) -> list[Any]:
    """Return new Axes on sides of a diagram, that share an axis each."""
    if ax.figure.get_layout_engine() is not None:  # the layout makes room for what hangs out of an Axes
        return [ax.inset_axes(place, **{shared: ax}) for place, shared in (PLACES[side] for side in sides)]
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    divider = make_axes_locatable(ax)  # shrinks a given Axes
    return [divider.append_axes(side, size=f"{ROOM:.0%}", pad=0.12, **{PLACES[side][1]: ax}) for side in sides]


def tidy(ax: Any, below: Any, beside: Any) -> None:
    """Leave the corner between the rooms free; numbers of rows are short."""
    from matplotlib.ticker import EngFormatter, MaxNLocator

    ax.set_axisbelow(True)
    ax.tick_params(labelbottom=False)
    beside.tick_params(labelleft=False)
    beside.xaxis.tick_top()
    beside.xaxis.set_label_position("top")
    beside.spines[["bottom", "right"]].set_visible(False)
    below.spines[["top", "right"]].set_visible(False)
    for room, axis in ((below, below.yaxis), (beside, beside.xaxis)):
        room.tick_params(labelsize="small")
        axis.set_major_locator(MaxNLocator(1 if room is beside else 3, steps=[1, 2, 5, 10], integer=True))
        axis.set_major_formatter(EngFormatter(sep=""))


# One forecast or several over each other, in one Axes or one a panel: what the pictures of all notions share


COLUMNS = 4
"""Panels side by side, where there are several."""

MOST_PANELS = 40
"""More than this no eye takes in, and matplotlib takes minutes."""

MOST_LAYOUTS, MOVED = 6, 5e-4
"""Layouts until a figure is drawn whatever still moves, and what counts as moved, as a part of the figure."""

LETTERS_AN_INCH, LETTERS_MORE = 12.0, 4
"""Letters in an inch of the label up the side, and how many more its first line may have than the others."""

OF_LEGEND = 0.5
"""Inches that a legend adds to the height of an Axes alone."""

OF_TITLES = 30
"""Letters of a line of the title of one of several panels."""

OF_ROW = 0.2
"""Inches that each row of a legend but the first adds to the height of several."""


Draw = Callable[[Any, Mapping[str, Any], bool], Any]
"""Draws into an Axes a dict of name to panel, alone if the flag says so; returns the Axes below it, if there is one."""


def draw_panels(
    results: Mapping[str, Any],
    draw: Draw,
    *,
    ax: Any,
    panels: Sequence[str] | None,
    height: float | tuple[float, float],
    labels: tuple[str, str],
    legend: Callable[[Any], None] | None = legend_above,
) -> Any:
    """Draw each panel into an Axes of its own; return the Axes, or the array of them.

    ``height`` is that of an Axes in inches without its legend, or one for an Axes alone and one for several. ``labels`` are
    those of the axes, which panels share.
    ``legend`` draws that of an Axes alone; None where that has none, or has drawn it.
    """
    chosen = _chosen_panels(results, panels)
    if ax is not None and len(chosen) > 1:
        hint = f"Leave ax out, or choose one: panels=[{chosen[0]!r}]"
        refuse("one Axes holds one panel", given=f"the curve has {len(chosen)}", hint=hint)
    alone, high = len(chosen) == 1, np.broadcast_to(height, 2)
    if ax is not None:
        hint = "Pass plt.subplots()[1], or leave it out"
        require(hasattr(ax, "transData"), "ax must be an Axes", got=type(ax).__name__, hint=hint, error=TypeError)
        axes = np.array([ax])
    elif alone:
        axes = panel_axes(1, (4.6, high[0] + (OF_LEGEND if legend else 0.0)))
    else:
        axes = panel_axes(len(chosen), (2.9, 0.63 * high[1]), more=0.3)
    for panel_ax, title in zip(axes, chosen, strict=True):
        below = draw(panel_ax, {name: panel_of(result, title) for name, result in results.items()}, alone)
        words = "" if alone and title in (Binary.name, "") else title
        words = words if alone else cut(words, OF_TITLES, lines=2)
        panel_ax.set_title(words, fontsize=None if alone else "medium", parse_math=False)
        if alone:
            panel_ax.set_ylabel(labels[1])
            (below or panel_ax).set_xlabel(labels[0])
    if not alone:
        _label_outside(axes, labels)
    elif legend:
        legend(axes[0])
    if ax is None:
        settle(axes[0].figure, MOST_LAYOUTS if alone else 1)
    return axes[0] if alone else axes


def settle(figure: Any, most: int = MOST_LAYOUTS) -> None:
    """Lay a figure out until nothing moves: each layout knows better how far the Axes below and the legends hang out."""
    before = np.zeros(0)
    for _ in range(most):
        figure.get_layout_engine().execute(figure)
        now = np.concatenate([ax.get_position(original).bounds for ax in figure.axes for original in (True, False)])
        if before.size and np.abs(now - before).max() < MOVED:
            return
        before = now


def _label_outside(axes: Any, labels: tuple[str, str]) -> None:
    figure = axes[0].figure
    figure.supxlabel(labels[0], fontsize="medium")
    lines = 1 + int(len(labels[1]) / (LETTERS_AN_INCH * figure.get_size_inches()[1]))
    figure.supylabel(textwrap.fill(labels[1], len(labels[1]) // lines + LETTERS_MORE), fontsize="medium")
    handles, words = axes[0].get_legend_handles_labels()
    if words:
        look = {"loc": "outside upper center", "frameon": False}
        n_rows = _in_columns(lambda said, n: figure.legend(handles, said, ncols=n, **look), words, 8, figure)
        width, high = figure.get_size_inches()
        figure.set_size_inches(width, high + OF_ROW * (n_rows - 1))


def panel_of(result: Any, name: str) -> Any:
    """Return the panel of that name."""
    found = next((panel for panel in result.panels if panel.name in (name, Binary.name)), None)
    got, hint = f"{type(result).__name__} without {name!r}", "Use one notion and the same classes"
    require(found is not None, "what is drawn together must have the same panels", got=got, hint=hint)
    return found


def outcome_word(result: Any) -> str:
    """Return what the rate of events of a result is called."""
    return "accuracy" if result.of_predictions else "event rate"


def _chosen_panels(results: Mapping[str, Any], panels: Sequence[str] | None) -> Sequence[str]:
    if panels is not None:
        list_of_names("panels", panels)
    titles = [[panel.name for panel in result.panels] for result in results.values()]
    titles = sorted(titles, key=lambda names: names == [Binary.name])  # what knows its event names the panel
    alike = all(other in (titles[0], [Binary.name]) for other in titles)
    must, hint = "curves over each other must have the same panels", "Use one notion and the same classes"
    require(alike, must, value=titles, hint=hint)
    names = titles[0]
    if panels is None:
        must, hint = f"a figure holds at most {MOST_PANELS} panels", f"Choose some: panels=[{names[0]!r}, ...]"
        require(len(names) <= MOST_PANELS, must, given=f"the curve has {len(names)}", hint=hint)
        return names
    panels = list(panels)
    if unknown := [name for name in panels if name not in names]:
        refuse(f"panels must be among those of the curve, such as {names[0]!r}", value=unknown, hint="Name these")
    require(panels, "panels must name at least one panel", got="none", hint=f"Leave it out, or pass [{names[0]!r}]")
    return panels


def panel_axes(n: int, size: tuple[float, float], *, more: float = 0.0) -> Any:
    """Return Axes of a size each, in inches, side by side in one row or several; the figure is ``more`` inches higher."""
    import matplotlib.pyplot as plt

    across = min(n, COLUMNS)
    down = -(-n // across)
    whole = (size[0] * across, size[1] * down + more)
    figure, grid = plt.subplots(down, across, figsize=whole, squeeze=False, layout="constrained")
    for spare in grid.ravel()[n:]:
        figure.delaxes(spare)
    return grid.ravel()[:n]


# What all pictures share: new Axes, a grid, and the diagonal of the unit square


def new_axes(ax: Any, size: tuple[float, float] = (4.8, 4.0)) -> Any:
    """Return the Axes that are given, or those of a new figure."""
    return panel_axes(1, size)[0] if ax is None else ax


def axes_in_a_row(axes: Any, n: int, what: str, size: tuple[float, float], **shape: Any) -> Any:
    """Return the Axes that are given, which must be so many, or those of a new figure."""
    import matplotlib.pyplot as plt

    if axes is None:
        return plt.subplots(1, n, figsize=size, squeeze=False, layout="constrained", **shape)[1].ravel()
    given = np.ravel(axes)
    got, hint = f"{given.size} for {n}", "Leave axes out for a new figure"
    require(given.size == n, f"axes must be {what}", got=got, hint=hint)
    return given


def grid(ax: Any, axis: str = "both") -> None:
    """Draw a pale grid, below all else."""
    ax.set_axisbelow(True)
    ax.grid(axis=axis, color=GRID, linewidth=0.8)


DIAGONAL = "perfectly calibrated"
"""What a legend calls the line on which calibrated forecasts lie; a forecast may well be called "calibrated"."""


def unit_square(ax: Any, *, diagonal: str | None = DIAGONAL) -> None:
    """Show the unit square with a grid, and the diagonal on which a calibrated forecast lies."""
    if diagonal is not None:
        ax.plot([0, 1], [0, 1], color=IDEAL, linestyle="--", linewidth=1, label=diagonal, zorder=1.5)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    grid(ax)


def arrows(ax: Any, start: FloatArray, end: FloatArray, **look: Any) -> None:
    """Draw an arrow from each place to another, on whatever scales the axes have."""
    exact = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "units": "inches", "width": 0.014, "headwidth": 5}
    ax.quiver(*start.T, *(end - start).T, **exact, **look)


def outline(text: Any) -> None:
    """Draw words on a white rim, so that lines below do not hide them."""
    from matplotlib.patheffects import withStroke

    text.set_path_effects([withStroke(linewidth=2.0, foreground="white")])


def as_named(results: Any, what: str, call: str, kind: type) -> Mapping[str, Any]:
    """Return what is to be drawn by name, a single one by the empty name; all must be of one kind."""
    named = by_name(results)
    require(named, f"{what} must hold at least one result", got="none", hint=f"Pass {call}")
    for name, result in named.items():
        require_kind(result, what, call, kind, name)
    return named


def require_kind(result: Any, what: str, call: str, kind: type, name: str = "") -> None:
    """Refuse what is no result of that kind."""
    if not isinstance(result, kind):
        got = f"{type(result).__name__} under {name!r}" if name else type(result).__name__
        refuse(f"{what} must be of type {kind.__name__}", got=got, hint=f"Pass {call}", error=TypeError)
