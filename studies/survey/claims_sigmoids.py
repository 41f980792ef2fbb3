"""What the survey says of Platt scaling and beta calibration (its figures 15 and 16)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrant import BetaCalibration
from studies.claims import Claim, Verdict
from studies.judging import below_zero, on_several, under_all_readings
from studies.survey import judges, sentences
from studies.survey.cases import less, over_draws, show, the_case
from studies.survey.judges import CLEARLY, FALLS, LEFT_OVER, LITTLE, SAME, WELL
from studies.survey.measures import errors
from studies.survey.two_errors import (
    METHODS,
    PLATT,
    STRAIGHT,
    Region,
    after,
    before,
    best_case_added,
    off_before,
    off_inside,
    off_where,
    values,
)

BETA = "beta"
TENTHS: list[Region] = [(k / 10, (k + 1) / 10 + (0.01 if k == 9 else 0.0)) for k in range(10)]
MEASURES = {
    "E abs(S - C)": "calibration",
    "the calibration loss": "brier_calibration",
    "the log loss above Bayes": "log_excess",
}
BY_ALL = "by E abs(S - C), by calibration loss and by log loss above Bayes alike"
LOW, HIGH, UPPER = (0.0, 0.5), (0.5, 1.01), (0.6, 1.01)
NOT_THEIRS = "the survey did not run this method: it fits the sigmoid to the probabilities themselves"


def of_case(name: str, method: str) -> Any:
    """Return a measure of E|S - C| before and after."""
    return lambda: errors(name, method)


def by_measure(name: str, method: str) -> Any:
    """Return a measure of what is left by E|S - C|, by calibration loss and by log loss above Bayes."""

    def measure() -> dict[str, Any]:
        was = before(name)
        return {
            "measures": {
                word: {"before": getattr(was, what), "after": after(name, method, what)}
                for word, what in MEASURES.items()
            }
        }

    return measure


def of_measures(measures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what is left by each measure."""
    shares = ", ".join(f"{show(judges.left(**of), 1, 100)} % of {word}" for word, of in measures.items())
    return f"It differs between measures; left are {shares}"


def under_all_measures(judge: judges.Judge) -> judges.Judge:
    """Return the verdict that every measure gives."""
    return lambda measures: under_all_readings(judge(**of) for of in measures.values())


def inside(name: str, method: str, region: Region) -> dict[str, Any]:
    """Return E|S - C| in a region before and after."""
    return {"before": off_before(name, region), "after": off_inside(name, method, region)}


def high_in_both_readings() -> dict[str, Any]:
    """Return E|S - C| of the over-confident case in [0.5, 1], which can be read as a region before or after calibration."""
    there = inside("over-confident", BETA, HIGH)
    return {
        "readings": {
            "there before,": there,
            "there after,": there | {"after": off_where("over-confident", BETA, HIGH)},
            "Platt scaling, there before,": inside("over-confident", STRAIGHT, HIGH),
        }
    }


def by_region(method: str) -> dict[str, Any]:
    """Return E|S - C| of the network in each tenth of [0, 1]."""
    return {
        "before": [off_before("mlp", region) for region in TENTHS],
        "after": [off_inside("mlp", method, region) for region in TENTHS],
    }


def on_log_odds(key: str, sentence: str, measure: Any, say: sentences.Words) -> Claim:
    """Return what a method does that the survey did not run: no verdict on its sentence."""
    return Claim(
        key=key,
        where="not in the survey",
        sentence=f"Platt scaling on log-odds: {sentence}",
        target=NOT_THEIRS,
        says=Verdict.NOT_JUDGED,
        measure=measure,
        judge=lambda **numbers: Verdict.NOT_JUDGED,
        words=say,
    )


def more_corrections() -> dict[str, Any]:
    """Return E|S - C| of the over-confident case in [0, 0.5] after each method."""
    return {
        "before": off_before("over-confident", LOW),
        "beta": off_inside("over-confident", BETA, LOW),
        "platt": off_inside("over-confident", STRAIGHT, LOW),
    }


def apart() -> dict[str, Any]:
    """Return how far the two calibrated cases are apart."""
    mass = the_case("under-confident").mass
    both = ("under-confident", "over-confident")
    one, other = (lambda s, name=name: values(name, BETA, s) for name in both)
    return {"apart": over_draws(lambda s: float(mass @ np.abs(one(s) - other(s))))}


def unchanged() -> dict[str, Any]:
    """Return the largest change by beta calibration with a = b = 1 and c = 0."""
    same = BetaCalibration().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    same.a_, same.b_, same.c_ = 1.0, 1.0, 0.0
    scores = np.linspace(0.001, 0.999, 999)
    return {"largest_change": float(np.abs(same.calibrate(scores) - scores).max()), "tolerance": 1e-12}


def added() -> dict[str, Any]:
    """Return the log loss that each method adds to Bayes' own predictions."""
    names = {"beta": BETA, "platt": STRAIGHT, "platt_log_odds": PLATT}
    return {word: best_case_added("bayes-optimal", METHODS[name]) for word, name in names.items()}


WELL_BY_ALL = f"less than {WELL:.0%} is left, {CLEARLY}, {BY_ALL}"

