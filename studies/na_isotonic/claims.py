"""What the pages say about this paper, as rows: of the methods, of pairs of them, and of standings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import mannwhitneyu, rankdata, spearmanr

from studies.claims import (
    Functions,
    Numbers,
    Paper,
    Verdict,
    all_of,
    claims_of,
    holds,
    mostly,
    not_judged,
    under_all_readings,
)
from studies.na_isotonic import forecasts as fc
from studies.na_isotonic.alternatives import FUNCTIONS as OF_ALTERNATIVES
from studies.na_isotonic.claims_methods import FUNCTIONS as METHODS
from studies.na_isotonic.claims_printed import FUNCTIONS as PRINTED
from studies.na_isotonic.pictures import PAPER_MINUTES, PAPER_SIZE, at_paper_size, by_classes, growth

# What the paper says of one method against others: compared on every model, in every reading of the paper.


LINEAR = ("TS", "VS", "MS")


def measure_pair(metric: str, one: str, other: str) -> Numbers:
    readings = {
        "; ".join((which, *pair)): fc.duel(which, *pair)
        for which in fc.metrics_of(metric, one, other)
        for pair in product(fc.readings_of(one), fc.readings_of(other))
    }
    beside = {"With the library's defaults": fc.duel(metric, one, other)} if {one, other} & {"NA-FIR", "SCIR"} else {}
    if one == "NA-FIR" and other != "SCIR":
        beside["The exact optimum"] = fc.duel(metric, fc.EXACT, other)
    return {"one": one, "models": fc.model_names(), "readings": readings, "beside": beside}


def pair(metric: str, one: str, other: str) -> Functions:
    """The functions of a claim that one method has a lower value of a metric than another."""
    return partial(measure_pair, metric, one, other), fc.judge_pair, fc.words_pair


def against(metric: str, own: str, others: tuple[str, ...]) -> dict[str, fc.Duel]:
    """One reading of a method against every reading of others."""
    return {
        name: _hardest([fc.duel(which, own, name) for which in fc.metrics_of(metric, other)])
        for other in others
        for name in fc.readings_of(other)
    }


def _hardest(duels: list[fc.Duel]) -> fc.Duel:
    """Of several ways to clip the other's zeros, the one in which it loses least often."""
    return min(duels, key=lambda found: found["better"])


def measure_best(metric: str, method: str, others: tuple[str, ...]) -> Numbers:
    return {
        "models": fc.model_names(),
        "readings": {own: against(metric, own, others) for own in fc.readings_of(method)},
    }


def measure_linear() -> Numbers:
    """NA-FIR against linear scaling by both of the metrics that the sentence may mean."""
    readings = {
        f"{metric}, {own}": against(metric, own, LINEAR)
        for metric in ("NLL", "conf-ECE")
        for own in fc.readings_of("NA-FIR")
    }
    sets = [min(found["ahead"] for found in duels.values()) for duels in readings.values()]
    return {"models": fc.model_names(), "readings": readings, "at_most": sets, "data_sets": len(fc.data_sets())}


def words_linear(
    models: Sequence[str], readings: Mapping[str, Mapping[str, fc.Duel]], at_most: Sequence[int], data_sets: int
) -> str:
    of_metric = {
        metric: fc.words_best(
            models, {name: duels for name, duels in readings.items() if name.startswith(f"{metric},")}
        )
        for metric in ("NLL", "conf-ECE")
    }
    said = " ".join(f"{metric}: {words}" for metric, words in of_metric.items())
    return f"{said} Ahead of all three on at most {max(at_most)} of {data_sets} data sets in any reading."


