"""What the pages say about this paper, as rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from calibrant import (
    brier_score_loss,
    classwise_calibration_error,
    expected_calibration_error,
    hosmer_lemeshow_test,
    log_loss,
    maximum_calibration_error,
    optimal_threshold,
    reliability_curve,
)
from calibrant.datasets import (
    CLASS_1,
    CLASS_2,
    SLOPES,
    load_hallenbeck_forecasts,
    load_survey_table_2,
    load_survey_table_3,
    make_softmax_forecast,
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
from studies.claims import CLEAR, Claim, Paper, Verdict, above_zero, all_of, below_zero, equals, holds
from studies.survey import cases, claims_methods
from studies.survey.cases import (
    CLEARLY,
    CLOSE,
    DRAWS,
    FALLS,
    LOGISTIC,
    NETWORK,
    ON_MEANS,
    SAME,
    STRAIGHT,
    Region,
    after,
    as_printed,
    before,
    both,
    each,
    entries_as_printed,
    extent,
    fitted,
    in_each,
    in_words,
    less,
    mass_in,
    near_the_diagonal,
    on_the_diagonal,
    rounds_to,
    said,
    shown,
    the_case,
)

# What the survey says of empirical binning (its figure 13).


BINS = "10 bins"


def bins_used() -> dict[str, Any]:
    """Return how many bins hold rows, for each calibration set."""
    used = {n: [int((fitted(n, BINS, s).count_ > 0).sum()) for s in range(DRAWS)] for n in LOGISTIC}
    return {"cases": used, "bins": 10}


def near(name: str) -> dict[str, Any]:
    """Return E|S - C|, and the share of predictions close to the diagonal."""
    return both(name, BINS) | {"near": after(name, BINS, "near")}


def parts(name: str) -> dict[str, Any]:
    """Return calibration loss and grouping loss."""
    return {"calibration": both(name, BINS, "brier_calibration"), "grouping": both(name, BINS, "grouping")}


def in_logistic(measure: Callable[[str], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Return a measure of both logistic cases."""
    return lambda: {"cases": {name: measure(name) for name in LOGISTIC}}


