"""The study that trains models: pictures of bins, tables, and its part of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from calibrant import drawing
from calibrant.binning import Bins
from studies.claims import filled, table
from studies.tce import published, uci
from studies.tce.pictures import figures, save
from studies.tce.published import cells_table

BORDER = {"color": drawing.COLOURS[0], "linestyle": ":", "linewidth": 0.9, "zorder": 1}
SIZE = {"color": drawing.IDEAL, "alpha": 0.45, "linewidth": 0.0}
RATE = {"color": drawing.GAP, "linewidth": 2.0, "zorder": 3}
FALL = {"color": drawing.COLOURS[-1], "linestyle": "none", "marker": "v", "markersize": 6, "zorder": 4}


def draw_bins(of: uci.Forecast, name: str, right: float) -> None:
    """Sizes and event rates of the bins of the three binnings, up to a probability."""
    figure, axes = plt.subplots(
        len(uci.BINNINGS), 2, figsize=(9.6, 6.4), sharex=True, sharey="col", layout="constrained"
    )
    highest = 0.0
    for (sizes, rates), cut in zip(axes, uci.BINNINGS, strict=True):
        bins = uci.bins_of(of, cut)
        for ax in (sizes, rates):
            ax.vlines(bins.edges, 0.0, 1.0, transform=ax.get_xaxis_transform(), **BORDER)
        sizes.bar(bins.edges[:-1], bins.weight / of.y.size, np.diff(bins.edges), align="edge", **SIZE)
        sizes.set_title(cut, loc="left", fontsize="medium")
        sizes.set_ylabel("share of rows")
        _draw_rates(rates, bins, uci.drops_of(of, cut), right)
        highest = max(highest, bins.event_rate[(bins.edges[1:] <= right) & (bins.weight > 0)].max())
    axes[0, 1].set_ylim(-0.05 * highest, 1.1 * highest)
    axes[0, 0].set_xlim(-0.01 * right, 1.01 * right)
    keys = {label: key for ax in axes[:, 1] for key, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    axes[0, 1].legend(keys.values(), keys.keys(), loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False)
    for ax in axes[-1]:
        ax.set_xlabel("probability")
    save(figure, name)


def _draw_rates(ax: Any, bins: Bins, drop: np.ndarray, right: float) -> None:
    ax.hlines(bins.event_rate, bins.edges[:-1], bins.edges[1:], **RATE, label="event rate")
    fell = (drop > 0) & (bins.edges[:-1] < right)
    if fell.any():
        middle = (bins.edges[:-1] + np.minimum(bins.edges[1:], right)) / 2.0
        ax.plot(middle[fell], bins.event_rate[fell], **FALL, label="below the bin before")
    ax.set_ylabel("event rate")


def reach_of(of: uci.Forecast) -> float:
    """Where the picture of the bins of a model ends: a little after the last violation of PAVA-BC."""
    last = np.flatnonzero(uci.drops_of(of, "PAVA-BC") > 0)[-1]
    return float(min(1.0, 1.2 * uci.bins_of(of, "PAVA-BC").edges[last + 1]))


def draw() -> None:
    """Draw all."""
    draw_bins(uci.shown(), "bins", 1.0)
    draw_bins(uci.most_violated(), "violations", reach_of(uci.most_violated()))


# The main results of the study that trains models, in a few sentences.


def summary() -> str:
    """A list of sentences."""
    floor, found = uci.floors("TCE").mean(axis=-1), uci.values("TCE")
    seen = uci.pvalues("TCE") > uci.LEVEL
    differ = uci.n_rankings() - uci.same_best("TCE", "ECE")
    agree, tables = uci.paper_same_best("TCE", "ECE")
    rare = list(uci.DATA_SETS).index("covertype")
    prevalence = uci.data_set("covertype")[1].mean()
    told = {metric: (uci.pvalues(metric)[rare] <= uci.LEVEL) for metric in uci.CLEAR_METRICS}
    off = uci.table_off()
    lines = [
        "* **A TCE needs the TCE of a calibrated forecast beside it.** With the probabilities of these models that is "
        f"{floor.min():.1f} to {floor.max():.1f} and not {uci.NOMINAL:g}; {int(seen.sum())} of "
        f"{uci.n_models()} models cannot be "
        f"told from calibrated ones by it, and the highest TCE of them is {found[seen].max():.1f}.",
        f"* **TCE and ECE name different best models** in {differ} of {uci.n_rankings()} rankings here and on "
        f"{tables - agree} of {tables} data sets in the paper's tables.",
        f"* **Held against calibrated forecasts** with the same probabilities, ECE finds {uci.n_clear('ECE')} of "
        f"{uci.n_models()} models badly calibrated, ACE {uci.n_clear('ACE')}, TCE {uci.n_clear('TCE')} and TCE(Q) "
        f"{uci.n_clear('TCE(Q)')}. With {prevalence:.0%} of events, on covertype, it is {told['ECE'].sum()}, "
        f"{told['ACE'].sum()}, {told['TCE'].sum()} and "
        f"{told['TCE(Q)'].sum()} of {told['ECE'].size}.",
        f"* **Table 1 comes out** to {off[0]:.3f} in total error and {off[1]:.3f} within bins. PAVA-BC violates monotonicity "
        f"on {uci.n_violated('PAVA-BC')} of {uci.n_models()} models, quantiles on {uci.n_violated('10 quantiles')}. "
        f"On {uci.n_too_large()} models a bin of PAVA-BC is larger than a fifth of the rows, since equal scores share a bin.",
    ]
    return "\n".join(lines)


# Tables of the study that trains models: what each calibration error is, over splits and beside the paper's figures.


DIGITS = {"TCE": 1, "TCE(Q)": 1, "MCE": 2, "MCE(Q)": 2}
"""Decimals; three for the others."""

LEVEL_OF_TABLES = 0.05


def data_table() -> str:
    head = ["data set", "rows", "features", "positive", "to measure on", "positive there", "smallest bin"]
    body = []
    for name in uci.DATA_SETS:
        x, y = uci.data_set(name)
        test = [uci.forecast(name, "LR", seed).y for seed in uci.SEEDS]
        events = sorted({int(of.sum()) for of in test})
        n = test[0].size
        sizes = [str(n), f"{events[0]} to {events[-1]}", str(int(np.ceil(n / 20)))]
        body.append([name, str(len(y)), str(x.shape[1]), f"{y.mean():.1%}", *sizes])
    return table(head, body)


def spread(of: np.ndarray, metric: str) -> str:
    """Mean over splits, with the lowest and the highest."""
    digits = DIGITS.get(metric, 3)
    return f"{of.mean():.{digits}f} ({of.min():.{digits}f} to {of.max():.{digits}f})"


def errors_table() -> str:
    """The experiments of Tables 3, 4 and 14, on other data."""
    metrics = uci.PAPER_METRICS
    head = ["data set", "model", metrics[0], "if calibrated", *metrics[1:]]
    body = []
    for at, data in enumerate(uci.DATA_SETS):
        for own, algorithm in enumerate(uci.ALGORITHMS):
            figures = [spread(uci.of_data(metric, data)[own], metric) for metric in metrics]
            clear = int((uci.pvalues("TCE")[at, own] <= LEVEL_OF_TABLES).sum())
            floor = f"{uci.floors('TCE')[at, own].mean():.1f}; clear in {clear}"
            body.append([data, algorithm, figures[0], floor, *figures[1:]])
    return table(head, body)


# The study of section 4.2 of the TCE paper, models trained on UCI data, as sections of docs/tce.md.


FILES = ("satimage.arff.gz", "spambase.csv", "covertype_small.csv.gz")
"""What must lie in the folder of the data sets."""


def section() -> str:
    """Markdown, with headings of level 2 and 3. The pictures are those of `draw`."""
    absent = ", ".join(name for name in uci.printed() if name not in {*uci.DATA_SETS, *published.DATA_SETS.values()})
    cells_tables = "\n\n".join(cells_table(name) for name in published.DATA_SETS)
    return filled(
        Path(__file__).with_name("uci.md"), absent=absent, malignant=uci.MALIGNANT, n_covertype=uci.OTHERS + uci.RARE,
        rare=uci.RARE, summary=summary(), data_table=data_table(), n_splits=len(uci.SEEDS), cells_tables=cells_tables,
        figures=figures(networks=False), resamples=uci.RESAMPLES, errors_table=errors_table(),
        clear_table=uci.clear_table(), bins_table=uci.bins_table(),
        violated=uci.title(uci.most_violated()), violations_table=uci.violations_table(),
    )  # fmt: skip
