"""The pictures of docs/top-label.md that come from CIFAR-10, and that of docs/notions.md."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from calibrant import EqualMass, EqualWidth, curves, drawing
from calibrant.binning import Projection, Sierpinski, SimplexGrid, Unique
from calibrant.calibrators import CanonicalBinning
from studies.claims import data_dir, mean_and_error, table
from studies.top_label import forecasts as fc
from tools.make_gallery import save_picture

mpl.use("Agg")


IMAGES = Path(__file__).parents[2] / "docs" / "images"

SHOWN = ("Base", "TS", "TL-HB (50)", "N-HB")
WORDS = {"TL-ECE": "top-label", "conf-ECE": "confidence"}


def save(figure: Any, name: str) -> None:
    """Save a picture of the page."""
    save_picture(figure, IMAGES / f"top-label-{name}.png")


def curve_of(method: str) -> Any:
    """Confidence and top-label reliability of a method."""
    of, y = fc.forecasts()[method], fc.cifar()[3]
    return curves.top_label_curve(y, of.prob, y_pred=of.label, labels=range(10))


def draw_diagram() -> None:
    """Confidence and top-label reliability side by side: the paper's figure 1."""
    axes = curves.plot_top_label({name: curve_of(name) for name in ("Base", "TS", "TL-HB (50)")})
    save(axes[0].figure, "diagram")


def draw_bin() -> None:
    """The classes in the fullest bin: the paper's figure 2."""
    save(curves.plot_top_label_bin(curve_of("Base"))[0].figure, "bin")


def fullest_bin() -> str:
    """What there is to see in it."""
    curve = curve_of("Base")
    b = int(curve.bins.count.argmax())
    gaps = {name: own.gap[b] for name, own in zip(curve.classes, curve.class_bins, strict=True)}
    lowest, above = min(gaps, key=lambda name: gaps[name]), sum(gap > 0 for gap in gaps.values())
    return (
        f"{curve.share[b]:.0%} of the predictions lie in this bin. As a whole its accuracy is {-curve.bins.gap[b]:.4f} "
        f"below its mean probability. That of predictions of class {lowest} is {-gaps[lowest]:.4f} below, those of "
        f"{above} classes are above."
    )


def draw_sweep() -> None:
    """Errors against the number of bins: the paper's figure 3, and the same with equal mass."""
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained", sharey=True)
    for ax, binning in zip(axes, (EqualWidth, EqualMass), strict=True):
        for number, name in enumerate(SHOWN):
            look = {"color": drawing.colour(number), "marker": drawing.marker(number), "markersize": 3.5}
            for (word, notion), style in zip(WORDS.items(), ("-", "--"), strict=True):
                value = [fc.forecasts()[name].error(notion, binning(n)) for n in fc.BINS]
                ax.plot(fc.BINS, value, linestyle=style, label=f"{name}, {word}", **look)
        ax.set(xlabel=f"number of bins ({binning.__name__})", ylim=(0, None))
        drawing.grid(ax)
    axes[0].set_ylabel("ECE")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    save(figure, "sweep")


def draw_validity() -> None:
    """Share of predictions within a distance of the rate of their event."""
    found = {"Base, 15 equal mass a class": _validity(fc.forecasts()["Base"], EqualMass(15), None)}
    for points in (50, 100):
        found[f"TL-HB ({points})"] = _validity(fc.forecasts()[f"TL-HB ({points})"], Unique(), points)
    save(curves.plot_validity(found).figure, "validity")


def _validity(of: fc.Forecast, binning: Any, points: int | None) -> Any:
    return curves.validity_curve(**of.asked("top-label"), binning=binning, points_per_bin=points)


PLACES = {
    "canonical": (1.0, 4.0),
    "top-L-label": (1.0, 3.0),
    "class-wise": (2.0, 2.0),
    "top-L-confidence": (0.0, 2.0),
    "top-K-label": (1.0, 2.0),
    "top-K-confidence": (0.0, 1.0),
    "top-label": (1.0, 1.0),
    "confidence": (0.0, 0.0),
}
ARROWS = (
    ("canonical", "top-L-label"),
    ("top-L-label", "class-wise"),
    ("top-L-label", "top-L-confidence"),
    ("top-L-label", "top-K-label"),
    ("top-L-confidence", "top-K-confidence"),
    ("top-K-label", "top-K-confidence"),
    ("top-K-label", "top-label"),
    ("top-K-confidence", "confidence"),
    ("top-label", "confidence"),
)


