"""Algorithm 3 as it is printed: it cuts where the event rate changes, so that equal neighbours among the blocks are joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant import bin_test_calibration_error
from calibrant._core.rows import Weights
from calibrant.binning import Binning, Bins, BoundedIsotonic
from calibrant.notions import BinaryProblem
from studies.tce.imagenet import NETWORKS, dogs

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
    return [
        [
            len(bins := bins_of(y, prob, binning)),
            int(bins.count.max()),
            bin_test_calibration_error(y, prob, binning=binning, labels=[0, 1]),
        ]
        for binning in (BLOCKS, PrintedCut())
    ]


def of_networks() -> list[list[list[float]]]:
    """The networks on ImageNet."""
    return [compared(dogs()["y"], dogs()[network]) for network in NETWORKS]


def of_rare_events() -> list[list[list[float]]]:
    """Small problems of rare events, whose predictions are right but for a shift in log-odds."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(N_PROBLEMS):
        log_odds = rng.normal(-4.0, 1.0, N_ROWS)
        y = (rng.random(N_ROWS) < 1.0 / (1.0 + np.exp(-log_odds))).astype(int)
        found.append(compared(y, 1.0 / (1.0 + np.exp(-log_odds - rng.normal()))))
    return found