PLATT_SCALING: tuple[Claim, ...] = (
    Claim(
        key="platt-under",
        where="Fig. 15",
        sentence="Platt scaling improves the under-confident case well.",
        target=WELL_BY_ALL,
        says=Verdict.OPEN,
        measure=by_measure("under-confident", STRAIGHT),
        judge=under_all_measures(judges.works_well),
        words=of_measures,
    ),
    Claim(
        key="platt-over",
        where="Fig. 15",
        sentence="It does little for the over-confident case.",
        target=f"more than {LITTLE:.0%} is left, {CLEARLY}, {BY_ALL}",
        says=Verdict.OPEN,
        measure=by_measure("over-confident", STRAIGHT),
        judge=under_all_measures(judges.does_little),
        words=of_measures,
    ),
    Claim(
        key="platt-over-cause",
        where="Fig. 15",
        sentence="The cause: a sigmoid cannot push probabilities to the middle.",
        target="a cause, which was not computed",
        says=Verdict.NOT_JUDGED,
        measure=dict,
        judge=lambda: Verdict.NOT_JUDGED,
        words=lambda: "Nothing was computed",
    ),
    Claim(
        key="platt-network",
        where="Fig. 15",
        sentence="It makes the calibration of the neural network worse around several regions.",
        target=f"worse in two tenths of [0, 1] or more, {CLEARLY}, for every one of several networks",
        says=Verdict.OPEN,
        measure=lambda: {"networks": [by_region(STRAIGHT)]},
        judge=on_several(judges.worse_in_regions),
        words=sentences.of_networks(sentences.region_by_region),
    ),
    on_log_odds(
        "log-odds-under", "the under-confident case.", of_case("under-confident", PLATT), sentences.how_much_is_left
    ),
    on_log_odds(
        "log-odds-over", "the over-confident case.", of_case("over-confident", PLATT), sentences.how_much_is_left
    ),
    on_log_odds("log-odds-network", "the neural network.", lambda: by_region(PLATT), sentences.region_by_region),
)

BETA_CALIBRATION: tuple[Claim, ...] = (
    Claim(
        key="beta-under",
        where="Fig. 16",
        sentence="Beta calibration deals with the under-confident case fairly well: its diagram follows the diagonal "
        "closely.",
        target=WELL_BY_ALL,
        says=Verdict.OPEN,
        measure=by_measure("under-confident", BETA),
        judge=under_all_measures(judges.works_well),
        words=of_measures,
    ),
    Claim(
        key="beta-over-low",
        where="Fig. 16",
        sentence="In the over-confident case it corrects more than Platt scaling around [0, 0.5].",
        target=f"E abs(S - C) there is lower, {CLEARLY}",
        says=Verdict.HOLDS,
        measure=more_corrections,
        judge=lambda before, beta, platt: below_zero(less(beta, platt)),
        words=lambda before, beta, platt: (
            f"E abs(S - C) there {before:.4f} before; " + sentences.compared(beta, platt, "beta", "Platt scaling")
        ),
    ),
    Claim(
        key="beta-over-high",
        where="Fig. 16",
        sentence="It does not help much in [0.5, 1].",
        target="the caption compares it with Platt scaling, and says neither how much would be much nor by which measure",
        says=Verdict.OPEN,
        measure=high_in_both_readings,
        judge=lambda readings: Verdict.OPEN,
        words=lambda readings: "; ".join(f"{when} {sentences.how_much_is_left(**of)}" for when, of in readings.items()),
    ),
    Claim(
        key="beta-network",
        where="Fig. 16",
        sentence="It improves the neural network somewhat around [0.6, 1].",
        target=f"{FALLS} there, for every one of several networks",
        says=Verdict.OPEN,
        measure=lambda: {"networks": [inside("mlp", BETA, UPPER)]},
        judge=on_several(judges.falls),
        words=sentences.of_networks(sentences.how_much_is_left),
    ),
    Claim(
        key="beta-network-diagonal",
        where="Fig. 16",
        sentence="There it brings the diagram to the diagonal.",
        target=f"{LEFT_OVER}, for every one of several networks",
        says=Verdict.OPEN,
        measure=lambda: {"networks": [inside("mlp", BETA, UPPER)]},
        judge=on_several(judges.works_well),
        words=sentences.of_networks(sentences.how_much_is_left),
    ),
    Claim(
        key="beta-same",
        where="Fig. 16",
        sentence="Calibrated, both logistic cases have nearly one diagram.",
        target=f"the calibrated predictions differ by less than {SAME} on average, {CLEARLY}",
        says=Verdict.HOLDS,
        measure=apart,
        judge=judges.almost_the_same,
        words=lambda apart: f"They differ by {show(apart)}",
    ),
    Claim(
        key="beta-identity",
        where="Section 2.2, 5.3",
        sentence="Beta calibration contains the identity: a = b = 1, c = 0.",
        target="no score changes by more than 1e-12",
        says=Verdict.HOLDS,
        measure=unchanged,
        judge=judges.identity,
        words=lambda largest_change, tolerance: f"The largest change is {largest_change:.0e}",
    ),
    Claim(
        key="beta-calibrated",
        where="Section 2.2, 5.3",
        sentence="So it recognises predictions that are calibrated already, which Platt scaling, without the "
        "identity, makes worse.",
        target=f"fitted to Bayes' own predictions it adds less log loss than Platt scaling, {CLEARLY}",
        says=Verdict.HOLDS,
        measure=added,
        judge=lambda beta, platt, platt_log_odds: below_zero(less(beta, platt)),
        words=lambda beta, platt, platt_log_odds: (
            f"Log loss added: {sentences.compared(beta, platt, 'beta', 'Platt scaling', 5)}; on log-odds, which contains "
            f"the identity and which the survey did not run, {show(platt_log_odds, 5)}"
        ),
    ),
)

CLAIMS = (*PLATT_SCALING, *BETA_CALIBRATION)
