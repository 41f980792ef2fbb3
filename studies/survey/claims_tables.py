"""What the survey computes from its Tables 1 to 7 and in footnote 2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from calibrant import (
    brier_score_loss,
    classwise_calibration_error,
    expected_calibration_error,
    log_loss,
    maximum_calibration_error,
    reliability_curve,
)
from calibrant.datasets import load_hallenbeck_forecasts, load_survey_table_2, load_survey_table_3
from calibrant.metrics import (
    calibration_refinement,
    classwise_maximum_calibration_error,
    classwise_mean_maximum_calibration_error,
    classwise_worst_calibration_error,
    epistemic_irreducible,
)
from calibrant.notions import OneVsRest
from studies.claims import Claim, Verdict
from studies.survey.printed import decimal, entries, exact, figure, of_entries

CLASSES = {"labels": [1, 2, 3]}


def of_running(metric: Callable[..., float], **asked: Any) -> Callable[[], str]:
    """Return the exact value of a metric on Table 3, in five bins."""
    return lambda: exact(metric(*load_survey_table_3(), binning=5, **CLASSES, **asked))


def of_class(j: int) -> Callable[[], str]:
    """Return the exact class-j-ECE of Table 3."""
    return of_running(expected_calibration_error, notion=OneVsRest(str(j)))


def of_rain() -> dict[str, list[str]]:
    """Return the percentages of Table 1."""
    bins = reliability_curve(*load_hallenbeck_forecasts(), notion="binary", binning=10).panels[0].bins
    printed = ("18", "23", "33", "53", "62", "75", "86", "100", "100")
    return {f"{10 * b} to {10 * b + 9} %:": [exact(100 * bins.event_rate[b]), printed[b - 1]] for b in range(1, 10)}


PRINTED_BINS: dict[str, list[tuple[str, str, str] | None]] = {
    "class 1": [("0.10", "0.18", "0.08"), ("0.35", "0.43", "0.08"), ("0.57", "0.33", "0.24"),
                ("0.77", "0.29", "0.48"), ("0.95", "1.00", "0.05")],
    "class 2": [("0.10", "0.33", "0.23"), ("0.35", "0.33", "0.02"), ("0.57", "0.33", "0.24"), None, None],
    "class 3": [("0.10", "0.36", "0.26"), ("0.35", "0.18", "0.17"), ("0.55", "0.25", "0.3"),
                ("0.72", "0.75", "0.03"), None],
    "confidence": [None, ("0.38", "0.43", "0.05"), ("0.56", "0.30", "0.26"), ("0.75", "0.45", "0.3"),
                   ("0.95", "1.00", "0.05")],
}  # fmt: skip
"""Mean probability, rate and gap of each bin, as Tables 4 to 7 print them."""


def of_bins(panel: str) -> Callable[[], dict[str, list[str]]]:
    """Return the entries of Table 4, 5, 6 or 7."""

    def measure() -> dict[str, list[str]]:
        notion = "confidence" if panel == "confidence" else "class-wise"
        curve = reliability_curve(*load_survey_table_3(), notion=notion, binning=5, **CLASSES)
        bins = next(p for p in curve.panels if p.name == panel).bins
        found = {}
        for b, printed in enumerate(PRINTED_BINS[panel]):
            if printed is not None:
                values = bins.mean_prob[b], bins.event_rate[b], abs(bins.gap[b])
                for word, value, figure in zip(("mean", "rate", "gap"), values, printed, strict=True):
                    found[f"bin {b + 1}, {word}"] = [exact(value), figure]
        return found

    return measure


def of_losses() -> dict[str, list[str]]:
    """Return the scores of Table 2 and their parts, but for the calibration part of the Brier score."""
    toy = load_survey_table_2()
    parts: dict[str, tuple[Callable[..., Any], str, int]] = {
        "refinement, Brier 0.52": (calibration_refinement, "brier", 1),
        "epistemic, Brier 0.26": (epistemic_irreducible, "brier", 0),
        "irreducible, Brier 0.45": (epistemic_irreducible, "brier", 1),
        "calibration, log 0.29": (calibration_refinement, "log", 0),
        "refinement, log 0.83": (calibration_refinement, "log", 1),
        "epistemic, log 0.48": (epistemic_irreducible, "log", 0),
        "irreducible, log 0.64": (epistemic_irreducible, "log", 1),
    }
    found = {
        "Brier score": [decimal(brier_score_loss(toy.y, toy.prob, **CLASSES)), "0.71"],
        "log loss": [decimal(log_loss(toy.y, toy.prob, **CLASSES)), "1.12"],
    }
    for word, (split, score, part) in parts.items():
        truth = (toy.posterior,) if split is epistemic_irreducible else ()
        name, _, printed = word.rpartition(" ")
        found[name] = [decimal(split(toy.y, toy.prob, *truth, score=score, **CLASSES).terms[part][1]), printed]
    return found


def calibration_loss() -> str:
    """Return the calibration part of the Brier score of Table 2."""
    toy = load_survey_table_2()
    return exact(calibration_refinement(toy.y, toy.prob, score="brier", **CLASSES).terms[0][1])


def signs_of_rain() -> dict[str, Any]:
    """Return where it rained less often than predicted."""
    bins = reliability_curve(*load_hallenbeck_forecasts(), notion="binary", binning=10).panels[0].bins
    return {"over": [f"{10 * b} to {10 * b + 9} %" for b in range(10) if bins.count[b] and bins.gap[b] < 0]}


def footnote() -> dict[str, Any]:
    """Return the errors of the forty rows of footnote 2."""
    forecasts = np.array([[0.3, 0.3, 0.4], [0.4, 0.3, 0.3], [0.4, 0.6, 0.0], [0.3, 0.6, 0.1]])
    occurred = np.array([[4, 2, 4], [3, 4, 3], [5, 5, 0], [2, 7, 1]])
    y, prob = np.concatenate([np.repeat([0, 1, 2], row) for row in occurred]), np.repeat(forecasts, 10, axis=0)
    return {
        "class_wise": exact(classwise_calibration_error(y, prob)),
        "confidence": exact(expected_calibration_error(y, prob, notion="confidence")),
    }


def separates(class_wise: str, confidence: str) -> Verdict:
    """Return whether the one error is zero and the other is not."""
    return Verdict.HOLDS if Fraction(class_wise) == 0 < Fraction(confidence) else Verdict.FAILS


CLAIMS: tuple[Claim, ...] = (
    replace(
        entries("table-1", "Table 1", "The shares of rainy days of Hallenbeck's forecasts.", of_rain, Verdict.NOT_JUDGED),
        target="the table is reproduced from Hallenbeck (1920): no figure of the survey's authors",
        judge=lambda figures: Verdict.NOT_JUDGED,
        words=lambda figures: (
            f"{of_entries(figures)}. The table is reproduced from Hallenbeck (1920), and the 75 with it"
        ),
        one_suffices="",
    ),
    Claim(
        key="table-1-signs",
        where="Section 2",
        sentence="Most of these forecasts are slight under-estimates; those of 20 to 29 and of 30 to 39 % are "
        "over-estimates.",
        target="these two classes alone are over-estimates",
        says=Verdict.HOLDS,
        measure=signs_of_rain,
        judge=lambda over: Verdict.HOLDS if over == ["20 to 29 %", "30 to 39 %"] else Verdict.FAILS,
        words=lambda over: f"Over-estimates, with every forecast at the centre of its class: {', '.join(over)}",
    ),
    Claim(
        key="footnote-2",
        where="Footnote 2",
        sentence="Forty rows that are class-wise calibrated and not confidence-calibrated.",
        target="class-wise ECE 0, confidence-ECE above 0",
        says=Verdict.HOLDS,
        measure=footnote,
        judge=separates,
        words=lambda class_wise, confidence: f"Class-wise ECE {class_wise}, confidence-ECE {confidence}",
    ),
    entries("table-2", "Table 2", "Brier score 0.71, log loss 1.12, and their parts but one.", of_losses, Verdict.HOLDS),
    figure("table-2-calibration", "Table 2", "The calibration part of the Brier score is", "0.19", calibration_loss,
           entries=0.19308, says=Verdict.IN_PART),
    entries("table-4", "Table 4", "The bins of class 1.", of_bins("class 1"), Verdict.IN_PART),
    entries("table-5", "Table 5", "The bins of class 2.", of_bins("class 2"), Verdict.IN_PART),
    entries("table-6", "Table 6", "The bins of class 3.", of_bins("class 3"), Verdict.HOLDS),
    entries("table-7", "Table 7", "The bins of the confidence.", of_bins("confidence"), Verdict.HOLDS),
    figure("class-1-ece", "Table 4", "The ECE of class 1, binary-ECE, is", "0.1873", of_class(1),
           entries=5.62 / 30, says=Verdict.IN_PART),
    figure("class-1-mce", "Table 4", "The largest gap of class 1 is", "0.48",
           of_running(maximum_calibration_error, notion=OneVsRest("1")), entries=0.48, says=Verdict.IN_PART),
    figure("class-2-ece", "Table 5", "The ECE of class 2 is", "0.147", of_class(2),
           entries=4.41 / 30, says=Verdict.IN_PART),
    figure("class-3-ece", "Table 6", "The ECE of class 3 is", "0.2017", of_class(3),
           entries=6.05 / 30, says=Verdict.IN_PART),
    figure("class-wise-ece", "Section 4.3", "The class-wise ECE is", "0.1787",
           of_running(classwise_calibration_error), entries=(0.1873 + 0.147 + 0.2017) / 3, says=Verdict.IN_PART),
    figure("class-wise-mce", "Section 4.3", "The class-wise MCE is", "0.48",
           of_running(classwise_maximum_calibration_error), entries=0.48, says=Verdict.IN_PART),
    figure("mean-class-mce", "Section 4.3", "The average class MCE is", "0.34",
           of_running(classwise_mean_maximum_calibration_error), entries=(0.48 + 0.24 + 0.3) / 3),
    figure("largest-class-ece", "Section 4.3", "The largest class ECE is", "0.2017",
           of_running(classwise_worst_calibration_error), entries=6.05 / 30, says=Verdict.IN_PART),
    figure("confidence-ece", "Table 7", "The confidence-ECE is", "0.2117",
           of_running(expected_calibration_error, notion="confidence"), entries=6.35 / 30, says=Verdict.IN_PART),
    figure("confidence-mce", "Table 7", "The confidence-MCE is", "0.3",
           of_running(maximum_calibration_error, notion="confidence"), entries=0.3),
)  # fmt: skip
