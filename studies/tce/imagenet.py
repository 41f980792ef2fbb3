"""Dogs among the 1000 classes of ImageNet: Table 5 of the paper on test-based calibration error, and what it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from calibrant import EqualMass, bin_test_calibration_error, expected_calibration_error, maximum_calibration_error
from calibrant._core.rows import Weights
from calibrant.binning import Binning, Bins, BoundedIsotonic, Isotonic
from calibrant.notions import BinaryProblem
from studies.claims import data_dir, table

# What Matsubara, Tax, Mudd and Guy print: their Tables 2, 5 and 6 to 13, digit by digit.
#
# Lines of a table stand in the order of `tce_tables.TABLES`. Of Table 2 the TCEs are printed with a percent sign.


def printed_lines(number: int) -> list[list[str]]:
    """The cells of a table as the paper prints them: printed.csv, where 14 has Tables 3 and 4, too."""
    text = Path(__file__).with_name("printed.csv").read_text(encoding="utf-8")
    return [line.partition(",")[2].split() for line in text.splitlines() if line.startswith(f"{number},")]


PRINTED = {number: printed_lines(number) for number in (2, *range(5, 14))}
"""Tables 2 and 5 to 13: models of the study, or networks, by metrics."""

SECONDS = {"TCE": 71.78, "ECE": 0.4873, "ACE": 0.4221, "MCE": 0.0046, "MCE(Q)": 0.0063}
"""Average time of each metric in Table 5: 50,000 predictions on one CPU."""


NETWORKS = {name.lower(): name for name in ("AlexNet", "VGG19", "ResNet18", "ResNet50", "ResNet152")}
"""In the order of the table."""

METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "TCE": bin_test_calibration_error,
    "ECE": lambda y, p: expected_calibration_error(y, p, binning=10),
    "ACE": lambda y, p: expected_calibration_error(y, p, binning=EqualMass(10)),
    "MCE": lambda y, p: maximum_calibration_error(y, p, binning=10),
    "MCE(Q)": lambda y, p: maximum_calibration_error(y, p, binning=EqualMass(10)),
    "TCE(Q)": lambda y, p: bin_test_calibration_error(y, p, binning=EqualMass(10)),
    "TCE(V)": lambda y, p: bin_test_calibration_error(y, p, binning=Isotonic()),
}
PAPERS = tuple(METRICS)[:5]
DIGITS = {"TCE": 3, "TCE(Q)": 3, "TCE(V)": 3}


@cache
def dogs() -> dict[str, np.ndarray]:
    """Labels, and the probability of a dog by each network."""
    with np.load(data_dir() / "imagenet_dogs.npz") as data:
        return {name: data[name].astype(np.float64) if name != "y" else data[name] for name in data.files}


@cache
def error(network: str, metric: str) -> tuple[float, float]:
    """A metric of a network, and the CPU seconds that it took."""
    y, prob = dogs()["y"], dogs()[network]
    METRICS[metric](y[:100], prob[:100])
    begun = time.process_time()
    return METRICS[metric](y, prob), time.process_time() - begun


def printed(network: str, metric: str) -> str:
    """The cell of the paper's table."""
    return PRINTED[5][list(NETWORKS).index(network)][PAPERS.index(metric)]


def compared_cells() -> list[list[str]]:
    """Network, metric, printed and computed, of all cells."""
    return [
        [network, metric, cell := printed(network, metric), f"{error(network, metric)[0]:.{len(cell.split('.')[1])}f}"]
        for network in NETWORKS
        for metric in PAPERS
    ]


def agreeing() -> tuple[int, int]:
    """How many cells come out as printed, and how many there are."""
    found = compared_cells()
    return sum(cell == own for *_, cell, own in found), len(found)


def error_table() -> str:
    """Printed and computed, and what the paper does not print."""
    body = [
        [
            name,
            *(f"{printed(network, m)} / {error(network, m)[0]:.{DIGITS.get(m, 6)}f}" for m in PAPERS),
            *(f"{error(network, m)[0]:.3f}" for m in list(METRICS)[len(PAPERS) :]),
        ]
        for network, name in NETWORKS.items()
    ]
    taken = [np.mean([error(network, m)[1] for network in NETWORKS]) for m in METRICS]
    seconds = [
        f"{SECONDS[m]:g} / {of:.4f}" if m in SECONDS else f"{of:.4f}" for m, of in zip(METRICS, taken, strict=True)
    ]
    return table(["", *METRICS], [*body, ["seconds", *seconds]])


