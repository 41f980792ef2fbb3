"""What the pages say about this paper, as rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from calibrant import (
    brier_score_loss,
    classwise_calibration_error,
    datasets,
    expected_calibration_error,
    hosmer_lemeshow_test,
    log_loss,
    maximum_calibration_error,
    metrics,
    optimal_threshold,
    reliability_curve,
)
from calibrant.notions import OneVsRest
from calibrant.significance import resampling_test
from studies.claims import (
    CLEAR,
    Functions,
    Paper,
    Verdict,
    above_zero,
    all_of,
    below_zero,
    claims_of,
    each_holds,
    equals,
    holds,
    not_judged,
    printed_as,
)
from studies.survey import cases as sv
from studies.survey import claims_methods

# What the survey says of empirical binning (its figure 13).


BINS = "10 bins"


def bins_used() -> dict[str, Any]:
    """Return how many bins hold rows, for each calibration set."""
    used = {n: [int((sv.fitted(n, BINS, s).count_ > 0).sum()) for s in range(sv.DRAWS)] for n in sv.LOGISTIC}
    return {"cases": used, "bins": 10}


def near(name: str) -> dict[str, Any]:
    """Return E|S - C|, and the share of predictions close to the diagonal."""
    return sv.both(name, BINS) | {"near": sv.after(name, BINS, "near")}


def parts(name: str) -> dict[str, Any]:
    """Return calibration loss and grouping loss."""
    return {"calibration": sv.both(name, BINS, "brier_calibration"), "grouping": sv.both(name, BINS, "grouping")}


def in_logistic(measure: Callable[[str], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Return a measure of both logistic cases."""
    return lambda: {"cases": {name: measure(name) for name in sv.LOGISTIC}}


OF_BINNING = {
    "binning-values": (
        bins_used,
        lambda cases, bins: holds(max(map(max, cases.values())) <= bins and max(cases["under-confident"]) < bins),
        lambda cases, bins: "Bins with rows: " + sv.each({n: sv.extent(counts) for n, counts in cases.items()}),
    ),
    "binning-works": (in_logistic(near), sv.in_each(sv.on_the_diagonal), sv.in_words(sv.near_the_diagonal)),
    "binning-works-network": (lambda: near(sv.NETWORK), sv.on_the_diagonal, sv.near_the_diagonal),
    "binning-grouping": (in_logistic(parts), sv.in_each(sv.traded), sv.in_words(sv.exchanged)),
    "binning-grouping-network": (lambda: parts(sv.NETWORK), sv.traded, sv.exchanged),
}


# What the survey says of its two-class cases (section 5.2 and figure 12).


BARELY = 0.01
"""Share of predictions outside a range that is barely left."""

NEARLY = 0.01
"""Accuracy that a boundary may lose and be nearly Bayes-optimal."""


def shares_outside() -> dict[str, Any]:
    """Return how many predictions of the under-confident case lie outside [0.1, 0.9], for both ways to read the classes."""
    end = np.log(9.0) / datasets.SLOPES["under-confident"]
    components = [(mean, second) for cls in (datasets.CLASS_1, datasets.CLASS_2) for mean, second in cls]

    def share(power: float) -> float:
        inside = [norm.cdf(end, m, s**power) - norm.cdf(-end, m, s**power) for m, s in components]
        return float(1.0 - np.mean(inside))

    return {"shares": {"variance": share(0.5), "standard deviation": share(1.0)}, "barely": BARELY}


def lost_at_zero() -> dict[str, Any]:
    """Return the accuracy that the boundary x = 0 loses to Bayes' rule."""
    of = sv.the_case("bayes-optimal")
    best = of.mean(np.maximum(of.posterior, 1 - of.posterior))
    return {"lost": best - of.mean(np.where(of.x > 0, of.posterior, 1 - of.posterior)), "best": best}


def slopes() -> dict[str, Any]:
    """Return the least-squares slope of the diagram: of the under-confident case, and about the middle of the other."""
    return {"under": slope("under-confident", sv.ANYWHERE), "over": slope("over-confident", (3, 4, 5, 6))}


def slope(name: str, region: sv.Region) -> float:
    """Return the slope of the event's probability against the prediction, over the predictions in some tenths of [0, 1]."""
    of, mass = sv.the_case(name), sv.mass_in(name, region)
    mass = mass / mass.sum()
    x, y = of.forecast - mass @ of.forecast, of.posterior - mass @ of.posterior
    return float(mass @ (x * y) / (mass @ (x * x)))


