"""Pictures of the study that trains models: bins, and the test-based diagram beside the standard one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from calibrant import EqualWidth, drawing
from calibrant.binning import Bins
from calibrant.curves import bin_test_curve
from studies.claims import filled, table
from studies.tce import uci
from studies.tce.uci import (
    ALGORITHMS,
    BINNINGS,
    CLEAR_METRICS,
    DATA_SETS,
    LEVEL,
    MALIGNANT,
    METRICS,
    N_BINS,
    NOMINAL,
    OTHERS,
    PROPER,
    RARE,
    RESAMPLES,
    SEEDS,
    Forecast,
    agreement,
    best_table,
    bins_of,
    bins_table,
    by_data_table,
    clear_table,
    data_set,
    drops_of,
    estimate,
    floors,
    forecast,
    is_better,
    measure,
    most_violated,
    n_clear,
    n_models,
    n_rankings,
    n_too_large,
    n_violated,
    of_data,
    paper_same_best,
    printed,
    pvalues,
    same_best,
    shown,
    table_off,
    tau_table,
    title,
    values,
    violations_table,
)
from tools.make_gallery import save_picture

mpl.use("Agg")


IMAGES = Path(__file__).parents[2] / "docs" / "images" / "tce"

DIAGRAMS = (
    ("satimage", "RF", 0, "probability"),
    ("covertype", "MLP", 2, "log-odds"),
)
"""Data set, algorithm and split of the models in diagrams, and the axis of their probabilities."""

BORDER = {"color": drawing.COLOURS[0], "linestyle": ":", "linewidth": 0.9, "zorder": 1}
SIZE = {"color": drawing.IDEAL, "alpha": 0.45, "linewidth": 0.0}
RATE = {"color": drawing.GAP, "linewidth": 2.0, "zorder": 3}
FALL = {"color": drawing.COLOURS[-1], "linestyle": "none", "marker": "v", "markersize": 6, "zorder": 4}


def save(figure: Any, name: str) -> None:
    """Save a picture of the page."""
    save_picture(figure, IMAGES / f"{name}.png")


def draw_bins(of: Forecast, name: str, right: float) -> None:
    """Sizes and event rates of the bins of the three binnings, up to a probability."""
    figure, axes = plt.subplots(len(BINNINGS), 2, figsize=(9.6, 6.4), sharex=True, sharey="col", layout="constrained")
    highest = 0.0
    for (sizes, rates), cut in zip(axes, BINNINGS, strict=True):
        bins = bins_of(of, cut)
        for ax in (sizes, rates):
            ax.vlines(bins.edges, 0.0, 1.0, transform=ax.get_xaxis_transform(), **BORDER)
        sizes.bar(bins.edges[:-1], bins.weight / of.y.size, np.diff(bins.edges), align="edge", **SIZE)
        sizes.set_title(cut, loc="left", fontsize="medium")
        sizes.set_ylabel("share of rows")
        _draw_rates(rates, bins, drops_of(of, cut), right)
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


def reach_of(of: Forecast) -> float:
    """Where the picture of the bins of a model ends: a little after the last violation of PAVA-BC."""
    last = np.flatnonzero(drops_of(of, "PAVA-BC") > 0)[-1]
    return float(min(1.0, 1.2 * bins_of(of, "PAVA-BC").edges[last + 1]))


def draw_diagrams() -> None:
    """The test-based diagram of each model, the standard one beside."""
    for data, algorithm, seed, axis in DIAGRAMS:
        of = forecast(data, algorithm, seed)
        figure, axes = plt.subplots(1, 2, figsize=(11.4, 4.7), layout="constrained")
        bin_test_curve(of.y, of.prob).plot(ax=axes[0], axis=axis)
        bin_test_curve(of.y, of.prob, binning=EqualWidth(N_BINS)).plot(ax=axes[1], style="standard", axis=axis)
        axes[1].set_title(f"ECE {measure(of, 'ECE'):.3f}\n{N_BINS} bins of equal width", fontsize="medium")
        save(figure, f"diagram-{data}")


def draw() -> None:
    """Draw all."""
    draw_bins(shown(), "bins", 1.0)
    draw_bins(most_violated(), "violations", reach_of(most_violated()))
    draw_diagrams()


# The main results of the study that trains models, in a few sentences.


def summary() -> str:
    """A list of sentences."""
    floor, found = floors("TCE").mean(axis=-1), values("TCE")
    seen = pvalues("TCE") > LEVEL
    differ = n_rankings() - same_best("TCE", "ECE")
    agree, tables = paper_same_best("TCE", "ECE") or (0, 0)
    text, verdict = is_better("TCE", "ECE")
    nearer = "not clear" if "not clear" in verdict else f"{verdict.strip('*')}, else not clear"
    rare = list(DATA_SETS).index("covertype")
    prevalence = data_set("covertype")[1].mean()
    told = {metric: (pvalues(metric)[rare] <= LEVEL) for metric in CLEAR_METRICS}
    off = table_off()
    lines = [
        "* **A TCE needs the TCE of a calibrated forecast beside it.** With the probabilities of these models that is "
        f"{floor.min():.1f} to {floor.max():.1f} and not {NOMINAL:g}; {int(seen.sum())} of {n_models()} models cannot be told "
        f"from calibrated ones by it, and the highest TCE of them is {found[seen].max():.1f}.",
        f"* **TCE and ECE name different best models** in {differ} of {n_rankings()} rankings here and on "
        f"{tables - agree} of {tables} data sets in the paper's tables.",
        f"* **Whether TCE ranks models more as proper scores do than ECE does: {nearer}.** Kendall's tau of TCE less that of "
        f"ECE: {text}.",
        f"* **Held against calibrated forecasts** with the same probabilities, ECE finds {n_clear('ECE')} of {n_models()} "
        f"models badly calibrated, ACE {n_clear('ACE')}, TCE {n_clear('TCE')} and TCE(Q) {n_clear('TCE(Q)')}. With "
        f"{prevalence:.0%} of events, on covertype, it is {told['ECE'].sum()}, {told['ACE'].sum()}, {told['TCE'].sum()} and "
        f"{told['TCE(Q)'].sum()} of {told['ECE'].size}.",
        f"* **Table 1 comes out** to {off[0]:.3f} in total error and {off[1]:.3f} within bins. PAVA-BC violates monotonicity "
        f"on {n_violated('PAVA-BC')} of {n_models()} models, quantiles on {n_violated('10 quantiles')}. On {n_too_large()} "
        "models a bin of PAVA-BC is larger than a fifth of the rows, since equal scores share a bin.",
    ]
    return "\n".join(lines)


# Tables of the study that trains models: what each calibration error is, over splits and beside the paper's figures.


DIGITS = {"TCE": 1, "TCE(Q)": 1, "MCE": 2, "MCE(Q)": 2}
"""Decimals; three for the others."""

LEVEL_OF_TABLES = 0.05


def data_table() -> str:
    head = ["data set", "rows", "features", "positive", "to measure on", "positive there", "smallest bin"]
    body = []
    for name in DATA_SETS:
        x, y = data_set(name)
        test = [forecast(name, "LR", seed).y for seed in SEEDS]
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
    for at, data in enumerate(DATA_SETS):
        for own, algorithm in enumerate(ALGORITHMS):
            figures = [spread(of_data(metric, data)[own], metric) for metric in metrics]
            clear = int((pvalues("TCE")[at, own] <= LEVEL_OF_TABLES).sum())
            floor = f"{floors('TCE')[at, own].mean():.1f}; clear in {clear}"
            body.append([data, algorithm, figures[0], floor, *figures[1:]])
    return table(head, body)


def proper_table() -> str:
    metrics = [metric for metric in METRICS if metric in PROPER or metric == "debiased"]
    body = [
        [data, algorithm, *(spread(of_data(metric, data)[own], metric) for metric in metrics)]
        for data in DATA_SETS
        for own, algorithm in enumerate(ALGORITHMS)
    ]
    return table(["data set", "model", *metrics], body)


def paper_table() -> str:
    """The first split beside the paper's figures, in brackets."""
    metrics, body = uci.PAPER_METRICS, []
    for data in ("spambase", "satimage"):
        for own, algorithm in enumerate(ALGORITHMS):
            said = uci.printed()[data][algorithm]
            figures = []
            for metric in metrics:
                digits = 2 if metric.startswith("TCE") else 4
                figures.append(f"{of_data(metric, data)[own, 0]:.{digits}f} ({said[metric]:.{digits}f})")
            body.append([data, algorithm, *figures])
    return table(["data set", "model", *metrics], body)


