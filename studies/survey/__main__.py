"""Draw the survey's figures 13 to 20 and write docs/survey-calibrators.md: python -m studies.survey"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.colors import SymLogNorm

from calibrant import simplex_map
from calibrant.curves.simplex_points import CORNERS
from calibrant.plots import _style
from calibrant.plots._legend import legend_above
from studies.survey.exact import Case
from studies.survey.findings import CLEAR, DRAWS, ROWS, Finding, findings, the_case
from studies.survey.grid import largest_change
from studies.survey.sigmoids import beta, platt
from studies.survey.steps import binning, isotonic
from studies.survey.three import dirichlet, matrix, temperature, vector
from studies.survey.three_errors import OF_THREE, fitted_three, of_three_classes, values_three
from studies.survey.two_errors import BINARY, TWO, fitted, of_two, spelt, values
from tools.make_gallery import save_picture

DOCS = Path(__file__).parents[2] / "docs"
PAGE, IMAGES = DOCS / "survey-calibrators.md", DOCS / "images" / "survey"

IDEAL = {"color": _style.IDEAL, "linestyle": "--", "linewidth": 1, "zorder": 1}
TRUTH = {"color": "#000000", "linewidth": 1.3, "zorder": 3}
BEFORE = {"color": _style.IDEAL, "linewidth": 1.1, "zorder": 2}


CHANGES = {"linthresh": 0.01, "vmin": -1.0, "vmax": 1.0}
"""Changes of a probability that colours span, the same in Fig. 17 to 20: to scale up to 0.01, by powers of ten from there."""


def save(figure: Any, number: int) -> None:
    """Save a picture of the page."""
    save_picture(figure, IMAGES / f"fig-{number}.png")


def curve(
    of: Case, value: np.ndarray, target: np.ndarray, cells: int = 250
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Forecast, what comes given it, and the mass there, for a picture."""
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
    top.fill_between(x, 0.12 * mass / mass.max(), color=_style.FILL, linewidth=0, zorder=1)
    top.plot(x, y, **TRUTH, label="truth")
    bottom.plot(x, y, **BEFORE, label="before")
    scores = np.linspace(of.forecast.min(), of.forecast.max(), 2001)
    for shade, method in enumerate(BINARY[family]):
        colour = {"color": _style.colour(shade), "zorder": 4}
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
    ax.grid(color=_style.GRID)
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
        ax.plot(x, y, color=_style.colour(0), linewidth=1.8, zorder=4, label="after")
        ax.set_xlabel("probability")
    axes[1, 0].set_ylabel("probability of the class given it")
    legend_above(axes[1, 0])
    save(figure, number)


# The page


SECTIONS: dict[str, tuple[str, Callable[[], list[Finding]]]] = {
    "binning": ("Fig. 13: empirical binning", binning),
    "isotonic": ("Fig. 14: isotonic regression", isotonic),
    "platt": ("Fig. 15: Platt scaling", platt),
    "beta": ("Fig. 16: beta calibration", beta),
    "temperature": ("Fig. 17: temperature scaling", temperature),
    "vector": ("Fig. 18: vector scaling", vector),
    "matrix": ("Fig. 19: matrix scaling", matrix),
    "dirichlet": ("Fig. 20: Dirichlet calibration", dirichlet),
}

NOTES = {
    "binning": "`HistogramBinning(10)`. A bin without rows gives the middle of its edges. The area of a point "
    "follows its probability.",
    "isotonic": "`IsotonicCalibrator(interpolate=True, finite=None)`, linear between blocks as in the survey.",
    "platt": "The survey fits the sigmoid to the probabilities themselves, and says itself that a transformation is "
    "required; `PlattScaling` fits it to their log-odds. Both are shown, and judged apart.",
    "beta": "`BetaCalibration()`.",
    "temperature": "`TemperatureScaling()`. Red: the probability of the class rises; blue: it falls; the black line "
    "is where it stays. Fig. 17 to 20 have one scale of colours, to scale up to 0.01 and by powers of ten from there. "
    "The dotted line is where the network's forecasts lie: they are functions of one feature, "
    "and what the map does off that line is extrapolation. The network is the one embedded in calibrant, trained "
    "as the survey says; it is not the survey's own.",
    "vector": "`VectorScaling()`, on log-probabilities.",
    "matrix": "The survey's form: W z + b of the log-odds against the last class, z_j = log s_j / s_3, here a "
    "logistic regression of scikit-learn. On log-probabilities, as `MatrixScaling` takes them, it is the same "
    "family as Dirichlet calibration.",
    "dirichlet": "`DirichletCalibration(diagonal=0, off_diagonal=0, intercept=0)`: without penalties, as the "
    "survey's formula.",
}


def page() -> str:
    """The whole page."""
    parts = [
        "# The survey's calibrators, run",
        "Figures 13 to 20 of *Classifier calibration: a survey* (Silva Filho, Song, Perello-Nieto, "
        "Santos-Rodriguez, Kull, Flach, Machine Learning 2023), drawn again by `python "
        "studies/survey/__main__.py`, and each thing that the survey says of them beside a figure that bears "
        "it out or does not.",
        "The test cases are the survey's: mixtures of Gaussians of one feature x, whose posterior is known. Two "
        "logistic functions of x, one under- and one over-confident, and a neural network forecast two classes "
        f"(section 5.2); another network three (section 5.4). A calibrator is fitted to {ROWS:,} rows. The pictures "
        f"show one calibration set, the figures are means over {DRAWS}.",
        "Nothing is measured on rows: with one feature every expectation is a sum over a grid of "
        f"{len(the_case('mlp').x):,} values of x. On a grid of twice as many no figure of the network's tables moves by more "
        f"than {largest_change():.2f} of the last digit shown. In brackets stands the standard error over the calibration "
        "sets, of a difference that of the pairs.",
        "S is the forecast, C the probability of the event given the forecast, Q given the feature. **E abs(S - C)** is what "
        "an ECE estimates. The Brier score of the event is calibration loss E(S - C)^2, plus **grouping loss** E(C - Q)^2, "
        "what is lost where rows with different Q get one forecast, plus what no forecast can avoid. The **log loss above "
        "Bayes** is that of S minus that of Q. What the survey says of its network is asked of another one, trained "
        "alike.",
        "The verdicts are calibrant's; judge by the figures. What counts as bearing a claim out stands in its row and is a "
        f"choice; a difference counts from {CLEAR:g} standard errors on, and is **not seen** if it is smaller. Three borders "
        "of an earlier edition (the time of isotonic regression, its middle left and right, and how exact an identity is) were "
        "set with the figures in sight: "
        "the first has given way to bare figures, the second to standard errors, the third stands. So was a fourth: whether "
        "matrix scaling overfits is judged beside temperature scaling, as for Dirichlet calibration, and no longer beside "
        "vector scaling, whose row shows that difference.",
    ]
    for number, (method, (title, found)) in zip(range(13, 21), SECTIONS.items(), strict=True):
        parts += [f"## {title}", NOTES[method], f"![{title}](images/survey/fig-{number}.png)"]
        if method in BINARY:
            parts.append(of_two(list(BINARY[method])))
        elif method == "temperature":
            parts.append(of_three_classes())
        parts.append(findings(found()))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Draw the pictures and write the page."""
    warnings.simplefilter("ignore")
    for number, family in zip(range(13, 17), BINARY, strict=True):
        draw_two(number, family)
    for number, method in zip(range(17, 21), OF_THREE, strict=True):
        draw_three(number, method)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
