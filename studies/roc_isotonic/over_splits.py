"""The authors' algorithm and the recursive binning, stage by stage, on other splits of the data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from calibrant.binning.cells import simplex_grid
from studies.roc_isotonic.authors import STEPS, partitioning, recursive_binning, walked_losses
from studies.roc_isotonic.forecasts import covertype
from studies.roc_isotonic.study import FIRST_SEED

SPLITS = {2: 20, 3: 12, 4: 8}
"""Splits by number of classes, each of 500 rows to fit and all that are left to test."""

SAME_SIZES = (5, 10)
"""Numbers of regions at which both are compared."""


@dataclass(frozen=True)
class Course:
    """Numbers of regions and test cross-entropies at each stage."""

    n_regions: tuple[int, ...]
    loss: tuple[float, ...]

    @property
    def least(self) -> int:
        """The stage of the least cross-entropy."""
        return int(np.argmin(self.loss))

    @property
    def rise(self) -> float:
        """By how much the cross-entropy at the end is above the least."""
        return self.loss[-1] - self.loss[self.least]

    def best_within(self, n_regions: int) -> float:
        """The least cross-entropy with at most so many regions."""
        return min(loss for n, loss in zip(self.n_regions, self.loss, strict=True) if n <= n_regions)


@cache
def courses(n_classes: int) -> tuple[tuple[Course, Course], ...]:
    """IRP as published and recursive binning, one pair a split; vectors sum to one, and test rows walk down the trees."""
    return tuple(_pair(n_classes, FIRST_SEED + number) for number in range(SPLITS[n_classes]))


def _pair(n_classes: int, seed: int) -> tuple[Course, Course]:
    of = covertype.__wrapped__(n_classes, seed, n_test=None)  # a split is asked for once
    grown = partitioning(n_classes).fit(of.p, of.y).tree_
    binned = recursive_binning(of.p, simplex_grid(n_classes, STEPS[n_classes]))
    one, other = (
        Course(tuple(int(n) for n in tree.n_regions), tuple(walked_losses(of, tree))) for tree in (grown, binned)
    )
    return one, other