def nearness(data: str) -> str:
    """How far the first split lies from the paper's figures."""
    said = uci.printed()[data]

    def off(metric: str) -> float:
        printed = np.array([said[algorithm][metric] for algorithm in ALGORITHMS])
        return float(np.abs(of_data(metric, data)[:, 0] - printed).max())

    return f"TCE at most {off('TCE'):.1f} off, TCE(Q) {off('TCE(Q)'):.1f}, ECE {off('ECE'):.4f}, ACE {off('ACE'):.4f}"


def farthest(data: str) -> str:
    """The model whose TCE differs most from the paper's, and what its ECE does."""
    said = uci.printed()[data]
    found = {metric: dict(zip(ALGORITHMS, of_data(metric, data)[:, 0], strict=True)) for metric in ("TCE", "ECE")}
    name = max(ALGORITHMS, key=lambda algorithm: abs(found["TCE"][algorithm] - said[algorithm]["TCE"]))
    return (
        f"Farthest off is {name}, with a TCE of {found['TCE'][name]:.1f} for {said[name]['TCE']:.1f} where the ECE is "
        f"{found['ECE'][name]:.4f} for {said[name]['ECE']:.4f}: a few rows can decide whether a bin rejects all its predictions"
    )


# The study of section 4.2 of the TCE paper, models trained on UCI data, as sections of docs/tce.md.


