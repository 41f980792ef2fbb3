"""What the pages say about this paper, as rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import norm

from calibrant import (
    brier_score_loss,
    classwise_calibration_error,
    expected_calibration_error,
    hosmer_lemeshow_test,
    log_loss,
    maximum_calibration_error,
    reliability_curve,
)
from calibrant.datasets import (
    CLASS_1,
    CLASS_2,
    SLOPES,
    load_hallenbeck_forecasts,
    load_survey_table_2,
    load_survey_table_3,
)
from calibrant.metrics import (
    calibration_refinement,
    classwise_maximum_calibration_error,
    classwise_mean_maximum_calibration_error,
    classwise_worst_calibration_error,
    epistemic_irreducible,
)
from calibrant.notions import OneVsRest
from calibrant.significance import resampling_test
from studies.claims import CLEAR, Claim, Paper, Verdict, holds, on_several
from studies.survey import cases, claims_methods
from studies.survey.cases import (
    CLEARLY,
    CLOSE,
    DRAWS,
    FALLS,
    LOGISTIC,
    Region,
    as_printed,
    before,
    each,
    entries_as_printed,
    extent,
    fitted,
    logistic,
    mass_of,
    near,
    network,
    parts,
    rounds_to,
    the_case,
)

# What the survey says of empirical binning (its figure 13).


BINS = "10 bins"


def bins_used() -> dict[str, Any]:
    """Return how many bins hold rows, for each calibration set."""
    used = {n: [int((fitted(n, BINS, s).count_ > 0).sum()) for s in range(DRAWS)] for n in LOGISTIC}
    return {"cases": used, "bins": 10}


OF_BINNING: tuple[Claim, ...] = (
    Claim(
        key="binning-values",
        where="Fig. 13",
        sentence="Binning gives 10 values or fewer; fewer in the under-confident case, where outer bins are empty.",
        target="at most 10 bins with rows, always fewer in the under-confident case",
        says=Verdict.HOLDS,
        measure=bins_used,
        judge=cases.few_values,
        words=lambda cases, bins: "Bins with rows: " + each({n: extent(counts) for n, counts in cases.items()}),
    ),
    Claim(
        key="binning-works",
        where="Fig. 13",
        sentence="Binning works well, with most points close to the diagonal: the two logistic cases.",
        target=f"{FALLS}, and more than half of the predictions have abs(S - C) below {CLOSE}",
        says=Verdict.HOLDS,
        measure=logistic(near, BINS),
        judge=cases.in_each(cases.on_the_diagonal),
        words=cases.in_words(cases.near_the_diagonal),
    ),
    Claim(
        key="binning-works-network",
        where="Fig. 13",
        sentence="Binning works well, with most points close to the diagonal: the neural network.",
        target="the same, for every one of several networks",
        says=Verdict.OPEN,
        measure=network(near, BINS),
        judge=on_several(cases.on_the_diagonal),
        words=cases.of_networks(cases.near_the_diagonal),
    ),
    Claim(
        key="binning-grouping",
        where="Section 5.3",
        sentence="Binning trades calibration loss for grouping loss: the two logistic cases.",
        target=f"calibration loss falls and grouping loss rises {CLEARLY}",
        says=Verdict.HOLDS,
        measure=logistic(parts, BINS),
        judge=cases.in_each(cases.traded),
        words=cases.in_words(cases.exchanged),
    ),
    Claim(
        key="binning-grouping-network",
        where="Section 5.3",
        sentence="Binning trades calibration loss for grouping loss: the neural network.",
        target="the same, for every one of several networks",
        says=Verdict.OPEN,
        measure=network(parts, BINS),
        judge=on_several(cases.traded),
        words=cases.of_networks(cases.exchanged),
    ),
)


# What the survey says of its two-class cases (section 5.2 and figure 12).


BARELY = 0.01
"""Share of predictions outside a range that is barely left."""

NEARLY = 0.01
"""Accuracy that a boundary may lose and be nearly Bayes-optimal."""


def shares_outside() -> dict[str, Any]:
    """Return how many predictions of the under-confident case lie outside [0.1, 0.9], for both ways to read the classes."""
    end = np.log(9.0) / SLOPES["under-confident"]
    components = [(mean, second) for cls in (CLASS_1, CLASS_2) for mean, second in cls]

    def share(power: float) -> float:
        inside = [norm.cdf(end, m, s**power) - norm.cdf(-end, m, s**power) for m, s in components]
        return float(1.0 - np.mean(inside))

    return {"shares": {"variance": share(0.5), "standard deviation": share(1.0)}, "barely": BARELY}


def lost_at_zero() -> dict[str, Any]:
    """Return the accuracy that the boundary x = 0 loses to Bayes' rule."""
    of = the_case("bayes-optimal")
    best = of.mean(np.maximum(of.posterior, 1 - of.posterior))
    return {"lost": best - of.mean(np.where(of.x > 0, of.posterior, 1 - of.posterior)), "best": best}


