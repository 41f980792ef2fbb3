"""The pictures of docs/roc-isotonic.md."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot as plt

from calibrant import IsotonicCalibration, drawing
from calibrant.calibrators import MulticlassRecursivePartitioning
from calibrant.curves import (
    plot_roc,
    plot_roc_surface,
    plot_simplex_partition,
    plot_simplex_points,
    roc_curve,
    roc_surface,
    simplex_partition,
    simplex_points,
)
from studies.roc_isotonic.authors import Path as AuthorsPath
from studies.roc_isotonic.authors import baseline, irp, of_paper, total
from tools.make_gallery import save_picture

IMAGES = Path(__file__).parents[2] / "docs" / "images" / "roc"

NAMES = {2: "curves-2", 3: "curves-3", 4: "curves-4"}
"""Figures 2, 4 and 5."""


def save(figure: Any, name: str) -> None:
    """Save a picture of the page."""
    save_picture(figure, IMAGES / f"{name}.png")


def draw_curves(n_classes: int) -> None:
    """Cross-entropy and volume against the number of regions, of the rows to fit and of those to test."""
    word = "AUC of the hull" if n_classes == 2 else "VUS"
    figure, axes = plt.subplots(2, 2, figsize=(9.2, 6.0), layout="constrained", sharex=True)
    rows = (
        (("loss", "volume"), ("regularised cross-entropy", word)),
        (("test_loss", "test_volume"), ("cross-entropy", word)),
    )
    paths = {"IRP": irp(n_classes), "recursive binning": baseline(n_classes)}
    for own, (names, symbols), title in zip(axes, rows, ("rows that were fitted", "test rows"), strict=True):
        for ax, name, symbol in zip(own, names, symbols, strict=True):
            _draw_path(ax, paths, name)
            ax.set_ylabel(symbol)
            ax.set_title(title, fontsize="medium")
        own[0].set_title(f"{title}, vectors that sum to {total(n_classes):.3f}", fontsize="medium")
    for ax in axes[1]:
        ax.set_xlabel("number of regions")
    drawing.legend_beside(axes[1, 1])
    save(figure, NAMES[n_classes])


def _draw_path(ax: Any, paths: dict[str, AuthorsPath], name: str) -> None:
    """Draw a figure of both methods; the axis is fitted to what comes after the first split."""
    shown = []
    for number, (label, of) in enumerate(paths.items()):
        value, before = [getattr(one, name) for one in of.stages], getattr(of.before, name)
        look = {"color": drawing.colour(number), "marker": drawing.marker(number), "markersize": 3.5}
        ax.plot([one.n_regions for one in of.stages], value, label=label, zorder=3, **look)
        before_look = {"color": drawing.IDEAL, "linestyle": "--", "linewidth": 1.2, "zorder": 2}
        ax.axhline(before, label=None if number else "not calibrated", **before_look)
        shown += [*value[1:], before]
    room = 0.08 * np.ptp(shown)
    ax.set_ylim(min(shown) - room, max(shown) + room)
    drawing.grid(ax)


def draw_theorem() -> None:
    """Figure 1: a small example of theorem 2.1; on the left before the isotonic fit, on the right after it."""
    rng = np.random.default_rng(6)
    score = np.sort(rng.random(20))
    outcome = (rng.random(20) < score).astype(int)
    share, events, roc = np.arange(21) / 20, np.append(0.0, np.cumsum(outcome)) / 20, roc_curve(outcome, score)
    fit = IsotonicCalibration(finite=None).fit(score, outcome).calibrate(score)
    vertex = np.concatenate([[0], np.flatnonzero(np.diff(fit)) + 1, [20]])
    figure, axes = plt.subplots(3, 2, figsize=(8.4, 10.4), layout="constrained", height_ratios=(0.7, 1, 1.25))
    for ax, height, title in zip(axes[0], (score, fit), ("forecast", "isotonic fit"), strict=True):
        for event, marker in ((0, "o"), (1, "^")):
            at = (np.arange(20) + 0.5)[outcome == event] / 20
            label = "event" if event else "no event"
            ax.plot(at, height[outcome == event], marker, color=drawing.colour(event), markersize=5, label=label)
        ax.set(title=title, xlim=(-0.02, 1.02), ylim=(-0.06, 1.06))
        drawing.grid(ax)
    axes[0, 0].set_ylabel("probability")
    axes[0, 0].legend(fontsize="small")
    for ax in axes[1]:
        ax.plot(share, events, "o-", color=drawing.colour(0), markersize=3, label="cumulative sums")
        ax.set(xlabel="share of rows, in the order of their probabilities", ylabel="events, as a share of all rows")
        drawing.grid(ax)
    look = {"color": drawing.GAP, "markerfacecolor": "white", "label": "greatest convex minorant"}
    axes[1, 1].plot(share[vertex], events[vertex], "o--", **look)
    axes[1, 1].legend(fontsize="small")
    for ax, hull in zip(axes[2], (False, True), strict=True):
        plot_roc(roc, ax=ax, symmetric=True, hull=hull)
    save(figure, "theorem")


GAMMA = np.array([0.5, 0.3, 0.2])
"""The point of Figure 3."""


class Split:
    """One split as a calibrator: all predictions of a region become certain of its class."""

    classes_, count_ = np.arange(3), np.ones(3, dtype=int)

    def cells(self, prob: np.ndarray) -> np.ndarray:
        return (prob - GAMMA).argmax(axis=1)

    def predict_proba(self, prob: np.ndarray) -> np.ndarray:
        return np.eye(3)[self.cells(prob)]


def draw_split() -> None:
    """Figure 3."""
    ax = plot_simplex_partition(replace(simplex_partition(Split()), splits=GAMMA[None]))
    save(ax.figure, "split")


@cache
def synthetic() -> tuple[np.ndarray, np.ndarray, MulticlassRecursivePartitioning]:
    """Figure 6: predictions all over the triangle, labels by the largest entry with noise."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 500)
    y = (p + rng.normal(scale=0.2, size=p.shape)).argmax(axis=1)
    return p, y, MulticlassRecursivePartitioning(candidates=100, max_regions=None, smoothing=1.0).fit(p, y)


