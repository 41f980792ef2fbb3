"""Run the study of normalisation-aware isotonic calibration and write docs/na-isotonic.md: python -m studies.na_isotonic

The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from calibrant.exceptions import CalibrationWarning
from studies.claims import Claim, Row, Verdict, bold, claims_table, coverage_table, filled, reproduce, table
from studies.na_isotonic import alternatives, claims_methods, networks, pictures
from studies.na_isotonic import forecasts as fc
from studies.na_isotonic.claims import CHOICES, CLAIMS, PAPER
from studies.na_isotonic.claims_printed import SURE, models, printed_mean, values
from studies.na_isotonic.pictures import BY_CLASSIFIER, file_of, shown
from studies.na_isotonic.pictures import RESAMPLES as PANEL_RESAMPLES
from studies.na_isotonic.pictures import draw_all as draw

# What the study of normalisation-aware isotonic calibration shows, in a few sentences.


def summary(claims: Iterable[Claim]) -> str:
    """The sentences of the paper by verdict, and the first of the ranks."""
    by_verdict: dict[Verdict, list[str]] = {}
    for claim in claims:
        printed = " (as printed)" if "as printed" in claim.where else ""
        by_verdict.setdefault(claim.says, []).append(claim.sentence.removesuffix(".") + printed + ".")
    lines = [
        f"* **{verdict!s}** ({len(by_verdict[verdict])}): {' '.join(by_verdict[verdict])}"
        for verdict in Verdict
        if verdict in by_verdict
    ]
    return "\n".join([*lines, *(_standing(metric) for metric in ("NLL", "conf-ECE"))])


def _standing(metric: str) -> str:
    """The first methods by mean rank, and which others are clearly behind."""
    of = fc.mean_rank(metric)
    first, *others = of
    behind = [name for name in others if of[name] - of[first] > fc.critical_difference()]
    ranks = ", ".join(f"{name} {of[name]:.1f}" for name in list(of)[:3])
    return (
        f"* The first of eight by mean rank in {metric} are {ranks}; clearly behind {first} are "
        f"{', '.join(behind) or 'none'}."
    )


# The tables of docs/na-isotonic.md that come from the ranks and values of the methods.


ORDER = ["accuracy", *fc.RANKED]
PERCENT = ("accuracy", "conf-ECE", "cw-ECE", "TECE")
SHOWN = (
    ("CIFAR-100", "DenseNet-BC"),
    ("CIFAR-100", "LeNet-5"),
    ("CIFAR-10", "ResNet-50"),
    ("CIFAR-10", "LeNet-5"),
    ("satimage", "MLP"),
    ("satimage", "tree"),
    ("letter", "deep MLP"),
    ("optdigits", "CNN"),
)
"""Models with tables of their own."""


def forecast_table() -> str:
    """What was predicted, and by how much it is too sure."""
    body = []
    for data_set in fc.data_sets():
        of = [one for one in fc.measured() if one.data_set == data_set]
        seeds = list(Counter(one.architecture for one in of).values())
        fit, test, n_seeds = (_span(sizes) for sizes in ([one.n_fit for one in of], [one.n_test for one in of], seeds))
        sure = [one.overconfidence for one in of]
        span = f"{min(sure):+.3f} to {max(sure):+.3f}" if len(of) > 1 else f"{sure[0]:+.3f}"
        body.append([data_set, str(of[0].n_classes), str(len(seeds)), n_seeds, fit, test, span])
    head = [
        "data set", "classes", "models", "seeds", "rows to calibrate on", "rows to test", "mean confidence - accuracy",
    ]  # fmt: skip
    return table(head, body)


def _span(sizes: list[int]) -> str:
    return " to ".join(f"{size:,}" for size in sorted({min(sizes), max(sizes)}))


def rank_table(metric: str) -> str:
    """Average ranks and shares of wins by data set: the paper's Table 2."""
    every = np.ones(len(fc.names()), dtype=bool)
    groups = {name: fc.of_data_set(name) for name in fc.data_sets()}
    groups |= {"**neural networks**": fc.neural(), "**all**": every}
    body = [
        [name, str(here.sum()), *_cells(fc.ranks(metric)[here], fc.wins(metric)[here])] for name, here in groups.items()
    ]
    of = np.array([fc.ranks(metric, methods).mean(axis=0) for methods in CHOICES.values()])
    n, defaults = str(every.sum()), tuple(fc.METHODS)
    spans = (f"{a:.1f} to {b:.1f}" for a, b in zip(of.min(0), of.max(0), strict=True))
    body.append(["all, over the readings", n, *spans])
    body.append(["all, the library's defaults", n, *_cells(fc.ranks(metric, defaults), fc.wins(metric, defaults))])
    printed = ([printed_mean(figure, metric)[name] for name in fc.METHODS] for figure in ("rank", "wins"))
    body.append(["the paper, all", f"{sum(models().values()):g}", *_best(*printed)])
    return table(["data set", "models", *fc.METHODS], body)


