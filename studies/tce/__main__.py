"""Run the experiments of the paper on test-based calibration error and write docs/tce.md: python -m studies.tce

The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.claims import Row, claims_table, coverage_table, filled, require, run
from studies.tce import uci_page
from studies.tce.claims import CLAIMS, PAPER
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
        f"{few:.0f} to {most:.0f} (printed: {printed}). Of the {lines} TCEs of Table 13, {count} lie outside of what nine of "
        "ten draws give."
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
    return filled(
        Path(__file__).with_name("page.md"),
        coverage=coverage_table(PAPER.coverage),
        summary=summary(),
        claims=claims_table(CLAIMS, rows),
        study_seeds=STUDY_SEEDS,
        test_table=test_table(),
        null_size_table=null_size_table(),
        few_null_seeds=FEW_NULL_SEEDS,
        null_resamples=NULL_RESAMPLES,
        estimates_table=estimates_table(),
        few_study_seeds=FEW_STUDY_SEEDS,
        convention_table=convention_table(),
        t_table=t_table(),
        error_table=error_table(),
        bin_table=bin_table(),
        quality_table=quality_table(),
        draws=DRAWS,
        subsample_table=subsample_table(),
        resamples=RESAMPLES,
        size_of_error_table=size_of_error_table(),
        rows=ROWS,
        seeds=SEEDS,
        prevalence_tables="\n\n".join(
            (part for name, word in zip(FORECASTS, WORDS, strict=True) for part in (word, prevalence_table(name)))
        ),
        alarm_table=alarm_table(),
        at=AT,
        few_seeds=FEW_SEEDS,
        size_tables="\n\n".join(part for name in FORECASTS for part in (f"{name.capitalize()}:", size_table(name))),
        trained_models=uci_page.section().rstrip(),
        generator_error=generator_error(),
        digit_tables="\n\n".join(
            (part for number, of in TABLES.items() for part in (f"### {of.what}", side_by_side(number)))
        ),
        draw_tables="\n\n".join(
            part for number in SHOWN for part in (f"### {TABLES[number].what}, many draws", seeds_table(number))
        ),
    )


WORDS = (
    "### Calibrated all the while",
    f"### Shifted: log-odds too high by {SHIFT:g}",
    f"### Too sure: log-odds {STRETCH:g} times as far from those of the prevalence",
)


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
