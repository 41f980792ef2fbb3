"""The isotonic fit of a problem, and of labels that are drawn for it: what the CORP approach is made of.

CORP (Dimitriadis, Gneiting, Jordan 2021) calibrates a forecast on the very rows that it is measured on, by isotonic
regression. Its fit is the best non-decreasing map for every proper score at once, so that with the mean scores S of the
forecast, F of the fit and R of the event rate

    S  =  (S - F)  -  (R - F)  +  R   =   miscalibration - discrimination + uncertainty

has terms that are never negative.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant._core.arrays import FloatArray, grouped
from calibrant._core.checks import EventScore, divergence, expected_score, progress_bar
from calibrant._core.rows import IntArray
from calibrant.binning.bins import Ordered
from calibrant.binning.isotonic import block_starts

MOST_POINTS = 10**8
"""Points times draws to which isotonic regressions are repeated: some two seconds. Beyond it there are fewer draws."""

FEWEST_DRAWS = 100
"""But not fewer than this."""

ROWS_A_SCORE = 8
"""Up to so many rows a distinct score events are drawn row by row, beyond it from the binomial distribution."""


@dataclass(frozen=True, eq=False)
class Steps:
    """An isotonic fit: blocks of neighbouring distinct scores, with the weight and the event rate of each.

    Block b holds the scores number ``starts[b]`` to ``starts[b + 1] - 1``; the last one ends with the scores.
    """

    starts: IntArray
    n_scores: int
    weight: FloatArray
    rate: FloatArray

    def at_each_score(self, values: FloatArray) -> FloatArray:
        """Give every distinct score the value of its block."""
        return np.repeat(values, np.diff(self.starts, append=self.n_scores))


def isotonic_fit(ordered: Ordered) -> Steps:
    """Fit the outcomes of a problem: event rates that increase from block to block."""
    return _steps(block_starts(ordered), ordered.weight, ordered.outcome_sum)


def isotonic_fit_of(events: FloatArray, weight: FloatArray) -> Steps:
    """Fit events on each distinct score; neighbouring rates that agree to 1e-12 are one block."""
    found: Any = isotonic_regression(events / weight, weights=weight)
    steps = _steps(found.blocks[:-1], weight, events)
    apart = np.diff(grouped(steps.rate), prepend=-1.0) > 0.0
    return steps if apart.all() else _steps(steps.starts[apart], weight, events)


def _steps(starts: IntArray, weight: FloatArray, events: FloatArray) -> Steps:
    block_weight = np.add.reduceat(weight, starts)
    # Sums are divided once: rates of 0 and 1 are exact.
    return Steps(starts, weight.size, block_weight, np.add.reduceat(events, starts) / block_weight)


# The terms of a mean score


class Corp(NamedTuple):
    """Mean score of a forecast, and the three terms that it is made of."""

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def corp_terms(ordered: Ordered, score: EventScore) -> Corp:
    """Take the mean score apart."""
    steps, total = isotonic_fit(ordered), ordered.weight.sum()
    forecast = float(
        ordered.weight @ expected_score(score, ordered.score, ordered.outcome_sum / ordered.weight) / total
    )
    fit = float(steps.weight @ expected_score(score, steps.rate, steps.rate) / total)
    base = np.array([base_rate(ordered)])
    uncertainty = float(expected_score(score, base, base)[0])
    return Corp(forecast, divergence(forecast, fit), divergence(uncertainty, fit), uncertainty)


def base_rate(ordered: Ordered) -> float:
    """Event rate over all rows."""
    return float(ordered.outcome_sum.sum() / ordered.weight.sum())


# Labels that are drawn


def drawn_events(ordered: Ordered, rate: FloatArray, n_draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Draw events at a rate on each distinct score; yield the weight of the events on each, draw by draw.

    A whole weight is that many rows with separate labels, any other weight is one row.
    """
    weight = ordered.weight
    if ordered.problem.weights.are_counts and weight.sum() > ROWS_A_SCORE * weight.size:
        n_rows = weight.astype(np.int64)
        return (rng.binomial(n_rows, rate).astype(np.float64) for _ in range(n_draws))
    n_rows = weight.astype(np.intp) if ordered.problem.weights.are_counts else ordered.count
    row_weight = np.ones(1) if ordered.problem.weights.are_counts else ordered.problem.weights.of_rows[ordered.order]
    starts, of_row = np.cumsum(n_rows) - n_rows, np.repeat(rate, n_rows)
    rows = (row_weight * (rng.random(of_row.size) < of_row) for _ in range(n_draws))
    return rows if of_row.size == rate.size else (np.add.reduceat(row, starts) for row in rows)


