"""What the pages say about this paper, as rows."""

from __future__ import annotations

import numpy as np
from scipy.stats import kendalltau

from studies.claims import Claim, Numbers, Paper, Verdict, all_of, holds
from studies.tce.claims_simulation import SIMULATION
from studies.tce.imagenet import NETWORKS, PRINTED, SECONDS, agreeing, of_networks, of_rare_events, seconds_of_tce
from studies.tce.uci import (
    BINNINGS,
    DATA_SETS,
    IMBALANCED,
    LEVEL,
    ROUNDING,
    SEEDS,
    Forecast,
    between,
    drops,
    forecast,
    forecasts,
    fullest,
    least,
    n_models,
    n_rankings,
    n_violated,
    of_averages,
    of_published,
    printed,
    pvalues,
    quality,
    totals,
    values,
    withins,
)
from studies.tce.uci import best_by_rank as best

# What the paper says of ImageNet (4.3) and of its bins (3.3, Algorithm 3).


ROUNDING_OF_RATES = 1e-9
OTHERS = ("ECE", "ACE", "MCE", "MCE(Q)")
ALIKE = 0.5
"""Kendall's tau above which two metrics rank alike here: three quarters of the pairs in the same order."""


def measure_printed_cut() -> Numbers:
    """Bins, largest bin and TCE of the blocks and of the printed cut."""
    drawn = of_rare_events()
    changes = [abs(one[2] - other[2]) for one, other in drawn]
    worst = drawn[int(np.argmax(changes))]
    return {
        "networks": of_networks(),
        "drawn": len(drawn),
        "joined": sum(other[0] < one[0] for one, other in drawn),
        "changed": sum(change > ROUNDING_OF_RATES for change in changes),
        "worst": [worst[0][2], worst[1][2]],
    }


def say_printed_cut(
    networks: list[list[list[float]]], drawn: int, joined: int, changed: int, worst: list[float]
) -> str:
    parts = [
        f"{name}: {b[0]} bins of the blocks, {c[0]} of the printed cut, the largest with {b[1]} and {c[1]} rows, TCE "
        f"{b[2]:.3f} "
        f"and {c[2]:.3f}"
        for name, (b, c) in zip(NETWORKS.values(), networks, strict=True)
    ]
    return (
        "; ".join(parts)
        + f". Of {drawn} drawn problems of rare events the printed cut joins blocks in {joined} and changes TCE "
        f"in {changed}, at most {worst[1]:.1f} for {worst[0]:.1f}. It cuts where the event rate changes, so that it joins "
        "neighbouring blocks of equal rate, beyond the largest size that is allowed. The library cuts between blocks"
    )


PRINTED_CUT = Claim(
    key="algorithm-3-as-printed",
    where="Algorithm 3",
    sentence="Algorithm 3 makes the bins of PAVA-BC, which keep to the smallest and the largest size.",
    target="as many bins as blocks, in all problems",
    says=Verdict.FAILS,
    measure=measure_printed_cut,
    judge=lambda networks, drawn, joined, changed, worst: holds(
        joined == 0 and all(blocks[0] == cut[0] for blocks, cut in networks)
    ),
    words=say_printed_cut,
    over="networks",
)


def measure_table_5() -> Numbers:
    same, cells = agreeing()
    return {"same": same, "cells": cells}


TABLE_5 = Claim(
    key="table-5",
    where="Table 5",
    sentence="The cells of AlexNet, VGG19 and ResNet18.",
    target="all cells, to the printed digits",
    says=Verdict.HOLDS,
    measure=measure_table_5,
    judge=lambda same, cells: holds(same == cells > 0),
    words=lambda same, cells: f"{same} of {cells} cells. The predictions of ResNet50 and ResNet152 are not here",
)


def measure_ranks() -> Numbers:
    cells = np.array([[float(cell) for cell in line] for line in PRINTED[5]])
    return {"taus": {m: float(kendalltau(cells[:, 0], cells[:, j]).statistic) for j, m in enumerate(OTHERS, 1)}}


RANKS = Claim(
    key="networks-ranked-alike",
    where="4.3",
    sentence="TCE largely ranks the five networks as the other metrics do.",
    target=f"Kendall's tau of the printed columns above {ALIKE:g} with most of the other metrics",
    says=Verdict.HOLDS,
    measure=measure_ranks,
    judge=lambda taus: holds(2 * sum(tau > ALIKE for tau in taus.values()) > len(taus)),
    words=lambda taus: "Kendall's tau of TCE with " + ", ".join(f"{m} {tau:+.1f}" for m, tau in taus.items()),
    over="taus",
)

TIME = Claim(
    key="time",
    where="Table 5",
    sentence="TCE of 50,000 predictions takes 71.78 seconds.",
    target="nothing to judge: the machines are not the same",
    says=Verdict.NOT_JUDGED,
    measure=lambda: {"seconds": seconds_of_tce()},
    judge=lambda seconds: Verdict.NOT_JUDGED,
    words=lambda seconds: (
        f"About {seconds:.2f} s of one core here, about {float(format(SECONDS['TCE'] / seconds, '.2g')):,.0f} times less, "
        "for the same values"
    ),
)

