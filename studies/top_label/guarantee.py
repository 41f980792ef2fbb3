"""How often the guarantees of histogram binning are kept, by simulation.

The worlds, and their truth in closed form, are those of tests/reference/guarantee.py. Their tables, of worlds with ties and of
vectors too, are those of commit 6e77aab2.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np

from calibrant import HistogramBinning
from calibrant.binning import PointsPerBin
from calibrant.calibrators import binning_guarantee
from studies.claims import mean_and_error

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from reference import guarantee as worlds

SETTINGS = ((1000, 10), (1000, 50), (5000, 100))
WITHOUT_TIES = {"coins": worlds.COINS, "mixed": worlds.MIXED}
ALPHA, DELTA = 0.1, 1e-10


@cache
def simulated(name: str, n: int, k: int, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Return errors and probabilities of pairs in a world without ties, with the rows inside bins."""
    calibrator = HistogramBinning(PointsPerBin(k), interior=True, delta=DELTA, labels=[0, 1])

    def fit(score: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        fitted = calibrator.fit(score, right)
        return fitted.edges_, fitted.value_

    return worlds.simulate(WITHOUT_TIES[name], fit, n, draws, np.random.default_rng(0))


def promised_rates(draws: int) -> dict[str, list[float]]:
    """Return how often each promise is kept, a mean over calibration sets and its standard error."""
    found = {}
    for name in WITHOUT_TIES:
        for n, k in SETTINGS:
            error, mass = simulated(name, n, k, draws)
            promised = binning_guarantee(n, k, n_classes=3, alpha=ALPHA, delta=DELTA)
            case = f"{name}, n {n}, k {k}"
            found[f"new row, {case}"] = (mass * (error <= promised.marginal_error)).sum(axis=1)
            found[f"all pairs and TL-MCE, {case}"] = error.max(axis=1) <= promised.conditional_error
            found[f"TL-ECE, {case}"] = (error * mass).sum(axis=1) <= promised.conditional_error
    return {case: list(mean_and_error([float(one) for one in of])) for case, of in found.items()}


def mean_errors(draws: int) -> dict[str, dict[str, float]]:
    """Return the mean TL-ECE of each world and setting, and the bound of Theorem 1."""
    cases = {f"{name}, n {n}, k {k}": (name, n, k) for name in WITHOUT_TIES for n, k in SETTINGS}
    lower = {case: float(np.mean(np.sum(np.prod(simulated(*of, draws), axis=0), axis=1))) for case, of in cases.items()}
    upper = {
        case: binning_guarantee(n, k, n_classes=3, delta=DELTA).expected_error for case, (_, n, k) in cases.items()
    }
    return {"lower": lower, "upper": upper}
