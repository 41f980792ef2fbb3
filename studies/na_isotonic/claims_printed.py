"""What the paper says of its own Table 2, asked of that table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from studies.claims import Functions, Numbers, Verdict, all_of, holds
from studies.printed import Lines, comparing, in_words, on_every, on_most, read

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

FUNCTIONS: dict[str, Functions] = {
    "ranks add up": (measure_sums, judge_sums, lambda sums: f"{len(sums)} lines sum to {min(sums):g} to {max(sums):g}"),
    "best across all data sets": (measure_places, judge_places, words_places),
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