OF_BINNING: tuple[Claim, ...] = (
    said(
        "binning-values",
        "at most 10 bins with rows, always fewer in the under-confident case",
        Verdict.HOLDS,
        bins_used,
        cases.few_values,
        lambda cases, bins: "Bins with rows: " + each({n: extent(counts) for n, counts in cases.items()}),
    ),
    said(
        "binning-works",
        f"{FALLS}, and more than half of the predictions have abs(S - C) below {CLOSE}",
        Verdict.HOLDS,
        in_logistic(near),
        in_each(on_the_diagonal),
        in_words(near_the_diagonal),
    ),
    said(
        "binning-works-network",
        f"the same, {ON_MEANS}",
        Verdict.HOLDS,
        lambda: near(NETWORK),
        on_the_diagonal,
        near_the_diagonal,
        over="after",
    ),
    said(
        "binning-grouping",
        f"calibration loss falls and grouping loss rises {CLEARLY}",
        Verdict.HOLDS,
        in_logistic(parts),
        in_each(cases.traded),
        in_words(cases.exchanged),
    ),
    said(
        "binning-grouping-network",
        f"the same, {ON_MEANS}",
        Verdict.HOLDS,
        lambda: parts(NETWORK),
        cases.traded,
        cases.exchanged,
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
    return {"under": slope("under-confident", cases.ANYWHERE), "over": slope("over-confident", (3, 4, 5, 6))}


def slope(name: str, region: Region) -> float:
    """Return the slope of the event's probability against the prediction, over the predictions in some tenths of [0, 1]."""
    of, mass = the_case(name), mass_in(name, region)
    mass = mass / mass.sum()
    x, y = of.forecast - mass @ of.forecast, of.posterior - mass @ of.posterior
    return float(mass @ (x * y) / (mass @ (x * x)))


OF_CASES: tuple[Claim, ...] = (
    said(
        "fig-12-range",
        f"less than {BARELY:.0%} of them lie outside, where the second numbers of the classes are variances",
        Verdict.HOLDS,
        shares_outside,
        cases.outside,
        lambda shares, barely: (
            f"{shares['variance']:.2g} of them with variances. With standard deviations it would be "
            f"{shares['standard deviation']:.0%}: the sentence excludes that reading for classes 1 and 2"
        ),
    ),
    said(
        "boundary",
        f"it loses less than {NEARLY:g} of accuracy",
        Verdict.HOLDS,
        lost_at_zero,
        lambda lost, best: holds(lost < NEARLY),
        lambda lost, best: f"It loses {lost:.4f} of {best:.4f}",
    ),
    said(
        "fig-12-slopes",
        "least-squares slopes above 1, and below 1 in [0.3, 0.7]",
        Verdict.HOLDS,
        slopes,
        lambda under, over: holds(under > 1 > over),
        lambda under, over: f"{under:.2f} (under-confident); {over:.2f} (over-confident)",
    ),
    said(
        "fig-12-network",
        "it is said of one network, whose weights are not published",
        Verdict.NOT_JUDGED,
        lambda: {"error": before(NETWORK), "alike": before(NETWORK, like_theirs)},
        lambda error, alike: Verdict.NOT_JUDGED,
        lambda error, alike: (
            f"Networks trained alike differ: E abs(S - C) is {min(error):.4f} to {max(error):.4f}, and {sum(alike):.0f} of "
            f"{len(alike)} are under-confident in [0, 0.1] and [0.7, 1] and over-confident in the tenths between"
        ),
    ),
)


def outward(errors: cases.Errors) -> np.ndarray:
    """Return the mean of C - S in each tenth of [0, 1], positive where C is further from the middle: under-confidence."""
    return np.where(np.arange(10) < 5, -1.0, 1.0) * errors.before[2] / errors.before[0]


def like_theirs(errors: cases.Errors) -> float:
    """Return whether a network errs where the survey's does."""
    return float(np.array_equal(outward(errors) > 0, [True, *[False] * 6, *[True] * 3]))


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
    key: str, printed: str, value: Callable[[], str], *, entries: float | None = None,
    says: Verdict = Verdict.HOLDS,
) -> Claim:  # fmt: skip
    """Return a claim that a printed figure is an exact value, rounded."""
    return said(
        key,
        "the exact value rounds to it; in part: the rounded entries of the table give it",
        says,
        lambda: {"exact": value(), "printed": printed, "entries": entries},
        as_printed,
        _of_figure,
        one_suffices="" if says is Verdict.HOLDS else ARITHMETIC,
    )


def _of_figure(exact: str, printed: str, entries: float | None) -> str:
    value = float(Fraction(exact))
    shown = f"{exact} = {value:.5g}" if "/" in exact else f"{value:.6g}"
    from_entries = "" if entries is None else f"; from the rounded entries of the table {entries:.4f}"
    return f"{shown}{from_entries}"


# A table


def entries(key: str, measure: Callable[[], dict[str, list[str]]], says: Verdict) -> Claim:
    """Return a claim that the entries of a table are exact values, rounded: name -> (exact, printed)."""
    return said(
        key,
        "each exact value rounds to the printed entry",
        says,
        lambda: {"figures": measure()},
        lambda figures: entries_as_printed(_off(figures), len(figures)),
        of_entries,
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
        entries("table-1", of_rain, Verdict.NOT_JUDGED),
        target="the table is reproduced from Hallenbeck (1920): no figure of the survey's authors",
        judge=lambda figures: Verdict.NOT_JUDGED,
        words=lambda figures: (
            f"{of_entries(figures)}. The table is reproduced from Hallenbeck (1920), and the 75 with it"
        ),
        one_suffices="",
    ),
    said(
        "table-1-signs",
        "these two classes alone are over-estimates",
        Verdict.HOLDS,
        signs_of_rain,
        lambda over: Verdict.HOLDS if over == ["20 to 29 %", "30 to 39 %"] else Verdict.FAILS,
        lambda over: f"Over-estimates, with every forecast at the centre of its class: {', '.join(over)}",
    ),
    said(
        "footnote-2",
        "class-wise ECE 0, confidence-ECE above 0",
        Verdict.HOLDS,
        footnote,
        separates,
        lambda class_wise, confidence: f"Class-wise ECE {class_wise}, confidence-ECE {confidence}",
    ),
    entries("table-2", of_losses, Verdict.HOLDS),
    figure("table-2-calibration", "0.19", calibration_loss, entries=0.19308, says=Verdict.IN_PART),
    entries("table-4", of_bins("class 1"), Verdict.IN_PART),
    entries("table-5", of_bins("class 2"), Verdict.IN_PART),
    entries("table-6", of_bins("class 3"), Verdict.HOLDS),
    entries("table-7", of_bins("confidence"), Verdict.HOLDS),
    figure("class-1-ece", "0.1873", of_class(1), entries=5.62 / 30, says=Verdict.IN_PART),
    figure(
        "class-1-mce",
        "0.48",
        of_running(maximum_calibration_error, notion=OneVsRest("1")),
        entries=0.48,
        says=Verdict.IN_PART,
    ),
    figure("class-2-ece", "0.147", of_class(2), entries=4.41 / 30, says=Verdict.IN_PART),
    figure("class-3-ece", "0.2017", of_class(3), entries=6.05 / 30, says=Verdict.IN_PART),
    figure(
        "class-wise-ece",
        "0.1787",
        of_running(classwise_calibration_error),
        entries=(0.1873 + 0.147 + 0.2017) / 3,
        says=Verdict.IN_PART,
    ),
    figure(
        "class-wise-mce", "0.48", of_running(classwise_maximum_calibration_error), entries=0.48, says=Verdict.IN_PART
    ),
    figure(
        "mean-class-mce", "0.34", of_running(classwise_mean_maximum_calibration_error), entries=(0.48 + 0.24 + 0.3) / 3
    ),
    figure(
        "largest-class-ece",
        "0.2017",
        of_running(classwise_worst_calibration_error),
        entries=6.05 / 30,
        says=Verdict.IN_PART,
    ),
    figure(
        "confidence-ece",
        "0.2117",
        of_running(expected_calibration_error, notion="confidence"),
        entries=6.35 / 30,
        says=Verdict.IN_PART,
    ),
    figure("confidence-mce", "0.3", of_running(maximum_calibration_error, notion="confidence"), entries=0.3),
)


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


