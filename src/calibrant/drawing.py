"""Checks that a plot is given what it can draw."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from scipy.special import expit, logit

from calibrant import style as _style
from calibrant._core.arrays import FloatArray
from calibrant._core.checks import refuse, require
from calibrant.notions import Binary

# Words beside points: in the first place where they cover nothing


Place = tuple[float, float, str, str]
"""Points to the right and up, and which side of the words stands there."""

APART = 4.0
"""Pixels of room about words."""


NEAR = 10.0
"""Points up to which words stand beside their point; words further away are tied to it."""


def put_beside(text: Any, places: Sequence[Place], points: FloatArray, taken: Sequence[Any], page: Any) -> int:
    """Move words to the first place where they cover no point and no other words, or to that of the least; return how many.

    ``text`` is an annotation in offset points; ``points``, ``taken`` and ``page`` are in pixels: what is not to be covered, the
    boxes of other words, and the box that is not to be left, which is worse than to cover anything.
    """
    covered: list[int] = []
    for place in places:
        _put(text, place)
        covered.append(_covered(text.get_window_extent(), points, taken, page))
        if covered[-1] == 0:
            return 0
    best = int(np.argmin(covered))
    _put(text, places[best])
    return covered[best]


def tie(ax: Any, text: Any) -> None:
    """Draw a line from words to their point, if they stand away from it."""
    if np.hypot(*text.get_position()) > NEAR:
        look = {"arrowstyle": "-", "linewidth": 0.7, "color": _style.IDEAL, "shrinkA": 1, "shrinkB": 3}
        ax.annotate("", text.xy, xytext=text.get_position(), textcoords="offset points", arrowprops=look, zorder=2)


def _put(text: Any, place: Place) -> None:
    right, up, ha, va = place
    text.set(position=(right, up), ha=ha, va=va)


def _covered(box: Any, points: FloatArray, taken: Sequence[Any], page: Any) -> int:
    padded = box.padded(APART)
    outside = padded.x0 < page.x0 or padded.x1 > page.x1 or padded.y0 < page.y0 or padded.y1 > page.y1
    inside = ((points > padded.min) & (points < padded.max)).all(axis=1)
    return int(100 * outside + inside.sum() + sum(bool(padded.overlaps(other)) for other in taken))


# Legends that hide nothing: above or beside an Axes, where the layout of the figure makes room for them


INSIDE = {"loc": "best", "frameon": True, "framealpha": 0.85, "edgecolor": "none", "fontsize": "small"}
"""A legend in a figure without a layout: where it hides least, and what it hides is seen through."""

OUTSIDE = {"frameon": False, "fontsize": "small"}

OF_TITLE = 24.0
"""Points between an Axes and the legend above it: there is room for a title of one line, also for one that is set later."""

MOST_COLUMNS = 3


def legend_above(
    ax: Any,
    handles: Sequence[Any] | None = None,
    labels: Sequence[str] | None = None,
    *,
    room: float = OF_TITLE,
    **options: Any,
) -> None:
    """Draw the legend above an Axes and its title, in as many columns as it is wide, where the layout makes room for it."""
    from matplotlib.transforms import ScaledTranslation

    given = _given(ax, handles, labels)
    if not given[1]:
        return
    if not _has_layout(ax):
        ax.legend(*given, **INSIDE)
        return
    above = ax.transAxes + ScaledTranslation(0.0, room / 72.0, ax.figure.dpi_scale_trans)
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "bbox_transform": above, "borderaxespad": 0.0}
    look = {"columnspacing": 1.2, "borderpad": 0.0, "alignment": "left", **OUTSIDE, **options}
    n_words = len(given[1])
    for n_columns in range(min(MOST_COLUMNS, n_words), 0, -1):
        n_rows = -(-n_words // n_columns)
        legend = ax.legend(*given, ncols=-(-n_words // n_rows), **place, **look)
        if legend.get_window_extent().width <= ax.get_window_extent().width:
            return


def legend_beside(ax: Any, handles: Sequence[Any] | None = None, labels: Sequence[str] | None = None) -> None:
    """Draw the legend to the right of an Axes where the layout makes room for it, else inside."""
    given = _given(ax, handles, labels)
    if not given[1]:
        return
    if _has_layout(ax):
        ax.legend(*given, loc="upper left", bbox_to_anchor=(1.0, 1.0), **OUTSIDE)
    else:
        ax.legend(*given, **INSIDE)


def _given(ax: Any, handles: Sequence[Any] | None, labels: Sequence[str] | None) -> tuple[list[Any], list[str]]:
    """Return what stands in the legend: what is given, or all that the Axes names."""
    if handles is None or labels is None:
        handles, labels = ax.get_legend_handles_labels()
    return list(handles), list(labels)


def _has_layout(ax: Any) -> bool:
    return ax.figure.get_layout_engine() is not None


# Axes in log-odds: as much room between 0.001 and 0.01 as between 0.1 and 0.5, for rare events


FEW = 3
"""With fewer ticks than this an axis is not read."""

MANY = 7
"""So many labels beside each other crowd."""

MOST_DECADES = 10
"""Powers of ten on one side of 0.5 that all have a tick; of more, only each second, fifth or tenth."""

PLAIN = 7
"""Powers of ten up to which a tick is written in decimals where nothing lies further out."""

EMPTY = (0.001, 0.999)
"""Limits where no value lies between 0 and 1."""

ENDS = (1e-30, 1.0 - 1e-15)
"""No axis reaches further."""


def use_log_odds(ax: Any, values: FloatArray, ends: tuple[float, float] = ENDS) -> None:
    """Scale both axes in log-odds, around the values that lie between 0 and 1; ticks are probabilities."""
    low, high = limits(values, ends)
    exponents = _exponents(low, high)
    ticks = _within(low, high, exponents, (1,))
    if len(ticks) < FEW:
        ticks = _within(low, high, exponents, (1, 2, 5))
    minor = _within(low, high, exponents, range(2, 10)) if exponents.step == 1 else []
    words = _decimals if exponents.stop - 1 <= PLAIN else _powers
    labels = [words(part, k, above) for _, part, k, above in ticks]
    for axis, set_scale in ((ax.xaxis, ax.set_xscale), (ax.yaxis, ax.set_yscale)):
        set_scale("function", functions=(_log_odds, expit))
        axis.set_ticks([tick[0] for tick in ticks], labels=labels if axis is ax.yaxis else _not_too_many(labels))
        axis.set_ticks([tick[0] for tick in minor], minor=True)
        axis.set_minor_formatter("")
    ax.set(xlim=(low, high), ylim=(low, high))


def limits(values: FloatArray, ends: tuple[float, float] = ENDS) -> tuple[float, float]:
    """Return limits with some room around the values that lie between 0 and 1."""
    inside = values[(values > 0) & (values < 1)]
    if inside.size == 0:
        return EMPTY
    odds = np.clip([inside.min(), inside.max()], *ends)
    odds = odds / (1.0 - odds) * np.array([0.6, 1.7])
    low, high = odds / (1.0 + odds)
    return float(max(low, ends[0])), float(min(high, ends[1]))


Tick = tuple[float, int, int, bool]
"""A probability; and what it, or where the flag says so what is left to one, is: so many times ten to the minus so many."""


def _exponents(low: float, high: float) -> range:
    """Return the powers of ten that have ticks, as many as are needed on the longer side and not too many."""
    furthest = max(1, int(np.ceil(-np.log10(min(low, 1.0 - high)))))
    step = next((step for step in (1, 2, 5) if furthest <= step * MOST_DECADES), 10)
    return range(1, furthest + 1) if step == 1 else range(step, furthest + 1, step)


def _within(low: float, high: float, exponents: range, parts: Any) -> list[Tick]:
    """Return the ticks between two limits, in order; a half is among them."""
    below = [(float(f"{part}e-{k}"), part, k, False) for k in exponents for part in parts]
    above = [(1.0 - tick, part, k, True) for tick, part, k, _ in below]
    half = [(0.5, 5, 1, False)]
    ticks = {tick[0]: tick for tick in (*above, *below, *half) if low <= tick[0] <= high}
    return [ticks[at] for at in sorted(ticks)]


def _decimals(part: int, k: int, above: bool) -> str:
    value = 1.0 - part * 10.0**-k if above else part * 10.0**-k
    return f"{value:.{PLAIN}f}".rstrip("0")


def _powers(part: int, k: int, above: bool) -> str:
    if k <= 2:
        return _decimals(part, k, above)
    power = f"10^{{-{k}}}" if part == 1 else f"{part}\\cdot 10^{{-{k}}}"
    return f"$1 - {power}$" if above else f"${power}$"


def _not_too_many(labels: list[str]) -> list[str]:
    """Leave every second label out, where there are many; 0.5 stays."""
    if len(labels) < MANY:
        return labels
    first = labels.index("0.5") % 2 if "0.5" in labels else 0
    return [label if i % 2 == first else "" for i, label in enumerate(labels)]


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
    """Return new Axes below, that share the horizontal axis."""
    return _rooms(ax, "bottom")[0]


def rooms(ax: Any) -> tuple[Any, Any]:
    """Return new Axes below and beside, that share an axis each."""
    below, beside = _rooms(ax, "bottom", "right")
    return below, beside


def _rooms(ax: Any, *sides: str) -> list[Any]:
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


class Panel(Protocol):
    """One problem of a notion."""

    @property
    def name(self) -> str:
        """Name, such as "class 3"."""


class Result(Protocol):
    """What has a panel for each problem of a notion."""

    @property
    def panels(self) -> Sequence[Any]:
        """Panels in the order of the notion."""


Draw = Callable[[Any, Mapping[str, Any], bool], None]
"""Draws into an Axes a dict of name to panel; the flag says whether the Axes is alone and writes its own axis labels."""


def draw_panels(
    results: Mapping[str, Result],
    draw: Draw,
    *,
    ax: Any,
    panels: Sequence[str] | None,
    height: float,
    labels: tuple[str, str],
    legend: Callable[[Any], None] | None = legend_above,
) -> Any:
    """Draw each panel into an Axes of its own; return the Axes, or the array of them.

    ``height`` is that of an Axes alone in inches without its legend, ``labels`` are those of the axes where panels share them.
    ``legend`` draws that of an Axes alone; None where that has none, or has drawn it.
    """
    import matplotlib.pyplot as plt

    require_names(panels)
    chosen = _chosen_panels(results, panels)
    if ax is not None and len(chosen) > 1:
        refuse(
            "one Axes holds one panel",
            given=f"the curve has {len(chosen)}",
            hint=f"Leave ax out, or choose one: panels=[{chosen[0]!r}]",
        )
    alone = len(chosen) == 1
    axes = _new_axes(plt, len(chosen), height, OF_LEGEND if legend else 0.0) if ax is None else np.array([ax])
    for panel_ax, title in zip(axes, chosen, strict=True):
        draw(panel_ax, {name: panel_of(result, title) for name, result in results.items()}, alone)
        words = "" if alone and title in (Binary.name, "") else title
        panel_ax.set_title(words, fontsize=None if alone else "medium", parse_math=False)
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
        figure.legend(handles, words, loc="outside upper center", ncols=8, frameon=False)


def as_named(results: Any, what: str, call: str) -> Mapping[str, Any]:
    """Return results by name: a dict as it is, one result without a name."""
    named = results if isinstance(results, Mapping) else {"": results}
    require(named, f"{what} must hold at least one curve", got="none", hint=f"Pass {call}")
    return named


def panel_of(result: Result, name: str) -> Any:
    """Return the panel of that name."""
    found = next((panel for panel in result.panels if panel.name in (name, Binary.name)), None)
    require(
        found is not None,
        "what is drawn together must have the same panels",
        got=f"{type(result).__name__} without {name!r}",
        hint="Use one notion and the same classes",
    )
    return found


def outcome_word(result: Any) -> str:
    """Return what the rate of events of a result is called."""
    return "accuracy" if result.of_predictions else "event rate"


def require_names(panels: object) -> None:
    """Refuse what is no list of names of panels."""
    require(
        panels is None or (not isinstance(panels, str) and isinstance(panels, Sequence)),
        "panels must be a list of names",
        value=panels,
        hint="Pass a list, or leave it out",
        error=TypeError,
    )


def _chosen_panels(results: Mapping[str, Result], panels: Sequence[str] | None) -> list[str]:
    titles = [[panel.name for panel in result.panels] for result in results.values()]
    titles = sorted(titles, key=lambda names: names == [Binary.name])  # what knows its event names the panel
    require(
        all(other in (titles[0], [Binary.name]) for other in titles),
        "curves over each other must have the same panels",
        value=titles,
        hint="Use one notion and the same classes",
    )
    if panels is None:
        if len(titles[0]) > MOST_PANELS:
            refuse(
                f"a figure holds at most {MOST_PANELS} panels",
                given=f"the curve has {len(titles[0])}",
                hint=f"Choose some: panels=[{titles[0][0]!r}, ...]",
            )
        return titles[0]
    unknown = [name for name in panels if name not in titles[0]]
    if unknown:
        refuse(f"panels must be among those of the curve, such as {titles[0][0]!r}", value=unknown, hint="Name these")
    if not panels:
        refuse("panels must name at least one panel", got="none", hint=f"Leave it out, or pass [{titles[0][0]!r}]")
    return list(panels)


def _new_axes(plt: Any, n_panels: int, height: float, legend: float) -> Any:
    across = min(n_panels, COLUMNS)
    down = -(-n_panels // across)
    size = (4.6, height + legend) if n_panels == 1 else (2.9 * across, 0.63 * height * down + 0.3)
    figure, grid = plt.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    for spare in grid.ravel()[n_panels:]:
        figure.delaxes(spare)
    return grid.ravel()[:n_panels]


# Checks that a plot is given what it can draw


def as_results(results: Any, what: str, call: str, kind: type) -> Mapping[str, Any]:
    """Return results of one kind by name: a dict as it is, one result without a name."""
    named = as_named(results, what, call)
    for name, result in named.items():
        require_kind(result, what, call, kind, name)
    return named


def require_kind(result: Any, what: str, call: str, kind: type, name: str = "") -> None:
    """Refuse what is no result of that kind."""
    if not isinstance(result, kind):
        at = f" under {name!r}" if name else ""
        refuse(
            f"{what} must be of type {kind.__name__}",
            got=f"{type(result).__name__}{at}",
            hint=f"Pass {call}",
            error=TypeError,
        )
