"""Tables of the study that trains models: what each calibration error is, over splits and beside the paper's figures."""

from __future__ import annotations

import numpy as np

from studies.markdown import table
from studies.tce.uci import paper as tce_uci_paper
from studies.tce.uci.data import DATA_SETS, data_set
from studies.tce.uci.measured import METRICS, PROPER, floors, of_data, pvalues
from studies.tce.uci.models import ALGORITHMS, SEEDS, forecast

DIGITS = {"TCE": 1, "TCE(Q)": 1, "MCE": 2, "MCE(Q)": 2}
"""Decimals; three for the others."""

LEVEL = 0.05


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
    metrics = tce_uci_paper.METRICS
    head = ["data set", "model", metrics[0], "if calibrated", *metrics[1:]]
    body = []
    for at, data in enumerate(DATA_SETS):
        for own, algorithm in enumerate(ALGORITHMS):
            figures = [spread(of_data(metric, data)[own], metric) for metric in metrics]
            clear = int((pvalues("TCE")[at, own] <= LEVEL).sum())
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
    metrics, body = tce_uci_paper.METRICS, []
    for data in ("spambase", "satimage"):
        for own, algorithm in enumerate(ALGORITHMS):
            said = tce_uci_paper.printed()[data][algorithm]
            figures = []
            for metric in metrics:
                digits = 2 if metric.startswith("TCE") else 4
                figures.append(f"{of_data(metric, data)[own, 0]:.{digits}f} ({said[metric]:.{digits}f})")
            body.append([data, algorithm, *figures])
    return table(["data set", "model", *metrics], body)


def nearness(data: str) -> str:
    """How far the first split lies from the paper's figures."""
    said = tce_uci_paper.printed()[data]

    def off(metric: str) -> float:
        printed = np.array([said[algorithm][metric] for algorithm in ALGORITHMS])
        return float(np.abs(of_data(metric, data)[:, 0] - printed).max())

    return f"TCE at most {off('TCE'):.1f} off, TCE(Q) {off('TCE(Q)'):.1f}, ECE {off('ECE'):.4f}, ACE {off('ACE'):.4f}"


def farthest(data: str) -> str:
    """The model whose TCE differs most from the paper's, and what its ECE does."""
    said = tce_uci_paper.printed()[data]
    found = {metric: dict(zip(ALGORITHMS, of_data(metric, data)[:, 0], strict=True)) for metric in ("TCE", "ECE")}
    name = max(ALGORITHMS, key=lambda algorithm: abs(found["TCE"][algorithm] - said[algorithm]["TCE"]))
    return (
        f"Farthest off is {name}, with a TCE of {found['TCE'][name]:.1f} for {said[name]['TCE']:.1f} where the ECE is "
        f"{found['ECE'][name]:.4f} for {said[name]['ECE']:.4f}: a few rows can decide whether a bin rejects all its predictions"
    )
