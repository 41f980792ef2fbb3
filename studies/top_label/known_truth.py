"""The bias-corrected TL-ECE where the truth is known: labels drawn for the predictions of the ResNet-50."""

from __future__ import annotations

import numpy as np

from calibrant.metrics import estimate_calibration_error
from studies.judging import mean_and_error
from studies.markdown import table
from studies.top_label.forecasts import cifar, forecasts

DRAWS, RESAMPLES = 60, 200
"""Label sets of each world, and resamples of each estimate."""

METHODS = ("Base", "N-HB", "TL-HB (50)")

STEPS = (0.0, 0.5, 1.0)
"""Share of each bin's observed gap that is its true gap: 0 is calibration."""


def truth_table() -> str:
    """Return the mean of the TL-ECE and of its bias-corrected value over label sets of known truth."""
    head = ["scores of", "true gaps", "true TL-ECE", "mean TL-ECE", "mean bias-corrected", "noise floor"]
    body = [[name, f"{step:g} of those observed", *measured(name, step)] for name in METHODS for step in STEPS]
    return table(head, body)


def measured(method: str, step: float) -> list[str]:
    """Return these figures of one world, with Monte Carlo standard errors in brackets."""
    label, score, rate, true = world(method, step)
    found = []
    for seed in range(DRAWS):
        right = np.random.default_rng(seed).random(len(score)) < rate
        y = np.where(right, label, (label + 1) % 10)
        found.append(
            estimate_calibration_error(
                y, score, y_pred=label, notion="top-label", labels=range(10), n_resamples=RESAMPLES, rng=seed
            )
        )
    value, corrected = ([getattr(e, what) for e in found] for what in ("value", "debiased"))
    floor = np.mean([e.noise_floor for e in found])
    return [f"{true:.4f}", *(_shown(of) for of in (value, corrected)), f"{floor:.4f}"]


def world(method: str, step: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return predicted classes, scores, the true rate of each row, and the TL-ECE over 15 bins that this makes.

    In each bin of each class the rates lie between the scores and the observed rate, so that the true gap is ``step`` times
    the observed one.
    """
    of, y = forecasts()[method], cifar()[3]
    label, score = (of.prob.argmax(axis=1), of.prob.max(axis=1)) if of.label is None else (of.label, of.prob)
    place = np.ceil(score * 15).clip(1, 15).astype(int) + 15 * label
    cell = np.unique(place, return_inverse=True)[1]
    rows = np.bincount(cell)
    observed, mean = (np.bincount(cell, values) / rows for values in (y == label, score))
    rate = (1 - step) * score + step * observed[cell]
    return label, score, rate, float(rows @ np.abs(step * (observed - mean)) / len(score))


def _shown(values: list[float]) -> str:
    mean, error = mean_and_error(values)
    return f"{mean:.4f} ({error:.4f})"
