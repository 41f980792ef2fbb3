"""What the paper says of one method against others: compared on every model, in every reading of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

from studies.claims import Claim, Numbers, Verdict
from studies.na_isotonic.duels import (
    EXACT,
    Duel,
    duel,
    judge_best,
    judge_pair,
    metrics_of,
    model_names,
    readings_of,
    words_best,
    words_pair,
)
from studies.na_isotonic.ranks import data_sets

LINEAR = ("TS", "VS", "MS")
CLEARLY = "a sign test over models is clear at 5%, and more data sets agree than not, in every reading"


def measure_pair(metric: str, one: str, other: str) -> Numbers:
    readings = {
        "; ".join((which, *pair)): duel(which, *pair)
        for which in metrics_of(metric, one, other)
        for pair in product(readings_of(one), readings_of(other))
    }
    beside = {"With the library's defaults": duel(metric, one, other)} if {one, other} & {"NA-FIR", "SCIR"} else {}
    if one == "NA-FIR" and other != "SCIR":
        beside["The exact optimum"] = duel(metric, EXACT, other)
    return {"one": one, "models": model_names(), "readings": readings, "beside": beside}


def pair(key: str, where: str, sentence: str, says: Verdict, metric: str, one: str, other: str) -> Claim:
    """A claim that one method has a lower value of a metric than another."""
    return Claim(
        key,
        where,
        sentence,
        f"{metric} of {one} below that of {other}: {CLEARLY}",
        says,
        partial(measure_pair, metric, one, other),
        judge_pair,
        words_pair,
        over="models",
    )


def against(metric: str, own: str, others: tuple[str, ...]) -> dict[str, Duel]:
    """One reading of a method against every reading of others."""
    return {
        name: _hardest([duel(which, own, name) for which in metrics_of(metric, other)])
        for other in others
        for name in readings_of(other)
    }


def _hardest(duels: list[Duel]) -> Duel:
    """Of several ways to clip the other's zeros, the one in which it loses least often."""
    return min(duels, key=lambda found: found["better"])


def measure_best(metric: str, method: str, others: tuple[str, ...]) -> Numbers:
    return {
        "models": model_names(),
        "readings": {own: against(metric, own, others) for own in readings_of(method)},
    }


def best_in_nll() -> Claim:
    """NA-FIR against all others."""
    others = ("SCIR", "FIR", "IR-OvR", "TS", "VS", "MS", "Uncalibrated")
    return Claim(
        "best in NLL",
        "section 5.2, Table 2",
        "By NLL NA-FIR has the lowest mean rank in Table 2, except on Food-101 and Yelp.",
        f"lower than each other method: {CLEARLY}; fails if another is clearly lower (5% shared among the others)",
        Verdict.OPEN,
        partial(measure_best, "NLL", "NA-FIR", others),
        judge_best,
        words_best,
        over="models",
    )


def measure_linear() -> Numbers:
    """NA-FIR against linear scaling by both of the metrics that the sentence may mean."""
    readings = {
        f"{metric}, {own}": against(metric, own, LINEAR)
        for metric in ("NLL", "conf-ECE")
        for own in readings_of("NA-FIR")
    }
    sets = [min(found["ahead"] for found in duels.values()) for duels in readings.values()]
    return {"models": model_names(), "readings": readings, "at_most": sets, "data_sets": len(data_sets())}


def words_linear(
    models: Sequence[str], readings: Mapping[str, Mapping[str, Duel]], at_most: Sequence[int], data_sets: int
) -> str:
    of_metric = {
        metric: words_best(models, {name: duels for name, duels in readings.items() if name.startswith(f"{metric},")})
        for metric in ("NLL", "conf-ECE")
    }
    said = " ".join(f"{metric}: {words}" for metric, words in of_metric.items())
    return f"{said} Ahead of all three on at most {max(at_most)} of {data_sets} data sets in any reading."


def linear() -> Claim:
    return Claim(
        "linear scaling",
        "section 5.2",
        "NA-FIR outperforms linear scaling (TS, VS, MS) on most data sets.",
        f"by NLL and by conf-ECE lower than each of the three: {CLEARLY}; fails if one of them is clearly lower",
        Verdict.OPEN,
        measure_linear,
        judge_best,
        words_linear,
        over="models",
    )


def measure_search() -> Numbers:
    """NLL of the test rows after the random search, against the exact optimum."""
    readings = {own: duel("NLL", own, EXACT) for own in readings_of("NA-FIR")}
    return {"one": "The search", "models": model_names(), "readings": readings, "beside": {}}


def search() -> Claim:
    return Claim(
        "search against optimum",
        "appendix A.2",
        "The random search often outperforms other ways to solve the same problem.",
        "lower than projected gradient, SLSQP, trust-constr and penalties, the paper's alternatives, which were not run",
        Verdict.OPEN,
        measure_search,
        lambda **numbers: Verdict.OPEN,
        lambda **numbers: f"Against the exact optimum, on the NLL of the test rows: {words_pair(**numbers)}",
        over="models",
    )


HOLDS, OPEN = Verdict.HOLDS, Verdict.OPEN

CLAIMS = (
    search(),
    pair(
        "NA-FIR improves NLL",
        "abstract",
        "NA-FIR improves the NLL of the classifier.",
        HOLDS,
        "NLL",
        "NA-FIR",
        "Uncalibrated",
    ),
    pair(
        "SCIR improves NLL", "abstract", "SCIR improves the NLL of the classifier.", OPEN, "NLL", "SCIR", "Uncalibrated"
    ),
    pair(
        "NA-FIR improves conf-ECE",
        "abstract",
        "NA-FIR improves the conf-ECE of the classifier.",
        HOLDS,
        "conf-ECE",
        "NA-FIR",
        "Uncalibrated",
    ),
    pair(
        "SCIR improves conf-ECE",
        "abstract",
        "SCIR improves the conf-ECE of the classifier.",
        HOLDS,
        "conf-ECE",
        "SCIR",
        "Uncalibrated",
    ),
    best_in_nll(),
    pair("NA-FIR against FIR, NLL", "section 5.2", "NA-FIR has a lower NLL than FIR.", OPEN, "NLL", "NA-FIR", "FIR"),
    pair(
        "NA-FIR against FIR, conf-ECE",
        "section 5.2",
        "NA-FIR has a lower conf-ECE than FIR.",
        OPEN,
        "conf-ECE",
        "NA-FIR",
        "FIR",
    ),
    linear(),
    pair("SCIR's NLL", "section 5.2", "SCIR has a worse NLL than NA-FIR.", OPEN, "NLL", "NA-FIR", "SCIR"),
    pair(
        "flattening, NLL",
        "section 5.2",
        "Flattening beats one class against the rest by NLL.",
        HOLDS,
        "NLL",
        "FIR",
        "IR-OvR",
    ),
    pair(
        "flattening, conf-ECE",
        "section 5.2",
        "Flattening beats one class against the rest by conf-ECE.",
        OPEN,
        "conf-ECE",
        "FIR",
        "IR-OvR",
    ),
    pair(
        "cumulating, NLL",
        "section 5.2",
        "Cumulating beats one class against the rest by NLL.",
        HOLDS,
        "NLL",
        "SCIR",
        "IR-OvR",
    ),
    pair(
        "cumulating, conf-ECE",
        "section 5.2",
        "Cumulating beats one class against the rest by conf-ECE.",
        HOLDS,
        "conf-ECE",
        "SCIR",
        "IR-OvR",
    ),
)
