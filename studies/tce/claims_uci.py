"""What the paper says of imbalanced data sets (4.2) and of the bins that PAVA-BC makes there (3.3, Table 1)."""

from __future__ import annotations

import numpy as np

from studies.claims import Claim, Numbers, Verdict
from studies.judging import all_of, holds
from studies.tce.uci.bins import BINNINGS, ROUNDING, between, drops, least, n_violated, quality, totals, withins
from studies.tce.uci.clear import IMBALANCED, LEVEL, fullest, n_models, of_averages, of_published
from studies.tce.uci.data import DATA_SETS
from studies.tce.uci.measured import pvalues, values
from studies.tce.uci.models import SEEDS, Forecast, forecast, forecasts
from studies.tce.uci.paper import printed
from studies.tce.uci.ranks import best, n_rankings

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


def measure_within() -> Numbers:
    return {"errors": errors("within_bin_error"), "elsewhere": least(withins(), "10 quantiles"), "models": n_models()}


WITHIN = Claim(
    key="quantiles-within-bins",
    where="3.3, Table 1",
    sentence="For the random forest on satimage quantiles make the error within bins smallest, averaged over bins.",
    target="smallest of the three binnings, on each split",
    says=Verdict.HOLDS,
    measure=measure_within,
    judge=lambda errors, elsewhere, models: holds(all(quantiles < min(others) for *others, quantiles in errors)),
    words=lambda errors, elsewhere, models: (
        "PAVA, PAVA-BC, quantiles: "
        + "; ".join(", ".join(f"{value:.3f}" for value in line) for line in errors)
        + f". Over all data sets and algorithms it is so on {elsewhere} of {models} models: it is no rule"
    ),
    over="errors",
)


def measure_balance() -> Numbers:
    return {
        "total": errors("criterion"),
        "within": errors("within_bin_error"),
        "elsewhere": [between(totals()), between(withins())],
        "models": n_models(),
    }


BALANCE = Claim(
    key="balance",
    where="3.3, Table 1",
    sentence="For the random forest on satimage PAVA-BC lies between PAVA and quantiles, in total error and within bins.",
    target="between the other two in both, on each split",
    says=Verdict.HOLDS,
    measure=measure_balance,
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
