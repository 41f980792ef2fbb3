"""Predictions of the paper's own models, made again: Table 3 and a part of Table 14, as the published code bins them.

That code sorts rows by an order of NumPy that is not stable, and cuts between rows of that order, so that rows with the same
prediction can part. Which of them stands first is then part of the figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from calibrant import EqualMass, bin_test_calibration_error, expected_calibration_error
from calibrant._core.rows import Weights
from calibrant.binning import Binning, Bins, BoundedIsotonic
from calibrant.metrics import maximum_calibration_error
from calibrant.metrics.bin_losses import rejects
from calibrant.notions import BinaryProblem
from studies.claims import data_dir, table
from studies.tce import uci
from studies.tce.imagenet import printed_lines
from studies.tce.simulation import TruncatedMass

ALGORITHMS = ("LR", "SVM", "RF", "GB", "MLP")
METRICS = ("TCE", "TCE(Q)", "ECE", "ACE", "MCE", "MCE(Q)")
DATA_SETS = {"abalone": "abalone", "optdigits": "optical_digits", "spambase": "spambase", "satimage": "satimage"}
"""Their names in the file of the predictions, and those that the paper prints. Satimage is not in it: models of this study."""

N_BINS, LEVEL, SMALL = 10, 0.05, 16
ORDERS = 25

Rows = tuple[np.ndarray, np.ndarray]
"""Labels and predictions."""


@cache
def rows(data: str, algorithm: str) -> Rows:
    """The test rows of a model."""
    if data == "satimage":
        of = uci.forecast(data, algorithm, 0)
        return of.y, of.prob
    with np.load(data_dir() / "tce_uci.npz") as file:
        return file[f"{data}_y"].astype(int), file[f"{data}_{algorithm}"]


def introsort(values: Sequence[float]) -> np.ndarray:
    """The order that ``np.argsort`` gave when the tables were made: quicksort by the median of three, then by insertion."""
    at, parts = list(range(len(values))), [(0, len(values) - 1)]
    while parts:
        low, high = parts.pop()
        while high - low > SMALL:
            middle = low + (high - low >> 1)
            for a, b in ((middle, low), (high, middle), (middle, low)):
                if values[at[a]] < values[at[b]]:
                    at[a], at[b] = at[b], at[a]
            pivot, i, j = values[at[middle]], low, high - 1
            at[middle], at[j] = at[j], at[middle]
            while True:
                i, j = i + 1, j - 1
                while values[at[i]] < pivot:
                    i += 1
                while pivot < values[at[j]]:
                    j -= 1
                if i >= j:
                    break
                at[i], at[j] = at[j], at[i]
            at[i], at[high - 1] = at[high - 1], at[i]
            left, right = (low, i - 1), (i + 1, high)
            larger, (low, high) = (right, left) if i - low < high - i else (left, right)
            parts.append(larger)
        for i in range(low + 1, high + 1):
            own, j = at[i], i
            while j > low and values[own] < values[at[j - 1]]:
                at[j] = at[j - 1]
                j -= 1
            at[j] = own
    return np.array(at)


def cut(y: np.ndarray, binning: Binning) -> tuple[np.ndarray, Bins]:
    """The bin of each row and the bins, of labels in an order: rows part between any two."""
    place = (np.arange(y.size) + 0.5) / y.size
    bins = binning(BinaryProblem(place, y.astype(bool), Weights.one_each(y.size)))
    return bins.index(place), bins


def bounded(n: int) -> BoundedIsotonic:
    """PAVA-BC of the published code."""
    return BoundedIsotonic(n // 20, n // 5, ending="joined")


def tested(of: Rows, order: np.ndarray, binning: Binning) -> tuple[np.ndarray, np.ndarray]:
    """Rows of each bin, and how many of them its events reject."""
    y, prob = (column[order] for column in of)
    at, bins = cut(y, binning)
    rejected = rejects(prob, at, bins.outcome_sum, bins.weight, LEVEL)
    return np.bincount(at), np.bincount(at, rejected)


def gaps(of: Rows, at: np.ndarray) -> tuple[float, float]:
    """Mean and largest gap of rows in bins."""
    y, prob = of
    gap, count = np.abs(np.bincount(at, y) - np.bincount(at, prob)), np.bincount(at)
    return float(gap.sum() / y.size), float((gap / np.maximum(count, 1)).max())


def as_published(of: Rows, order: np.ndarray) -> list[float]:
    """The six metrics of rows in an order."""
    y, prob = of
    ece, mce = gaps(of, np.minimum((prob * N_BINS).astype(int), N_BINS - 1))
    ace, mce_q = gaps((y[order], prob[order]), cut(y[order], TruncatedMass(N_BINS))[0])
    shares = [100.0 * tested(of, order, b)[1].sum() / y.size for b in (bounded(y.size), TruncatedMass(N_BINS))]
    return [*shares, ece, ace, mce, mce_q]


def of_the_library(of: Rows) -> list[float]:
    """The six metrics where rows of one prediction share a bin."""
    mass, half = EqualMass(N_BINS), {"labels": [0, 1]}
    return [
        bin_test_calibration_error(*of, **half),
        bin_test_calibration_error(*of, binning=mass, **half),
        expected_calibration_error(*of, binning=N_BINS, **half),
        expected_calibration_error(*of, binning=mass, **half),
        maximum_calibration_error(*of, binning=N_BINS, **half),
        maximum_calibration_error(*of, binning=mass, **half),
    ]


def cells(data: str, *, ties: str = "as published") -> list[list[str]]:
    """Model, metric, printed and computed, of all printed cells of a data set; with ties as published, in order or together."""
    found = []
    for name, algorithm, *printed in printed_lines(14):
        if name == DATA_SETS[data]:
            of = rows(data, algorithm)
            orders = {"as published": introsort, "in order": lambda prob: np.argsort(prob, kind="stable")}
            values = of_the_library(of) if ties == "together" else as_published(of, orders[ties](of[1].tolist()))
            found += [
                [algorithm, metric, cell, f"{value:.{len(cell.split('.')[1])}f}"]
                for metric, cell, value in zip(METRICS, printed, values, strict=True)
                if cell != "-"
            ]
    return found


def multiples(data: str, n: int) -> int:
    """How many printed TCEs are a whole number of n rows in percent, to their digits."""
    printed = [cell for name, _, *of in printed_lines(14) if name == data for cell in of[:2]]
    return sum(f"{100.0 * round(float(cell) * n / 100.0) / n:.4f}" == cell for cell in printed)


def of_averages(data: str) -> float:
    """How much of the ECE the gap of the two averages over all rows is, median over the models."""
    found = [rows(data, algorithm) for algorithm in ALGORITHMS]
    return float(
        np.median([abs(y.mean() - p.mean()) / expected_calibration_error(y, p, binning=N_BINS) for y, p in found])
    )


def of_orders(algorithm: str) -> list[float]:
    """TCE of a model on abalone, of rows whose ties are in random orders."""
    (y, prob), found = rows("abalone", algorithm), []
    for seed in range(ORDERS):
        order = np.lexsort((np.random.default_rng(seed).permutation(y.size), prob))
        found.append(float(100.0 * tested((y, prob), order, bounded(y.size))[1].sum() / y.size))
    return found


def cells_table(data: str) -> str:
    """Printed and computed, and with rows of one prediction together."""
    found, together = cells(data), cells(data, ties="together")
    body = []
    for algorithm in ALGORITHMS:
        line = [
            f"{printed} / {own}" + (f" ({other[3]})" if other[3] != own else "")
            for (name, _, printed, own), other in zip(found, together, strict=True)
            if name == algorithm
        ]
        body.append([algorithm, *([*line[:1], "", *line[1:]] if len(line) < len(METRICS) else line)])
    return table([data, *METRICS], body)
