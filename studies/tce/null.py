"""What the test-based calibration error is of a forecast that is exactly calibrated: the true probabilities."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from calibrant import EqualMass, bin_test_calibration_error
from calibrant.binning import BoundedIsotonic, Isotonic
from calibrant.metrics import BinTest, estimate_calibration_error
from studies.markdown import table
from studies.tce.forecasts import Forecast, draw, stored, true_probability
from studies.tce.seeds import SEEDS, summary

PREVALENCES = (0.5, 0.1, 0.01)
SIZES = (1000, 6000, 30_000)
FEW_SEEDS = 40
BINNINGS = {"TCE(P)": BoundedIsotonic(), "TCE(Q)": EqualMass(10), "TCE(V)": Isotonic()}
TESTS = ("binomial", "mid-p", "clopper-pearson", "t")
RESAMPLES = 200


def truth(prevalence: float, n: int, seed: int) -> Forecast:
    """Test rows of the study with their true probabilities."""
    drawn = draw(prevalence, prevalence, n_train=0, n_test=n, seed=seed)
    return Forecast(drawn.y_test, true_probability(drawn.x_test, prevalence), drawn.x_test)


def tce(of: Forecast, binning: str, test: Any = "binomial") -> float:
    """TCE of a forecast over named bins."""
    return bin_test_calibration_error(of.y, of.prob, binning=BINNINGS[binning], test=test, labels=[0, 1])


@cache
def at_prevalence(prevalence: float) -> dict[tuple[str, str], np.ndarray]:
    """TCE of true probabilities of 6000 rows by (binning, test), one a seed."""
    drawn = [truth(prevalence, 6000, seed) for seed in range(SEEDS)]
    return {(name, test): np.array([tce(of, name, test) for of in drawn]) for name in BINNINGS for test in TESTS}


@cache
def at_size(n: int) -> dict[str, np.ndarray]:
    """TCE of true probabilities by binning at a prevalence of one half, one a seed."""
    drawn = [truth(0.5, n, seed) for seed in range(FEW_SEEDS)]
    return {name: np.array([tce(of, name) for of in drawn]) for name in BINNINGS}


def test_table() -> str:
    """The four tests side by side."""
    body = [
        [f"{100 * prevalence:g} %", name, *(summary(at_prevalence(prevalence)[name, test]) for test in TESTS)]
        for prevalence in PREVALENCES
        for name in BINNINGS
    ]
    return table(["prevalence", "", *TESTS], body)


def size_table() -> str:
    """The same forecast with more rows."""
    body = [[f"{n:,}", *(summary(at_size(n)[name]) for name in BINNINGS)] for n in SIZES]
    return table(["rows", *BINNINGS], body)


def estimates_table() -> str:
    """What `estimate_calibration_error` says of the study's own forecasts."""
    body = []
    for case in ("50-50", "50-40", "01-01", "01-02"):
        of = stored(case)
        e = estimate_calibration_error(
            of.y, of.prob, binning=BINNINGS["TCE(P)"], loss=BinTest(), n_resamples=RESAMPLES, labels=[0, 1]
        )
        body.append([_words(case), f"{e.value:.2f}", f"{e.noise_floor:.2f}", f"{e.pvalue:.3f}"])
    return table(["training - test prevalence", "TCE(P)", "if calibrated", "p-value"], body)


def _words(case: str) -> str:
    return " - ".join(f"{int(part)} %" for part in case.split("-"))
