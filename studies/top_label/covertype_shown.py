"""The tables and the picture of the forests on Covertype, and what the paper says of its own, held against them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib import pyplot as plt

from calibrant import plot_class_errors
from studies.markdown import table
from studies.top_label.covertype import ALIKE, CLASSES, METHODS, RARE, Design, by_class, errors, fitted_rows
from studies.top_label.findings import CLEAR
from studies.top_label.pictures import save


def mean(values: np.ndarray) -> str:
    """The mean over seeds, and its standard error."""
    return f"{values.mean():.3f} ({values.std(ddof=1) / np.sqrt(len(values)):.3f})"


def error_table(design: Design) -> str:
    """TL-ECE of each predicted class and of all."""
    head = ["TL-ECE", *(f"predicted {number}" for number in CLASSES), "all"]
    body = [["rows to calibrate on", *(f"{count:.0f}" for count in fitted_rows(design)), ""]]
    for name in METHODS:
        of = by_class(design, name)
        body.append([name, *map(mean, of.error.T), mean((of.error * of.share).sum(axis=1))])
    return table(head, body)


def root_table(design: Design) -> str:
    """Root mean square of the gaps without bias, and how far the classes lie apart."""
    head = ["root mean square, without bias", *(f"predicted {number}" for number in CLASSES), "highest less lowest"]
    body = []
    for name in METHODS:
        of = by_class(design, name)
        figures = [f"{root:.3f} ({error:.3f})" for root, error in zip(of.root, of.root_error, strict=True)]
        body.append([name, *figures, f"{np.ptp(of.root):.3f}"])
    return table(head, body)


# What the paper says


def findings() -> str:
    """What the paper says of its figure, held against the tables."""
    rows = [
        ("The forest has a much higher TL-ECE for the least likely classes.", _forest()),
        ("With points per bin the TL-ECE after calibration is quite uniform.", _uniform()),
        ("A fixed number of bins has a higher TL-ECE on the least likely classes.", _rises(3)),
        ("... and a lower one on the most likely classes.", _falls(1)),
    ]
    return table(["the paper says", "computed here", "verdict"], [[claim, *found] for claim, found in rows])


def _forest() -> tuple[str, str]:
    text, verdict = _compared("forest", 3, "forest", 1)
    return f"Predicted 4 and predicted 2, the rarest and the most frequent: {text}", verdict


def _uniform() -> tuple[str, str]:
    spread = {name: float(np.ptp(by_class(RARE, name).root)) for name in METHODS}
    text = ", ".join(f"{name} {value:.3f}" for name, value in spread.items())
    least = min(spread, key=lambda name: spread[name])
    verdict = "**confirmed**" if least == "100 points a bin" else "**in part**"
    if spread["100 points a bin"] >= spread["forest"]:
        verdict = "**refuted**"
    return f"Between the classes, highest less lowest: {text}", verdict


def _rises(number: int) -> tuple[str, str]:
    found = [_compared(name, number, "100 points a bin", number) for name in ("50 bins a class", "10 bins a class")]
    return "; ".join(text for text, _ in found), _together([verdict for _, verdict in found])


def _falls(number: int) -> tuple[str, str]:
    found = [_compared("100 points a bin", number, name, number) for name in ("50 bins a class", "10 bins a class")]
    return "; ".join(text for text, _ in found), _together([verdict for _, verdict in found])


def _compared(one: str, first: int, other: str, second: int) -> tuple[str, str]:
    """Whether the one is higher than the other, by pairs of seeds."""
    a, b = by_class(RARE, one), by_class(RARE, other)
    change = a.square[:, first] - b.square[:, second]
    clear = abs(change.mean()) > CLEAR * change.std(ddof=1) / np.sqrt(len(change))
    text = f"{one} {a.root[first]:.3f}, {other} {b.root[second]:.3f}{'' if clear else ' (not clear)'}"
    if not clear:
        return text, "**not seen**"
    return text, "**confirmed**" if change.mean() > 0 else "**refuted**"


def _together(verdicts: list[str]) -> str:
    """The verdict on 50 bins and on 10."""
    if len(set(verdicts)) == 1:
        return verdicts[0]
    return f"{verdicts[0]} with 50 bins, {verdicts[1]} with 10"


# The picture


def draw() -> None:
    """Bars of each predicted class with their standard errors: the paper's figure 4, without bias."""
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 3.6), layout="constrained", sharey=True)
    for ax, (title, design) in zip(axes, {"one class rare": RARE, "classes alike": ALIKE}.items(), strict=True):
        found = {name: by_class(design, name) for name in METHODS}
        shown = {name: replace(errors(design, 0, name), value=of.root) for name, of in found.items()}
        plot_class_errors(shown, ax=ax, counts=False, noise=False)
        for bars, of in zip(list(ax.containers), found.values(), strict=True):
            middle = [bar.get_x() + bar.get_width() / 2 for bar in bars]
            ax.errorbar(middle, of.root, of.root_error, linestyle="", color="black", elinewidth=1.0, capsize=2.0)
        rows = fitted_rows(design)
        ax.set_xticks(range(4), [f"{number}\n{count:.0f}" for number, count in zip(CLASSES, rows, strict=True)])
        ax.set(xlabel="predicted, and rows to calibrate on", ylabel="root mean square gap, without bias")
        ax.set_title(title, fontsize="medium")
        ax.get_legend().remove()
    axes[1].set_ylabel("")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    save(figure, "covertype")