def overfit_draws(ordered: Ordered, rate: FloatArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw by how much the fit beats the truth on its own rows, in mean squared error, where events occur at ``rate``.

    With the scores themselves for rates that is the miscalibration of a calibrated forecast. Shape (draws,).
    """
    weight, drawn = ordered.weight, []
    for events in drawn_events(ordered, rate, affordable(n_draws, weight.size), rng):
        steps = isotonic_fit_of(events, weight)
        truth = events @ (1.0 - rate) ** 2 + (weight - events) @ rate**2  # of terms that do not cancel
        drawn.append(truth - steps.weight @ (steps.rate * (1.0 - steps.rate)))
    return np.asarray(np.maximum(drawn, 0.0) / weight.sum())


def affordable(n_draws: int, n_points: int) -> int:
    """Return how many of the draws to make: all, unless there are too many points."""
    return min(n_draws, max(FEWEST_DRAWS, MOST_POINTS // n_points))


# Where to stop on a path of partitions, and how much to smooth: the least log loss on held-out rows


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


def choose_stage(
    most: Any,
    smoothing: Any,
    softening: Any,
    parts: Callable[[], Sequence[tuple[Any, Any]]],
    losses: Callable[..., FoldLosses],
    *,
    progress: bool = False,
) -> tuple[int | None, float, float]:
    """Return the number of regions, the smoothing and the softening: those given, or of the least log loss on held-out rows.

    Parameters
    ----------
    most : int, "cv" or None
        Regions at which to stop. If it is given, or None, whole paths are tried, and no earlier stage.
    smoothing : float or "cv"
        Rows of each class that are added to a region. Of equally good ones the first is taken.
    softening : float or "cv"
        Part of the forecast in each label; likewise.
    parts : callable
        Makes the rows that each fold keeps, and those that it leaves out.
    losses : callable
        Returns the losses of a part, given ``most``, the smoothings, a softening, and whether the last stage is enough.
    progress : bool, default=False
        Show a bar of the folds.

    Returns
    -------
    n_regions : int or None
        Regions at which to stop.
    smoothing : float
        One of the smoothings.
    softening : float
        One of the softenings.
    """
    stops = most == "cv"
    given = None if stops or most is None else int(most)
    if "cv" not in (most, smoothing, softening):
        return given, float(smoothing), float(softening)
    (smoothings, softenings), folds, choices = tried(smoothing, softening), parts(), []
    with progress_bar(len(folds) * len(softenings), show=progress, desc="cross-validation", unit="fold") as advance:
        for part_of_forecast in softenings:
            found = []
            for part in folds:
                found.append(losses(*part, given, smoothings, part_of_forecast, only_last=not stops))
                advance(1)
            choices.append(chosen(found, stops=stops))
    loss = np.array([choice.loss for choice in choices])
    at = int(np.argmax(loss <= loss.min() * (1.0 + ROUNDING)))
    return (choices[at].n_regions if stops else given), float(smoothings[choices[at].smoothing]), softenings[at]


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


def tried(smoothing: float | str, softening: float | str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the smoothings and the softenings to choose from: those given, and for "cv" the usual ones."""
    softenings = SOFTENINGS if softening == "cv" else (float(softening),)
    usual = SMOOTHINGS_IF_SOFTENED if any(softenings) else SMOOTHINGS
    return usual if smoothing == "cv" else (float(smoothing),), softenings