def seconds_of_tce() -> float:
    """Mean CPU seconds of the TCE of a network."""
    return float(np.mean([error(network, "TCE")[1] for network in NETWORKS]))


# Algorithm 3 as it is printed: it cuts where the event rate changes, so that equal neighbours among the blocks are joined.


BLOCKS = BoundedIsotonic()
N_PROBLEMS, N_ROWS = 400, 200
"""Small problems that are drawn, and their rows."""


@dataclass(frozen=True)
class PrintedCut(Binning):
    """The blocks of PAVA-BC, of which neighbours with the same event rate are one bin."""

    uses_outcomes: ClassVar[bool] = True

    def edges(self, problem: BinaryProblem) -> np.ndarray:
        """Return the edges between blocks of which the rates differ."""
        bins = BLOCKS(problem)
        changes = bins.event_rate[1:] != bins.event_rate[:-1]
        return np.asarray(bins.edges[np.concatenate([[True], changes, [True]])])


def bins_of(y: np.ndarray, prob: np.ndarray, binning: Binning) -> Bins:
    """The bins of predictions."""
    return binning(BinaryProblem(prob, y.astype(bool), Weights.one_each(y.size)))


def compared(y: np.ndarray, prob: np.ndarray) -> list[list[float]]:
    """Number of bins, rows of the largest bin, and TCE: of the blocks, and of the cut as printed."""
    found = []
    for binning in (BLOCKS, PrintedCut()):
        bins, tce = bins_of(y, prob, binning), bin_test_calibration_error(y, prob, binning=binning, labels=[0, 1])
        found.append([len(bins), int(bins.count.max()), tce])
    return found


def of_networks() -> list[list[list[float]]]:
    """The networks on ImageNet."""
    return [compared(dogs()["y"], dogs()[network]) for network in NETWORKS]


@cache
def rare_events() -> list[tuple[np.ndarray, np.ndarray]]:
    """Labels and predictions of small problems of rare events, which are right but for a shift in log-odds."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(N_PROBLEMS):
        log_odds = rng.normal(-4.0, 1.0, N_ROWS)
        y = (rng.random(N_ROWS) < 1.0 / (1.0 + np.exp(-log_odds))).astype(int)
        found.append((y, 1.0 / (1.0 + np.exp(-log_odds - rng.normal()))))
    return found


def printed_sizes(y: np.ndarray, least: int, most: int) -> np.ndarray:
    """Rows of each bin of Algorithms 2 and 3 as they are printed, of labels in the order of distinct predictions."""
    sizes, events = list[int](), list[int]()

    def join() -> None:
        sizes[-2:], events[-2:] = [sum(sizes[-2:])], [sum(events[-2:])]

    for label in y[: y.size - least]:
        sizes.append(1)
        events.append(int(label))
        while len(sizes) > 1:
            both = sizes[-2] + sizes[-1]
            if both > least and (both > most or events[-2] / sizes[-2] < events[-1] / sizes[-1]):
                break
            join()
    sizes.append(least)
    events.append(int(y[y.size - least :].sum()))
    if sizes[-2] + least <= most:
        join()
    rate = np.repeat(np.divide(events, sizes), sizes)
    return np.diff(np.concatenate([[0], 1 + np.flatnonzero(np.diff(rate)), [y.size]]))


def below_least(least: int, most: int) -> list[int]:
    """In how many of the small problems a bin has fewer rows than the least: as printed, and in the library."""
    sorted_y = [y[np.argsort(prob)] for y, prob in rare_events()]
    blocks = BoundedIsotonic(least, most)
    return [
        sum(bool(printed_sizes(y, least, most).min() < least) for y in sorted_y),
        sum(bool(bins_of(y, prob, blocks).count.min() < least) for y, prob in rare_events()),
    ]
