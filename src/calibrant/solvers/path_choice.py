"""Where to stop on a path of partitions, and how much to smooth: the least log loss on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant._core.progress import progress_bar

SMOOTHINGS = (16.0, 8.0, 4.0, 2.0, 1.0, 0.5, 0.25)
"""What cross-validation chooses from, in rows of each class; of equal ones the first."""

ROUNDING = 1e-9
"""Losses that agree to this, relative to them, are equal."""


SMOOTHINGS_IF_SOFTENED = (*SMOOTHINGS, 0.1, 0.01)
"""The same where labels are softened by the forecast, so that less is needed."""

SOFTENINGS = (0.0, 0.3, 0.6, 0.8, 0.9)
"""What cross-validation chooses from, parts of the forecast in each label; of equal ones the first."""


class Choice(NamedTuple):
    """Where to stop, the number of the smoothing, and the mean log loss that they have on held-out rows."""

    n_regions: int
    smoothing: int
    loss: float


class FoldLosses(NamedTuple):
    """Losses on the rows of one fold.

    Attributes
    ----------
    n_regions : ndarray of shape (n_stages,)
        Number of regions at each stage of the path, increasing.
    loss : ndarray of shape (n_stages, n_smoothings)
        Sum of the weighted log losses at each stage with each smoothing.
    weight : float
        Sum of the weights.
    """

    n_regions: IntArray
    loss: FloatArray
    weight: float


class Folds(Protocol):
    """Rows to choose by, each left out once."""

    def __len__(self) -> int:
        """Return the number of folds."""

    def losses(self, fold: int, smoothings: Sequence[float], softening: float, *, only_last: bool) -> FoldLosses:
        """Return the losses of the rows that a fold leaves out, at the stages of the path that is fitted to the others."""


def choose_stage(
    folds: Folds,
    smoothings: Sequence[float],
    softenings: Sequence[float],
    *,
    only_last: bool = False,
    progress: bool = False,
) -> tuple[int, float, float]:
    """Return the number of regions, the smoothing and the softening of the least log loss on held-out rows.

    Parameters
    ----------
    folds : Folds
        Rows to choose by.
    smoothings : sequence of float
        Rows of each class that are added to a region. Of equally good ones the first is taken.
    softenings : sequence of float
        Parts of the forecast in each label; likewise.
    only_last : bool, default=False
        Try the whole path of each fold and no earlier stage: all that is chosen then is the smoothing.
    progress : bool, default=False
        Show a bar of the folds.

    Returns
    -------
    n_regions : int
        Regions at which to stop.
    smoothing : float
        One of the smoothings.
    softening : float
        One of the softenings.
    """
    choices = []
    with progress_bar(len(folds) * len(softenings), show=progress, desc="cross-validation", unit="fold") as advance:
        for softening in softenings:
            losses = []
            for fold in range(len(folds)):
                losses.append(folds.losses(fold, smoothings, softening, only_last=only_last))
                advance(1)
            choices.append(chosen(losses, stops=not only_last))
    best, softening = least(choices, softenings)
    return best.n_regions, float(smoothings[best.smoothing]), softening


def chosen(folds: Sequence[FoldLosses], *, stops: bool = True) -> Choice:
    """Return the number of regions and the number of the smoothing with the least mean log loss over all folds.

    Of equal losses that with fewer regions is taken, then that with the first smoothing. A fold whose path passes over a
    number of regions stays at the one below. If it may not stop (``stops``), each fold is taken at the end of its path.
    Without folds it is one region, and the first smoothing.
    """
    if not folds:
        return Choice(1, 0, np.inf)
    most = max(int(fold.n_regions[-1]) for fold in folds)
    n_regions = np.arange(1 if stops else most, most + 1)
    loss = sum(fold.loss[np.searchsorted(fold.n_regions, n_regions, side="right") - 1] for fold in folds)
    mean = np.asarray(loss) / sum(fold.weight for fold in folds)
    stage, smoothing = np.unravel_index(int(np.argmax(mean <= mean.min() * (1.0 + ROUNDING))), mean.shape)
    return Choice(int(n_regions[stage]), int(smoothing), float(mean[stage, smoothing]))


def least(choices: Sequence[Choice], softenings: Sequence[float]) -> tuple[Choice, float]:
    """Return the choice of the least loss, and the softening that it was made with; of equal ones the first."""
    loss = np.array([choice.loss for choice in choices])
    at = int(np.argmax(loss <= loss.min() * (1.0 + ROUNDING)))
    return choices[at], softenings[at]


def tried(smoothing: float | str, softening: float | str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the smoothings and the softenings to choose from: those given, and for "cv" the usual ones."""
    softenings = SOFTENINGS if softening == "cv" else (float(softening),)
    usual = SMOOTHINGS_IF_SOFTENED if any(softenings) else SMOOTHINGS
    return usual if smoothing == "cv" else (float(smoothing),), softenings
