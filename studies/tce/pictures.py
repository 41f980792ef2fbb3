"""The pictures of docs/tce.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D

from calibrant import EqualMass, EqualWidth, drawing, expected_calibration_error
from calibrant.curves import bin_test_curve
from calibrant.drawing import legend_above
from studies.tce.imagenet import NETWORKS, PRINTED, dogs
from studies.tce.published import Rows, rows
from studies.tce.simulation import BINNINGS, TABLES, at_size, drawn
from studies.tce.simulation import SIZES_NULL as NULL_SIZES
from tools.make_gallery import save_picture

IMAGES = Path(__file__).parents[2] / "docs" / "images" / "tce"


def save(figure: Any, name: str) -> None:
    """Save a picture of the page."""
    save_picture(figure, IMAGES / f"{name}.png")


def draw_seeds() -> None:
    """The cells of Table 2: the paper's draw among others."""
    of = TABLES[2]
    figure, axes = plt.subplots(1, len(of.metrics), figsize=(9.6, 3.0), layout="constrained", sharey=True)
    places = range(len(of.lines))
    for j, (ax, metric) in enumerate(zip(axes, of.metrics, strict=True)):
        for i in places:
            values = drawn(2, i, metric)
            low, high = np.quantile(values, [0.05, 0.95])
            is_right = i in (0, 3)
            colour = drawing.colour(0 if is_right else 1)
            ax.plot([low, high], [i, i], color=colour, linewidth=3, alpha=0.5, solid_capstyle="butt")
            ax.plot(values.mean(), i, "o" if is_right else "s", color=colour, markersize=5)
            ax.plot(
                float(PRINTED[2][i][j]), i, marker="*", color="black", linestyle="none", markersize=7, clip_on=False
            )
        ax.set_title(metric, fontsize=10)
        ax.grid(axis="x", color=drawing.GRID)
        ax.set_axisbelow(True)
        ax.set_xlim(left=0)
    axes[0].set_yticks(places, [name for name, _ in of.lines])
    axes[0].set_ylabel(of.word)
    axes[0].invert_yaxis()
    handles = [
        Line2D([], [], color=drawing.colour(k), marker=m, linewidth=3, label=word)
        for k, m, word in ((0, "o", "calibrated, mean and 90 %"), (1, "s", "miscalibrated"))
    ]
    handles.append(Line2D([], [], color="black", marker="*", linestyle="none", label="the paper's draw"))
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    save(figure, "seeds")


def draw_null() -> None:
    """TCE of true probabilities as rows grow in number: means, with bands that hold 90 %."""
    figure, ax = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
    for k, name in enumerate(BINNINGS):
        values = [at_size(n)[name] for n in NULL_SIZES]
        low, high = np.array([np.quantile(v, [0.05, 0.95]) for v in values]).T
        ax.fill_between(NULL_SIZES, low, high, color=drawing.colour(k), alpha=0.15, linewidth=0)
        look = {"color": drawing.colour(k), "marker": drawing.marker(k), "markersize": 4}
        ax.plot(NULL_SIZES, [v.mean() for v in values], label=name, **look)
    ax.axhline(5.0, color=drawing.IDEAL, linestyle="--", linewidth=1.2, label="level of each test")
    ax.set(xscale="log", xlabel="rows", ylabel="TCE of the true probabilities", ylim=(0, None))
    ax.grid(color=drawing.GRID)
    ax.set_axisbelow(True)
    ax.set_xticks(NULL_SIZES, [f"{n / 1000:g}k" for n in NULL_SIZES])
    ax.minorticks_off()
    legend_above(ax)
    save(figure, "null")


FIGURES = {
    "figure-1": ("Fig. 1: gradient boosting on abalone", "GB"),
    "figure-5a": ("Fig. 5 (a): logistic regression on abalone", "LR"),
    **{f"figure-7-{name}": (f"Fig. 7: {word}", name) for name, word in NETWORKS.items() if name != "resnet50"},
}
"""Name of the picture, what it shows and the model."""


def of_figure(model: str) -> Rows:
    """The rows of a model in a figure of the paper."""
    return rows("abalone", model) if model.isupper() else (dogs()["y"], dogs()[model])


def draw_figure(name: str, model: str) -> None:
    """The panels of TCE, ECE and ACE."""
    of, how = of_figure(model), {"axis": "probability" if model.isupper() else "log-odds"}
    figure, axes = plt.subplots(1, 3, figsize=(17.0, 4.7), layout="constrained")
    bin_test_curve(*of).plot(ax=axes[0], **how)
    for ax, word, binning, width in zip(
        axes[1:], ("ECE", "ACE"), (EqualWidth(10), EqualMass(10)), ("width", "mass"), strict=True
    ):
        bin_test_curve(*of, binning=binning).plot(ax=ax, style="standard", **how)
        value = expected_calibration_error(*of, binning=binning)
        ax.set_title(f"{word} {value:.4f}\n10 bins of equal {width}", fontsize="medium")
    save(figure, name)


def figures(*, networks: bool) -> str:
    """The pictures of the networks, or of abalone, for the page."""
    return "\n\n".join(
        f"![{word}: TCE, ECE and ACE](images/tce/{name}.png)"
        for name, (word, model) in FIGURES.items()
        if model.isupper() is not networks
    )


def draw() -> None:
    """Draw all."""
    for make in (draw_seeds, draw_null):
        make()
    for name, (_, model) in FIGURES.items():
        draw_figure(name, model)
