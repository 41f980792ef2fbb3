"""Run the experiments of the paper on test-based calibration error and write docs/tce.md: python -m studies.tce

The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.claims import Row, claims_table, coverage_table, require, run
from studies.tce import uci_page
from studies.tce.claims import CLAIMS, COVERAGE, PAPER
from studies.tce.imagenet import (
    DRAWS,
    NETWORKS,
    PRINTED,
    RESAMPLES,
    SECONDS,
    bin_table,
    error_table,
    estimate,
    quality_table,
    seconds_of_tce,
    size_of_error_table,
    subsample_table,
)
from studies.tce.imagenet import agreeing as networks_agreeing
from studies.tce.pictures import draw
from studies.tce.simulation import (
    AT,
    FORECASTS,
    ROWS,
    SHIFT,
    SHOWN,
    STRETCH,
    TABLES,
    agreeing,
    alarm_table,
    at_prevalence,
    at_size,
    check,
    convention_table,
    drawn,
    estimates_table,
    generator_error,
    prevalence_table,
    seeds_table,
    side_by_side,
    t_table,
    t_tests,
    test_table,
    told_apart,
)
from studies.tce.simulation import FEW_SEEDS as FEW_STUDY_SEEDS
from studies.tce.simulation import FEW_SEEDS_MONITORING as FEW_SEEDS
from studies.tce.simulation import FEW_SEEDS_NULL as FEW_NULL_SEEDS
from studies.tce.simulation import RESAMPLES as NULL_RESAMPLES
from studies.tce.simulation import SEEDS as STUDY_SEEDS
from studies.tce.simulation import SEEDS_MONITORING as SEEDS
from studies.tce.simulation import SIZES_NULL as SIZES
from studies.tce.simulation import at as monitored
from studies.tce.simulation import size_table as null_size_table
from studies.tce.simulation import size_table_monitoring as size_table
from studies.tce.uci import DATA_SETS
from studies.tce.uci import printed as uci_printed

# The main results of docs/tce.md.


def summary() -> str:
    """The main results in a few sentences, all of it computed."""
    return "\n".join(f"* {line}" for line in (_digits(), _good(), _noise(), _scale(), _rows(), _tests(), _time()))


def _digits() -> str:
    (same, cells), (of_networks, all_networks) = agreeing(), networks_agreeing()
    here = sum(name in DATA_SETS for name in uci_printed())
    is_all = (same, of_networks) == (cells, all_networks)
    return (
        f"**{'Every cell' if is_all else 'Not every cell'} that the authors' predictions determine comes out**: {same} of "
        f"{cells} cells of Tables 2 and 6 to 13, and {of_networks} of {all_networks} cells of three of the five networks in "
        "Table 5, with the conventions of the published code; where the library has others, it says so below. Of the UCI study "
        f"(section 4.2) {here} of {len(uci_printed())} data sets are here."
    )


def _good() -> str:
    true = at_prevalence(0.5)["TCE(P)", "binomial"]
    low, high = np.quantile(true, [0.05, 0.95])
    many = at_size(SIZES[-1])
    e = estimate("alexnet")
    return (
        f"**A TCE must be held against its expected value under calibration.** The true probabilities themselves have "
        f"{true.mean():.0f} on average with 6000 rows ({low:.0f} to {high:.0f} in nine of ten draws), and with {SIZES[-1]:,} "
        f"rows {many['TCE(P)'].mean():.0f} over bounded bins and {many['TCE(Q)'].mean():.0f} over ten of equal mass. It is "
        "not the level of the tests, 5: they test whether a prediction is the mean of its bin. A calibrated forecast with "
        f"AlexNet's scores would have {e.noise_floor:.0f}; AlexNet has {e.value:.0f}. `estimate_calibration_error` states that "
        "figure, and a p-value."
    )


def outside() -> tuple[int, int]:
    """How many of the printed TCEs of Table 13 lie outside of the 90 % of draws, and how many there are."""
    lines = range(len(TABLES[13].lines))
    ends = [np.quantile(drawn(13, i, "TCE(P)"), [0.05, 0.95]) for i in lines]
    return sum(not low <= float(PRINTED[13][i][0]) <= high for i, (low, high) in zip(lines, ends, strict=True)), len(
        lines
    )


def _noise() -> str:
    low, high = np.quantile(drawn(2, 0, "TCE(P)"), [0.05, 0.95])
    last, printed = drawn(2, 5, "TCE(P)"), PRINTED[2][5][0]
    few, most = np.quantile(last, [0.05, 0.95])
    count, lines = outside()
    return (
        f"**Each table of the paper is one draw.** Over {STUDY_SEEDS} draws the calibrated model of Table 2 has a TCE of "
        f"{low:.0f} to {high:.0f} (printed: {PRINTED[2][0][0]}) and the model of 1 % at a prevalence of 2 % one of "
        f"{few:.0f} to {most:.0f} (printed: {printed}). Of the {lines} TCEs of Table 13, {count} lie outside of what nine of ten "
        "draws give."
    )


def _scale() -> str:
    half, rare = (monitored(p, "shifted", "TCE(P)").mean() for p in (0.5, 0.01))
    ece, small = (monitored(p, "shifted", "ECE").mean() for p in (0.5, 0.01))
    right, good = monitored(0.5, "calibrated", "TCE(P)").mean(), monitored(0.01, "calibrated", "TCE(P)").mean()
    large = [monitored(p, "shifted", "in the large").mean() for p in (0.5, 0.01)]
    return (
        "**In this simulation TCE keeps the order over prevalences better than ECE, and its size falls with the prevalence.** "
        "With log-odds that are too high by one half it falls from "
        f"{half:.0f} at a prevalence of 50 % to {rare:.0f} at 1 %, with as many rows; the ECE falls from {ece:.4f} to "
        f"{small:.4f}. Calibrated predictions have {right:.0f} and {good:.0f}, ECEs of "
        f"{monitored(0.5, 'calibrated', 'ECE').mean():.4f} and {monitored(0.01, 'calibrated', 'ECE').mean():.4f}. Drawn at any "
        f"two prevalences, the shifted predictions have the larger TCE in {told_apart('shifted', 'TCE(P)'):.0%} of the pairs "
        "and the "
        f"larger ECE in {told_apart('shifted', 'ECE'):.0%}. What keeps its scale is what is fitted in log-odds: "
        f"`calibration_in_the_large` says {large[0]:+.2f} and {large[1]:+.2f}, and orders "
        f"{told_apart('shifted', 'abs(in the large)'):.0%} of the pairs."
    )


def _rows() -> str:
    (few, many), (ece, same) = (
        tuple(monitored(0.1, "shifted", m, n).mean() for n in (1000, 100_000)) for m in ("TCE(P)", "ECE")
    )
    right, noise = (
        [monitored(0.1, "calibrated", metric, n).mean() for n in (1000, 100_000)] for metric in ("TCE(P)", "ECE")
    )
    return (
        "**Here, at a prevalence of 10 %, TCE grows with the number of rows.** From 1000 rows to 100,000 the shifted "
        "predictions go from "
        f"a TCE of {few:.0f} "
        f"to {many:.0f}, the calibrated ones from {right[0]:.0f} to {right[1]:.0f}, and the ECE of the first from {ece:.3f} to "
        f"{same:.3f}, that of the calibrated ones from {noise[0]:.3f} to {noise[1]:.4f}. So TCEs of different numbers "
        "of rows should not be compared."
    )


def _tests() -> str:
    found = {word: ", ".join(values) for word, *values in t_tests()}
    rare = {test: at_prevalence(0.01)["TCE(P)", test].mean() for test in ("t", "binomial")}
    return (
        "**The printed columns of the t-test divide by the variance.** Divided by the "
        f"standard error, the t-test gives {found['t, of the library']} where the binomial test gives {found['binomial']} "
        f"(printed for t: {found['t, as published']}). Where events are rare the tests differ: of the true probabilities at 1 "
        "% "
        f"the t-test rejects {rare['t']:.1f} %, the binomial test {rare['binomial']:.1f} %."
    )


def _time() -> str:
    return (
        f"**About {seconds_of_tce():.2f} s** of one core for the 50,000 predictions of a network, mean of "
        f"{len(NETWORKS)}; the paper "
        f"says {SECONDS['TCE']} s."
    )


PAGE = Path(__file__).parents[2] / "docs" / "tce.md"
FILES = ("tce_simulation.npz", "tce_uci.npz", "imagenet_dogs.npz", *uci_page.FILES)


def page(rows: list[Row]) -> str:
    """The whole page."""
    parts = (introduction(rows), null(), study(), networks(), monitoring(), uci_page.sections(), digits(), draws())
    return "\n\n".join(line for part in parts for line in part) + "\n"


def introduction(rows: list[Row]) -> list[str]:
    return [
        "# Test-based calibration error, run",
        "The experiments of *TCE: A test-based approach to measuring calibration error* (Matsubara, Tax, Mudd and Guy, UAI "
        "2023), run by `make reproduce-tce`, which writes this page and its pictures. TCE is the percentage of predictions "
        "that a binomial test of their bin's events rejects: `bin_test_calibration_error`. TCE(P) has the bins of "
        "`BoundedIsotonic()` (PAVA-BC), TCE(Q) those of `EqualMass(10)`, TCE(V) those of `Isotonic()` (PAVA).",
        "## What of the paper is here",
        coverage_table(COVERAGE),
        "## In short",
        summary(),
        "## What the paper says",
        "Printed cells are held against what the published code computes; other sentences against many draws of the data of "
        "section 4.1, or against models of other data sets where the paper's are not here. *Points apart* is the TCE of the "
        "miscalibrated model less that of the calibrated one. The paper does not say which TCE is reasonable, so that here "
        "only settings are compared with settings. **Chosen afterwards:** the factor of two by which a scale is another, set "
        "when the draws had been seen.",
        claims_table(CLAIMS, rows),
    ]


def null() -> list[str]:
    return [
        "## What value is good",
        "Test rows of the study (section 4.1) with their **true probabilities**, which are calibrated. "
        f"6000 rows, mean and 90 % of {STUDY_SEEDS} draws, level 0.05, by the test.",
        test_table(),
        "The binomial test and Clopper-Pearson are exact, and cautious where events are rare; mid-p is less so. The t-test "
        "takes a rare event for a normal variable, and rejects more of what is right.",
        "If all that is tested were true, TCE would be at most the level on average: with fixed bins and equal predictions in "
        "each. Predictions of a bin differ, and all are tested with the same events: more rows make the tests sharp "
        "enough to see that the prediction at the end of a bin is not the mean of it. Bins that hold a share of the rows, as "
        "those of TCE(P) and TCE(Q) do, stay as wide as they are while rows grow in number:",
        null_size_table(),
        f"At a prevalence of 50 %, {FEW_NULL_SEEDS} draws. Bins of isotonic regression (TCE(V)) become narrower, and TCE(V) "
        "stays; but the outcomes choose them, and a test in a bin that its events made has no level.",
        "![TCE of the true probabilities](images/tce/null.png)",
        "`estimate_calibration_error` draws labels from the predictions and states the expected TCE under calibration "
        f"({NULL_RESAMPLES} draws; four models of the study):",
        estimates_table(),
    ]


def study() -> list[str]:
    return [
        "## The simulation study",
        "A normal feature whose mean depends on the label, a logistic regression of 14,000 rows, 6000 rows to test "
        "(section 4.1 and C.1), with means of -0.5 and 0.5 as in the code that made the tables. The paper has one draw; "
        f"here are {STUDY_SEEDS}, of test sets of 30,000 rows and more {FEW_STUDY_SEEDS}.",
        "![Table 2 over many draws](images/tce/seeds.png)",
        "### Where the published code and the library part",
        "With the conventions of the published code every printed cell comes out (tables below). With one of them as the "
        "library has it:",
        convention_table(),
        "Bins of equal width are closed on the left there and on the right here, and equal scores can part there: the scores "
        "are distinct and none sits on an edge, so that no cell moves. "
        "The t-test on the calibrated model of the study:",
        t_table(),
        "The library divides by n - 1, as a t-test does. An exact test is right where a bin holds few events; at 6000 rows "
        "and a prevalence of one half the choice hardly shows.",
    ]


def networks() -> list[str]:
    return [
        "## Dogs in ImageNet",
        "The probability that an image shows a dog, by three networks on the 50,000 validation images, 12.5 % of which "
        "do (section 4.3). Printed / computed; the last two columns are not printed. "
        "Seconds are CPU seconds of one core, mean of the three, where the paper has those of its machine.",
        error_table(),
        "The bins of AlexNet, and which probabilities the events of each accept:",
        bin_table(),
        "![Tested reliability of AlexNet](images/tce/alexnet.png)",
        quality_table(),
        "The criterion is the variance of outcomes within bins over rows, the next column that over bins (section 3.3). "
        "Isotonic bins have the least of the first among bins whose event rates do not fall; so they must, as they are "
        "chosen for it. Ten bins of equal width have less than those of PAVA-BC and hold nearly all rows in one of them: the "
        "criterion alone does not say that bins are good.",
        "### With fewer rows",
        f"The same networks on random rows, TCE and ECE, means of {DRAWS} draws:",
        subsample_table(),
        "### How large the errors are",
        f"TCE, its expected value under calibration with these scores ({RESAMPLES} draws), and what is wrong in log-odds: "
        "`calibration_in_the_large` (0 is ideal) and `calibration_slope` (1 is ideal).",
        size_of_error_table(),
    ]


def monitoring() -> list[str]:
    words = (
        "### Calibrated all the while",
        f"### Shifted: log-odds too high by {SHIFT:g}",
        f"### Too sure: log-odds {STRETCH:g} times as far from those of the prevalence",
    )
    parts = [
        "## Monitoring: the prevalence drifts",
        "The paper proposes TCE for monitoring, where prevalence changes and calibration is to be watched. Here the "
        f"prevalence of the study's data falls from 50 % to 1 %, {ROWS} rows at a time, mean and standard deviation of {SEEDS} "
        "draws. One table of predictions holds the true probabilities at each prevalence; the others are wrong by the same in "
        "log-odds "
        "all the while. *debiased* is the root mean squared error without bias, *in the large* and *slope* are fitted in "
        "log-odds, and the last column is how often Cox's test (`cox_test`) rejects at 5 %.",
        "![Metrics over prevalences](images/tce/monitoring.png)",
    ]
    for name, word in zip(FORECASTS, words, strict=True):
        parts += [word, prevalence_table(name)]
    parts += [
        "### One threshold for all prevalences",
        "How often a metric is larger for the wrong predictions than for the calibrated ones, over all pairs of draws at any "
        "two "
        "of these prevalences (half: no better than a coin). **Chosen afterwards:** this comparison was added when the tables "
        "above had been seen.",
        alarm_table(),
        "TCE falls as events become rare, for a test of few events rejects little; the predictions are as wrong in log-odds as "
        "before. Of what is shown here the p-value of a test and what is fitted in log-odds keep their meaning, the first as "
        "an alarm, the second as the size of what is wrong, each of its own kind.",
        "### More rows",
        f"At a prevalence of {AT:.0%}, {FEW_SEEDS} draws:",
        "![Metrics over numbers of rows](images/tce/size.png)",
    ]
    for name in FORECASTS:
        parts += [f"{name.capitalize()}:", size_table(name)]
    return [
        *parts,
        "ECE is biased upward with few rows and then stays; TCE is a share of rejections, and what is rejected depends on how "
        "many rows there are. A drift in traffic looks like a drift in calibration.",
    ]


def digits() -> list[str]:
    parts = [
        "## The tables, digit by digit",
        "Printed / computed, with the conventions of the published code. Predictions are those that code makes with the "
        "scikit-learn of its time; those of other sizes and prevalences, and with noise, come from a generator which gives "
        f"the stored ones to {generator_error():.0e}.",
    ]
    for number, of in TABLES.items():
        parts += [f"### {of.what}", side_by_side(number)]
    return parts


def draws() -> list[str]:
    parts = [
        "## The tables over many draws",
        f"Mean and 90 % of {STUDY_SEEDS} draws of training and test rows ({FEW_STUDY_SEEDS} from 30,000 rows on), as the "
        "library computes them: -T is the t-test, not that of the published code. Columns that a table shares with another "
        "are left out.",
    ]
    for number in SHOWN:
        parts += [f"### {TABLES[number].what}, many draws", seeds_table(number)]
    return parts


def main() -> None:
    """Draw the pictures and write the page."""
    require(FILES)
    check()
    rows = run(PAPER)
    print("pictures", flush=True)
    for make in (draw, uci_page.draw):
        make()
    print("page", flush=True)
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
