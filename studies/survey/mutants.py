"""What must change the verdict of each claim on this paper."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from calibrant.significance import resampling_test
from studies.claims import Numbers, run_with
from studies.survey import claims, claims_methods
from studies.survey import claims_equations as equations
from studies.survey.cases import LOGISTIC, the_case
from studies.survey.claims_equations import never


def unchanged(**numbers: Any) -> Numbers:
    """A calibrator that changes nothing: what was before calibration in place of what is after it, and no region worse."""
    if "worse" in numbers:
        return {**numbers, "worse": [0.0] * len(numbers["worse"])}
    if "before" not in numbers:
        return {name: unchanged(**of) if isinstance(of, Mapping) else of for name, of in numbers.items()}
    before = numbers["before"]
    after = before if isinstance(before, list) else [before] * len(numbers["after"])
    return {**numbers, "after": after}


def shifted(figures: Mapping[str, list[str]]) -> Numbers:
    """Each entry of a table in place of the next."""
    found = [exact for exact, _ in figures.values()]
    moved = [found[-1], *found[:-1]]
    return {"figures": {name: [e, printed] for (name, (_, printed)), e in zip(figures.items(), moved, strict=True)}}


def with_the_rival(one: str, other: str) -> Any:
    """The figures of a rival in place of those of a method, in both readings of class 3."""
    return lambda readings: {"readings": {name: of | {one: of[other]} for name, of in readings.items()}}


def at_distance(share: float) -> Any:
    """A diagram at a share of the distance of the one before calibration from the second."""
    return lambda readings: {
        "readings": {
            name: {"classes": {c: [[share * d for d in far], far] for c, (_, far) in of["classes"].items()}}
            for name, of in readings.items()
        }
    }


def exchanged(**numbers: Any) -> Numbers:
    """The first and the last of two in each other's place."""
    ((name, found),) = numbers.items()
    return {name: dict(zip(found, reversed(found.values()), strict=True))}


def before_calibration() -> Numbers:
    """How far predictions of the two logistic cases are apart before calibration."""
    under, over = map(the_case, LOGISTIC)
    return {"apart": [under.mean(np.abs(under.forecast - over.forecast))] * 2}


def absolute_error(y: Any, prob: Any, sample_weight: Any, **how: Any) -> float:
    """The expected sum of absolute errors, which is no proper score."""
    return float(np.average(np.abs(np.eye(3) - prob).sum(axis=1), weights=sample_weight))


def of_confidence(y: Any, prob: Any, metric: str, **how: Any) -> Any:
    """The resampling test of the confidence-ECE."""
    return resampling_test(y, prob, metric="ece", **how)


FIGURES = (
    "table-2-calibration class-1-ece class-1-mce class-2-ece class-3-ece class-wise-ece class-wise-mce mean-class-mce "
    "largest-class-ece confidence-ece confidence-mce hosmer-lemeshow hosmer-lemeshow-p"
)
BY_CALIBRATION = (
    "binning-works binning-works-network binning-grouping binning-grouping-network isotonic-works isotonic-works-network "
    "isotonic-grouping platt-under platt-network beta-under beta-network beta-network-diagonal temperature-middle "
    "temperature-elsewhere fig-4 beta-works"
)

TOLD = {
    **dict.fromkeys(FIGURES.split(), lambda exact, **_: {"exact": str(Fraction(exact) + Fraction(1, 10))}),
    **dict.fromkeys(BY_CALIBRATION.split(), unchanged),
    **dict.fromkeys(("table-2", "table-6", "table-7", "table-8"), shifted),
    **dict.fromkeys(
        ("table-4", "table-5"),
        lambda figures: {"figures": {name: [printed, printed] for name, (_, printed) in figures.items()}},
    ),
    **dict.fromkeys(
        ["temperature-one-map", "vector-class-3", "matrix-class-3", "matrix-overfits", "dirichlet-overfits", "odir"],
        with_the_rival("one", "other"),
    ),
    **dict.fromkeys(("beta-over-low", "beta-calibrated"), lambda platt, **_: {"beta": platt}),
    **dict.fromkeys(("fig-3", "ece-extremes", "empty-bins", "table-1-signs", "footnote-2"), exchanged),
    **dict.fromkeys(
        ("decomposition", "equation-5", "equation-6", "equation-9", "equation-12", "equation-21"),
        lambda meant, **_: {"printed": meant},
    ),
    "degrees-of-freedom": lambda held_out, **_: {"fit": held_out},
    "fig-12-range": lambda shares, barely: {"shares": shares | {"variance": shares["standard deviation"]}},
    "boundary": lambda lost, best: {"lost": best - 0.5},
    "fig-12-slopes": lambda under, over: {"under": over, "over": under},
    "binning-values": lambda cases, bins: {"cases": cases | {"over-confident": [bins + 1]}},
    "isotonic-values": lambda cases, bins: {"cases": {name: [bins] for name in cases}},
    "isotonic-middle": lambda cases: {"cases": {name: of | {"here": of["elsewhere"]} for name, of in cases.items()}},
    "isotonic-few-rows": lambda cases: {"cases": {name: of | {"even": of["drawn"]} for name, of in cases.items()}},
    "isotonic-not-monotone": lambda best, **_: {"best": [0.0] * len(best)},
    "isotonic-ends": lambda zero, one: {"zero": 0.0, "one": 0.0},
    "platt-over-cause": lambda at_0, at_1: {"at_0": [0.0], "at_1": [1.0]},
    "vector-not-as-bad": lambda readings: {
        "readings": {name: dict.fromkeys(of, of["before"]) for name, of in readings.items()}
    },
    "vector-balance": with_the_rival("few_vector", "few_matrix"),
    "vector-near-temperature": at_distance(0.0),
    "dirichlet-near-matrix": at_distance(1.0),
    "dirichlet-corner": lambda penalised, **_: {"dirichlet": penalised},
    **dict.fromkeys(("beta-identity", "dirichlet-identity"), lambda largest: {"largest": {"change": 0.01}}),
    "fig-6": lambda found: {"found": dict(zip(found, ("0 and 0", "1/4 and 1/4") * 2, strict=True))},
    "capped": lambda highest, **_: {"highest": dict.fromkeys(highest, highest["variance"])},
}
"""Numbers that the mutant of a claim has otherwise, from the claim's own."""

RUN = {
    **dict.fromkeys(("fig-2-off-centre", "fig-2-too-low"), lambda: claims.merged(10)),
    "notions-of-two-classes": lambda: claims.of_two_scores((0.7, 0.3)),
    "ece-of-a-coin": lambda: claims.of_a_coin((0.5,)),
    "thresholds": never(lambda: claims.thresholds((1, 4), swap=True))[0],
    "logistic-analytic": lambda: claims.analytic_map(total=True),
    "platt-over": claims_methods.by_measure(LOGISTIC[1], "beta"),
    "beta-same": before_calibration,
    "strictly-proper": never(lambda: equations.no_better_vector({"absolute error": absolute_error}))[0],
    "calibrator-of-table-2": never(lambda: equations.calibrated_table_2("prob"))[0],
    "multiclass-is-strongest": never(lambda: equations.of_whole_vectors(shuffle=True))[0],
    "numbers-of-bins": never(lambda: equations.by_numbers_of_bins(10, 5))[0],
    "isotonic-optimal": never(lambda: equations.of_isotonic("beta"))[0],
    "resampling": run_with(claims, "resampling_test", of_confidence, claims.resampled),
}
"""Mutants that are measured."""
