"""Judge the claims about the survey, draw its figures 13 to 20, write docs/survey-calibrators.md: python -m studies.survey"""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.colors import SymLogNorm

from calibrant import drawing
from calibrant.curves import simplex_map
from calibrant.curves.simplex_partition import CORNERS
from calibrant.drawing import legend_above
from studies.claims import AGAINST, Row, Verdict, claims_table, coverage_table, filled, run
from studies.survey.cases import (
    BINARY,
    DRAWS,
    OF_THREE,
    ROWS,
    TWO,
    Case,
    fitted,
    fitted_three,
    largest_change,
    left,
    of_three_classes,
    of_two,
    spelt,
    the_case,
    values,
    values_three,
)
from studies.survey.claims import PAPER
from tools.make_gallery import save_picture

DOCS = Path(__file__).parents[2] / "docs"
IMAGES = DOCS / "images" / "survey"

IDEAL = {"color": drawing.IDEAL, "linestyle": "--", "linewidth": 1, "zorder": 1}
TRUTH = {"color": "#000000", "linewidth": 1.3, "zorder": 3}
BEFORE = {"color": drawing.IDEAL, "linewidth": 1.1, "zorder": 2}


CHANGES = {"linthresh": 0.01, "vmin": -1.0, "vmax": 1.0}
"""Changes of a probability that colours span, the same in Fig. 17 to 20: to scale up to 0.01, by powers of ten from there."""


def save(figure: Any, number: int) -> None:
    """Save a picture of the page."""
    save_picture(figure, IMAGES / f"fig-{number}.png")


