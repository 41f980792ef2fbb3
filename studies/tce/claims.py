"""What the pages say about this paper, as rows."""

from __future__ import annotations

import numpy as np
from scipy.special import entr
from scipy.stats import kendalltau

from calibrant import EqualWidth, bin_test_calibration_error, calibration_error
from calibrant.binning import Bins, BoundedIsotonic, Isotonic
from calibrant.curves import binning_criterion
from calibrant.notions import BinaryProblem
from studies.claims import Claim, Numbers, Paper, Verdict, all_of, holds
from studies.tce.claims_simulation import SIMULATION
from studies.tce.imagenet import (
    N_ROWS,
    NETWORKS,
    PRINTED,
    SECONDS,
    compared_cells,
    dogs,
    error,
    of_networks,
    of_rare_events,
    seconds_of_tce,
)
from studies.tce.imagenet import printed as printed_of_network
from studies.tce.published import bounded, cells, introsort, of_orders, rows, tested
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


LARGEST_SHARE = 5
"""N_max is a fifth of the rows."""


def measure_printed_cut() -> Numbers:
    """Bins, largest bin and TCE of the blocks and of the printed cut."""
    drawn = of_rare_events()
    changes = [abs(one[2] - other[2]) for one, other in drawn]
    worst = drawn[int(np.argmax(changes))]
    return {
        "networks": of_networks(),
        "largest": dogs()["y"].size // LARGEST_SHARE,
        "drawn": len(drawn),
        "above": sum(other[1] > N_ROWS // LARGEST_SHARE for _, other in drawn),
        "changed": sum(change > ROUNDING_OF_RATES for change in changes),
        "worst": [worst[0][2], worst[1][2]],
    }


def say_printed_cut(
    networks: list[list[list[float]]], largest: int, drawn: int, above: int, changed: int, worst: list[float]
) -> str:
    parts = [
        f"{name}: {b[0]} bins of the blocks, {c[0]} of the printed cut, the largest with {b[1]} and {c[1]} rows, TCE "
        f"{b[2]:.3f} and {c[2]:.3f}"
        for name, (b, c) in zip(NETWORKS.values(), networks, strict=True)
    ]
    return (
        f"N_max is {largest}. {'; '.join(parts)}. Of {drawn} drawn problems of rare events the printed cut has a bin above "
        f"N_max in {above} and changes TCE in {changed}, at most {worst[1]:.1f} for {worst[0]:.1f}. It cuts where the event "
        "rate changes, so that it joins neighbouring blocks of equal rate. The library cuts between blocks, as the published "
        "code does"
    )


PRINTED_CUT = Claim(
    key="algorithm-3-as-printed",
    where="Algorithm 3",
    sentence="Algorithm 3 makes the bins of PAVA-BC, which keep to the largest size.",
    target="no bin above N_max, in all problems",
    says=Verdict.FAILS,
    measure=measure_printed_cut,
    judge=lambda networks, largest, drawn, above, changed, worst: holds(
        above == 0 and all(of[1] <= largest for _, of in networks)
    ),
    words=say_printed_cut,
    over="networks",
)


def measure_definition() -> Numbers:
    """Criterion of bins and the sum of Definition 3, by D, of each network; and the sum over bins of one row each."""
    y, names = dogs()["y"], [*NETWORKS]
    errors = {"variance": variance, "entropy": entropy}
    return {
        "criterion": [binning_criterion(y, dogs()[name], binning=Isotonic()) for name in names],
        "sums": {
            word: {
                cut: [calibration_error(y, dogs()[name], binning=binning, loss=error) for name in names]
                for cut, binning in CUTS.items()
            }
            for word, error in errors.items()
        },
    }


def variance(problem: BinaryProblem, bins: Bins) -> np.ndarray:
    """D of eq. 9."""
    return bins.event_rate * (1.0 - bins.event_rate)


def entropy(problem: BinaryProblem, bins: Bins) -> np.ndarray:
    """Log loss of the event rate of each bin."""
    return entr(bins.event_rate) + entr(1.0 - bins.event_rate)


CUTS = {"PAVA": Isotonic(), "PAVA-BC": BoundedIsotonic(), "one bin": EqualWidth(1)}
"""Bins whose event rates do not fall, or hardly."""

DEFINITION = Claim(
    key="definition-3",
    where="Definition 3, eq. 8 and 9",
    sentence="Bins are judged by the sum of W_b D over bins, for any error function D; PAVA minimises it where D is the "
    "variance.",
    target="`calibration_error` with a loss D is the criterion where D is the variance, and PAVA has the least sum of these "
    "bins, by the variance and by the entropy",
    tolerance="1e-12",
    says=Verdict.HOLDS,
    measure=measure_definition,
    judge=lambda criterion, sums: holds(
        max(abs(a - b) for a, b in zip(criterion, sums["variance"]["PAVA"], strict=True)) <= 1e-12
        and all(min(of, key=lambda cut: of[cut][i]) == "PAVA" for of in sums.values() for i in range(len(criterion)))
    ),
    words=lambda criterion, sums: "; ".join(
        f"{word} of AlexNet: " + ", ".join(f"{cut} {values[0]:.5f}" for cut, values in of.items())
        for word, of in sums.items()
    ),
    over="criterion",
)

MISPRINT = ("resnet152", "MCE(Q)")

TABLE_5 = Claim(
    key="table-5",
    where="Table 5",
    sentence="The cells of the five networks. (One of them has a row of its own.)",
    target="all cells but that one, to the printed digits",
    says=Verdict.HOLDS,
    measure=lambda: {"cells": [cell for cell in compared_cells() if tuple(cell[:2]) != MISPRINT]},
    judge=lambda cells: holds(bool(cells) and all(printed == own for *_, printed, own in cells)),
    words=lambda cells: f"{sum(printed == own for *_, printed, own in cells)} of {len(cells)} cells",
)

TABLE_5_MISPRINT = Claim(
    key="table-5-misprint",
    where="Table 5",
    sentence="The MCE(Q) of ResNet152 is 0.0102.",
    target="the authors' own predictions give it, as they give the other cells of its line; a misprint where they give another",
    says=Verdict.MISPRINT,
    measure=lambda: {
        "printed": printed_of_network(*MISPRINT),
        "value": error(*MISPRINT)[0],
        "line": [
            own == cell for name, metric, cell, own in compared_cells() if name == MISPRINT[0] and metric != MISPRINT[1]
        ],
    },
    judge=lambda printed, value, line: (
        holds(f"{value:.4f}" == printed) if f"{value:.4f}" == printed or not all(line) else Verdict.MISPRINT
    ),
    words=lambda printed, value, line: (
        f"{value:.6f} where {sum(line)} of the {len(line)} other cells of the line come out"
    ),
)


def of_cells(key: str, where: str, sentence: str, data: str, *, anew: str = "") -> Claim:
    """Cells of models that were trained again as the published code trains them; ``anew`` says why these may be others."""
    off = Verdict.OPEN if anew else Verdict.FAILS
    return Claim(
        key=key,
        where=where,
        sentence=sentence,
        target="all printed cells, to their digits" + (f"; {anew}" if anew else ""),
        says=Verdict.OPEN if anew else Verdict.HOLDS,
        measure=lambda: {"cells": cells(data)},
        judge=lambda cells: Verdict.HOLDS if all(a == b for *_, a, b in cells) else off,
        words=say_cells,
        over="cells",
    )


def say_cells(cells: list[list[str]]) -> str:
    off = [f"{metric} of {name} {own} (printed {printed})" for name, metric, printed, own in cells if printed != own]
    return f"{len(cells) - len(off)} of {len(cells)} cells" + (f"; not {', '.join(off)}" if off else "")


TABLE_3 = of_cells("table-3", "4.2, Table 3", "The cells of abalone, as the published code computes them.", "abalone")
OPTDIGITS = of_cells(
    "table-14-optdigits",
    "C.2, Table 14",
    "The cells of optical_digits, as the published code computes them.",
    "optdigits",
)
SPAMBASE = of_cells(
    "table-14-spambase",
    "C.2, Table 14",
    "The cells of spambase, as the published code computes them.",
    "spambase",
    anew="models trained again do not contradict a table, of which one may have been trained otherwise",
)

ORDER_OF_TIES = Claim(
    key="order-of-ties",
    where="4.2, Table 3",
    sentence="The TCE of the random forest on abalone, 33.89, is a figure of its predictions and labels. (Not a sentence of "
    "the paper, and what a printed figure is taken for.)",
    target="the same in any order of rows with the same prediction",
    says=Verdict.FAILS,
    measure=lambda: {
        "orders": of_orders("RF"),
        "together": bin_test_calibration_error(*rows("abalone", "RF"), labels=[0, 1]),
    },
    judge=lambda orders, together: holds(max(orders) == min(orders)),
    words=lambda orders, together: (
        f"{min(orders):.1f} to {max(orders):.1f} over {len(orders)} random orders, as the published code cuts between rows "
        f"with the same prediction; {together:.1f} where they share a bin. 33.89 is the figure of the order that sorting in "
        "the NumPy of that time gave"
    ),
    over="orders",
)

PICTURED = {
    "Fig. 1, GB": (11, [5, 7, 11]),
    "Fig. 5 (a), LR": (13, [8, 12]),
    "Fig. 7, alexnet": (9, [3, 4, 5, 6, 7, 8, 9]),
    "Fig. 7, vgg19": (9, [4, 6, 7, 8, 9]),
    "Fig. 7, resnet18": (9, [5, 6, 7, 8, 9]),
    "Fig. 7, resnet152": (7, [5, 6, 7]),
}
"""Bins of the authors' pictures, and those with a red bar: rejected predictions. Read off."""

VISIBLE = 0.02
"""Part of the rows of a bin whose bar is seen."""


def measure_pictured() -> Numbers:
    found = {}
    for picture in PICTURED:
        name = picture.rpartition(" ")[2]
        of = rows("abalone", name) if name.isupper() else (dogs()["y"], dogs()[name])
        count, rejected = tested(of, introsort(of[1].tolist()), bounded(of[0].size))
        found[picture] = [[int(n) for n in count], [int(n) for n in rejected]]
    return {"found": found}


def red(count: list[int], rejected: list[int]) -> list[int]:
    """The bins whose bar of rejected predictions is seen."""
    return [b for b, (n, r) in enumerate(zip(count, rejected, strict=True), 1) if r > VISIBLE * n]


PICTURES = Claim(
    key="pictures",
    where="Fig. 1, 5 (a), 7",
    sentence="The test-based diagrams of abalone and of four networks: their bins, and in which of them predictions are "
    "rejected.",
    target=f"as many bins as in the authors' picture, and more than {VISIBLE:.0%} rejected in those with a red bar alone",
    says=Verdict.HOLDS,
    measure=measure_pictured,
    judge=lambda found: holds(all((len(of[0]), red(*of)) == PICTURED[picture] for picture, of in found.items())),
    words=lambda found: "; ".join(
        f"{picture}: {len(count)} bins of {min(count)} to {max(count)} rows, rejected in "
        + ", ".join(map(str, red(count, rejected)))
        for picture, (count, rejected) in found.items()
    ),
    over="found",
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

BINS = (DEFINITION, PRINTED_CUT)
IMAGENET = (TABLE_5, TABLE_5_MISPRINT, RANKS, TIME, PICTURES)


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
    """The gap of the averages as a part of the ECE: of the models here, and of the paper's own for abalone, trained again."""
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
        + ". Of abalone these are the paper's models, trained again. Where all predictions lie in one bin it is so by "
        "definition"
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

UCI = (
    TOTAL,
    WITHIN,
    BALANCE,
    MILDNESS,
    SINGLE_BIN,
    AVERAGES,
    TABLE_3,
    ORDER_OF_TIES,
    OPTDIGITS,
    SPAMBASE,
    SIDES,
    SMALL_BUT_BAD,
)


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
