"""What must change the verdict of each claim on this paper."""

from __future__ import annotations

from typing import Any

from studies.claims import Numbers, run_with
from studies.na_isotonic import claims, claims_methods
from studies.na_isotonic.claims_printed import FUNCTIONS as PRINTED
from studies.printed import opposite, turned


def exchanged(readings: dict[str, dict[str, Any]], **_: Any) -> Numbers:
    """Both methods of a pair in each other's place: who was better is worse."""
    return {
        "readings": {
            name: of | {"better": of["different"] - of["better"], "ahead": of["behind"], "behind": of["ahead"]}
            for name, of in readings.items()
        }
    }


def next_best(gains: dict[str, dict[str, list[float]]]) -> Numbers:
    """The next best method in the place of SCIR."""
    return {
        "gains": {name: {word: [1 / share, -gain] for word, (share, gain) in of.items()} for name, of in gains.items()}
    }


def reversed_spread(networks: dict[str, list[float]]) -> Numbers:
    """Networks that lose by every method, the least sensitive ones as the most sensitive."""
    return {"networks": {name: [best, before, -spread] for name, (before, best, spread) in networks.items()}}


IMPROPER = {"absolute error": lambda p, y: abs(p - y)}
"""No proper scoring rule: the median of an outcome minimises it."""

TOLD = {
    "category independence": lambda change: {"change": change | {"FIR": change["NA-FIR"]}},
    "search against alternatives": lambda above, **_: {"above": opposite(above)},
    **dict.fromkeys(PRINTED, turned),
    "ranks add up": lambda sums: {"sums": [sums[0] + 8, *sums[1:]]},
    "best across all data sets": lambda places: {"places": {n: {"x": 8} for n in places}},
    "SCIR on over-confident networks, printed": next_best,
    "less sensitive, printed": reversed_spread,
    "near the top in conf-ECE": lambda places, **_: {"places": {name: [8] * len(of) for name, of in places.items()}},
    "SCIR wins most, printed": lambda wins: {"wins": wins | {"SCIR": wins["TS"]}},
    "TS on images, printed": lambda means: {"means": {n: of[::-1] for n, of in means.items()}},
    "order": lambda forecasts, share: {"share": share | {"NA-FIR": share["SCIR"]}},
    "permutation": lambda models, change: {"change": change | {"NA-FIR": change["IR-OvR"]}},
    "convexity": lambda above_in_logarithm, **_: {"above": above_in_logarithm},
    "stable search": lambda ends, start, optimum: {
        "ends": {file: {size: [start[file]] * len(of) for size, of in sizes.items()} for file, sizes in ends.items()}
    },
    "example of SCIR": lambda sums, printed: {"printed": sums[1]},
    "Theorem A.5": lambda fit, **_: {"whole": fit},
    **dict.fromkeys(claims.OF_PAIRS, exchanged),
}
"""Numbers that the mutant of a claim has otherwise, from the claim's own."""

RUN = {
    "Algorithm 2": claims_methods.measure_lemma,
    "Lemma A.11": claims_methods.measure_upper_set,
    "proper scores": run_with(claims_methods, "SCORES", IMPROPER, claims_methods.measure_scores),
}
"""Mutants that are measured."""
