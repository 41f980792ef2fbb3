"""The pictures of the study of normalisation-aware isotonic calibration: functions of plain data."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter
from scipy.special import softmax
from sklearn.isotonic import isotonic_regression

from calibrant import (
    NormalizedFlattenedIsotonic,
    SortedCumulativeIsotonic,
    drawing,
    plot_reliability,
    reliability_curve,
)
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.nafir import split_blocks
from calibrant.curves.reliability import wilson_interval
from calibrant.metrics.decompositions import accuracy
from studies.claims import table
from studies.na_isotonic import forecasts as fc
from studies.na_isotonic.alternatives import cut_times
from tools.make_gallery import save_picture

mpl.use("Agg")


Array = npt.NDArray[Any]

ACROSS = 4
"""Reliability diagrams side by side."""

SETS_ACROSS = 6
"""Data sets side by side."""

LINES = (*drawing.COLOURS, drawing.IDEAL)
MARKERS = (*drawing.MARKERS, "*", "h", "<", ">", "p")
"""Of methods. There are more markers than colours: where a colour comes again, it is with another one."""


def draw_wins(methods: list[str], percent: Array, title: str, path: Path) -> None:
    """Draw how often the method of a row beats that of a column (the paper's figures 3 and 10).

    ``percent`` has shape (n_methods, n_methods), values in [0, 100]; the diagonal is not read and may be NaN.
    """
    many = len(methods)
    shown = np.array(percent, dtype=float)
    np.fill_diagonal(shown, np.nan)
    side = 1.6 + 0.62 * many
    figure, ax = plt.subplots(figsize=(side + 0.8, 0.86 * side), layout="constrained")
    wins = mpl.colormaps[drawing.CHANGE].reversed().with_extremes(bad=drawing.BAND)
    image = ax.imshow(shown, cmap=wins, vmin=0.0, vmax=100.0, aspect="auto")
    for (row, column), value in np.ndenumerate(shown):
        if np.isfinite(value):
            dark = abs(value - 50.0) > 32.0
            ax.text(column, row, f"{value:.0f}", ha="center", va="center", color="white" if dark else "black")
    ax.set_xticks(range(many), methods, rotation=35, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(many), methods)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize="medium")
    bar = figure.colorbar(image, ax=ax, shrink=0.8, aspect=30)
    bar.set_label("% in which the row beats the column")
    bar.outline.set_visible(False)
    save_picture(figure, path)


def draw_values(values: dict[str, dict[str, list[float]]], label: str, path: Path) -> None:
    """Draw the values of a metric by data set and method, a point a model (figures 7 to 9, 11 and 13).

    ``values[data set][method]`` holds one value a model. NaN is left out.
    """
    methods = list(dict.fromkeys(method for of in values.values() for method in of))
    down = -(-len(values) // SETS_ACROSS)
    across = -(-len(values) // down)
    rows = [list(values)[start : start + across] for start in range(0, len(values), across)]
    size = (2.3 + max(0.17 * len(methods), 1.0) * across, 0.6 + 2.7 * len(rows))
    figure, axes = plt.subplots(len(rows), 1, figsize=size, squeeze=False, layout="constrained", sharey=True)
    for ax, names in zip(axes[:, 0], rows, strict=True):
        for place, name in enumerate(names):
            _draw_set(ax, place, methods, values[name])
        ax.set_xticks(range(len(names)), names, fontsize="small")
        ax.set_xlim(-0.5, across - 0.5)
        ax.tick_params(axis="x", length=0)
        for edge in range(len(names) - 1):
            ax.axvline(edge + 0.5, color=drawing.GRID, linewidth=0.8)
        _finish(ax)
    figure.supylabel(label, fontsize="medium")
    _name_methods(figure, methods)
    save_picture(figure, path)


def draw_times(
    seconds: dict[str, list[tuple[float, float]]], x_label: str, path: Path, y_label: str = "seconds"
) -> None:
    """Draw seconds against size, both on a log scale, a line a method (figures 5 and 6).

    ``seconds[method]`` holds pairs (size, seconds), in any order; the line runs through the medians of equal sizes.
    """
    figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    for number, pairs in enumerate(seconds.values()):
        size, taken = np.array(sorted(pairs), dtype=float).reshape(-1, 2).T
        at = np.unique(size)
        look = _look(number)
        ax.plot(at, [np.median(taken[size == one]) for one in at], color=look["color"], linewidth=1.5, zorder=3)
        ax.plot(size, taken, linestyle="", markersize=5, zorder=3.1, **look)
    ax.set(xscale="log", yscale="log", xlabel=x_label, ylabel=y_label)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(LogLocator(subs=range(2, 10), numticks=20))
        axis.set_minor_formatter(NullFormatter())
    _finish(ax)
    ax.grid(color=drawing.GRID, linewidth=0.8, axis="x")
    _name_methods(figure, seconds, linestyle="-")
    save_picture(figure, path)


def draw_reliability(panels: dict[str, Any], p_values: dict[str, float], path: Path) -> None:
    """Draw a reliability diagram a method, with its p-value (figure 1).

    ``panels[method]`` is a `ReliabilityCurve` of one panel (``"confidence"``), ``p_values[method]`` the p-value of the
    hypothesis that the forecast is calibrated; a method without one gets no number.
    """
    across = min(ACROSS, len(panels))
    down = -(-len(panels) // across)
    size = (2.45 * across + 0.3, 2.6 * down + 0.5)
    figure, axes = plt.subplots(
        down, across, figsize=size, squeeze=False, layout="constrained", sharex=True, sharey=True
    )
    for ax, (method, curve) in zip(axes.flat, panels.items(), strict=False):
        plot_reliability(curve, ax=ax, style="bars", below=None)
        key = ax.get_legend()
        key.remove()
        ax.set(xlabel="", ylabel="")
        ax.set_title(method + (f"  ({_p_word(p_values[method])})" if method in p_values else ""), fontsize="medium")
    words = [text.get_text() for text in key.get_texts()]
    figure.legend(key.legend_handles, words, loc="outside upper center", ncols=4, frameon=False)
    figure.supxlabel("mean probability", fontsize="medium")
    figure.supylabel("accuracy", fontsize="medium")
    for spare in axes.flat[len(panels) :]:
        spare.tick_params(left=False)
        spare.set_axis_off()
    for ax in axes.flat[max(len(panels) - across, 0) : len(panels)]:
        ax.tick_params(labelbottom=True)
    save_picture(figure, path)


def _draw_set(ax: Any, place: int, methods: list[str], of: dict[str, list[float]]) -> None:
    """Draw a column of points for each method of a data set, with a bar at the mean."""
    step = 0.84 / len(methods)
    for number, method in enumerate(methods):
        found = np.array(of.get(method, []), dtype=float)
        found = found[np.isfinite(found)]
        if found.size:
            at = place + step * (number - (len(methods) - 1) / 2)
            look = {"linestyle": "", "markersize": 5, "alpha": 0.6, "markeredgewidth": 0, **_look(number)}
            ax.plot(np.full(found.size, at), found, **look)
            ax.hlines(found.mean(), at - 0.42 * step, at + 0.42 * step, color=look["color"], linewidth=2.0)


def _look(number: int) -> dict[str, str]:
    """Colour and marker of a method."""
    return {"color": LINES[number % len(LINES)], "marker": MARKERS[number % len(MARKERS)]}


def _name_methods(figure: Any, methods: Iterable[str], **line: Any) -> None:
    looks = [{"label": method, "linestyle": "", **_look(number), **line} for number, method in enumerate(methods)]
    handles = [mpl.lines.Line2D([], [], markersize=5, **look) for look in looks]
    figure.legend(handles=handles, loc="outside right upper", frameon=False)


def _finish(ax: Any) -> None:
    ax.set_axisbelow(True)
    ax.grid(color=drawing.GRID, linewidth=0.8, axis="y")
    ax.spines[["top", "right"]].set_visible(False)


def _p_word(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}" if p_value < 0.1 else f"p = {p_value:.2f}"


# Confidence reliability of one over-confident network after every method: the paper's figure 1.


RESAMPLES = 1999


@cache
def shown() -> fc.Model:
    """The published forecast that is most over-confident."""
    return max(fc.published_models(), key=overconfidence)


def overconfidence(model: fc.Model) -> float:
    return float(model.test.max(axis=1).mean()) - accuracy(model.y_test, model.test)


@cache
def panels() -> dict[str, np.ndarray]:
    """Its test rows after each method, uncalibrated first."""
    shown_as = dict(zip(fc.METHODS, fc.PUBLISHED_AS, strict=True))
    return {method: fc.calibrated(shown(), shown_as[method])[0] for method in [fc.METHODS[-1], *fc.METHODS[:-1]]}


@cache
def panel_p_values() -> dict[str, float]:
    return {method: fc.p_value(shown().y_test, prob, RESAMPLES) for method, prob in panels().items()}


def draw(folder: Path) -> None:
    curves = {method: reliability_curve(shown().y_test, prob) for method, prob in panels().items()}
    draw_reliability(curves, panel_p_values(), folder / "reliability.png")


# How long SCIR and NA-FIR take to fit, by rows and by classes: on CIFAR-100 and on random forecasts.


N_CLASSES, ROWS = 100, (500, 1000, 2000, 5000, 10000)
N_ROWS, CLASSES = 10000, (2, 5, 10, 20, 50, 100)
RANDOM_CLASSES = (*CLASSES, 200, 500, 1000)
PAPER_SIZE, PAPER_MINUTES = (12500, 1000), {"SCIR": 120, "NA-FIR": 15}
"""The paper's largest fit, of ImageNet, and its minutes."""

Rows = tuple[np.ndarray, np.ndarray]
Times = dict[str, list[tuple[float, float]]]


def methods() -> dict[str, Calibrator]:
    return {
        "SCIR": SortedCumulativeIsotonic(rise="last"),
        "NA-FIR": NormalizedFlattenedIsotonic(),
        "NA-FIR, one smoothing": NormalizedFlattenedIsotonic(smoothing=1e-3),
    }


@cache
def cifar() -> Rows:
    """All 10 000 rows of the DenseNet on CIFAR-100."""
    model = fc.published_model("CIFAR-100", "DenseNet-BC")
    return np.concatenate([model.y_fit, model.y_test]), np.concatenate([model.fit, model.test])


def merged(n_rows: int, n_classes: int) -> Rows:
    """CIFAR-100 with neighbouring classes put together, as the paper does."""
    y, prob = (of[:n_rows] for of in cifar())
    each = prob.shape[1] // n_classes
    return y // each, prob.reshape(n_rows, n_classes, each).sum(axis=2)


def drawn(n_rows: int, n_classes: int) -> Rows:
    """Over-confident random predictions: normal logits, and true classes drawn by 0.6 of them."""
    rng = np.random.default_rng(0)
    z = 2.0 * rng.standard_normal((n_rows, n_classes))
    truth = softmax(0.6 * z, axis=1).cumsum(axis=1)
    return (truth < rng.random((n_rows, 1))).sum(axis=1).clip(0, n_classes - 1), softmax(z, axis=1)


def fit_seconds(calibrator: Calibrator, rows: Rows) -> float:
    """CPU seconds of a fit, the least of two short ones."""
    found = []
    while len(found) < 2 and sum(found) < 1.0:
        start = time.process_time()
        calibrator.fit(rows[1], rows[0])
        found.append(time.process_time() - start)
    return min(found)


@cache
def by_rows() -> Times:
    return _timed({"CIFAR-100": merged, "random": drawn}, [(n, (n, N_CLASSES)) for n in ROWS], {})


@cache
def by_classes() -> Times:
    sizes = [(k, (N_ROWS, k)) for k in CLASSES]
    more = [(k, (N_ROWS, k)) for k in RANDOM_CLASSES]
    return _timed({"CIFAR-100": merged, "random": drawn}, sizes, {"random": more})


def _timed(sources: dict, sizes: list, other_sizes: dict) -> Times:
    found: Times = {}
    for source, rows_of in sources.items():
        for size, shape in other_sizes.get(source, sizes):
            rows = rows_of(*shape)
            for name, calibrator in methods().items():
                found.setdefault(f"{name}, {source}", []).append((float(size), fit_seconds(calibrator, rows)))
    return found


@cache
def at_paper_size() -> dict[str, float]:
    """CPU seconds at the size of the paper's ImageNet, of a random forecast."""
    rows = drawn(*PAPER_SIZE)
    return {name: fit_seconds(calibrator, rows) for name, calibrator in methods().items()}


def growth(pairs: list[tuple[float, float]]) -> float:
    """Exponent of the size over its upper half: 1 is linear."""
    size, seconds = np.log(np.array(pairs)).T
    upper = slice(len(size) // 2, None)
    return float(np.polyfit(size[upper], seconds[upper], 1)[0])


def growth_table() -> str:
    body = []
    for name, rows in by_rows().items():
        classes = by_classes()[name]
        body.append([name, f"{rows[-1][1]:.2f}", f"{growth(rows):.2f}"])
        body[-1] += [f"{classes[-1][0]:.0f}", f"{classes[-1][1]:.2f}", f"{growth(classes):.2f}"]
    head = ["", f"s at {ROWS[-1]:,} x {N_CLASSES}", "exponent of rows", "most classes"]
    return table([*head, f"s there, {N_ROWS:,} rows", "exponent of classes"], body)


def paper_table() -> str:
    body = []
    for name, seconds in at_paper_size().items():
        minutes = PAPER_MINUTES.get(name)
        theirs = [f"about {minutes} min", about(60 * minutes / seconds)] if minutes else ["", ""]
        body.append([name, f"{seconds:.1f} s", *theirs])
    return table(["", "here, random", "the paper, ImageNet", "times as long"], body)


def about(ratio: float) -> str:
    """A ratio of times on two machines, of which no more than one digit means anything."""
    return f"about {float(f'{ratio:.1g}'):,.0f}"


def draw_seconds(folder: Path) -> None:
    draw_times(by_rows(), f"rows ({N_CLASSES} classes)", folder / "times-rows.png")
    draw_times(by_classes(), f"classes ({N_ROWS:,} rows)", folder / "times-classes.png")


# The paper's figures 2, 4 and 5.


def draw_figure_2(folder: Path) -> None:
    """Five ranks of SCIR in one panel, and NA-FIR against FIR in 30 bins over their sizes."""
    model = fc.published_model("CIFAR-100", "DenseNet-BC")
    labels = range(model.n_classes)
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 5.6), layout="constrained")
    figure.get_layout_engine().set(rect=(0.0, 0.07, 1.0, 0.93))  # the sizes of the bins stand below
    scir = fc.SCIR_FIXED(labels=labels).fit(model.fit, model.y_fit)
    _draw_ranks(axes[0], scir)
    after = {name: fc.calibrated(model, name)[0] for name in ("FIR", fc.NA_FIR[1])}
    after["NA-FIR"] = after.pop(fc.NA_FIR[1])
    _draw_moved(axes[1], model, after)
    save_picture(figure, folder / "figure-2.png")