FILES = ("satimage.arff.gz", "spambase.csv", "covertype_small.csv.gz")
"""What must lie in the folder of the data sets."""


def _diagram(number: int) -> list[str]:
    name = _model(number)
    picture = f"images/tce/diagram-{DIAGRAMS[number][0]}.png"
    return [f"![Test-based and standard reliability of {name}]({picture})", f"{name}: {_words(number)}"]


def _model(number: int) -> str:
    data, algorithm, seed, _ = DIAGRAMS[number]
    return f"{algorithm} on {data}, split {seed + 1}"


def _words(number: int) -> str:
    """What both figures of a diagram are, and of calibrated forecasts."""
    data, algorithm, seed, _ = DIAGRAMS[number]
    tce, ece = (estimate(data, algorithm, seed, metric) for metric in ("TCE", "ECE"))
    return (
        f"TCE {tce.value:.1f}, under calibration {tce.noise_floor:.1f} (p = {tce.pvalue:.2f}); ECE "
        f"{ece.value:.3f}, under calibration {ece.noise_floor:.3f} (p = {ece.pvalue:.2f})."
    )


def section() -> str:
    """Markdown, with headings of level 2 and 3. The pictures are those of `draw`."""
    absent = ", ".join(name for name in printed() if name not in DATA_SETS)
    return filled(
        Path(__file__).with_name("uci.md"),
        absent=absent,
        malignant=MALIGNANT,
        n_covertype=OTHERS + RARE,
        rare=RARE,
        summary=summary(),
        data_table=data_table(),
        n_splits=len(SEEDS),
        paper_table=paper_table(),
        nearness_spambase=nearness("spambase"),
        farthest_spambase=farthest("spambase"),
        nearness_satimage=nearness("satimage"),
        resamples=RESAMPLES,
        errors_table=errors_table(),
        proper_table=proper_table(),
        clear_table=clear_table(),
        n_rankings=len(DATA_SETS) * len(SEEDS),
        best_table=best_table(),
        n_data_sets=len(DATA_SETS),
        tau_table=tau_table(),
        by_data_table_nll=by_data_table("NLL"),
        by_data_table_mcb=by_data_table("MCB"),
        agreement=agreement(),
        least_p=1 / (RESAMPLES + 1),
        diagrams="\n\n".join(line for number in range(len(DIAGRAMS)) for line in _diagram(number)),
        bins_table=bins_table(),
        violated=title(most_violated()),
        violations_table=violations_table(),
    )