def summand_printed_twice(doubled: str, single: str) -> Verdict:
    """Return whether the equation gives the printed figure; a misprint, where the single summand does."""
    if rounds_to(Fraction(doubled), "25.3"):
        return Verdict.HOLDS
    return Verdict.MISPRINT if rounds_to(Fraction(single), "25.3") else Verdict.FAILS


def one_run(pvalue: float, draws: int, printed: float) -> Verdict:
    """Return whether a p-value of one run of 1000 label sets is one that such a run can give."""
    error = (pvalue * (1 - pvalue) * (1 / PRINTED_DRAWS + 1 / draws)) ** 0.5
    return Verdict.HOLDS if abs(printed - pvalue) <= CLEAR * error else Verdict.FAILS


OF_TESTS: tuple[Claim, ...] = (
    entries("table-8", of_groups, Verdict.HOLDS),
    figure("hosmer-lemeshow", "25.3", lambda: decimal(hosmer_lemeshow().statistic)),
    figure("hosmer-lemeshow-p", "0.0003", lambda: decimal(hosmer_lemeshow().pvalue)),
    said(
        "equation-21",
        "the equation as printed gives 25.3; a misprint: it does not, and one of its two equal summands does",
        Verdict.MISPRINT,
        lambda: {"doubled": decimal(2 * hosmer_lemeshow().statistic), "single": decimal(hosmer_lemeshow().statistic)},
        summand_printed_twice,
        lambda doubled, single: f"{float(doubled):.4g} as printed, {float(single):.4g} from the single summand",
    ),
    said(
        "resampling",
        f"a run of 1000 label sets gives it, within {CLEAR:g} standard errors",
        Verdict.HOLDS,
        resampled,
        one_run,
        lambda pvalue, draws, printed: (
            f"{pvalue:.4f} with {draws:,} label sets (standard error {(pvalue * (1 - pvalue) / draws) ** 0.5:.4f}); "
            f"one run of {PRINTED_DRAWS} has a standard error of {(pvalue * (1 - pvalue) / PRINTED_DRAWS) ** 0.5:.4f}"
        ),
    ),
)


