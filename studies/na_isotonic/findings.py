"""What the paper says of NA-FIR and SCIR, held against what was computed here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import mannwhitneyu

from studies.markdown import table
from studies.na_isotonic.measured import LEVEL, METHODS, measured
from studies.na_isotonic.ranks import (
    Versus,
    clearly_behind,
    data_sets,
    mean_rank,
    names,
    of_data_set,
    ranks,
    values,
    versus,
)
from studies.na_isotonic.reliability import panel_p_values, shown
from studies.na_isotonic.times import PAPER_MINUTES, about, at_paper_size, by_classes, growth

PRESERVING = ("NA-FIR", "FIR", "TS")
LINEAR = ("TS", "VS", "MS")
TOP = 3
FEW_ROWS = 100
"""Rows a class to calibrate on that are few."""

Row = tuple[str, Callable[[], tuple[str, str]]]


def findings() -> str:
    """The paper's claims, what came out, and a verdict of each."""
    rows: list[Row] = [
        ("NA-FIR is the best in NLL.", lambda: best("NLL", "NA-FIR")),
        ("SCIR is the best in conf-ECE.", lambda: best("conf-ECE", "SCIR")),
        ("NA-FIR has a lower NLL than FIR.", lambda: pair("NLL", "NA-FIR", "FIR")),
        ("NA-FIR has a lower conf-ECE than FIR.", lambda: pair("conf-ECE", "NA-FIR", "FIR")),
        ("NA-FIR outperforms linear scaling on most data sets (NLL).", _linear),
        ("SCIR has a worse NLL than NA-FIR ...", lambda: pair("NLL", "NA-FIR", "SCIR")),
        ("... even where its Brier score is comparable.", _brier_of_scir),
        ("By conf-ECE NA-FIR is consistently among the top.", _stable),
        ("Flattening beats one against the rest (FIR, IR-OvR; NLL).", lambda: pair("NLL", "FIR", "IR-OvR")),
        ("Cumulating beats one against the rest (SCIR, IR-OvR; NLL).", lambda: pair("NLL", "SCIR", "IR-OvR")),
        ("Cumulating beats one against the rest (SCIR, IR-OvR; conf-ECE).", lambda: pair("conf-ECE", "SCIR", "IR-OvR")),
        ("MS and IR-OvR need many rows a class (NLL).", _rows_a_class),
        ("Methods that keep the order keep the accuracy.", _accuracy),
        ("SCIR is of most use where a forecast is most over-confident (conf-ECE).", _overconfident),
        ("On an over-confident network NA-FIR and SCIR alone pass the test of calibration (its figure 1).", _figure_1),
        ("SCIR needs 120 minutes for 12,500 rows of 1000 classes, its cost being sensitive to classes.", _time),
    ]
    return table(["the paper says", "computed here", "verdict"], [[claim, *found()] for claim, found in rows])


def best(metric: str, method: str) -> tuple[str, str]:
    """Whether a method has the lowest mean rank, and is clearly ahead."""
    of = mean_rank(metric)
    first = next(iter(of))
    text = "Mean ranks: " + ", ".join(f"{name} {rank:.1f}" for name, rank in of.items())
    behind = clearly_behind(metric, method)
    if first != method:
        clear = method in clearly_behind(metric, first)
        text += (
            f". {method} is number {list(of).index(method) + 1}, {'clearly' if clear else 'not clearly'} behind {first}"
        )
        return text, "**refuted**" if clear else "**not here**"
    text += f". {method} is first, clearly ahead of {', '.join(behind) or 'none'}"
    return text, "**confirmed**" if len(behind) == len(METHODS) - 1 else "**first, but not clearly**"


def pair(metric: str, one: str, other: str) -> tuple[str, str]:
    """Whether the one is better than the other on most models."""
    found = versus(metric, one, other)
    return f"{one} {found}; median difference {_median(metric, one, other)}", found.verdict


def _median(metric: str, one: str, other: str) -> str:
    difference = values(metric)[:, METHODS.index(one)] - values(metric)[:, METHODS.index(other)]
    return f"{np.median(difference):+.4f}"


def rank_in(metric: str, method: str, models: np.ndarray) -> float:
    """Mean rank of a method over some models."""
    return float(ranks(metric)[models, METHODS.index(method)].mean())


def against_linear() -> dict[str, Versus]:
    return {other: versus("NLL", "NA-FIR", other) for other in LINEAR}


def ahead_of_linear() -> list[str]:
    """The data sets where NA-FIR has a lower mean rank in NLL than each kind of linear scaling."""
    return [
        name
        for name in data_sets()
        if all(
            rank_in("NLL", "NA-FIR", of_data_set(name)) < rank_in("NLL", other, of_data_set(name)) for other in LINEAR
        )
    ]


