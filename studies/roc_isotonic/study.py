"""The same methods on many parts of Covertype, of several sizes, and on forecasts that are less well calibrated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from calibrant import log_loss
from calibrant.binning.cells import simplex_grid
from calibrant.calibrators import IsotonicRecursivePartitioning, MulticlassRecursivePartitioning
from calibrant.fit import trees
from studies.claims import CLEAR, mean_and_error, run_with
from studies.roc_isotonic import authors

# What isotonic recursive partitioning is, in three readings, and no calibration. The other methods, and their tables on the
# page, are those of commit 6e77aab2.


BEFORE = "not calibrated"
PUBLISHED = "IRP as published, normalised"
AUTHORS = "IRP, Algorithm 2 as printed, same grid and smoothing"
LAPLACE_ALL = "IRP, smoothing 1, to the end"


def with_laplace(n_classes: int) -> Any:
    """The binary method for two classes, the other one for more."""
    if n_classes > 2:
        return MulticlassRecursivePartitioning(max_regions=None, smoothing=1.0, softening=0.0)
    return IsotonicRecursivePartitioning(max_bins=None, smoothing=1.0, softening=0.0)


METHODS: dict[str, Callable[[int], Any]] = {
    PUBLISHED: authors.partitioning,
    AUTHORS: lambda k: authors.partitioning(k, printed=True),
    LAPLACE_ALL: with_laplace,
}


def loss_of(calibrator: Any, of: authors.Forecasts) -> float:
    """Test cross-entropy after a calibrator."""
    return log_loss(of.y_test, calibrator.fit(of.p, of.y).predict_proba(of.p_test), clip=1e-12)


FIRST_SEED = 101
"""The paper's own split is seed 1; what is compared was settled on the next few dozen, of which none is here."""


@dataclass(frozen=True)
class Case:
    """Whose predictions, how many rows to fit, and how many splits; all rows that are left are tested on."""

    model: str
    n_classes: int
    n_fit: int
    n_splits: int

    def draw(self, seed: int) -> authors.Forecasts:
        """One split."""
        return authors.covertype.__wrapped__(  # a split is asked for once
            self.n_classes, seed, model=self.model, n_fit=self.n_fit, n_test=None
        )


LOGISTIC, BAYES, FOREST = "logistic regression", "naive Bayes", "random forest"

CASES = (
    *(Case(LOGISTIC, k, 500, n) for k, n in ((2, 20), (3, 12), (4, 8))),
    *(Case(BAYES, *of) for of in ((2, 500, 10), (3, 500, 8), (3, 2000, 5), (4, 500, 6))),
    *(Case(FOREST, k, 2000, 5) for k in (2, 3)),
)


@cache
def losses(case: Case, method: str) -> np.ndarray:
    """Test cross-entropy of a method on each split."""
    drawn = (case.draw(seed) for seed in range(FIRST_SEED, FIRST_SEED + case.n_splits))
    if method == BEFORE:
        return np.array([log_loss(of.y_test, of.p_test, clip=1e-12) for of in drawn])
    return np.array([loss_of(METHODS[method](of.n_classes), of) for of in drawn])


def differences(case: Case, method: str) -> list[float]:
    """Differences of the cross-entropy to that of no calibration on the same rows, one a split."""
    return [float(d) for d in losses(case, method) - losses(case, BEFORE)]


def n_better(cases: Iterable[Case], method: str) -> int:
    """In how many cases it is lower than without calibration, by more than chance explains."""
    gained = [mean_and_error(differences(case, method)) for case in cases]
    return sum(mean < -CLEAR * error for mean, error in gained)


# The authors' algorithm and the recursive binning, stage by stage, on other splits of the data.


SPLITS = {2: 40, 3: 12, 4: 8}
"""Splits by number of classes, each of 500 rows to fit and all that are left to test."""

SAME_SIZES = (5, 10)
"""Numbers of regions at which both are compared."""


@dataclass(frozen=True)
class Course:
    """Numbers of regions, and cross-entropies of test and of fitted rows, at each stage; volumes with so many regions."""

    n_regions: tuple[int, ...]
    loss: tuple[float, ...]
    fitted: tuple[float, ...]
    volume: dict[int, float]

    @property
    def least(self) -> int:
        """The stage of the least cross-entropy."""
        return int(np.argmin(self.loss))

    @property
    def rise(self) -> float:
        """By how much the cross-entropy at the end is above the least."""
        return self.loss[-1] - self.loss[self.least]

    def best_within(self, n_regions: int, of: str = "loss") -> float:
        """The least cross-entropy with at most so many regions, of the test rows or of the fitted ones."""
        return min(loss for n, loss in zip(self.n_regions, getattr(self, of), strict=True) if n <= n_regions)

    def gap(self, n_regions: float = np.inf) -> float:
        """By how much the test cross-entropy is above that of the fitted rows, at the last stage of so many regions."""
        at = max(stage for stage, n in enumerate(self.n_regions) if n <= n_regions)
        return self.loss[at] - self.fitted[at]


@cache
def courses(n_classes: int) -> tuple[tuple[Course, ...], ...]:
    """IRP as published, recursive binning, and IRP that asks no split for monotony: of each split.

    Vectors sum to one, and test rows walk down the trees.
    """
    return tuple(_of_split(n_classes, FIRST_SEED + number) for number in range(SPLITS[n_classes]))


def _of_split(n_classes: int, seed: int) -> tuple[Course, ...]:
    of = authors.covertype.__wrapped__(n_classes, seed, n_test=None)  # a split is asked for once

    def grown() -> Any:
        return authors.partitioning(n_classes).fit(of.p, of.y).tree_

    binned = authors.recursive_binning(of.p, simplex_grid(n_classes, authors.STEPS[n_classes]))
    free = run_with(trees._Growing, "_first_monotone", lambda self, v, tried, live: int(tried[0]), grown)
    return tuple(_course(of, tree) for tree in (grown(), binned, free()))


def _course(of: authors.Forecasts, tree: authors.SplitTree) -> Course:
    n_regions = tree.n_regions.tolist()
    loss, fitted, volume = [], [], {}
    for n, (own, test) in zip(n_regions, authors.walked(of, tree), strict=True):
        loss.append(authors.cross_entropy(test, of.y_test))
        fitted.append(authors.cross_entropy(own, of.y))
        volume |= {size: own for size in SAME_SIZES if n <= size and of.n_classes > 2}
    volumes = {n: authors.volume(of.y, own) for n, own in volume.items()}
    return Course(tuple(n_regions), tuple(loss), tuple(fitted), volumes)