OF_PAIRS: dict[str, Functions] = {
    "NA-FIR improves NLL": pair("NLL", "NA-FIR", "Uncalibrated"),
    "SCIR improves NLL": pair("NLL", "SCIR", "Uncalibrated"),
    "NA-FIR improves conf-ECE": pair("conf-ECE", "NA-FIR", "Uncalibrated"),
    "SCIR improves conf-ECE": pair("conf-ECE", "SCIR", "Uncalibrated"),
    "best in NLL": (
        partial(measure_best, "NLL", "NA-FIR", ("SCIR", "FIR", "IR-OvR", "TS", "VS", "MS", "Uncalibrated")),
        fc.judge_best,
        fc.words_best,
    ),
    "NA-FIR against FIR, NLL": pair("NLL", "NA-FIR", "FIR"),
    "NA-FIR against FIR, conf-ECE": pair("conf-ECE", "NA-FIR", "FIR"),
    "linear scaling": (measure_linear, fc.judge_best, words_linear),
    "SCIR's NLL": pair("NLL", "NA-FIR", "SCIR"),
    "flattening, NLL": pair("NLL", "FIR", "IR-OvR"),
    "flattening, conf-ECE": pair("conf-ECE", "FIR", "IR-OvR"),
    "cumulating, NLL": pair("NLL", "SCIR", "IR-OvR"),
    "cumulating, conf-ECE": pair("conf-ECE", "SCIR", "IR-OvR"),
}


# What the paper says of standings: who is often best, who is always near the top, and what decides it.


TOP, FEW_ROWS, FEWEST_DATA_SETS = 3, 100, 3
COMPARABLE = 1.01
"""A Brier score up to so many times the other's is comparable."""
OVER_CONFIDENT = 0.1
"""Mean confidence less accuracy from which on a forecast is over-confident."""

OTHERS = ("FIR", "IR-OvR", "TS", "VS", *fc.MS, "Uncalibrated")
CHOICES = {f"{fir}; {scir}": (fir, scir, *OTHERS) for fir, scir in product(fc.NA_FIR, fc.SCIR)}
"""The eight methods in every reading of the paper."""


def ranked(metric: str, methods: Sequence[str]) -> np.ndarray:
    """Ranks of some methods on each model, 1 the lowest; equal ones share."""
    return rankdata(np.column_stack([fc.after(metric, method) for method in methods]).round(12), axis=1)


# SCIR has the lowest conf-ECE most often.


