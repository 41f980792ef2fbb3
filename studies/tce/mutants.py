"""What must change the verdict of each claim on this paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import EqualMass
from studies.claims import Mutant, run_with
from studies.tce import claims, published, simulation
from studies.tce.imagenet import PRINTED
from studies.tce.uci import SEEDS

BY_KEY = {claim.key: claim for claim in claims.CLAIMS}


def reversed_lines(number: int) -> Mutant:
    """The lines of a table in the reverse order."""
    other = {number: PRINTED[number][::-1]}
    run = run_with(simulation, "PRINTED", other, BY_KEY[f"table-{number}"].measure)
    return Mutant("the lines of the table in the reverse order", run, measured=True)


def in_order(prob: Any) -> np.ndarray:
    """The order of a stable sort."""
    return np.argsort(prob, kind="stable")


SETTINGS = Mutant("the settings exchanged", lambda good, bad: {"good": bad, "bad": good})

MUTANTS = {
    "definition-3": Mutant(
        "PAVA-BC in place of PAVA",
        lambda criterion, sums: {"sums": {word: of | {"PAVA": of["PAVA-BC"]} for word, of in sums.items()}},
    ),
    "algorithm-3-as-printed": Mutant(
        "the blocks in place of the printed cut",
        lambda networks, **_: {"networks": [[blocks, blocks] for blocks, _ in networks], "above": 0},
    ),
    "level": Mutant(
        "predictions that differ within bins", lambda equal, half, many: {"equal": [half["TCE(Q)"]] * len(equal)}
    ),
    "slope": Mutant("a slope of 4", lambda slopes: {"slopes": dict.fromkeys(slopes, 4.0)}),
    **{f"table-{number}": reversed_lines(number) for number in simulation.TABLES},
    "small-ece": Mutant("one model in place of both", lambda differences: {"differences": [0.0 for _ in differences]}),
    "order": Mutant("one model in place of both", lambda shares: {"shares": dict.fromkeys(shares, 0.5)}),
    **{f"reasonable-{number}": SETTINGS for number in (6, 7, 10, 12)},
    "best-sizes": Mutant("one pair of sizes in place of all", lambda apart: {"apart": [apart[3]] * len(apart)}),
    "noise-breaks-down": Mutant(
        "no noise", lambda means: {"means": {name: [of[0]] * len(of) for name, of in means.items()}}
    ),
    "noise-felt-alike": Mutant(
        "the calibrated model in place of the other",
        lambda means: {"means": {name: of[: len(of) // 2] * 2 for name, of in means.items()}},
    ),
    "printed-t-test": Mutant("a t-test in place of the published one", lambda cells, **_: {"deviation": cells}),
    "binomial-against-t": Mutant(
        "a t-test that rejects more of the calibrated model and less of the other",
        lambda miscalibrated, **_: {"miscalibrated": [-of for of in miscalibrated]},
    ),
    "overall-better": Mutant(
        "TCE(P) in place of TCE(Q) and TCE(V)",
        lambda printed, means: {"printed": [[of[0]] * 3 for of in printed]},
    ),
    "pava-total-error": Mutant(
        "PAVA-BC in place of PAVA on the forests of satimage, where its error is larger",
        lambda least, models: {"least": least | {"satimage": least["satimage"] - len(SEEDS)}},
    ),
    "quantiles-within-bins": Mutant(
        "PAVA in place of quantiles", lambda errors, **_: {"errors": [of[::-1] for of in errors]}
    ),
    "balance": Mutant(
        "PAVA in place of PAVA-BC",
        lambda total, within, **_: {
            name: [[b, a, c] for a, b, c in of] for name, of in (("total", total), ("within", within))
        },
    ),
    "mild-violations": Mutant("PAVA, which has none, in place of PAVA-BC", lambda **_: {"apart": [], "largest": 0.0}),
    "single-bin": Mutant("bins of equal mass", lambda shares: {"shares": dict.fromkeys(shares, 0.1)}),
    "comparison-of-averages": Mutant("one bin in place of ten", lambda parts: {"parts": dict.fromkeys(parts, 1.0)}),
    "best-model": Mutant("ECE in place of ACE", lambda names, here: {"names": names | {"ACE": names["ECE"]}}),
    "small-but-bad": Mutant("the ECE in percent in place of TCE", lambda small, **_: {"bad": 100.0 * small["ECE"]}),
    "table-3": Mutant(
        "rows of the same prediction in their order",
        run_with(published, "introsort", in_order, BY_KEY["table-3"].measure),
        measured=True,
    ),
    "table-14-optdigits": Mutant(
        "rows of the same prediction in one bin",
        lambda: {"cells": published.cells("optdigits", ties="together")},
        measured=True,
    ),
    "order-of-ties": Mutant(
        "logistic regression, whose predictions are distinct",
        run_with(claims, "of_orders", lambda name: published.of_orders("LR"), BY_KEY["order-of-ties"].measure),
        measured=True,
    ),
    "table-5": Mutant(
        "each cell in place of the next",
        lambda cells: {
            "cells": [[*one[:3], other[3]] for one, other in zip(cells, cells[1:] + cells[:1], strict=True)]
        },
    ),
    "table-5-misprint": Mutant("0.0101 in place of 0.0102", lambda value, **_: {"printed": f"{value:.4f}"}),
    "networks-ranked-alike": Mutant(
        "the networks in the reverse order", lambda taus: {"taus": {name: -tau for name, tau in taus.items()}}
    ),
    "pictures": Mutant(
        "bins of equal mass",
        run_with(claims, "bounded", lambda n: EqualMass(10), claims.measure_pictured),
        measured=True,
    ),
}
