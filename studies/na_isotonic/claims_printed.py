"""What the paper says of its own Tables 2, 4 and 5, asked of these tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, spearmanr

from studies.claims import LEVEL, Functions, Numbers, Verdict, all_of, holds, under_all_readings
from studies.printed import Lines, comparing, gaps, in_words, on_every, on_most, read

PRINTED = Path(__file__).with_name("printed.csv")
METRICS = ("NLL", "conf-ECE", "BS", "cw-ECE", "TECE")
JUDGED = ("NLL", "conf-ECE")
LINEAR = ("TS", "VS", "MS")
IMAGES = ("CIFAR10", "CIFAR100", "food101", "ImageNet")

SUM, ROUNDED = 36, 0.4
"""Sum of the ranks of eight methods, and what rounding to one decimal can add to it."""


def ranks(metric: str, figure: str = "rank") -> Lines:
    """Mean ranks of the methods, or percents of wins, by data set; or their values, by network (Tables 4 and 5)."""
    return read(PRINTED, "data_set", 4, figure=figure, metric=metric)


values = partial(ranks, figure="value")


def printed_mean(figure: str, metric: str) -> dict[str, float]:
    """Mean "rank", or percent of "wins", over the paper's models: over its data sets, each by its number of models."""
    found, weights = ranks(metric, figure), list(models().values())
    methods = next(iter(found.values()))
    return {name: float(np.average([of[name] for of in found.values()], weights=weights)) for name in methods}


def models() -> dict[str, float]:
    """How many models each data set has."""
    return {name: of["models"] for name, of in read(PRINTED, "data_set", 3, figure="rank", metric="NLL").items()}


def measure_sums() -> Numbers:
    return {"sums": [round(sum(of.values()), 1) for metric in METRICS for of in ranks(metric).values()]}


def judge_sums(sums: list[float]) -> Verdict:
    return holds(all(abs(total - SUM) <= ROUNDED for total in sums))


def measure_places() -> Numbers:
    return {
        "places": {
            f"{method} by {metric}": {
                name: int(rankdata(list(of.values()), "min")[list(of).index(method)])
                for name, of in ranks(metric).items()
            }
            for metric in JUDGED
            for method in ("NA-FIR", "SCIR")
        }
    }


def judge_places(places: Mapping[str, Mapping[str, int]]) -> Verdict:
    """Whether each method is first or second everywhere."""
    return all_of(holds(max(of.values()) <= 2) for of in places.values())


def words_places(places: Mapping[str, Mapping[str, int]]) -> str:
    parts = [
        f"{name} {sum(place <= 2 for place in of.values())} times of {len(of)} (place {min(of.values())} to "
        f"{max(of.values())}, last on {max(of, key=lambda one: of[one])})"
        for name, of in places.items()
    ]
    return f"First or second of eight by mean rank: {'; '.join(parts)}; as printed"


def measure_wins() -> Numbers:
    return {"wins": printed_mean("wins", "conf-ECE")}


def judge_wins(wins: Mapping[str, float]) -> Verdict:
    return holds(all(wins["SCIR"] > of for name, of in wins.items() if name != "SCIR"))


def measure_images() -> Numbers:
    """Mean rank of TS over the models of data sets of images, and of texts."""
    return {"means": {metric: [_mean(metric, kind) for kind in (True, False)] for metric in JUDGED}}


def _mean(metric: str, of_images: bool) -> float:
    chosen = {name: of["TS"] for name, of in ranks(metric).items() if (name in IMAGES) == of_images}
    return float(np.average(list(chosen.values()), weights=[models()[name] for name in chosen]))


def judge_images(means: Mapping[str, list[float]]) -> Verdict:
    return all_of(holds(images < texts) for images, texts in means.values())


# Tables 4 and 5: single networks.


SURE, LESS_SURE = ("DenseNet121 (CIFAR-100)", "ResNet110 (CIFAR-100)"), ("Swin (CIFAR-100)", "ViT (CIFAR-100)")
COMPARABLE = 1.01
"""A Brier score up to so many times the other's is comparable."""


def measure_gains() -> Numbers:
    """What share of the conf-ECE of no calibration, and of the next best method, SCIR leaves, and the percent it takes away."""
    found = {}
    for name in (*SURE, *LESS_SURE):
        of = dict(values("conf-ECE")[name])
        own, none = of.pop("SCIR"), of.pop("Uncalibrated")
        found[name] = {
            word: [own / other, round(other - own, 2)] for word, other in (("none", none), ("next", min(of.values())))
        }
    return {"gains": found}


def judge_substantial(gains: Mapping[str, Mapping[str, Sequence[float]]]) -> Verdict:
    return holds(all(gains[name]["next"][0] <= 0.5 for name in SURE))


def judge_modest(
    gains: Mapping[str, Mapping[str, Sequence[float]]], words: Sequence[str] = ("none", "next")
) -> Verdict:
    """A gain on both that is less than on either of the others: on no calibration, or on the next best method."""
    return under_all_readings(
        holds(all(0 < gains[name][word][1] < min(gains[other][word][1] for other in SURE) for name in LESS_SURE))
        for word in words
    )


