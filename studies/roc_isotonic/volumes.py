"""Volumes under the ROC surface: where what is called so is one thing, and where it is not."""

from __future__ import annotations

from functools import cache

import numpy as np

from calibrant.metrics import hand_till_score, volume_under_surface_score
from studies.markdown import table
from studies.roc_isotonic.authors import SURFACE_STEPS
from studies.roc_isotonic.forecasts import of_paper

FEW = 300
"""Rows of the artificial forecasts."""

DRAWS = 500


@cache
def forecasts() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Labels and forecasts: test rows of the paper, and for each number of classes a perfect one and one that knows nothing."""
    found = {f"paper, K = {k}": (of_paper(k).y_test, of_paper(k).p_test) for k in SURFACE_STEPS}
    for k in SURFACE_STEPS:
        y = np.arange(FEW) % k
        found[f"perfect, K = {k}"] = y, 0.9 * np.eye(k)[y] + 0.1 / k
        found[f"all equal, K = {k}"] = y, np.full((FEW, k), 1.0 / k)
    return found


@cache
def volumes(name: str) -> tuple[float, ...]:
    """Hull over the grid of the published code, hull over thresholds of the rows, hull by rays, tuples, Hand and Till's M."""
    y, p = forecasts()[name]
    steps = SURFACE_STEPS[p.shape[1]]
    return (
        float(volume_under_surface_score(y, p, thresholds=steps)),
        float(volume_under_surface_score(y, p)),
        float(volume_under_surface_score(y, p, method="monte-carlo", n_draws=DRAWS)),
        float(volume_under_surface_score(y, p, method="probability")),
        float(hand_till_score(y, p)),
    )


def volume_table() -> str:
    """All forecasts."""
    head = ["forecast", "hull, grid", "hull, data", "hull by rays", "tuples", "Hand-Till"]
    return table(head, [[name, *(f"{value:.4f}" for value in volumes(name))] for name in forecasts()])
