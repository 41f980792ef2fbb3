"""Calibration errors of classes as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibrant._core.parameters import require
from calibrant.curves.class_errors import ClassErrors
from calibrant.notions import WithinGroups
from calibrant.plots import _style
from calibrant.plots._given import as_results
from calibrant.plots._legend import legend_beside
from calibrant.plots.bin_sweep import NAMES

NOISE = "noise floor"

TOGETHER = 0.8
"""Width of the bars of one class, of the room that it has."""

MOST_COUNTED = 20
"""With more classes their numbers of rows would run into each other."""


def plot_class_errors(
    results: ClassErrors | Mapping[str, ClassErrors], *, ax: Any = None, noise: bool = True, counts: bool = True
) -> Any:
    """Draw the calibration error of each class as a bar, with a tick at its noise floor.

    Parameters
    ----------
    results : ClassErrors or dict of name to ClassErrors
        One forecast, or several side by side, such as before and after. Several must have the same classes, notion, loss and
        norm; "group 3" of `WithinGroups` stands beside "predicted 3".
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    noise : bool, default=True
        Mark the noise floor of each bar: its expected value under calibration.
    counts : bool, default=True
        Write under each class its number of rows, up to 20 classes; where forecasts differ, that of each.

    Returns
    -------
    matplotlib Axes
        What was drawn on, with the words of the first result. A class without rows has no bar.

    Raises
    ------
    ValueError
        If there is no result, or if classes, notions, losses or norms differ.
    TypeError
        If something is no such result.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import class_errors
    >>> ax = class_errors(*load_digits_forecast()).plot()
    """
    import matplotlib.pyplot as plt

    named = as_results(results, "results", "class_errors(y_true, y_prob)", ClassErrors)
    first = next(iter(named.values()))
    short = _require_alike(list(named.values()))
    n_classes, n_bars = len(first.names), len(named)
    if ax is None:
        width = np.clip(2.4 + n_classes * (0.25 + 0.17 * n_bars), 5.4, 14.0)
        ax = plt.subplots(figsize=(width, 3.4), layout="constrained")[1]
    for number, (name, result) in enumerate(named.items()):
        _draw_bars(ax, result, name, number, n_bars, noise)
    word = _shared_word(first.names)[0]
    counted = counts and n_classes <= MOST_COUNTED
    labels = [f"{label}\n{count}" for label, count in zip(short, _counts(named), strict=True)] if counted else short
    ax.set_xticks(np.arange(n_classes), labels, fontsize="small", rotation=90 if n_classes > MOST_COUNTED else 0)
    ax.set_xlabel(f"{word}, and rows" if counted else word)
    ax.set_ylabel(f"{NAMES.get(first.norm, 'error') if first.loss == 'gap' else first.loss}, {first.notion}")
    if min(np.nanmin(result.value, initial=0.0) for result in named.values()) >= 0:  # else of a debiased loss
        ax.set_ylim(bottom=0)
    ax.set_axisbelow(True)
    ax.grid(axis="y", color=_style.GRID, linewidth=0.8)
    handles, words = ax.get_legend_handles_labels()
    if words:
        order = sorted(range(len(words)), key=lambda i: words[i] == NOISE)
        legend_beside(ax, [handles[i] for i in order], [words[i] for i in order])
    return ax


def _require_alike(results: Sequence[ClassErrors]) -> list[str]:
    """Refuse bars of different things; return the names of their classes."""
    groups = WithinGroups.name  # which may be predicted classes
    measured = {
        "notion": {result.notion for result in results if result.notion != groups},
        "loss": {result.loss for result in results},
        "norm": {result.norm for result in results},
    }
    for what, found in measured.items():
        require(
            len(found) <= 1,
            f"bars side by side must be of one {what}",
            got=f"{' and '.join(sorted(found))}",
            hint=f"Pass the same {what}= to class_errors",
        )
    short = [_shared_word(result.names)[1] for result in results]
    require(
        all(names == short[0] for names in short),
        "bars side by side must be of the same classes",
        value=short,
        hint="Pass labels=... with all classes to each",
    )
    return short[0]


def _draw_bars(ax: Any, result: ClassErrors, name: str, number: int, n_bars: int, noise: bool) -> None:
    each = TOGETHER / n_bars
    middle = np.arange(len(result.names)) + each * (number - (n_bars - 1) / 2)
    ax.bar(middle, result.value, width=0.92 * each, color=_style.colour(number), label=name or None)
    if noise and np.isfinite(result.noise_floor).any():
        # White below black, so that it is seen on a bar and above one.
        ends = middle - 0.46 * each, middle + 0.46 * each
        ax.hlines(result.noise_floor, *ends, color="white", linewidth=2.8, zorder=3)
        label = NOISE if number == n_bars - 1 else None
        ax.hlines(result.noise_floor, *ends, color="black", linewidth=1.3, zorder=3, label=label)


def _counts(named: Mapping[str, ClassErrors]) -> list[str]:
    """Number of rows of each class; of each forecast where they differ."""
    rows = zip(*(result.count.tolist() for result in named.values()), strict=True)
    return [str(own[0]) if len(set(own)) == 1 else "\n".join(map(str, own)) for own in rows]


def _shared_word(names: Sequence[str]) -> tuple[str, list[str]]:
    """Word with which all names begin, and the names without it: "predicted 3" is 3 of the predicted classes."""
    word, split, _ = names[0].partition(" ")
    if len(names) < 2 or not split or not all(name.startswith(f"{word} ") for name in names):
        return "", list(names)
    return {"predicted": "predicted class"}.get(word, word), [name[len(word) + 1 :] for name in names]