def _linear() -> tuple[str, str]:
    ahead = ahead_of_linear()
    text = f"Ahead of all three on {len(ahead)} of {len(data_sets())} data sets ({', '.join(ahead) or 'none'}). "
    text += "; ".join(f"against {other} {found}" for other, found in against_linear().items())
    if all(found.verdict == "**confirmed**" for found in against_linear().values()):
        return text, "**confirmed**"
    return text, "**looks so** (not tested)" if 2 * len(ahead) > len(data_sets()) else "**not here**"


def _brier_of_scir() -> tuple[str, str]:
    found = versus("BS", "NA-FIR", "SCIR")
    places = {metric: list(mean_rank(metric)).index("SCIR") + 1 for metric in ("NLL", "BS")}
    text = f"By BS NA-FIR {found}. By mean rank SCIR is number {places['NLL']} in NLL, number {places['BS']} in BS"
    return text, "**not here**" if found.verdict == "**confirmed**" else "**looks so** (no difference seen)"


def _stable() -> tuple[str, str]:
    top = dict(zip(METHODS, (ranks("conf-ECE") <= TOP).mean(axis=0), strict=True))
    most = max(top, key=lambda name: top[name])
    shares = ", ".join(f"{name} {top[name]:.0%}" for name in sorted(top, key=lambda name: -top[name]))
    share = top["NA-FIR"]
    verdict = "**looks so**" if share > 0.75 else "**in part**" if share > 0.5 or most == "NA-FIR" else "**not here**"
    return f"Among the first {TOP} of {len(METHODS)}: {shares}", verdict


def rows_a_class() -> np.ndarray:
    """Rows to calibrate on a class, of each model."""
    size = {(one.data_set, one.architecture): one.n_fit / one.n_classes for one in measured()}
    return np.array([size[name] for name in names()])


def _rows_a_class() -> tuple[str, str]:
    few = rows_a_class() < FEW_ROWS
    of = {name: parted_by("NLL", name, few) for name in ("MS", "IR-OvR")}
    text = "; ".join(
        f"{name} {one:.1f} with fewer than {FEW_ROWS}, {more:.1f} with more (p = {p:.2g})"
        for name, (one, more, p) in of.items()
    )
    clear = [one > more and p <= LEVEL for one, more, p in of.values()]
    verdict = "**confirmed**" if all(clear) else "**in part**" if any(clear) else "**not clear**"
    return f"Mean ranks: {text}; rank-sum tests of {int(few.sum())} models against {int((~few).sum())}", verdict


def parted_by(metric: str, method: str, models: np.ndarray) -> tuple[float, float, float]:
    """Mean rank of a method over some models and over the others, and the p-value that both are alike (rank-sum test)."""
    own = ranks(metric)[:, METHODS.index(method)]
    p = float(mannwhitneyu(own[models], own[~models]).pvalue)
    return rank_in(metric, method, models), rank_in(metric, method, ~models), p


def changes(method: str) -> np.ndarray:
    """What a method adds to the accuracy of each model."""
    of = values("accuracy")
    return of[:, METHODS.index(method)] - of[:, METHODS.index("Uncalibrated")]


def _accuracy() -> tuple[str, str]:
    size = {name: float(np.abs(changes(name)).mean()) for name in METHODS[:-1]}
    text = "Mean absolute change: " + ", ".join(f"{name} {of:.2%}" for name, of in size.items())
    kept = max(size[name] for name in PRESERVING)
    moved = min(size[name] for name in size if name not in PRESERVING)
    if kept == 0:
        return text, "**confirmed**"
    exactly = ", ".join(name for name in PRESERVING if size[name] == 0)
    return f"{text}. Exactly: {exactly or 'none'}", "**in part**, up to ties" if kept < moved else "**not here**"


def _overconfident() -> tuple[str, str]:
    sure = np.array(
        [np.mean([m.overconfidence for m in measured() if (m.data_set, m.architecture) == name]) for name in names()]
    )
    most = sure > np.median(sure)
    one, other, p = parted_by("conf-ECE", "SCIR", most)
    text = (
        f"Mean rank of SCIR {one:.1f} on the half of the models that is most over-confident, {other:.1f} on the other"
    )
    verdict = "**not clear**" if p > LEVEL else "**confirmed**" if one < other else "**refuted**"
    return f"{text} (rank-sum test, p = {p:.2g})", verdict


def _figure_1() -> tuple[str, str]:
    passed = [name for name, p in panel_p_values().items() if p > LEVEL]
    text = f"{shown().architecture} on {shown().data_set}: p "
    text += ", ".join(f"{name} {p:.3f}" for name, p in panel_p_values().items())
    verdict = "**confirmed**" if set(passed) == {"NA-FIR", "SCIR"} else "**not here**"
    return text, verdict


def _time() -> tuple[str, str]:
    seconds = at_paper_size()["SCIR"]
    slope = growth(by_classes()["SCIR, random"])
    text = f"{seconds:.0f} CPU s on a random forecast of this size; grows as the classes to the power {slope:.1f}"
    return text, f"**not here** ({about(60 * PAPER_MINUTES['SCIR'] / seconds)} times faster)"
