"""What the pages say about this paper, as rows: of the methods, of pairs of them, and of standings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu, rankdata

from studies.claims import (
    Functions,
    Numbers,
    Paper,
    Verdict,
    all_of,
    below_zero,
    claims_of,
    holds,
    mostly,
    not_judged,
    under_all_readings,
)
from studies.na_isotonic import forecasts as fc
from studies.na_isotonic.alternatives import FUNCTIONS as OF_ALTERNATIVES
from studies.na_isotonic.claims_methods import FUNCTIONS as METHODS
from studies.na_isotonic.claims_printed import COMPARABLE
from studies.na_isotonic.claims_printed import FUNCTIONS as PRINTED
from studies.na_isotonic.pictures import PAPER_MINUTES, PAPER_SIZE, at_paper_size, by_classes, growth

# What the paper says of one method against others: compared on every model, in every reading of the paper.


LINEAR = ("TS", "VS", "MS")


ALL = slice(None)


def readings(metric: str, one: str, other: str, here: Any = ALL) -> dict[str, fc.Duel]:
    """The one against the other in every reading of the paper, on some models."""
    return {
        "; ".join((which, *pair)): fc.duel(which, *pair, here)
        for which in fc.metrics_of(metric, one, other)
        for pair in product(fc.readings_of(one), fc.readings_of(other))
    }


def measure_pair(metric: str, one: str, other: str) -> Numbers:
    of, neural = (readings(metric, one, other, here) for here in (ALL, fc.neural()))
    beside = {"With the library's defaults": fc.duel(metric, one, other)} if {one, other} & {"NA-FIR", "SCIR"} else {}
    if one == "NA-FIR" and other != "SCIR":
        beside["The exact optimum"] = fc.duel(metric, fc.EXACT, other)
    return {"one": one, "models": fc.model_names(), "readings": of, "neural": neural, "beside": beside}


def pair(metric: str, one: str, other: str, judge: Callable[[fc.Duel], Verdict] = fc.judged) -> Functions:
    """The functions of a claim that one method has a lower value of a metric than another."""
    judging = {"judge": judge}
    return (
        partial(measure_pair, metric, one, other),
        partial(fc.judge_pair, **judging),
        partial(fc.words_pair, **judging),
    )


def against(metric: str, own: str, others: tuple[str, ...], here: Any = ALL) -> dict[str, fc.Duel]:
    """One reading of a method against every reading of others."""
    return {
        name: _hardest([fc.duel(which, own, name, here) for which in fc.metrics_of(metric, other)])
        for other in others
        for name in fc.readings_of(other)
    }


def _hardest(duels: list[fc.Duel]) -> fc.Duel:
    """Of several ways to clip the other's zeros, the one in which it loses least often."""
    return min(duels, key=lambda found: found["better"])


def measure_best(metrics: Sequence[str], others: tuple[str, ...]) -> Numbers:
    """NA-FIR against others by each of the metrics that the sentence may mean."""
    of, neural = (
        {f"{m}, {own}": against(m, own, others, here) for m in metrics for own in fc.readings_of("NA-FIR")}
        for here in (ALL, fc.neural())
    )
    sets = [min(found["ahead"] for found in duels.values()) for duels in of.values()]
    count = {"at_most": sets, "data_sets": len(fc.data_sets())}
    return {"models": fc.model_names(), "readings": of, "neural": neural, **count}


BEST: tuple[Any, ...] = fc.judge_best, fc.words_best

OF_PAIRS: dict[str, Functions] = {
    "NA-FIR improves NLL": pair("NLL", "NA-FIR", "Uncalibrated", fc.consistently),
    "SCIR improves NLL": pair("NLL", "SCIR", "Uncalibrated", fc.consistently),
    "NA-FIR improves conf-ECE": pair("conf-ECE", "NA-FIR", "Uncalibrated", fc.consistently),
    "SCIR improves conf-ECE": pair("conf-ECE", "SCIR", "Uncalibrated", fc.consistently),
    "best in NLL": (partial(measure_best, ("NLL",), ("SCIR", "FIR", "IR-OvR", *LINEAR, "Uncalibrated")), *BEST),
    "NA-FIR against FIR, NLL": pair("NLL", "NA-FIR", "FIR"),
    "NA-FIR against FIR, conf-ECE": pair("conf-ECE", "NA-FIR", "FIR"),
    "linear scaling": (partial(measure_best, ("NLL", "conf-ECE"), LINEAR), *BEST),
    "SCIR's NLL": pair("NLL", "NA-FIR", "SCIR", fc.consistently),
    "flattening, NLL": pair("NLL", "FIR", "IR-OvR"),
    "flattening, conf-ECE": pair("conf-ECE", "FIR", "IR-OvR"),
    "cumulating, NLL": pair("NLL", "SCIR", "IR-OvR"),
    "cumulating, conf-ECE": pair("conf-ECE", "SCIR", "IR-OvR"),
}


