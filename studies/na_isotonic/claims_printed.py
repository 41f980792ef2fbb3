"""What the paper says of its own Table 2, asked of that table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from studies.claims import Claim, Numbers, Verdict, all_of, holds
from studies.printed import Lines, claim, comparing, in_words, on_every, on_most, read, turned

PRINTED = Path(__file__).with_name("printed.csv")
METRICS = ("NLL", "conf-ECE", "BS", "cw-ECE", "TECE")
JUDGED = ("NLL", "conf-ECE")
LINEAR = ("TS", "VS", "MS")
IMAGES = ("CIFAR10", "CIFAR100", "food101", "ImageNet")

SUM, ROUNDED = 36, 0.4
"""Sum of the ranks of eight methods, and what rounding to one decimal can add to it."""


def ranks(metric: str, figure: str = "rank") -> Lines:
    """Mean ranks of the methods, or percents of wins, by data set."""
    return read(PRINTED, "data_set", 4, figure=figure, metric=metric)


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
    found, weights = ranks("conf-ECE", "wins"), list(models().values())
    methods = next(iter(found.values()))
    return {"wins": {name: float(np.average([of[name] for of in found.values()], weights=weights)) for name in methods}}


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


compared = partial(comparing, ranks)
OWN = "Table 2, as printed"

CLAIMS = (
    Claim(
        "ranks add up", OWN, "Each line has the mean ranks of eight methods.", f"each line sums to {SUM}", Verdict.HOLDS,
        measure_sums, judge_sums, lambda sums: f"{len(sums)} lines sum to {min(sums):g} to {max(sums):g}",
        f"{ROUNDED:g}, which rounding can add",
    ),
    Claim(
        "best across all data sets", f"section 5.2; {OWN}",
        "SCIR and NA-FIR are both state of the art in NLL and conf-ECE across all data sets.",
        "the first or second mean rank of eight on every data set, by both metrics", Verdict.IN_PART,
        measure_places, judge_places, words_places, one_suffices="the sentence is about this table",
    ),
    claim(
        "NA-FIR before FIR, printed", f"section 5.2; {OWN}", "NA-FIR improves not only NLL but conf-ECE against FIR.",
        "a lower mean rank on every data set", on_every,
        compared(*((metric, "NA-FIR", ("FIR",), "FIR") for metric in JUDGED)),
    ),
    claim(
        "NA-FIR before linear scaling, printed", f"section 5.2; {OWN}",
        "NA-FIR outperforms linear scaling on most data sets, not on Food-101 and Yelp.",
        "a lower mean rank than each of TS, VS and MS on most data sets", on_most,
        compared(*((metric, "NA-FIR", LINEAR, "TS, VS and MS") for metric in JUDGED)),
    ),
    claim(
        "NA-FIR before SCIR, printed", f"section 5.2; {OWN}", "SCIR consistently has a worse NLL.",
        "NA-FIR has a lower mean rank on every data set", on_every, compared(("NLL", "NA-FIR", ("SCIR",), "SCIR")),
    ),
    claim(
        "before IR-OvR, printed", f"section 5.2; {OWN}", "Cumulating and flattening both beat one class against the rest.",
        "a lower mean rank than IR-OvR on most data sets", on_most,
        compared(*((metric, one, ("IR-OvR",), "IR-OvR") for metric in JUDGED for one in ("SCIR", "FIR"))),
    ),
    Claim(
        "SCIR wins most, printed", f"section 5.2; {OWN}", "By conf-ECE SCIR often has the lowest value.",
        "best on more of the 75 models than any other method", Verdict.HOLDS, measure_wins, judge_wins,
        lambda wins: ", ".join(f"{name} {of:.0f}%" for name, of in wins.items()) + "; as printed",
    ),
    Claim(
        "TS on images, printed", f"section 5.2; {OWN}", "TS performs better on data sets of images.",
        "a lower mean rank over the models of images than over those of texts, by NLL and conf-ECE", Verdict.HOLDS,
        measure_images, judge_images,
        lambda means: "; ".join(f"{name}: images {a:.1f}, texts {b:.1f}" for name, (a, b) in means.items()) + "; as printed",
    ),
)  # fmt: skip

MUTANTS = {
    "ranks add up": ("a rank read as 8 more", lambda sums: {"sums": [sums[0] + 8, *sums[1:]]}),
    "best across all data sets": ("a method that is last", lambda places: {"places": {n: {"x": 8} for n in places}}),
    "SCIR wins most, printed": ("TS and SCIR exchanged", lambda wins: {"wins": wins | {"SCIR": wins["TS"]}}),
    "TS on images, printed": ("texts as images", lambda means: {"means": {n: of[::-1] for n, of in means.items()}}),
    **{one.key: ("exchanged", turned) for one in CLAIMS if one.words is in_words},
}
"""What must change the verdict of each: in words, and the numbers that are then others."""
