"""The survey's 21 figures, drawn: `python -m studies.survey 4 17` draws two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.colors import SymLogNorm
from scipy.stats import norm

from calibrant import drawing, plot_reliability, reliability_curve
from calibrant.curves import calibration_map, plot_calibration_map, simplex_map
from calibrant.curves.simplex import CORNERS
from calibrant.datasets import CLASS_1, CLASS_2, load_hallenbeck_forecasts, load_survey_table_3
from calibrant.drawing import legend_above
from calibrant.significance.result import plot_null
from studies.survey import cases as sv
from studies.survey.claims import EXAMPLES_OF_6, by_resampling
from tools.make_gallery import save_picture

IMAGES = Path(__file__).parents[2] / "docs" / "images" / "survey"
WIDEST, COLOURS = 1100, 48

IDEAL = {"color": drawing.IDEAL, "linestyle": "--", "linewidth": 1, "zorder": 1}
TRUTH = {"color": "#000000", "linewidth": 1.3, "zorder": 3}
BEFORE = {"color": drawing.IDEAL, "linewidth": 1.3, "zorder": 2}
THIN = {"linewidth": 0.5, "alpha": 0.35}
READING = sv.READINGS[1]
"""The reading of class 3 that the caption of Fig. 20 picks."""

SHOWN = sv.NETWORKS[4]
"""The one of the ten whose temperature, 1.035, is in the middle: the fifth highest."""

CHANGES = {"linthresh": 0.01, "vmin": -1.0, "vmax": 1.0}
"""Changes of a probability that colours span, the same in Fig. 17 to 20: to scale up to 0.01, by powers of ten from there."""

LABELS = {"labels": [1, 2, 3]}


def panels(n: int, height: float = 3.9, rows: int = 1, **given: Any) -> tuple[Any, Any]:
    """Return a figure with panels side by side."""
    return plt.subplots(rows, n, figsize=(max(3.3 * n, 4.4), height), layout="constrained", **given)


def diagonal(ax: Any) -> None:
    """Dress the axes of a map or of a reliability diagram."""
    ax.plot([0, 1], [0, 1], **IDEAL)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.grid(color=drawing.GRID)
    ax.set_axisbelow(True)


def bars(curve: Any, ax: Any, **look: Any) -> None:
    """Draw a diagram with a bar a bin and its gap to the diagonal."""
    plot_reliability(curve, ax=ax, **{"style": "bars", "intervals": False, "below": None, **look})


# Tables, and drawings of what a diagram is: Fig. 1 to 10


def rain() -> Any:
    figure, (left, right) = panels(2, 5.0)
    curve = reliability_curve(*load_hallenbeck_forecasts(), notion="binary", binning=10)
    bars(curve, left, below="counts")
    plot_reliability(curve, ax=right, intervals=False, below=None, markers="equal")
    return figure


def fewer_bins() -> Any:
    figure, axes = panels(2, 4.4)
    for ax, bins in zip(axes, (5, 2), strict=True):
        bars(reliability_curve(*load_hallenbeck_forecasts(), notion="binary", binning=bins), ax)
        ax.set_title(f"{bins} bins", fontsize="medium")
    return figure


def under_and_over() -> Any:
    figure, axes = panels(2, 4.6)
    for ax, name in zip(axes, (sv.HALVED, sv.DOUBLED), strict=True):
        prob, y = sv.the_case(name).draw(sv.ROWS, 0)
        fits = {"logistic curve": sv.fitted(name, sv.STRAIGHT, 0), "beta curve": sv.fitted(name, "beta", 0)}
        maps = {word: calibration_map(fit.calibrate, y, prob, binning=15) for word, fit in fits.items()}
        plot_calibration_map(maps, ax=ax)
        ax.set(title=name, xlabel="probability")
    return figure


def corrected() -> Any:
    figure, ax = panels(1, 4.6)
    prob, y = sv.the_case(sv.HALVED).draw(sv.ROWS, 0)
    calibration_map(sv.fitted(sv.HALVED, sv.STRAIGHT, 0).calibrate, y, prob, binning=15).plot(arrows=True, ax=ax)
    return figure


def four_looks() -> Any:
    figure, axes = panels(2, 8.8, rows=2)
    prob, y = sv.the_case("over-confident").draw(600, 1)
    looks = [
        ("numbers beside markers", {"markers": "counts", "intervals": False}, {}),
        ("half range: confidence", {"intervals": False}, {"notion": "confidence"}),
        ("consistency bars", {"style": "points"}, {"interval": "consistency"}),
        ("consistency bars, log-odds", {"style": "points", "axis": "log-odds"}, {"interval": "consistency"}),
    ]
    for ax, (title, look, how) in zip(axes.flat, looks, strict=True):
        table = np.column_stack([1 - prob, prob]) if "notion" in how else prob
        plot_reliability(reliability_curve(y, table, **{"notion": "binary", **how}), ax=ax, below=None, **look)
        ax.set_title(title, fontsize="medium")
    return figure


def half_a_bin() -> Any:
    figure, axes = panels(2, 4.6)
    for ax, (name, (score, y)) in zip(axes, EXAMPLES_OF_6.items(), strict=True):
        bars(reliability_curve(y, np.array(score, dtype=float), notion="binary", binning=2), ax, centres=True)
        ax.set_title(name, fontsize="medium")
    return figure


def by_libraries() -> Any:
    figure, axes = panels(3, 5.0)
    prob, y = sv.the_case(sv.NETWORKS[0], READING).draw(1000, 1)
    bars(reliability_curve(y, prob, binning=10), axes[0], below="counts")
    interval = reliability_curve(y, prob, binning=10, interval="clopper-pearson")
    plot_reliability(interval, ax=axes[1], below="counts")
    one = {f"class {j + 1}": reliability_curve(y == j, prob[:, j], notion="binary", binning=10) for j in sv.CLASSES}
    plot_reliability(one, ax=axes[2], below="counts", intervals=False, markers="equal")
    axes[2].set_title("class-wise")
    return figure


def of_running(notion: str, chosen: Sequence[str]) -> Any:
    """Draw diagrams of the running example."""
    figure, axes = panels(len(chosen), 5.0)
    curve = reliability_curve(*load_survey_table_3(), notion=notion, binning=5, **LABELS)
    for ax, name in zip(np.atleast_1d(axes), chosen, strict=True):
        bars(curve, ax, panels=[name], below="counts")
    return figure


# The test cases: Fig. 11 and 12


def mixture() -> Any:
    figure, axes = panels(3, 3.3)
    of = sv.the_case("bayes-optimal")
    seen = np.abs(of.x) < 200
    x = of.x[seen][::50]
    for j, (ax, components) in enumerate(zip(axes, (CLASS_1, CLASS_2), strict=False)):
        parts = [norm.pdf(x, mean, variance**0.5) / 2 for mean, variance in components]
        for part in parts:
            ax.plot(x, part, color=drawing.IDEAL, linestyle=":")
        ax.fill_between(x, np.sum(parts, axis=0), color=drawing.colour(j), alpha=0.4)
        ax.set(xlabel="x", ylabel=f"density of class {j + 1}", ylim=(0, 0.0085))
    axes[2].plot(x, of.posterior[seen][::50], color=drawing.colour(0))
    axes[2].set(xlabel="x", ylabel="probability of class 1", ylim=(0, 1))
    for ax in axes:
        ax.grid(color=drawing.GRID)
    return figure


def diagram(of: Sequence[sv.Case], value: Sequence[np.ndarray], target: Sequence[np.ndarray], cells: int = 250) -> Any:
    """Return predictions, the probability of the event given them, and their mass, all networks together, for a picture."""
    cell = [(np.minimum(v, 1 - 1e-12) * cells).astype(np.int64) for v in value]
    sums = []
    for factor in ([1.0] * len(of), value, target):
        each = [np.bincount(c, one.mass * f, minlength=cells) for c, one, f in zip(cell, of, factor, strict=True)]
        sums.append(np.sum(each, axis=0))
    seen = sums[0] > 1e-5 * len(of)
    return sums[1][seen] / sums[0][seen], sums[2][seen] / sums[0][seen], sums[0][seen] / len(of)


def draw_diagrams(ax: Any, of: Sequence[sv.Case], value: Any, target: Any, points: bool = False, **look: Any) -> None:
    """Draw the diagram of a case, or those of networks thin with that of all together."""
    if len(of) > 1 and not points:
        for one, v, q in zip(of, value, target, strict=True):
            x, y, _ = diagram([one], [v], [q], 120)
            ax.plot(x, y, **{**look, **THIN, "label": None})
    x, y, mass = diagram(of, value, target)
    if points:
        chosen = {k: look[k] for k in ("color", "zorder", "label")}
        ax.scatter(x, y, s=6 + 250 * mass, linewidth=0, alpha=0.75, **chosen)
    else:
        ax.plot(x, y, **look)


def members(name: str) -> list[str]:
    """Return the networks, or the case itself."""
    return list(sv.NETWORKS) if name == sv.NETWORK else [name]


def uncalibrated() -> Any:
    figure, axes = panels(3, 3.9, sharey=True)
    for ax, name in zip(axes, sv.TWO, strict=True):
        of = [sv.the_case(n) for n in members(name)]
        diagonal(ax)
        draw_diagrams(ax, of, [c.forecast for c in of], [c.posterior for c in of], color=drawing.colour(0), zorder=4)
        x, _, mass = diagram(of, [c.forecast for c in of], [c.posterior for c in of])
        ax.fill_between(x, 0.12 * mass / mass.max(), color=drawing.FILL, linewidth=0, zorder=1)
        ax.set_title(name if len(of) == 1 else f"{len(of)} networks", fontsize="medium")
        ax.set_xlabel("probability")
    axes[0].set_ylabel("probability of the event given it")
    return figure


# Calibrators: Fig. 13 to 20


def of_two(family: str) -> Any:
    """Calibration map above, reliability after calibration below, for each of the three cases."""
    figure, axes = panels(3, 6.8, rows=2, sharex=True, sharey=True)
    for (top, bottom), name in zip(axes.T, sv.TWO, strict=True):
        for ax in (top, bottom):
            diagonal(ax)
        draw_case(top, bottom, name, family)
        top.set_title(name if name != sv.NETWORK else f"{len(sv.NETWORKS)} networks", fontsize="medium")
        bottom.set_xlabel("probability")
    axes[0, 0].set_ylabel("calibrated probability")
    axes[1, 0].set_ylabel("probability of the event given it")
    for ax in axes[:, 0]:
        legend_above(ax)
    return figure


def draw_case(top: Any, bottom: Any, name: str, family: str) -> None:
    """The map and the reliability of one case, or of the networks: each thin, and their mean."""
    of = [sv.the_case(n) for n in members(name)]
    forecast, posterior = [c.forecast for c in of], [c.posterior for c in of]
    x, y, mass = diagram(of, forecast, posterior)
    top.fill_between(x, 0.12 * mass / mass.max(), color=drawing.FILL, linewidth=0, zorder=1)
    top.plot(x, y, **TRUTH, label="truth")
    bottom.plot(x, y, **BEFORE, label="before")
    scores = np.linspace(min(f.min() for f in forecast), max(f.max() for f in forecast), 1001)
    for shade, method in enumerate(sv.BINARY[family]):
        look = {"color": drawing.colour(shade), "zorder": 4}
        maps = [np.asarray(sv.fitted(n, method, 0).calibrate(scores)) for n in members(name)]
        for one in maps if len(maps) > 1 else ():
            top.plot(scores, one, **look, **THIN)
        top.plot(scores, np.mean(maps, axis=0), linewidth=1.8, **look, label=method)
        after = [sv.values(n, method, 0) for n in members(name)]
        label = f"after, {method}" if len(sv.BINARY[family]) > 1 else "after"
        points = family in ("binning", "isotonic")
        draw_diagrams(bottom, of, after, posterior, points=points, linewidth=1.8, label=label, **look)


def of_three(method: str) -> Any:
    """A network's map on the simplex, as the survey shows one; below its class-wise reliability, thin that of the others."""
    figure, axes = plt.subplots(2, 3, figsize=(9.6, 5.9), layout="constrained", height_ratios=(1.0, 1.2))
    names = sorted(sv.NETWORKS, key=lambda name: name != SHOWN)
    fits = [sv.fitted_three(READING, n, method, 0) for n in names]
    simplex_map(fits[0], resolution=81).plot(axes=axes[0], norm=SymLogNorm(**CHANGES))
    of = [sv.the_case(n, READING) for n in names]
    after = [np.asarray(fit.calibrate(case.forecast)) for fit, case in zip(fits, of, strict=True)]
    for j in sv.CLASSES:
        where = np.abs(of[0].x) < 200
        axes[0, j].plot(*(of[0].forecast[where] @ CORNERS[3]).T, color="#000000", linewidth=0.9, linestyle=":")
        axes[0, j].set_title(f"class {j + 1}", fontsize="medium", pad=4)
        for text in axes[0, j].texts:
            text.set_text(str(int(text.get_text()) + 1))
        ax = axes[1, j]
        diagonal(ax)
        after_look = {"color": drawing.colour(0), "linewidth": 1.8, "zorder": 4, "label": "after"}
        looks = [BEFORE | {"label": "before"}, after_look]
        for i, (case, value) in enumerate(zip(of, after, strict=True)):
            for look, prob in zip(looks, (case.forecast, value), strict=True):
                x, y, _ = diagram([case], [prob[:, j]], [case.posterior[:, j]], 120)
                ax.plot(x, y, **(look | THIN | {"label": None} if i else look))
        ax.set_xlabel("probability")
    axes[1, 0].set_ylabel("probability of the class given it")
    legend_above(axes[1, 0])
    return figure


def null() -> Any:
    figure, ax = panels(1, 3.3)
    figure.set_size_inches(5.6, 3.3)
    plot_null(by_resampling(), ax=ax)
    return figure


PICTURES: dict[int, Callable[[], Any]] = {
    1: rain,
    2: fewer_bins,
    3: under_and_over,
    4: corrected,
    5: four_looks,
    6: half_a_bin,
    7: by_libraries,
    8: lambda: of_running("class-wise", ["class 1"]),
    9: lambda: of_running("class-wise", ["class 1", "class 2", "class 3"]),
    10: lambda: of_running("confidence", ["confidence"]),
    11: mixture,
    12: uncalibrated,
    **{13 + k: partial(of_two, family) for k, family in enumerate(sv.BINARY)},
    **{17 + k: partial(of_three, method) for k, method in enumerate(sv.OF_THREE)},
    21: null,
}


def draw(number: int) -> None:
    """Draw a figure and save it."""
    save_picture(PICTURES[number](), IMAGES / f"fig-{number}.png", WIDEST, COLOURS)
