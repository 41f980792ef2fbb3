"""The tables of docs/na-isotonic.md that come from the ranks and values of the methods."""

from __future__ import annotations

import numpy as np

from studies.markdown import table
from studies.na_isotonic import paper
from studies.na_isotonic.measured import LEVEL, METHODS, RANKED, measured
from studies.na_isotonic.ranks import (
    after,
    architectures,
    critical_difference,
    data_sets,
    friedman,
    names,
    of_architecture,
    of_data_set,
    ranks,
    values,
    wins,
)

PERCENT = ("accuracy", "conf-ECE", "cw-ECE", "TECE")
SHOWN = (
    ("CIFAR-100", "DenseNet-BC"),
    ("CIFAR-100", "LeNet-5"),
    ("CIFAR-10", "ResNet-50"),
    ("CIFAR-10", "LeNet-5"),
    ("satimage", "MLP"),
    ("satimage", "tree"),
)
"""Models with tables of their own."""


def forecast_table() -> str:
    """What was predicted, and by how much it is too sure."""
    body = []
    for data_set in data_sets():
        of = [one for one in measured() if one.data_set == data_set]
        fit, test = (_span([getattr(one, size) for one in of]) for size in ("n_fit", "n_test"))
        sure = [one.overconfidence for one in of]
        n_models = len({one.architecture for one in of})
        span = f"{min(sure):+.3f} to {max(sure):+.3f}" if len(of) > 1 else f"{sure[0]:+.3f}"
        body.append([data_set, str(of[0].n_classes), str(n_models), str(len(of) // n_models), fit, test, span])
    head = [
        "data set",
        "classes",
        "models",
        "seeds",
        "rows to calibrate on",
        "rows to test",
        "mean confidence - accuracy",
    ]
    return table(head, body)


def _span(sizes: list[int]) -> str:
    return " to ".join(f"{size:,}" for size in sorted({min(sizes), max(sizes)}))


def rank_table(metric: str) -> str:
    """Average ranks and shares of wins by data set: the paper's Table 2."""
    body = []
    for data_set in data_sets():
        here = of_data_set(data_set)
        body.append([data_set, str(here.sum()), *_cells(ranks(metric)[here], wins(metric)[here])])
    body.append(["**all**", str(len(names())), *_cells(ranks(metric), wins(metric))])
    printed, won = (paper.mean_over_models(of, metric) for of in (paper.RANKS, paper.WINS))
    body.append(["the paper, all", str(sum(paper.N_MODELS.values()))])
    body[-1] += _best([printed[name] for name in METHODS], [won[name] for name in METHODS])
    return table(["data set", "models", *METHODS], body)


def _cells(rank: np.ndarray, win: np.ndarray) -> list[str]:
    return _best(list(rank.mean(axis=0)), list(100.0 * win.mean(axis=0)))


def _best(rank: list[float], percent: list[float]) -> list[str]:
    """Cells of a row, with the lowest rank bold."""
    texts = [f"{r:.1f} ({p:.0f}%)" for r, p in zip(rank, percent, strict=True)]
    return [f"**{text}**" if r <= min(rank) + 1e-9 else text for r, text in zip(rank, texts, strict=True)]


def rank_tables() -> list[str]:
    """The tables of all metrics, each with what can be told from it."""
    parts = []
    for metric in RANKED:
        alike = friedman(metric)
        parts += [f"### {metric}", rank_table(metric)]
        parts.append(
            f"Friedman's test that all methods are alike: p = {alike:.1g}. Over all, mean ranks {critical_difference():.2f} "
            "apart differ clearly."
            if alike <= LEVEL
            else f"Friedman's test cannot tell the methods apart: p = {alike:.2g}."
        )
    return parts


def model_tables() -> list[str]:
    """All metrics of single models: the paper's Tables 4 and 5."""
    return [part for name in SHOWN for part in (f"**{name[1]}, {name[0]}**", _model_table(name))]


def _model_table(name: tuple[str, str]) -> str:
    columns = _columns(name)
    return table(["method", *_order()], [[method, *cells] for method, *cells in zip(METHODS, *columns, strict=True)])


def _order() -> list[str]:
    return ["accuracy", *RANKED]


def _columns(name: tuple[str, str]) -> list[list[str]]:
    """The columns of a model, the best of each bold."""
    row = names().index(name)
    columns = []
    for metric in _order():
        best = ranks(metric)[row] == ranks(metric)[row].min()
        texts = [_text(metric, value) for value in values(metric)[row]]
        columns.append([f"**{text}**" if b else text for text, b in zip(texts, best, strict=True)])
    return columns


def _text(metric: str, value: float) -> str:
    if metric in PERCENT:
        return f"{value:.2%}"
    return f"{value:.4f}" if metric == "NLL" else f"{value:.5f}"


DENSENET = ("CIFAR-100", "DenseNet-BC")
PRINTED = ("accuracy", "conf-ECE", "NLL")


def unpenalised() -> str:
    """What the penalties of matrix scaling are for."""
    without = after("NLL", "MS, no penalty")[names().index(DENSENET)]
    own = values("NLL")[names().index(DENSENET), METHODS.index("MS")]
    return (
        f"MS has its default penalties of 1e-3: its NLL of DenseNet-BC on CIFAR-100 is {own:.2f} (the paper's, of a "
        f"DenseNet121, {paper.TABLE_4['MS'][2]:.2f}), and {without:.2f} without them."
    )


def paper_densenet_table() -> str:
    """Beside the paper's network of the same family: which way each figure moves."""
    row = names().index(DENSENET)
    body = []
    for m, method in enumerate(METHODS):
        ours = [_text(metric, values(metric)[row, m]) for metric in ("accuracy", "conf-ECE", "NLL")]
        theirs = [
            _text(metric, v) for metric, v in zip(("accuracy", "conf-ECE", "NLL"), paper.TABLE_4[method], strict=True)
        ]
        body.append([method, *(cell for pair in zip(ours, theirs, strict=True) for cell in pair)])
    head = [f"{metric}{who}" for metric in PRINTED for who in (", here", ", paper")]
    return table(["method", *head], body)


def architecture_table(metric: str) -> str:
    """Mean and mean rank of a metric by architecture: the paper's figures 11 to 14."""
    body = []
    for architecture in architectures():
        here = of_architecture(architecture)
        mean, rank = values(metric)[here].mean(axis=0), ranks(metric)[here].mean(axis=0)
        texts = [f"{_text(metric, v)} ({r:.1f})" for v, r in zip(mean, rank, strict=True)]
        best = rank <= rank.min() + 1e-9
        cells = [f"**{text}**" if b else text for text, b in zip(texts, best, strict=True)]
        body.append([architecture, str(here.sum()), *cells])
    return table(["classifier", "data sets", *METHODS], body)


def p_value_table() -> str:
    """Share of forecasts of which conf-ECE cannot be told from that of a calibrated one."""
    body = []
    for data_set in data_sets():
        of = [one for one in measured() if one.data_set == data_set]
        body.append([data_set, str(len(of)), *_shares([one.pvalue[: len(METHODS)] for one in of])])
    body.append(["**all**", str(len(measured())), *_shares([one.pvalue[: len(METHODS)] for one in measured()])])
    return table(["data set", "forecasts", *METHODS], body)


def _shares(pvalues: list[np.ndarray]) -> list[str]:
    share = (np.array(pvalues) > LEVEL).mean(axis=0)
    return [f"**{s:.0%}**" if s >= share.max() - 1e-9 else f"{s:.0%}" for s in share]


def accuracy_table() -> str:
    """What the methods change about the predicted class."""
    change = values("accuracy") - values("accuracy")[:, [METHODS.index("Uncalibrated")]]
    body = [
        [method, f"{(d < 0).sum()}", f"{(d == 0).sum()}", f"{(d > 0).sum()}", f"{d.mean():+.2%}", f"{d.min():+.2%}"]
        for method, d in zip(METHODS[:-1], change.T[:-1], strict=True)
    ]
    return table(["method", "models less accurate", "the same", "more accurate", "mean change", "largest loss"], body)