def words_gains(gains: Mapping[str, Mapping[str, Sequence[float]]], names: Sequence[str] = SURE) -> str:
    parts = (
        f"{name} {gains[name]['none'][1]:.2f} points below no calibration, {gains[name]['next'][1]:.2f} points below the next "
        f"best method and {gains[name]['next'][0]:.0%} of it"
        for name in names
    )
    return f"conf-ECE of SCIR: {'; '.join(parts)}; as printed"


def words_modest(gains: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    none, best = (judge_modest(gains, [word]) for word in ("none", "next"))
    return f"{words_gains(gains, (*SURE, *LESS_SURE))}. By no calibration: {none!s}; by the next best method: {best!s}"


def measure_comparable() -> Numbers:
    alike = [name for name, of in values("BS").items() if of["SCIR"] <= COMPARABLE * of["NA-FIR"]]
    gap = gaps(values("NLL"), "NA-FIR", ("SCIR",))
    what = "NLL: NA-FIR before SCIR"
    at_most = f"where SCIR's Brier score is at most {COMPARABLE - 1:.0%} above"
    return {"gaps": {f"{what} {at_most}": {name: gap[name] for name in alike}}, "beside": {f"{what} anywhere": gap}}


def measure_spread() -> Numbers:
    """The conf-ECE before, after the best method, and how far the methods lie apart, of each network."""
    found = {}
    for name, of in values("conf-ECE").items():
        after = [value for method, value in of.items() if method != "Uncalibrated"]
        found[name] = [of["Uncalibrated"], min(after), round(max(after) - min(after), 2)]
    return {"networks": found}


def _correlation(networks: Mapping[str, Sequence[float]]) -> tuple[float, float]:
    before, _, spread = zip(*networks.values(), strict=True)
    found = spearmanr(before, spread)
    return float(found.statistic), float(found.pvalue)


def judge_spread(networks: Mapping[str, Sequence[float]]) -> Verdict:
    """Whether some method helps each network, and methods differ less where there is less to mend."""
    r, p = _correlation(networks)
    return all_of([holds(all(best < before for before, best, _ in networks.values())), holds(r > 0 and p <= LEVEL)])


def words_spread(networks: Mapping[str, Sequence[float]]) -> str:
    said = "; ".join(f"{name} {before:g}, {best:g}, {spread:g}" for name, (before, best, spread) in networks.items())
    r, p = _correlation(networks)
    return (
        f"conf-ECE in percent before, after the best method, and highest less lowest of the methods: {said}. Rank correlation "
        f"of the first and the last {r:.2f} (p = {p:.2g}); as printed"
    )


compared, of_networks = partial(comparing, ranks), partial(comparing, values)


def both_tables(*pairs: tuple[str, str]) -> Numbers:
    """A method before another in Table 2, and in Tables 4 and 5, by NLL and by conf-ECE."""
    found = {}
    for made, where in ((compared, "Table 2"), (of_networks, "Tables 4 and 5")):
        asked = ((m, one, (other,), f"{other} in {where}") for m in JUDGED for one, other in pairs)
        found |= made(*asked)()["gaps"]
    return {"gaps": found}


FUNCTIONS: dict[str, Functions] = {
    "ranks add up": (measure_sums, judge_sums, lambda sums: f"{len(sums)} lines sum to {min(sums):g} to {max(sums):g}"),
    "best across all data sets": (measure_places, judge_places, words_places),
    "consistent improvement, printed": (
        partial(both_tables, ("NA-FIR", "Uncalibrated"), ("SCIR", "Uncalibrated")),
        on_every,
        in_words,
    ),
    "SCIR on over-confident networks, printed": (measure_gains, judge_substantial, words_gains),
    "SCIR on less over-confident networks, printed": (measure_gains, judge_modest, words_modest),
    "SCIR where the Brier score is comparable, printed": (measure_comparable, on_every, in_words),
    "less sensitive, printed": (measure_spread, judge_spread, words_spread),
    "NA-FIR before FIR, printed": (
        compared(*((metric, "NA-FIR", ("FIR",), "FIR") for metric in JUDGED)),
        on_every,
        in_words,
    ),
    "NA-FIR before linear scaling, printed": (
        compared(*((metric, "NA-FIR", LINEAR, "TS, VS and MS") for metric in JUDGED)),
        on_most,
        in_words,
    ),
    "NA-FIR before SCIR, printed": (compared(("NLL", "NA-FIR", ("SCIR",), "SCIR")), on_every, in_words),
    "before IR-OvR, printed": (
        compared(*((metric, one, ("IR-OvR",), "IR-OvR") for metric in JUDGED for one in ("SCIR", "FIR"))),
        on_most,
        in_words,
    ),
    "SCIR wins most, printed": (
        measure_wins,
        judge_wins,
        lambda wins: ", ".join(f"{name} {of:.0f}%" for name, of in wins.items()) + "; as printed",
    ),
    "TS on images, printed": (
        measure_images,
        judge_images,
        lambda means: (
            "; ".join(f"{name}: images {a:.1f}, texts {b:.1f}" for name, (a, b) in means.items()) + "; as printed"
        ),
    ),
}