def draw_implications() -> None:
    """Which notion implies which: each implies those that arrows lead to."""
    figure, ax = plt.subplots(figsize=(6.2, 4.0), layout="constrained")
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": drawing.colour(0)}
    boxes = {name: ax.text(*at, name, ha="center", va="center", bbox=box, zorder=3) for name, at in PLACES.items()}
    for one, other in ARROWS:
        ends = {f"patch{end}": boxes[name].get_bbox_patch() for end, name in (("A", one), ("B", other))}
        look = {"arrowstyle": "-|>", "color": drawing.IDEAL, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 1, **ends}
        ax.annotate("", PLACES[other], PLACES[one], arrowprops=look, zorder=2)
    ax.set(xlim=(-0.55, 2.45), ylim=(-0.35, 4.35))
    ax.set_axis_off()
    save(figure, "implications")


def draw() -> None:
    """Draw all."""
    for make in (draw_implications, draw_diagram, draw_bin, draw_sweep, draw_validity):
        make()


# Canonical binning of three classes of Covertype, and pictures of the cells.


BINNINGS = {
    "Sierpinski, q = 2": Sierpinski(2),
    "grid, K = 5": SimplexGrid(5),
    "projection, 27 cyclic": Projection(27),
    "projection, 27 random": Projection(27, "random", random_state=0),
}

RANDOM_SEEDS = 20
"""Draws of the random directions."""


@cache
def covertype3() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities and labels, 500 rows to calibrate and 1000 to test."""
    with np.load(data_dir() / "covertype3.npz") as data:
        return data["P_cal"], data["y_cal"], data["P_test"], data["y_test"]


def draw_canonical() -> None:
    """The cells in the colours of their vectors: the paper's figures 10 to 12."""
    figure, axes = plt.subplots(2, 2, figsize=(8.4, 7.6), layout="constrained")
    prob, y, _, _ = covertype3()
    fitted = {name: CanonicalBinning(binning, smoothing=0.0).fit(prob, y) for name, binning in BINNINGS.items()}
    results = {name: curves.simplex_partition(of) for name, of in fitted.items()}
    curves.plot_simplex_partition(results, axes=axes.ravel(), text="count")
    save(figure, "partitions")


# The tables and the picture of the forests on Covertype.


def mean(values: np.ndarray) -> str:
    """The mean over seeds, and its standard error."""
    return "{:.3f} ({:.3f})".format(*mean_and_error(values))


def error_table(design: fc.Design) -> str:
    """TL-ECE of each predicted class and of all."""
    head = ["TL-ECE", *(f"predicted {number}" for number in fc.CLASSES), "all"]
    body = [["rows to calibrate on", *(f"{count:.0f}" for count in fc.fitted_rows(design)), ""]]
    for name in fc.METHODS:
        of = fc.by_class(design, name)
        body.append([name, *map(mean, of.error.T), mean((of.error * of.share).sum(axis=1))])
    return table(head, body)


def root_table(design: fc.Design) -> str:
    """Bias-corrected root mean square of the gaps, and how far the classes lie apart."""
    predicted = (f"predicted {number}" for number in fc.CLASSES)
    head = ["root mean square, bias-corrected", *predicted, "highest less lowest"]
    body = []
    for name in fc.METHODS:
        of = fc.by_class(design, name)
        figures = [f"{root:.3f} ({error:.3f})" for root, error in zip(of.root, of.root_error, strict=True)]
        body.append([name, *figures, f"{np.ptp(of.root):.3f}"])
    return table(head, body)


# The picture


def draw_covertype_shown() -> None:
    """Bars of each predicted class with their standard errors: the paper's figure 4, and the same bias-corrected."""
    figure, axes = plt.subplots(2, 2, figsize=(10.4, 6.6), layout="constrained", sharey="row")
    for column, (title, design) in zip(
        axes.T, {"one class rare": fc.RARE, "classes alike": fc.ALIKE}.items(), strict=True
    ):
        found, rows = {name: fc.by_class(design, name) for name in fc.METHODS}, fc.fitted_rows(design)
        for ax, word in zip(column, ("TL-ECE", "root mean square gap, bias-corrected"), strict=True):
            bars = {
                name: (of.error.mean(axis=0), of.error.std(axis=0, ddof=1) / np.sqrt(len(of.error)))
                if word == "TL-ECE"
                else (of.root, of.root_error)
                for name, of in found.items()
            }
            shown = {name: replace(fc.errors(design, 0, name), value=value) for name, (value, _) in bars.items()}
            curves.plot_class_errors(shown, ax=ax, counts=False, noise=False)
            for drawn, (value, error) in zip(list(ax.containers), bars.values(), strict=True):
                middle = [bar.get_x() + bar.get_width() / 2 for bar in drawn]
                ax.errorbar(middle, value, error, linestyle="", color="black", elinewidth=1.0, capsize=2.0)
            ax.set_xticks(range(4), [f"{number}\n{count:.0f}" for number, count in zip(fc.CLASSES, rows, strict=True)])
            ax.set(xlabel="", ylabel=word)
            ax.get_legend().remove()
        column[0].set_title(title, fontsize="medium")
        column[1].set_xlabel("predicted, and rows to calibrate on")
    for ax in axes[:, 1]:
        ax.set_ylabel("")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    save(figure, "covertype")