OF_CASES = {
    "fig-12-range": (
        shares_outside,
        lambda shares, barely: holds(shares["variance"] < barely),
        lambda shares, barely: (
            f"{shares['variance']:.2g} of them with variances. With standard deviations it would be "
            f"{shares['standard deviation']:.0%}: the sentence excludes that reading for classes 1 and 2"
        ),
    ),
    "boundary": (
        lost_at_zero,
        lambda lost, best: holds(lost < NEARLY),
        lambda lost, best: f"It loses {lost:.4f} of {best:.4f}",
    ),
    "fig-12-slopes": (
        slopes,
        lambda under, over: holds(under > 1 > over),
        lambda under, over: f"{under:.2f} (under-confident); {over:.2f} (over-confident)",
    ),
    "fig-12-network": (
        lambda: {"error": sv.before(sv.NETWORK), "alike": sv.before(sv.NETWORK, like_theirs)},
        not_judged,
        lambda error, alike: (
            f"Networks trained alike differ: E abs(S - C) is {min(error):.4f} to {max(error):.4f}, and {sum(alike):.0f} of "
            f"{len(alike)} are under-confident in [0, 0.1] and [0.7, 1] and over-confident in the tenths between"
        ),
    ),
}


def outward(errors: sv.Errors) -> np.ndarray:
    """Return the mean of C - S in each tenth of [0, 1], positive where C is further from the middle: under-confidence."""
    return np.where(np.arange(10) < 5, -1.0, 1.0) * errors.before[2] / errors.before[0]


def like_theirs(errors: sv.Errors) -> float:
    """Return whether a network errs where the survey's does."""
    return float(np.array_equal(outward(errors) > 0, [True, *[False] * 6, *[True] * 3]))


# Claims about printed figures: a single one, or the entries of a table.


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


def figure(printed: str, value: Callable[[], str], entries: float | None = None) -> Functions:
    """Return the functions of a claim that a printed figure is an exact value, rounded."""
    return lambda: {"exact": value(), "printed": printed, "entries": entries}, sv.as_printed, _of_figure


def _of_figure(exact: str, printed: str, entries: float | None) -> str:
    value = float(Fraction(exact))
    shown = f"{exact} = {value:.5g}" if "/" in exact else f"{value:.6g}"
    from_entries = "" if entries is None else f"; from the rounded entries of the table {entries:.4f}"
    return f"{shown}{from_entries}"


# A table


def entries(measure: Callable[[], dict[str, list[str]]]) -> Functions:
    """Return the functions of a claim that the entries of a table are exact values, rounded: name -> (exact, printed)."""
    return (
        lambda: {"figures": measure()},
        lambda figures: each_holds(name not in _off(figures) for name in figures),
        of_entries,
    )