def draw_triangles() -> None:
    """Figure 6: labels, calibrated vectors, splits, regions."""
    p, y, fitted = synthetic()
    figure, axes = plt.subplots(2, 2, figsize=(8.4, 7.6), layout="constrained")
    plot_simplex_points(simplex_points(y, p, fitted), axes=list(axes[0]), colours="rgb", splits=False)
    cells = simplex_partition(fitted)
    plot_simplex_partition(cells, axes=axes[1, 0], colours="plain")
    plot_simplex_partition(cells, axes=axes[1, 1], colours="rgb", splits=False)
    save(figure, "triangles")


def draw_surface() -> None:
    """Figure 7: the ROC surface before and after."""
    p, y, fitted = synthetic()
    surfaces = {"before": roc_surface(y, p), "after": roc_surface(y, fitted.predict_proba(p))}
    ax = plot_roc_surface(surfaces)
    save(np.ravel(ax)[0].figure, "surface")


def draw_tetrahedron() -> None:
    """Figure 8: four classes."""
    of = of_paper(4)
    fitted = MulticlassRecursivePartitioning(candidates=50, max_regions=None, smoothing=1.0).fit(of.p, of.y)
    ax = plot_simplex_points(simplex_points(of.y, of.p, fitted), colours="rgb", splits=False)
    save(np.ravel(ax)[0].figure, "tetrahedron")


def draw() -> None:
    """Draw all of them."""
    for n_classes in NAMES:
        draw_curves(n_classes)
    for make in (draw_theorem, draw_split, draw_triangles, draw_surface, draw_tetrahedron):
        make()