def slopes() -> dict[str, Any]:
    """Return the least-squares slope of the diagram: of the under-confident case, and about the middle of the other."""
    return {"under": slope("under-confident", (0.0, 1.01)), "over": slope("over-confident", (0.25, 0.75))}


def slope(name: str, region: Region) -> float:
    """Return the slope of the event's probability against the prediction, over the predictions in a region."""
    of = the_case(name)
    mass = mass_of(name, region) / mass_of(name, region).sum()
    x, y = of.forecast - mass @ of.forecast, of.posterior - mass @ of.posterior
    return float(mass @ (x * y) / (mass @ (x * x)))


OF_CASES: tuple[Claim, ...] = (
    Claim(
        key="fig-12-range",
        where="Section 5.2",
        sentence="The under-confident predictions barely leave [0.1, 0.9].",
        target=f"less than {BARELY:.0%} of them lie outside, where the second numbers of the classes are variances",
        says=Verdict.HOLDS,
        measure=shares_outside,
        judge=cases.outside,
        words=lambda shares, barely: (
            f"{shares['variance']:.2g} of them with variances. With standard deviations it would be "
            f"{shares['standard deviation']:.0%}: the sentence excludes that reading for classes 1 and 2"
        ),
    ),
    Claim(
        key="boundary",
        where="Section 5.2",
        sentence="The decision boundary x = 0 is nearly Bayes-optimal.",
        target=f"it loses less than {NEARLY:g} of accuracy",
        says=Verdict.HOLDS,
        measure=lost_at_zero,
        judge=lambda lost, best: holds(lost < NEARLY),
        words=lambda lost, best: f"It loses {lost:.4f} of {best:.4f}",
    ),
    Claim(
        key="fig-12-slopes",
        where="Fig. 12",
        sentence="The diagram of the under-confident case is steeper than the diagonal, that of the over-confident "
        "case flatter about the middle.",
        target="least-squares slopes above 1, and below 1 in [0.25, 0.75]",
        says=Verdict.HOLDS,
        measure=slopes,
        judge=lambda under, over: holds(under > 1 > over),
        words=lambda under, over: f"{under:.2f} (under-confident); {over:.2f} (over-confident)",
    ),
    Claim(
        key="fig-12-network",
        where="Section 5.2",
        sentence="This network is under-confident around [0, 0.1] and [0.65, 1], and mostly over-confident elsewhere.",
        target="it is said of one network, whose weights are not published",
        says=Verdict.NOT_JUDGED,
        measure=lambda: {"error": before("mlp").calibration},
        judge=lambda error: Verdict.NOT_JUDGED,
        words=lambda error: f"The network that calibrant embeds is another one; its E abs(S - C) is {error:.4f}",
    ),
)


# Claims about printed figures: a single one, or the entries of a table.


ARITHMETIC = "arithmetic on a table that is printed in full: nothing is drawn"


def exact(value: float) -> str:
    """Return the fraction with a small denominator that a value is."""
    found = Fraction(float(value)).limit_denominator(5000)
    if abs(float(found) - value) > 1e-12:
        raise ValueError(f"a figure of these tables must be a fraction with a denominator up to 5000; got {value!r}.")
    return str(found)


def decimal(value: float) -> str:
    """Return a value that is no fraction with a small denominator, to twelve digits."""
    return f"{value:.12f}"


# A single figure


def figure(
    key: str, where: str, sentence: str, printed: str, value: Callable[[], str], *, entries: float | None = None,
    says: Verdict = Verdict.HOLDS,
) -> Claim:  # fmt: skip
    """Return a claim that a printed figure is an exact value, rounded."""
    return Claim(
        key=key,
        where=where,
        sentence=f"{sentence} {printed}.",
        target="the exact value rounds to it; in part: the rounded entries of the table give it",
        says=says,
        measure=lambda: {"exact": value(), "printed": printed, "entries": entries},
        judge=as_printed,
        words=_of_figure,
        one_suffices="" if says is Verdict.HOLDS else ARITHMETIC,
    )


def _of_figure(exact: str, printed: str, entries: float | None) -> str:
    value = float(Fraction(exact))
    shown = f"{exact} = {value:.5g}" if "/" in exact else f"{value:.6g}"
    from_entries = "" if entries is None else f"; from the rounded entries of the table {entries:.4f}"
    return f"{shown}{from_entries}"


# A table


def entries(key: str, where: str, sentence: str, measure: Callable[[], dict[str, list[str]]], says: Verdict) -> Claim:
    """Return a claim that the entries of a table are exact values, rounded: name -> (exact, printed)."""
    return Claim(
        key=key,
        where=where,
        sentence=sentence,
        target="each exact value rounds to the printed entry",
        says=says,
        measure=lambda: {"figures": measure()},
        judge=lambda figures: entries_as_printed(_off(figures), len(figures)),
        words=of_entries,
        one_suffices="" if says is Verdict.HOLDS else ARITHMETIC,
    )


