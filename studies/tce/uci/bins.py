"""What PAVA, PAVA with bounds and quantiles make of the same probabilities: Table 1 and Figures 2 to 4, on other data."""

from __future__ import annotations

from functools import cache

import numpy as np

from calibrant import EqualMass
from calibrant.binning import Bins, BoundedIsotonic, Isotonic
from calibrant.curves import BinningQuality, binning_quality
from studies.markdown import table
from studies.tce.uci.measured import N_BINS
from studies.tce.uci.models import ALGORITHMS, SEEDS, Forecast, forecast, forecasts
from studies.tce.uci.paper import BINS

BINNINGS = {"PAVA": Isotonic(), "PAVA-BC": BoundedIsotonic(), "10 quantiles": EqualMass(N_BINS)}

ROUNDING = 1e-9


@cache
def quality(of: Forecast, name: str) -> BinningQuality:
    return binning_quality(of.y, of.prob, binning=BINNINGS[name])


def bins_of(of: Forecast, name: str) -> Bins:
    return quality(of, name).panels[0].bins


def shown() -> Forecast:
    """The model of the paper's Table 1: the random forest on satimage, first split."""
    return forecast("satimage", "RF", 0)


def bins_table() -> str:
    """Table 1, first split, beside the range over splits and the paper's figures."""
    head = [
        "binning",
        "total error",
        "paper",
        "averaged within-bin error",
        "paper",
        "bins",
        "rows of a bin",
        "violations",
    ]
    body = []
    for name in BINNINGS:
        of, every = quality(shown(), name), [quality(forecast("satimage", "RF", seed), name) for seed in SEEDS]
        total, within = ([getattr(one, word) for one in every] for word in ("criterion", "within_bin_error"))
        figures = [
            f"{of.criterion:.3f} ({min(total):.3f} to {max(total):.3f})",
            f"{BINS[name][0]:.3f}",
            f"{of.within_bin_error:.3f} ({min(within):.3f} to {max(within):.3f})",
            f"{BINS[name][1]:.3f}",
        ]
        size = f"{of.smallest:.0f} to {of.largest:.0f}"
        body.append([name, *figures, str(of.n_bins), size, str(of.n_violations)])
    return table(head, body)


def table_off() -> tuple[float, float]:
    """How far both errors of Table 1 are at most from the paper's."""
    found = np.array([[quality(shown(), name).criterion, quality(shown(), name).within_bin_error] for name in BINNINGS])
    total, within = np.abs(found - [BINS[name] for name in BINNINGS]).max(axis=0)
    return float(total), float(within)


def totals() -> np.ndarray:
    """Total error of each binning, a row a model."""
    return np.array([[quality(of, name).criterion for name in BINNINGS] for of in forecasts()])


def withins() -> np.ndarray:
    """Within-bin error averaged over bins of each binning, a row a model."""
    return np.array([[quality(of, name).within_bin_error for name in BINNINGS] for of in forecasts()])


def least(of: np.ndarray, name: str) -> int:
    """On how many models a binning has the smallest figure."""
    return int((of[:, list(BINNINGS).index(name)] <= of.min(axis=1) + ROUNDING).sum())


def between(of: np.ndarray) -> int:
    """On how many models PAVA-BC lies between the other two."""
    ends = of[:, [0, 2]]
    return int(((of[:, 1] >= ends.min(axis=1) - ROUNDING) & (of[:, 1] <= ends.max(axis=1) + ROUNDING)).sum())


def drops_of(of: Forecast, name: str) -> np.ndarray:
    """By how much the event rate of each bin is below that of the bin before."""
    return quality(of, name).panels[0].drop


def drops(of: Forecast, name: str) -> np.ndarray:
    """Each violation of monotonicity in standard errors of the difference of the two rates."""
    bins = bins_of(of, name)
    held = bins.weight > 0
    rate, weight = bins.event_rate[held], bins.weight[held]
    fall = -np.diff(rate)
    # Under one rate for both bins: the larger rate is never 0 where there is a fall.
    pooled = (rate[1:] * weight[1:] + rate[:-1] * weight[:-1]) / (weight[1:] + weight[:-1])
    error = np.sqrt(pooled * (1.0 - pooled) * (1.0 / weight[1:] + 1.0 / weight[:-1]))
    is_drop = fall > ROUNDING
    return fall[is_drop] / error[is_drop]


def violations_table() -> str:
    """How often each binning violates monotonicity, by algorithm."""
    head = ["binning", *ALGORITHMS, "bins in all", "violations", "largest drop", "in standard errors"]
    body = []
    for name in BINNINGS:
        every = list(forecasts())
        counts = []
        for algorithm in ALGORITHMS:
            own = [of for of in every if of.algorithm == algorithm]
            counts.append(f"{sum(quality(of, name).n_violations > 0 for of in own)} of {len(own)}")
        apart = np.concatenate([drops(of, name) for of in every])
        largest = max(quality(of, name).largest_violation for of in every)
        total = sum(quality(of, name).n_bins for of in every)
        sizes = [f"{largest:.3f}", f"{apart.max():.1f}"] if apart.size else ["", ""]
        body.append([name, *counts, str(total), str(apart.size), *sizes])
    return table(head, body)


def n_violated(name: str) -> int:
    """Models on which a binning violates monotonicity."""
    return sum(quality(of, name).n_violations > 0 for of in forecasts())


def n_too_large() -> int:
    """Models on which equal scores make a bin of PAVA-BC larger than a fifth of the rows."""
    return sum(quality(of, "PAVA-BC").largest > of.y.size / 5.0 for of in forecasts())


def most_violated() -> Forecast:
    """The model on which PAVA-BC violates monotonicity most."""
    return max(forecasts(), key=lambda of: quality(of, "PAVA-BC").largest_violation)


def title(of: Forecast) -> str:
    return f"{of.algorithm} on {of.data}, split {of.seed + 1}"