# What the paper says of standings: who is often best, who is always near the top, and what decides it.


TOP, FEW_ROWS, FEWEST_DATA_SETS = 3, 100, 3
OVER_CONFIDENT, SUBSTANTIAL = 0.1, 0.5
"""Mean confidence less accuracy from which on a model is highly over-confident, and the share of another method's conf-ECE that
is left where the gain is substantial."""

CHOICES = {f"{fir}; {scir}": (fir, scir, *fc.PUBLISHED_AS[2:]) for fir, scir in product(fc.NA_FIR, fc.SCIR)}
"""The eight methods in every reading of the paper."""


# SCIR has the lowest conf-ECE most often.


def measure_wins() -> Numbers:
    of, neural = (
        {
            name: dict(zip(fc.METHODS, fc.wins("conf-ECE", methods)[here].sum(axis=0).tolist(), strict=True))
            for name, methods in CHOICES.items()
        }
        for here in (ALL, fc.neural())
    )
    return {"models": fc.model_names(), "wins": of, "neural": neural}


def judge_wins(wins: Mapping[str, Mapping[str, float]], **beside: Any) -> Verdict:
    return under_all_readings(mostly(own, own + other) for own, other in _first_two(wins))


def _first_two(wins: Mapping[str, Mapping[str, float]]) -> list[tuple[int, int]]:
    """Wins of SCIR and of the next method in every reading."""
    return [(round(of["SCIR"]), round(max(n for name, n in of.items() if name != "SCIR"))) for of in wins.values()]


def words_wins(
    models: Sequence[str], wins: Mapping[str, Mapping[str, float]], neural: Mapping[str, Mapping[str, float]]
) -> str:
    (own, other), alone = zip(*_first_two(wins), strict=True), list(zip(*_first_two(neural), strict=True))
    return (
        f"SCIR is lowest on {fc.span(own)} of {len(models)} models over {len(wins)} readings of the paper, the best other "
        f"method on {fc.span(other)}. Of the neural networks alone: on {fc.span(alone[0])} and {fc.span(alone[1])}, "
        f"{judge_wins(neural)!s}."
    )


# NA-FIR is consistently among the top by conf-ECE.


def measure_top() -> Numbers:
    return {
        "models": fc.model_names(),
        "among_first": {name: int((fc.ranks("conf-ECE", of)[:, 0] <= TOP).sum()) for name, of in CHOICES.items()},
        "places": {
            data_set: [
                int(rankdata(fc.ranks("conf-ECE", of)[fc.of_data_set(data_set)].mean(axis=0), "min")[0])
                for of in CHOICES.values()
            ]
            for data_set in fc.data_sets()
        },
    }


def judge_top(places: Mapping[str, Sequence[int]], **beside: Any) -> Verdict:
    """Whether the mean rank is among the first on every data set; in part if on most."""
    return under_all_readings(
        Verdict.IN_PART if max(of) > TOP and 2 * sum(place <= TOP for place in of) > len(of) else holds(max(of) <= TOP)
        for of in zip(*places.values(), strict=True)
    )


def words_top(models: Sequence[str], among_first: Mapping[str, int], places: Mapping[str, Sequence[int]]) -> str:
    worst = ", ".join(f"{name} {fc.span(of)}" for name, of in places.items() if max(of) > TOP)
    counts = [sum(place <= TOP for place in of) for of in zip(*places.values(), strict=True)]
    return (
        f"Its mean rank is among the first {TOP} of eight on {fc.span(counts)} of {len(places)} data sets over "
        f"{len(among_first)} readings of the paper (place elsewhere: {worst or 'none'}); among "
        f"the first {TOP} on {fc.span(list(among_first.values()))} of {len(models)} models."
    )


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