def _cells(rank: np.ndarray, win: np.ndarray) -> list[str]:
    return _best(list(rank.mean(axis=0)), list(100.0 * win.mean(axis=0)))


def _best(rank: list[float], percent: list[float]) -> list[str]:
    """Cells of a row, with the lowest rank bold."""
    texts = (f"{r:.1f} ({p:.0f}%)" for r, p in zip(rank, percent, strict=True))
    return bold(texts, np.array(rank) <= min(rank) + 1e-9)


def rank_tables() -> list[str]:
    """The tables of all metrics, each with what can be told from it."""
    parts = []
    for metric in fc.RANKED:
        alike = fc.friedman(metric)
        parts += [f"### {metric}", rank_table(metric)]
        parts.append(
            f"Friedman's test that all methods are alike: p = {alike:.1g}. Over all, mean ranks {fc.critical_difference():.2f} "
            "apart differ clearly."
            if alike <= fc.LEVEL
            else f"Friedman's test cannot tell the methods apart: p = {alike:.2g}."
        )
    return parts


def model_tables() -> list[str]:
    """All metrics of single models, the best of each column bold: the paper's Tables 4 and 5."""
    parts = []
    for name in SHOWN:
        row, columns = fc.names().index(name), [fc.METHODS]
        for metric in ORDER:
            best = fc.ranks(metric)[row] == fc.ranks(metric)[row].min()
            columns.append(bold((_text(metric, value) for value in fc.values(metric)[row]), best))
        parts += [
            f"**{name[1]}, {name[0]}**",
            table(["method", *ORDER], [list(line) for line in zip(*columns, strict=True)]),
        ]
    return parts


def _text(metric: str, value: float) -> str:
    if metric in PERCENT:
        return f"{value:.2%}"
    return f"{value:.4f}" if metric == "NLL" else f"{value:.5f}"


DENSENET = ("CIFAR-100", "DenseNet-BC")
PRINTED = ("accuracy", "conf-ECE", "NLL")


def penalised() -> str:
    """What the penalties of matrix scaling are for."""
    row = fc.names().index(DENSENET)
    without, own = (fc.after("NLL", name)[row] for name in (*fc.MS, "MS"))
    return (
        f"MS has no penalty, as the paper writes it: its NLL of DenseNet-BC on CIFAR-100 is {without:.2f} (the paper's, of a "
        f"DenseNet121, {values('NLL')[SURE[0]]['MS']:.2f}), and {own:.2f} with the library's default penalties of 1e-3."
    )


def paper_densenet_table() -> str:
    """Beside the paper's network of the same family: which way each figure moves."""
    row, body = fc.names().index(DENSENET), []
    for m, method in enumerate(fc.METHODS):
        body.append([method])
        for metric in PRINTED:
            theirs = values(metric)[SURE[0]][method] / (100 if metric in PERCENT else 1)
            body[-1] += [_text(metric, value) for value in (fc.values(metric)[row, m], theirs)]
    head = [f"{metric}{who}" for metric in PRINTED for who in (", here", ", paper")]
    return table(["method", *head], body)


def architecture_table(metric: str) -> str:
    """Mean and mean rank of a metric by architecture: the paper's figures 11 to 14."""
    body = []
    for architecture in fc.architectures():
        here = fc.of_architecture(architecture)
        mean, rank = fc.values(metric)[here].mean(axis=0), fc.ranks(metric)[here].mean(axis=0)
        texts = (f"{_text(metric, v)} ({r:.1f})" for v, r in zip(mean, rank, strict=True))
        body.append([architecture, str(here.sum()), *bold(texts, rank <= rank.min() + 1e-9)])
    return table(["classifier", "data sets", *fc.METHODS], body)


