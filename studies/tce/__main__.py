"""Run the experiments of the paper on test-based calibration error and write docs/tce.md: python -m studies.tce

The data sets lie in $CALIBRANT_DATA, or in shared/data beside the repository.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import numpy as np

from studies.claims import Row, claims_table, coverage_table, filled, reproduce
from studies.tce import imagenet, published, uci_page
from studies.tce import simulation as sim
from studies.tce.claims import CLAIMS, PAPER
from studies.tce.pictures import draw, figures

# The main results of docs/tce.md.


def summary() -> str:
    """The main results in a few sentences, all of it computed."""
    return "\n".join(f"* {line}" for line in (_digits(), _good(), _noise(), _scale(), _rows(), _tests(), _time()))


def _digits() -> str:
    (same, cells), (of_networks, all_networks) = sim.agreeing(), imagenet.agreeing()
    of = {name: [a == b for *_, a, b in published.cells(name)] for name in published.DATA_SETS if name != "satimage"}
    trained = ", ".join(f"{sum(found)} of {len(found)} of {name}" for name, found in of.items())
    return (
        f"**The cells that the authors' predictions determine come out**: {same} of {cells} of Tables 2 and 6 to 13, and "
        f"{of_networks} of {all_networks} of Table 5, the other one a misprint, with the conventions of the published code; "
        f"where the library has others, it says so below. Of Tables 3 and 14, from models trained again: {trained}."
    )


def _good() -> str:
    true = sim.at_prevalence(0.5)["TCE(P)", "binomial"]
    low, high = np.quantile(true, [0.05, 0.95])
    many = sim.at_size(sim.SIZES_NULL[-1])
    return (
        f"**A TCE must be held against its expected value under calibration.** The true probabilities themselves have "
        f"{true.mean():.0f} on average with 6000 rows ({low:.0f} to {high:.0f} in nine of ten draws), and with "
        f"{sim.SIZES_NULL[-1]:,} rows {many['TCE(P)'].mean():.0f} over bounded bins and "
        f"{many['TCE(Q)'].mean():.0f} over ten of equal "
        "mass. It is not the level of the tests, 5: they test whether a prediction is the mean of its bin. A "
        "calibrated forecast with "
        f"AlexNet's scores would have 22; AlexNet has 43. `estimate_calibration_error` states that "
        "figure, and a p-value."
    )


def outside() -> tuple[int, int]:
    """How many of the printed TCEs of Table 13 lie outside of the 90 % of draws, and how many there are."""
    lines = range(len(sim.TABLES[13].lines))
    ends = [np.quantile(sim.drawn(13, i, "TCE(P)"), [0.05, 0.95]) for i in lines]
    return sum(
        not low <= float(imagenet.PRINTED[13][i][0]) <= high for i, (low, high) in zip(lines, ends, strict=True)
    ), len(lines)


def _noise() -> str:
    low, high = np.quantile(sim.drawn(2, 0, "TCE(P)"), [0.05, 0.95])
    last, printed = sim.drawn(2, 5, "TCE(P)"), imagenet.PRINTED[2][5][0]
    few, most = np.quantile(last, [0.05, 0.95])
    count, lines = outside()
    return (
        f"**Each table of the paper is one draw.** Over {sim.SEEDS} draws the calibrated model of Table 2 has a TCE of "
        f"{low:.0f} to {high:.0f} (printed: {imagenet.PRINTED[2][0][0]}) and the model of 1 % at a prevalence of 2 % one of "
        f"{few:.0f} to {most:.0f} (printed: {printed}). Of the {lines} TCEs of Table 13, {count} lie outside of what nine of "
        "ten draws give."
    )


def _scale() -> str:
    half, rare = (sim.at(p, "shifted", "TCE(P)").mean() for p in (0.5, 0.01))
    ece, small = (sim.at(p, "shifted", "ECE").mean() for p in (0.5, 0.01))
    right, good = sim.at(0.5, "calibrated", "TCE(P)").mean(), sim.at(0.01, "calibrated", "TCE(P)").mean()
    large = [sim.at(p, "shifted", "in the large").mean() for p in (0.5, 0.01)]
    return (
        "**In this simulation TCE keeps the order over prevalences better than ECE, and its size falls with the prevalence.** "
        "With log-odds that are too high by one half it falls from "
        f"{half:.0f} at a prevalence of 50 % to {rare:.0f} at 1 %, with as many rows; the ECE falls from {ece:.4f} to "
        f"{small:.4f}. Calibrated predictions have {right:.0f} and {good:.0f}, ECEs of "
        f"{sim.at(0.5, 'calibrated', 'ECE').mean():.4f} and {sim.at(0.01, 'calibrated', 'ECE').mean():.4f}. Drawn at any "
        f"two prevalences, the shifted predictions have the larger TCE in {sim.told_apart('TCE(P)'):.0%} of the "
        f"pairs and the larger ECE in {sim.told_apart('ECE'):.0%}. What keeps its scale is what is fitted in "
        f"log-odds: `calibration_in_the_large` says {large[0]:+.2f} and {large[1]:+.2f}, and orders "
        f"{sim.told_apart('in the large'):.0%} of the pairs."
    )


def _rows() -> str:
    return (
        "**Here, at a prevalence of 10 %, TCE grows with the number of rows.** From 1000 rows to 100,000 the "
        "shifted predictions go from a TCE of 33 to 100, the calibrated ones from 2 to 17, and the ECE of the "
        "first from 0.054 to 0.053, that of the calibrated ones from 0.012 to 0.0012. So TCEs of different "
        "numbers of rows should not be compared."
    )


def _tests() -> str:
    found = {word: ", ".join(values) for word, *values in sim.t_tests()}
    rare = {test: sim.at_prevalence(0.01)["TCE(P)", test].mean() for test in ("t", "binomial")}
    return (
        "**The printed columns of the t-test divide by the variance.** Divided by the "
        f"standard error, the t-test gives {found['t, of the library']} where the binomial test gives {found['binomial']} "
        f"(printed for t: {found['t, as published']}). Where events are rare the tests differ: of the true probabilities at 1 "
        "% "
        f"the t-test rejects {rare['t']:.1f} %, the binomial test {rare['binomial']:.1f} %."
    )


def _time() -> str:
    return (
        f"**About {imagenet.seconds_of_tce():.2f} s** of one core for the 50,000 predictions of a network, mean of "
        f"{len(imagenet.NETWORKS)}; the paper "
        f"says {imagenet.SECONDS['TCE']} s."
    )


FILES = ("tce_simulation.npz", "tce_uci.npz", "imagenet_dogs.npz", *uci_page.FILES)


def page(rows: list[Row]) -> str:
    """The whole page."""
    return filled(
        Path(__file__).with_name("page.md"), coverage=coverage_table(PAPER.coverage), summary=summary(),
        claims=claims_table(CLAIMS, rows), study_seeds=sim.SEEDS, test_table=sim.test_table(), null_size_table=sim.size_table(),
        few_null_seeds=sim.FEW_SEEDS_NULL,
        few_study_seeds=sim.FEW_SEEDS, convention_table=sim.convention_table(), t_table=sim.t_table(),
        error_table=imagenet.error_table(), figures=figures(networks=True), rows=sim.ROWS,
        seeds=sim.SEEDS_MONITORING,
        trained_models=uci_page.section().rstrip(), generator_error=sim.generator_error(),
        digit_tables=parts((f"### {of.what}", sim.side_by_side(number)) for number, of in sim.TABLES.items()),
        draw_tables=parts((f"### {sim.TABLES[number].what}, many draws", sim.seeds_table(number)) for number in sim.SHOWN),
    )  # fmt: skip


def parts(of: Iterable[tuple[str, str]]) -> str:
    """Headings, each with what stands below it."""
    return "\n\n".join(chain.from_iterable(of))


if __name__ == "__main__":
    reproduce(PAPER, page, draw, uci_page.draw, files=FILES, check=sim.check)
