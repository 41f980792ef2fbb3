"""Canonical binning of three classes of Covertype, and pictures of the cells."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from calibrant import DirichletCalibration, TemperatureScaling, assess, brier_score_loss, log_loss
from calibrant.binning import Projection, Sierpinski, SimplexGrid, SimplexUnique
from calibrant.calibrators import CanonicalBinning
from calibrant.curves import plot_simplex_partition, simplex_partition
from calibrant.metrics import canonical_calibration_error
from calibrant.metrics.estimate import Estimate
from calibrant.metrics.scores import accuracy
from studies.data import data_dir
from studies.markdown import table
from studies.top_label.forecasts import LEVEL, RESAMPLES
from studies.top_label.networks import interval
from studies.top_label.pictures import save

BINNINGS = {
    "Sierpinski, q = 2": Sierpinski(2),
    "grid, K = 5": SimplexGrid(5),
    "projection, 27 cyclic": Projection(27),
    "projection, 27 random": Projection(27, "random", random_state=0),
}

OTHERS = {"temperature scaling": TemperatureScaling(), "Dirichlet calibration": DirichletCalibration(diagonal=1e-3)}

RANDOM_SEEDS = 20
"""Draws of the random directions."""


@cache
def covertype3() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities and labels, 500 rows to calibrate and 1000 to test."""
    with np.load(data_dir() / "covertype3.npz") as data:
        return data["P_cal"], data["y_cal"], data["P_test"], data["y_test"]


@cache
def fitted(name: str, smoothing: float = 0.0) -> Any:
    prob, y, _, _ = covertype3()
    return CanonicalBinning(BINNINGS[name], smoothing=smoothing).fit(prob, y)


def canonical_table() -> str:
    """Canonical ECE, proper losses and accuracy on the test rows."""
    head = [
        "method", "cells with rows", "fewest rows in one", "canonical ECE, grid of 5", "bias-corrected",
        "expected if calibrated", "each value", "NLL", "Brier", "accuracy",
    ]  # fmt: skip
    return table(head, list(_lines()))


def _lines() -> Iterator[list[str]]:
    prob, y, test, test_y = covertype3()
    yield ["logistic regression", "", "", *_measured(test_y, test)]
    for name, method in OTHERS.items():
        yield [name, "", "", *_measured(test_y, method.fit(prob, y).predict_proba(test))]
    for name in BINNINGS:
        count = fitted(name).count_
        cells = [str((count > 0).sum()), str(count[count > 0].min())]
        yield [name, *cells, *_measured(test_y, fitted(name).predict_proba(test), few=True)]
        smooth = fitted(name, 1.0).predict_proba(test)
        yield ["... one row added for each class", "", "", *_measured(test_y, smooth, few=True)]


def estimate_on_grid(y: np.ndarray, prob: np.ndarray) -> Estimate:
    """Canonical ECE over the grid of 5, with its interval."""
    (row,) = assess(y, prob, metrics=["canonical-ece"], level=LEVEL, n_resamples=RESAMPLES, rng=0).rows
    return row.estimate


def _measured(y: np.ndarray, prob: np.ndarray, *, few: bool = False) -> list[str]:
    e = estimate_on_grid(y, prob)
    own = f"{canonical_calibration_error(y, prob, binning=SimplexUnique()):.3f}" if few else ""
    nll = log_loss(y, prob, clip=1e-12)
    losses = [f"{loss:.3f}" for loss in (nll, brier_score_loss(y, prob), accuracy(y, prob))]
    return [interval(e, 3), f"{e.debiased:.3f}", f"{e.noise_floor:.3f}", own, *losses]


def random_directions() -> str:
    """Return how much depends on the draw of the directions."""
    prob, y, test, test_y = covertype3()
    found = []
    for seed in range(RANDOM_SEEDS):
        method = CanonicalBinning(Projection(27, "random", random_state=seed), smoothing=1.0).fit(prob, y)
        after = method.predict_proba(test)
        found.append(
            [brier_score_loss(test_y, after), canonical_calibration_error(test_y, after, binning=SimplexUnique())]
        )
    (brier, canonical) = np.array(found).T
    return (
        f"Over {RANDOM_SEEDS} draws of the random directions, one row added for each class, the Brier score is "
        f"{brier.min():.3f} to {brier.max():.3f} and the canonical ECE of each value {canonical.min():.3f} to "
        f"{canonical.max():.3f}."
    )


def finding() -> str:
    """Return the effect of canonical binning, in a sentence."""
    _, _, test, test_y = covertype3()
    before, brier = estimate_on_grid(test_y, test), brier_score_loss(test_y, test)
    after = {name: fitted(name).predict_proba(test) for name in BINNINGS}
    error = {name: estimate_on_grid(test_y, own).debiased or 0.0 for name, own in after.items()}
    loss = {name: brier_score_loss(test_y, own) for name, own in after.items()}
    return (
        "* **Canonical binning**, on one forecast of three classes and one split. The logistic regression is "
        f"calibrated as far as 1000 rows tell (p = {before.pvalue:.2f}), and four partitions that were fitted on 500 "
        f"rows have a bias-corrected canonical ECE of {min(error.values()):.3f} to {max(error.values()):.3f}, where it "
        f"has {before.debiased:.3f}, and a Brier score of {min(loss.values()):.3f} to {max(loss.values()):.3f} where "
        f"it has {brier:.3f}. The paper shows such partitions and no figures."
    )


def draw() -> None:
    """The cells in the colours of their vectors: the paper's figures 10 to 12."""
    figure, axes = plt.subplots(2, 2, figsize=(8.4, 7.6), layout="constrained")
    results = {name: simplex_partition(fitted(name)) for name in BINNINGS}
    plot_simplex_partition(results, axes=axes.ravel(), text="count")
    save(figure, "partitions")
