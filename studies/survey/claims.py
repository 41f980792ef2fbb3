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
from studies.claims import CLEAR, Functions, Paper, Verdict, above_zero, all_of, claims_of, equals, holds, not_judged
from studies.survey import cases as sv
from studies.survey import claims_equations, claims_methods

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


def slope(name: str, region: sv.Region) -> float:
    """Return the slope of the event's probability against the prediction, over the predictions in some tenths of [0, 1]."""
    of = sv.the_case(name)
    mass = of.mass * np.isin(np.minimum((of.forecast * 10).astype(np.int64), 9), region)
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
        lambda: {"under": slope("under-confident", sv.ANYWHERE), "over": slope("over-confident", (3, 4, 5, 6))},
        lambda under, over: holds(under > 1 > over),
        lambda under, over: f"{under:.2f} (under-confident); {over:.2f} (over-confident)",
    ),
    "fig-12-network": (
        lambda: {"error": sv.before(sv.NETWORK)},
        not_judged,
        lambda error: f"Networks trained alike differ: E abs(S - C) is {min(error):.4f} to {max(error):.4f}",
    ),
}


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


def exactly(measure: Callable[[], dict[str, str]], **expected: str) -> Functions:
    """Return the functions of a claim that figures are these and no others."""
    return (
        lambda: {"found": measure()},
        lambda found: holds([*found.values()] == [*expected.values()]),
        lambda found: sv.each(found),
    )


# A table


def entries(measure: Callable[[], dict[str, list[str]]]) -> Functions:
    """Return the functions of a claim that the entries of a table are exact values, rounded: name -> (exact, printed); a gap
    that is the difference of the printed mean and rate, each rounded, is a misprint."""
    return lambda: {"figures": measure()}, rounded, of_entries


def rounded(figures: Mapping[str, Sequence[str]]) -> Verdict:
    """Return the verdict on all entries of a table: each is right, a misprint or wrong."""

    def of(name: str, exact: str, printed: str) -> Verdict:
        bin_ = name.rpartition(", ")[0]
        mean, rate = (figures.get(f"{bin_}, {word}", (0, "0"))[1] for word in ("mean", "rate"))
        return sv.as_printed(exact, printed, abs(Fraction(mean) - Fraction(rate)) if name.endswith("gap") else None)

    found = {of(name, *entry) for name, entry in figures.items()}
    return all_of(found - {Verdict.HOLDS} if Verdict.MISPRINT in found else found)


def of_entries(figures: Mapping[str, Sequence[str]]) -> str:
    """Return how many entries are exact values, rounded, and which are not."""
    off = [
        f"{name} {float(Fraction(value)):.4g} (printed {printed})"
        for name, (value, printed) in figures.items()
        if not sv.rounds_to(Fraction(value), printed)
    ]
    return f"{len(figures) - len(off)} of {len(figures)} entries" + (f"; not {'; '.join(off)}" if off else "")


# What the survey computes from its Tables 1 to 7 and in footnote 2.


CLASSES = {"labels": [1, 2, 3]}


def of_running(metric: Callable[..., float], **asked: Any) -> Callable[[], str]:
    """Return the exact value of a metric on Table 3, in five bins."""
    return lambda: exact(metric(*datasets.load_survey_table_3(), binning=5, **CLASSES, **asked))


def of_class(j: int) -> Callable[[], str]:
    """Return the exact class-j-ECE of Table 3."""
    return of_running(expected_calibration_error, notion=OneVsRest(str(j)))


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


def signs_of_rain() -> dict[str, str]:
    """Return where it rained more and less often than predicted, with every forecast at the centre of its class."""
    bins = reliability_curve(*datasets.load_hallenbeck_forecasts(), notion="binary", binning=10).panels[0].bins
    signs = {"under-estimates": 1, "over-estimates": -1}
    return {
        word: ", ".join(f"{10 * b} to {10 * b + 9} %" for b in range(10) if bins.count[b] and bins.gap[b] * sign > 0)
        for word, sign in signs.items()
    }


def footnote() -> dict[str, str]:
    """Return the errors of the forty rows of footnote 2."""
    forecasts = np.array([[0.3, 0.3, 0.4], [0.4, 0.3, 0.3], [0.4, 0.6, 0.0], [0.3, 0.6, 0.1]])
    occurred = np.array([[4, 2, 4], [3, 4, 3], [5, 5, 0], [2, 7, 1]])
    y, prob = np.concatenate([np.repeat([0, 1, 2], row) for row in occurred]), np.repeat(forecasts, 10, axis=0)
    errors = {"class-wise": classwise_calibration_error, "confidence": expected_calibration_error}
    return {name: exact(error(y, prob)) for name, error in errors.items()}


