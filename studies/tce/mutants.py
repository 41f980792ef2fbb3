"""What must change the verdict of each claim on this paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import EqualMass
from studies.claims import run_with
from studies.tce import claims, published, simulation
from studies.tce.imagenet import PRINTED
from studies.tce.uci import SEEDS

BY_KEY = {claim.key: claim for claim in claims.CLAIMS}


def reversed_lines(number: int) -> Any:
    """The lines of a table in the reverse order."""
    other = {number: PRINTED[number][::-1]}
    return run_with(simulation, "PRINTED", other, BY_KEY[f"table-{number}"].measure)


def in_order(prob: Any) -> np.ndarray:
    """The order of a stable sort."""
    return np.argsort(prob, kind="stable")


TOLD = {
    "definition-3": lambda criterion, sums: {"sums": {word: of | {"PAVA": of["PAVA-BC"]} for word, of in sums.items()}},
    "algorithm-3-as-printed": lambda networks, **_: {
        "networks": [[blocks, blocks] for blocks, _ in networks],
        "above": 0,
    },
    "algorithm-3-smallest": lambda below, library: {"below": library},
    "level": lambda sizes, half, many: {"sizes": [[prob, [half["TCE(Q)"]] * len(of)] for prob, of in sizes]},
    "slope": lambda slopes: {"slopes": dict.fromkeys(slopes, 4.0)},
    "small-ece": lambda differences: {"differences": [0.0 for _ in differences]},
    "order": lambda shares: {"shares": dict.fromkeys(shares, 0.5)},
    "scale": lambda shift, order, **_: {"tce": shift, "order": order[2:]},
    **dict.fromkeys(
        (f"reasonable-{of}" for of in ("6", "7", "10", "12", "12-milder", "13")),
        lambda **both: {word: [line[::-1] for line in of] for word, of in both.items()},
    ),
    "all-better": lambda printed, means: {
        "printed": [[100.0 * (2 * i >= len(printed)), *of[1:]] for i, of in enumerate(printed)]
    },
    "best-sizes": lambda apart: {"apart": [apart[3]] * len(apart)},
    "noise-breaks-down": lambda means: {"means": {name: [of[0]] * len(of) for name, of in means.items()}},
    "noise-felt-alike": lambda means: {"means": {name: of[: len(of) // 2] * 2 for name, of in means.items()}},
    "printed-t-test": lambda cells, **_: {"deviation": cells},
    "binomial-against-t": lambda miscalibrated, **_: {"miscalibrated": [-of for of in miscalibrated]},
    "overall-better": lambda printed, means: {"printed": [[of[0]] * 3 for of in printed]},
    "pava-total-error": lambda least, models: {"least": least | {"satimage": least["satimage"] - len(SEEDS)}},
    "quantiles-within-bins": lambda errors, **_: {"errors": [of[::-1] for of in errors]},
    "balance": lambda total, within, **_: {
        name: [[b, a, c] for a, b, c in of] for name, of in (("total", total), ("within", within))
    },
    "mild-violations": lambda **_: {"apart": [], "largest": 0.0},
    "single-bin": lambda shares: {"shares": dict.fromkeys(shares, 0.1)},
    "comparison-of-averages": lambda parts: {"parts": dict.fromkeys(parts, 1.0)},
    "best-model": lambda names, here: {"names": names | {"ACE": names["ECE"]}},
    "small-but-bad": lambda small, **_: {"bad": 100.0 * small["ECE"]},
    "table-5": lambda cells: {
        "cells": [[*one[:3], other[3]] for one, other in zip(cells, cells[1:] + cells[:1], strict=True)]
    },
    "table-5-misprint": lambda value, **_: {"printed": f"{value:.4f}"},
    "networks-ranked-alike": lambda taus: {"taus": {name: -tau for name, tau in taus.items()}},
}
"""Numbers that the mutant of a claim has otherwise, from the claim's own."""

RUN = {
    **{f"table-{number}": reversed_lines(number) for number in simulation.TABLES},
    "table-3": run_with(published, "introsort", in_order, BY_KEY["table-3"].measure),
    "table-14-optdigits": lambda: {"cells": published.cells("optdigits", ties="together")},
    "order-of-ties": run_with(
        claims, "of_orders", lambda name: published.of_orders("LR"), BY_KEY["order-of-ties"].measure
    ),
    "pictures": run_with(claims, "bounded", lambda n: EqualMass(10), claims.measure_pictured),
}
"""Mutants that are measured."""
