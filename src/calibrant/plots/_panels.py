"""One forecast or several over each other, in one Axes or one a panel: what the pictures of all notions share."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from calibrant._core.parameters import refuse, require
from calibrant.notions import Binary
from calibrant.plots._legend import legend_above

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