def measure_wins() -> Numbers:
    wins = {}
    for name, methods in CHOICES.items():
        rank = ranked("conf-ECE", methods)
        best = rank == rank.min(axis=1, keepdims=True)
        share = (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
        wins[name] = {method.split(",")[0]: float(n) for method, n in zip(methods, share, strict=True)}
    return {"models": fc.model_names(), "wins": wins}


def judge_wins(models: Sequence[str], wins: Mapping[str, Mapping[str, float]]) -> Verdict:
    return under_all_readings(_most_wins(of) for of in wins.values())


def _most_wins(of: Mapping[str, float]) -> Verdict:
    """Whether SCIR has more wins than the next method, clearly."""
    own, other = round(of["SCIR"]), round(max(n for name, n in of.items() if name != "SCIR"))
    return mostly(own, own + other)


def words_wins(models: Sequence[str], wins: Mapping[str, Mapping[str, float]]) -> str:
    own = [round(of["SCIR"]) for of in wins.values()]
    next_best = [round(max(n for name, n in of.items() if name != "SCIR")) for of in wins.values()]
    return (
        f"SCIR is lowest on {fc.span(own)} of {len(models)} models over {len(wins)} readings of the paper, the best other "
        f"method on {fc.span(next_best)}."
    )


# NA-FIR is consistently among the top by conf-ECE.


def measure_top() -> Numbers:
    return {
        "models": fc.model_names(),
        "among_first": {name: int((ranked("conf-ECE", of)[:, 0] <= TOP).sum()) for name, of in CHOICES.items()},
    }


def judge_top(models: Sequence[str], among_first: Mapping[str, int]) -> Verdict:
    return under_all_readings(mostly(count, len(models)) for count in among_first.values())


def words_top(models: Sequence[str], among_first: Mapping[str, int]) -> str:
    counts = list(among_first.values())
    text = f"Among the first {TOP} of eight on {fc.span(counts)} of {len(models)} models"
    return f"{text} over {len(counts)} readings of the paper."


# SCIR's NLL is worse even where its Brier score is comparable.


def measure_comparable() -> Numbers:
    readings = {}
    for fir, scir in product(fc.NA_FIR, fc.SCIR):
        comparable = fc.after("BS", scir) <= COMPARABLE * fc.after("BS", fir)
        worse = comparable & (fc.after("NLL", scir) > fc.after("NLL", fir))
        readings[f"{fir}; {scir}"] = [int(worse.sum()), int(comparable.sum())]
    return {"models": fc.model_names(), "readings": readings}


def judge_comparable(models: Sequence[str], readings: Mapping[str, Sequence[int]]) -> Verdict:
    return under_all_readings(mostly(worse, n) for worse, n in readings.values())


def words_comparable(models: Sequence[str], readings: Mapping[str, Sequence[int]]) -> str:
    worse, n = zip(*readings.values(), strict=True)
    return (
        f"SCIR's Brier score is at most 1% above NA-FIR's on {fc.span(n)} of {len(models)} models, and its NLL is worse on "
        f"{fc.span(worse)} of these (ranges over {len(readings)} readings of the paper)."
    )


# MS and IR-OvR depend on the number of rows a class.


def rows_a_class() -> np.ndarray:
    size = {(one.data_set, one.architecture): one.n_fit / one.n_classes for one in fc.measured()}
    return np.array([size[name] for name in fc.names()])


def measure_rows() -> Numbers:
    few = rows_a_class() < FEW_ROWS
    sets = np.array([name[0] for name in fc.names()])
    parted = {
        f"{method}; {metric}": _parted(
            ranked(metric, (fc.NA_FIR[0], fc.SCIR[2], *OTHERS))[:, 2 + OTHERS.index(method)], few
        )
        for method in (*fc.MS, "IR-OvR")
        for metric in fc.NLLS
    }
    return {"models": fc.model_names(), "data_sets": [len(set(sets[few])), len(set(sets[~few]))], "parted": parted}


def _parted(rank: np.ndarray, first: np.ndarray) -> list[float]:
    """Mean rank on some models and on the others, and the p-value of a rank-sum test."""
    p = float(mannwhitneyu(rank[first], rank[~first]).pvalue)
    return [float(rank[first].mean()), float(rank[~first].mean()), p]


def judge_rows(models: Sequence[str], data_sets: Sequence[int], parted: Mapping[str, Sequence[float]]) -> Verdict:
    """Models of few data sets do not decide: what sets these apart may be something else."""
    if min(data_sets) < FEWEST_DATA_SETS:
        return Verdict.OPEN
    return all_of(Verdict.OPEN if p > fc.LEVEL else holds(few > many) for few, many, p in parted.values())


def words_rows(models: Sequence[str], data_sets: Sequence[int], parted: Mapping[str, Sequence[float]]) -> str:
    said = "; ".join(
        f"{name.split(';')[0]} {few:.1f} with fewer than {FEW_ROWS} rows a class, {many:.1f} with more (p = {p:.2g})"
        for name, (few, many, p) in parted.items()
        if name.endswith("; NLL")
    )
    return f"Mean ranks by NLL: {said}. The few rows are those of {data_sets[0]} data sets, the others those of {data_sets[1]}."


# SCIR gains most where a classifier is over-confident.


def overconfidence() -> np.ndarray:
    """Mean over seeds of each model."""
    return np.array(
        [
            np.mean([m.overconfidence for m in fc.measured() if (m.data_set, m.architecture) == name])
            for name in fc.names()
        ]
    )


def measure_sure() -> Numbers:
    sure = overconfidence()
    readings = {}
    for name, methods in CHOICES.items():
        rank = ranked("conf-ECE", methods)[:, 1]
        within = [
            float(spearmanr(sure[here], rank[here]).statistic)
            for here in (fc.of_data_set(of) for of in fc.data_sets())
            if here.sum() >= FEWEST_DATA_SETS and np.ptp(rank[here]) > 0
        ]
        readings[name] = {"parted": _parted(rank, sure > np.median(sure)), "within": within}
    return {"models": fc.model_names(), "readings": readings}


def judge_sure(models: Sequence[str], readings: Mapping[str, Mapping[str, Sequence[float]]]) -> Verdict:
    return under_all_readings(_surer(**of) for of in readings.values())


def _surer(parted: Sequence[float], within: Sequence[float]) -> Verdict:
    """A clear difference over models counts if most data sets agree within."""
    one, other, p = parted
    agreeing = sum(r < 0 if one < other else r > 0 for r in within)
    if p > fc.LEVEL or 2 * agreeing <= len(within):
        return Verdict.OPEN
    return holds(one < other)


def words_sure(models: Sequence[str], readings: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    one, other, p = (np.array(part) for part in zip(*(of["parted"] for of in readings.values()), strict=True))
    within = [r for of in readings.values() for r in of["within"]]
    n = max(len(of["within"]) for of in readings.values())
    return (
        f"Mean rank of SCIR {one.min():.1f} to {one.max():.1f} on the half of the models that is most over-confident, "
        f"{other.min():.1f} to {other.max():.1f} on the other (rank-sum tests, p = {p.min():.2g} to {p.max():.2g}); rank "
        f"correlations within {n} data sets of seven classifiers {min(within):+.2f} to {max(within):+.2f}."
    )


# Two statements that no other data can contradict: on one network, and on the authors' machine.


def measure_passing() -> Numbers:
    sure = [one for one in fc.measured() if one.overconfidence > OVER_CONFIDENT]
    passed = np.array([one.pvalue for one in sure]) > fc.LEVEL
    at = {method: passed[:, fc.MEASURED.index(method)] for method in fc.MEASURED}
    alone = {
        name: int(np.logical_and.reduce([at[m] for m in methods[:2]] + [~at[m] for m in methods[2:]]).sum())
        for name, methods in CHOICES.items()
    }
    return {
        "forecasts": [f"{one.data_set}, {one.architecture}, {one.seed}" for one in sure],
        "passed": {method: int(count.sum()) for method, count in at.items()},
        "alone": alone,
    }


def words_passing(forecasts: Sequence[str], passed: Mapping[str, int], alone: Mapping[str, int]) -> str:
    def counts(names: Sequence[str]) -> str:
        return fc.span([passed[name] for name in names])

    others = ", ".join(f"{name.split(',')[0]} {passed[name]}" for name in OTHERS)
    return (
        f"Their network is not at hand. Of {len(forecasts)} forecasts here whose mean confidence exceeds the accuracy by more "
        f"than {OVER_CONFIDENT:g}, so many pass at 5%: NA-FIR {counts(fc.NA_FIR)}, SCIR {counts(fc.SCIR)}, {others}; these two "
        f"alone on {fc.span(list(alone.values()))}."
    )


def measure_time() -> Numbers:
    seconds = {method: at_paper_size()[method] for method in PAPER_MINUTES}
    return {"seconds": seconds, "exponent": growth(by_classes()["SCIR, random"])}


def words_time(seconds: Mapping[str, float], exponent: float) -> str:
    said = ", ".join(f"{method} {value:.0f} s" for method, value in seconds.items())
    rows, classes = PAPER_SIZE
    return (
        f"The default here on random predictions of {rows:,} rows and {classes:,} classes: {said} of processor time; that of "
        f"SCIR grows as the number of classes to the power {exponent:.1f}. Another program on another machine: it says "
        "nothing of theirs."
    )


OF_RANKS = {
    "often best in conf-ECE": (measure_wins, judge_wins, words_wins),
    "near the top in conf-ECE": (measure_top, judge_top, words_top),
    "SCIR where the Brier score is comparable": (measure_comparable, judge_comparable, words_comparable),
    "rows a class": (measure_rows, judge_rows, words_rows),
    "over-confident classifiers": (measure_sure, judge_sure, words_sure),
    "who passes the test": (measure_passing, not_judged, words_passing),
    "fit times": (measure_time, not_judged, words_time),
}


CLAIMS = claims_of(
    "na_isotonic",
    METHODS | OF_ALTERNATIVES | OF_PAIRS | OF_RANKS | PRINTED,
    FEWEST_DATA_SETS=FEWEST_DATA_SETS,
    FEW_ROWS=FEW_ROWS,
    TOP=TOP,
)

PAPER = Paper(
    name="na_isotonic", title="Improving multi-class calibration through normalization-aware isotonic techniques",
    authors="Arad and Rosset", venue="ICML 2025", command="make reproduce-na", minutes=5, page="na-isotonic.md",
    claims=CLAIMS,
)  # fmt: skip