def p_value_table() -> str:
    """Share of forecasts of which conf-ECE cannot be told from that of a calibrated one."""
    columns = [fc.MEASURED.index(method) for method in fc.PUBLISHED_AS]
    groups = {name: [one for one in fc.measured() if one.data_set == name] for name in fc.data_sets()}
    body = [
        [name, str(len(of)), *_shares([one.pvalue[columns] for one in of])]
        for name, of in (groups | {"**all**": fc.measured()}).items()
    ]
    return table(["data set", "forecasts", *fc.METHODS], body)


def _shares(pvalues: list[np.ndarray]) -> list[str]:
    share = (np.array(pvalues) > fc.LEVEL).mean(axis=0)
    return bold((f"{s:.0%}" for s in share), share >= share.max() - 1e-9)


def accuracy_table() -> str:
    """What the methods change about the predicted class."""
    change = fc.values("accuracy") - fc.values("accuracy")[:, [fc.METHODS.index("Uncalibrated")]]
    body = [
        [method, f"{(d < 0).sum()}", f"{(d == 0).sum()}", f"{(d > 0).sum()}", f"{d.mean():+.2%}", f"{d.min():+.2%}"]
        for method, d in zip(fc.METHODS[:-1], change.T[:-1], strict=True)
    ]
    return table(["method", "models less accurate", "the same", "more accurate", "mean change", "largest loss"], body)


FILES = (*(f"{name}.npz" for name in fc.PUBLISHED), "covertype_small.csv.gz", "satimage.arff.gz", "spambase.csv")


def page(rows: list[Row]) -> str:
    """The whole page."""
    said = {method: sum(one.warned[method] for one in fc.measured()) for method in fc.PUBLISHED_AS}
    warned = ", ".join(f"{method} on {count}" for method, count in said.items() if count) or "none"
    return filled(
        Path(__file__).with_name("page.md"), title=PAPER.title, authors=PAPER.authors, venue=PAPER.venue,
        command=PAPER.command, minutes=PAPER.minutes, summary=summary(CLAIMS), coverage=coverage_table(PAPER.coverage),
        n_models=len(fc.names()), n_neural=int(fc.neural().sum()), shown_as="; ".join(fc.SHOWN_AS.values()),
        claims=claims_table(CLAIMS, rows), forecast_table=forecast_table(), seeds=fc.SEEDS,
        most_trained=fc.MOST_TRAINED, penalised=penalised(), critical_difference=fc.critical_difference(),
        n_forecasts=len(fc.measured()), warned=warned, rank_tables="\n\n".join(rank_tables()),
        value_pictures="\n\n".join(
            f"![{metric} by data set and method](images/na/{file_of('values', metric)})" for metric in fc.RANKED
        ),
        win_pictures="\n\n".join(
            f"![{metric}: who beats whom](images/na/{file_of('wins', metric)})" for metric in fc.METRICS
        ),
        accuracy_table=accuracy_table(), model_tables="\n\n".join(model_tables()),
        paper_densenet_table=paper_densenet_table(), architecture=shown().architecture, data_set=shown().data_set,
        panel_resamples=PANEL_RESAMPLES, resamples=fc.RESAMPLES, level=fc.LEVEL, p_value_table=p_value_table(),
        by_classifier="\n\n".join(by_classifier_parts()),
        annealing_table=claims_methods.annealing_table(), finding=claims_methods.finding(),
        most_iterations=alternatives.MOST_ITERATIONS,
        alternatives_table=alternatives.alternatives_table(), network_seeds=networks.SEEDS,
        network_sure=networks.over_confidence(), ten_ranks=networks.rank_table(),
        growth_table=pictures.growth_table(), paper_table=pictures.paper_table(),
    )  # fmt: skip


def by_classifier_parts() -> list[str]:
    """A table and a picture a metric."""
    parts = []
    for metric in BY_CLASSIFIER:
        parts += [f"### {metric}, by classifier", architecture_table(metric)]
        parts.append(f"![{metric} by classifier and method](images/na/{file_of('classifiers', metric)})")
    return parts


def main() -> None:
    """Judge the claims, draw the pictures and write the page."""
    warnings.filterwarnings("ignore", "log loss is finite only", CalibrationWarning)  # FIR and IR-OvR predict zeros
    with threadpool_limits(1):
        reproduce(PAPER, page, draw, files=FILES, check=claims_methods.check_facts)


if __name__ == "__main__":
    main()
