"""The pictures of docs/roc-isotonic.md."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot as plt

from calibrant import drawing
from calibrant.calibrators import MulticlassRecursivePartitioning
from calibrant.curves import (
    PartitionPath,
    cumulative_sum_curve,
    plot_cumulative_sum,
    plot_partition_path,
    plot_roc,
    plot_simplex_partition,
    plot_simplex_points,
    roc_curve,
    roc_surface,
    simplex_partition,
    simplex_points,
    simplex_split,
)
from studies.roc_isotonic.authors import Figures, baseline, irp, of_paper, total
from studies.roc_isotonic.authors import Path as AuthorsPath
from tools.make_gallery import save_picture

IMAGES = Path(__file__).parents[2] / "docs" / "images" / "roc"

NAMES = {2: "curves-2", 3: "curves-3", 4: "curves-4"}
"""Figures 2, 4 and 5."""


def save(figure: Any, name: str) -> None:
    """Save a picture of the page."""
    save_picture(figure, IMAGES / f"{name}.png")


def as_path(of: AuthorsPath, names: tuple[str, str], symbols: tuple[str, str], word: str) -> PartitionPath:
    """Two of the authors' figures as a result that plots."""

    def pair(one: Figures) -> list[float]:
        return [getattr(one, name) for name in names]

    return PartitionPath(
        n_regions=np.array([one.n_regions for one in of.stages]),
        value=np.array([pair(one) for one in of.stages]),
        before=np.array(pair(of.before)),
        metrics=names,
        symbols=symbols,
        calibrator=word,
    )


def draw_curves(n_classes: int) -> None:
    """Cross-entropy and volume against the number of regions, of the rows to fit and of those to test."""
    word = "AUC of the hull" if n_classes == 2 else "VUS"
    figure, axes = plt.subplots(2, 2, figsize=(9.2, 6.0), layout="constrained", sharex=True)
    rows = (
        (("loss", "volume"), ("regularised cross-entropy", word)),
        (("test_loss", "test_volume"), ("cross-entropy", word)),
    )
    for own, (names, symbols), title in zip(axes, rows, ("rows that were fitted", "test rows"), strict=True):
        paths = {
            "IRP": as_path(irp(n_classes), names, symbols, "IRP"),
            "recursive binning": as_path(baseline(n_classes), names, symbols, "recursive binning"),
        }
        plot_partition_path(paths, ax=own)
        for number, ax in enumerate(own):
            sums = "" if number else f", vectors that sum to {total(n_classes):.3f}"
            ax.set_title(title + sums, fontsize="medium")
            _leave_out_one_region(ax, list(paths.values()), number)
    for ax in axes[0]:
        ax.set_xlabel("")
    for ax in axes.ravel()[:-1]:
        if (legend := ax.get_legend()) is not None:
            legend.remove()
    save(figure, NAMES[n_classes])


def _leave_out_one_region(ax: Any, paths: list[PartitionPath], number: int) -> None:
    """Fit the axis to what comes after the first split."""
    shown = np.concatenate([np.append(path.value[1:, number], path.before[number]) for path in paths])
    room = 0.08 * np.ptp(shown)
    ax.set_ylim(shown.min() - room, shown.max() + room)


def draw_theorem() -> None:
    """Figure 1: a small example of theorem 2.1; on the left before the isotonic fit, on the right after it."""
    rng = np.random.default_rng(6)
    score = np.sort(rng.random(20))
    outcome = (rng.random(20) < score).astype(int)
    (sums,), roc = cumulative_sum_curve(outcome, score).panels, roc_curve(outcome, score)
    figure, axes = plt.subplots(3, 2, figsize=(8.4, 10.4), layout="constrained", height_ratios=(0.7, 1, 1.25))
    for ax, height, title in zip(axes[0], (score, sums.fit), ("forecast", "isotonic fit"), strict=True):
        for event, marker in ((0, "o"), (1, "^")):
            at = (np.arange(20) + 0.5)[outcome == event] / 20
            label = "event" if event else "no event"
            ax.plot(at, height[outcome == event], marker, color=drawing.colour(event), markersize=5, label=label)
        ax.set(title=title, xlim=(-0.02, 1.02), ylim=(-0.06, 1.06))
        drawing.grid(ax)
    axes[0, 0].set_ylabel("probability")
    axes[0, 0].legend(fontsize="small")
    for ax in axes[1]:
        plot_cumulative_sum(cumulative_sum_curve(outcome, score), ax=ax)
    axes[1, 0].lines[1].remove()
    axes[1, 0].get_legend().remove()
    for ax, hull in zip(axes[2], (False, True), strict=True):
        plot_roc(roc, ax=ax, symmetric=True, hull=hull)
    save(figure, "theorem")


def draw_split() -> None:
    """Figure 3."""
    ax = plot_simplex_partition(simplex_split([0.5, 0.3, 0.2]))
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
    from calibrant.curves import plot_roc_surface

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
    for make in (
        draw_theorem,
        draw_split,
        draw_triangles,
        draw_surface,
        draw_tetrahedron,
    ):
        make()
