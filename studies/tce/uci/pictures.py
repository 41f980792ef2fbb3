"""Pictures of the study that trains models: bins, and the test-based diagram beside the standard one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot as plt

from calibrant import EqualWidth
from calibrant import style as _style
from calibrant.binning import Bins
from calibrant.curves import bin_test_curve
from studies.tce.uci.bins import BINNINGS, bins_of, drops_of, most_violated, shown
from studies.tce.uci.measured import N_BINS, measure
from studies.tce.uci.models import Forecast, forecast
from tools.make_gallery import save_picture

IMAGES = Path(__file__).parents[3] / "docs" / "images" / "tce"

DIAGRAMS = (
    ("satimage", "RF", 0, "probability"),
    ("covertype", "MLP", 2, "log-odds"),
)
"""Data set, algorithm and split of the models in diagrams, and the axis of their probabilities."""

BORDER = {"color": _style.COLOURS[0], "linestyle": ":", "linewidth": 0.9, "zorder": 1}
SIZE = {"color": _style.IDEAL, "alpha": 0.45, "linewidth": 0.0}
RATE = {"color": _style.GAP, "linewidth": 2.0, "zorder": 3}
FALL = {"color": _style.COLOURS[-1], "linestyle": "none", "marker": "v", "markersize": 6, "zorder": 4}


def save(figure: Any, name: str) -> None:
    """Save a picture of the page."""
    save_picture(figure, IMAGES / f"{name}.png")


def draw_bins(of: Forecast, name: str, right: float) -> None:
    """Sizes and event rates of the bins of the three binnings, up to a probability."""
    figure, axes = plt.subplots(len(BINNINGS), 2, figsize=(9.6, 6.4), sharex=True, sharey="col", layout="constrained")
    highest = 0.0
    for (sizes, rates), cut in zip(axes, BINNINGS, strict=True):
        bins = bins_of(of, cut)
        for ax in (sizes, rates):
            ax.vlines(bins.edges, 0.0, 1.0, transform=ax.get_xaxis_transform(), **BORDER)
        sizes.bar(bins.edges[:-1], bins.weight / of.y.size, np.diff(bins.edges), align="edge", **SIZE)
        sizes.set_title(cut, loc="left", fontsize="medium")
        sizes.set_ylabel("share of rows")
        _draw_rates(rates, bins, drops_of(of, cut), right)
        highest = max(highest, bins.event_rate[(bins.edges[1:] <= right) & (bins.weight > 0)].max())
    axes[0, 1].set_ylim(-0.05 * highest, 1.1 * highest)
    axes[0, 0].set_xlim(-0.01 * right, 1.01 * right)
    keys = {label: key for ax in axes[:, 1] for key, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    axes[0, 1].legend(keys.values(), keys.keys(), loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False)
    for ax in axes[-1]:
        ax.set_xlabel("probability")
    save(figure, name)


def _draw_rates(ax: Any, bins: Bins, drop: np.ndarray, right: float) -> None:
    ax.hlines(bins.event_rate, bins.edges[:-1], bins.edges[1:], **RATE, label="event rate")
    fell = (drop > 0) & (bins.edges[:-1] < right)
    if fell.any():
        middle = (bins.edges[:-1] + np.minimum(bins.edges[1:], right)) / 2.0
        ax.plot(middle[fell], bins.event_rate[fell], **FALL, label="below the bin before")
    ax.set_ylabel("event rate")


def reach_of(of: Forecast) -> float:
    """Where the picture of the bins of a model ends: a little after the last violation of PAVA-BC."""
    last = np.flatnonzero(drops_of(of, "PAVA-BC") > 0)[-1]
    return float(min(1.0, 1.2 * bins_of(of, "PAVA-BC").edges[last + 1]))


def draw_diagrams() -> None:
    """The test-based diagram of each model, the standard one beside."""
    for data, algorithm, seed, axis in DIAGRAMS:
        of = forecast(data, algorithm, seed)
        figure, axes = plt.subplots(1, 2, figsize=(11.4, 4.7), layout="constrained")
        bin_test_curve(of.y, of.prob).plot(ax=axes[0], axis=axis)
        bin_test_curve(of.y, of.prob, binning=EqualWidth(N_BINS)).plot(ax=axes[1], style="standard", axis=axis)
        axes[1].set_title(f"ECE {measure(of, 'ECE'):.3f}\n{N_BINS} bins of equal width", fontsize="medium")
        save(figure, f"diagram-{data}")


def draw() -> None:
    """Draw all."""
    draw_bins(shown(), "bins", 1.0)
    draw_bins(most_violated(), "violations", reach_of(most_violated()))
    draw_diagrams()
