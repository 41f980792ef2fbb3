"""How many models each error tells from calibrated ones, and what the ECE is made of."""

from __future__ import annotations

import numpy as np

from calibrant import EqualWidth, expected_calibration_error
from calibrant._core.rows import Weights
from calibrant.notions import BinaryProblem
from studies.data import data_dir
from studies.markdown import table
from studies.tce.uci.data import DATA_SETS
from studies.tce.uci.measured import N_BINS, floors, measure, pvalues, values
from studies.tce.uci.models import ALGORITHMS, SEEDS, forecasts
from studies.tce.uci.ranks import is_better

LEVEL = 0.05
NOMINAL = 100.0 * LEVEL

IMBALANCED = tuple(name for name in DATA_SETS if name != "spambase")

CLEAR_METRICS = ("TCE", "TCE(Q)", "ECE", "ACE", "MCE", "MCE(Q)")


def n_models() -> int:
    return len(DATA_SETS) * len(ALGORITHMS) * len(SEEDS)


def clear_table() -> str:
    """How many models each error tells from calibrated ones, and what calibrated ones have."""
    body = []
    for metric in CLEAR_METRICS:
        digits = 1 if metric.startswith("TCE") else 3
        floor, found = floors(metric).mean(axis=-1), values(metric).mean(axis=-1)
        body.append(
            [
                metric,
                f"{found.min():.{digits}f} to {found.max():.{digits}f}",
                f"{floor.min():.{digits}f} to {floor.max():.{digits}f}",
                f"{n_clear(metric)} of {n_models()}",
                f"{int((pvalues(metric) > LEVEL).all(axis=-1).sum())} of {n_models() // len(SEEDS)}",
            ]
        )
    head = ["error", "models", "calibrated forecasts with their probabilities", "clear", "clear in no split"]
    return table(head, body)


def n_clear(metric: str) -> int:
    """Models whose figure at most a twentieth of calibrated forecasts reach."""
    return int((pvalues(metric) <= LEVEL).sum())


def fullest() -> dict[str, float]:
    """Share of the rows in the fullest of ten bins of equal width, mean over the models of a data set."""
    return {name: float(np.mean([_fullest(of.y, of.prob) for of in forecasts(name)])) for name in DATA_SETS}


def _fullest(y: np.ndarray, prob: np.ndarray) -> float:
    bins = EqualWidth(N_BINS)(BinaryProblem(prob, y.astype(bool), Weights.one_each(prob.size)))
    return float(bins.count.max() / prob.size)


def of_averages() -> dict[str, float]:
    """How much of the ECE the gap of the two averages over all rows is, median over the models of a data set."""
    return {
        name: float(np.median([abs(of.y.mean() - of.prob.mean()) / measure(of, "ECE") for of in forecasts(name)]))
        for name in DATA_SETS
    }


def of_published(name: str) -> float:
    """The same of the authors' own predictions for a data set of theirs."""
    with np.load(data_dir() / "tce_uci.npz") as data:
        y, probs = data[f"{name}_y"], [data[f"{name}_{algorithm}"] for algorithm in ALGORITHMS]
    gaps = [abs(y.mean() - prob.mean()) / expected_calibration_error(y, prob, binning=N_BINS) for prob in probs]
    return float(np.median(gaps))


def agreement() -> str:
    """Whether TCE follows proper scores better than the gaps do: the paper does not ask."""
    body = [[f"TCE less {other}", *is_better("TCE", other)] for other in ("ECE", "ACE")]
    return table(["difference of Kendall's tau", "mean over data sets", "TCE nearer"], body)
