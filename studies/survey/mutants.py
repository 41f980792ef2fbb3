"""What must change the verdict of each claim on this paper."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Self

import numpy as np

from calibrant.significance import resampling_test
from studies.claims import Mutant, Numbers, run_with
from studies.survey import cases, claims, claims_methods
from studies.survey.cases import LOGISTIC, READINGS, class_by_class, the_case


class Sharpened:
    """A map of three classes that learns nothing and makes every prediction bolder."""

    def fit(self, prob: np.ndarray, y: np.ndarray) -> Self:
        return self

    def calibrate(self, prob: np.ndarray) -> np.ndarray:
        return np.asarray(prob**3 / (prob**3).sum(axis=1, keepdims=True))


cases.MAKES["sharpened"] = Sharpened


def sharpened_beside(other: str) -> Mutant:
    """Predictions that are made bolder, beside a method."""
    measure = class_by_class("sharpened", other)
    return Mutant(
        "predictions that are made bolder in place of the method",
        lambda: {"readings": {reading: measure(reading) for reading in READINGS}},
        measured=True,
    )


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


def exchanged(**numbers: Any) -> Numbers:
    """The first and the last of two in each other's place."""
    ((name, found),) = numbers.items()
    return {name: dict(zip(found, reversed(found.values()), strict=True))}


def before_calibration() -> Numbers:
    """How far predictions of the two logistic cases are apart before calibration."""
    under, over = map(the_case, LOGISTIC)
    return {"apart": [under.mean(np.abs(under.forecast - over.forecast))] * 2}


def of_confidence(y: Any, prob: Any, metric: str, **how: Any) -> Any:
    """The resampling test of the confidence-ECE."""
    return resampling_test(y, prob, metric="ece", **how)


OFF = Mutant("a value that is 0.1 off", lambda exact, **_: {"exact": str(Fraction(exact) + Fraction(1, 10))})
SHIFTED = Mutant("each entry in place of the next", shifted)
EXACT = Mutant(
    "the printed entries as the exact ones",
    lambda figures: {"figures": {name: [printed, printed] for name, (_, printed) in figures.items()}},
)
UNCHANGED = Mutant("the identity in place of the calibrator", unchanged)
ANOTHER_MAP = Mutant("a map that moves a probability by 0.01", lambda **_: {"largest_change": 0.01})
RIVAL = Mutant("the other method in its place", with_the_rival("one", "other"))
PLATT = Mutant("Platt scaling in place of beta calibration", lambda platt, **_: {"beta": platt})
TEN_BINS = Mutant("ten bins in place of five", lambda: claims.merged(10), measured=True)
FIGURES = (
    "table-2-calibration class-1-ece class-1-mce class-2-ece class-3-ece class-wise-ece class-wise-mce mean-class-mce "
    "largest-class-ece confidence-ece confidence-mce hosmer-lemeshow hosmer-lemeshow-p"
)
BY_CALIBRATION = (
    "binning-works binning-works-network binning-grouping binning-grouping-network isotonic-works isotonic-works-network "
    "isotonic-grouping platt-under platt-network beta-under beta-network beta-network-diagonal temperature-middle "
    "temperature-elsewhere fig-4"
)

