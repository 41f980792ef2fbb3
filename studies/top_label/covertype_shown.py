"""The tables and the picture of the forests on Covertype."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib import pyplot as plt

from calibrant.curves import plot_class_errors
from studies.markdown import table
from studies.top_label.covertype import ALIKE, CLASSES, METHODS, RARE, Design, by_class, errors, fitted_rows
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
    """Bias-corrected root mean square of the gaps, and how far the classes lie apart."""
    head = ["root mean square, bias-corrected", *(f"predicted {number}" for number in CLASSES), "highest less lowest"]
    body = []
    for name in METHODS:
        of = by_class(design, name)
        figures = [f"{root:.3f} ({error:.3f})" for root, error in zip(of.root, of.root_error, strict=True)]
        body.append([name, *figures, f"{np.ptp(of.root):.3f}"])
    return table(head, body)


# The picture


def draw() -> None:
    """Bars of each predicted class with their standard errors: the paper's figure 4, bias-corrected."""
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
        ax.set(xlabel="predicted, and rows to calibrate on", ylabel="root mean square gap, bias-corrected")
        ax.set_title(title, fontsize="medium")
        ax.get_legend().remove()
    axes[1].set_ylabel("")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    save(figure, "covertype")
