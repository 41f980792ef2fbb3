"""What must change the verdict of each claim on this paper."""

from __future__ import annotations

from typing import Any

from studies.claims import Mutant, Numbers, run_with
from studies.na_isotonic import claims_methods


def exchanged(readings: dict[str, dict[str, Any]], **_: Any) -> Numbers:
    """Both methods of a pair in each other's place: who was better is worse."""
    return {
        "readings": {
            name: of | {"better": of["different"] - of["better"], "ahead": of["behind"], "behind": of["ahead"]}
            for name, of in readings.items()
        }
    }


def halves_exchanged(readings: dict[str, dict[str, Any]], **_: Any) -> Numbers:
    """The models that are least over-confident in place of those that are most."""
    return {
        "readings": {
            name: {"parted": [of["parted"][i] for i in (1, 0, 2)], "within": [-r for r in of["within"]]}
            for name, of in readings.items()
        }
    }


IMPROPER = {"absolute error": lambda p, y: abs(p - y)}
"""No proper scoring rule: the median of an outcome minimises it."""

PAIRS = (
    "NA-FIR improves NLL",
    "NA-FIR improves conf-ECE",
    "SCIR improves conf-ECE",
    "flattening, NLL",
    "cumulating, NLL",
    "cumulating, conf-ECE",
)
PAIR = Mutant("the two methods exchanged", exchanged)

MUTANTS = {
    "order": Mutant("SCIR in place of NA-FIR", lambda forecasts, share: {"share": share | {"NA-FIR": share["SCIR"]}}),
    "permutation": Mutant(
        "IR-OvR in place of NA-FIR", lambda models, change: {"change": change | {"NA-FIR": change["IR-OvR"]}}
    ),
    "convexity": Mutant(
        "the logarithms in place of the values", lambda above_in_logarithm, **_: {"above": above_in_logarithm}
    ),
    "stable search": Mutant(
        "a search that never moves",
        lambda ends, start, optimum: {
            "ends": {
                file: {size: [start[file]] * len(of) for size, of in sizes.items()} for file, sizes in ends.items()
            }
        },
    ),
    "example of SCIR": Mutant("0.7 in place of 0.8", lambda sums, printed: {"printed": sums[1]}),
    "Algorithm 2": Mutant("the lemma in place of the algorithm", claims_methods.measure_lemma, measured=True),
    "Lemma A.11": Mutant("the algorithm in place of the lemma", claims_methods.measure_upper_set, measured=True),
    "Theorem A.5": Mutant("the mean in place of H", lambda fit, **_: {"whole": fit}),
    "proper scores": Mutant(
        "the absolute error, which is not proper",
        run_with(claims_methods, "SCORES", IMPROPER, claims_methods.measure_scores),
        measured=True,
    ),
    **dict.fromkeys(PAIRS, PAIR),
    "over-confident classifiers": Mutant("the two halves exchanged", halves_exchanged),
}