def _draw_ranks(ax: Any, scir: SortedCumulativeIsotonic) -> None:
    """Draw the map of each rank as the steps that it is; where they lie on each other the higher rank is the wider one."""
    ax.plot([0, 1], [0, 1], color=drawing.IDEAL, linestyle="--", linewidth=1, label="unchanged")
    for number in range(5):
        left, value = scir.steps(number + 1)
        look = {"color": drawing.colour(number), "linewidth": 1.4 + 0.9 * number, "zorder": 3 - 0.01 * number}
        ax.step(np.append(left, 1.0), np.append(value, value[-1]), where="post", label=f"top {number + 1}", **look)
    words = ("sum of the highest probabilities", "probability that the class is among them")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", xlabel=words[0], ylabel=words[1])
    drawing.grid(ax)
    drawing.legend_above(ax)


LEAST = 0.01
"""Least probability before calibration that counts: of many classes most are next to zero."""


def _draw_moved(ax: Any, model: fc.Model, after: dict[str, Array]) -> None:
    """Draw mean probabilities of all classes after calibration, in bins of those before, over the sizes of the bins."""
    kept, edges = model.test >= LEAST, np.append(LEAST, np.arange(1, 31) / 30)
    cell = np.maximum(np.searchsorted(edges, model.test[kept]), 1) - 1
    count = np.bincount(cell, minlength=30)
    held = count > 0

    def sums(values: Array) -> Array:
        return np.bincount(cell, values[kept], 30)[held]

    before = sums(model.test) / count[held]
    ax.plot([LEAST, 1], [LEAST, 1], color=drawing.IDEAL, linestyle="--", linewidth=1, label="unchanged")
    for number, (name, prob) in enumerate(after.items()):
        look = {"color": drawing.colour(number), "marker": drawing.marker(number), "markersize": 4}
        ax.plot(before, sums(prob) / count[held], label=name, zorder=3, **look)
    events = sums(model.y_test[:, None] == np.arange(model.n_classes))
    ax.plot(before, events / count[held], "_", color="black", markersize=9, label="event rate", zorder=2.6)
    ax.vlines(before, *wilson_interval(events, count[held], 0.05), color="black", linewidth=1.0, alpha=0.55)
    ax.set(xlim=(-0.02, 1.02), ylabel="mean calibrated probability")
    drawing.grid(ax)
    drawing.legend_above(ax)
    below = drawing.room_below(ax)
    below.stairs(count, edges, color=drawing.FILL, fill=True, baseline=0.5)
    below.set(yscale="log", xlabel="probability before calibration", ylabel="scores")