# What the survey says of notions, thresholds, bins and tests, and does not work out in a table.


COUNTEREXAMPLE = "a counterexample to a statement about all of them"


def of_two_scores(rates: tuple[float, float] = (0.8, 0.4)) -> dict[str, Any]:
    """Return the errors of scores .7 and .3, 100 rows each, with these rates of the event."""
    score, events = np.repeat([0.7, 0.3], 100), [round(100 * rate) for rate in rates]
    y = np.concatenate([np.arange(100) < n for n in events]).astype(int)
    prob = np.column_stack([1 - score, score])
    return {
        "confidence": exact(expected_calibration_error(y, prob, notion="confidence")),
        "class_wise": exact(classwise_calibration_error(y, prob)),
    }


def of_a_coin(shares: Sequence[float] = (0.1, 0.3)) -> dict[str, Any]:
    """Return the binary ECE of a coin that calls one of the classes with certainty, for shares pi_1 of positives."""
    found = {}
    for pi in shares:
        coins = {"a fair coin": 0.5, "a coin that falls as the classes do": pi, "always the negative class": 0.0}
        for name, heads in coins.items():
            y, call = (np.arange(100) < 100 * pi).repeat(100), np.tile(np.arange(100) < 100 * heads, 100)
            found[f"{name}, pi_1 {pi:g}"] = [
                exact(expected_calibration_error(y, call.astype(float), notion="binary")),
                pi,
            ]
    return {"coins": found}


def of_extremes() -> dict[str, Any]:
    """Return the errors of a perfect classifier, of one that is always wrong, and of constant class shares."""
    y, three = np.arange(10) < 3, np.repeat([0, 1, 2], 10)
    ece = {"perfect": y.astype(float), "constant pi_1": np.full(10, 0.3), "always wrong": 1.0 - y}
    found = {name: exact(expected_calibration_error(y, prob, notion="binary")) for name, prob in ece.items()}
    return {
        "found": found | {"class-wise, constant": exact(classwise_calibration_error(three, np.full((30, 3), 1 / 3)))}
    }


def each_of(found: Mapping[str, str]) -> str:
    """Return figures with their names."""
    return each(found)


EXTREMES = {"perfect": "0", "constant pi_1": "0", "always wrong": "1", "class-wise, constant": "0"}


def thresholds(costs: tuple[float, float] = (4, 1), swap: bool = False) -> dict[str, Any]:
    """Return thresholds for costs and for class ratios r in training and r' in use, each with what the survey says."""
    ratios = [(1.0, 4.0), (0.5, 3.0), (4.0, 1.0)]
    found = {"4 to 1": [optimal_threshold(*costs), 0.8]}
    for r, used in ratios:
        old, new = (used, r) if swap else (r, used)
        at = optimal_threshold(1, 1, old_prior=old / (1 + old), new_prior=new / (1 + new))
        found[f"r {r:g}, r' {used:g}"] = [at, r / (r + used)]
    return {"thresholds": found}


def merged(bins: int = 5) -> dict[str, Any]:
    """Return centres and mean forecasts of the bins with rows of Table 1."""
    found = reliability_curve(*load_hallenbeck_forecasts(), notion="binary", binning=bins).panels[0].bins
    of = {"centre": (found.edges[1:] + found.edges[:-1]) / 2, "mean": found.mean_prob, "low": found.gap}
    return {word: [exact(value) for value in values[found.count > 0]] for word, values in of.items()}