def measure_rows() -> Numbers:
    size = {(one.data_set, one.architecture): one.n_fit / one.n_classes for one in fc.measured()}
    few = np.array([size[name] < FEW_ROWS for name in fc.names()])
    sets = np.array([name[0] for name in fc.names()])
    parted = {
        f"{method}; {metric}": _parted(fc.ranks(metric)[:, fc.METHODS.index(method)], few)
        for method in ("MS", "IR-OvR")
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


# How much SCIR gains where a classifier is highly over-confident.


def measure_sure() -> Numbers:
    """The conf-ECE of SCIR as a share of that of the best and of the median other method, on each over-confident model."""
    sure = np.array([np.mean([one.overconfidence for one in of]) > OVER_CONFIDENT for of in fc.by_model().values()])
    left = {}
    for name, methods in CHOICES.items():
        of = fc.values("conf-ECE", methods)[sure]
        others = np.delete(of[:, :-1], 1, axis=1)
        for word, other in (("median", np.median(others, axis=1)), ("best", others.min(axis=1))):
            left[f"{word}; {name}"] = (of[:, 1] / other).tolist()
    return {"models": [name for name, yes in zip(fc.model_names(), sure, strict=True) if yes], "left": left}


def judge_sure(models: Sequence[str], left: Mapping[str, Sequence[float]]) -> Verdict:
    """Whether less is left on average, and so much less that it is substantial, in every reading."""
    return under_all_readings(
        all_of(below_zero(np.log(of) - np.log(share)) for share in (1.0, SUBSTANTIAL)) for of in left.values()
    )


def words_sure(models: Sequence[str], left: Mapping[str, Sequence[float]]) -> str:
    parts = []
    for word in ("median", "best"):
        of = np.array([shares for name, shares in left.items() if name.startswith(word)])
        mean, half = np.exp(np.log(of).mean(axis=1)), (of <= SUBSTANTIAL).sum(axis=1)
        parts.append(
            f"{mean.min():.0%} to {mean.max():.0%} of that of the {word} other method (on average over models; at most half on "
            f"{fc.span(half.tolist())} of them)"
        )
    return (
        f"On {len(models)} models whose mean confidence exceeds the accuracy by more than {OVER_CONFIDENT:g} SCIR leaves a "
        f"conf-ECE of {', and of '.join(parts)}, over {len(left) // 2} readings of the paper. The models: {'; '.join(models)}."
    )


# A statement on one network, which others can bear out and not contradict, and one on the authors' machine.


def measure_passing() -> Numbers:
    sure = [one for one in fc.measured() if one.overconfidence > OVER_CONFIDENT]
    positive = np.array([one.pvalue for one in sure]) > 1.5 / (fc.RESAMPLES + 1)
    at = {method: positive[:, fc.MEASURED.index(method)] for method in fc.MEASURED}
    alone = {
        name: int(np.logical_and.reduce([at[m] for m in methods[:2]] + [~at[m] for m in methods[2:]]).sum())
        for name, methods in CHOICES.items()
    }
    return {
        "forecasts": [f"{one.data_set}, {one.architecture}, {one.seed}" for one in sure],
        "positive": {method: int(count.sum()) for method, count in at.items()},
        "alone": alone,
    }


def judge_passing(alone: Mapping[str, int], **beside: Any) -> Verdict:
    return Verdict.HOLDS if min(alone.values()) > 0 else Verdict.OPEN


def words_passing(forecasts: Sequence[str], positive: Mapping[str, int], alone: Mapping[str, int]) -> str:
    def counts(names: Sequence[str]) -> str:
        return fc.span([positive[name] for name in names])

    others = ", ".join(f"{name.split(',')[0]} {positive[name]}" for name in fc.PUBLISHED_AS[2:])
    return (
        f"Their network is not at hand. Of {len(forecasts)} forecasts here whose mean confidence exceeds the accuracy by more "
        f"than {OVER_CONFIDENT:g}, so many have a positive p-value, at least one of {fc.RESAMPLES} draws with as high a "
        f"conf-ECE: NA-FIR {counts(fc.NA_FIR)}, SCIR {counts(fc.SCIR)}, {others}; these two alone on "
        f"{fc.span(list(alone.values()))}."
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
    "who passes the test": (measure_passing, judge_passing, words_passing),
    "fit times": (measure_time, not_judged, words_time),
}


CLAIMS = claims_of(
    "na_isotonic",
    METHODS | OF_ALTERNATIVES | OF_PAIRS | OF_RANKS | PRINTED,
    FEWEST_DATA_SETS=FEWEST_DATA_SETS,
    FEW_ROWS=FEW_ROWS,
    TOP=TOP,
    OVER_CONFIDENT=OVER_CONFIDENT,
    SUBSTANTIAL=SUBSTANTIAL,
)

PAPER = Paper(
    name="na_isotonic", title="Improving multi-class calibration through normalization-aware isotonic techniques",
    authors="Arad and Rosset", venue="ICML 2025", command="make reproduce-na", minutes=10, page="na-isotonic.md",
    claims=CLAIMS,
)  # fmt: skip
