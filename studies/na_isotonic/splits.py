"""Forecasts split anew, and calibrated: what the sections of docs/na-isotonic.md on SCIR measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from calibrant import SortedCumulativeIsotonic
from calibrant.calibrators.base import Calibrator
from studies.na_isotonic.forecasts import Model

N_SPLITS = 4
"""The split of the study, and random ones of the same sizes."""

SCIR = partial(SortedCumulativeIsotonic, epsilon=1e-4, rise="last")


def splits(model: Model) -> Iterator[Model]:
    """The same rows split otherwise, the split of the study first."""
    y, prob = np.concatenate([model.y_fit, model.y_test]), np.concatenate([model.fit, model.test])
    n = len(model.y_fit)
    for seed in range(N_SPLITS):
        rows = np.arange(len(y)) if seed == 0 else np.random.default_rng(seed).permutation(len(y))
        fit, test = rows[:n], rows[n:]
        yield replace(model, seed=seed, y_fit=y[fit], fit=prob[fit], y_test=y[test], test=prob[test])


def calibrated(model: Model, make: Callable[..., Calibrator]) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where a map ends does not matter here
        return make(labels=range(model.n_classes)).fit(model.fit, model.y_fit).predict_proba(model.test)


def name_of(model: Model) -> str:
    return f"{model.data_set}, {model.architecture}"