def off_centre(centre: Sequence[str], mean: Sequence[str], low: Sequence[str]) -> Verdict:
    """Return whether all but the last mean lie off the centre of their bins, by less than half its width."""
    off = [abs(Fraction(c) - Fraction(m)) for c, m in zip(centre, mean, strict=True)]
    return holds(all(0 < d < Fraction(1, 2 * len(off)) for d in off[:-1]) and off[-1] == 0)


def about_a_tenth(centre: Sequence[str], mean: Sequence[str], low: Sequence[str]) -> Verdict:
    """Return whether the rates of the upper bins are higher than forecast, by 0.1 to one digit."""
    return holds(all(rounds_to(Fraction(gap), "0.1") for gap in low[2:]))


EXAMPLES_OF_6 = {"(a)": ([0] * 4 + [1] * 4, [0, 0, 0, 1, 0, 1, 1, 1]), "(b)": ([0, 1], [0, 1])}
"""Scores and outcomes."""


def half_a_bin(of: Mapping[str, Any] = EXAMPLES_OF_6) -> dict[str, Any]:
    """Return how far a marker lies from the diagonal at the mean prediction of its bin, and at its centre."""
    found = {}
    for name, (score, y) in of.items():
        bins = reliability_curve(y, np.array(score, dtype=float), notion="binary", binning=2).panels[0].bins
        centre = (bins.edges[1:] + bins.edges[:-1]) / 2
        at = {"mean": bins.mean_prob, "centre": centre}
        found[name] = {word: [exact(d) for d in np.abs(bins.event_rate - x)] for word, x in at.items()}
    return {"examples": found}


def misleads(examples: Mapping[str, Mapping[str, Sequence[str]]]) -> Verdict:
    """Return whether the one looks calibrated at the centres and is off by half a bin, and the other the other way round."""
    wrong, right = examples["(a)"], examples["(b)"]
    quarter = {"1/4"}
    return holds(
        set(wrong["centre"]) == set(right["mean"]) == {"0"} and set(wrong["mean"]) == set(right["centre"]) == quarter
    )


def empty_bins() -> dict[str, Any]:
    """Return which of five bins are empty in the diagrams of the running example."""
    curves = [
        reliability_curve(*load_survey_table_3(), notion=n, binning=5, **CLASSES) for n in ("class-wise", "confidence")
    ]
    panels = [panel for curve in curves for panel in curve.panels]
    return {"empty": {p.name: [int(b) + 1 for b in np.flatnonzero(p.bins.count == 0)] for p in panels}}


def sigmoid_and_beta() -> dict[str, Any]:
    """Return E|S - C| after the best straight line on the scores, and after the best beta curve."""
    return {"cases": {n: {"sigmoid": after(n, STRAIGHT), "beta": after(n, "beta")} for n in LOGISTIC}}


def fits_one_way(cases: Mapping[str, Mapping[str, Sequence[float]]]) -> Verdict:
    """Return whether the sigmoid comes near the beta curve in the under-confident case, and clearly not in the other."""
    gaps = {name: less(of["sigmoid"], of["beta"]) for name, of in cases.items()}
    near = below_zero(less(gaps["under-confident"], SAME))
    return all_of([near, above_zero(less(gaps["over-confident"], CLOSE))])


def onto_the_diagonal() -> dict[str, Any]:
    """Return how far the ten bins of the under-confident case are from the diagonal, and after they were moved onto a map."""
    found: dict[str, list[float]] = {"before": [], "after": []}
    for seed in range(DRAWS):
        prob, y = the_case("under-confident").draw(cases.ROWS, seed)
        bins = reliability_curve(y, prob, notion="binary", binning=10).panels[0].bins
        kept = bins.count >= 30
        x, rate = bins.mean_prob[kept], bins.event_rate[kept]
        for word, at in {"before": x, "after": fitted("under-confident", "beta", seed).calibrate(x)}.items():
            found[word].append(float(np.abs(rate - at).mean()))
    return found


