"""The parts of a fitted evidence scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._core.parameters import require
from calibrant.plots import _style

if TYPE_CHECKING:
    from calibrant._core.links import FloatArray
    from calibrant.calibrators.simplex.evidence.parts import EvidenceParts

MOST_BARS = 12
"""Classes, and pairs of classes, that are shown: those of the longest bars."""


def plot_evidence_parts(parts: EvidenceParts, *, ax: Any = None) -> Any:
    """Draw the curve with its band; of three classes or more also the largest biases and the strongest interactions of classes.

    Parameters
    ----------
    parts : EvidenceParts
        Of a fitted `EvidenceScaling`.
    ax : matplotlib Axes or sequence of Axes, optional
        Where to draw, one for two classes and else three; a new figure by default.

    Returns
    -------
    matplotlib Axes, or ndarray of three Axes
        What was drawn on.

    Raises
    ------
    ValueError
        If there is not one Axes a panel.
    """
    n_panels = 1 if len(parts.classes) == 2 else 3
    axes = _new_axes(n_panels) if ax is None else np.atleast_1d(np.array(ax, dtype=object))
    require(
        len(axes) == n_panels,
        f"ax must hold {n_panels} Axes for {len(parts.classes)} classes",
        got=str(len(axes)),
        hint="Leave ax out for a new figure",
    )
    _draw_curve(axes[0], parts)
    if n_panels == 1:
        return axes[0]
    _draw_bars(axes[1], parts.bias, list(parts.classes), "bias of a class")
    j, k = np.nonzero(np.ones_like(parts.interaction))
    names = [f"{parts.classes[b]} on {parts.classes[a]}" for a, b in zip(j, k, strict=True)]
    _draw_bars(axes[2], parts.interaction.ravel(), names, "effect of log p on a score")
    return axes


def _new_axes(n_panels: int) -> Any:
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(
        1, n_panels, figsize=(4.6 if n_panels == 1 else 10.5, 3.4), layout="constrained", squeeze=False
    )
    return axes[0]


def _draw_curve(ax: Any, parts: EvidenceParts) -> None:
    of = "log-odds" if len(parts.classes) == 2 else "log-probability"
    ax.axhline(0.0, color=_style.IDEAL, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    if parts.lower.size:
        ax.fill_between(parts.place, parts.lower, parts.upper, color=_style.FILL, linewidth=0.0, zorder=0)
    ax.plot(parts.place, parts.curve, color=_style.COLOURS[0], linewidth=1.6, zorder=2)
    ax.set(xlabel=f"standardised {of}", ylabel="added to the score")
    ax.spines[["top", "right"]].set_visible(False)


def _draw_bars(ax: Any, value: FloatArray, names: list[str], label: str) -> None:
    """Draw the longest bars, the first on top."""
    largest = np.argsort(-np.abs(value), kind="stable")[:MOST_BARS][::-1]
    colours = [_style.COLOURS[0] if value[i] >= 0.0 else _style.COLOURS[1] for i in largest]
    ax.barh(range(len(largest)), value[largest], color=colours, height=0.7, zorder=2)
    ax.set_yticks(range(len(largest)), [names[i] for i in largest])
    ax.axvline(0.0, color=_style.IDEAL, linewidth=1.0, zorder=3)
    ax.set(xlabel=label)
    ax.locator_params(axis="x", nbins=5)
    ax.spines[["top", "right"]].set_visible(False)
