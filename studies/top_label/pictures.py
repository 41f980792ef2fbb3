"""The pictures of docs/top-label.md that come from CIFAR-10, and that of docs/notions.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

from calibrant import EqualMass
from calibrant import style as _style
from calibrant.binning import Unique
from calibrant.curves import (
    bin_sweep,
    plot_bin_sweep,
    plot_top_label,
    plot_top_label_bin,
    plot_validity,
    top_label_curve,
    validity_curve,
)
from studies.top_label.forecasts import Forecast, cifar, forecasts
from studies.top_label.networks import BINS
from tools.make_gallery import save_picture

IMAGES = Path(__file__).parents[2] / "docs" / "images"

SHOWN = ("Base", "TS", "TL-HB (50)", "N-HB")
WORDS = {"TL-ECE": "top-label", "conf-ECE": "confidence"}


def save(figure: Any, name: str) -> None:
    """Save a picture of the page."""
    save_picture(figure, IMAGES / f"top-label-{name}.png")


def curve_of(method: str) -> Any:
    """Confidence and top-label reliability of a method."""
    of, y = forecasts()[method], cifar()[3]
    return top_label_curve(y, of.prob, y_pred=of.label, labels=range(10))


def draw_diagram() -> None:
    """Confidence and top-label reliability side by side: the paper's figure 1."""
    axes = plot_top_label({name: curve_of(name) for name in ("Base", "TS", "TL-HB (50)")})
    save(axes[0].figure, "diagram")


def draw_bin() -> None:
    """The classes in the fullest bin: the paper's figure 2."""
    save(plot_top_label_bin(curve_of("Base"))[0].figure, "bin")


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
    for ax, binning in zip(axes, (None, EqualMass(15)), strict=True):
        how = {"n_bins": BINS, "n_resamples": 1} | ({} if binning is None else {"binning": binning})
        sweeps = {
            name: {word: bin_sweep(**forecasts()[name].asked(notion), **how) for word, notion in WORDS.items()}
            for name in SHOWN
        }
        plot_bin_sweep(sweeps, ax=ax)
        key = ax.get_legend()
        key.remove()
    axes[1].set_ylabel("")
    words = [text.get_text() for text in key.get_texts()]
    figure.legend(key.legend_handles, words, loc="outside right upper", frameon=False)
    save(figure, "sweep")


def draw_validity() -> None:
    """Share of predictions within a distance of the rate of their event."""
    curves = {"Base, 15 equal mass a class": _validity(forecasts()["Base"], EqualMass(15), None)}
    for points in (50, 100):
        curves[f"TL-HB ({points})"] = _validity(forecasts()[f"TL-HB ({points})"], Unique(), points)
    save(plot_validity(curves).figure, "validity")


def _validity(of: Forecast, binning: Any, points: int | None) -> Any:
    return validity_curve(**of.asked("top-label"), binning=binning, points_per_bin=points)


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
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": _style.colour(0)}
    boxes = {name: ax.text(*at, name, ha="center", va="center", bbox=box, zorder=3) for name, at in PLACES.items()}
    for one, other in ARROWS:
        ends = {
            "patchA": boxes[one].get_bbox_patch(),
            "patchB": boxes[other].get_bbox_patch(),
            "shrinkA": 0,
            "shrinkB": 1,
        }
        look = {"arrowstyle": "-|>", "color": _style.IDEAL, "linewidth": 1.4, **ends}
        ax.annotate("", PLACES[other], PLACES[one], arrowprops=look, zorder=2)
    ax.set(xlim=(-0.55, 2.45), ylim=(-0.35, 4.35))
    ax.set_axis_off()
    save(figure, "implications")


def draw() -> None:
    """Draw all."""
    for make in (draw_implications, draw_diagram, draw_bin, draw_sweep, draw_validity):
        make()