def analytic_map(total: bool = False) -> dict[str, Any]:
    """Return slope and middle of the logistic map of normal scores by the survey's formula, and of a fit to 100 000 rows."""
    rng, found = np.random.default_rng(0), {}
    for low, high, spread in ((0.4, 0.6, 0.1), (0.3, 0.6, 0.15), (0.45, 0.5, 0.05)):
        y = np.arange(100_000) % 2
        score = rng.normal(np.where(y, high, low), spread)
        fit = LogisticRegression(C=np.inf).fit(score[:, None], y)
        means = [score[y == k].mean() for k in (0, 1)]
        variance = score.var() if total else np.mean([score[y == k].var() for k in (0, 1)])
        formula = [float((means[1] - means[0]) / variance), float(np.mean(means))]
        slope = float(fit.coef_[0, 0])
        found[f"{low:g} and {high:g}, spread {spread:g}"] = [formula, [slope, float(-fit.intercept_[0] / slope)]]
    return {"maps": found}


def agree(maps: Mapping[str, Sequence[Sequence[float]]]) -> Verdict:
    """Return whether formula and fit agree within 3 %."""
    return holds(all(abs(f / g - 1) < 0.03 for pair in maps.values() for f, g in zip(*pair, strict=True)))


HELD_OUT = ((3, 500, 10), (3, 1000, 10), (2, 500, 10))
"""Classes, rows and groups."""