OF_TABLES = {
    "table-1-signs": exactly(
        signs_of_rain,
        under="10 to 19 %, 40 to 49 %, 50 to 59 %, 60 to 69 %, 70 to 79 %, 80 to 89 %, 90 to 99 %",
        over="20 to 29 %, 30 to 39 %",
    ),
    "footnote-2": exactly(footnote, class_wise="0", confidence="1/40"),
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


def by_resampling() -> Any:
    """Run Algorithm 1 on Table 3."""
    how = {"binning": 5, "n_resamples": DRAWS_OF_TEST, "strict": True, "correction": False, "rng": 0}
    return resampling_test(*datasets.load_survey_table_3(), metric="classwise-ece", **how, **CLASSES)


def resampled() -> dict[str, Any]:
    """Return its p-value."""
    return {"pvalue": by_resampling().pvalue, "draws": DRAWS_OF_TEST, "printed": 0.016}


def summand_printed_twice() -> tuple[float, float]:
    """How far C of Table 8 is from what rounds to 25.3, with the summand printed twice and once."""
    printed, meant = (max(abs(times * hosmer_lemeshow().statistic - 25.3) - 0.05, 0.0) for times in (2, 1))
    return printed, meant


def one_run(pvalue: float, draws: int, printed: float) -> Verdict:
    """Return whether a p-value of one run of 1000 label sets is one that such a run can give."""
    error = (pvalue * (1 - pvalue) * (1 / PRINTED_DRAWS + 1 / draws)) ** 0.5
    return equals(printed, pvalue, CLEAR * error)


OF_TESTS = {
    "table-8": entries(of_groups),
    "hosmer-lemeshow": figure("25.3", lambda: decimal(hosmer_lemeshow().statistic)),
    "hosmer-lemeshow-p": figure("0.0003", lambda: decimal(hosmer_lemeshow().pvalue)),
    "equation-21": claims_equations.equation(summand_printed_twice),
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
            ece = expected_calibration_error(y, call.astype(float), notion="binary")
            found[f"{name}, pi_1 {pi:g}"] = [exact(ece), pi]
    return {"coins": found}


def of_extremes() -> dict[str, str]:
    """Return the errors of a perfect classifier, of one that is always wrong, and of constant class shares."""
    y, three = np.arange(10) < 3, np.repeat([0, 1, 2], 10)
    ece = {"perfect": y.astype(float), "constant pi_1": np.full(10, 0.3), "always wrong": 1.0 - y}
    found = {name: exact(expected_calibration_error(y, prob, notion="binary")) for name, prob in ece.items()}
    return found | {"class-wise, constant": exact(classwise_calibration_error(three, np.full((30, 3), 1 / 3)))}


def thresholds(costs: tuple[float, float] = (4, 1), swap: bool = False) -> dict[str, float]:
    """How far thresholds for costs, and for class ratios r in training and r' in use, are from what the survey says."""
    off = {"4 to 1": abs(optimal_threshold(*costs) - 0.8)}
    for r, used in ((1.0, 4.0), (0.5, 3.0), (4.0, 1.0)):
        old, new = (used, r) if swap else (r, used)
        at = optimal_threshold(1, 1, old_prior=old / (1 + old), new_prior=new / (1 + new))
        off[f"{at:.4g} for r {r:g}, r' {used:g}"] = abs(at - r / (r + used))
    return off


def merged(bins: int = 5) -> dict[str, Any]:
    """Return centres and mean forecasts of the bins with rows of Table 1."""
    found = reliability_curve(*datasets.load_hallenbeck_forecasts(), notion="binary", binning=bins).panels[0].bins
    of = {"centre": (found.edges[1:] + found.edges[:-1]) / 2, "mean": found.mean_prob, "low": found.gap}
    return {word: [exact(value) for value in values[found.count > 0]] for word, values in of.items()}


def off_centre(centre: Sequence[str], mean: Sequence[str], low: Sequence[str]) -> Verdict:
    """Return whether all but the last mean lie off the centre of their bins, by less than half its width."""
    off = [abs(Fraction(c) - Fraction(m)) for c, m in zip(centre, mean, strict=True)]
    return holds(all(0 < d < Fraction(1, 2 * len(off)) for d in off[:-1]) and off[-1] == 0)


EXAMPLES_OF_6 = {"(a)": ([0] * 4 + [1] * 4, [0, 0, 0, 1, 0, 1, 1, 1]), "(b)": ([0, 1], [0, 1])}
"""Scores and outcomes."""


def half_a_bin() -> dict[str, str]:
    """Return how far the markers of two bins lie from the diagonal, at the mean predictions and at the centres."""
    found = {}
    for name, (score, y) in EXAMPLES_OF_6.items():
        bins = reliability_curve(y, np.array(score, dtype=float), notion="binary", binning=2).panels[0].bins
        for word, x in {"means": bins.mean_prob, "centres": (bins.edges[1:] + bins.edges[:-1]) / 2}.items():
            found[f"{name} at the {word}"] = " and ".join(exact(d) for d in np.abs(bins.event_rate - x))
    return found


def empty_bins() -> dict[str, str]:
    """Return which of five bins are empty in the diagrams of the running example."""
    panels = (
        panel
        for notion in ("class-wise", "confidence")
        for panel in reliability_curve(*datasets.load_survey_table_3(), notion=notion, binning=5, **CLASSES).panels
    )
    return {p.name: ", ".join(str(b + 1) for b in np.flatnonzero(p.bins.count == 0)) or "none" for p in panels}


def sigmoid_and_beta() -> dict[str, Any]:
    """Return E|S - C| before and after the best straight line on the scores, and the best beta curve."""
    methods = {"sigmoid": sv.STRAIGHT, "beta": "beta"}
    return {"cases": {n: {word: sv.both(n, m) for word, m in methods.items()} for n in (sv.HALVED, sv.DOUBLED)}}


def fits_one_way(cases: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Verdict:
    """Return whether the sigmoid works well for halved log-odds, and clearly not for doubled ones."""
    under, over = (cases[name]["sigmoid"] for name in (sv.HALVED, sv.DOUBLED))
    return all_of([sv.works_well(**under), above_zero(sv.less(sv.left(**over), sv.WELL))])


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


TESTED = ((3, 500, 10), (3, 1000, 10), (2, 500, 10))
"""Classes, rows and groups."""


def rejected(draws: int = 400) -> dict[str, Any]:
    """Return how often the test rejects calibrated rows at 5 %: those that a multinomial logistic regression was fitted to, and
    held-out ones, with the degrees of freedom of the survey; and held-out ones with M (K - 1)."""
    shares: dict[str, list[float]] = {"fit": [], "held_out": [], "free": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n_classes, rows, groups in TESTED:
            tests: dict[str, list[bool]] = {word: [] for word in shares}
            for s in range(draws):
                of = datasets.make_softmax_forecast(rows, n_classes, temperature=1.0, accuracy=0.55, rng=s)
                z = np.log(of.prob[:, 1:] / of.prob[:, :1])
                own = LogisticRegression(C=np.inf, max_iter=1000).fit(z, of.y).predict_proba(z)
                for word, prob, fitted in (("fit", own, True), ("held_out", of.prob, True), ("free", of.prob, False)):
                    tests[word].append(hosmer_lemeshow_test(of.y, prob, n_bins=groups, fitted=fitted).pvalue < 0.05)
            for word, found in tests.items():
                shares[word].append(float(np.mean(found)))
    return shares | {"draws": draws}


def of_rejections(draws: int, **shares: Sequence[float]) -> str:
    """Return how often it rejects."""
    cases = zip(TESTED, *shares.values(), strict=True)
    said = {f"K {k}, {n} rows, M {m}": ", ".join(f"{100 * of:.1f}" for of in found) for (k, n, m), *found in cases}
    return f"Rejected in % of {draws} draws, on rows of the fit, held-out ones, these with M (K - 1) degrees: {sv.each(said)}"


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
    "ece-extremes": exactly(of_extremes, perfect="0", constant="0", wrong="1", class_wise="0"),
    "thresholds": claims_equations.never(thresholds),
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
        sv.in_words(
            lambda **of: " and ".join(f"{sv.shown(sv.left(**v), 1, 100)} % is left ({word})" for word, v in of.items())
        ),
    ),
    "fig-4": (lambda: sv.both(sv.HALVED, sv.STRAIGHT), sv.works_well, sv.how_much_is_left),
    "logistic-analytic": (
        analytic_map,
        lambda maps: holds(all(abs(f / g - 1) < 0.03 for pair in maps.values() for f, g in zip(*pair, strict=True))),
        lambda maps: (
            "With the variance within classes, slope by formula and by fit: "
            + sv.each({name: f"{formula[0]:.2f} and {fit[0]:.2f}" for name, (formula, fit) in maps.items()})
        ),
    ),
    "fig-6": exactly(half_a_bin, a_mean="1/4 and 1/4", a_centre="0 and 0", b_mean="0 and 0", b_centre="1/4 and 1/4"),
    "empty-bins": exactly(empty_bins, class_1="none", class_2="4, 5", class_3="5", confidence="1"),
    "degrees-of-freedom": (
        rejected,
        lambda fit, draws, **_: holds(all(abs(of - 0.05) < 3 * (0.05 * 0.95 / draws) ** 0.5 for of in fit)),
        of_rejections,
    ),
}


CLAIMS = claims_of(
    "survey",
    claims_equations.OF_EQUATIONS | OF_TEXT | OF_TABLES | OF_CASES | OF_BINNING | claims_methods.FUNCTIONS | OF_TESTS,
    BARELY=BARELY, NEARLY=NEARLY, **vars(sv),
)  # fmt: skip

PAPER = Paper(
    name="survey", title="Classifier calibration: a survey",
    authors="Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull and Flach", venue="Machine Learning 2023",
    command="make reproduce-survey", minutes=4, page="survey-calibrators.md", claims=CLAIMS,
)  # fmt: skip
