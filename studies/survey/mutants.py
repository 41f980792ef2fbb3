"""What must change the verdict of each claim on this paper."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from calibrant.significance import resampling_test
from studies.claims import Mutant, Numbers, run_with
from studies.survey import claims
from studies.survey.cases import the_case


def off(exact: str, printed: str, **_: Any) -> Numbers:
    """A figure that is one of its last digits above the printed one."""
    return {"exact": str(Fraction(printed) + Fraction(1, 10 ** len(printed.partition(".")[2]))), "entries": None}


def shifted(figures: Mapping[str, list[str]]) -> Numbers:
    """Each entry of a table in place of the next."""
    found = [exact for exact, _ in figures.values()]
    moved = [found[-1], *found[:-1]]
    return {"figures": {name: [e, printed] for (name, (_, printed)), e in zip(figures.items(), moved, strict=True)}}


def unchanged(cases: Mapping[str, Mapping[str, Any]]) -> Numbers:
    """A calibrator that changes nothing, in each case."""
    return {"cases": {name: of | {"after": _as_before(of)} for name, of in cases.items()}}


def _as_before(of: Mapping[str, Any]) -> Any:
    after, before = of["after"], of["before"]
    if isinstance(after, Mapping):
        return {name: [before[name]] * len(values) for name, values in after.items()}
    return [before] * len(after)


def before_calibration() -> Numbers:
    """How far predictions of the two logistic cases are apart before calibration."""
    under, over = (the_case(name) for name in ("under-confident", "over-confident"))
    return {"apart": [under.mean(np.abs(under.forecast - over.forecast))] * 2}


def of_confidence(y: Any, prob: Any, metric: str, **how: Any) -> Any:
    """The resampling test of the confidence-ECE."""
    return resampling_test(y, prob, metric="ece", **how)


OFF = Mutant("a value that differs in the last printed digit", off)
PRINTED = Mutant("the printed figure as the exact one", lambda exact, printed, entries: {"exact": printed})
SHIFTED = Mutant("each entry in place of the next", shifted)
EXACT = Mutant(
    "the printed entries as the exact ones",
    lambda figures: {"figures": {name: [printed, printed] for name, (_, printed) in figures.items()}},
)
UNCHANGED = Mutant("the identity in place of the calibrator", unchanged)
ROUNDED = (
    "table-2-calibration",
    "class-1-ece",
    "class-1-mce",
    "class-2-ece",
    "class-3-ece",
    "class-wise-ece",
    "class-wise-mce",
    "largest-class-ece",
    "confidence-ece",
    "equation-21",
)
ANOTHER_MAP = Mutant(
    "a map that moves a probability by 0.01", lambda largest_change, tolerance: {"largest_change": 0.01}
)

MUTANTS = {
    **dict.fromkeys(ROUNDED, PRINTED),
    **dict.fromkeys(("mean-class-mce", "confidence-mce", "hosmer-lemeshow", "hosmer-lemeshow-p"), OFF),
    **dict.fromkeys(("table-2", "table-6", "table-7", "table-8"), SHIFTED),
    **dict.fromkeys(("table-4", "table-5"), EXACT),
    "table-1-signs": Mutant("one class less", lambda over: {"over": over[:-1]}),
    "footnote-2": Mutant(
        "the class-wise ECE in place of the confidence-ECE", lambda class_wise, confidence: {"confidence": class_wise}
    ),
    "fig-12-range": Mutant(
        "standard deviations in place of variances",
        lambda shares, barely: {"shares": shares | {"variance": shares["standard deviation"]}},
    ),
    "boundary": Mutant("a coin in place of the boundary", lambda lost, best: {"lost": best - 0.5}),
    "fig-12-slopes": Mutant("the two cases exchanged", lambda under, over: {"under": over, "over": under}),
    "binning-values": Mutant(
        "one value more than bins", lambda cases, bins: {"cases": cases | {"over-confident": [bins + 1]}}
    ),
    "binning-works": UNCHANGED,
    "binning-grouping": UNCHANGED,
    "isotonic-works": UNCHANGED,
    "isotonic-values": Mutant(
        "binning in place of isotonic regression", lambda cases, bins: {"cases": {name: [bins] for name in cases}}
    ),
    "isotonic-middle-left": Mutant("elsewhere in place of there", lambda here, elsewhere: {"here": elsewhere}),
    "isotonic-grouping": Mutant(
        "the identity in place of isotonic regression",
        lambda readings: {"readings": {name: unchanged(of)["cases"] for name, of in readings.items()}},
    ),
    "isotonic-ends": Mutant("ends that are smoothed", lambda zero, one: {"zero": 0.0, "one": 0.0}),
    "beta-over-low": Mutant("Platt scaling in place of beta calibration", lambda platt, **_: {"beta": platt}),
    "beta-same": Mutant("predictions before calibration", before_calibration, measured=True),
    "beta-calibrated": Mutant("Platt scaling in place of beta calibration", lambda platt, **_: {"beta": platt}),
    "beta-identity": ANOTHER_MAP,
    "dirichlet-identity": ANOTHER_MAP,
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