def curve(
    of: Case, value: np.ndarray, target: np.ndarray, cells: int = 250
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return predictions, the probability of the event given them, and their mass, for a picture."""
    cell = np.unique((value * cells).astype(np.int64), return_inverse=True)[1]
    mass = np.bincount(cell, of.mass)
    x, y = (np.bincount(cell, of.mass * v) / np.maximum(mass, 1e-300) for v in (value, target))
    seen = mass > 1e-5
    return x[seen], y[seen], mass[seen]


def draw_two(number: int, family: str) -> None:
    """Calibration map above, reliability after calibration below, for each of the three cases."""
    figure, axes = plt.subplots(2, 3, figsize=(9.6, 6.6), layout="constrained", sharex=True, sharey=True)
    for (top, bottom), name in zip(axes.T, TWO, strict=True):
        for ax in (top, bottom):
            diagonal(ax)
        draw_case(top, bottom, name, family)
        top.set_title(spelt(name), fontsize="medium")
        bottom.set_xlabel("probability")
    axes[0, 0].set_ylabel("calibrated probability")
    axes[1, 0].set_ylabel("probability of the event given it")
    for ax in axes[:, 0]:
        legend_above(ax)
    save(figure, number)


def draw_case(top: Any, bottom: Any, name: str, family: str) -> None:
    """The map and the reliability of one case."""
    of = the_case(name)
    x, y, mass = curve(of, of.forecast, of.posterior)
    top.fill_between(x, 0.12 * mass / mass.max(), color=drawing.FILL, linewidth=0, zorder=1)
    top.plot(x, y, **TRUTH, label="truth")
    bottom.plot(x, y, **BEFORE, label="before")
    scores = np.linspace(of.forecast.min(), of.forecast.max(), 2001)
    for shade, method in enumerate(BINARY[family]):
        colour = {"color": drawing.colour(shade), "zorder": 4}
        top.plot(scores, fitted(name, method, 0).calibrate(scores), linewidth=1.8, **colour, label=method)
        x, y, mass = curve(of, values(name, method, 0), of.posterior)
        if family in ("binning", "isotonic"):
            bottom.scatter(x, y, s=6 + 250 * mass, linewidth=0, alpha=0.75, **colour, label="after")
        else:
            label = f"after, {method}" if len(BINARY[family]) > 1 else "after"
            bottom.plot(x, y, linewidth=1.8, **colour, label=label)


def diagonal(ax: Any) -> None:
    """Dress the axes of a map or of a reliability diagram."""
    ax.plot([0, 1], [0, 1], **IDEAL)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.grid(color=drawing.GRID)
    ax.set_axisbelow(True)


def draw_three(number: int, method: str) -> None:
    """Maps on the simplex above, class-wise reliability before and after calibration below."""
    of = the_case("mlp", 3)
    figure, axes = plt.subplots(2, 3, figsize=(9.6, 5.9), layout="constrained", height_ratios=(1.0, 1.2))
    simplex_map(fitted_three(method, 0).calibrate, resolution=121).plot(axes=axes[0], norm=SymLogNorm(**CHANGES))
    density = of.mass / np.gradient(of.x)
    for j in range(3):
        where = density > 1e-9
        axes[0, j].plot(*(of.forecast[where] @ CORNERS[3]).T, color="#000000", linewidth=0.9, linestyle=":")
        axes[0, j].set_title(f"class {j + 1}", fontsize="medium", pad=4)
        for text in axes[0, j].texts:
            text.set_text(str(int(text.get_text()) + 1))
        ax = axes[1, j]
        diagonal(ax)
        x, y, _ = curve(of, of.forecast[:, j], of.posterior[:, j])
        ax.plot(x, y, **BEFORE, label="before")
        x, y, _ = curve(of, values_three(method, 0)[:, j], of.posterior[:, j])
        ax.plot(x, y, color=drawing.colour(0), linewidth=1.8, zorder=4, label="after")
        ax.set_xlabel("probability")
    axes[1, 0].set_ylabel("probability of the class given it")
    legend_above(axes[1, 0])
    save(figure, number)


# The page


def summary(rows: list[Row]) -> str:
    """What was found, in a few sentences, from the rows."""
    said = {claim.key: claim.says for claim in PAPER.claims}
    open_, judged = Counter(said.values())[Verdict.OPEN], [v for v in said.values() if v in (*AGAINST, Verdict.HOLDS)]
    numbers = {row.key: row.numbers for row in rows}
    shares = {
        key: " / ".join(f"{100 * np.mean(left(**of)):.0f}" for of in numbers[key]["measures"].values())
        for key in ("platt-under", "platt-over", "beta-under")
    }
    highest = numbers["capped"]["highest"]
    return "\n".join(
        [
            f"* **{len(judged)} sentences are judged**, {judged.count(Verdict.HOLDS)} of which hold, "
            f"{judged.count(Verdict.IN_PART)} in part and {judged.count(Verdict.FAILS)} not. Those that hold in part "
            "are mostly figures of the tables, which the survey worked out with rounded entries.",
            f"* **{open_} sentences are not decided**, most of them about neural networks. calibrant embeds one "
            "network of two classes and one of three, and one network decides nothing.",
            "* **Class 3 can be read in two ways.** The survey prints class 3 as Gaussian(0, 8) and does not say whether "
            f"8 is a variance or a standard deviation. Its posterior reaches {highest['variance']['bayes']:.3f} with "
            f"the one and {highest['standard deviation']['bayes']:.3f} with the other, which the "
            "caption of Fig. 20 picks. The embedded network was trained with a variance of 8; three quick networks of each "
            "reading serve the cap of class 3 alone.",
            "* **Of two logistic classifiers**, by E abs(S - C) / calibration loss / log loss above Bayes, Platt scaling "
            f"leaves {shares['platt-under']} % of the error of the under-confident one and {shares['platt-over']} % of that of "
            f"the over-confident one, and beta calibration {shares['beta-under']} % of that of the under-confident one: "
            "whether it works well differs between measures.",
        ]
    )


def page(rows: list[Row]) -> str:
    """The whole page."""
    return filled(
        Path(__file__).with_name("page.md"),
        summary=summary(rows),
        coverage=coverage_table(PAPER.coverage),
        rows=ROWS,
        draws=DRAWS,
        n_points=len(the_case("mlp").x),
        largest_change=np.ceil(10 * largest_change()) / 10,
        claims=claims_table(PAPER.claims, rows),
        binning=of_two(list(BINARY["binning"])),
        isotonic=of_two(list(BINARY["isotonic"])),
        platt=of_two(list(BINARY["platt"])),
        beta=of_two(list(BINARY["beta"])),
        of_three_classes=of_three_classes(),
    )


def main() -> None:
    """Measure and judge the claims, draw the pictures and write the page."""
    warnings.simplefilter("ignore")
    rows = run(PAPER)
    for number, family in zip(range(13, 17), BINARY, strict=True):
        print(f"picture {number}", flush=True)
        draw_two(number, family)
    for number, method in zip(range(17, 21), OF_THREE, strict=True):
        print(f"picture {number}", flush=True)
        draw_three(number, method)
    print("page", flush=True)
    PAPER.publish(page(rows))


if __name__ == "__main__":
    main()