def _off(figures: Mapping[str, Sequence[str]]) -> list[str]:
    return [
        f"{name} {float(Fraction(value)):.4g} (printed {printed})"
        for name, (value, printed) in figures.items()
        if not rounds_to(Fraction(value), printed)
    ]


def of_entries(figures: Mapping[str, Sequence[str]]) -> str:
    """Return how many entries are exact values, rounded, and which are not."""
    off = _off(figures)
    good = f"{len(figures) - len(off)} of {len(figures)} entries"
    return good + (f"; not {'; '.join(off)}" if off else "")


# What the survey computes from its Tables 1 to 7 and in footnote 2.


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


OF_TABLES: tuple[Claim, ...] = (
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


# What the survey computes in section 6: Table 8, equation 21 and Algorithm 1.


DRAWS_OF_TEST, PRINTED_DRAWS = 20_000, 1000
"""Label sets of the resampling test: here, and in the survey."""

PRINTED_EXPECTED = [
    ("5.9", "0.7", "0.4"), ("3.1", "0.6", "1.3"), ("2.47", "1.77", "2.77"), ("1.1", "3.1", "2.8"), ("0.0", "1.2", "2.8")
]  # fmt: skip
PRINTED_OBSERVED = [(3, 1, 3), (2, 2, 1), (3, 3, 1), (2, 3, 2), (0, 1, 3)]


def hosmer_lemeshow() -> Any:
    """Return the test of Table 8."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few rows for the chi-squared law, as the survey says itself
        return hosmer_lemeshow_test(*load_survey_table_3(), n_bins=5, fitted=True, **CLASSES)


def of_groups() -> dict[str, list[str]]:
    """Return the entries of Table 8."""
    test, found = hosmer_lemeshow(), {}
    for b in range(5):
        for j in range(3):
            found[f"group {b + 1}, O of class {j + 1}"] = [exact(test.observed[b, j]), f"{PRINTED_OBSERVED[b][j]}.0"]
            found[f"group {b + 1}, E of class {j + 1}"] = [exact(test.expected[b, j]), PRINTED_EXPECTED[b][j]]
    return found


def resampled() -> dict[str, Any]:
    """Return the p-value of Algorithm 1 on Table 3."""
    how = {
        "metric": "classwise-ece",
        "binning": 5,
        "n_resamples": DRAWS_OF_TEST,
        "strict": True,
        "correction": False,
        "rng": 0,
    }
    return {
        "pvalue": resampling_test(*load_survey_table_3(), **how, **CLASSES).pvalue,
        "draws": DRAWS_OF_TEST,
        "printed": 0.016,
    }


def one_run(pvalue: float, draws: int, printed: float) -> Verdict:
    """Return whether a p-value of one run of 1000 label sets is one that such a run can give."""
    error = (pvalue * (1 - pvalue) * (1 / PRINTED_DRAWS + 1 / draws)) ** 0.5
    return Verdict.HOLDS if abs(printed - pvalue) <= CLEAR * error else Verdict.FAILS


OF_TESTS: tuple[Claim, ...] = (
    entries("table-8", "Table 8", "Observed and expected counts of five groups.", of_groups, Verdict.HOLDS),
    figure("hosmer-lemeshow", "Table 8", "The statistic C is", "25.3", lambda: decimal(hosmer_lemeshow().statistic)),
    figure("hosmer-lemeshow-p", "Table 8", "Its p-value with 6 degrees of freedom is", "0.0003",
           lambda: decimal(hosmer_lemeshow().pvalue)),
    figure("equation-21", "Eq. 21", "As printed, with its summand twice, the equation for C gives", "25.3",
           lambda: decimal(2 * hosmer_lemeshow().statistic), says=Verdict.FAILS),
    Claim(
        key="resampling",
        where="Algorithm 1, Fig. 21",
        sentence="The p-value of the class-wise ECE of Table 3 is about 0.016, from 1000 label sets.",
        target=f"a run of 1000 label sets gives it, within {CLEAR:g} standard errors",
        says=Verdict.HOLDS,
        measure=resampled,
        judge=one_run,
        words=lambda pvalue, draws, printed: (
            f"{pvalue:.4f} with {draws:,} label sets (standard error {(pvalue * (1 - pvalue) / draws) ** 0.5:.4f}); "
            f"one run of {PRINTED_DRAWS} has a standard error of {(pvalue * (1 - pvalue) / PRINTED_DRAWS) ** 0.5:.4f}"
        ),
    ),
)  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    *OF_TABLES,
    *OF_CASES,
    *OF_BINNING,
    *claims_methods.OF_ISOTONIC,
    *claims_methods.OF_SIGMOIDS,
    *claims_methods.OF_VECTORS,
    *claims_methods.OF_MATRICES,
    *OF_TESTS,
)

PAPER = Paper(
    name="survey",
    title="Classifier calibration: a survey",
    authors="Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull and Flach",
    venue="Machine Learning 2023",
    command="make reproduce-survey",
    minutes=2,
    page="survey-calibrators.md",
    claims=CLAIMS,
)