BINS = (PRINTED_CUT,)
IMAGENET = (TABLE_5, RANKS, TIME)


# What the paper says of imbalanced data sets (4.2) and of the bins that PAVA-BC makes there (3.3, Table 1).


MILD = 2.0
"""Standard errors up to which a violation of monotonicity is mild here."""

SMALL, BAD = 0.025, 25.0
"""An error that looks small, and a TCE that is five times what true hypotheses have."""

SINGLE_BIN = Claim(
    key="single-bin",
    where="4.2, Fig. 5, 6",
    sentence="On imbalanced data a large majority of the predictions lies in a single bin of ECE.",
    target="more than half of the rows in the fullest bin, on each imbalanced data set here",
    says=Verdict.HOLDS,
    measure=lambda: {"shares": {name: share for name, share in fullest().items() if name in IMBALANCED}},
    judge=lambda shares: holds(min(shares.values()) > 0.5),
    words=lambda shares: "Rows in the fullest bin: " + ", ".join(f"{name} {of:.0%}" for name, of in shares.items()),
    over="shares",
)


def measure_averages() -> Numbers:
    """The gap of the averages as a part of the ECE: of the models here, and of the authors' own predictions for abalone."""
    parts = {name: part for name, part in of_averages().items() if name in IMBALANCED}
    return {"parts": parts | {"abalone": of_published("abalone")}}


AVERAGES = Claim(
    key="comparison-of-averages",
    where="4.2",
    sentence="Where most predictions lie in a single bin, ECE essentially compares the averages of labels and predictions.",
    target="the gap of the averages is nine tenths of the ECE, in the median, on each imbalanced data set here",
    says=Verdict.FAILS,
    measure=measure_averages,
    judge=lambda parts: holds(min(parts.values()) > 0.9),
    words=lambda parts: (
        "The gap of the averages as a part of the ECE, median over models: "
        + ", ".join(f"{name} {part:.0%}" for name, part in parts.items())
        + ". Of abalone these are the authors' own predictions. Where all predictions lie in one bin it is so by definition"
    ),
    over="parts",
)


def measure_sides() -> Numbers:
    of = printed()["abalone"]
    names = {metric: min(of, key=lambda name: of[name][metric]) for metric in ("TCE", "ECE", "ACE")}
    tce, ece, ace = (best(metric) for metric in ("TCE", "ECE", "ACE"))
    differ = tce != ece
    here = [n_rankings(), int(differ.sum()), int((differ & (ace == tce)).sum()), int((differ & (ace == ece)).sum())]
    return {"names": names, "here": here}


SIDES = Claim(
    key="best-model",
    where="4.2, Table 3",
    sentence="On abalone TCE and ACE name the same best model, and ECE another.",
    target="in the printed table",
    says=Verdict.HOLDS,
    measure=measure_sides,
    judge=lambda names, here: holds(names["TCE"] == names["ACE"] != names["ECE"]),
    words=lambda names, here: (
        "The printed table: "
        + ", ".join(f"{name} by {metric}" for metric, name in names.items())
        + f". Here TCE and ECE name different models in {here[1]} of {here[0]} rankings; ACE agrees with TCE in {here[2]} of "
        f"these and with ECE in {here[3]}: it is no rule"
    ),
)


def measure_small_but_bad() -> Numbers:
    of = printed()["webpage"].values()
    small = {metric: max(one[metric] for one in of) for metric in ("ECE", "ACE")}
    bad = min(one["TCE"] for one in of)
    found = (values("ECE") <= small["ECE"]) & (values("ACE") <= small["ACE"]) & (values("TCE") >= bad)
    return {
        "small": small,
        "bad": bad,
        "found": {name: int(here.sum()) for name, here in zip(DATA_SETS, found, strict=True)},
        "both": int((found & (pvalues("ECE") <= LEVEL)).sum()),
        "models": n_models(),
    }


SMALL_BUT_BAD = Claim(
    key="small-but-bad",
    where="4.2, Table 4",
    sentence="On webpage several values of ECE and ACE are small, and TCE shows that no model is well calibrated.",
    target=f"so it is in the printed table, with every TCE above {BAD:g} and every ECE and ACE below {SMALL:g}; and a model "
    "here has such values too",
    says=Verdict.HOLDS,
    measure=measure_small_but_bad,
    judge=lambda small, bad, found, both, models: holds(
        max(small.values()) < SMALL and bad > BAD and sum(found.values()) > 0
    ),
    words=lambda small, bad, found, both, models: (
        f"The printed ECE is at most {small['ECE']:.4f}, the ACE at most {small['ACE']:.4f}, and the TCE at least {bad:.1f}. "
        f"{sum(found.values())} of {models} models here has such values; for {both} of these the ECE too is clearly above that "
        "of calibrated predictions. The data set itself is not here"
    ),
)