def _off(figures: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The entries that are not as printed, with what they are."""
    return {
        name: f"{name} {float(Fraction(value)):.4g} (printed {printed})"
        for name, (value, printed) in figures.items()
        if not sv.rounds_to(Fraction(value), printed)
    }


def of_entries(figures: Mapping[str, Sequence[str]]) -> str:
    """Return how many entries are exact values, rounded, and which are not."""
    off = _off(figures)
    good = f"{len(figures) - len(off)} of {len(figures)} entries"
    return good + (f"; not {'; '.join(off.values())}" if off else "")


# What the survey computes from its Tables 1 to 7 and in footnote 2.


CLASSES = {"labels": [1, 2, 3]}


def of_running(metric: Callable[..., float], **asked: Any) -> Callable[[], str]:
    """Return the exact value of a metric on Table 3, in five bins."""
    return lambda: exact(metric(*datasets.load_survey_table_3(), binning=5, **CLASSES, **asked))


def of_class(j: int) -> Callable[[], str]:
    """Return the exact class-j-ECE of Table 3."""
    return of_running(expected_calibration_error, notion=OneVsRest(str(j)))


def of_rain() -> dict[str, list[str]]:
    """Return the percentages of Table 1."""
    bins = reliability_curve(*datasets.load_hallenbeck_forecasts(), notion="binary", binning=10).panels[0].bins
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
        curve = reliability_curve(*datasets.load_survey_table_3(), notion=notion, binning=5, **CLASSES)
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
    toy = datasets.load_survey_table_2()
    parts: dict[str, tuple[Callable[..., Any], str, int]] = {
        "refinement, Brier 0.52": (metrics.calibration_refinement, "brier", 1),
        "epistemic, Brier 0.26": (metrics.epistemic_irreducible, "brier", 0),
        "irreducible, Brier 0.45": (metrics.epistemic_irreducible, "brier", 1),
        "calibration, log 0.29": (metrics.calibration_refinement, "log", 0),
        "refinement, log 0.83": (metrics.calibration_refinement, "log", 1),
        "epistemic, log 0.48": (metrics.epistemic_irreducible, "log", 0),
        "irreducible, log 0.64": (metrics.epistemic_irreducible, "log", 1),
    }
    found = {
        "Brier score": [decimal(brier_score_loss(toy.y, toy.prob, **CLASSES)), "0.71"],
        "log loss": [decimal(log_loss(toy.y, toy.prob, **CLASSES)), "1.12"],
    }
    for word, (split, score, part) in parts.items():
        truth = (toy.posterior,) if split is metrics.epistemic_irreducible else ()
        name, _, printed = word.rpartition(" ")
        found[name] = [decimal(split(toy.y, toy.prob, *truth, score=score, **CLASSES).terms[part][1]), printed]
    return found


def calibration_loss() -> str:
    """Return the calibration part of the Brier score of Table 2."""
    toy = datasets.load_survey_table_2()
    return exact(metrics.calibration_refinement(toy.y, toy.prob, score="brier", **CLASSES).terms[0][1])


def signs_of_rain() -> dict[str, Any]:
    """Return where it rained less often than predicted."""
    bins = reliability_curve(*datasets.load_hallenbeck_forecasts(), notion="binary", binning=10).panels[0].bins
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


OF_TABLES = {
    "table-1": (
        lambda: {"figures": of_rain()},
        not_judged,
        lambda figures: f"{of_entries(figures)}. The table is reproduced from Hallenbeck (1920), and the 75 with it",
    ),
    "table-1-signs": (
        signs_of_rain,
        lambda over: holds(over == ["20 to 29 %", "30 to 39 %"]),
        lambda over: f"Over-estimates, with every forecast at the centre of its class: {', '.join(over)}",
    ),
    "footnote-2": (
        footnote,
        lambda class_wise, confidence: holds(Fraction(class_wise) == 0 < Fraction(confidence)),
        lambda class_wise, confidence: f"Class-wise ECE {class_wise}, confidence-ECE {confidence}",
    ),
    "table-2": entries(of_losses),
    "table-2-calibration": figure("0.19", calibration_loss, entries=0.19308),
    "table-4": entries(of_bins("class 1")),
    "table-5": entries(of_bins("class 2")),
    "table-6": entries(of_bins("class 3")),
    "table-7": entries(of_bins("confidence")),
    "class-1-ece": figure("0.1873", of_class(1), entries=5.62 / 30),
    "class-1-mce": figure("0.48", of_running(maximum_calibration_error, notion=OneVsRest("1")), entries=0.48),
    "class-2-ece": figure("0.147", of_class(2), entries=4.41 / 30),
    "class-3-ece": figure("0.2017", of_class(3), entries=6.05 / 30),
    "class-wise-ece": figure("0.1787", of_running(classwise_calibration_error), entries=(0.1873 + 0.147 + 0.2017) / 3),
    "class-wise-mce": figure("0.48", of_running(metrics.classwise_maximum_calibration_error), entries=0.48),
    "mean-class-mce": figure(
        "0.34", of_running(metrics.classwise_mean_maximum_calibration_error), entries=(0.48 + 0.24 + 0.3) / 3
    ),
    "largest-class-ece": figure("0.2017", of_running(metrics.classwise_worst_calibration_error), entries=6.05 / 30),
    "confidence-ece": figure("0.2117", of_running(expected_calibration_error, notion="confidence"), entries=6.35 / 30),
    "confidence-mce": figure("0.3", of_running(maximum_calibration_error, notion="confidence"), entries=0.3),
}


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
        return hosmer_lemeshow_test(*datasets.load_survey_table_3(), n_bins=5, fitted=True, **CLASSES)


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
        "pvalue": resampling_test(*datasets.load_survey_table_3(), **how, **CLASSES).pvalue,
        "draws": DRAWS_OF_TEST,
        "printed": 0.016,
    }


def summand_printed_twice(doubled: str, single: str) -> Verdict:
    """Return whether the equation gives the printed figure; a misprint, where the single summand does."""
    return printed_as(sv.rounds_to(Fraction(doubled), "25.3"), sv.rounds_to(Fraction(single), "25.3"))


def one_run(pvalue: float, draws: int, printed: float) -> Verdict:
    """Return whether a p-value of one run of 1000 label sets is one that such a run can give."""
    error = (pvalue * (1 - pvalue) * (1 / PRINTED_DRAWS + 1 / draws)) ** 0.5
    return equals(printed, pvalue, CLEAR * error)


OF_TESTS = {
    "table-8": entries(of_groups),
    "hosmer-lemeshow": figure("25.3", lambda: decimal(hosmer_lemeshow().statistic)),
    "hosmer-lemeshow-p": figure("0.0003", lambda: decimal(hosmer_lemeshow().pvalue)),
    "equation-21": (
        lambda: {"doubled": decimal(2 * hosmer_lemeshow().statistic), "single": decimal(hosmer_lemeshow().statistic)},
        summand_printed_twice,
        lambda doubled, single: f"{float(doubled):.4g} as printed, {float(single):.4g} from the single summand",
    ),
    "resampling": (
        resampled,
        one_run,
        lambda pvalue, draws, printed: (
            f"{pvalue:.4f} with {draws:,} label sets (standard error {(pvalue * (1 - pvalue) / draws) ** 0.5:.4f}); "
            f"one run of {PRINTED_DRAWS} has a standard error of {(pvalue * (1 - pvalue) / PRINTED_DRAWS) ** 0.5:.4f}"
        ),
    ),
}


# What the survey says of notions, thresholds, bins and tests, and does not work out in a table.


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
    found = reliability_curve(*datasets.load_hallenbeck_forecasts(), notion="binary", binning=bins).panels[0].bins
    of = {"centre": (found.edges[1:] + found.edges[:-1]) / 2, "mean": found.mean_prob, "low": found.gap}
    return {word: [exact(value) for value in values[found.count > 0]] for word, values in of.items()}


def off_centre(centre: Sequence[str], mean: Sequence[str], low: Sequence[str]) -> Verdict:
    """Return whether all but the last mean lie off the centre of their bins, by less than half its width."""
    off = [abs(Fraction(c) - Fraction(m)) for c, m in zip(centre, mean, strict=True)]
    return holds(all(0 < d < Fraction(1, 2 * len(off)) for d in off[:-1]) and off[-1] == 0)


"""Scores and outcomes."""


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
        reliability_curve(*datasets.load_survey_table_3(), notion=n, binning=5, **CLASSES)
        for n in ("class-wise", "confidence")
    ]
    panels = [panel for curve in curves for panel in curve.panels]
    return {"empty": {p.name: [int(b) + 1 for b in np.flatnonzero(p.bins.count == 0)] for p in panels}}


def sigmoid_and_beta() -> dict[str, Any]:
    """Return E|S - C| after the best straight line on the scores, and after the best beta curve."""
    return {"cases": {n: {"sigmoid": sv.after(n, sv.STRAIGHT), "beta": sv.after(n, "beta")} for n in sv.LOGISTIC}}


def fits_one_way(cases: Mapping[str, Mapping[str, Sequence[float]]]) -> Verdict:
    """Return whether the sigmoid comes near the beta curve in the under-confident case, and clearly not in the other."""
    gaps = {name: sv.less(of["sigmoid"], of["beta"]) for name, of in cases.items()}
    near = below_zero(sv.less(gaps["under-confident"], sv.SAME))
    return all_of([near, above_zero(sv.less(gaps["over-confident"], sv.CLOSE))])


def onto_the_diagonal() -> dict[str, Any]:
    """Return how far the ten bins of the under-confident case are from the diagonal, and after they were moved onto a map."""
    found: dict[str, list[float]] = {"before": [], "after": []}
    for seed in range(sv.DRAWS):
        prob, y = sv.the_case("under-confident").draw(sv.ROWS, seed)
        bins = reliability_curve(y, prob, notion="binary", binning=10).panels[0].bins
        kept = bins.count >= 30
        x, rate = bins.mean_prob[kept], bins.event_rate[kept]
        for word, at in {"before": x, "after": sv.fitted("under-confident", "beta", seed).calibrate(x)}.items():
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


HELD_OUT = ((3, 500, 10), (3, 1000, 10), (2, 500, 10))
"""Classes, rows and groups."""


def rejected(draws: int = 400) -> dict[str, Any]:
    """Return how often the test rejects calibrated held-out rows at 5 %: with the degrees of freedom of
    the survey, and with the M (K - 1) of rows that nothing was fitted to."""
    shares: dict[bool, list[float]] = {True: [], False: []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n_classes, rows, groups in HELD_OUT:
            made = [
                datasets.make_softmax_forecast(rows, n_classes, temperature=1.0, accuracy=0.55, rng=s)
                for s in range(draws)
            ]
            for fitted in shares:
                tests = [hosmer_lemeshow_test(m.y, m.prob, n_bins=groups, fitted=fitted) for m in made]
                shares[fitted].append(float(np.mean([test.pvalue < 0.05 for test in tests])))
    return {"shares": shares[True], "held_out": shares[False], "draws": draws}


def of_rejections(shares: Sequence[float], held_out: Sequence[float], draws: int) -> str:
    """Return how often it rejects."""
    said = {
        f"K {k}, {n} rows, M {m}": f"{100 * one:.1f} %, with M (K - 1) degrees {100 * other:.1f} %"
        for (k, n, m), one, other in zip(HELD_OUT, shares, held_out, strict=True)
    }
    of = "The law of the survey is that of rows which the model was fitted to"
    return f"Rejected of {draws} draws each: {sv.each(said)}. {of}"


OF_TEXT = {
    "notions-of-two-classes": (
        of_two_scores,
        lambda confidence, class_wise: holds((Fraction(confidence) == 0) == (Fraction(class_wise) == 0)),
        lambda confidence, class_wise: (
            f"Scores .7 and .3 with event rates .8 and .4, 100 rows each: confidence-ECE {confidence}, "
            f"class-wise ECE {class_wise}"
        ),
    ),
    "ece-of-a-coin": (
        of_a_coin,
        lambda coins: holds(
            all(abs(float(Fraction(of)) - pi) < 1e-12 for name, (of, pi) in coins.items() if "coin" in name)
        ),
        lambda coins: sv.each({name: of for name, (of, _) in coins.items()}),
    ),
    "ece-extremes": (of_extremes, lambda found: holds(found == EXTREMES), lambda found: sv.each(found)),
    "thresholds": (
        thresholds,
        lambda thresholds: all_of(equals(at, said, 1e-12) for at, said in thresholds.values()),
        lambda thresholds: sv.each({name: f"{at:.4g}" for name, (at, _) in thresholds.items()}),
    ),
    "fig-2-off-centre": (
        merged,
        off_centre,
        lambda centre, mean, low: f"Means {', '.join(mean)}; centres {', '.join(centre)}",
    ),
    "fig-2-too-low": (
        merged,
        lambda low, **_: holds(all(sv.rounds_to(Fraction(gap), "0.1") for gap in low[2:])),
        lambda centre, mean, low: f"Rate minus mean forecast {', '.join(f'{float(Fraction(g)):+.3f}' for g in low)}",
    ),
    "fig-3": (
        sigmoid_and_beta,
        fits_one_way,
        lambda cases: (
            "E abs(S - C) "
            + sv.each({n: f"{sv.shown(of['sigmoid'])} sigmoid, {sv.shown(of['beta'])} beta" for n, of in cases.items()})
        ),
    ),
    "fig-4": (
        onto_the_diagonal,
        lambda before, after: below_zero(sv.less(sv.left(before, after), 1 / 3)),
        lambda before, after: f"Mean distance of the points {sv.shown(before)} before, {sv.shown(after)} after",
    ),
    "logistic-analytic": (
        analytic_map,
        lambda maps: holds(all(abs(f / g - 1) < 0.03 for pair in maps.values() for f, g in zip(*pair, strict=True))),
        lambda maps: (
            "With the variance within classes, slope by formula and by fit: "
            + sv.each({name: f"{formula[0]:.2f} and {fit[0]:.2f}" for name, (formula, fit) in maps.items()})
        ),
    ),
    "fig-6": (
        half_a_bin,
        misleads,
        lambda examples: (
            "Distances "
            + sv.each(
                {
                    n: f"{', '.join(of['mean'])} at the means, {', '.join(of['centre'])} at the centres"
                    for n, of in examples.items()
                }
            )
        ),
    ),
    "empty-bins": (
        empty_bins,
        lambda empty: holds(empty == {"class 1": [], "class 2": [4, 5], "class 3": [5], "confidence": [1]}),
        lambda empty: "Empty: " + sv.each({name: ", ".join(map(str, b)) or "none" for name, b in empty.items()}),
    ),
    "degrees-of-freedom": (
        rejected,
        lambda shares, draws, **_: holds(all(abs(of - 0.05) < 3 * (0.05 * 0.95 / draws) ** 0.5 for of in shares)),
        of_rejections,
    ),
}


CLAIMS = claims_of(
    "survey",
    OF_TEXT
    | OF_TABLES
    | OF_CASES
    | OF_BINNING
    | claims_methods.OF_ISOTONIC
    | claims_methods.OF_SIGMOIDS
    | claims_methods.OF_VECTORS
    | claims_methods.OF_MATRICES
    | OF_TESTS,
    BARELY=BARELY,
    NEARLY=NEARLY,
    **vars(sv),
)

PAPER = Paper(
    name="survey", title="Classifier calibration: a survey",
    authors="Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull and Flach", venue="Machine Learning 2023",
    command="make reproduce-survey", minutes=4, page="survey-calibrators.md", claims=CLAIMS,
)  # fmt: skip
