"""The paper's tables of a ResNet-50 on CIFAR-10, one of its eight rows of networks, ours beside its figures."""

from __future__ import annotations

from functools import cache

import numpy as np

from calibrant import EqualMass, log_loss
from calibrant.binning import Unique
from calibrant.metrics.estimate import Estimate
from calibrant.metrics.scores import accuracy
from studies.markdown import table
from studies.top_label.forecasts import forecasts

FACTS = {
    ("Base", "confidence"): 0.0155164,
    ("Base", "top-label"): 0.0222267,
    ("Base", "class-wise"): 0.00421983,
    ("TS", "confidence"): 0.00972077,
    ("TS", "top-label"): 0.0221599,
    ("TL-HB (50)", "confidence"): 0.00654177,
    ("TL-HB (50)", "top-label"): 0.0126185,
    ("TL-HB (100)", "confidence"): 0.00679501,
    ("TL-HB (100)", "top-label"): 0.00993186,
}
"""Figures of independent implementations, 15 bins of equal width. The tool stops if one does not come out."""

PAPER = {
    "TL-ECE": {"Base": 0.025, "TS": 0.022, "VS": 0.020, "DS": 0.019, "N-HB": 0.018, "TL-HB": 0.020},
    "TL-MCE": {"Base": 0.315, "TS": 0.305, "VS": 0.773, "DS": 0.282, "N-HB": 0.411, "TL-HB": 0.107},
    "CW-ECE": {"Base": 0.0046, "TS": 0.0042, "VS": 0.0035, "DS": 0.0035, "N-HB": 0.0050, "CW-HB": 0.0028},
}
"""The printed rows, ResNet-50 on CIFAR-10."""

BINS = range(5, 26)
"""Numbers of bins of the paper's figure of errors against bins."""

NOTION = {"TL-ECE": "top-label", "TL-MCE": "top-label", "CW-ECE": "class-wise"}


def check_facts() -> None:
    """Stop if a figure that others computed does not come out."""
    for (method, notion), figure in FACTS.items():
        found = forecasts()[method].error(notion)
        if abs(found - figure) > 1e-6:
            raise SystemExit(f"{notion} of {method} must be {figure}; got {found:.8f}")


def of_metric(metric: str) -> list[str]:
    """The methods that a metric can be asked of."""
    without = "TL-HB" if metric == "CW-ECE" else "CW-HB"
    return [name for name in forecasts() if not name.startswith(without)]


@cache
def estimate(method: str, metric: str) -> Estimate:
    norm = "max" if metric == "TL-MCE" else "l1"
    return forecasts()[method].estimate(NOTION[metric], norm=norm)


def printed(method: str, metric: str) -> float:
    """The paper's figure; it has one TL-HB."""
    return PAPER[metric][method.split(" ")[0]]


# The tables


def top_label_table() -> str:
    head = [
        "method", "TL-ECE, 15 equal width", "bias-corrected", "expected if calibrated", "15 equal mass", "each value", "paper",
    ]  # fmt: skip
    body = []
    for name in of_metric("TL-ECE"):
        e, of = estimate(name, "TL-ECE"), forecasts()[name]
        own = f"{of.error('top-label', Unique()):.4f}" if name.startswith("TL-HB") else ""
        mass = f"{of.error('top-label', EqualMass(15)):.4f}"
        body.append(
            [
                name,
                interval(e),
                f"{e.debiased:.4f}",
                f"{e.noise_floor:.4f}",
                mass,
                own,
                f"{printed(name, 'TL-ECE'):.3f}",
            ]
        )
    return table(head, body)


def maximum_table() -> str:
    head = ["method", "TL-MCE, 15 equal width", "expected if calibrated", "p-value", "paper"]
    body = []
    for name in of_metric("TL-MCE"):
        e = estimate(name, "TL-MCE")
        body.append([name, interval(e, 3), f"{e.noise_floor:.3f}", f"{e.pvalue:.3f}", f"{printed(name, 'TL-MCE'):.3f}"])
    return table(head, body)


def class_table() -> str:
    head = [
        "method",
        "CW-ECE x 100, 15 equal width",
        "bias-corrected",
        "expected if calibrated",
        "15 equal mass",
        "paper",
    ]
    body = []
    for name in of_metric("CW-ECE"):
        e, mass = estimate(name, "CW-ECE"), 100 * forecasts()[name].error("class-wise", EqualMass(15))
        figures = [interval(e, 3, 100), f"{100 * e.debiased:.3f}", f"{100 * e.noise_floor:.3f}", f"{mass:.3f}"]
        body.append([name, *figures, f"{100 * printed(name, 'CW-ECE'):.2f}"])
    return table(head, body)


def other_table() -> str:
    """Accuracy, log loss, conf-ECE. A pair has the accuracy of the forecast that it came from, and no log loss."""
    head = ["method", "conf-ECE, 15 equal width", "bias-corrected", "15 equal mass", "accuracy", "NLL"]
    body = []
    for name in of_metric("TL-ECE"):
        of = forecasts()[name]
        e, mass = of.estimate("confidence"), of.error("confidence", EqualMass(15))
        right = accuracy(of.y, of.prob) if of.is_table else float(np.mean(of.y == of.label))
        nll = f"{log_loss(of.y, of.prob, clip=1e-12):.4f}" if of.is_table else "not defined"
        body.append([name, interval(e), f"{e.debiased:.4f}", f"{mass:.4f}", f"{right:.4f}", nll])
    return table(head, body)


def interval(e: Estimate, digits: int = 4, times: float = 1.0) -> str:
    value, lower, upper = (f"{times * figure:.{digits}f}" for figure in (e.value, e.lower, e.upper))
    return f"{value} [{lower}, {upper}]"