MUTANTS = {
    **dict.fromkeys(FIGURES.split(), OFF),
    **dict.fromkeys(BY_CALIBRATION.split(), UNCHANGED),
    **dict.fromkeys(("table-2", "table-6", "table-7", "table-8"), SHIFTED),
    **dict.fromkeys(("table-4", "table-5"), EXACT),
    **dict.fromkeys(
        ["temperature-one-map", "vector-class-3", "matrix-class-3", "matrix-overfits", "dirichlet-overfits", "odir"],
        RIVAL,
    ),
    **dict.fromkeys(("beta-over-low", "beta-calibrated"), PLATT),
    **dict.fromkeys(("beta-identity", "dirichlet-identity"), ANOTHER_MAP),
    **dict.fromkeys(("fig-2-off-centre", "fig-2-too-low"), TEN_BINS),
    **dict.fromkeys(("fig-3", "fig-6"), Mutant("the two examples exchanged", exchanged)),
    "notions-of-two-classes": Mutant("event rates .7 and .3", lambda: claims.of_two_scores((0.7, 0.3)), measured=True),
    "ece-of-a-coin": Mutant("as many positives as negatives", lambda: claims.of_a_coin((0.5,)), measured=True),
    "ece-extremes": Mutant("values in the reverse order", exchanged),
    "thresholds": Mutant("costs and ratios exchanged", lambda: claims.thresholds((1, 4), swap=True), measured=True),
    "logistic-analytic": Mutant("the variance of all scores", lambda: claims.analytic_map(total=True), measured=True),
    "empty-bins": Mutant("diagrams in the reverse order", exchanged),
    "degrees-of-freedom": Mutant("M (K - 1) degrees of freedom", lambda held_out, **_: {"shares": held_out}),
    "table-1-signs": Mutant("one class less", lambda over: {"over": over[:-1]}),
    "footnote-2": Mutant(
        "the class-wise ECE in place of the confidence-ECE", lambda class_wise, **_: {"confidence": class_wise}
    ),
    "equation-21": Mutant("the doubled term in place of the single one", lambda doubled, **_: {"single": doubled}),
    "fig-12-range": Mutant(
        "standard deviations in place of variances",
        lambda shares, barely: {"shares": shares | {"variance": shares["standard deviation"]}},
    ),
    "boundary": Mutant("a coin in place of the boundary", lambda lost, best: {"lost": best - 0.5}),
    "fig-12-slopes": Mutant("the two cases exchanged", lambda under, over: {"under": over, "over": under}),
    "binning-values": Mutant(
        "one value more than bins", lambda cases, bins: {"cases": cases | {"over-confident": [bins + 1]}}
    ),
    "isotonic-values": Mutant(
        "binning in place of isotonic regression", lambda cases, bins: {"cases": {name: [bins] for name in cases}}
    ),
    "isotonic-middle-left": Mutant("elsewhere in place of there", lambda here, elsewhere: {"here": elsewhere}),
    "isotonic-few-rows": Mutant("rows as drawn in place of rows spread evenly", lambda drawn, **_: {"even": drawn}),
    "isotonic-not-monotone": Mutant("monotone diagrams", lambda best, **_: {"best": [0.0] * len(best)}),
    "isotonic-ends": Mutant("ends that are smoothed", lambda zero, one: {"zero": 0.0, "one": 0.0}),
    "platt-over": Mutant(
        "beta calibration in its place", claims_methods.by_measure(LOGISTIC[1], "beta"), measured=True
    ),
    "platt-over-cause": Mutant(
        "the identity in place of the sigmoid", lambda at_0, at_1: {"at_0": [0.0], "at_1": [1.0]}
    ),
    "beta-same": Mutant("predictions before calibration", before_calibration, measured=True),
    "vector-near-temperature": sharpened_beside("temperature"),
    "vector-not-as-bad": Mutant(
        "the identity in place of both methods",
        lambda readings: {
            "readings": {name: dict.fromkeys(of, of["before"]) for name, of in readings.items()},
        },
    ),
    "vector-balance": Mutant("matrix scaling in place of vector scaling", with_the_rival("few_vector", "few_matrix")),
    "dirichlet-near-matrix": sharpened_beside("matrix"),
    "dirichlet-corner": Mutant("matrix scaling in its own place", with_the_rival("dirichlet", "matrix")),
    "capped": Mutant(
        "variances in place of standard deviations",
        lambda highest, **_: {"highest": dict.fromkeys(highest, highest["variance"])},
    ),
    "resampling": Mutant(
        "the confidence-ECE in place of the class-wise one",
        run_with(claims, "resampling_test", of_confidence, claims.resampled),
        measured=True,
    ),
}