POINTS = np.array([1.0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1])
"""Outcomes of points in order of score, of which PAVA makes three blocks."""


def draw_figure_4(folder: Path) -> None:
    """The blocks of PAVA, and the same cut until there are six of at least two points."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2), layout="constrained", sharey=True)
    value = isotonic_regression(POINTS)
    blocks = np.flatnonzero(np.diff(value, prepend=-1.0))
    cut = split_blocks(blocks, np.ones(POINTS.size), 6, 2.0)
    for ax, starts, title in zip(
        axes, (blocks, cut), ("blocks of PAVA", "six blocks, of two points or more"), strict=True
    ):
        ends = np.append(starts[1:], POINTS.size)
        for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
            ax.axvspan(start, end, color=drawing.FILL if number % 2 else drawing.BAND, linewidth=0)
            ax.hlines(value[start:end].mean(), start, end, color=drawing.colour(0), linewidth=2.0)
        ax.plot(np.arange(POINTS.size) + 0.5, POINTS, "o", color=drawing.colour(1), markersize=5)
        ax.set(title=title, xlabel="points in order of score", xlim=(0, POINTS.size))
        _finish(ax)
    axes[0].set_ylabel("outcome, and value of the block")
    save_picture(figure, folder / "figure-4.png")


# Which pictures docs/na-isotonic.md shows: of the metrics by method, data set and classifier.


IMAGES = Path(__file__).parents[2] / "docs" / "images" / "na"

STANDARDISED = ("NLL", "BS")
"""Metrics whose level depends on the model more than on the method."""

BY_CLASSIFIER = ("conf-ECE", "NLL")


def file_of(kind: str, metric: str) -> str:
    return f"{kind}-{metric.lower()}.png"


def by_data_set(metric: str) -> dict[str, dict[str, list[float]]]:
    """One value a model, by data set and method."""
    return {name: _by_method(metric, fc.of_data_set(name)) for name in fc.data_sets()}


def by_classifier(metric: str) -> dict[str, dict[str, list[float]]]:
    """One value a data set, by classifier and method."""
    return {name: _by_method(metric, fc.of_architecture(name)) for name in fc.architectures()}


def _by_method(metric: str, models: np.ndarray) -> dict[str, list[float]]:
    of = fc.standardised(metric) if metric in STANDARDISED else fc.values(metric)
    return {method: of[models, m].tolist() for m, method in enumerate(fc.METHODS)}


def label(metric: str) -> str:
    return f"{metric}, standardised over the methods" if metric in STANDARDISED else metric


def draw_all() -> None:
    """Draw all."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for metric in fc.METRICS:
        draw_wins(fc.METHODS, fc.beats(metric), metric, IMAGES / file_of("wins", metric))
    for metric in fc.RANKED:
        draw_values(by_data_set(metric), label(metric), IMAGES / file_of("values", metric))
    for metric in BY_CLASSIFIER:
        draw_values(by_classifier(metric), label(metric), IMAGES / file_of("classifiers", metric))
    for make in (draw, draw_seconds, draw_figure_2, draw_figure_4):
        make(IMAGES)
    draw_times(cut_times(), "rows (10 classes)", IMAGES / "times-cuts.png")