def measure_total() -> Numbers:
    of = [sum(quality(one, "PAVA").criterion <= _least_total(one) for one in forecasts(name)) for name in DATA_SETS]
    return {"least": dict(zip(DATA_SETS, of, strict=True)), "models": n_models()}


def _least_total(of: Forecast) -> float:
    return min(quality(of, name).criterion for name in BINNINGS) + ROUNDING


TOTAL = Claim(
    key="pava-total-error",
    where="Table 1, Proposition 1",
    sentence="PAVA makes the total estimation error smallest.",
    target="smallest of the three binnings, on all models",
    says=Verdict.HOLDS,
    measure=measure_total,
    judge=lambda least, models: holds(sum(least.values()) == models),
    words=lambda least, models: f"Smallest on {sum(least.values())} of {models} models of {len(least)} data sets",
    over="least",
)


def errors(word: str) -> list[list[float]]:
    """An error of each binning for the random forest on satimage, one line a split."""
    of = [forecast("satimage", "RF", seed) for seed in SEEDS]
    return [[float(getattr(quality(one, name), word)) for name in BINNINGS] for one in of]


WITHIN = Claim(
    key="quantiles-within-bins",
    where="3.3, Table 1",
    sentence="For the random forest on satimage quantiles make the error within bins smallest, averaged over bins.",
    target="smallest of the three binnings, on each split",
    says=Verdict.HOLDS,
    measure=lambda: {
        "errors": errors("within_bin_error"),
        "elsewhere": least(withins(), "10 quantiles"),
        "models": n_models(),
    },
    judge=lambda errors, elsewhere, models: holds(all(quantiles < min(others) for *others, quantiles in errors)),
    words=lambda errors, elsewhere, models: (
        "PAVA, PAVA-BC, quantiles: "
        + "; ".join(", ".join(f"{value:.3f}" for value in line) for line in errors)
        + f". Over all data sets and algorithms it is so on {elsewhere} of {models} models: it is no rule"
    ),
    over="errors",
)


BALANCE = Claim(
    key="balance",
    where="3.3, Table 1",
    sentence="For the random forest on satimage PAVA-BC lies between PAVA and quantiles, in total error and within bins.",
    target="between the other two in both, on each split",
    says=Verdict.HOLDS,
    measure=lambda: {
        "total": errors("criterion"),
        "within": errors("within_bin_error"),
        "elsewhere": [between(totals()), between(withins())],
        "models": n_models(),
    },
    judge=lambda total, within, elsewhere, models: all_of(
        holds(all(min(one[0], one[2]) <= one[1] <= max(one[0], one[2]) for one in of)) for of in (total, within)
    ),
    words=lambda total, within, elsewhere, models: (
        f"Between them on {len(total)} splits. Over all data sets and algorithms in total error on {elsewhere[0]} of {models} "
        f"models, within bins on {elsewhere[1]}"
    ),
    over="total",
)


def measure_mild() -> Numbers:
    apart = np.concatenate([drops(of, "PAVA-BC") for of in forecasts()])
    return {
        "apart": [float(of) for of in apart],
        "largest": max(quality(of, "PAVA-BC").largest_violation for of in forecasts()),
        "violated": [n_violated("PAVA-BC"), n_violated("10 quantiles")],
        "models": n_models(),
    }


MILDNESS = Claim(
    key="mild-violations",
    where="3.3, Fig. 4",
    sentence="The size constraints can violate monotonicity, mildly.",
    target=f"some models have a violation, and none is beyond {MILD:g} standard errors",
    says=Verdict.HOLDS,
    measure=measure_mild,
    judge=lambda apart, largest, violated, models: holds(bool(apart) and max(apart) <= MILD),
    words=lambda apart, largest, violated, models: (
        f"On {violated[0]} of {models} models, {len(apart)} violations, the largest {largest:.3f}, at most "
        f"{max(apart, default=0.0):.1f} standard errors; with quantiles on {violated[1]} models"
    ),
    over="apart",
)

UCI = (TOTAL, WITHIN, BALANCE, MILDNESS, SINGLE_BIN, AVERAGES, SIDES, SMALL_BUT_BAD)


TCE = "`bin_test_calibration_error`"
ABSENT = "satimage (6430 of its 6435 rows) and spambase are here, and "


CLAIMS: tuple[Claim, ...] = (*BINS, *SIMULATION, *UCI, *IMAGENET)

PAPER = Paper(
    name="tce",
    title="TCE: a test-based approach to measuring calibration error",
    authors="Matsubara, Tax, Mudd and Guy",
    venue="UAI 2023",
    command="make reproduce-tce",
    minutes=8,
    page="tce.md",
    claims=CLAIMS,
)
