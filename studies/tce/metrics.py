"""A cell of the simulation study of test-based calibration error: its setting, and its metric as published and as here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import t as student

from calibrant import (
    EqualMass,
    bin_test_calibration_error,
    calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from calibrant.binning import Binning, Bins, BoundedIsotonic, Isotonic
from calibrant.notions import BinaryProblem
from studies.tce.forecasts import N_TEST, Draw, Forecast, draw


@dataclass(frozen=True)
class Setting:
    """One line of a table: the data, the bins and the level."""

    train: float
    test: float
    n_test: int = N_TEST
    sizes: tuple[int, int] | None = None
    n_bins: int = 10
    level: float = 0.05
    noise: tuple[float, int] = (0.0, 0)
    """Scale of the noise in the log-odds, and how many noises were drawn before it."""

    def forecast(self, seed: int) -> Forecast:
        """The forecast of a seed; with seed 0 that of the study."""
        drawn = _drawn(self.train, self.test, self.n_test, seed)
        return drawn.perturbed(*self.noise) if self.noise[0] else drawn.forecast

    @property
    def bounded(self) -> BoundedIsotonic:
        """PAVA-BC of Algorithm 2."""
        return BoundedIsotonic(*(self.sizes or (self.n_test // 20, self.n_test // 5)))

    @property
    def joined(self) -> BoundedIsotonic:
        """PAVA-BC of the authors' code: a last bin that joins the one before is not held to the largest size."""
        return replace(self.bounded, ending="joined")


@lru_cache(maxsize=32)
def _drawn(train: float, test: float, n_test: int, seed: int) -> Draw:
    return draw(train, test, n_train=n_test * 7 // 3, n_test=n_test, seed=seed)


Metric = Callable[[Setting, Forecast], float]
Cut = Callable[[Setting], Binning | int]


@dataclass(frozen=True)
class TruncatedMass(Binning):
    """Bins of equal mass as the authors' code cuts them: products that are a rounding error below a whole number go down."""

    n_bins: int

    def edges(self, problem: BinaryProblem) -> np.ndarray:
        """Return the scores at the places where that code cuts."""
        places = (np.linspace(0.0, 1.0, self.n_bins + 1) * problem.size).astype(int)
        return np.concatenate([[0.0], np.sort(problem.score)[places[1:-1] - 1], [1.0]])


@dataclass(frozen=True)
class VarianceT:
    """Percentage of predictions that the t-test of the authors' code rejects: it divides by the variance. A loss."""

    level: float
    power: float = 1.0
    """One half makes the variance the standard deviation."""

    def __call__(self, problem: BinaryProblem, bins: Bins) -> np.ndarray:
        """Return the percentage of each bin."""
        rows, at = np.maximum(bins.weight, 1.0), bins.index(problem.score)
        rate = bins.event_rate
        with np.errstate(invalid="ignore"):
            reach = student.isf(self.level / 2.0, rows - 1.0) * (rate * (1.0 - rate)) ** self.power / np.sqrt(rows)
        # Where outcomes are all alike that code rejects even a prediction that is exactly right.
        rejects = (np.abs(problem.score - rate[at]) >= reach[at]) | (rate[at] == 0.0) | (rate[at] == 1.0)
        return np.asarray(100.0 * np.bincount(at, rejects, len(bins)) / rows)


def _tested(binning: Cut, test: Any = "binomial") -> Metric:
    def of(s: Setting, f: Forecast) -> float:
        return bin_test_calibration_error(f.y, f.prob, binning=binning(s), test=test, level=s.level, labels=[0, 1])

    return of


def _variance_t(binning: Cut) -> Metric:
    return lambda s, f: calibration_error(f.y, f.prob, binning=binning(s), loss=VarianceT(s.level), labels=[0, 1])


BINNING: dict[str, Cut] = {
    "TCE(P)": lambda s: s.bounded,
    "TCE(Q)": lambda s: EqualMass(s.n_bins),
    "TCE(V)": lambda s: Isotonic(),
}
THEIRS: dict[str, Cut] = {
    **BINNING,
    "TCE(P)": lambda s: s.joined,
    "TCE(Q)": lambda s: TruncatedMass(s.n_bins),
}


def _gap(metric: Callable[..., float], binning: Cut) -> Metric:
    return lambda s, f: metric(f.y, f.prob, binning=binning(s), labels=[0, 1])


def metrics_over(cuts: dict[str, Cut], t: Callable[[Cut], Metric]) -> dict[str, Metric]:
    """Metrics by the names that the tables give them; -B is the binomial test, -T the t-test."""
    mass = cuts["TCE(Q)"]
    return {
        **{name: _tested(cut) for name, cut in cuts.items()},
        "ECE": _gap(expected_calibration_error, lambda s: s.n_bins),
        "ACE": _gap(expected_calibration_error, mass),
        "MCE": _gap(maximum_calibration_error, lambda s: s.n_bins),
        "MCE(Q)": _gap(maximum_calibration_error, mass),
        **{f"{name}-B": _tested(cut) for name, cut in cuts.items()},
        **{f"{name}-T": t(cut) for name, cut in cuts.items()},
    }


def _t(cut: Cut) -> Metric:
    return _tested(cut, "t")


PUBLISHED = metrics_over(THEIRS, _variance_t)
"""What the authors' code computes."""

OURS = metrics_over(BINNING, _t)
"""What the library computes: Algorithm 2, bins that are equal but for one row, and the t-test."""

WITH_OURS: dict[str, dict[str, Metric]] = {
    "Equal mass: the place of a cut is a product, and one that rounding puts just below a whole number is cut a row early": (
        metrics_over({**THEIRS, "TCE(Q)": BINNING["TCE(Q)"]}, _variance_t)
    ),
    "PAVA-BC: the last block joins the one before where twice N_min is at most N_max, whatever the two hold": metrics_over(
        {**THEIRS, "TCE(P)": BINNING["TCE(P)"]}, _variance_t
    ),
    "t-test: the variance stands where the standard deviation belongs": metrics_over(THEIRS, _t),
}
"""What that code computes but for one convention, in which it is as the library."""