def rejected(draws: int = 400) -> dict[str, Any]:
    """Return how often the test rejects calibrated held-out rows at 5 %: with the degrees of freedom of
    the survey, and with the M (K - 1) of rows that nothing was fitted to."""
    shares: dict[bool, list[float]] = {True: [], False: []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n_classes, rows, groups in HELD_OUT:
            made = [make_softmax_forecast(rows, n_classes, temperature=1.0, accuracy=0.55, rng=s) for s in range(draws)]
            for fitted in shares:
                tests = [hosmer_lemeshow_test(m.y, m.prob, n_bins=groups, fitted=fitted) for m in made]
                shares[fitted].append(float(np.mean([test.pvalue < 0.05 for test in tests])))
    return {"shares": shares[True], "held_out": shares[False], "draws": draws}


def at_its_level(shares: Sequence[float], held_out: Sequence[float], draws: int) -> Verdict:
    """Return whether each share is 5 %, within three standard errors."""
    return holds(all(abs(share - 0.05) < 3 * (0.05 * 0.95 / draws) ** 0.5 for share in shares))


def of_rejections(shares: Sequence[float], held_out: Sequence[float], draws: int) -> str:
    """Return how often it rejects."""
    said = {
        f"K {k}, {n} rows, M {m}": f"{100 * one:.1f} %, with M (K - 1) degrees {100 * other:.1f} %"
        for (k, n, m), one, other in zip(HELD_OUT, shares, held_out, strict=True)
    }
    return f"Rejected of {draws} draws each: {each(said)}. The law of the survey is that of rows which the model was fitted to"


OF_TEXT: tuple[Claim, ...] = (
    said(
        "notions-of-two-classes",
        "no forecast of two classes is calibrated in confidence and not class-wise",
        Verdict.FAILS,
        of_two_scores,
        lambda confidence, class_wise: holds((Fraction(confidence) == 0) == (Fraction(class_wise) == 0)),
        lambda confidence, class_wise: (
            f"Scores .7 and .3 with event rates .8 and .4, 100 rows each: confidence-ECE {confidence}, "
            f"class-wise ECE {class_wise}"
        ),
        one_suffices=COUNTEREXAMPLE,
    ),
    said(
        "ece-of-a-coin",
        "it is pi_1 for a fair coin, and for one that falls as the classes do",
        Verdict.FAILS,
        of_a_coin,
        lambda coins: holds(
            all(abs(float(Fraction(of)) - pi) < 1e-12 for name, (of, pi) in coins.items() if "coin" in name)
        ),
        lambda coins: each({name: of for name, (of, _) in coins.items()}),
        one_suffices=COUNTEREXAMPLE,
    ),
    said(
        "ece-extremes",
        "these values, exactly",
        Verdict.HOLDS,
        of_extremes,
        lambda found: holds(found == EXTREMES),
        each_of,
    ),
    said(
        "thresholds",
        "the thresholds of least expected cost, to 1e-12",
        Verdict.HOLDS,
        thresholds,
        lambda thresholds: all_of(equals(at, said, 1e-12) for at, said in thresholds.values()),
        lambda thresholds: each({name: f"{at:.4g}" for name, (at, _) in thresholds.items()}),
        tolerance="1e-12",
    ),
    said(
        "fig-2-off-centre",
        "four means off the centre by less than half a bin, the fifth on it",
        Verdict.HOLDS,
        merged,
        off_centre,
        lambda centre, mean, low: f"Means {', '.join(mean)}; centres {', '.join(centre)}",
    ),
    said(
        "fig-2-too-low",
        "the gaps of the upper three of five bins round to 0.1",
        Verdict.HOLDS,
        merged,
        about_a_tenth,
        lambda centre, mean, low: f"Rate minus mean forecast {', '.join(f'{float(Fraction(g)):+.3f}' for g in low)}",
    ),
    said(
        "fig-3",
        f"E abs(S - C) after the sigmoid is within {SAME} of that after the beta curve in the under-confident case of "
        f"section 5.2, and above it by more than {CLOSE} in the over-confident one, {CLEARLY}",
        Verdict.HOLDS,
        sigmoid_and_beta,
        fits_one_way,
        lambda cases: (
            "E abs(S - C) "
            + each({n: f"{shown(of['sigmoid'])} sigmoid, {shown(of['beta'])} beta" for n, of in cases.items()})
        ),
    ),
    said(
        "fig-4",
        "their mean distance falls to less than a third, with beta calibration of the under-confident case",
        Verdict.HOLDS,
        onto_the_diagonal,
        lambda before, after: below_zero(less(cases.left(before, after), 1 / 3)),
        lambda before, after: f"Mean distance of the points {shown(before)} before, {shown(after)} after",
    ),
    said(
        "logistic-analytic",
        "formula and fit agree within 3 % on normal scores of one variance",
        Verdict.HOLDS,
        analytic_map,
        agree,
        lambda maps: (
            "With the variance within classes, slope by formula and by fit: "
            + each({name: f"{formula[0]:.2f} and {fit[0]:.2f}" for name, (formula, fit) in maps.items()})
        ),
    ),
    said(
        "fig-6",
        "distances from the diagonal 1/4 and 0 exactly: (a) at the means and at the centres, (b) the other way round",
        Verdict.HOLDS,
        half_a_bin,
        misleads,
        lambda examples: (
            "Distances "
            + each(
                {
                    n: f"{', '.join(of['mean'])} at the means, {', '.join(of['centre'])} at the centres"
                    for n, of in examples.items()
                }
            )
        ),
    ),
    said(
        "empty-bins",
        "bins 4 and 5 of class 2, bin 5 of class 3, bin 1 of the confidence, and no other",
        Verdict.HOLDS,
        empty_bins,
        lambda empty: holds(empty == {"class 1": [], "class 2": [4, 5], "class 3": [5], "confidence": [1]}),
        lambda empty: "Empty: " + each({name: ", ".join(map(str, b)) or "none" for name, b in empty.items()}),
    ),
    said(
        "degrees-of-freedom",
        "on held-out rows of a calibrated forecast the test rejects 5 % at 5 %, within three standard errors",
        Verdict.FAILS,
        rejected,
        at_its_level,
        of_rejections,
        over="shares",
    ),
)


CLAIMS: tuple[Claim, ...] = (
    *OF_TEXT,
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
    minutes=4,
    page="survey-calibrators.md",
    claims=CLAIMS,
)
